"""All classes in one machine behind scikit-learn's interface: values, scores, parameters, errors."""

import itertools
from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC

from judges.optimum import conic_optimum
from multikernel import MKLClassifier
from multikernel.core.svm.joint.solver import solve_multiclass
from multikernel.kernels import Gaussian
from tests.mkl.data import VIEWS, make_binary, make_table, make_three, plain_kernels

NEW = make_table(25, seed=99)
Joint = partial(MKLClassifier, multiclass="joint")


def make_spec():
    """The twelve points of the specification in three classes; linear and quadratic kernels, gated."""
    i = np.arange(1, 13)
    X = np.column_stack([np.sin(i), np.cos(2 * i)])
    scores = np.column_stack([X, np.ones(12)]) @ np.array([[0.3, -0.2, 0.1], [-0.4, 0.5, 0.0]]).T
    gates = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    linear = X @ X.T
    return sum(np.outer(g, g) * K for g, K in zip(gates.T, (linear, (1.0 + linear) ** 2), strict=True))


def test_the_value_of_the_specification():
    K = make_spec()
    model = Joint("precomputed", C=0.5, tol=1e-7).fit(K[:, :, None], np.arange(12) % 3)
    assert model.objective_ == pytest.approx(12.860785, abs=2e-6)


@pytest.mark.parametrize("C", (0.2, 5.0))
def test_one_kernel_solves_the_quadratic_program(C):
    """The primal, written plainly: values to 1e-6, and the same scores."""
    X, y = make_three(40)
    K = plain_kernels(X, X)[:, :, 0]
    codes = np.searchsorted(["a", "b", "c"], y)
    root = np.linalg.cholesky(K + 1e-12 * np.eye(40))
    w, b = cp.Variable((40, 3)), cp.Variable(3)
    f = root @ w + np.ones((40, 1)) @ cp.reshape(b, (1, 3), order="C")
    loss = sum(
        cp.pos(2 - f[i, codes[i]] + f[i, l])
        for i, l in itertools.product(range(40), range(3))
        if l != codes[i]
    )
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * loss), [cp.sum(b) == 0])
    best = conic_optimum(problem)
    model = Joint(Gaussian(gamma=0.5), C=C, tol=1e-8).fit(X[:, :2], y)
    np.testing.assert_allclose(model.objective_, best, rtol=1e-6)
    np.testing.assert_allclose(model.decision_function(X[:, :2]), f.value, atol=2e-3)
    np.testing.assert_allclose(model.intercept_.sum(), 0.0, atol=1e-9)
    np.testing.assert_allclose(model.kernel_weights_, [1.0])


def test_learned_weights_are_certified_from_outside():
    X, y = make_three()
    model = Joint(VIEWS, C=2.0, costs={"noise": 2.0}, tol=1e-5).fit(X, y)
    Ks = np.moveaxis(plain_kernels(X, X), 2, 0)
    B = np.zeros((3, 90))
    B[:, model.support_] = model.dual_coef_
    codes = np.searchsorted(model.classes_, y)
    d2 = np.array([1.0, 1.0, 4.0])
    np.testing.assert_allclose(d2 @ model.kernel_weights_, 1.0, rtol=1e-9)
    q = np.array([np.trace(B @ K @ B.T) for K in Ks])
    alpha = np.where(np.arange(3)[:, None] == codes, 0.0, -B)
    f = B @ np.tensordot(model.kernel_weights_, Ks, 1) + model.intercept_[:, None]
    slack = np.maximum(2.0 - f[codes, np.arange(90)] + f, 0.0) * (np.arange(3)[:, None] != codes)
    upper = 0.5 * model.kernel_weights_ @ q + 2.0 * slack.sum()
    lower = 2.0 * alpha.sum() - 0.5 * (q / d2).max()
    np.testing.assert_allclose(model.dual_gap_, (upper - lower) / upper, atol=1e-9)
    assert model.dual_gap_ <= 1e-5
    np.testing.assert_allclose(model.decision_function(X), f.T, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.classes_[f.argmax(axis=0)])
    parts = model.contributions(X)
    assert parts.shape == (90, 3, 3)
    np.testing.assert_allclose(parts.sum(axis=2) + model.intercept_, f.T, atol=1e-9)


def test_two_classes_are_the_binary_machine():
    X, y = make_binary()
    model = Joint(Gaussian(gamma=0.5), C=2.0, tol=1e-7).fit(X, y)
    svc = SVC(C=2.0, gamma=0.5, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(model.decision_function(NEW), svc.decision_function(NEW), atol=1e-4)
    K = Gaussian(gamma=0.5)(X, X)
    joint = solve_multiclass(K, (y == "yes").astype(int), 2, 2.0, tol=1e-8)
    np.testing.assert_allclose(2.0 * model.objective_, joint.objective, rtol=1e-6)


def test_weights_of_samples_are_repetitions():
    X, y = make_three(60)
    times = np.random.default_rng(0).integers(0, 4, 60)
    weighted = Joint(VIEWS, tol=1e-7).fit(X, y, sample_weight=times)
    repeated = Joint(VIEWS, tol=1e-7).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.decision_function(NEW), repeated.decision_function(NEW), atol=1e-4)


def test_a_class_of_its_own_price():
    X, y = make_three()
    dear = Joint(VIEWS, class_weight={"a": 100.0}).fit(X, y)
    cheap = Joint(VIEWS, class_weight={"a": 0.01}).fit(X, y)
    assert (dear.predict(X) == "a").sum() > (cheap.predict(X) == "a").sum()


def test_parameters_search_and_probabilities():
    X, y = make_three()
    model = Joint(VIEWS, C=3.0, probability=True)
    assert clone(model).get_params()["C"] == 3.0 and clone(model).multiclass == "joint"
    chances = model.fit(X, y).predict_proba(NEW)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    search = GridSearchCV(Joint("precomputed"), {"C": [0.1, 10.0]}, cv=3)
    assert search.fit(plain_kernels(X, X), y).best_score_ > 0.6


def test_ten_digits_by_the_default():
    X, y = (part[:600] for part in load_digits(return_X_y=True))
    ours, theirs = (cross_val_score(model, X, y, cv=3).mean() for model in (Joint(), SVC()))
    assert ours >= theirs


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "squared_hinge"}, "needs loss=\"hinge\"; got 'squared_hinge'"),
        ({"C": np.inf}, "needs a finite C; got inf"),
        ({"C": "learn"}, 'needs loss="squared_hinge"'),
    ],
)
def test_what_one_machine_cannot_do(parameters, message):
    with pytest.raises(ValueError, match=message):
        Joint(VIEWS, **parameters).fit(*make_three())


@pytest.mark.parametrize("C", (0.0, -1.0, np.nan, "one"))
def test_a_price_that_is_none(C):
    with pytest.raises((ValueError, TypeError), match="C must be"):
        Joint(VIEWS, C=C).fit(*make_three())


def test_a_fit_that_is_stopped_says_so():
    X, y = make_three()
    seen = []
    model = Joint(VIEWS, C=100.0, tol=1e-9, callback=lambda entry: seen.append(entry) or True)
    assert model.fit(X, y).status_ == "interrupted"
    assert len(seen) == 1 and np.isfinite(model.dual_gap_)
    assert model.predict(NEW).shape == (25,)
