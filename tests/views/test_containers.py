"""AnnData and MuData as tables, with the real packages."""

import sys

import anndata
import dask.array
import mudata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from multikernel.views import containers, from_anndata, from_mudata
from multikernel.views.joining import join_views
from multikernel.views.tables import absent_rows

# anndata and mudata are not yet ready for the latest pandas
pytestmark = [
    pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'mode.chained_assignment' option:DeprecationWarning"),
]

VALUES = np.arange(12.0).reshape(4, 3)
CELLS = ["c1", "c2", "c3", "c4"]
GENES = ["CD3E", "CD19", "NKG7"]


@pytest.fixture(autouse=True)
def mudata_of_tomorrow():
    """Columns of modalities are no columns of the whole unless pulled, as from version 0.4 on."""
    with mudata.set_options(pull_on_update=False):
        yield


def make_anndata(values=VALUES, cells=CELLS, genes=GENES, **more):
    kinds = pd.Categorical(["T", "B", "T", "B"][: len(cells)], categories=["B", "NK", "T"])
    obs = pd.DataFrame({"kind": kinds, "age": np.arange(len(cells)) + 30.0}, index=list(cells))
    return anndata.AnnData(values, obs=obs, var=pd.DataFrame(index=list(genes)), **more)


# --- AnnData -----------------------------------------------------------------------------------------------


def test_the_matrix_has_the_names_of_cells_and_genes():
    adata = make_anndata()
    X = from_anndata(adata)
    assert (X.names, list(X.ids), X.shape) == (["X"], CELLS, (4, 3))
    pd.testing.assert_frame_equal(X["X"], adata.to_df())
    assert X[[2]].ids.tolist() == ["c3"]


def test_targets_are_a_column_of_obs():
    X, y = from_anndata(make_anndata(), "kind")
    assert (y.name, y.tolist(), list(y.index)) == ("kind", ["T", "B", "T", "B"], CELLS)
    assert not isinstance(y.dtype, pd.CategoricalDtype)  # no category that no sample has
    X, y = from_anndata(make_anndata()[[3, 1]], "age")
    assert (list(X.ids), y.tolist(), X["X"]["CD3E"].tolist()) == (["c4", "c2"], [33.0, 31.0], [9.0, 3.0])


def test_layers_raw_and_obsm():
    named = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0]}, index=CELLS)
    adata = make_anndata(layers={"double": 2 * VALUES}, obsm={"X_pca": VALUES[:, :2], "morph": named})
    adata.raw = make_anndata(VALUES + 0.5)
    adata = adata[:, :2].copy()
    X = from_anndata(adata, layer="double", obsm=["X_pca", "morph"])
    assert X.names == ["X", "X_pca", "morph"]
    np.testing.assert_array_equal(X["X"], 2 * VALUES[:, :2])
    assert X["X_pca"].columns.tolist() == ["X_pca_0", "X_pca_1"]
    np.testing.assert_array_equal(X["X_pca"], VALUES[:, :2])
    pd.testing.assert_frame_equal(X["morph"], named)
    raw = from_anndata(adata, use_raw=True, obsm="morph")
    assert raw["X"].columns.tolist() == GENES
    np.testing.assert_array_equal(raw["X"], VALUES + 0.5)


def test_a_sparse_matrix_keeps_its_names_where_it_is_small(monkeypatch):
    adata = make_anndata(scipy.sparse.csc_matrix(VALUES), obsm={"counts": scipy.sparse.csr_matrix(VALUES)})
    X = from_anndata(adata, obsm="counts")
    assert X["X"].columns.tolist() == GENES
    assert X["counts"].columns.tolist() == ["counts_0", "counts_1", "counts_2"]
    np.testing.assert_array_equal(X["X"], VALUES)
    kept = from_anndata(adata, sparse="keep")
    assert scipy.sparse.issparse(kept["X"])
    np.testing.assert_array_equal(kept["X"].toarray(), VALUES)
    assert list(kept.ids) == CELLS
    monkeypatch.setattr(containers, "_LARGEST_DENSE", 95)  # 4 · 3 · 8 bytes are more
    assert scipy.sparse.issparse(from_anndata(adata)["X"])
    assert from_anndata(adata, sparse="dense")["X"].columns.tolist() == GENES
    monkeypatch.setattr(containers, "_LARGEST_DENSE", 96)
    assert isinstance(from_anndata(adata)["X"], pd.DataFrame)


