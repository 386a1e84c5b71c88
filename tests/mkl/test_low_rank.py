"""Fits on factors: the problem of the Gram stack; and what a model says of itself can be recomputed."""

import io
from contextlib import redirect_stderr
from types import SimpleNamespace

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from multikernel import KernelBank, MKLClassifier, MKLRegressor, MKLRidge, View
from multikernel.core import low_rank as _factors
from multikernel.core.low_rank import FactorRequest, LowRankWarning
from multikernel.kernels import Gaussian, Laplacian, Linear
from multikernel.rows import LocalRows
from multikernel.rows.tables import rows_unlike
from tests.mkl.data import VIEWS, make_binary, make_regression, make_table, make_three
from tests.raw import raw
from tests.stored import stored

NEW = make_table(25, seed=99)
TOL = 5e-7  # two values with this gap are 1e-6 from each other


def make_outputs(n=80, seed=0):
    X, y = make_regression(n, seed)
    return X, np.column_stack([y, X[:, 3] ** 2, -y + X[:, 2]])


FAMILY = {
    "hinge": (MKLClassifier(VIEWS, C=2.0), make_binary),
    "squared hinge": (MKLClassifier(VIEWS, loss="squared_hinge", norm=2.0), make_binary),
    "ovr": (MKLClassifier(VIEWS, norm=2.0, class_weight="balanced"), make_three),
    "ovo": (MKLClassifier(VIEWS, multiclass="ovo"), make_three),
    "shared": (MKLClassifier(VIEWS, multiclass="shared", costs=[1.0, 2.0, 1.0]), make_three),
    "regressor": (MKLRegressor(VIEWS, C=2.0), make_regression),
    "regressor, p=2": (MKLRegressor(VIEWS, norm=2.0, epsilon=0.3), make_regression),
    "ridge": (MKLRidge(VIEWS, alpha=0.3), make_regression),
    "ridge, outputs": (MKLRidge(VIEWS, norm=1.5), make_outputs),
    "ridge, no intercept": (MKLRidge(VIEWS, fit_intercept=False), make_regression),
}
family = pytest.mark.parametrize(("estimator", "make"), FAMILY.values(), ids=FAMILY.keys())


def on_factors(estimator, rank=None, **parameters):
    return stored(estimator, gram="low_rank", rank=rank, **parameters)


def output(model, X):
    return model.decision_function(X) if isinstance(model, MKLClassifier) else model.predict(X)


# ---------------------------------------------------------------------- the same problem
@family
def test_factors_of_full_rank_give_the_model_of_the_stack(estimator, make):
    X, y = make()
    weights = np.random.default_rng(1).uniform(0.2, 2.0, len(X))
    stack = stored(estimator, tol=TOL, gram="dense").fit(X, y, weights)
    model = on_factors(estimator, len(X), tol=TOL).fit(X, y, weights)
    np.testing.assert_allclose(model.objective_, stack.objective_, rtol=1e-6)
    np.testing.assert_allclose(model.kernel_weights_, stack.kernel_weights_, atol=1e-3)
    expected = output(stack, NEW)
    np.testing.assert_allclose(output(model, NEW), expected, atol=2e-3 * np.ptp(expected))
    np.testing.assert_allclose(
        model.contributions(NEW), stack.contributions(NEW), atol=2e-3 * np.ptp(expected)
    )
    assert model.history_[-1]["lower_bound"] <= model.history_[-1]["objective"]
    assert model.status_ == "optimal" and model.dual_gap_ <= TOL
    units = (model.machine_weights_ * model._costs**2) ** model.norm
    np.testing.assert_allclose(units.sum(axis=1), 1.0, rtol=1e-6)
    if model.coef_.shape[0] == 1:  # the coefficients are the scores
        Z = model._prediction_bank.transform(NEW)
        np.testing.assert_allclose(Z @ model.coef_[0] + model.intercept_[0], output(model, NEW), rtol=1e-9)


CORNERS = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
SAME = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 10, axis=0)


