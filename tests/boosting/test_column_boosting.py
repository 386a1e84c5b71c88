"""ColumnBoostingClassifier and ColumnBoostingRegressor: what they store is what they predict with."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from multikernel.boosting import ColumnBoostingClassifier, ColumnBoostingRegressor
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.views import KernelWarning
from tests.mkl.data import VIEWS, make_binary, make_regression, make_three, plain_kernels
from tests.raw import raw

METHODS = ["lp", "qp", "mark"]


def by_hand(model, train, test):
    """Scores from the columns and coefficients alone."""
    K = plain_kernels(test, train)
    parts = [K[:, j, m] for m, j in model.columns_]
    return np.array(parts).T @ model.coef_.T + model.intercept_


@pytest.mark.parametrize("method", METHODS)
def test_classifier_predicts_by_its_columns(method):
    X, y = make_binary(60)
    new, truth = make_binary(60, seed=5)
    model = ColumnBoostingClassifier(VIEWS, method=method).fit(X, y)
    scores = by_hand(model, X, new)[:, 0]
    np.testing.assert_allclose(model.decision_function(new), scores, atol=1e-9)
    assert (model.predict(new) == np.where(scores > 0, "yes", "no")).all()
    np.testing.assert_allclose(model.contributions(new).sum(axis=1) + model.intercept_, scores, atol=1e-9)
    assert model.score(new, truth) > 0.7
    assert model.dual_gap_ <= 1e-3 or method == "mark"
    assert set(model.support_) == set(model.columns_[:, 1])
    K = plain_kernels(X, X)
    sizes = np.sqrt((K**2).mean(axis=0))[model.columns_[:, 1], model.columns_[:, 0]]
    shares = np.bincount(model.columns_[:, 0], np.abs(model.coef_[0]) * sizes, 3)
    np.testing.assert_allclose(model.kernel_weights_, shares / shares.sum(), atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_regressor_predicts_by_its_columns(method):
    X, y = make_regression(60)
    new, truth = make_regression(60, seed=5)
    model = ColumnBoostingRegressor(VIEWS, method=method).fit(X, y)
    np.testing.assert_allclose(model.predict(new), by_hand(model, X, new)[:, 0], atol=1e-9)
    assert model.score(new, truth) > 0.8
    shifted = ColumnBoostingRegressor(VIEWS, method=method).fit(X, y + 1000.0)
    np.testing.assert_allclose(shifted.predict(new) - 1000.0, model.predict(new), atol=5e-3)


def test_several_classes_are_one_machine_each():
    X, y = make_three(60)
    model = ColumnBoostingClassifier(VIEWS, C=0.5).fit(X, y)
    assert model.coef_.shape == (3, len(model.columns_)) and model.machine_weights_.shape == (3, 3)
    for k, name in enumerate(model.classes_):
        one = ColumnBoostingClassifier(VIEWS, C=0.5).fit(X, np.where(y == name, 1, -1))
        np.testing.assert_allclose(model.decision_function(X)[:, k], one.decision_function(X), atol=1e-9)
    assert model.contributions(X).shape == (60, 3, 3)
    frame = model.weights_frame()
    assert list(frame.index) == ["signal", "line", "noise"]
    assert list(frame.columns) == ["weight", "n_columns", "weight[a]", "weight[b]", "weight[c]"]
    assert frame["n_columns"].sum() == len(model.columns_)
    assert {entry["machine"] for entry in model.history_} == {0, 1, 2}


@pytest.mark.parametrize("method", METHODS)
def test_ready_made_kernels_and_weights_of_zero(method):
    X, y = make_binary(50)
    stack = plain_kernels(X, X)
    weights = np.ones(50)
    weights[[3, 17]] = 0.0
    model = ColumnBoostingClassifier("precomputed", method=method).fit(stack, y, weights)
    assert not set(model.support_) & {3, 17}
    np.testing.assert_allclose(model.decision_function(stack), by_hand(model, X, X)[:, 0], atol=1e-9)
    kept = weights > 0
    table = ColumnBoostingClassifier(VIEWS, method=method, tol=1e-6).fit(X[kept], y[kept])
    fine = ColumnBoostingClassifier("precomputed", method=method, tol=1e-6).fit(stack, y, weights)
    assert table.objective_ == pytest.approx(fine.objective_, rel=1e-5)


def test_columns_as_they_are_know_the_scale_of_a_kernel():
    X, y = make_binary(50)
    stack = plain_kernels(X, X) * [1.0, 1.0, 1e3]
    plain = ColumnBoostingClassifier("precomputed", C=0.1, normalize=False).fit(stack, y)
    assert plain.kernel_weights_[2] > 0.9  # large entries are cheap


def test_high_prices_and_kernels_of_different_size():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    kernels = raw([Gaussian(gamma=0.5), Linear(), Polynomial(degree=2)])
    one, other = (ColumnBoostingRegressor(kernels, method="qp", C=C).fit(X, y) for C in (1e4, 1e8))
    assert one.status_ == other.status_ == "optimal"
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-3)
    stack = np.stack([view.kernel(X) for view in kernels], axis=2) * [1.0, 1e3, 50e-3]
    weights = rng.uniform(0.1, 100.0, 40)
    model = ColumnBoostingRegressor("precomputed", method="qp", normalize=False, tol=1e-6)
    with pytest.warns(KernelWarning, match="of different scale"):
        assert model.fit(stack, y, weights).status_ == "optimal"


def test_a_machine_that_finds_no_column_is_its_intercept():
    X, y = make_binary(40)
    model = ColumnBoostingClassifier(VIEWS, C=1e-5).fit(X, y)
    assert len(model.columns_) == 0 and model.support_.size == 0 and not model.kernel_weights_.any()
    assert np.ptp(model.decision_function(X)) == 0.0
    assert model.contributions(X).shape == (40, 3)
    flat = ColumnBoostingRegressor([Gaussian()], method="mark").fit(X, np.full(40, 7.0))
    assert len(flat.columns_) == 0 and np.allclose(flat.predict(X), 7.0)


def test_limits_are_said():
    X, y = make_binary(50)
    for method in ("lp", "qp"):
        with pytest.warns(ConvergenceWarning, match=r"duality gap is .*Raise max_columns"):
            model = ColumnBoostingClassifier(VIEWS, method=method, max_columns=2).fit(X, y)
        assert model.status_ == "max_columns" and len(model.columns_) == 2 and model.dual_gap_ > 1e-3
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            ColumnBoostingClassifier(VIEWS, method=method, max_iter=2).fit(X, y)
    greedy = ColumnBoostingClassifier(VIEWS, method="mark", max_columns=2).fit(X, y)
    assert greedy.status_ == "max_columns" and len(greedy.columns_) == 2


def test_prediction_asks_only_for_kernels_and_samples_in_use():
    X, y = make_binary(50)
    model = ColumnBoostingClassifier(VIEWS, method="mark", max_columns=2).fit(X, y)
    kernels = dict(model._prediction_bank.iter_kernels(X[:5]))
    assert set(kernels) == set(model.columns_[:, 0].tolist())
    assert all(K.shape == (5, model.support_.size) for K in kernels.values())


def test_weights_of_classes_and_probabilities():
    X, y = make_binary(60)
    plain = ColumnBoostingClassifier(VIEWS, C=0.05).fit(X, y)
    tilted = ColumnBoostingClassifier(VIEWS, C=0.05, class_weight={"yes": 10.0}).fit(X, y)
    assert (tilted.predict(X) == "yes").sum() > (plain.predict(X) == "yes").sum()
    model = ColumnBoostingClassifier(VIEWS, method="mark", probability=True).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
