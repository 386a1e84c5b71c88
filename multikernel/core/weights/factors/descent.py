"""The loop over all rows: Newton's steps on the smoothed loss, each of them one round of map-reduce.

At a point, the rows give value, gradient and Hessian of the smoothed loss; the step goes to the minimiser
of that quadratic plus the norm over blocks (:mod:`.model`). Where the smoothed objective does not fall, one
more round evaluates the loss along the step, and the best length is taken.

The smoothing is narrowed on the way, in one of two manners. Where many rows lie near the kink, its width
hardly moves the minimiser: the sums at the new point are at once those of the narrower smoothing. Where few
do, the margins of these rows are what the width decides: the step goes to where the narrower smoothing has
its minimum if the rows inside stay the same (:meth:`Expansion.narrowed`). Which of the two it is, is tried.

**Certificate** (:func:`certify`): the primal value at a point, and the dual value of the β that its slopes
give. The dual needs Σβ = 0 where there is an intercept, which holds only at the minimiser: the side (sign)
that weighs more is scaled down. Then all of β is scaled by the best common factor within its bounds.
"""

from typing import NamedTuple

import numpy as np

from ...._typing import Array
from ...optim.loop import Options, Recorder, Status, relative_gap
from ...svm.primal import Kinked, PrimalLoss
from .model import BlockNorm, QuadraticModel
from .rounds import Derivatives, Line, Query, Rounds, Sums, Units, block_sums, line_sums

_LONGEST = 1.0  # step of an intercept, in units of the targets, where no row has curvature
_SHARE = 0.4  # of the tolerated gap is what the smoothing may take
_ACCURACY = 0.05  # of the tolerated gap is what the small problem may leave
_NARROWEST = 1e-13  # widths below it are lost in the rounding of the scores
_FALL = 1e-3  # of the predicted fall is what a step has to bring
_ROUNDING = 1e-13  # relative: below it values do not tell two points apart
_PATIENCE = 4  # steps in a row that bring nothing
_CLOSE = 2.0  # times the smoothing's part is left to gain: near enough to narrow it
_FOUND = 0.1  # of the gap is what the smoothing takes where the rest is done
_MISSED = 0.75  # of the smoothing's part: the rows inside did not stay the same
_SHORT = 0.3  # a step shortened to this after the smoothing was narrowed: it was too much
_MOST_UNDONE = 1  # in a row: the smoothing is then narrowed all the same
_PACE, _SLOWEST, _FASTEST, _FASTEST_MANY = 0.3, 0.8, 1e-3, 0.3  # factors of the width
_QUADRATIC = 0.1  # the gap after a step, in relation to the squared gap before
_LENGTHS = np.concatenate([np.geomspace(0.8, 0.05, 12), np.geomspace(0.03, 1e-12, 24), [0.0]])


# ---------------------------------------------------------------------- certificate
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
    """What the dual value of some β is made of."""

    reward: float  # Σ target β − ε Σ |β|
    squares: Array  # (m,), ‖Z_m'β‖² over all tasks
    shifted: float  # Σ β²/C where the loss is smooth

    def value(self, mu: Array) -> float:
        """The dual value with the kernel of given weights."""
        return self.reward - 0.5 * (float(mu @ self.squares) + self.shifted)

    def scaled(self, factor: float) -> "Dual":
        return Dual(factor * self.reward, factor * factor * self.squares, factor * factor * self.shifted)


class Bounds(NamedTuple):
    """What is known of the optimum at a point."""

    upper: float
    lower: float
    gap: float  # (upper − lower) / |upper|
    dual: Dual  # whose value is the lower bound
    smoothing_part: float  # how much of the gap is due to the smoothing, in absolute terms


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


# ---------------------------------------------------------------------- model of second order
class Parabola(NamedTuple):
    """A smoothing in scaled units: its width, and the excess at which it begins."""

    width: float
    start: float


