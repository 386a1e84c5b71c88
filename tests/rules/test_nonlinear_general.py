"""Generalised MKL: sums against cvxpy, products against finite differences, features that matter."""

import warnings

import cvxpy as cp
import numpy as np
import pytest

from multikernel import CombinedKernelClassifier, CombinedKernelRegressor, per_feature
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.rules import GeneralMKL
from multikernel.rules.solver.margin_value import MarginValue
from multikernel.rules.solver.products import PowerProduct, WeightedSum
from multikernel.rules.targets import class_targets, value_targets


def make(seed=0, n=30, d=4):
    """Linear kernels and Gaussians of each column; two classes by the first two."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.2 * rng.normal(size=n) > 0.3, 1, 0)
    linear = [np.outer(x, x) for x in X.T]
    return X, y, linear, gaussians(X)


def gaussians(X):
    return [np.exp(-(np.subtract.outer(x, x) ** 2)) for x in X.T]


def conic_value(Ks, targets, penalty, reg, C):
    """The dual: the smallest over η ≥ 0 is taken by hand, −½q_m η_m + r(η) for each kernel."""
    value, constraints, forms = 0.0, [], [0.0] * len(Ks)
    roots = [np.linalg.cholesky(K + 1e-11 * np.eye(len(K))) for K in Ks]
    for loss in targets:
        beta = cp.Variable(loss.target.size)
        value += loss.target @ beta - loss.epsilon * cp.norm1(beta)
        constraints += [cp.sum(beta) == 0, beta >= loss.lower, beta <= loss.upper]
        forms = [q + cp.sum_squares(root.T @ beta) for q, root in zip(forms, roots, strict=True)]
    if penalty == "l1":
        constraints += [0.5 * q <= reg for q in forms]
    else:
        q = cp.Variable(len(Ks))
        value -= cp.sum_squares(q) / (8.0 * reg)
        constraints += [form <= q[m] for m, form in enumerate(forms)]
    return cp.Problem(cp.Maximize(value), constraints).solve(solver="CLARABEL")


@pytest.mark.parametrize(
    ("seed", "penalty", "reg", "C"),
    [(0, "l1", 0.7, 1.0), (1, "l2", 0.7, 10.0), (2, "l1", 3.0, 10.0), (3, "l2", 0.1, 1.0)],
)
def test_the_sum_is_optimal(seed, penalty, reg, C):
    _, y, linear, gaussian = make(seed)
    Ks = linear + gaussian
    learner = GeneralMKL(C, penalty=penalty, reg=reg, tol=1e-7).fit(Ks, y)
    expected = conic_value(Ks, class_targets(y).losses(C), penalty, reg, C)
    assert learner.objective_ == pytest.approx(expected, rel=1e-7)
    assert learner.dual_gap_ <= 2e-7
    assert learner.status_ == "optimal"
    assert (learner.kernel_weights_ >= 0).all()


def test_the_sum_of_values_and_of_many_classes():
    X, _, linear, gaussian = make(4)
    Ks = linear[:2] + gaussian[:2]
    values = np.column_stack([X[:, 0] ** 2, X[:, 1]])
    learner = GeneralMKL(2.0, reg=0.5, epsilon=0.05, tol=1e-7).fit(Ks, values)
    expected = conic_value(Ks, value_targets(values).losses(2.0, epsilon=0.05), "l1", 0.5, 2.0)
    assert learner.objective_ == pytest.approx(expected, rel=1e-7)
    codes = np.digitize(X[:, 0], [-0.5, 0.5])
    learner = GeneralMKL(2.0, reg=0.5, tol=1e-7).fit(Ks, codes)
    expected = conic_value(Ks, class_targets(codes).losses(2.0), "l1", 0.5, 2.0)
    assert learner.objective_ == pytest.approx(expected, rel=1e-7)


def value_at(Ks, y, eta, combination, penalty, reg, C):
    product = combination == "product"
    K = PowerProduct(np.stack(Ks)).matrix(eta) if product else WeightedSum(np.stack(Ks)).matrix(eta)
    price = eta.sum() if penalty == "l1" else 0.5 * eta @ eta
    return MarginValue(class_targets(y).losses(C), tol=1e-11)(K).value + reg * price


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_a_product_is_stationary(penalty):
    _, y, _, Ks = make(5, n=40)
    learner = GeneralMKL(2.0, "product", penalty, reg=1.0, tol=1e-6).fit(Ks, y)
    eta = learner.kernel_weights_

    def value(e):
        return value_at(Ks, y, e, "product", penalty, 1.0, 2.0)

    assert learner.objective_ == pytest.approx(value(eta), rel=1e-8)
    h = 1e-4
    for m, unit in enumerate(np.eye(len(Ks))):
        up = (value(eta + h * unit) - value(eta)) / h
        assert up >= -1e-2
        if eta[m] > 1e-3:
            assert (value(eta + h * unit) - value(eta - h * unit)) / (2 * h) == pytest.approx(0.0, abs=1e-2)
    assert value(eta) < value(np.full(len(Ks), eta.mean())) - 1.0


def test_features_that_do_not_matter_have_no_width():
    X, y, _, _ = make(2, n=60, d=6)
    learner = GeneralMKL(combination="product", reg=30.0)
    model = CombinedKernelClassifier(learner, kernels=per_feature(6)).fit(X, y)
    assert model.kernel_weights_[:2].min() > 0.05
    assert (model.kernel_weights_[2:] == 0.0).all()
    widths = model.kernel_weights_
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    new = Z[:5] + 0.1
    expected = np.exp(-((new[:, None] - Z[None]) ** 2 @ widths))
    np.testing.assert_allclose(model.combined_kernel(X[:5] + 0.1 * X.std(axis=0)), expected, rtol=1e-10)


def test_values_by_a_product():
    X, _, _, _ = make(7, n=50)
    y = np.sin(2.0 * X[:, 1])
    learner = GeneralMKL(10.0, "product", reg=3.0)
    model = CombinedKernelRegressor(learner, kernels=per_feature(4)).fit(X, y)
    assert model.kernel_weights_.argmax() == 1
    assert model.kernel_weights_[[0, 2, 3]].max() < 0.05 * model.kernel_weights_[1]


def test_what_cannot_be_done_is_said():
    X, y, linear, gaussian = make(10)
    with pytest.raises(ValueError, match=r"reg=1000000\.0 no kernel is worth its price"):
        GeneralMKL(reg=1e6).fit(gaussian, y)
    with pytest.raises(ValueError, match=r"kernel 'a' has -.* Gaussian or Laplacian"):
        GeneralMKL(combination="product").fit({"a": linear[0]}, y)
    positive = np.abs(X)
    cubic = Polynomial(3, gamma=1.0, coef0=0.1)(positive)
    with pytest.raises(ValueError, match="some of kernel 'cubic' are not"):
        GeneralMKL(combination="product").fit({"fine": gaussian[0], "cubic": cubic}, y)


def test_values_within_the_tube_are_worth_no_kernel():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in (np.linspace(-1e-3, 1e-3, 6), np.ones(6)):
            with pytest.raises(ValueError, match="no kernel is worth its price"):
                GeneralMKL().fit([np.eye(6), np.ones((6, 6)) + np.eye(6)], y, task="values")


def test_views_of_features():
    views = per_feature(["a", 3], Linear(), standardize=False)
    assert [(view.name, view.columns, view.kernel) for view in views] == [
        ("a", ["a"], Linear()),
        ("feature-3", [3], Linear()),
    ]
    assert per_feature(1)[0].kernel == Gaussian(gamma=1.0) and per_feature(1)[0].standardize
    with pytest.raises(TypeError, match="features"):
        per_feature(2.5)
