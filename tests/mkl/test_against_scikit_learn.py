"""With one kernel an estimator is the machine of scikit-learn: scores, intercept, sample and class weight."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, OneClassSVM

from multikernel import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor, MKLRidge
from multikernel.kernels import Gaussian
from tests.mkl.data import make_binary, make_regression, make_table, make_three
from tests.raw import raw
from tests.refusals import refuses

ONE = raw([("all", Gaussian(gamma=0.3))])
NEW = make_table(40, seed=99)
TIGHT = {"tol": 1e-9}


def weights_of(n, seed=5):
    return np.random.default_rng(seed).uniform(0.2, 3.0, size=n)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"yes": 3.0, "no": 0.5}])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_binary_classifier_is_svc(C, weighted, class_weight):
    X, y = make_binary()
    weights = weights_of(len(y)) if weighted and class_weight != "balanced" else None
    ours = MKLClassifier(ONE, C=C, class_weight=class_weight, **TIGHT).fit(X, y, sample_weight=weights)
    theirs = SVC(C=C, gamma=0.3, class_weight=class_weight, tol=1e-8).fit(X, y, sample_weight=weights)
    scores = theirs.decision_function(NEW) - theirs.intercept_
    np.testing.assert_allclose(ours.decision_function(NEW) - ours.intercept_, scores, atol=2e-4)
    np.testing.assert_array_equal(ours.support_, np.sort(theirs.support_))
    if np.unique(np.abs(ours.dual_coef_).round(9)).size > 2:  # else all duals are at bounds: a whole range of
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-4)  # intercepts is optimal
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_of_classes_are_finite_and_not_negative(weight):
    X, y = make_binary()
    label = np.unique(y)[0]
    for model in (MKLClassifier(ONE), MKLClassifierCV(ONE)):
        with refuses("class_weight", "not negative", repr(weight), str(label)):
            model.set_params(class_weight={label: weight}).fit(X, y)


def test_one_versus_one_is_svc():
    X, y = make_three()
    ours = MKLClassifier(ONE, multiclass="ovo", C=5.0, **TIGHT).fit(X, y)
    theirs = SVC(C=5.0, gamma=0.3, decision_function_shape="ovr", tol=1e-8).fit(X, y)
    np.testing.assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
    np.testing.assert_allclose(ours.decision_function(NEW), theirs.decision_function(NEW), atol=1e-3)
    assert ours.machine_names_ == ["a vs b", "a vs c", "b vs c"]


def test_one_versus_rest_has_one_svc_for_each_class():
    X, y = make_three()
    ours = MKLClassifier(ONE, multiclass="ovr", C=5.0, **TIGHT).fit(X, y).decision_function(NEW)
    for k, label in enumerate("abc"):
        theirs = SVC(C=5.0, gamma=0.3, tol=1e-8).fit(X, y == label)
        np.testing.assert_allclose(ours[:, k], theirs.decision_function(NEW), atol=2e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_regressor_is_svr(epsilon, weighted):
    X, y = make_regression()
    weights = weights_of(len(y)) if weighted else None
    ours = MKLRegressor(ONE, C=3.0, epsilon=epsilon, **TIGHT).fit(X, y, sample_weight=weights)
    theirs = SVR(C=3.0, gamma=0.3, epsilon=epsilon, tol=1e-8).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.predict(NEW), theirs.predict(NEW), atol=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.1, 0.5, 0.9])
def test_one_class_is_one_class_svm(nu, weighted):
    X = make_table()
    weights = weights_of(len(X)) if weighted else np.ones(len(X))
    ours = MKLOneClass(ONE, nu=nu, **TIGHT).fit(X, sample_weight=weights)
    theirs = OneClassSVM(gamma=0.3, nu=nu, tol=1e-9).fit(X, sample_weight=weights)
    scaled = ours.decision_function(NEW) * nu * weights.sum()  # our duals sum to one
    np.testing.assert_allclose(scaled, theirs.decision_function(NEW), atol=2e-3)
    np.testing.assert_allclose(ours.score_samples(NEW) - ours.offset_, ours.decision_function(NEW))
    if not weighted:
        assert np.mean(ours.decision_function(X) < -1e-6) <= nu <= ours.support_.size / len(X) + 1e-9


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_ridge_is_kernel_ridge(n_outputs, weighted):
    X, y = make_regression()
    Y = y if n_outputs == 1 else np.column_stack([y, X[:, 1], np.cos(X[:, 0])])
    weights = weights_of(len(y)) if weighted else None
    ours = MKLRidge(ONE, alpha=0.7, fit_intercept=False).fit(X, Y, sample_weight=weights)
    theirs = KernelRidge(alpha=0.7, kernel="rbf", gamma=0.3).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(ours.predict(NEW), theirs.predict(NEW), rtol=1e-8, atol=1e-9)
    assert ours.predict(NEW).shape == theirs.predict(NEW).shape


def test_ridge_with_intercept_solves_its_normal_equations():
    X, y = make_regression()
    weights = weights_of(len(y))
    ours = MKLRidge(ONE, alpha=0.7).fit(X, y, sample_weight=weights)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    system = np.block(
        [[K + np.diag(0.7 / weights), np.ones((len(y), 1))], [np.ones((1, len(y))), np.zeros((1, 1))]]
    )
    solved = np.linalg.solve(system, np.append(y, 0.0))
    np.testing.assert_allclose(ours.intercept_[0], solved[-1], rtol=1e-8)
    np.testing.assert_allclose(ours.predict(X), K @ solved[:-1] + solved[-1], rtol=1e-8)
    residual = y - ours.predict(X)
    value = 0.5 * weights @ residual**2 + 0.35 * solved[:-1] @ K @ solved[:-1]
    np.testing.assert_allclose(ours.objective_, value, rtol=1e-8)
