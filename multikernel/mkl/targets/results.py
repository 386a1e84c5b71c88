"""From the weights and dual variables of many ridge regressions to their values, gaps and results.

At weights μ and the dual variables β that are optimal there, the problem of a target,

    min_μ J(μ),   J(μ) = max_β  y'β − ½ α β'W⁻¹β − ½ Σ_m μ_m β'K_mβ   over μ ≥ 0, Σ_m d_m² μ_m ≤ 1,

lies between J(μ) − ½ (max_m q_m / d_m² − Σ_m μ_m q_m) and J(μ), with q_m = β'K_mβ.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._typing import Array
from ...core.optim.loop import Status
from ...core.weights.loop import SolveResult

BATCH_NUMBERS = 4_000_000  # in one block of samples and targets


@dataclass(frozen=True)
class Problem:
    """Ridge regressions on common samples: kernels (m, n, n), targets (n, T), weights of samples, costs."""

    Ks: Any
    Y: Array
    weights: Array
    costs: Array
    intercept: bool

    def batches(self) -> Iterator[slice]:
        """Some of the targets at a time."""
        n, T = self.Y.shape
        width = max(BATCH_NUMBERS // max(n, 1), 1)
        for start in range(0, T, width):
            yield slice(start, min(start + width, T))

    @property
    def middle(self) -> Array:
        """What is subtracted from the targets: their mean with an intercept."""
        if not self.intercept:
            return np.zeros(self.Y.shape[1])
        return np.asarray(np.average(self.Y, axis=0, weights=self.weights))


def results_at(problem: Problem, alphas: Array, mu: Array, duals: Array) -> list[SolveResult]:
    """Results at given weights (T, m), with the dual variables (n, T) that are optimal there."""
    found: list[SolveResult] = []
    for batch in problem.batches():
        B, weights = duals[:, batch].astype(float), mu[batch]
        Y = problem.Y[:, batch] - problem.middle[batch]
        scores, q = np.zeros_like(B), np.zeros_like(weights)
        for m in range(len(problem.Ks)):
            KB = np.asarray(problem.Ks[m]) @ B
            q[:, m] = np.einsum("ij,ij->j", B, KB)
            scores += KB * weights[:, m]
        intercepts = np.zeros(B.shape[1])
        if problem.intercept:
            intercepts = np.average(Y - scores, axis=0, weights=problem.weights)
        squares = np.einsum("ij,ij->j", B / problem.weights[:, None], B)
        linear = np.einsum("ij,ij->j", Y, B)
        upper = linear - 0.5 * alphas[batch] * squares - 0.5 * np.sum(weights * q, axis=1)
        slack = 0.5 * (np.max(q / problem.costs**2, axis=1) - np.sum(weights * q, axis=1))
        found += [
            _result(weights[k], B[:, k], intercepts[k], float(upper[k]), float(max(slack[k], 0.0)))
            for k in range(B.shape[1])
        ]
    return found


def _result(weights: Array, dual: Array, intercept: float, upper: float, slack: float) -> SolveResult:
    slack = min(slack, abs(upper))  # no value is below 0
    gap = slack / abs(upper) if upper else 0.0
    entry: dict[str, Any] = {"iteration": 1, "objective": upper, "lower_bound": upper - slack, "gap": gap}
    entry["n_active"] = int(np.count_nonzero(weights))
    return SolveResult(
        objective=upper,
        gap=gap,
        n_iter=1,
        status=Status.OPTIMAL,
        weights=weights.copy(),
        ridge=0.0,
        duals=dual[None].copy(),
        intercepts=np.array([intercept]),
        upper_bound=upper,
        lower_bound=upper - slack,
        passes=1.0,
        history=[entry],
    )


def in_units_of(result: SolveResult, alpha: float) -> SolveResult:
    """The result of a problem that was divided by alpha, in the units of the problem."""
    history = [
        entry | {"objective": entry["objective"] * alpha, "lower_bound": entry["lower_bound"] * alpha}
        for entry in result.history
    ]
    return replace(result, objective=result.objective * alpha, history=history)