class Expansion(NamedTuple):
    """Value, gradient and Hessian of the smoothed loss in w and b."""

    value: float
    gradient: Array  # (T, R)
    slope: Array  # (T,), the gradient in the intercepts
    second: Derivatives

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.gradient).all() and np.isfinite(self.second.hessian).all())

    def narrowed(self, sums: Sums, old: Parabola, new: Parabola) -> "Expansion":
        """The expansion for another smoothing, as if the rows inside the parabola stayed the same.

        A row of excess u inside has the value C (u − start)² / (2 width) and the slope C (u − start) / width,
        in which start and width are now the new ones: the sums of C, Cu and Cu² over those rows are enough.
        """
        value, gradient, slope = self.value, self.gradient, self.slope
        _, price, first, second = sums.inner.sum(axis=0)
        for (width, start), sign in ((old, -1.0), (new, 1.0)):
            least = 0.5 * width + start
            value += sign * (0.5 * (second - 2.0 * start * first + start * start * price) / width)
            value += sign * least * float(sums.price[0])
            pull = (sums.inner_adjoint[:, 1] - start * sums.inner_adjoint[:, 0]) / width
            gradient = gradient - sign * pull
            slope = slope - sign * (sums.inner_sides[:, 1] - start * sums.inner_sides[:, 0]) / width
        ratio = old.width / new.width
        return Expansion(float(value), gradient, slope, Derivatives(*(ratio * part for part in self.second)))


def expand(sums: Sums, second: Derivatives) -> Expansion:
    """The expansion at the point of the sums, for their last width."""
    gradient, slope = -sums.adjoint[-1].sum(axis=1), -sums.total[-1].sum(axis=1)
    return Expansion(float(sums.smoothed[-1]), gradient, slope, second)


def newton_goal(problem: Problem, point: Point, expansion: Expansion, enough: float) -> tuple[Point, float]:
    """The minimiser of the expansion plus the norm, and its value there."""
    norm = problem.norm
    reduced = _Reduced(expansion, problem.has_intercept, not problem.loss.is_smooth)
    model = QuadraticModel(reduced.hessian, reduced.product(point.w) - reduced.gradient, norm)
    minimum = model.minimise(norm.weights(point.w), enough)
    change = minimum.w - point.w
    value = expansion.value + reduced.constant + norm.value(minimum.w)
    value += float(np.vdot(reduced.gradient + 0.5 * reduced.product(change), change))
    return Point(minimum.w, point.b + reduced.intercepts(change)), value


class _Reduced:
    """Gradient and Hessian in w alone, the intercepts at their best for each w.

    ``constant`` is what the best intercepts gain at the present w.
    """

    def __init__(self, expansion: Expansion, has_intercept: bool, is_kinked: bool) -> None:
        self.hessian, self.edge, corner = expansion.second
        self.gradient, self.slope, self.constant = expansion.gradient, expansion.slope, 0.0
        self.has_intercept = has_intercept
        if has_intercept:
            least = np.abs(self.slope) / _LONGEST if is_kinked else 0.0
            self.corner = np.maximum(corner, np.maximum(least, np.finfo(float).tiny))
            pulled = self.edge / self.corner[:, None]
            products = self.edge[:, :, None] * pulled[:, None, :]
            self.hessian = np.subtract(self.hessian, products, out=products)
            self.gradient = self.gradient - pulled * self.slope[:, None]
            self.constant = -0.5 * float((self.slope**2 / self.corner).sum())

    def product(self, w: Array) -> Array:
        """H w, task by task."""
        if len(self.hessian) == 1:
            return np.asarray(w @ self.hessian[0])
        return np.einsum("trs,ts->tr", self.hessian, w)

    def intercepts(self, change: Array) -> Array:
        """By how much the best intercepts change with w."""
        if not self.has_intercept:
            return np.zeros(change.shape[0])
        return np.asarray(-(self.slope + (self.edge * change).sum(axis=1)) / self.corner)


# ---------------------------------------------------------------------- loop
class State(NamedTuple):
    """A point and what is known there."""

    point: Point
    width: float  # of the smoothing
    sums: Sums  # their last width is that
    second: Derivatives  # of that width; those of an earlier point where no new ones were asked for
    bounds: Bounds
    part: float  # what the smoothing takes of the gap, in absolute terms
    is_fresh: bool  # whether the derivatives are those of this point


