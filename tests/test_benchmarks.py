"""The benchmarks' judges against cvxpy, against plain arithmetic, and against corrupted answers."""

from __future__ import annotations

import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.datasets import kernel_bank, load_points
from benchmarks.objective import (
    InfeasibleError,
    best_bias,
    hinge_sum,
    judge,
    lower_bound,
    primal_value,
)
from judges.programs.answers import make_feasible, make_weights


def small_problem(seed=0, n=40, m=3):
    """Gaussian kernels of three widths on noisy labels, so that some duals are free and some at C."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2))
    y = np.where(points[:, 0] + 0.7 * rng.normal(size=n) > 0.1, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    distances = ((points[:, None] - points[None]) ** 2).sum(-1)
    return np.stack([np.exp(-distances / width) for width in np.logspace(-1, 1, m)]), y


def optimum_by_cvxpy(kernels, y, C):
    """The MKL optimum as a QCQP in cvxpy: value, weights and duals."""
    alpha, bound = cp.Variable(y.size), cp.Variable()
    factors = [np.linalg.cholesky(k + 1e-10 * np.eye(y.size)) for k in kernels]
    quadratic = [cp.sum_squares(f.T @ cp.multiply(y, alpha)) <= bound for f in factors]
    problem = cp.Problem(
        cp.Maximize(cp.sum(alpha) - 0.5 * bound), [*quadratic, alpha >= 0, alpha <= C, y @ alpha == 0]
    )
    problem.solve(solver=cp.CLARABEL)
    weights = make_weights([float(np.ravel(c.dual_value)[0]) for c in quadratic])
    return problem.value, weights, make_feasible(alpha.value, y, C)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_optimum_of_cvxpy_has_its_value_and_no_gap(C):
    kernels, y = small_problem()
    value, weights, alpha = optimum_by_cvxpy(kernels, y, C)
    verdict = judge(kernels, y, C, weights, alpha)
    assert verdict.lower == pytest.approx(value, rel=1e-6)
    assert verdict.primal == pytest.approx(value, rel=1e-4)
    assert -1e-7 <= verdict.gap < 1e-4
    assert verdict.gap == pytest.approx((verdict.primal - verdict.lower) / verdict.primal, rel=1e-12)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_bounds_hold_the_optimum_between_them_at_poor_answers(C):
    kernels, y = small_problem()
    value = optimum_by_cvxpy(kernels, y, C)[0]
    rng = np.random.default_rng(1)
    for _ in range(20):
        weights = rng.dirichlet(np.ones(3))
        alpha = make_feasible(C * rng.random(y.size), y, C)
        verdict = judge(kernels, y, C, weights, alpha)
        assert verdict.lower <= value * (1 + 1e-7)
        assert verdict.primal >= value * (1 - 1e-7)
        assert verdict.gap > 1e-3  # a random answer is not certified


@pytest.mark.parametrize("C", [0.5, 20.0])
def test_one_kernel_is_scored_as_scikit_learn_scores_it(C):
    kernels, y = small_problem(seed=3, m=1)
    machine = SVC(C=C, kernel="precomputed", tol=1e-9).fit(kernels[0], y)
    alpha = np.zeros(y.size)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    verdict = judge(kernels, y, C, [1.0], alpha)
    decision = machine.decision_function(kernels[0])
    beta = y * alpha
    primal = 0.5 * beta @ kernels[0] @ beta + C * np.maximum(0.0, 1.0 - y * decision).sum()
    assert verdict.primal == pytest.approx(primal, rel=1e-7)
    assert verdict.dual == pytest.approx(alpha.sum() - 0.5 * beta @ kernels[0] @ beta, rel=1e-12)
    assert abs(verdict.gap) < 1e-7


def test_scale_lowers_the_upper_bound_and_never_the_lower():
    kernels, y = small_problem()
    _, weights, alpha = optimum_by_cvxpy(kernels, y, 10.0)
    scaled = judge(kernels, y, 10.0, weights, 0.8 * alpha)
    plain = judge(kernels, y, 10.0, weights, 0.8 * alpha, scale=False)
    best = judge(kernels, y, 10.0, weights, alpha)
    assert scaled.lower == plain.lower
    assert scaled.primal < plain.primal
    assert scaled.primal == pytest.approx(best.primal, rel=1e-6)


def test_float32_kernels_are_judged_in_float64():
    kernels, y = small_problem()
    _, weights, alpha = optimum_by_cvxpy(kernels, y, 1.0)
    single = judge(kernels.astype(np.float32), y, 1.0, weights, alpha)
    double = judge(kernels.astype(np.float32).astype(np.float64), y, 1.0, weights, alpha)
    assert single == double


@given(st.integers(2, 30), st.integers(0, 10_000), st.floats(1e-2, 1e2))
def test_best_bias_is_no_worse_than_any_breakpoint(n, seed, spread):
    rng = np.random.default_rng(seed)
    f = spread * rng.normal(size=n)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    tried = np.concatenate([y - f, [best_bias(f, y) + 0.1, best_bias(f, y) - 0.1]])
    losses = [np.maximum(0.0, 1.0 - y * (f + b)).sum() for b in tried]
    assert hinge_sum(f, y) <= min(losses) * (1 + 1e-12) + 1e-12


@given(st.integers(0, 10_000), st.floats(0.01, 100.0))
def test_lower_bound_is_the_best_of_all_admissible_scales(seed, C):
    rng = np.random.default_rng(seed)
    alpha, q = C * rng.random(6), 10.0 * rng.random(3)
    scales = np.linspace(0.0, C / alpha.max(), 2001)
    by_search = (scales * alpha.sum() - 0.5 * scales**2 * q.max()).max()
    assert lower_bound(alpha, q, C) >= by_search - 1e-12 * abs(by_search)
    assert lower_bound(alpha, q, C) <= by_search + 1e-5 * alpha.sum() * C / alpha.max()


@given(st.integers(0, 10_000), st.floats(0.6, 1.4))
def test_primal_value_is_no_worse_than_at_any_scale_in_its_range(seed, s):
    rng = np.random.default_rng(seed)
    f, y = rng.normal(size=15), np.where(rng.random(15) < 0.5, 1.0, -1.0)
    found = primal_value(f, 3.0, y, 2.0)
    assert found <= 0.5 * s * s * 3.0 + 2.0 * hinge_sum(s * f, y) + 1e-7


def corrupted(change):
    kernels, y = small_problem()
    _, weights, alpha = optimum_by_cvxpy(kernels, y, 1.0)
    return (kernels, y, 1.0, *change(weights.copy(), alpha.copy(), y))


def _beyond_box(weights, alpha, y):
    """Grow one dual of each class by the same amount, so that the sum stays and the box does not."""
    for label in (-1.0, 1.0):
        alpha[np.argmax(np.where(y == label, alpha, -1.0))] = 1.5
    return weights, make_balanced(alpha, y)


def make_balanced(alpha, y):
    positive, negative = alpha[y > 0].sum(), alpha[y < 0].sum()
    alpha[y < 0] *= positive / negative
    return alpha


def _negative(weights, alpha, y):
    alpha[np.flatnonzero(y > 0)[:2]] += [-1.5, 1.5]
    return weights, alpha


def _unbalanced(weights, alpha, y):
    alpha[np.argmax(alpha)] *= 0.999
    return weights, alpha


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_beyond_box, "duals must lie in"),
        (_negative, "duals must lie in"),
        (_unbalanced, "sum of y"),
        (lambda w, a, y: (w * 1.001, a), "sum to 1"),
        (lambda w, a, y: (w + np.array([-2.0, 1.0, 1.0]), a), "nonnegative"),
    ],
)
def test_infeasible_answers_are_rejected(change, message):
    with pytest.raises(InfeasibleError, match=message):
        judge(*corrupted(change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w, a, y: (w, np.where(a > 0, np.nan, a)), "finite"),
        (lambda w, a, y: (w * np.inf, a), "finite"),
        (lambda w, a, y: (w[:-1], a), "shapes"),
        (lambda w, a, y: (w, a[:-1]), "shapes"),
    ],
)
def test_malformed_answers_are_rejected(change, message):
    with pytest.raises(ValueError, match=message):
        judge(*corrupted(change))


def test_labels_other_than_plus_and_minus_one_are_rejected():
    kernels, y = small_problem()
    with pytest.raises(ValueError, match="labels"):
        judge(kernels, (y + 1) / 2, 1.0, np.full(3, 1 / 3), np.zeros(y.size))


def test_judging_changes_nothing_it_was_given():
    kernels, y = small_problem()
    _, weights, alpha = optimum_by_cvxpy(kernels, y, 1.0)
    before = [array.copy() for array in (kernels, y, weights, alpha)]
    judge(kernels, y, 1.0, weights, alpha)
    for array, copy in zip((kernels, y, weights, alpha), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@given(st.integers(0, 10_000), st.floats(0.01, 100.0))
def test_feasible_duals_are_made_of_any_numbers(seed, C):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(12) < 0.5, 1.0, -1.0)
    alpha = make_feasible(C * rng.normal(size=12), y, C)
    assert alpha.min() >= 0.0
    assert alpha.max() <= C
    assert abs(y @ alpha) <= 1e-12 * C * 12


def test_nearly_feasible_duals_are_hardly_changed():
    kernels, y = small_problem()
    _, _, alpha = optimum_by_cvxpy(kernels, y, 1.0)
    rng = np.random.default_rng(0)
    np.testing.assert_allclose(
        make_feasible(alpha + 1e-9 * rng.normal(size=y.size), y, 1.0), alpha, atol=1e-8
    )


@pytest.mark.parametrize(("name", "n", "m"), [("breast_cancer", 60, 5), ("digits", 60, 20), ("mc", 60, 100)])
def test_banks_hold_proper_kernels(name, n, m):
    kernels, y = kernel_bank(name, n, m)
    assert kernels.shape == (m, n, n)
    assert set(y) == {-1.0, 1.0}
    np.testing.assert_array_equal(kernels, kernels.transpose(0, 2, 1))
    np.testing.assert_allclose(kernels.diagonal(axis1=1, axis2=2).mean(axis=1), 1.0, rtol=1e-12)
    assert np.linalg.eigvalsh(kernels).min() > -1e-10 * n


def test_banks_hold_the_kernels_they_name():
    points, y = load_points("mc", 30)
    kernels, labels = kernel_bank("mc", 30, 5)
    np.testing.assert_array_equal(y, labels)
    distances = ((points[:, None] - points[None]) ** 2).sum(-1)
    for index, width in enumerate((1.0, 5.0, 20.0)):
        np.testing.assert_allclose(kernels[index], np.exp(-distances / (2 * width**2)), atol=1e-12)
    linear = points @ points.T / points.shape[1]
    np.testing.assert_allclose(kernels[4], linear / np.mean(np.diag(linear)), atol=1e-12)
    quadratic = (linear + 1.0) ** 2
    np.testing.assert_allclose(kernels[3], quadratic / np.mean(np.diag(quadratic)), atol=1e-12)


def test_too_many_points_are_refused_by_name():
    with pytest.raises(ValueError, match=r"breast_cancer has 569 points; 600"):
        load_points("breast_cancer", 600)
