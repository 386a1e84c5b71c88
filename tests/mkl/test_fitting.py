"""Fitted models: attributes, diagnostics, probabilities, warnings, and what they keep."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from multikernel import MKLClassifier, MKLOneClass, MKLRegressor, MKLRidge
from multikernel.core import decisions
from multikernel.kernels import Gaussian, Linear
from tests.mkl.data import VIEWS, make_binary, make_regression, make_table, make_three, plain_kernels
from tests.raw import raw

NEW = make_table(25, seed=99)
FAMILY = [
    (MKLClassifier(VIEWS, C=2.0), make_binary),
    (MKLClassifier(VIEWS, loss="squared_hinge", multiclass="shared", norm=2.0), make_three),
    (MKLClassifier(VIEWS, multiclass="ovo"), make_three),
    (MKLClassifier(VIEWS, multiclass="joint"), make_three),
    (MKLRegressor(VIEWS, C=2.0), make_regression),
    (MKLRidge(VIEWS), make_regression),
    (MKLOneClass(VIEWS, nu=0.3), make_regression),
]
NAMES = ["binary", "shared", "ovo", "joint", "regressor", "ridge", "one_class"]
family = pytest.mark.parametrize(("estimator", "make"), FAMILY, ids=NAMES)


def output(model, X):
    return model.predict(X) if isinstance(model, MKLRegressor | MKLRidge) else model.decision_function(X)


# ---------------------------------------------------------------------- ways to give the same data
@family
def test_features_and_stack_give_the_same_model(estimator, make):
    X, y = make()
    on_table = clone(estimator).set_params(tol=1e-7).fit(X, y)
    on_stack = clone(estimator).set_params(kernels="precomputed", tol=1e-7).fit(plain_kernels(X, X), y)
    np.testing.assert_allclose(on_stack.kernel_weights_, on_table.kernel_weights_, atol=1e-3)
    np.testing.assert_allclose(on_stack.objective_, on_table.objective_, rtol=1e-6)
    expected = output(on_table, NEW)
    np.testing.assert_allclose(
        output(on_stack, plain_kernels(NEW, X)), expected, atol=2e-3 * np.ptp(expected)
    )


# ---------------------------------------------------------------------- what a fitted model tells


@family
def test_diagnostics_and_the_parts_of_the_scores(estimator, make):
    """dual_coef_, support_, intercept_ and the weights are the model: nothing is hidden."""
    X, y = make()
    model = clone(estimator).fit(X, y)
    n_machines = model.dual_coef_.shape[0]
    parts = model.contributions(NEW)
    assert parts.shape == ((25, 3) if n_machines == 1 else (25, n_machines, 3))
    scores = parts.sum(axis=-1).reshape(25, -1) + model.intercept_
    size = max(1.0, np.abs(scores).max())
    K = plain_kernels(NEW, X[model.support_])
    rebuilt = np.einsum("tsm,ks,km->tk", K, model.dual_coef_, model.machine_weights_) + model.intercept_
    np.testing.assert_allclose(rebuilt, scores, atol=1e-10 * size)
    if estimator.get_params().get("multiclass") != "ovo":  # whose decision function counts votes
        np.testing.assert_allclose(
            scores.reshape(output(model, NEW).shape), output(model, NEW), atol=1e-12 * size
        )
    assert model.status_ == "optimal" and model.dual_gap_ <= model.tol
    assert model.n_iter_ >= 1 and np.isfinite(model.objective_)
    units = model.machine_weights_ if model.norm == 1.0 else model.machine_weights_**model.norm
    np.testing.assert_allclose(units.sum(axis=1), 1.0, rtol=1e-9)


def test_weights_frame():
    X = make_table(90)
    y = np.where(X[:, 2] > 0.5, "c", np.where(X[:, 0] > 0, "a", "b"))
    frame = MKLClassifier(VIEWS, costs={"noise": 2.0}).fit(X, y).weights_frame()
    assert frame.index.tolist() == ["signal", "line", "noise"]
    machines = ["weight[a]", "weight[b]", "weight[c]"]  # a class may be called "weight" or "cost"
    assert frame.columns.tolist() == ["weight", "cost", *machines]
    np.testing.assert_allclose(frame["weight"], frame[machines].mean(axis=1))
    np.testing.assert_allclose((frame[machines].mul(frame["cost"] ** 2, axis=0)).sum(), 1.0)
    shared = MKLClassifier(VIEWS, multiclass="shared").fit(X, y).weights_frame()
    assert shared.columns.tolist() == ["weight", "cost"]


def test_the_learned_C_shares_the_budget_of_the_weights():
    X, y = make_binary()
    model = MKLClassifier(VIEWS, C="learn", loss="squared_hinge", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.kernel_weights_.sum() + 1.0 / model.C_[0], 1.0, rtol=1e-9)
    # of features that tell nothing the kernel gets no weight, and the model is a constant
    rng = np.random.default_rng(0)
    X, y = 1e-6 * rng.normal(size=(30, 2)), rng.integers(0, 2, size=30)
    model = MKLClassifier(raw(Gaussian(gamma=1.0)), C="learn", loss="squared_hinge").fit(X, y)
    assert model.kernel_weights_.tolist() == [0.0] and model.C_.tolist() == [1.0]
    assert model.total_cost_ == 0.0
    np.testing.assert_array_equal(model.decision_function(X), np.repeat(model.intercept_, 30))
    np.testing.assert_array_equal(model.contributions(X), np.zeros((30, 1)))


def test_hard_margin_of_several_classes_reaches_margin_one():
    X, y = make_three(60)
    for multiclass in ("ovr", "ovo", "shared"):
        model = MKLClassifier(
            raw([("a", Gaussian(gamma=2.0)), ("b", Linear())]), C=np.inf, multiclass=multiclass, tol=1e-6
        ).fit(X, y)
        scores = model.contributions(X).sum(axis=-1) + model.intercept_
        for column, name in enumerate(model.machine_names_):
            first, _, second = name.partition(" vs ")
            rows = np.isin(y, [first, second]) if second else np.ones(len(y), bool)
            signs = np.where(y[rows] == first, 1.0, -1.0)
            np.testing.assert_allclose((signs * scores[rows, column]).min(), 1.0, rtol=1e-6)


# ---------------------------------------------------------------------- probabilities
@pytest.mark.parametrize("make", [make_binary, make_three])
def test_probabilities(make):
    X, y = make(120)
    model = MKLClassifier(VIEWS, probability=True).fit(X, y)
    probabilities = model.predict_proba(NEW)
    assert probabilities.shape == (25, model.classes_.size)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.mean(model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)) > 0.9
    if model.classes_.size == 2:
        order = np.argsort(model.decision_function(NEW))
        assert (np.diff(probabilities[order, 1]) >= 0).all()


def test_probabilities_when_the_time_is_over(monkeypatch):
    """One fold is fitted for them, not five."""
    fitted = []
    solve = MKLClassifier._solve_all
    monkeypatch.setattr(decisions, "time_left", lambda: -1.0)
    monkeypatch.setattr(MKLClassifier, "_solve_all", lambda self, *a: fitted.append(self) or solve(self, *a))
    X, y = make_three(120)
    weights = np.linspace(0.5, 1.5, 120)
    model = MKLClassifier(VIEWS, probability=True).fit(X, y, weights)
    assert len(fitted) == 2
    np.testing.assert_allclose(model.predict_proba(NEW).sum(axis=1), 1.0)


def test_probabilities_must_be_asked_for():
    model = MKLClassifier(VIEWS)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as error:
        model.predict_proba(NEW)
    assert "probability=True" in str(error.value.__cause__)


# ---------------------------------------------------------------------- progress, warnings
@family
def test_too_few_iterations_warn_with_the_gap(estimator, make):
    X, y = make()
    model = clone(estimator).set_params(max_iter=1, tol=1e-10)
    with pytest.warns(ConvergenceWarning, match=r"did not reach tol=1e-10: the relative duality gap is \d"):
        model.fit(X, y)
    assert model.status_ == "max_iter" and model.n_iter_ == 1
    assert model.dual_gap_ > 1e-10 and np.isfinite(output(model, NEW)).all()


# ---------------------------------------------------------------------- compact state
def test_only_support_rows_and_active_kernels_are_kept():
    X, y = make_binary(100)
    calls = {"useful": [], "useless": []}

    def counting(name, gamma):
        def kernel(A, B):
            calls[name].append((len(A), len(B)))
            return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2))

        return kernel

    views = [("useful", counting("useful", 0.5), [0, 1, 2]), ("useless", counting("useless", 5.0), [3])]
    model = MKLClassifier(views, costs={"useless": 10.0}).fit(X, y)
    assert model.kernel_weights_[1] == 0.0
    assert 0 < model.support_.size < 100
    calls["useful"].clear(), calls["useless"].clear()
    model.decision_function(NEW)
    assert calls["useless"] == []
    assert {columns for _, columns in calls["useful"]} == {model.support_.size}
    [part] = model._fitted.parts
    assert len(pickle.dumps(part.coefficients)) < 8 * model.support_.size + 500


def test_a_precomputed_model_reads_support_columns_only():
    X, y = make_binary(100)
    model = MKLClassifier("precomputed").fit(plain_kernels(X, X), y)
    test = plain_kernels(NEW, X)
    expected = model.decision_function(test)
    others = np.setdiff1d(np.arange(100), model.support_)
    assert others.size
    test[:, others] = np.nan
    np.testing.assert_array_equal(model.decision_function(test), expected)
