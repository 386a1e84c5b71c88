"""Additive Gaussian processes beside scikit-learn's, and their posteriors beside brute force."""

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import block_diag
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Kernel, WhiteKernel

from multikernel import load_model, save_model, stack_kernels
from multikernel.gaussian_process import AdditiveGPClassifier, AdditiveGPRegressor
from multikernel.kernels import Gaussian, Linear
from tests.raw import raw

VIEWS = raw([("line", Linear(), [0, 1]), ("curve", Gaussian(0.5), [0]), ("none", Gaussian(0.5), [2])])
ROWS = slice(None, 50), slice(50, None)


class OnColumns(Kernel):
    """A kernel of scikit-learn that reads some columns."""

    def __init__(self, kernel, columns):
        self.kernel, self.columns = kernel, columns

    def __call__(self, X, Y=None, eval_gradient=False):
        return self.kernel(X[:, self.columns], None if Y is None else Y[:, self.columns])

    def diag(self, X):
        return self.kernel.diag(X[:, self.columns])

    def is_stationary(self):
        return False


def theirs(weights, constant=0.0, noise=0.0):
    line, curve, none = weights
    total = ConstantKernel(line) * OnColumns(DotProduct(0.0), [0, 1]) + ConstantKernel(curve) * OnColumns(
        RBF(1.0), [0]
    )
    if none:
        total = total + ConstantKernel(none) * OnColumns(RBF(1.0), [2])
    if constant:
        total = total + ConstantKernel(constant)
    return total + WhiteKernel(noise) if noise else total


def grams(A, B):
    """The kernels of VIEWS between the rows of A and of B, written plainly."""
    far = lambda j: np.exp(-0.5 * (A[:, None, j] - B[None, :, j]) ** 2)  # noqa: E731
    return np.stack([A[:, :2] @ B[:, :2].T, far(0), far(2)])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = 10.0 + 3.0 * X[:, 1] + 2.0 * np.sin(2.0 * X[:, 0]) + 0.5 * rng.normal(size=80)
    return X, y


@pytest.fixture(scope="module")
def regressor(data):
    X, y = data
    return AdditiveGPRegressor(VIEWS, tol=1e-11).fit(X[ROWS[0]], y[ROWS[0]])


def labels(y, n_classes):
    return np.array(["low", "mid", "high"])[np.digitize(y, [10.0] if n_classes == 2 else [8.5, 11.5])]


@pytest.fixture(scope="module", params=[2, 3])
def classifier(request, data):
    X, y = data
    return AdditiveGPClassifier(VIEWS, tol=1e-11).fit(X[ROWS[0]], labels(y, request.param)[ROWS[0]])


# ---------------------------------------------------------------------- regression
def test_a_regressor_is_scikit_learns_at_the_same_kernel(data, regressor):
    X, y = data
    train, test = ROWS
    kernel = theirs(regressor.kernel_weights_, noise=regressor.noise_**2)
    rival = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(
        X[train], y[train] - y[train].mean()
    )
    mean, std = rival.predict(X[test], return_std=True)
    ours, our_std = regressor.predict(X[test], return_std=True)
    assert ours == pytest.approx(mean + y[train].mean(), abs=1e-8)
    assert our_std == pytest.approx(std, rel=1e-6)
    assert regressor.predict(X[test]) == pytest.approx(ours, abs=1e-10)
    assert regressor.log_marginal_likelihood_value_ == pytest.approx(
        rival.log_marginal_likelihood_value_, abs=1e-7
    )


def test_the_weights_are_stationary_for_scikit_learns_evidence(data, regressor):
    """Its evidence by differences: none is better nearby, and a weight of 0 does not want to grow."""
    X, y = data[0][ROWS[0]], data[1][ROWS[0]]
    at = np.append(regressor.kernel_weights_, regressor.noise_**2)

    def evidence(values):
        model = GaussianProcessRegressor(theirs(values[:3], noise=values[3]), optimizer=None, alpha=0.0)
        return model.fit(X, y - y.mean()).log_marginal_likelihood_value_

    best = evidence(at)
    assert regressor.kernel_weights_[2] == 0.0 and regressor.variance_shares_[2] == 0.0
    assert evidence(at + [0, 0, 1e-3, 0]) < best
    for j in (0, 1, 3):
        step = 1e-3 * at[j] * np.eye(4)[j]
        assert (evidence(at + step) - evidence(at - step)) / 2e-3 == pytest.approx(0.0, abs=1e-3)


