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

_ROUNDING = 1e-9
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


def results_at(problem: Problem, alphas: Array, mu: Array, duals: Array) -> tuple[list[SolveResult], Array]:
    """Results at given weights (T, m), from the dual variables (n, T) that are optimal there.

    Their gaps are those of the weights. Also the gaps (T,) of the regressions at these weights, which are
    what rounding leaves.
    """
    found: list[SolveResult] = []
    of_regressions = np.zeros(len(mu))
    for batch in problem.batches():
        values = _Values.at(problem, batch, alphas[batch], mu[batch], duals[:, batch].astype(float))
        of_regressions[batch] = relative(values.primal - values.dual, values.primal)
        found += [values.result(k) for k in range(values.primal.size)]
    return found, of_regressions


def relative(difference: Array, value: Array) -> Array:
    """The difference, at least 0 and at most the value, over the value; no value is below 0."""
    size = np.abs(value)
    share = np.divide(np.maximum(difference, 0.0), size, out=np.zeros(size.shape), where=size > 0.0)
    return np.asarray(np.minimum(share, 1.0))


@dataclass(frozen=True)
class _Values:
    """Some targets at their weights: values of the regressions, and bounds of the problems of the weights."""

    weights: Array  # (k, m)
    duals: Array  # (n, k)
    intercepts: Array
    primal: Array
    dual: Array
    slack: Array  # how far the bound over all weights is below the dual value; NaN outside of the set

    @classmethod
    def at(cls, problem: Problem, batch: slice, alphas: Array, mu: Array, B: Array) -> "_Values":
        Y = problem.Y[:, batch] - problem.middle[batch]
        if problem.intercept:
            B = B - B.mean(axis=0)  # feasible, whatever rounding did
        scores, q = np.zeros_like(B), np.zeros(mu.shape)
        for m in range(len(problem.Ks)):
            KB = np.asarray(problem.Ks[m]) @ B
            q[:, m] = np.einsum("ij,ij->j", B, KB)
            scores += KB * mu[:, m]
        left = Y - scores
        intercepts = np.zeros(B.shape[1])
        if problem.intercept:
            intercepts = np.average(left, axis=0, weights=problem.weights)
        left -= intercepts
        norm = 0.5 * np.sum(mu * q, axis=1)
        risk = 0.5 * np.einsum("ij,i,ij->j", left, problem.weights, left) / alphas
        conjugate = 0.5 * alphas * np.einsum("ij,ij->j", B / problem.weights[:, None], B)
        dual = np.einsum("ij,ij->j", Y, B) - conjugate - norm
        slack = np.maximum(0.5 * np.max(q / problem.costs**2, axis=1) - norm, 0.0)
        slack[mu @ problem.costs**2 > 1.0 + _ROUNDING] = np.nan
        return cls(mu, B, intercepts, risk + norm, dual, slack)

    def result(self, k: int) -> SolveResult:
        upper, lower = float(self.primal[k]), float(self.dual[k] - self.slack[k])
        gap = float(relative(np.array([upper - lower]), np.array([upper]))[0])
        entry: dict[str, Any] = {"iteration": 1, "objective": float(self.dual[k]), "lower_bound": lower}
        entry |= {"gap": gap, "n_active": int(np.count_nonzero(self.weights[k]))}
        return SolveResult(
            objective=float(self.dual[k]),
            gap=gap,
            n_iter=1,
            status=Status.OPTIMAL,
            weights=self.weights[k].copy(),
            ridge=0.0,
            duals=self.duals[:, k][None].copy(),
            intercepts=self.intercepts[[k]],
            upper_bound=upper,
            lower_bound=lower,
            passes=1.0,
            history=[entry],
        )


def at_fixed_weights(result: SolveResult, gap: float) -> SolveResult:
    """The result of a regression whose weights are given: its gap is its own, not that of the weights."""
    lower = result.upper_bound * (1.0 - gap)
    last = result.history[-1] | {"lower_bound": lower, "gap": gap}
    return replace(result, gap=gap, lower_bound=lower, history=[last])


def in_units_of(result: SolveResult, alpha: float) -> SolveResult:
    """The result of a problem that was divided by alpha, in the units of the problem."""
    history = [
        entry | {"objective": entry["objective"] * alpha, "lower_bound": entry["lower_bound"] * alpha}
        for entry in result.history
    ]
    return replace(result, objective=result.objective * alpha, history=history)
