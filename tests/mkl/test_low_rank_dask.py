"""Fits and predictions on dask collections: those of one process; errors name the chunk."""

from dataclasses import replace

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.sizeof import sizeof
from sklearn.base import clone

from multikernel import KernelBank, MKLClassifier, MKLOneClass, MKLRegressor, MKLRidge
from multikernel.core import low_rank as _factors
from multikernel.core.row_input import factorise
from multikernel.inspection import evaluate
from multikernel.kernels import Gaussian
from multikernel.rows import Block
from multikernel.rows.dask_rows import KeptParts
from multikernel.views.low_rank import LowRankBank, reference_rows
from tests.mkl.data import VIEWS, make_binary, make_regression, make_three
from tests.mkl.test_low_rank import make_outputs
from tests.public import public_estimators
from tests.stored import stored

pytestmark = pytest.mark.usefixtures("dask_in_this_thread")

CHUNKS = (70, 1, 0, 49, 80)
FAMILY = {
    "binary": (MKLClassifier(VIEWS, C=2.0), make_binary),
    "shared": (MKLClassifier(VIEWS, multiclass="shared", loss="squared_hinge"), make_three),
    "ovo": (MKLClassifier(VIEWS, multiclass="ovo", class_weight="balanced"), make_three),
    "regressor": (MKLRegressor(VIEWS), make_regression),
    "ridge": (MKLRidge(VIEWS), make_outputs),
}
family = pytest.mark.parametrize(("estimator", "make"), FAMILY.values(), ids=FAMILY.keys())
COLUMNS = list("pqrs")


def in_chunks(values, chunks=CHUNKS):
    return da.from_array(values, chunks=(chunks, *values.shape[1:]))


def low_rank(estimator, **parameters):
    return stored(estimator, gram="low_rank", rank=25, **parameters)


# ---------------------------------------------------------------------- the same model
@family
def test_arrays_in_chunks_give_the_model_of_one_process(estimator, make):
    X, y = make(200)
    weights = np.random.default_rng(0).integers(0, 3, 200).astype(float)  # one row in three does not count
    here = low_rank(estimator).fit(X, y, weights)
    there = low_rank(estimator).fit(in_chunks(X), in_chunks(y), in_chunks(weights, (100, 100)))
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-9)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-7)
    pd.testing.assert_frame_equal(there.approximation_, here.approximation_)
    np.testing.assert_allclose(there.score(in_chunks(X), in_chunks(y)), here.score(X, y), rtol=1e-9)
    score = there.score(in_chunks(X), in_chunks(y), in_chunks(weights))
    np.testing.assert_allclose(score, here.score(X, y, weights), rtol=1e-9)


def test_dask_can_tell_how_large_the_factors_of_a_chunk_are():
    X, _ = make_binary(60)
    bank = LowRankBank(VIEWS, rank=25).fit(X)
    parts = factorise(Block(0, 0, (X, np.zeros(60), np.ones(60))), bank)
    size = sizeof(KeptParts(parts))  # else workers do not know when their memory ends
    assert 0.9 * parts[0].nbytes < size < 1.5 * parts[0].nbytes


@family
def test_predictions_are_lazy_and_the_same(estimator, make):
    X, y = make(200)
    model = low_rank(estimator).fit(X, y)
    calls = []
    counted = in_chunks(X).map_blocks(lambda block: calls.append(1) or block, meta=np.empty((0, 0)))
    for question in ("predict", "decision_function", "contributions"):
        if not hasattr(model, question):
            continue
        expected, calls[:] = getattr(model, question)(X), []
        lazy = getattr(model, question)(counted)
        assert not calls and isinstance(lazy, da.Array)
        assert lazy.shape == expected.shape and lazy.dtype == expected.dtype and lazy.numblocks[0] == 4
        if expected.dtype.kind == "f":
            # landmarks that are nearly alike let rounding, by one row or by many, grow by 1e7
            np.testing.assert_allclose(lazy.compute(), expected, atol=1e-8 * np.ptp(expected))
        else:
            np.testing.assert_array_equal(lazy.compute(), expected)


def test_frames_with_partitions_of_unknown_size():
    X, y = make_three(200)
    frame = pd.DataFrame(X, columns=COLUMNS).assign(label=y)
    parts = dd.from_pandas(frame, npartitions=4)
    views = [replace(view, columns=[COLUMNS[c] for c in view.columns]) for view in VIEWS]
    estimator = MKLClassifier(KernelBank(views, gram="low_rank", rank=25))
    here = clone(estimator).fit(frame[COLUMNS], y)
    there = clone(estimator).fit(parts[COLUMNS], parts["label"])
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-9)
    assert there.feature_names_in_.tolist() == COLUMNS and there.classes_.tolist() == ["a", "b", "c"]
    lazy = there.predict(parts[COLUMNS])
    assert np.isnan(lazy.shape[0]) and lazy.compute().tolist() == here.predict(frame[COLUMNS]).tolist()
    assert there.score(parts[COLUMNS], parts["label"]) == here.score(frame[COLUMNS], y)
    with pytest.raises(ValueError, match="feature names"):
        there.predict(parts[COLUMNS].rename(columns={"p": "other"}))