def test_components_are_the_blocks_of_the_joint_normal(data, regressor):
    """All functions at all new samples and the targets are one normal: conditioned as a whole."""
    X, y = data
    train, test = X[ROWS[0]], X[ROWS[1]]
    w = regressor.kernel_weights_
    prior = block_diag(*(weight * K for weight, K in zip(w, grams(test, test), strict=True)))
    cross = np.concatenate([weight * K for weight, K in zip(w, grams(test, train), strict=True)])
    C = np.tensordot(w, grams(train, train), 1) + regressor.noise_**2 * np.eye(len(train))
    mean = cross @ np.linalg.solve(C, y[ROWS[0]] - y[ROWS[0]].mean())
    covariance = prior - cross @ np.linalg.solve(C, cross.T)
    ours, std = regressor.predict_components(test)
    assert ours.T.ravel() == pytest.approx(mean, abs=1e-9)
    assert std.T.ravel() == pytest.approx(np.sqrt(np.maximum(np.diagonal(covariance), 0.0)), abs=1e-6)
    assert regressor.contributions(test) == pytest.approx(ours, abs=1e-10)
    total = regressor.contributions(test).sum(axis=1) + regressor.intercept_
    assert total == pytest.approx(regressor.predict(test), abs=1e-10)


def test_units_of_kernels_and_targets_do_not_matter(data):
    X, y = data
    Ks = grams(X, X)
    plain = AdditiveGPRegressor("precomputed", tol=1e-11).fit(stack_kernels(list(Ks)), y)
    scaled = AdditiveGPRegressor("precomputed", tol=1e-11)
    scaled.fit(stack_kernels([100.0 * Ks[0], Ks[1], 1e-3 * Ks[2]]), 50.0 * y - 3.0)
    assert scaled.kernel_weights_ == pytest.approx(
        plain.kernel_weights_ * 2500.0 / [100.0, 1.0, 1e-3], rel=1e-5
    )
    assert scaled.noise_ == pytest.approx(50.0 * plain.noise_, rel=1e-6)
    assert scaled.variance_shares_ == pytest.approx(plain.variance_shares_, abs=1e-6)


def test_precomputed_kernels_need_their_diagonals(data, regressor):
    X, y = data
    train, test = X[ROWS[0]], X[ROWS[1]]
    model = AdditiveGPRegressor("precomputed", tol=1e-11).fit(
        stack_kernels(list(grams(train, train))), y[ROWS[0]]
    )
    rows = stack_kernels(list(grams(test, train)))
    assert model.predict(rows) == pytest.approx(regressor.predict(test), abs=1e-6)
    with pytest.raises(ValueError, match=r"kernel 'kernel-0' varies .* diagonals="):
        model.predict(rows, return_std=True)
    own = np.stack([np.diagonal(K) for K in grams(test, test)], axis=1)
    assert model.predict(rows, True, own)[1] == pytest.approx(regressor.predict(test, True)[1], abs=1e-6)
    with pytest.raises(ValueError, match=r"diagonals must hold .* shape \(30, 3\); got shape \(30, 2\)"):
        model.predict(rows, True, own[:, :2])
    with pytest.raises(ValueError, match="diagonals are for precomputed kernels"):
        regressor.predict(test, True, own)
    curves = AdditiveGPRegressor("precomputed").fit(stack_kernels(list(grams(train, train)[1:])), y[ROWS[0]])
    assert curves.predict(rows[:, :, 1:], True)[1].shape == (30,)  # their diagonals are 1 everywhere


