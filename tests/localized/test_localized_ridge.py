"""Localized ridge regression and classification, against KernelRidge and refits without each row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score

from multikernel import LocalizedMKLRegressor, View
from multikernel.datasets import make_gauss
from multikernel.io import load_model, save_model
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.localized import LocalizedRidge, LocalizedRidgeClassifier

VIEWS = [
    View("line", Polynomial(1), [0], standardize=False, normalize=None),
    View("bump", Gaussian(gamma=0.5), [0, 1], standardize=False, normalize=None),
]


def pieces(n=70, seed=0):
    """A kink along the first column and a bump along the second."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.abs(X[:, 0]) + np.exp(-(X[:, 1] ** 2)) + 0.1 * rng.normal(size=n)


def combined(model, A, B):
    """k_η of two tables, by the gate's values and the kernels' formulas."""
    left, right = model.sample_kernel_weights(A), model.sample_kernel_weights(B)
    gaps = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    Ks = [1.0 + np.outer(A[:, 0], B[:, 0]), np.exp(-0.5 * gaps)]
    return sum(np.outer(l, r) * K for l, r, K in zip(left.T, right.T, Ks, strict=True))


def with_intercept(K, y, alpha, weights):
    """Coefficients and intercept from the bordered system."""
    n = len(y)
    system = np.block([[K + np.diag(alpha / weights), np.ones((n, 1))], [np.ones((1, n)), 0.0]])
    found = np.linalg.solve(system, np.vstack([y, np.zeros((1, y.shape[1]))]))
    return found[:n], found[n]


X, Y = pieces()
NEW, _ = pieces(30, seed=1)


# --- the regression at the learned gate --------------------------------------------------------------------


@given(alpha=st.floats(0.01, 10.0), gating=st.sampled_from(["softmax", "sigmoid", "gaussian"]))
@settings(max_examples=10)
def test_it_is_scikit_learns_kernel_ridge_at_the_learned_gate(alpha, gating):
    model = LocalizedRidge(VIEWS, alpha=alpha, gating=gating, fit_intercept=False, tol=0.01).fit(X, Y)
    peer = KernelRidge(alpha=alpha, kernel="precomputed").fit(combined(model, X, X), Y)
    np.testing.assert_allclose(model.predict(X), peer.predict(combined(model, X, X)), atol=1e-7)
    np.testing.assert_allclose(model.predict(NEW), peer.predict(combined(model, NEW, X)), atol=1e-7)
    np.testing.assert_array_equal(model.intercept_, 0.0)


def test_with_an_intercept_it_is_kernel_ridge_on_centered_kernels():
    model = LocalizedRidge(VIEWS, alpha=0.3).fit(X, Y)
    H = np.eye(len(X)) - 1.0 / len(X)
    K = combined(model, X, X)
    peer = KernelRidge(alpha=0.3, kernel="precomputed").fit(H @ K @ H, Y - Y.mean())
    np.testing.assert_allclose(model.predict(X), peer.predict(H @ K @ H) + Y.mean(), atol=1e-8)


def test_the_objective_is_that_of_the_definition():
    weights = np.random.default_rng(2).uniform(0.5, 2.0, size=len(X))
    outputs = np.column_stack([Y, X[:, 1] * Y])
    model = LocalizedRidge(VIEWS, alpha=0.3, gating_reg=0.2).fit(X, outputs, weights)
    K = combined(model, X, X)
    beta = np.zeros((2, len(X)))
    beta[:, model.support_] = model.dual_coef_
    residual = outputs - (K @ beta.T + model.intercept_)
    value = 0.5 * np.sum(weights[:, None] * residual**2) + 0.15 * np.sum(beta * (beta @ K))
    value += 0.1 * np.sum(model.gating_[0][:, :-1] ** 2)
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    expected, intercepts = with_intercept(K, outputs, 0.3, weights)
    np.testing.assert_allclose(beta.T, expected, atol=1e-7 * np.abs(expected).max())
    np.testing.assert_allclose(model.intercept_, intercepts, rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), outputs - residual, atol=1e-9)
    assert abs(model.dual_gap_) < 1e-9 and model.predict(X).shape == (len(X), 2)
    values = [entry["objective"] for entry in model.history_]
    assert values == sorted(values, reverse=True) and values[-1] == pytest.approx(model.objective_, rel=1e-3)