def test_arrays_with_chunks_of_unknown_size():
    X, y = make_binary(200)
    unknown = in_chunks(X)[in_chunks(X)[:, 0] > -9.0]
    assert np.isnan(unknown.shape[0])
    here, there = fit_binary(X, y), fit_binary(unknown, y)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-9)
    np.testing.assert_array_equal(there.predict(unknown).compute(), here.predict(X))
    assert MKLClassifier(VIEWS[:2]).fit(in_chunks(X), y).gram_ == "low_rank", "without a word about it"


def test_factors_that_do_not_fit_are_computed_when_they_are_read(monkeypatch):
    X, y = make_binary(200)
    expected = low_rank(FAMILY["binary"][0]).fit(in_chunks(X), y)
    kept = []
    monkeypatch.setattr(_factors, "fits_cluster", lambda n_bytes: kept.append(n_bytes))
    model = low_rank(FAMILY["binary"][0]).fit(in_chunks(X), y)
    assert kept == [200 * model.memory_.n_columns * 8]
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-12)


def test_an_error_that_is_asked_for_holds_over_all_chunks(monkeypatch):
    monkeypatch.setattr(_factors, "reference_size", lambda n, ranks: 20)
    X, y = make_binary(200)
    here = MKLClassifier(KernelBank(VIEWS, gram="low_rank", rank=0.05)).fit(X, y)
    there = MKLClassifier(KernelBank(VIEWS, gram="low_rank", rank=0.05)).fit(in_chunks(X), in_chunks(y))
    pd.testing.assert_frame_equal(there.approximation_, here.approximation_)
    assert there.approximation_["trace_error"].max() <= 0.05


def test_numbers_of_pandas_own_are_the_plain_ones():
    X, y = make_binary(200)
    plain = pd.DataFrame(X, columns=[f"x{column}" for column in range(X.shape[1])])
    views = [("all", Gaussian(gamma=0.5), list(plain.columns))]
    expected = low_rank(MKLClassifier(views)).fit(plain, y).objective_
    for rows in (plain.astype("Float64"), dd.from_pandas(plain.astype("Float64"), npartitions=3)):
        assert low_rank(MKLClassifier(views)).fit(rows, y).objective_ == pytest.approx(expected, rel=1e-9)


# ---------------------------------------------------------------------- what is wrong is named
def test_an_evaluation_refuses_rows_elsewhere_at_the_door():
    X, y = make_binary(200)
    model = low_rank(FAMILY["binary"][0]).fit(X, y)
    for rows, labels in ((in_chunks(X), y), (dd.from_pandas(pd.DataFrame(X), npartitions=2), y)):
        with pytest.raises(TypeError, match=r"in this process; got a dask .* with compute\(\)"):
            evaluate(model, rows, labels)


def fit_binary(X, y, weights=None, **parameters):
    return low_rank(FAMILY["binary"][0], **parameters).fit(X, y, weights)


@pytest.mark.parametrize("sample", [200, 30])
def test_a_chunk_with_bad_values_is_named(monkeypatch, sample):
    """Whether the row is one of the reference rows or not."""
    monkeypatch.setattr(_factors, "reference_size", lambda n, ranks: sample)
    X, y = make_binary(200)
    model = fit_binary(in_chunks(X), in_chunks(y))
    assert sample == 200 or 130 not in reference_rows(200, 30, 0)
    X[130, 1] = np.nan
    place = r"^chunk 4 \(rows 120 to 199\): view 'signal'.* holds NaN at row 130, column 1"
    with pytest.raises(ValueError, match=place):
        fit_binary(in_chunks(X), in_chunks(y))
    with pytest.raises(ValueError, match=place):
        model.predict(in_chunks(X)).compute()


def with_entry(values, place, entry, dtype=float):
    values = np.array(values, dtype=dtype)
    values[place] = entry
    return values


BINARY, LABELS = make_binary(200)
VALUES = make_regression(200)[1]
NO_LABEL = with_entry(LABELS, 75, None, object)
KINDS = np.append(LABELS[:120].astype(object), np.arange(80))
WEIGHTS = with_entry(np.ones(200), 125, -1.0)
NARROW = da.from_delayed(dask.delayed(lambda: BINARY[120:, :3])(), (80, 4), float)
UNEVEN = da.concatenate([in_chunks(BINARY[:120], CHUNKS[:4]), NARROW])
PAIR = np.c_[VALUES, VALUES]


