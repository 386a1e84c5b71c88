"""The judge of machines on Gram matrices too large for memory: kernels are computed anew, in blocks of rows.

From the duals β, the weights μ and the table alone, with NumPy in double precision:

    P = ½ Σ_m μ_m β'K_mβ + C Σ_i ℓ(y_i, Σ_m μ_m (K_mβ)_i + b),    D = y'β − ε‖β‖₁ − ½ max_m β'K_mβ,

where Σμ = 1; P is above the optimum and D below it. A hinge has ε = 0, and β = y · (dual within 0 and C).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_ROWS_AT_ONCE = 256
_ROUNDING = 1e-9


@dataclass(frozen=True)
class DenseProblem:
    """Gaussians of one width on blocks of columns, targets, C, and ε (None: labels ±1 and the hinge)."""

    X: FloatArray
    columns: list[list[int]]
    gamma: float
    y: FloatArray
    C: float
    epsilon: float | None = None


@dataclass(frozen=True)
class DenseVerdict:
    """The value of a solution, a lower bound of the optimum, and their relative difference."""

    value: float
    lower: float

    @property
    def gap(self) -> float:
        """Relative to the value."""
        return (self.value - self.lower) / abs(self.value)


def judge_dense(problem: DenseProblem, weights: FloatArray, beta: FloatArray, b: float) -> DenseVerdict:
    """Judge weights on the simplex, duals of all rows (β with its sign) and an intercept.

    Raises
    ------
    ValueError
        If weights or duals are not feasible.
    """
    _require_feasible(problem, weights, beta)
    products = [_product(problem, columns, beta) for columns in problem.columns]
    q = np.array([beta @ product for product in products])
    scores = np.asarray(weights @ np.array(products))
    epsilon = problem.epsilon
    if epsilon is None:
        losses = np.maximum(0.0, 1.0 - problem.y * (scores + b))
    else:
        losses = np.maximum(0.0, np.abs(problem.y - scores - b) - epsilon)
    value = 0.5 * float(weights @ q) + problem.C * float(losses.sum())
    reward = float(problem.y @ beta) - (epsilon or 0.0) * float(np.abs(beta).sum())
    return DenseVerdict(value, reward - 0.5 * float(q.max()))


def _require_feasible(problem: DenseProblem, weights: FloatArray, beta: FloatArray) -> None:
    slack = _ROUNDING * problem.C
    signed = beta * problem.y if problem.epsilon is None else np.abs(beta)
    within = signed.min() >= -slack and signed.max() <= problem.C + slack
    balanced = abs(float(beta.sum())) <= _ROUNDING * float(np.abs(beta).sum())
    if not (within and balanced and weights.min() >= 0.0 and abs(weights.sum() - 1.0) <= _ROUNDING):
        raise ValueError("weights must be on the simplex, and duals within 0 and C with a sum of zero.")


def _product(problem: DenseProblem, columns: list[int], beta: FloatArray) -> FloatArray:
    """K_m β, from the rows where β is not zero."""
    table = problem.X[:, columns]
    used = np.flatnonzero(beta)
    right = table[used]
    squares = np.square(right).sum(axis=1)
    out = np.empty(len(table))
    for start in range(0, len(table), _ROWS_AT_ONCE):
        left = table[start : start + _ROWS_AT_ONCE]
        distances = np.square(left).sum(axis=1)[:, None] + squares - 2.0 * (left @ right.T)
        out[start : start + _ROWS_AT_ONCE] = np.exp(-problem.gamma * np.maximum(distances, 0.0)) @ beta[used]
    return out
