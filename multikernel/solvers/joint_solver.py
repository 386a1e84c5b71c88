"""One solution of the joint multiclass machine: steps along cycles of classes, Newton where they crawl.

See :mod:`.multiclass` for the problem and :mod:`.class_cycles` for the steps. The intercepts come with the
last search for a cycle: optimality asks b_l ≤ b_k + W[k, l] of them, W the costs of the edges.
"""

from typing import Any, NamedTuple

import numpy as np

from .._numba import read_only
from ..core.optim.loop import Status
from ..criteria.joint import JointHinge
from . import class_cycles as cycles
from .free_duals import FreeDuals, invert_on_balanced
from .prices import ROUNDS, VIOLATION, best_growth, shares_on_the_way

Array = np.ndarray[Any, np.dtype[Any]]

_FIRST_VIOLATION, _FINEST_VIOLATION = 0.1, 1e-13  # relative to the rewards
_ROUNDING = 1e-13  # relative to the loss of the scores 0
_STANDSTILL = 1e-13
_PATIENCE = 20  # steps per sample after which cycles are taken to crawl
_NEWTON_BOUNDS = (
    30  # bounds met by one Newton step at most; fewer, if they cost more than the steps before it
)


class Values(NamedTuple):
    """The dual and the primal value at one point, and the intercepts of the latter."""

    dual: float
    primal: float
    intercepts: Array

    @property
    def difference(self) -> float:
        """What the certificate leaves open."""
        return self.primal - self.dual

    def is_no_better_than(self, earlier: "Values") -> bool:
        """Whether neither the dual value rose nor the difference fell, but for rounding."""
        rose = self.dual - earlier.dual > _STANDSTILL * abs(self.dual)
        return not rose and self.difference > 0.9 * earlier.difference


def _potentials(W: Array, mean: float) -> Array:
    """Intercepts with b_l ≤ b_k + W[k, l] as far as possible, in the middle of their ranges, of sum 0.

    W is shifted until no cycle is negative. The shortest distances D from a class and to it are then two
    extreme solutions; their mean is taken, over all the classes alike. The cost of an absent edge is set to
    more than that of any path, which bounds nothing in earnest.
    """
    n = W.shape[0]
    present = W < 0.5 * cycles.HUGE
    np.fill_diagonal(present, False)
    D = np.where(present, W - min(mean, 0.0), 0.0)
    D[~present] = 1.0 + n * np.abs(D).max()
    np.fill_diagonal(D, 0.0)
    for r in range(n):
        D = np.minimum(D, D[:, [r]] + D[[r]])
    return np.asarray(0.5 * (D.mean(axis=0) - D.mean(axis=1)))


def _move_free(H: Array, g: Array, turns: Array, old: Array, upper: Array, bounds: int) -> Array:
    """Newton steps for the free α, each to the first bound, where it leaves the others alone."""
    alpha = old.copy()
    free = np.arange(old.size)
    for _ in range(bounds):
        direction = -invert_on_balanced(H[np.ix_(free, free)], g[free, None], turns[free])[:, 0]
        ascent = -float(g[free] @ direction)
        product = H[:, free] @ direction
        curvature = float(product[free] @ direction)
        if not ascent > 0.0:
            break
        room = np.where(direction > 0.0, upper[free] - alpha[free], alpha[free])
        moving = direction != 0.0
        steps = room[moving] / np.abs(direction[moving])
        nearest = int(np.argmin(steps))
        step = min(float(steps[nearest]), ascent / max(curvature, cycles.TINY_CURVATURE))
        moved = np.clip(alpha[free] + step * direction, 0.0, upper[free])
        hit = np.flatnonzero(moving)[nearest]
        bounded = step == steps[nearest]
        if bounded:
            moved[hit] = upper[free[hit]] if direction[hit] > 0.0 else 0.0
        alpha[free] = moved
        g = g + step * product
        if not bounded or free.size <= 2:
            break
        free = np.delete(free, hit)
    return alpha