@pytest.mark.parametrize(
    ("name", "X", "y", "weights", "message"),
    [
        ("binary", BINARY, NO_LABEL, None, r"chunk 3 \(rows 71 to 119\): y must not hold missing .*entry 75"),
        ("binary", BINARY, LABELS, WEIGHTS, r"chunk 4 .*: sample_weight must be at least 0; entry 125 is -1"),
        ("binary", BINARY, LABELS, np.zeros(200), "sample_weight must have a positive entry"),
        ("binary", BINARY, np.full(200, "yes"), None, "at least 2 classes; got 1 class: 'yes'"),
        ("binary", BINARY, KINDS, None, "y must hold labels of one kind"),
        ("regressor", BINARY, with_entry(VALUES, 3, np.inf), None, r"chunk 0 .*: y holds infinity at row 3"),
        ("binary", UNEVEN, LABELS, None, "chunk 4 has 3, chunk 0 has 4"),
    ],
)
def test_what_is_wrong_with_a_chunk_at_fit_is_named(name, X, y, weights, message):
    table, labels, weights = (
        in_chunks(part) if isinstance(part, np.ndarray) else part for part in (X, y, weights)
    )
    with pytest.raises(ValueError, match=message):
        low_rank(FAMILY[name][0]).fit(table, labels, weights)


def test_what_a_fit_on_chunks_cannot_do_is_named():
    X, y = in_chunks(BINARY), LABELS
    for model, labels, message in (
        (FAMILY["binary"][0], y[:-1], "y must have as many rows as X; X has 200"),
        (FAMILY["binary"][0], None, "requires y to be passed"),
        (FAMILY["regressor"][0], PAIR.tolist(), r"y must have shape \(n,\); got shape \(200, 2\)"),
        (MKLClassifier(VIEWS, probability=True), y, "probability=True calibrates on .*LogisticRegression"),
        (
            MKLClassifier(VIEWS, multiclass="joint"),
            y,
            r"multiclass='joint' is not available with low-rank .*compute\(\)",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            low_rank(model).fit(X, labels)
    for gram in ("dense", "memmap"):
        with pytest.raises(TypeError, match=rf"gram='{gram}' needs all rows.*gram='low_rank'.*compute\(\)"):
            MKLClassifier(KernelBank(VIEWS, gram=gram)).fit(X, y)


def test_a_fitted_model_checks_the_chunks_that_it_is_given():
    model, X, y = fit_binary(in_chunks(BINARY), LABELS), in_chunks(BINARY), LABELS
    for labels, weights, message in (
        (None, None, "requires y to be passed"),
        (NO_LABEL, None, r"chunk 3 \(rows 71 to 119\): y must not hold missing labels; entry 75"),
        (np.arange(200) % 2, None, "of the type seen in fit, such as 'no'; got 0"),
        (y, np.zeros(200), "must have a positive entry"),
        (y, np.ones((200, 1)), "must be 1D array or scalar, got 2D"),
    ):
        with pytest.raises(ValueError, match=message):
            model.score(X, labels, weights)
    ridge = low_rank(FAMILY["ridge"][0]).fit(X, VALUES, 2.0)
    with pytest.raises(ValueError, match=r"y must have 1 column\(s\), one for each output; chunk 0 has 2"):
        ridge.score(X, PAIR)
    for refused, error, message in (
        (X[:, 0], ValueError, "X must be a"),
        (dask.delayed(BINARY), TypeError, "X must be a"),
        (X[:, :3], ValueError, "X has 3 features, but MKLClassifier is expecting 4"),
    ):
        with pytest.raises(error, match=message):
            model.predict(refused)
    with pytest.warns(UserWarning, match="X has feature names") as said:
        model.predict(dd.from_pandas(pd.DataFrame(BINARY, columns=COLUMNS), npartitions=2)).compute()
    assert len(said) == 1
    one_class = MKLOneClass(VIEWS).fit(BINARY[:50])
    with pytest.raises(TypeError, match=r"X\.compute\(\)"):
        one_class.predict(X)


LAZY = (MKLClassifier, MKLRegressor, MKLRidge)
OTHERS = [cls for cls in public_estimators() if hasattr(cls, "predict") and cls not in LAZY]


@pytest.mark.parametrize("estimator", OTHERS, ids=lambda cls: cls.__name__)
def test_other_estimators_refuse_dask_collections(estimator):
    X, y = make_binary(200)
    with pytest.raises(TypeError, match=r"needs all rows of X in this process.*X\.compute\(\)"):
        estimator().fit(in_chunks(X), (y == "yes").astype(int))


def test_a_model_of_the_stack_predicts_chunks_too():
    X, y = make_binary(200)
    model = MKLClassifier(VIEWS, callback=lambda entry: False).fit(X[:80], y[:80])
    np.testing.assert_array_equal(model.predict(in_chunks(X)).compute(), model.predict(X))
    assert model.score(in_chunks(X), y) == model.score(X, y)
    assert model.callback is not None and model.history_, "the model itself is not changed"
