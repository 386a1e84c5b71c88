"""The judge of weight learners: what weights are worth, by programs written plainly in cvxpy."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _root(K: Array) -> Array:
    """F with FF' = K."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _solve(objective: cp.Expression, constraints: list[cp.Constraint]) -> float:
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL)
    if problem.status != cp.OPTIMAL:
        raise RuntimeError(f"the judge's own program ended as {problem.status!r}")
    return float(problem.value)


def _hulls(y: Array) -> tuple[cp.Variable, list[cp.Constraint]]:
    points = cp.Variable(y.size, nonneg=True)
    return points, [cp.sum(points[y > 0]) == 1.0, cp.sum(points[y < 0]) == 1.0]


def easymkl_value(kernels: Array, y: Array, balance: float) -> float:
    """min (1 − Λ) γ'Y(ΣK)Yγ + Λ‖γ‖², γ ≥ 0 of sum 1 in each class."""
    points, sums = _hulls(y)
    between = cp.sum_squares(_root(kernels.sum(axis=0)).T @ cp.multiply(y, points))
    return _solve((1.0 - balance) * between + balance * cp.sum_squares(points), sums)


def radius_over_margin(kernels: Array, y: Array, weights: Array) -> float:
    """4 R² / d² of the kernel Σ η_m K_m: R the radius of the ball around all, d the distance of the hulls."""
    K = np.tensordot(weights, kernels, axes=1)
    F = _root(K)
    shares = cp.Variable(y.size, nonneg=True)
    within = cp.sum_squares(F.T @ shares) - np.diag(K) @ shares
    squared_radius = -_solve(within, [cp.sum(shares) == 1.0])
    points, sums = _hulls(y)
    return 4.0 * squared_radius / _solve(cp.sum_squares(F.T @ cp.multiply(y, points)), sums)