@pytest.mark.parametrize(
    ("estimator", "X", "y", "value"),
    [
        (MKLClassifier(), CORNERS, [1, 1, -1, -1], 4.0),  # every sample costs C = 1
        (MKLClassifier(), np.tile(CORNERS, (10, 1)), np.tile([1, 1, -1, -1], 10), 40.0),
        (MKLClassifier(), SAME, np.tile(["a", "b"], 20), 40.0),
        (MKLRegressor(epsilon=0.25), np.tile(CORNERS, (5, 1)), np.tile([1.0, 1.0, -1.0, -1.0], 5), 15.0),
    ],
    ids=["corners", "repeated", "contradictory labels", "values"],
)
def test_the_bounds_meet_where_the_best_function_is_a_constant(estimator, X, y, value):
    model = on_factors(estimator, kernels=raw([Linear()])).fit(X, y)
    assert model.status_ == "optimal" and model.dual_gap_ <= 1e-12
    assert model.objective_ == pytest.approx(value)


def test_a_rank_that_is_too_small_costs_value_and_says_so():
    X, y = make_binary(150)
    values, errors = [], []
    for rank in (5, 12, 60):
        model = on_factors(FAMILY["hinge"][0], rank, tol=1e-6).fit(X, y)
        values.append(model.objective_)
        errors.append(model.approximation_["trace_error"].max())
    exact = FAMILY["hinge"][0].set_params(tol=1e-6).fit(X, y).objective_
    assert values[0] > values[1] > values[2] >= exact * (1 - 1e-5)
    assert errors[0] > errors[1] > errors[2] > 0.0


# ---------------------------------------------------------------------- what counts, and what does not
@pytest.mark.parametrize("name", ["hinge", "shared", "regressor", "ridge"])
def test_weights_repeat_rows_and_leave_them_out(name):
    estimator, make = FAMILY[name]
    X, y = make(80)
    X = np.vstack([X, [[np.nan, 1.0, 1.0, 1.0]]])  # nobody looks at a row without weight
    y = np.append(y, y[:1])
    counts = np.append(np.random.default_rng(0).integers(0, 3, 80), 0)
    weighted = on_factors(estimator, 1e-6, tol=TOL).fit(X, y, counts)
    repeated = on_factors(estimator, 1e-6, tol=TOL).fit(X.repeat(counts, axis=0), y.repeat(counts))
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-6)
    np.testing.assert_allclose(output(weighted, NEW), output(repeated, NEW), atol=1e-4)
    order = np.random.default_rng(1).permutation(len(y))
    shuffled = on_factors(estimator, 1e-6, tol=TOL).fit(X[order], y[order], counts[order])
    np.testing.assert_allclose(shuffled.objective_, weighted.objective_, rtol=1e-9)
    pd.testing.assert_frame_equal(shuffled.approximation_, weighted.approximation_, rtol=1e-6)


@pytest.mark.parametrize("place", ["memory", "disk", "nowhere"])
def test_blocks_and_where_factors_are_kept_change_nothing(monkeypatch, place):
    X, y = make_three(300)
    expected = on_factors(FAMILY["ovr"][0], 20, n_jobs=2).fit(X, y)
    made, computed = [], []
    factorise = _factors.factorise

    def in_small_blocks(parts):
        made.append(LocalRows(parts, block_rows=64))
        return made[-1]

    monkeypatch.setattr("multikernel.core.row_input.LocalRows", in_small_blocks)
    monkeypatch.setattr(_factors, "factorise", lambda *given: computed.append(1) or factorise(*given))
    if place != "memory":
        room = expected.memory_.workspace + expected.memory_.stack // 2
        monkeypatch.setattr("multikernel.views.memory.available_memory", lambda: room)
    if place == "nowhere":
        monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=1000))
    model = on_factors(FAMILY["ovr"][0], 20, n_jobs=2).fit(X, y)
    assert made[0].on_disk == (place == "disk") and model.memory_.place == place and model.memory_.fits
    assert (len(computed) > 5) == (place == "nowhere"), "once for each of the 5 blocks, if they are kept"
    np.testing.assert_allclose(model.objective_, expected.objective_, rtol=1e-12)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)


