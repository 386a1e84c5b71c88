"""Regularised MKL for regression: every point measured is a plain regressor, cross-validated."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score

from multikernel import MKLRegressor, View
from multikernel.kernels import Gaussian, Linear
from multikernel.mkl import RegularizedMKLRegressor

FOLDS = KFold(3, shuffle=True, random_state=1)
FINE = {"tol": 1e-7, "max_iter": 2000}
VIEWS = [
    View("line", Linear(), standardize=True),
    View("wave", Gaussian(), [0], standardize=True),
    View("narrow", Gaussian(scale=2.0), standardize=True),
]
_RNG = np.random.default_rng(0)
X = _RNG.uniform(-3, 3, size=(70, 2))
Y = 5.0 + np.sin(X[:, 0]) + 0.2 * X[:, 1] + 0.1 * _RNG.normal(size=70)
NEW = _RNG.uniform(-3, 3, size=(20, 2))


def regularized(**params):
    return RegularizedMKLRegressor(VIEWS, **{"cv": FOLDS, "max_steps": 2, "C": 3.0, "epsilon": 0.1, **params})


def fold_scores(model):
    return np.column_stack([model.cv_results_[f"split{k}_test_score"] for k in range(3)])


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
@pytest.mark.parametrize("search_C", [False, True])
def test_a_point_is_the_cross_validation_of_the_regressor_with_those_costs(scoring, search_C):
    model = regularized(scoring=scoring, search_C=search_C, **FINE).fit(X, Y)
    assert model.surface_.n_design_ == (10 if search_C else 6)
    for point, found in zip(model.cv_results_["params"], fold_scores(model), strict=True):
        costs = [point[view.name] for view in VIEWS]
        plain = MKLRegressor(VIEWS, C=point.get("C", 3.0), epsilon=0.1, costs=costs, **FINE)
        expected = cross_val_score(plain, X, Y, cv=FOLDS, scoring=scoring)
        np.testing.assert_allclose(found, expected, atol=2e-4)
    np.testing.assert_allclose(1 - model.surface_.values_, fold_scores(model).mean(axis=1))


@pytest.mark.parametrize("method", ["response_surface", "eigenvalue", "weights"])
def test_the_model_is_the_best_measured_point_fitted_on_all_samples(method):
    model = regularized(method=method, **FINE).fit(X, Y)
    assert model.best_score_ == pytest.approx(model.cv_results_["mean_test_score"].max(), abs=1e-9)
    chosen = {"costs": model.costs_}
    if method == "weights":
        chosen = {"norm": np.inf, "costs": model.kernel_weights_**-0.5}
    plain = MKLRegressor(VIEWS, C=3.0, epsilon=0.1, **chosen, **FINE).fit(X, Y)
    np.testing.assert_allclose(model.predict(NEW), plain.predict(NEW), atol=1e-6)
    np.testing.assert_allclose(model.kernel_weights_, plain.kernel_weights_, atol=1e-6)
    assert model.dual_gap_ <= FINE["tol"] and isinstance(model.estimator_, MKLRegressor)
    assert (model.C_, model.epsilon_) == (3.0, 0.1)


def test_the_unit_of_the_targets_does_not_matter():
    model = regularized(C="auto", epsilon="auto", search_C=True, tol=1e-6).fit(X, Y)
    larger = regularized(C="auto", epsilon="auto", search_C=True, tol=1e-6).fit(X, 1024.0 * Y)
    assert model.epsilon_ == pytest.approx(0.1 * Y.std()) and model.surface_.bounds["C"][0] > 0.0
    np.testing.assert_allclose(fold_scores(model), fold_scores(larger), atol=1e-6)
    np.testing.assert_allclose(1024.0 * model.predict(NEW), larger.predict(NEW), rtol=1e-5)
    assert (model.C, model.epsilon) == ("auto", "auto")


def test_weights_count_in_training_and_in_validation():
    weights = np.random.default_rng(0).integers(0, 4, 70).astype(float)
    model = regularized(max_steps=0, **FINE).fit(X, Y, weights)
    for point, found in zip(model.cv_results_["params"], fold_scores(model), strict=True):
        plain = MKLRegressor(VIEWS, C=3.0, epsilon=0.1, costs=list(point.values()), **FINE)
        for k, (train, test) in enumerate(FOLDS.split(X)):
            plain.fit(X[train], Y[train], weights[train])
            assert found[k] == pytest.approx(plain.score(X[test], Y[test], weights[test]), abs=2e-4)


def test_a_training_part_can_be_thinned_out():
    model = regularized(max_samples=20, max_steps=0).fit(X, Y)
    whole = regularized(max_steps=0).fit(X, Y)
    assert (fold_scores(model) != fold_scores(whole)).any()
    assert model.support_.size > 20  # of all the samples