def test_deviations_hold_what_they_promise():
    """Of new targets of the model itself, 95 % lie within 1.96 deviations."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, size=(400, 3))
    C = np.tensordot([0.5, 2.0, 0.0], grams(X, X), 1) + 0.3 * np.eye(400)
    y = np.linalg.cholesky(C) @ rng.normal(size=400)
    model = AdditiveGPRegressor(VIEWS).fit(X[:150], y[:150])
    mean, std = model.predict(X[150:], return_std=True)
    assert np.mean(np.abs(mean - y[150:]) < 1.96 * std) == pytest.approx(0.95, abs=0.03)
    assert model.noise_**2 == pytest.approx(0.3, rel=0.3)


def test_constant_targets_are_predicted():
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = AdditiveGPRegressor(VIEWS).fit(X, np.full(20, 7.0))
    assert model.predict(X) == pytest.approx(7.0) and not model.kernel_weights_.any()


# ---------------------------------------------------------------------- classification
def test_a_classifier_is_scikit_learns_at_the_same_kernel(data, classifier):
    X, y = data
    train, test = ROWS
    names = labels(y, classifier.classes_.size)
    kernel = theirs(classifier.kernel_weights_, classifier.intercept_variance_)
    rival = GaussianProcessClassifier(kernel, optimizer=None, max_iter_predict=1000).fit(
        X[train], names[train]
    )
    # its average of the logistic function is an approximation by five error functions
    expected = rival.predict_proba(X[test])
    if classifier.classes_.size > 2:  # exactly one of the outputs is positive
        each = [binary.predict_proba(X[test]).T for binary in rival.base_estimator_.estimators_]
        odds = np.array([positive / negative for negative, positive in each]).T
        expected = odds / odds.sum(axis=1, keepdims=True)
    assert classifier.predict_proba(X[test]) == pytest.approx(expected, abs=5e-3)
    if classifier.classes_.size == 2:
        own = rival.base_estimator_
        mean = own.f_cached if hasattr(own, "f_cached") else own.latent_mean_and_variance(X[train])[0]
        ours = classifier.contributions(X[train]).sum(axis=1) + classifier.intercept_
        assert ours == pytest.approx(mean, abs=1e-4)
        theirs_mean, theirs_variance = own.latent_mean_and_variance(X[test])
        parts = classifier._parts(X[test])
        assert parts.mean[0] == pytest.approx(theirs_mean, abs=1e-4)
        assert parts.std[0] == pytest.approx(np.sqrt(theirs_variance), rel=1e-4)
    assert classifier.objective_ == pytest.approx(
        rival.log_marginal_likelihood_value_ * (1 if classifier.classes_.size == 2 else 3), abs=1e-6
    )


def test_the_class_is_the_most_probable_one(data, classifier):
    X = data[0]
    proba = classifier.predict_proba(X)
    assert proba.sum(axis=1) == pytest.approx(1.0)
    np.testing.assert_array_equal(classifier.predict(X), classifier.classes_[proba.argmax(axis=1)])
    scores = classifier.decision_function(X)
    if classifier.classes_.size == 2:
        assert scores == pytest.approx(np.log(proba[:, 1] / proba[:, 0]))
    else:
        assert np.exp(scores) == pytest.approx(proba)


def test_components_of_a_classifier_add_up(data, classifier):
    X = data[0][ROWS[1]]
    mean, std = classifier.predict_components(X)
    assert mean == pytest.approx(classifier.contributions(X), abs=1e-10)
    last = classifier._parts(X)
    total = mean.sum(axis=-1) + classifier.intercept_
    assert total == pytest.approx(last.mean[0] if total.ndim == 1 else last.mean.T, abs=1e-10)
    assert mean.shape == std.shape and (std[..., :2] > 0).all()
    single = Gaussian(0.5)(X[:, [0]]).diagonal() * classifier.kernel_weights_[1]
    assert (
        (single + 1e-9 >= np.atleast_3d(std)[..., 1].T ** 2).all()
        if std.ndim == 3
        else (std[:, 1] ** 2 <= single).all()
    )


def test_more_starts_with_one_seed_are_the_same_model(data):
    X, y = data
    first, second = (AdditiveGPRegressor(VIEWS, n_init=3, random_state=4).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.kernel_weights_, second.kernel_weights_)
    assert first.objective_ >= AdditiveGPRegressor(VIEWS).fit(X, y).objective_ - 1e-9
    with pytest.raises(ValueError, match="n_init"):
        AdditiveGPRegressor(VIEWS, n_init=0).fit(X, y)


def test_a_saved_model_keeps_its_deviations(data, classifier, regressor, tmp_path):
    X = data[0][ROWS[1]]
    for model in (classifier, regressor):
        save_model(model, tmp_path / "model.mkl")
        again = load_model(tmp_path / "model.mkl")
        for part, same in zip(model.predict_components(X), again.predict_components(X), strict=True):
            np.testing.assert_array_equal(part, same)


def test_the_time_of_a_fit_is_limited(data):
    X, y = data
    with pytest.warns(match="max_time"):
        model = AdditiveGPRegressor(VIEWS, max_time=1e-9, tol=1e-12).fit(X, y)
    assert model.status_ == "max_time" and np.isfinite(model.predict(X)).all()


def test_frames_without_rows_have_no_predictions(data):
    X, y = pd.DataFrame(data[0], columns=list("abc")), data[1]
    none = X[:0]
    for n_classes in (2, 3):
        classifier = AdditiveGPClassifier().fit(X, labels(y, n_classes))
        assert classifier.predict(none).shape == (0,)
        assert classifier.predict_proba(none).shape == (0, n_classes)
    found = AdditiveGPRegressor().fit(X, y).predict(none, return_std=True)
    assert [part.shape for part in found] == [(0,), (0,)]
