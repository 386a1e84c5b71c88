"""The Bayesian estimators: accuracy, probabilities, deviations, the uncertainty of the kernel weights."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from multikernel import KernelBank, MKLClassifier, MKLRegressor
from multikernel.bayesian import BayesianMKLClassifier, BayesianMKLRegressor
from multikernel.kernels import Gaussian, Linear
from tests.raw import raw

VIEWS = raw([("signal", Linear(), [0]), ("noise", Linear(), [1]), ("wide", Gaussian(gamma=0.1), [2])])


def parts(load, n_train, n_test):
    X, y = load(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(X))[: n_train + n_test]
    X, y = StandardScaler().fit_transform(X)[chosen], y[chosen]
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]


def toy(n=40, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, np.where(X[:, 0] > 0.2, "up", "down")


# ---------------------------------------------------------------------- classes
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_accuracy_is_within_a_few_points_of_the_margin_machine(load):
    X, y, X_test, y_test = parts(load, 60, 80)
    listed = [Linear(), *(Gaussian(scale=width) for width in (0.25, 0.5, 1.0, 2.0, 4.0))]
    kernels = KernelBank(listed, normalize="diagonal")
    model = BayesianMKLClassifier(kernels, tol=1e-3).fit(X, y)
    rival = MKLClassifier(kernels).fit(X, y)
    assert model.score(X_test, y_test) > rival.score(X_test, y_test) - 0.04
    shares = model.predict_proba(X_test)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X_test))
    hit = np.mean(-np.log(shares[np.arange(80), np.searchsorted(model.classes_, y_test)]))
    assert hit < 0.35  # nats: they mean something


def test_probabilities_of_classes_that_overlap_are_not_too_sure():
    X, y = make_classification(600, 6, n_informative=3, flip_y=0.2, random_state=1)
    model = BayesianMKLClassifier(tol=1e-3).fit(X[:120], y[:120])
    loss = log_loss(y[120:], model.predict_proba(X[120:]))
    paper = BayesianMKLClassifier(margin=1.0, spread=0.1, tol=1e-3).fit(X[:120], y[:120])
    assert loss < min(0.6, 0.6 * log_loss(y[120:], paper.predict_proba(X[120:])))


@pytest.mark.parametrize("k", [2, 3])
def test_contributions_and_decisions_agree(k):
    X, _ = toy()
    y = np.digitize(X[:, 0], [0.0] if k == 2 else [-0.4, 0.4])
    model = BayesianMKLClassifier(VIEWS, tol=1e-3).fit(X, y)
    outputs = model.contributions(X).sum(axis=-1) + (model.intercept_[0] if k == 2 else model.intercept_)
    chosen = (outputs > 0).astype(int) if k == 2 else outputs.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), chosen)
    scores, shares = model.decision_function(X), model.predict_proba(X)
    odds = np.log(shares[:, 1] / shares[:, 0]) if k == 2 else np.log(shares)
    np.testing.assert_allclose(scores, odds, rtol=1e-6, atol=1e-9)
    assert model.dual_coef_.shape == (1 if k == 2 else 3, 40)
    by_hand = (
        X[:, [0]] @ X[:, [0]].T @ model.dual_coef_.T * model.kernel_scales_[0] * model.kernel_weights_[0]
    )
    np.testing.assert_allclose(model.contributions(X)[..., 0].reshape(40, -1), by_hand, rtol=1e-9, atol=1e-12)


def test_a_sparse_prior_leaves_the_noise_out_and_tells_its_uncertainty():
    X, y = toy(60)
    model = BayesianMKLClassifier(VIEWS, sparse=True).fit(X, y)
    weights = np.abs(model.kernel_weights_)
    assert weights[1:].max() < 0.05 * weights[0]
    frame = model.weights_frame()
    assert list(frame.index) == ["signal", "noise", "wide"]
    np.testing.assert_array_equal(frame["std"], np.sqrt(np.diagonal(model.kernel_weights_cov_)))
    assert model.kernel_weights_[0] > 3.0 * frame["std"]["signal"]
    few = BayesianMKLClassifier(VIEWS, tol=1e-3).fit(X[:20], y[:20])
    many = BayesianMKLClassifier(VIEWS, tol=1e-3).fit(X, y)
    assert (few.kernel_weights_std_ > many.kernel_weights_std_)[0]


def test_fits_repeat_and_random_starts_are_those_of_their_seed():
    X, y = toy(30)

    def weights(seed):
        return BayesianMKLClassifier(VIEWS, tol=1e-2, random_state=seed).fit(X, y).kernel_weights_

    np.testing.assert_array_equal(weights(None), weights(None))
    np.testing.assert_array_equal(weights(3), weights(3))
    assert np.abs(weights(3) - weights(None)).max() > 1e-6


# ---------------------------------------------------------------------- values
def test_regression_is_as_good_as_its_rival_and_knows_its_error():
    X, y, X_test, y_test = parts(load_diabetes, 60, 100)
    model = BayesianMKLRegressor(tol=1e-3).fit(X, y)
    rival = MKLRegressor(C=50.0).fit(X, y)
    assert model.score(X_test, y_test) > rival.score(X_test, y_test) - 0.05
    mean, std = model.predict(X_test, return_std=True)
    np.testing.assert_allclose(mean, model.predict(X_test), rtol=1e-10)
    np.testing.assert_allclose(mean, model.contributions(X_test).sum(axis=1) + model.intercept_, rtol=1e-10)
    assert 0.85 < np.mean(np.abs(y_test - mean) < 1.96 * std) <= 1.0
    assert (std >= model.noise_).all()


def test_predictions_follow_the_scale_of_the_targets():
    X, _ = toy(30)
    y = np.sin(X[:, 0])
    model = BayesianMKLRegressor(VIEWS, tol=1e-3).fit(X, y)
    other = BayesianMKLRegressor(VIEWS, tol=1e-3).fit(X, 1e6 * y - 5e6)
    np.testing.assert_allclose(other.kernel_weights_, model.kernel_weights_, rtol=1e-6)
    pairs = zip(other.predict(X, return_std=True), model.predict(X, return_std=True), strict=True)
    for scaled, plain in pairs:
        shift = 5e6 if scaled.min() < 0 else 0.0
        np.testing.assert_allclose(scaled + shift, 1e6 * plain, rtol=1e-6, atol=1.0)


def test_far_from_the_samples_the_deviation_of_local_kernels_shrinks_to_the_noise():
    X, _ = toy(30)
    model = BayesianMKLRegressor(raw([("local", Gaussian(gamma=1.0), [0])]), tol=1e-3).fit(X, np.sin(X[:, 0]))
    mean, std = model.predict([[1e3, 0.0, 0.0]], return_std=True)
    np.testing.assert_allclose(mean, model.intercept_)
    assert model.noise_ < std[0] < 1.5  # a combination of kernels at the samples: it knows of nothing else


def test_constant_targets_and_one_kernel_are_no_trouble():
    X, y = toy(20)
    y[:2] = "up", "down"
    model = BayesianMKLRegressor(Linear(), tol=1e-3).fit(X, np.full(20, 7.0))
    np.testing.assert_allclose(model.predict(X), 7.0, atol=1e-3)
    assert BayesianMKLClassifier(Linear(), tol=1e-3).fit(X, y).kernel_weights_.shape == (1,)
    pair = BayesianMKLClassifier(Linear(), tol=1e-2).fit(X[:2], y[:2])
    assert np.isfinite(pair.predict_proba(X)).all()


# ---------------------------------------------------------------------- what goes wrong
def test_a_fit_cut_short_warns():
    X, y = toy(20)
    with pytest.warns(ConvergenceWarning, match="evidence bound"):
        model = BayesianMKLClassifier(VIEWS, max_iter=2, tol=1e-12).fit(X, y)
    assert model.status_ == "max_iter"


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"priors": {"kernels": (1, 1)}}, "got 'kernels'"),
        ({"priors": {"noise": (1, 1)}}, "got 'noise'. The noise of classes has variance 1"),
        ({"priors": {"kernel": (1, 0)}}, "must be greater than 0"),
        ({"priors": {"kernel": 1.0}}, "shape, rate"),
        ({"priors": [1.0]}, "must be a dict"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = toy(10)
    with pytest.raises((ValueError, TypeError), match=message):
        BayesianMKLClassifier(VIEWS, **parameters).fit(X, y)
