"""All classes in one machine behind scikit-learn's interface: values, scores, what is refused."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from multikernel import MKLClassifier
from multikernel.core.svm.joint.solver import solve_multiclass
from multikernel.kernels import Gaussian
from tests.mkl.data import VIEWS, make_binary, make_table, make_three, plain_kernels
from tests.raw import raw

NEW = make_table(25, seed=99)
Joint = partial(MKLClassifier, multiclass="joint")


def test_the_value_of_the_specification():
    """Twelve points in three classes; a linear and a quadratic kernel, gated."""
    i = np.arange(1, 13)
    X = np.column_stack([np.sin(i), np.cos(2 * i)])
    scores = np.column_stack([X, np.ones(12)]) @ np.array([[0.3, -0.2, 0.1], [-0.4, 0.5, 0.0]]).T
    gates = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    linear = X @ X.T
    K = sum(np.outer(g, g) * K for g, K in zip(gates.T, (linear, (1.0 + linear) ** 2), strict=True))
    model = Joint("precomputed", C=0.5, tol=1e-7).fit(K[:, :, None], np.arange(12) % 3)
    assert model.objective_ == pytest.approx(12.860785, abs=2e-6)


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
    assert model.dual_gap_ <= 1e-5 and abs(model.intercept_.sum()) <= 1e-9
    np.testing.assert_allclose(model.decision_function(X), f.T, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.classes_[f.argmax(axis=0)])
    parts = model.contributions(X)
    assert parts.shape == (90, 3, 3)
    np.testing.assert_allclose(parts.sum(axis=2) + model.intercept_, f.T, atol=1e-9)


def test_two_classes_are_the_binary_machine():
    X, y = make_binary()
    model = Joint(raw(Gaussian(gamma=0.5)), C=2.0, tol=1e-7).fit(X, y)
    svc = SVC(C=2.0, gamma=0.5, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(model.decision_function(NEW), svc.decision_function(NEW), atol=1e-4)
    K = Gaussian(gamma=0.5)(X, X)
    joint = solve_multiclass(K, (y == "yes").astype(int), 2, 2.0, tol=1e-8)
    np.testing.assert_allclose(2.0 * model.objective_, joint.objective, rtol=1e-6)


def test_a_class_of_its_own_price():
    X, y = make_three()
    dear = Joint(VIEWS, class_weight={"a": 100.0}).fit(X, y)
    cheap = Joint(VIEWS, class_weight={"a": 0.01}).fit(X, y)
    assert (dear.predict(X) == "a").sum() > (cheap.predict(X) == "a").sum()


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
