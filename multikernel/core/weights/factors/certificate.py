"""Bounds of the optimum at a point: the primal value there, and the dual value of the β that its slopes give.

The dual needs Σβ = 0 where there is an intercept, which holds only at the minimiser: the side (sign) that
weighs more is scaled down. Then all of β is scaled by the best common factor within its bounds.
"""

from typing import NamedTuple

import numpy as np

from ...._typing import Array
from ...optim.gaps import relative_gap
from ...svm.primal import PrimalLoss
from .model import BlockNorm
from .rounds import Sums


class Point(NamedTuple):
    """Coefficients (T, R) and intercepts (T,)."""

    w: Array
    b: Array


class Problem(NamedTuple):
    """What is minimised, apart from the rows, in scaled units.

    ``least_size`` is the value below which the optimum counts as 0: rounding of the loss without any score.
    """

    loss: PrimalLoss
    norm: BlockNorm
    epsilon: float
    has_intercept: bool
    least_size: float


class Dual(NamedTuple):
    """What the dual value of some β is made of.

    Attributes
    ----------
    reward : float, Σ target β − ε Σ |β|
    squares : array (m,), ‖Z_m'β‖² over all tasks
    shifted : float, Σ β²/C where the loss is smooth
    """

    reward: float
    squares: Array
    shifted: float

    def value(self, mu: Array) -> float:
        """The dual value with the kernel of given weights."""
        return self.reward - 0.5 * (float(mu @ self.squares) + self.shifted)

    def scaled(self, factor: float) -> "Dual":
        return Dual(factor * self.reward, factor * factor * self.squares, factor * factor * self.shifted)


class Bounds(NamedTuple):
    """What is known of the optimum at a point.

    Attributes
    ----------
    upper, lower : float
    gap : float, (upper − lower) / |upper|
    dual : Dual, whose value is the lower bound
    smoothing_part : float, how much of the gap is due to the smoothing, in absolute terms
    """

    upper: float
    lower: float
    gap: float
    dual: Dual
    smoothing_part: float


def certify(problem: Problem, point: Point, sums: Sums, which: int) -> Bounds:
    """The bounds by the sums at a point, from the smoothing number ``which``."""
    upper = problem.norm.value(point.w) + float(sums.risk[0])
    dual, room = _feasible(problem, sums, which)
    quadratic = problem.norm.weight_set.support(dual.squares) + dual.shifted
    dual = dual.scaled(_best_growth(dual.reward, quadratic, room))
    lower = dual.reward - 0.5 * (problem.norm.weight_set.support(dual.squares) + dual.shifted)
    return Bounds(
        upper=upper,
        lower=lower,
        gap=relative_gap(upper, lower, problem.least_size),
        dual=dual,
        smoothing_part=_smoothing_part(problem, point, sums, which),
    )


def _best_growth(reward: float, quadratic: float, room: float) -> float:
    """The c ≥ 0 where c · reward − ½ c² · quadratic is largest; all the room where nothing pulls back."""
    if not reward > 0.0:
        return 0.0
    growth = min(reward / quadratic if quadratic > 0.0 else np.inf, room)
    return growth if np.isfinite(growth) else 0.0


def _feasible(problem: Problem, sums: Sums, which: int) -> tuple[Dual, float]:
    """β with Σβ = 0 for each task (the heavier side scaled down to the lighter), and how it may be scaled."""
    sides = np.abs(sums.total[which])
    factors = np.ones_like(sides)
    if problem.has_intercept:
        lighter = sides.min(axis=1, keepdims=True)
        factors = np.divide(lighter, sides, out=np.zeros_like(sides), where=sides > 0.0)
    peak = float((factors * sums.peak[which]).max())
    dual = Dual(
        reward=float((factors * (sums.reward[which] - problem.epsilon * sides)).sum()),
        squares=problem.norm.squares(np.einsum("tk,tkr->tr", factors, sums.adjoint[which])),
        shifted=float((factors * factors * sums.shifted[which]).sum()) if problem.loss.is_smooth else 0.0,
    )
    return dual, 1.0 / peak if peak > 0.0 and not problem.loss.is_smooth else np.inf


def _smoothing_part(problem: Problem, point: Point, sums: Sums, which: int) -> float:
    """Σ C ℓ(f) + C ℓ*(−β/C) + β f ≥ 0, which is 0 where β is a slope of the loss itself."""
    if problem.loss.is_smooth:
        return 0.0
    adjoint, total = sums.adjoint[which].sum(axis=1), sums.total[which].sum(axis=1)
    scored = float(np.vdot(adjoint, point.w) + total @ point.b)
    reward = float((sums.reward[which] - problem.epsilon * np.abs(sums.total[which])).sum())
    return max(float(sums.risk[0]) - reward + scored, 0.0)
