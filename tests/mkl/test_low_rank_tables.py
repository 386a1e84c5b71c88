"""Factors of several tables: the models of one table, or of Gram matrices; what cannot be had."""

import numpy as np
import pandas as pd
import pytest

from multikernel import KernelBank, MKLClassifier, MKLRegressor, MKLRidge, View
from multikernel.core import row_input
from multikernel.core.low_rank import LowRankWarning
from multikernel.io import load_model, save_model
from multikernel.kernels import Gaussian, Linear
from multikernel.mkl import working_sets
from multikernel.rows import LocalRows
from multikernel.views import LowRankBank, join_views
from multikernel.views.low_rank import view as choice
from multikernel.views.tables import MultiTable

N = 60
RNG = np.random.default_rng(3)
GENES = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "c"])
CLINIC = pd.DataFrame(RNG.normal(size=(N, 4)), columns=["w", "x", "y", "z"])
TABLES = {"genes": GENES, "clinic": CLINIC}
VALUES = np.sin(2 * GENES["a"].to_numpy()) + CLINIC["x"].to_numpy() ** 2
LABELS = np.where(VALUES > 1.0, "high", "low")
KERNELS = {"genes": Gaussian(gamma=0.5), "clinic": Gaussian(gamma=0.3)}


@pytest.fixture
def small_stacks(monkeypatch):
    """The largest stack that "auto" makes has 40 rows here."""
    monkeypatch.setattr(choice, "LARGEST_DENSE", 40)
    monkeypatch.setattr(working_sets, "LARGEST_TABLE", 0)  # factors, and no working sets


# ---------------------------------------------------------------------- the same models
@pytest.mark.parametrize("model", [MKLClassifier, MKLRegressor, MKLRidge], ids=lambda kind: kind.__name__)
def test_factors_of_full_rank_give_the_model_of_the_stack(model):
    y = LABELS if model is MKLClassifier else VALUES
    dense = model(KernelBank(KERNELS, gram="dense"), tol=1e-8).fit(TABLES, y)
    factors = model(KernelBank(KERNELS, rank=N), tol=1e-8).fit(TABLES, y)
    assert factors.gram_ == "low_rank" and factors.view_names_ == ["genes", "clinic"]
    np.testing.assert_allclose(factors.kernel_weights_, dense.kernel_weights_, atol=1e-5)
    question = "decision_function" if model is MKLClassifier else "predict"
    found, expected = (getattr(one, question)(TABLES) for one in (factors, dense))
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_one_joined_table_has_the_same_factors():
    joined = pd.concat([GENES, CLINIC], axis=1)
    views = [("genes", Gaussian(), list("abc")), ("clinic", Gaussian(), list("wxyz"))]
    of_one = LowRankBank(views, rank=20).fit(joined)
    of_both = LowRankBank({"genes": Gaussian(), "clinic": Gaussian()}, rank=20).fit(TABLES)
    np.testing.assert_array_equal(of_both.transform(TABLES), of_one.transform(joined))


def test_tables_and_columns_are_found_by_name_at_prediction(tmp_path):
    model = MKLClassifier(KernelBank(KERNELS, rank=20)).fit(TABLES, LABELS)
    other = {"clinic": CLINIC[["z", "x", "y", "w"]], "genes": GENES.assign(more=1.0)[["more", "c", "b", "a"]]}
    expected = model.decision_function(TABLES)
    np.testing.assert_array_equal(model.decision_function(other), expected)
    np.testing.assert_array_equal(model.decision_function(MultiTable(TABLES)[10:30]), expected[10:30])
    loaded = load_model(save_model(model, tmp_path / "model") or tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(other), expected)
    with pytest.raises(ValueError, match=r"fitted with the table 'clinic', which is not there"):
        model.predict({"genes": GENES})


def test_blocks_of_rows_give_the_same_model(monkeypatch):
    whole = MKLClassifier(KernelBank(KERNELS, rank=0.05)).fit(TABLES, LABELS)
    monkeypatch.setattr(row_input, "LocalRows", lambda parts: LocalRows(parts, block_rows=13))
    parts = MKLClassifier(KernelBank(KERNELS, rank=0.05)).fit(TABLES, LABELS)
    np.testing.assert_allclose(
        parts.decision_function(TABLES), whole.decision_function(TABLES), rtol=0, atol=1e-9
    )