def test_the_scale_of_the_problem_changes_nothing():
    """Outputs times t, and alpha, kernels as they are: the same gate, predictions times t."""
    plain = LocalizedRidge(VIEWS, alpha=0.3).fit(X, Y)
    scaled = LocalizedRidge(VIEWS, alpha=0.3).fit(X, 8.0 * Y)
    np.testing.assert_allclose(scaled.predict(NEW), 8.0 * plain.predict(NEW), rtol=1e-6)
    assert scaled.objective_ == pytest.approx(64.0 * plain.objective_, rel=1e-6)


def test_the_gate_lowers_the_objective_and_the_error():
    table, y = pieces(200)
    fresh, truth = pieces(500, seed=5)
    copy = View("copy", Polynomial(1), [0], standardize=False, normalize=None)
    one = LocalizedRidge([VIEWS[0]], alpha=0.1).fit(table, y)
    lines = LocalizedRidge([VIEWS[0], copy], alpha=0.1, gating_features=[0]).fit(table, y)
    assert lines.objective_ < 0.8 * one.objective_
    assert lines.score(fresh, truth) > one.score(fresh, truth) + 0.2


def test_factors_are_kept_along_the_descent():
    table, y = pieces(800)
    model = LocalizedRidge(VIEWS, alpha=1.0, tol=1e-4).fit(table, y)
    assert model.n_solves_ > 2 * model.n_factorizations_ >= 4  # one along the way, and one at the end


# --- leave-one-out -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_leave_one_out_is_a_refit_without_each_row_at_the_same_gate(intercept):
    """Rows that occur twice and rows of weight zero too."""
    table, y = np.vstack([X[:40], X[:3]]), np.concatenate([Y[:40], Y[:3]])
    weights = np.random.default_rng(3).uniform(0.5, 2.0, size=43)
    weights[7] = 0.0
    model = LocalizedRidge(VIEWS, alpha=0.3, fit_intercept=intercept).fit(table, y, weights)
    K = combined(model, table, table)
    for i in range(43):
        kept = np.flatnonzero((np.arange(43) != i) & (weights > 0))
        part, own = K[np.ix_(kept, kept)], y[kept, None]
        if intercept:
            beta, b = with_intercept(part, own, 0.3, weights[kept])
        else:
            beta, b = np.linalg.solve(part + np.diag(0.3 / weights[kept]), own), 0.0
        if i == 7:
            assert np.isnan(model.loo_values_[i])
        else:
            assert model.loo_values_[i] == pytest.approx((K[i, kept] @ beta + b).item(), rel=1e-6, abs=1e-8)
    used = weights > 0
    expected = r2_score(y[used], model.loo_values_[used], sample_weight=weights[used])
    assert model.loo_score_ == pytest.approx(expected)


def test_leave_one_out_of_classes():
    labels = np.digitize(Y, [0.8, 1.6])
    model = LocalizedRidgeClassifier(VIEWS, alpha=0.3, class_weight="balanced").fit(X, labels)
    weights = len(X) / 3.0 / np.bincount(labels)[labels]
    targets = np.where(labels[:, None] == np.arange(3), 1.0, -1.0)
    K = combined(model, X, X)
    beta, b = with_intercept(K, targets, 0.3, weights)
    np.testing.assert_allclose(model.decision_function(X), K @ beta + b, atol=1e-7)
    for i in range(0, len(X), 7):
        kept = np.flatnonzero(np.arange(len(X)) != i)
        beta, b = with_intercept(K[np.ix_(kept, kept)], targets[kept], 0.3, weights[kept])
        np.testing.assert_allclose(model.loo_values_[i], K[i, kept] @ beta + b, rtol=1e-6, atol=1e-8)
    right = model.loo_values_.argmax(axis=1) == labels
    assert model.loo_score_ == pytest.approx(np.average(right, weights=weights))