class JointSolver:
    """The state of one solution: samples in the order of their classes, arrays with a row for each class.

    Parameters
    ----------
    K : array (n, n), C-contiguous
    loss : JointHinge
    alpha : array (n_classes, n)
        A feasible start.
    scores : array (n_classes, n), optional
        BK of the start, where it is known.
    """

    def __init__(self, K: Array, loss: JointHinge, alpha: Array, scores: Array | None = None) -> None:
        n_classes, n = alpha.shape
        codes = loss.codes
        self.K = read_only(K)
        self.order = np.argsort(codes, kind="stable")
        self.own = codes[self.order]
        starts = np.searchsorted(self.own, np.arange(n_classes + 1))
        diag = np.diagonal(K)[self.order].astype(float)
        self.samples = cycles.Samples(
            self.K, self.order, starts, diag, np.empty((n, n)), np.zeros(n, np.bool_)
        )
        self.limits = cycles.Limits(loss.upper[self.order], np.ascontiguousarray(loss.margins[self.order].T))
        start = np.ascontiguousarray(alpha[:, self.order])
        self.point = cycles.Point(start, *(np.zeros((n_classes, n)) for _ in range(3)))
        self.edges = cycles.Edges(*np.zeros((2, n_classes, n_classes)))
        self.n_steps = 0
        self.mean = 0.0
        self.least_curvature = np.inf
        if scores is None:
            self.rebuild_scores()
        else:
            self.point.F[:] = scores[:, self.order]

    def as_given(self, rows: Array) -> Array:
        """Something of the samples in the order in which they were given."""
        given = np.empty_like(rows)
        given[:, self.order] = rows
        return given

    @property
    def coefficients(self) -> Array:
        """B, with one row for each class."""
        B = -self.point.alpha
        B[self.own, np.arange(self.own.size)] += self.point.alpha.sum(axis=0)
        return B

    def rebuild_scores(self) -> None:
        """F = BK from the support rows: at the start, and to remove the drift of many steps."""
        B = self.coefficients
        used = np.flatnonzero(B.any(axis=0))
        self.point.F[:] = (B[:, used] @ self.K[self.order[used]])[:, self.order]

    def advance(self, violation: float, max_steps: int) -> cycles.Outcome:
        """Steps until the worst cycle violates the conditions by no more than ``violation``."""
        outcome = cycles.Outcome(
            *cycles.run(self.samples, self.limits, self.point, self.edges, violation, max_steps)
        )
        self.n_steps += outcome.iterations
        self.mean = outcome.mean
        self.least_curvature = min(self.least_curvature, outcome.least_curvature)
        return outcome

    def newton_step(self, steps: int) -> None:
        """Solve for all the free α at once, to the bounds they meet: for kernels on which cycles crawl.

        It may cost as much as the given number of steps along cycles.
        """
        alpha, F = self.point.alpha, self.point.F
        columns, rows = np.nonzero((alpha > 0.0) & (alpha < self.limits.upper))
        affordable = int(10.0 * steps * alpha.size / max(rows.size**3 / 3.0, 1.0))
        if rows.size < 2 or affordable == 0:
            return
        free = FreeDuals(rows, columns, self.own[rows])
        sources, turns = self.order[rows], free.turns
        H = self.K[np.ix_(sources, sources)] * (turns @ turns.T)
        g = free.turned(F) - self.limits.rewards[columns, rows]
        bounds = min(affordable, _NEWTON_BOUNDS)
        alpha[columns, rows] = _move_free(H, g, turns, alpha[columns, rows], self.limits.upper[rows], bounds)
        self.rebuild_scores()

    def values(self) -> Values:
        """The dual and the primal value at the current α, with the intercepts that the edges allow."""
        alpha, F, R = self.point.alpha, self.point.F, self.limits.rewards
        half_norm2 = 0.5 * float(np.vdot(self.coefficients, F))
        intercepts = _potentials(np.minimum(self.edges.raised, -self.edges.lowered.T), self.mean)
        scores = F + intercepts[:, None]
        here = (self.own, np.arange(self.own.size))
        loss = np.maximum(R - scores[here] + scores, 0.0)  # 0 of the own class, for its R is 0
        primal = half_norm2 + float(loss.sum(axis=0) @ self.limits.upper)
        return Values(float(np.vdot(R, alpha)) - half_norm2, primal, intercepts)

    def look(self) -> Values:
        """The values where it stands, without a step."""
        self.advance(0.0, 0)
        return self.values()

    def _approach(self, violation: float, patience: int, max_steps: int) -> None:
        """From α = 0, come near to a large price by way of smaller ones."""
        whole = self.limits.upper
        if self.point.alpha.any():
            return
        for share in shares_on_the_way(float(whole.max()), self.samples.diag):
            if self.n_steps >= max_steps:
                break  # what there is, is feasible at larger prices too
            self.limits = self.limits._replace(upper=share * whole)
            for _ in range(ROUNDS):
                if self.advance(violation, patience).reason == cycles.CONVERGED:
                    break
                self.newton_step(patience)
            alpha, F = self.point.alpha, self.point.F
            norm2 = float(np.vdot(self.coefficients, F))
            growth = best_growth(float(np.vdot(self.limits.rewards, alpha)), norm2)
            alpha *= growth
            F *= growth
        self.limits = self.limits._replace(upper=whole)
        np.minimum(self.point.alpha, whole, out=self.point.alpha)  # rounding

    def solve(self, tol: float, max_steps: int) -> tuple[Values, Status]:
        """Steps until the relative gap is ``tol``; the violation allowed to cycles follows the gap."""
        scale = float(np.abs(self.limits.rewards).max(initial=0.0)) or 1.0
        violation = _FIRST_VIOLATION * scale
        patience = _PATIENCE * self.own.size + 2000
        self._approach(VIOLATION * scale, patience, max_steps)
        crawling: Values | None = None  # where the last call ended that used up its patience
        while True:
            outcome = self.advance(violation, min(patience, max_steps - self.n_steps))
            values = self.values()
            if values.difference <= tol * abs(values.primal):
                return values, Status.OPTIMAL
            if outcome.reason == cycles.ITERATION_LIMIT:
                if self.n_steps >= max_steps:
                    return values, Status.MAX_ITER
                if crawling is not None and values.is_no_better_than(crawling):
                    return values, Status.STALLED
                crawling = values
                self.newton_step(patience)
                continue
            if violation < _FINEST_VIOLATION * scale:
                is_zero = values.primal <= _ROUNDING * scale * float(self.limits.upper.sum())
                return values, Status.OPTIMAL if is_zero else Status.STALLED
            violation *= float(np.clip(0.7 * tol * abs(values.primal) / values.difference, 0.05, 0.5))