def test_rows_of_tables_are_joined_again():
    X = MultiTable(
        {"a": GENES, "b": CLINIC.to_numpy(), "c": [f"s{i}" for i in range(N)]}, ids=range(100, 160)
    )
    (taken,) = LocalRows((X,), block_rows=13).take([50, 3, 20])
    assert taken.ids.tolist() == [150, 103, 120] and taken.shape == (3, X.shape[1])
    assert taken["a"].equals(GENES.iloc[[50, 3, 20]]) and taken["c"] == ["s50", "s3", "s20"]
    np.testing.assert_array_equal(taken["b"], CLINIC.to_numpy()[[50, 3, 20]])


# ---------------------------------------------------------------------- views on tables
def test_automatic_kernels_of_each_table_leave_out_constant_ones():
    tables = {"genes": GENES, "flat": np.ones((N, 2))}
    names = LowRankBank("auto", rank=10).fit(TABLES).view_names_
    assert len(names) == 12 and names[0] == "genes-linear" and names[-1] == "clinic-rank-laplacian-2"
    kept = LowRankBank({"genes": Linear(), "flat": "auto"}, rank=5).fit(MultiTable(tables)).view_names_
    assert kept == ["genes"]
    model = MKLClassifier(KernelBank({"genes": Gaussian(), "flat": "auto"}, rank=10)).fit(tables, LABELS)
    assert model.view_names_ == ["genes"]
    with pytest.raises(ValueError, match="kernel 'flat' is constant"):
        MKLClassifier(KernelBank({"genes": Gaussian(), "flat": Gaussian()}, rank=10)).fit(tables, LABELS)


def test_a_view_names_its_rank_and_the_table_is_the_one_with_its_columns():
    views = [View("age", Gaussian(), ["w", "x"], rank=7), View("genes", Linear(), ["a", "b"], table="genes")]
    model = MKLClassifier(views).fit(TABLES, LABELS)
    assert model.gram_ == "low_rank" and model.approximation_["rank"].tolist() == [7, 2]


# ---------------------------------------------------------------------- the route
def test_several_tables_are_counted_by_their_rows(small_stacks):
    part = MultiTable(TABLES)[:40]
    assert MKLClassifier(KERNELS).fit(part, LABELS[:40]).gram_ == "dense"
    with pytest.warns(LowRankWarning):
        assert MKLClassifier(KERNELS).fit(TABLES, LABELS).gram_ == "low_rank"


def test_samples_that_lack_a_table_keep_their_gram_matrices(small_stacks):
    ids = [f"s{row}" for row in range(len(GENES))]
    tables = {"genes": GENES.set_axis(ids), "clinic": CLINIC.set_axis(ids).iloc[5:]}
    X, y = join_views(tables, pd.Series(LABELS, index=ids), how="outer")
    with pytest.warns(UserWarning, match="renormalize"):
        assert MKLClassifier(KERNELS).fit(X, y).gram_ == "dense"
    with pytest.raises(ValueError, match=r"'renormalize'.*no low-rank route.*drop what.*gram='dense'"):
        MKLClassifier(KernelBank(KERNELS, rank=10)).fit(X, y)


def test_tables_in_dask_collections_are_refused():
    dask = pytest.importorskip("dask.array")
    lazy = {"genes": dask.from_array(GENES.to_numpy(), chunks=(20, 3)), "clinic": CLINIC}
    with pytest.raises(TypeError, match=r"table 'genes' is a dask Array.*compute\(\).*one dask dataframe"):
        MKLClassifier(KernelBank(KERNELS, rank=10)).fit(lazy, LABELS)


def test_a_row_that_is_refused_is_named_in_its_table():
    spoilt = CLINIC.copy()
    spoilt.iloc[33, 1] = np.nan
    with pytest.raises(ValueError, match=r"view 'clinic'.*row 33"):
        MKLClassifier(KernelBank(KERNELS, rank=10)).fit({"genes": GENES, "clinic": spoilt}, LABELS)