# ---------------------------------------------------------------------- reference rows
RARE = [33, 151, 160, 299]
RARE_VIEWS = raw([("common", Gaussian(0.5), [0, 1]), ("rare", Linear(), [2]), ("same", Gaussian(1.0), [3])])


@pytest.fixture
def few_references(monkeypatch):
    """Twenty rows are reference rows; other numbers by a call."""

    def draw(size):
        monkeypatch.setattr(_factors, "reference_size", lambda n, ranks: size)

    draw(20)
    return draw


@pytest.mark.usefixtures("few_references", "dask_in_this_thread")
def test_rows_that_differ_become_reference_rows_wherever_they_are():
    """Of 300 rows four differ in the last columns, none of them among the twenty that are drawn."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    X[:, 2], X[:, 3] = 0.0, 7.0
    X[RARE, 2] = [1.0, -2.0, 1.0, 3.0]
    X[RARE[:2], 3] = 8.0
    y = (X[:, 0] + 5 * X[:, 2] > 0).astype(int)
    estimator = MKLClassifier(KernelBank(RARE_VIEWS, gram="low_rank", rank=10), random_state=0)
    here = clone(estimator).fit(X, y)
    assert here.approximation_["rank"].tolist() == [10, 1, 2]
    for table in (
        da.from_array(X, chunks=(70, 4)),
        pd.DataFrame(X, columns=list("abcd")),
        scipy.sparse.csr_matrix(X),
    ):
        other = clone(estimator).fit(table, y)
        np.testing.assert_allclose(other.coef_, here.coef_, atol=1e-7)
    weights = np.ones(300)
    weights[RARE] = 0.0  # rows without weight do not count as different
    message = "kernel 'rare' is all zero on the reference rows of 296 training rows"
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(X, y, weights)


def test_reference_rows_are_drawn_by_the_seed(few_references):
    few_references(60)
    X, y = make_binary(200)
    fits = [on_factors(FAMILY["hinge"][0], 20, random_state=seed).fit(X, y) for seed in (3, 3, 4)]
    errors = [model.approximation_["trace_error"]["signal"] for model in fits]
    assert errors[0] == errors[1] != errors[2]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    few_references(80)
    repeated = on_factors(FAMILY["hinge"][0], 60).fit(np.vstack([X[:40], X[:40]]), np.tile(y[:40], 2))
    assert repeated.approximation_["rank"]["signal"] == 40, "no more landmarks than different rows"


def test_rows_unlike_one_of_them():
    words = [["a"], ["b", "c"], ["a"]]
    assert rows_unlike(words, words[:1]).tolist() == [1]
    X = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 0.0]])
    for table in (X, X[:, 0], scipy.sparse.coo_matrix(X), pd.DataFrame(X), pd.Series(X[:, 1])):
        one = table.tocsr()[:1] if scipy.sparse.issparse(table) else table[:1]
        assert rows_unlike(table, one).tolist() == [2]


# ---------------------------------------------------------------------- ranks by trace error
MANY = raw([View("near", Gaussian(gamma=2.0), [0, 1]), View("far", Laplacian(0.3), [2, 3], rank=15)])


def test_an_error_that_is_asked_for_holds_over_all_rows(few_references):
    few_references(40)
    X, y = make_binary(400, seed=2)
    X[::50] *= 4.0  # rows unlike those that a small sample holds
    model = MKLClassifier(KernelBank(MANY, gram="low_rank", rank=0.05)).fit(X, y)
    table = model.approximation_
    assert table["approximation"].tolist() == ["cholesky", "nystroem"] and table["rank"]["far"] == 15
    norms = [(Z**2).sum() for _, Z in model._prediction_bank.iter_factors(X)]
    np.testing.assert_allclose(1.0 - np.array(norms) / 400, table["trace_error"], atol=1e-12)
    assert 0.0 < table["trace_error"]["near"] <= 0.05


@pytest.mark.parametrize(
    ("rank", "attempts", "said"),
    [
        (0.01, 1, "has a relative trace error of .* over all 200 rows, more than rank=0.01"),
        (1e-320, 2, r"more than rank=9\.99989e-321 asks for"),
    ],
)
def test_an_error_that_is_not_reached_is_said(few_references, monkeypatch, rank, attempts, said):
    few_references(10)
    monkeypatch.setattr(_factors, "_ATTEMPTS", attempts)
    with pytest.warns(UserWarning, match=f"view 'near' .*{said}"):
        MKLClassifier(KernelBank(MANY, gram="low_rank", rank=rank)).fit(*make_binary(200))


@pytest.mark.filterwarnings("ignore:kernel.*nearly the identity:multikernel.views.KernelWarning")
def test_an_error_out_of_reach_is_tried_once_and_said(monkeypatch):
    fits, fitted = [], FactorRequest._fitted
    monkeypatch.setattr(FactorRequest, "_fitted", lambda *given: fits.append(1) or fitted(*given))
    views = raw([View("narrow", Gaussian(gamma=500.0), [0, 1]), MANY[1]])
    with pytest.warns(LowRankWarning, match=r"'narrow' .* with 200 columns, the most .*gram='dense'"):
        MKLClassifier(KernelBank(views, gram="low_rank", rank=0.01)).fit(*make_binary(500))
    assert len(fits) == 1


# ---------------------------------------------------------------------- manners
def test_a_fit_leaves_nothing_of_the_other_route():
    X, y = make_binary()
    model = MKLClassifier(VIEWS).fit(X, y)
    assert model.gram_ == "dense" and "80 × 80" in str(model.memory_) and not hasattr(model, "coef_")
    model.set_params(kernels=KernelBank(VIEWS, gram="low_rank", rank=10)).fit(X, y)
    assert model.gram_ == "low_rank" and model.memory_.n_columns == 21
    assert not hasattr(model, "support_") and not hasattr(model, "dual_coef_")
    model.set_params(kernels__gram="dense", kernels__rank=None).fit(X, y)
    assert not hasattr(model, "coef_") and not hasattr(model, "approximation_")
    np.testing.assert_array_equal(
        model.decision_function(NEW), MKLClassifier(VIEWS).fit(X, y).decision_function(NEW)
    )


def test_progress_callback_and_convergence_are_told():
    X, y = make_three(120)
    seen = []
    model = on_factors(
        FAMILY["ovr"][0], 20, callback=lambda entry: seen.append(entry["gap"]) or len(seen) > 2, verbose=1
    )
    with redirect_stderr(io.StringIO()) as told:
        model.fit(X, y)
    assert model.status_ == "interrupted"
    size = f"120 × {model.approximation_['rank'].sum()}"
    assert "[multikernel] low rank: " in told.getvalue() and size in told.getvalue()
    assert "b: iteration" in told.getvalue()
    with pytest.warns(ConvergenceWarning, match=r"did not reach tol=1e-12"):
        on_factors(FAMILY["hinge"][0], 20, tol=1e-12, max_iter=2).fit(*make_binary())


def test_probabilities_on_factors():
    X, y = make_three(150)
    model = on_factors(FAMILY["shared"][0], 20, probability=True).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (model.classes_[P.argmax(axis=1)] == y).mean() > 0.9


@pytest.mark.filterwarnings("ignore:factors of low rank hold less")
@pytest.mark.filterwarnings("ignore::multikernel.views.KernelWarning")
def test_what_is_too_large_is_refused():
    X, y = make_regression()
    with pytest.raises(ValueError, match=r"too large for floating point.*normalize=.trace. of each View"):
        on_factors(FAMILY["ridge"][0], 10).fit(X, 1e200 * y)
    high = y > np.median(y)
    for name, target in (("hinge", high), ("squared hinge", high), ("ridge", y), ("regressor", y)):
        with pytest.raises(ValueError, match="too large for floating point"):
            on_factors(FAMILY[name][0], 10).fit(1e100 * X, target)
    with pytest.raises(ValueError, match=r"view 'signal' holds NaN at row 7, column 1"):
        X[7, 1] = np.nan
        on_factors(FAMILY["ridge"][0], 10).fit(X, y)
