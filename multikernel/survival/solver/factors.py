r"""Kernel weights on factors of low rank: K_m = Z_m Z_m', in the coefficients of their columns.

    min over μ and w of  ½ Σ_m ‖w_m‖²/μ_m + L(Σ_m Z_m w_m),   μ ≥ 0,  Σ_m (d_m² μ_m)^p ≤ 1

**Smooth losses** (:func:`learn_smooth`): Newton's steps. At scores u the loss is replaced by its second
order, whose Hessian Z'∇²L Z takes one pass over the factors, and the small problem in the columns, norm
included, is solved by `multikernel.core.weights.factors.model`. Along the step the loss is evaluated at
scores alone, in O(n), so that a line search costs no pass. The gap is that of the primal value at w and of
the dual value of β = −∇L(u), for which Z'β is the gradient.

**Regression** (:func:`learn_boxed`): the interior-point method of `multikernel.core.svm.interior_point` with
all kernels by their factors; n r² for each of its iterations.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Result, Status, backtrack, power_of_two, relative_gap
from ...core.optim.weight_sets import LpBall
from ...core.stack.low_rank import Factor, Kernels
from ...core.svm.interior_point import InteriorPoint
from ...core.svm.losses import Loss
from ...core.svm.smooth import SmoothLoss
from ...core.weights.factors.model import BlockNorm, QuadraticModel

_ACCURACY = 0.05  # of the tolerated gap is what the small problem may leave
_SUFFICIENT = 1e-4  # share of what the model promises that a step must bring
_SHORTENINGS = 40
_ROWS = 8192  # of a product with the factors
_FINER = 1e-2  # times tol: what the interior-point method aims at


@dataclass(frozen=True)
class FactorResult(Result):
    """Learned weights of kernels by factors, and the coefficients of their columns.

    The objective is the dual value at the learned kernel, the gap (upper − lower) / |upper|.
    """

    weights: Array  # (m,)
    coefficients: Array  # (1, R), scores are Z @ coefficients.T + intercepts
    intercepts: Array  # (1,)

    @property
    def is_finite(self) -> bool:
        """Whether nothing overflowed."""
        numbers = (self.weights, self.coefficients, self.intercepts, np.array([self.objective]))
        return all(bool(np.isfinite(values).all()) for values in numbers)


class _Point:
    """Coefficients (R,) of scaled columns, and what is known there; see :class:`_Problem`."""

    def __init__(self, problem: "_Problem", w: Array, u: Array) -> None:
        self.w, self.u = w, u
        loss, norm = problem.loss, problem.norm
        self.slopes = loss.gradient(u)
        self.gradient = problem.adjoint(self.slopes)
        risk = loss.value(u)
        self.upper = norm.value(w[None]) + risk
        self.squares = norm.squares(self.gradient[None])
        self.plane = risk - float(self.slopes @ u)
        self.lower = self.plane - 0.5 * norm.weight_set.support(self.squares)


class _Problem:
    """The problem with columns scaled to kernels of order one."""

    def __init__(self, Z: Array, offsets: Array, loss: SmoothLoss, norm: float, costs: Array) -> None:
        widths = np.diff(offsets)
        diagonals = np.add.reduceat(np.einsum("ij,ij->j", Z, Z, dtype=float), offsets[:-1]) / len(Z)
        root = power_of_two(float(np.sqrt((diagonals / (costs * costs)).max())))
        self.Z, self.columns, self.scale = Z, 1.0 / (np.repeat(costs, widths) * root), root * root
        self.loss = loss.rescaled(self.scale, 1.0)
        self.norm = BlockNorm(LpBall(norm), offsets)

    def scores(self, w: Array) -> Array:
        """Z w of scaled columns."""
        return np.asarray(self.Z @ (self.columns * w).astype(self.Z.dtype), float)

    def adjoint(self, v: Array) -> Array:
        """Z'v of scaled columns, some rows at a time in double precision."""
        total = np.zeros(self.Z.shape[1])
        for first in range(0, len(self.Z), _ROWS):
            rows = slice(first, first + _ROWS)
            total += v[rows] @ self.Z[rows]
        return np.asarray(self.columns * total)

    def step(self, here: _Point, enough: float) -> _Point | None:
        """Newton's step with the norm as it is, as far as it brings enough; None where it brings nothing."""
        G = self.loss.curvature(here.u).gram(self.Z, self.columns)
        model = QuadraticModel(G[None], (G @ here.w - here.gradient)[None], self.norm)
        goal = model.minimise(self.norm.weights(here.w[None]), enough).w[0]
        d = goal - here.w
        du = self.scores(d)
        promised = self.norm.value(here.w[None]) - self.norm.value(goal[None])
        promised -= float(here.gradient @ d) + 0.5 * float(d @ G @ d)

        def attempt(length: float) -> float | None:
            w, u = here.w + length * d, here.u + length * du
            value = self.norm.value(w[None]) + self.loss.value(u)
            return length if value <= here.upper - _SUFFICIENT * length * promised else None

        length = backtrack(attempt, _SHORTENINGS) if promised > 0.0 else None
        if length is None:
            return None
        return _Point(self, here.w + length * d, here.u + length * du)