def test_without_a_matrix_there_are_the_tables_of_obsm():
    adata = make_anndata(None, obsm={"X_pca": VALUES})
    assert from_anndata(adata, obsm="X_pca").names == ["X_pca"]
    with pytest.raises(ValueError, match=r"adata\.X must hold a matrix.*obsm, of \['X_pca'\]"):
        from_anndata(adata)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
def test_a_file_on_disk_is_read(tmp_path, kind):
    adata = make_anndata(kind(VALUES))
    for table in (adata.obs, adata.var):
        table.index = table.index.astype(object)
    adata.obs["kind"] = pd.Categorical(adata.obs["kind"].astype(object))
    adata.write_h5ad(tmp_path / "cells.h5ad")
    adata = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    X, y = from_anndata(adata, "kind")
    np.testing.assert_array_equal(X["X"], VALUES)
    assert y.tolist() == ["T", "B", "T", "B"]
    adata.file.close()


def test_chunks_are_read_by_whoever_has_them():
    adata = make_anndata(dask.array.from_array(VALUES))
    with pytest.raises(TypeError, match=r"adata must hold its values in memory; got Array\. Call to_memory"):
        from_anndata(adata)
    np.testing.assert_array_equal(from_anndata(adata.to_memory())["X"], VALUES)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"y": "kinds"}, ValueError, r"no column 'kinds'; its columns are \['kind', 'age'\]"),
        ({"y": np.zeros(4)}, TypeError, "y must be the name of a column of obs; got ndarray"),
        ({"layer": "x"}, ValueError, r"adata has no layer 'x'; its layers are \['double'\]"),
        ({"obsm": "x"}, ValueError, r"no array 'x'; it has \['X'\]"),
        ({"obsm": "X"}, ValueError, r"distinct names.*key 'X'.*Rename"),
        ({"use_raw": True}, ValueError, r"needs adata\.raw; there is none"),
        ({"use_raw": True, "layer": "double"}, ValueError, "either layer or use_raw"),
        ({"sparse": "no"}, ValueError, "sparse must be"),
    ],
)
def test_what_is_not_there_is_named(arguments, error, message):
    adata = make_anndata(layers={"double": VALUES}, obsm={"X": VALUES})
    with pytest.raises(error, match=message):
        from_anndata(adata, **arguments)


def test_samples_without_a_target_are_an_error():
    adata = make_anndata()
    adata.obs.loc["c2", "kind"] = np.nan
    with pytest.raises(ValueError, match=r"1 of 4 have none in 'kind', such as \['c2'\]\. Leave") as raised:
        from_anndata(adata, "kind")
    remedy = str(raised.value).split("with ")[1].rstrip(".")
    assert from_anndata(eval(remedy), "kind")[1].tolist() == ["T", "T", "B"]


def test_names_of_samples_are_distinct():
    with pytest.warns(UserWarning, match="not unique"):
        adata = make_anndata(cells=["c1", "c2", "c1", "c4"])
    with pytest.raises(ValueError, match=r"'c1' occurs 2 times\. Call adata\.obs_names_make_unique"):
        from_anndata(adata)


@pytest.mark.parametrize(("read", "package"), [(from_anndata, "anndata"), (from_mudata, "mudata")])
def test_what_is_no_container(monkeypatch, read, package):
    with pytest.raises(TypeError, match=f"from_{package} needs .* object; got DataFrame"):
        read(pd.DataFrame(VALUES))
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        ImportError, match=rf'needs the package {package}.*pip install "multikernel\[omics\]"'
    ):
        read(pd.DataFrame(VALUES))


def test_each_container_is_sent_to_its_function():
    adata = make_anndata()
    with pytest.raises(TypeError, match=r"got AnnData\. Use from_anndata\."):
        from_mudata(adata)
    with pytest.raises(TypeError, match=r"got MuData\. Use from_mudata\."):
        from_anndata(mudata.MuData({"rna": adata}))


def test_nothing_is_changed():
    adata = make_anndata(obsm={"X_pca": VALUES.copy()})
    before = adata.copy()
    _, y = from_anndata(adata, "kind", obsm="X_pca")
    y.iloc[0] = "other"
    np.testing.assert_array_equal(adata.X, before.X)
    pd.testing.assert_frame_equal(adata.obs, before.obs)
    assert list(adata.obsm) == ["X_pca"]


# --- MuData ------------------------------------------------------------------------------------------------

PROTEINS = ["p1", "p2"]
LEVELS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def make_mudata(levels=LEVELS):
    cells = ["c2", "c5", "c1"]
    return mudata.MuData({"rna": make_anndata(), "prot": make_anndata(levels, cells, PROTEINS)})