class Descent:
    """The state of the loop; everything is in scaled units.

    With ``options.rough`` it stops when the small problem promises to reach ``tol``, without a certificate.

    Attributes
    ----------
    state : State, the present one
    best, upper : the point with the least value, and that
    witness, lower : point and width whose β has the largest dual value, with its bounds, and that
    gap : float, of these two
    record : Recorder, its entries are in the caller's units
    """

    def __init__(
        self, rounds: Rounds, problem: Problem, units: Units, options: Options, start: tuple[Point, float]
    ) -> None:
        self.rounds, self.problem, self.units, self.options = rounds, problem, units, options
        self.record = Recorder.of(options)
        self.upper, self.lower = np.inf, -np.inf
        self.best = start[0]
        self.witness: tuple[Point, float, Bounds] | None = None
        self.n_idle, self.n_steps, self.n_undone, self.pace = 0, 1, 0, _PACE
        self.follows = self.is_there = False
        self.before_narrowing: State | None = None
        self.state = self._look(start[0], (start[1],), curvature=True)

    @property
    def gap(self) -> float:
        return max(relative_gap(self.upper, self.lower, self.problem.least_size), 0.0)  # rounding

    # ------------------------------------------------------------------ the loop
    def run(self) -> None:
        """Step until the gap is small enough; the results stay in the attributes."""
        while not self._note():
            if not self._step():
                self.record.stop(Status.OPTIMAL if self.gap <= self.options.tol else Status.STALLED)
                break
            if self.is_there:
                self.record.stop(Status.OPTIMAL)
                break

    def _note(self) -> bool:
        value = 1.0 / self.units.value
        entry = {
            "iteration": len(self.record.history),
            "objective": self.upper * value,
            "lower_bound": self.lower * value,
            "gap": self.gap,
            "n_active": int(np.count_nonzero(self.problem.norm.squares(self.best.w))),
            "smoothing": 0.0 if self.problem.loss.is_smooth else self.state.width * self.units.target,
        }
        return self.record.note(entry)

    # ------------------------------------------------------------------ rounds
    def _look(self, point: Point, widths: tuple[float, ...], curvature: bool) -> State:
        """The state at a point: one round. Its bounds are the best that one of the widths gives."""
        units = self.units
        query = Query(
            units.coefficients(point.w),
            point.b * units.target,
            tuple(width * units.target for width in widths),
            curvature,
        )
        sums, second = units.sums(self.rounds.sum(block_sums, self.problem.loss, query))
        found = [certify(self.problem, point, sums, i) for i in range(len(widths))]
        for width, bounds in zip(widths, found, strict=True):
            if bounds.upper < self.upper:
                self.upper, self.best = bounds.upper, point
            if bounds.lower > self.lower or self.witness is None:
                self.lower, self.witness = bounds.lower, (point, width, bounds)
        bounds = max(found, key=lambda bounds: bounds.lower)
        return State(
            point, widths[-1], sums, second or self.state.second, bounds, found[-1].smoothing_part,
            is_fresh=second is not None,
        )  # fmt: skip

    def _search_length(self, goal: Point) -> float:
        """The length at which the smoothed objective is least on the way to a goal: one round."""
        units, point = self.units, self.state.point
        line = Line(
            units.coefficients(point.w), point.b * units.target,
            units.coefficients(goal.w - point.w), (goal.b - point.b) * units.target,
            _LENGTHS, self.state.width * units.target,
        )  # fmt: skip
        losses = self.rounds.sum(line_sums, self.problem.loss, line) * units.value
        norms = [self.problem.norm.value(_between(point, goal, length).w) for length in _LENGTHS]
        return float(_LENGTHS[int(np.argmin(losses + np.array(norms)))])

    # ------------------------------------------------------------------ steps
    def _step(self) -> bool:
        """Go to a better point, or to a narrower smoothing; False when nothing more can be gained."""
        state = self.state
        expansion = expand(state.sums, state.second)
        before = self._value(state, -1)
        if not (np.isfinite(before) and expansion.is_finite):
            return False  # beyond floating point
        goal, expected = newton_goal(self.problem, state.point, expansion, _ACCURACY * self._tolerated())
        if self.options.rough and before - expected + state.part <= self._tolerated():
            self.state, self.is_there = state._replace(point=goal), True
            return True
        width = self._next_width(before - expected)
        if self.follows and width < state.width:
            if self._follow(expansion, width):
                return True
            width = self._next_width(before - expected)
        return self._move(goal, before, expected, width)

    def _move(self, goal: Point, before: float, expected: float, width: float) -> bool:
        """Newton's step; the sums at its end are at once those of the next width."""
        here = self.state.width
        there = self._look(goal, (here,) if width == here else (here, width), self._needs_curvature())
        change = self._value(there, 0) - before
        if not (change <= _FALL * (expected - before) or abs(change) <= _ROUNDING * abs(before)):
            del there  # its Hessians
            return self._shorten(goal, before)
        return self._accept(there, abs(change) > _ROUNDING * abs(before))

    def _shorten(self, goal: Point, before: float) -> bool:
        """A part of Newton's step; if it has to be short after the smoothing was narrowed, undo that."""
        length = self._search_length(goal)
        if self.n_steps == 0 and length < _SHORT:
            self._slow_down()
            self.follows = True
            if self.before_narrowing is not None and self.n_undone < _MOST_UNDONE:
                self.state, self.before_narrowing = self.before_narrowing, None
                self.n_undone += 1
                return True
        if length == 0.0:
            return self._narrow_here()
        there = self._look(_between(self.state.point, goal, length), (self.state.width,), curvature=True)
        return self._accept(there, abs(self._value(there, 0) - before) > _ROUNDING * abs(before))

    def _follow(self, expansion: Expansion, width: float) -> bool:
        """Narrow the smoothing, and go where its minimum is if the rows inside stay the same."""
        state = self.state
        narrow = expansion.narrowed(state.sums, self._parabola(state.width), self._parabola(width))
        goal, expected = newton_goal(self.problem, state.point, narrow, _ACCURACY * self._tolerated())
        del narrow  # as large as all Hessians
        there = self._look(goal, (width,), curvature=True)
        missed = self._value(there, 0) - expected
        if not missed <= _MISSED * state.part:
            self._slow_down()
            self.follows = False
            return False
        if missed <= (1.0 - _MISSED) * state.part:
            self.pace = max(self.pace**1.5, _FASTEST)
        return self._accept(there, True)

    def _narrow_here(self) -> bool:
        """No step brings anything at this width: the same point with a narrower one, if that is wanted."""
        width = _PACE * self.state.width
        if self.problem.loss.is_smooth or self.state.part <= _SHARE * self._tolerated() or width < _NARROWEST:
            return False
        return self._accept(self._look(self.state.point, (width,), curvature=True), True)

    def _accept(self, there: State, has_moved: bool) -> bool:
        """Go on from another state; False if the last ones brought nothing."""
        if there.width < self.state.width:
            self.before_narrowing = self.state if self._is_found(self.state) else None
            self.n_steps = 0
            has_moved = True
        else:
            self.n_steps += 1
            self.n_undone = 0
        better = there.bounds.gap < 0.9 * self.state.bounds.gap
        self.n_idle = 0 if has_moved or better else self.n_idle + 1
        self.state = there
        return self.n_idle < _PATIENCE

    # ------------------------------------------------------------------ what the steps go by
    def _value(self, state: State, which: int) -> float:
        """The smoothed objective, for one of the widths that were looked at."""
        return self.problem.norm.value(state.point.w) + float(state.sums.smoothed[which])

    def _tolerated(self) -> float:
        """The tolerated gap, in absolute terms."""
        return self.options.tol * max(abs(self.upper), self.problem.least_size)

    def _slow_down(self) -> None:
        self.pace = min(self.pace**0.5, _SLOWEST)

    def _is_found(self, state: State) -> bool:
        """Whether the gap is mostly that of the smoothing: the rows inside are the right ones."""
        return state.part >= _FOUND * state.bounds.gap * abs(state.bounds.upper)

    def _needs_curvature(self) -> bool:
        """Whether new derivatives are worth their cost: not if the next step is likely to be the last."""
        if not self.problem.loss.is_smooth:
            return True  # few rows have any
        last = _QUADRATIC * self.state.bounds.gap**2 <= self.options.tol
        return not (self.problem.loss.is_quadratic or (last and self.state.is_fresh))

    def _parabola(self, width: float) -> Parabola:
        assert isinstance(self.problem.loss, Kinked)
        return Parabola(width, self.problem.loss.start(width * self.units.target) / self.units.target)

    def _next_width(self, fall: float) -> float:
        """Narrower where the smoothing takes more than its share, and the present one has done its work."""
        part, allowed = self.state.part, _SHARE * self._tolerated()
        if self.problem.loss.is_smooth or part <= allowed:
            return self.state.width
        if self.follows:
            ready, factor = self._is_found(self.state), max(allowed / part, self.pace)
        else:
            ready, factor = fall <= _CLOSE * part, max((allowed / part) ** 0.5, self.pace, _FASTEST_MANY)
        return max(factor * self.state.width, _NARROWEST) if ready else self.state.width


def _between(start: Point, goal: Point, length: float) -> Point:
    return Point(start.w + length * (goal.w - start.w), start.b + length * (goal.b - start.b))
