"""The loop over all rows: Newton's steps on the smoothed loss, each of them one round of map-reduce.

At a point, the rows give value, gradient and Hessian of the smoothed loss; the step goes to the minimiser of
that quadratic plus the norm over blocks (:mod:`.model`). The sums at the new point are at once those of the
next, narrower smoothing, so that a step that is accepted costs one round. Where the smoothed objective does
not fall, one more round evaluates the loss along the step, and the best length is taken.
"""

from typing import Any

import numpy as np

from ..options import Options
from ..relative import relative_gap
from ..result import Status
from .certificate import Bounds, Point, Problem, certify
from .expansion import Expansion, expand, newton_goal
from .passes import block_sums, line_sums
from .rounds import Rounds
from .sums import Line, Query, Sums
from .units import Derivatives, Units

Array = np.ndarray[Any, np.dtype[Any]]

_SHARE = 0.4  # of the tolerated gap is what the smoothing may take
_NARROWEST = 1e-11  # widths below it are lost in the rounding of the scores
_FALL = 1e-3  # of the predicted fall is what a step has to bring
_ROUNDING = 1e-13  # relative: below it values do not tell two points apart
_PATIENCE = 4  # steps in a row that bring nothing
_DENSE = 2.0
_WORTH = 0.1
_LENGTHS = np.concatenate([np.geomspace(0.8, 0.05, 12), np.geomspace(0.03, 1e-7, 12)])


