"""Columns of different views that move together in the learned kernel, against plain linear algebra."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.decomposition import KernelPCA

from multikernel import KernelBank, MKLClassifier, View
from multikernel.inspection import CrossViewMap, cross_view_map, learned_kernel
from multikernel.kernels import Gaussian, Linear, Mixed
from multikernel.views import MultiTable

N = 50


@pytest.fixture(scope="module")
def patients():
    """g1 and p0 rise together, p2 falls with them; the others are noise."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=N)
    genes = pd.DataFrame(rng.normal(size=(N, 3)), columns=["g0", "g1", "g2"])
    proteins = pd.DataFrame(rng.normal(size=(N, 4)), columns=["p0", "p1", "p2", "p3"])
    genes["g1"] += 3.0 * factor
    proteins["p0"] += 3.0 * factor
    proteins["p2"] -= 3.0 * factor
    return {"genes": genes, "proteins": proteins}, np.where(factor > 0, "<yes>", "no")


@pytest.fixture(scope="module")
def model(patients):
    tables, y = patients
    return MKLClassifier({"genes": Gaussian(), "proteins": Gaussian()}, norm=2).fit(tables, y)


def test_similarities_are_sums_of_products_of_correlations(patients, model):
    tables, _ = patients
    found = cross_view_map(model, tables, n_components=3)
    K = learned_kernel(model, MultiTable(tables))
    scores = KernelPCA(3, kernel="precomputed", eigen_solver="dense").fit_transform(K)
    values = {("genes", c): tables["genes"][c] for c in tables["genes"]}
    values |= {("proteins", c): tables["proteins"][c] for c in tables["proteins"]}
    R = {name: [np.corrcoef(column, t)[0, 1] for t in scores.T] for name, column in values.items()}
    table = found.to_frame()
    assert len(table) == 7
    for a in table.index:
        for b in table.index:
            assert table.loc[a, b] == pytest.approx(np.dot(R[a], R[b]), abs=1e-8)
    eigenvalues = np.linalg.eigvalsh(K - K.mean(0) - K.mean(1)[:, None] + K.mean())[::-1]
    np.testing.assert_allclose(found.shares, eigenvalues[:3] / eigenvalues.sum(), rtol=1e-8)


def test_with_all_components_they_are_correlations(patients, model):
    tables, _ = patients
    found = cross_view_map(model, tables, n_components=N - 1).to_frame()
    expected = pd.concat(tables.values(), axis=1).corr()
    names = [feature for _, feature in found.index]
    np.testing.assert_allclose(found.to_numpy(), expected.loc[names, names].to_numpy(), atol=1e-8)


def test_columns_that_share_a_factor_are_found(patients, model):
    tables, _ = patients
    found = cross_view_map(model, tables, n_components=1, n_top=2)
    assert isinstance(found, CrossViewMap) and len(found.to_frame()) == 4
    pairs = found.pairs(2).set_index("other_feature")
    assert set(pairs["feature"]) == {"g1"} and set(pairs.index) == {"p0", "p2"}
    assert pairs.loc["p0", "similarity"] > 0.7 and pairs.loc["p2", "similarity"] < -0.7
    assert "g1 of genes and p" in found.answer and "first component of" in found.answer
    assert json.loads(json.dumps(found.to_dict()))["features"][0]["view"] == "genes"
    assert "<table" in found._repr_html_() and str(found).startswith(found.answer)
    before = {name: table.copy() for name, table in tables.items()}
    cross_view_map(model, tables)
    for name, table in tables.items():
        pd.testing.assert_frame_equal(table, before[name])


def test_views_of_one_table_sparse_tables_categories_and_gaps(patients):
    tables, y = patients
    X = np.hstack([table.to_numpy() for table in tables.values()])
    views = [View("genes", Linear(), [0, 1, 2]), View("proteins", Linear(), [3, 4, 5, 6])]
    one = cross_view_map(MKLClassifier(views, norm=2, tol=1e-10).fit(X, y), X).to_frame()
    two = MKLClassifier({"genes": Linear(), "proteins": Linear()}, norm=2, tol=1e-10).fit(tables, y)
    np.testing.assert_allclose(one.to_numpy(), cross_view_map(two, tables).to_frame().to_numpy(), atol=1e-6)
    plain = KernelBank(views, standardize=False)
    sparse = MKLClassifier(plain, norm=2, tol=1e-10).fit(scipy.sparse.csr_matrix(X), y)
    dense = MKLClassifier(plain, norm=2, tol=1e-10).fit(X, y)
    a, b = cross_view_map(sparse, scipy.sparse.csr_matrix(X)), cross_view_map(dense, X)
    np.testing.assert_allclose(a.to_frame().to_numpy(), b.to_frame().to_numpy(), atol=1e-6)
    clinic = pd.DataFrame({"age": X[:, 3], "sex": np.where(X[:, 0] > 0, "f", "m"), "same": 1.0})
    clinic.loc[:4, "age"] = np.nan
    both = {"genes": tables["genes"], "clinic": clinic}
    found = cross_view_map(MKLClassifier({"genes": Linear(), "clinic": Mixed()}, norm=2).fit(both, y), both)
    table = found.to_frame()
    assert "sex" not in table.index.get_level_values("feature")
    assert np.all(table.loc[("clinic", "same")] == 0.0) and np.isfinite(table.to_numpy()).all()


def test_bad_input_is_refused_by_name(patients, model):
    tables, y = patients
    with pytest.raises(ValueError, match=r"two views at least; got 'X'.*a view of its own"):
        cross_view_map(MKLClassifier().fit(tables["genes"], y), tables["genes"])
    with pytest.raises(ValueError, match=f"less than the {N} samples; got {N}"):
        cross_view_map(model, tables, n_components=N)
    with pytest.raises(ValueError, match="n_top"):
        cross_view_map(model, tables, n_top=0)
    with pytest.raises(TypeError, match="fitted estimator"):
        cross_view_map("model", tables)
    with pytest.raises(ValueError, match="samples that the model was fitted to"):
        cross_view_map(model, {name: table[:20] for name, table in tables.items()})