def test_a_modality_has_missing_rows_where_it_lacks_samples():
    mdata = make_mudata()
    X = from_mudata(mdata)
    assert X.names == ["rna", "prot"]
    assert list(X.ids) == list(mdata.obs_names)
    assert sorted(X.ids) == ["c1", "c2", "c3", "c4", "c5"]
    pd.testing.assert_series_equal(X["prot"].loc["c2"], pd.Series([1.0, 2.0], PROTEINS, name="c2"))
    has = X.present
    assert has.index[~has["rna"]].tolist() == ["c5"]
    assert sorted(has.index[~has["prot"]]) == ["c3", "c4"]
    frames = {name: part.to_df() for name, part in mdata.mod.items()}
    joined = join_views(frames, how="outer")
    pd.testing.assert_frame_equal(X.counts, joined.counts)
    for name in X.names:
        pd.testing.assert_frame_equal(X[name], joined[name].loc[X.ids], check_names=False)


def test_samples_that_all_have():
    X = from_mudata(make_mudata(), how="inner")
    assert sorted(X.ids) == ["c1", "c2"]
    assert X.present.to_numpy().all()
    assert X.counts.loc["prot"].tolist() == [3, 2, 0]


def test_sparse_modalities_lack_samples_too():
    X = from_mudata(make_mudata(scipy.sparse.csr_matrix(LEVELS.astype(int))), sparse="keep")
    assert scipy.sparse.issparse(X["prot"])
    expected = from_mudata(make_mudata())["prot"].to_numpy()
    np.testing.assert_array_equal(X["prot"].toarray(), expected)
    np.testing.assert_array_equal(absent_rows(X["prot"]), np.isnan(expected).all(axis=1))
    whole = from_mudata(make_mudata(scipy.sparse.csr_matrix(LEVELS)), sparse="keep", modalities="prot")
    assert list(whole.ids) == ["c1", "c2", "c5"]
    np.testing.assert_array_equal(whole["prot"].toarray(), LEVELS[[2, 0, 1]])


def test_targets_of_all_samples_or_of_a_modality():
    mdata = make_mudata()
    mdata.obs["group"] = [f"of {name}" for name in mdata.obs_names]
    X, y = from_mudata(mdata, "group")
    assert y.tolist() == [f"of {name}" for name in X.ids]
    X, y = from_mudata(mdata, "rna:kind", modalities=["rna"])
    assert dict(zip(X.ids, y, strict=True)) == {"c1": "T", "c2": "B", "c3": "T", "c4": "B"}
    with pytest.raises(ValueError, match=r"1 of 5 have none in 'rna:kind', such as \['c5'\]"):
        from_mudata(mdata, "rna:kind")
    assert set(from_mudata(mdata, "rna:kind", how="inner")[1].index) == {"c1", "c2"}
    with pytest.raises(ValueError, match=r"no column 'x' of obs; it has \[.*'group'.*'prot:kind'"):
        from_mudata(mdata, "x")


def test_layers_by_modality():
    mdata = make_mudata()
    mdata.mod["prot"].layers["double"] = 2 * LEVELS
    X = from_mudata(mdata, layer={"prot": "double"}, modalities=["prot", "rna"], how="inner")
    assert X.names == ["prot", "rna"]
    assert X["prot"].loc["c2"].tolist() == [2.0, 4.0]
    assert X["rna"].loc["c2"].tolist() == [3.0, 4.0, 5.0]
    with pytest.raises(ValueError, match=r"mdata\['rna'\] has no layer 'double'"):
        from_mudata(mdata, layer="double")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"modalities": ["atac"]}, ValueError, r"some of \['rna', 'prot'\]; got \['atac'\]"),
        ({"layer": {"atac": "x"}}, ValueError, "modality 'atac'"),
        ({"layer": 3}, TypeError, "layer must be a name, or a dict"),
        ({"how": "left"}, ValueError, "how must be"),
        ({"y": 3}, TypeError, "name of a column of obs; got int"),
    ],
)
def test_what_a_mudata_does_not_have(arguments, error, message):
    with pytest.raises(error, match=message):
        from_mudata(make_mudata(), **arguments)


def test_modalities_share_samples():
    other = make_anndata(cells=["d1", "d2", "d3", "d4"], genes=["g1", "g2", "g3"])
    parts = {"a": make_anndata(), "b": other}
    with pytest.raises(ValueError, match=r"have none\. Their first obs_names are a: \['c1'.*how='outer'"):
        from_mudata(mudata.MuData(parts), how="inner")
    with pytest.raises(ValueError, match=r"axis=0\); got axis=1"):
        from_mudata(mudata.MuData(parts, axis=1))
