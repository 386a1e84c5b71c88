"""The combination nearest to the ideal kernel: against cvxpy, in both units."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from multikernel.rules import IdealDistance
from tests.rules.similarity_problems import TASKS, ideal, problem


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("normalise", [True, False])
def test_no_combination_is_nearer(task, seed, normalise):
    kernels, y = problem(seed, task)
    learner = IdealDistance(normalise).fit(kernels, y)
    L = ideal(y, task)
    scales = np.array([np.diagonal(K).mean() for K in kernels])
    if not normalise:
        scales[:] = 1.0
        if task in ("values", "outputs"):
            T = np.reshape(y, (len(y), -1)) - np.mean(y, axis=0)
            L = T @ T.T
    eta = learner.kernel_weights_ * scales
    assert eta.min() >= 0.0 and eta.sum() == pytest.approx(1.0)
    distance = np.linalg.norm(learner.combine(kernels) - L) ** 2
    assert learner.objective_ == pytest.approx(distance, rel=1e-9)
    columns = np.stack([(K / s).ravel() for K, s in zip(kernels, scales, strict=True)], axis=1)
    v = cp.Variable(len(kernels), nonneg=True)
    unit = np.linalg.norm(L)
    objective = cp.Minimize(cp.sum_squares((columns @ v - L.ravel()) / unit))
    best = cp.Problem(objective, [cp.sum(v) == 1.0]).solve(solver="CLARABEL") * unit**2
    assert distance == pytest.approx(best, rel=1e-6)
    assert learner.dual_gap_ < 1e-12 and learner.status_ == "optimal"


def gap_of(learner, kernels, y):
    """Frank and Wolfe's, from the learned weights."""
    L = ideal(y, "two")
    eta = learner.kernel_weights_ * [np.diagonal(K).mean() for K in kernels]
    rest = learner.combine(kernels) - L
    slope = np.array([2.0 * np.vdot(K / np.diagonal(K).mean(), rest) for K in kernels])
    return (slope @ eta - slope.min()) / (np.linalg.norm(rest) ** 2 + np.linalg.norm(L) ** 2)


def test_the_gap_is_that_of_frank_and_wolfe(monkeypatch):
    kernels, y = problem(3)
    learner = IdealDistance().fit(kernels, y)
    assert abs(gap_of(learner, kernels, y) - learner.dual_gap_) < 1e-13
    monkeypatch.setitem(IdealDistance._learn.__globals__, "minimize_step", lambda H, g, point: point)
    with pytest.warns(ConvergenceWarning, match="IdealDistance ended as 'stalled'"):
        learner.fit(kernels, y)  # weights that are not the best do not pass as such
    assert learner.dual_gap_ == pytest.approx(gap_of(learner, kernels, y), rel=1e-9)
    assert learner.dual_gap_ > 1e-4


def test_it_finds_the_ideal_kernel_itself():
    y = np.array([0, 1, 2, 0, 1, 2, 1])
    kernels = [np.eye(7), 5.0 * (ideal(y, "three") + 1e-9 * np.eye(7))]
    learner = IdealDistance().fit(kernels, y)
    np.testing.assert_allclose(learner.kernel_shares_, [0.0, 1.0], atol=1e-8)
    assert learner.objective_ < 1e-12


@pytest.mark.parametrize("factor", [1e6, 1e-6])
def test_kernels_in_their_own_units(factor):
    kernels, y = problem(7, "values")
    learner = IdealDistance(normalise=False).fit([factor * K for K in kernels], y)
    assert learner.kernel_weights_.sum() == pytest.approx(1.0) and learner.status_ == "optimal"