class Descent:
    """The state of the loop; everything is in scaled units.

    Attributes
    ----------
    point, width : where it is, and the present width of the smoothing
    best, best_point : the pair of bounds with the least gap, and where it was
    history : the entries of the result's, in the caller's units
    """

    def __init__(
        self, rounds: Rounds, problem: Problem, units: Units, options: Options, start: tuple[Point, float]
    ) -> None:
        self.rounds, self.problem, self.units, self.options = rounds, problem, units, options
        self.point, self.width = start
        self.best_upper, self.best_lower = np.inf, -np.inf
        self.history: list[dict[str, float]] = []
        self.n_idle = 0
        self.pace = 0.3
        self.sums, second = self._look(self.point, (self.width,), curvature=True)
        assert second is not None
        self.derivatives = second
        self.here = self.best = self._certify(self.point, self.sums, (self.width,))
        self.best_point = self.point

    # ------------------------------------------------------------------ the loop
    def run(self) -> Status:
        """Step until the gap is small enough; the results stay in the attributes."""
        for iteration in range(self.options.max_iter + 1):
            stop = self._record()
            if self._is_done():
                return Status.OPTIMAL
            if stop:
                return Status.INTERRUPTED
            if iteration == self.options.max_iter:
                break
            if not self._step():
                return Status.STALLED
        return Status.MAX_ITER

    def _is_done(self) -> bool:
        if self.best.gap <= self.options.tol:
            return True
        gap = relative_gap(self.best_upper, self.best_lower, self.problem.least_size)
        return self.options.rough and gap <= self.options.tol

    def _record(self) -> bool:
        value = 1.0 / self.units.value
        entry = {
            "iteration": len(self.history),
            "objective": self.best_upper * value,
            "lower_bound": self.best_lower * value,
            "gap": max(relative_gap(self.best_upper, self.best_lower, self.problem.least_size), 0.0),
            "n_active": int(np.count_nonzero(self.problem.norm.squares(self.point.w))),
            "smoothing": self.here.width * self.units.target,
        }
        self.history.append(entry)
        return bool(self.options.callback(entry)) if self.options.callback else False

    # ------------------------------------------------------------------ rounds
    def _look(
        self, point: Point, widths: tuple[float, ...], curvature: bool
    ) -> tuple[Sums, Derivatives | None]:
        """The sums at a point: one round."""
        units = self.units
        query = Query(
            units.coefficients(point.w),
            point.b * units.target,
            tuple(width * units.target for width in widths),
            curvature,
        )
        return units.sums(self.rounds.sum(block_sums, self.problem.loss, query))

    def _certify(self, point: Point, sums: Sums, widths: tuple[float, ...]) -> Bounds:
        """The better of the bounds that the widths give."""
        found = [certify(self.problem, point, sums, i, width) for i, width in enumerate(widths)]
        here = max(found, key=lambda bounds: bounds.lower)
        self.best_upper = min(self.best_upper, here.upper)
        self.best_lower = max(self.best_lower, here.lower)
        return here

    # ------------------------------------------------------------------ steps
    def _smoothed(self, point: Point, sums: Sums, which: int) -> float:
        return self.problem.norm.value(point.w) + float(sums.smoothed[which])

    def _step(self) -> bool:
        """Go to a better point, or to a narrower smoothing; False when nothing more can be gained."""
        expansion = expand(self.sums, self.derivatives)
        width = self._next_width()
        if width < self.width and self._is_sparse() and self._follow(expansion, width):
            return True
        goal, expected = newton_goal(self.problem, self.point, expansion, self._enough())
        before = self._smoothed(self.point, self.sums, -1)
        if self._is_sparse() or expected - before < -self.here.smoothing_part:
            width = self.width
        widths = (self.width,) if width == self.width else (self.width, width)
        sums, second = self._look(goal, widths, curvature=not self.problem.loss.is_quadratic)
        here = self._certify(goal, sums, widths)
        change = self._smoothed(goal, sums, 0) - before
        if not (change <= _FALL * (expected - before) or abs(change) <= _ROUNDING * abs(before)):
            length = self._search_length(goal)
            if length == 0.0:
                return False
            goal = _between(self.point, goal, length)
            widths = (self.width,)
            sums, second = self._look(goal, widths, curvature=not self.problem.loss.is_quadratic)
            here = self._certify(goal, sums, widths)
            change = self._smoothed(goal, sums, 0) - before
        moved = abs(change) > _ROUNDING * abs(before) or widths[-1] < self.width
        self._accept(goal, sums, second, here, widths[-1], moved)
        return self.n_idle < _PATIENCE

    def _accept(
        self, goal: Point, sums: Sums, second: Derivatives | None, here: Bounds, width: float, moved: bool
    ) -> None:
        self.n_idle = 0 if moved or here.gap < self.best.gap else self.n_idle + 1
        self.point, self.sums, self.width, self.here = goal, sums, width, here
        self.derivatives = second or self.derivatives
        if here.gap <= self.best.gap:
            self.best, self.best_point = here, goal

    def _enough(self) -> float:
        return 0.05 * self.options.tol * max(abs(self.here.upper), self.problem.least_size)

    def _is_sparse(self) -> bool:
        """Whether the parabola holds so few rows that the margins can follow it."""
        n_columns = np.count_nonzero(self.point.w.any(axis=0))
        return bool((self.sums.inner[:, 0] < _DENSE * (n_columns + 1)).any())

    def _follow(self, expansion: Expansion, width: float) -> bool:
        narrow = expansion.narrowed(self.problem, self.units, self.sums, (self.width, width))
        goal, expected = newton_goal(self.problem, self.point, narrow, self._enough())
        sums, second = self._look(goal, (width,), curvature=True)
        here = self._certify(goal, sums, (width,))
        before = self._smoothed(self.point, self.sums, -1)
        share = (before - self._smoothed(goal, sums, 0)) / (before - expected)
        if share < 0.25:
            self.pace = self.pace**0.5
            return False
        if share > 0.75:
            self.pace = max(self.pace**1.5, 0.05)
        self._accept(goal, sums, second, here, width, True)
        return True

    def _next_width(self) -> float:
        """Narrower where the smoothing takes more than its share of the gap."""
        if self.problem.loss.is_smooth:
            return self.width
        part = self.here.smoothing_part
        allowed = _SHARE * self.options.tol * max(abs(self.here.upper), self.problem.least_size)
        if part <= allowed or part < _WORTH * self.here.gap * abs(self.here.upper):
            return self.width
        ratio = allowed / part
        return max(max(ratio if self._is_sparse() else ratio**0.5, self.pace) * self.width, _NARROWEST)

    def _search_length(self, goal: Point) -> float:
        """The length at which the smoothed objective is least on the way to a goal: one round; 0 for none."""
        units, point = self.units, self.point
        line = Line(
            units.coefficients(point.w), point.b * units.target,
            units.coefficients(goal.w - point.w), (goal.b - point.b) * units.target,
            np.append(_LENGTHS, 0.0), self.width * units.target,
        )  # fmt: skip
        losses = self.rounds.sum(line_sums, self.problem.loss, line) * units.value
        norms = [self.problem.norm.value(_between(point, goal, length).w) for length in line.lengths]
        values = losses + np.array(norms)
        best = int(np.argmin(values))
        return float(line.lengths[best])


def _between(start: Point, goal: Point, length: float) -> Point:
    return Point(start.w + length * (goal.w - start.w), start.b + length * (goal.b - start.b))