def learn_smooth(
    Z: Array, offsets: Array, loss: SmoothLoss, norm: float, costs: Array, options: Options
) -> FactorResult:
    """The weights of kernels with factors Z[:, offsets[m]:offsets[m + 1]], for a loss without intercept.

    Examples
    --------
    >>> from .cox import CoxLoss
    >>> Z = np.array([[2.0, 0.1], [1.0, -0.1], [-1.0, 0.1], [-2.0, -0.1]])
    >>> loss = CoxLoss(np.arange(1.0, 5.0), np.ones(4, bool), 1.0)
    >>> found = learn_smooth(Z, np.array([0, 1, 2]), loss, 1.0, np.ones(2), Options())
    >>> found.weights.round(3).tolist(), str(found.status)
    ([1.0, 0.0], 'optimal')
    """
    problem, record = _Problem(Z, offsets, loss, norm, costs), Recorder.of(options)
    best = witness = _Point(problem, np.zeros(Z.shape[1]), np.zeros(len(Z)))
    point: _Point | None = best
    while point is not None:
        best = point if point.upper <= best.upper else best
        witness = point if point.lower >= witness.lower else witness
        gap = max(relative_gap(best.upper, witness.lower), 0.0)
        n_active = int(np.count_nonzero(problem.norm.squares(best.w[None])))
        values = {"objective": best.upper / problem.scale, "lower_bound": witness.lower / problem.scale}
        entry = {"iteration": len(record.history), **values, "gap": gap, "n_active": n_active}
        if record.note(entry):
            break
        point = problem.step(point, _ACCURACY * options.tol * abs(best.upper))
    if point is None:
        record.stop(Status.STALLED)
    mu = problem.norm.weights(best.w[None])
    return FactorResult(
        objective=(witness.plane - 0.5 * float(mu @ witness.squares)) / problem.scale,
        gap=gap,
        weights=mu / (costs * costs),
        coefficients=(problem.columns * best.w)[None],
        intercepts=np.zeros(1),
        **record.outcome,
    )


def learn_boxed(
    Z: Array, offsets: Array, loss: Loss, norm: float, costs: Array, options: Options
) -> FactorResult:
    """The same for a loss with bounded dual variables and an intercept."""
    blocks = [np.asarray(Z[:, first:stop], float) for first, stop in pairwise(offsets)]
    diagonals = np.array([np.vdot(block, block) for block in blocks]) / len(Z)
    scale = power_of_two(float((diagonals / (costs * costs)).max()))
    target_scale = power_of_two(float(np.abs(loss.target).max()))
    scales = 1.0 / (costs * costs * scale)
    nothing = np.broadcast_to(0.0, (len(blocks), len(Z), len(Z)))  # no kernel is stored
    factors = {m: Factor(block, basis=np.eye(block.shape[1])) for m, block in enumerate(blocks)}
    method = InteriorPoint(
        Kernels(nothing, scales, factors), [loss.rescaled(scale, target_scale)], LpBall(norm)
    )
    record, unit = Recorder.of(options), target_scale * target_scale / scale

    def note(best: Any) -> bool:
        values = {"objective": best.upper * unit, "lower_bound": best.lower * unit}
        n_active = int(np.count_nonzero(best.mu))
        gap = max(best.gap, 0.0)
        entry = {"iteration": len(record.history) + 1, **values, "gap": gap, "n_active": n_active}
        return record.note(entry, reached=False)

    found = method.run(max(_FINER * options.tol, 1e-8), note)
    if found.gap <= options.tol:
        record.stop(Status.OPTIMAL)
    elif not record.ended:
        record.stop(Status.STALLED)
    parts = [np.sqrt(s) * m * part[:, 0] for s, m, part in zip(scales, found.mu, found.inner[0], strict=True)]
    return FactorResult(
        objective=found.dual * unit,
        gap=max(found.gap, 0.0),
        weights=found.mu / (costs * costs),
        coefficients=(target_scale * np.concatenate(parts))[None],
        intercepts=target_scale * found.intercepts[0],
        **record.outcome,
    )