# --- classes -----------------------------------------------------------------------------------------------


def test_two_classes_are_the_regression_of_signs():
    labels = np.array(["low", "high"])[(Y > 1.0).astype(int)]
    model = LocalizedRidgeClassifier(VIEWS, alpha=0.3).fit(X, labels)
    signs = np.where(labels == "low", 1.0, -1.0)  # classes are sorted
    peer = LocalizedRidge(VIEWS, alpha=0.3).fit(X, signs)
    np.testing.assert_allclose(model.decision_function(NEW), peer.predict(NEW), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(NEW) == "low", peer.predict(NEW) > 0)
    np.testing.assert_allclose(model.loo_values_, peer.loo_values_, rtol=1e-9, atol=1e-9)
    assert model.loo_score_ == np.mean((model.loo_values_ > 0) == (signs > 0))


def test_pieces_of_lines_near_the_best_rule():
    """GAUSS4, whose best rule has 0.897: three lines with a gate, where one line has 0.85."""
    plane, side = make_gauss("GAUSS4", n_samples=400, random_state=0)
    fresh, truth = make_gauss("GAUSS4", n_samples=20000, random_state=1)
    lines = [View(f"line {k}", Linear(), transforms="unit_diagonal", standardize=True) for k in (1, 2, 3)]
    model = LocalizedRidgeClassifier(lines, alpha=0.1).fit(plane, side)
    assert model.score(fresh, truth) > 0.875
    assert abs(model.loo_score_ - model.score(fresh, truth)) < 0.03


def test_probabilities_are_calibrated():
    labels = (Y > 1.0).astype(int)
    model = LocalizedRidgeClassifier(VIEWS, alpha=0.3, probability=True, tol=0.05).fit(X, labels)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.mean((probabilities[:, 1] > 0.5) == labels) > 0.8


# --- the rest ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [LocalizedRidge, LocalizedRidgeClassifier])
@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan, "1"])
def test_alpha_that_is_refused(kind, alpha):
    with pytest.raises((ValueError, TypeError), match="alpha must be"):
        kind(VIEWS, alpha=alpha).fit(X, (Y > 1.0).astype(int))


def test_a_kernel_that_is_not_positive_semidefinite_is_named():
    K = np.outer(X[:, 0], X[:, 0])
    with pytest.raises(ValueError, match=r"positive semidefinite; kernel 'bad'"):
        LocalizedRidge("precomputed", alpha=1e-3).fit({"good": K, "bad": -K}, Y)


def test_constant_outputs_are_predicted_without_complaint():
    model = LocalizedRidge(VIEWS).fit(X, np.full(len(X), 3.0))
    np.testing.assert_allclose(model.predict(NEW), 3.0)
    assert model.objective_ == pytest.approx(0.0, abs=1e-20)


def test_a_saved_model_predicts_the_same(tmp_path):
    for kind, target in ((LocalizedRidge, Y), (LocalizedRidgeClassifier, (Y > 1.0).astype(int))):
        model = kind(VIEWS, tol=0.05).fit(X, target)
        save_model(model, tmp_path / "model")
        again = load_model(tmp_path / "model")
        np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
        np.testing.assert_array_equal(again.loo_values_, model.loo_values_)


def test_squares_and_tubes_agree_where_there_is_little_noise():
    table, y = pieces(150)
    squares = LocalizedRidge(VIEWS, alpha=0.1).fit(table, y)
    tubes = LocalizedMKLRegressor(VIEWS, C=10.0, epsilon=0.05).fit(table, y)
    assert r2_score(tubes.predict(NEW), squares.predict(NEW)) > 0.9
