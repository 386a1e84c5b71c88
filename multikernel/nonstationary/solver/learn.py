"""Learn the mixtures: turns of posteriors and projections, each of which lowers Φ.

Jensen's bound is the tangent of a convex function, so this is the concave–convex procedure on Φ. A turn takes
the posteriors q of the point w and projects. The value J of that convex problem bounds what the turn can
reach, so that

    Φ(w) − J(q(w)) ≥ 0

says how far w is from a point that no further turn improves, and zero that it is one. The loop ends when
this, relative to Φ, is within ``tol`` and falling, and returns the point of which that was certified. It is
no certificate of a global minimum: the problem is not convex, and several starts may end in several points.

The loop begins with posteriors of every sample over the components of its class. Uniform ones are a good
start when the kernels differ, and no start at all when two components of a class share a kernel: they then
stay equal for ever. There the starts are drawn: every other one assigns each sample to a component at random,
the rest by kernel k-means within the class. Either kind alone can be a trap.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ...core.optim.loop import ENDED_EARLY, Options, Recorder, Result, Status, is_over
from .mixtures import SIDES, Array, Mixtures, Pair, Point
from .projection import Projected, Projection
from .smo import project_smo
from .working_set import likely, project_interior

SOLVERS = ("ipm", "smo")

_FLOOR = 1e-8  # least posterior: a component without any could never be used again
_UNCHANGED = 3e-8
_EXACT = 1e-10  # accuracy where one projection is the whole problem
_PART_OF_GAP, _FINE, _COARSE = 0.01, 1e-3, 0.1  # of the gap; and bounds of it, in units of the tolerance
_DEAD = 1e-6  # a component with less than this part of the mass of its class is not used
_NEGLIGIBLE = 1e-8
_LEAST = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)  # samples below this part of the largest go, if they can
_CROSSED = 1e-6
_ALIKE = 1e-5  # posteriors that differ by less
_SETTLED = 0.01  # a gap below this part of the tolerance is small, whatever it was before
_UNBALANCED = 1e-5  # duals further out of balance than this bound nothing
_HARD_STEPS = 7
_SEPARATED = 1e-6
_SAME = 1e-10  # relative: kernels that differ by less are one
_MANY = 8  # starts where a kernel occurs again
_RESTARTS, _ROUNDS = 5, 30  # of kernel k-means


class Effort(NamedTuple):
    """Arithmetic operations that the turns of one start may take, and those after which no start is begun."""

    turns: float = np.inf
    starts: float = np.inf


_ANY_EFFORT = Effort()


@dataclass(frozen=True)
class MixturesResult(Result):
    """Learned mixtures.

    ``gap`` is (Φ − J) / max(scale, Φ), the certificate of stationarity; infinite where there is none.
    """

    point: Point  # the mixtures on the training samples; unused components have the offset −∞
    indifferent: float  # Φ of mixtures that say the same of every sample
    n_fallbacks: int  # projections from all starts that SMO left to the interior point method
    # whether bounds crossed, which positive semidefinite kernels cannot make them do
    suspicious: bool = False
    objectives: list[float] = field(default_factory=list)  # Φ of every start


def learn_mixtures(
    mixtures: Mixtures,
    starts: Sequence[Pair],
    *,
    solver: str = "ipm",
    options: Options | None = None,
    effort: Effort = _ANY_EFFORT,
) -> MixturesResult:
    """Run the loop from every start, posteriors (n_positive, M) and (n_negative, N); keep the least Φ."""
    options = options or Options(max_iter=30)
    runs, work = [], 0.0
    for number, start in enumerate(starts):
        run = _Run(mixtures, solver, options, number, effort.turns)
        runs.append(run.go(start))
        work += run.work
        mean = work / len(runs)
        if runs[-1].status in ENDED_EARLY or work + mean > effort.starts:
            break
    best = min(runs, key=lambda run: run.objective)
    return replace(
        best,
        status=runs[-1].status if runs[-1].status in ENDED_EARLY else best.status,
        objectives=[run.objective for run in runs],
        n_fallbacks=sum(run.n_fallbacks for run in runs),
    )


class _Run:
    """The loop from one start."""

    def __init__(
        self, mixtures: Mixtures, solver: str, options: Options, number: int, allowed: float = np.inf
    ) -> None:
        self.mixtures, self.solver, self.options, self.number = mixtures, solver, options, number
        self.allowed, self.work, self.newest = allowed, 0.0, 0.0  # operations: of all turns, of the newest
        self.convex = max(mixtures.sizes) == 1
        self.point: Point | None = None
        self.value = self.gap = np.inf
        self.masks: Pair | None = None
        self.n_fallbacks, self.suspicious = 0, False
        self.record = Recorder(callback=options.callback)

    def go(self, posteriors: Pair) -> MixturesResult:
        status, iteration = Status.MAX_ITER, 0
        for iteration in range(1, self.options.max_iter + 1):
            ended = self._turn(_floored(posteriors))
            if self.record.note(self._entry(iteration), reached=False):
                self.gap = self.gap if ended is not None else np.inf  # nobody has judged the newest point
                ended = self.record.status
            if ended is not None:
                status = ended
                break
            assert self.point is not None
            posteriors = self.mixtures.posteriors(self.point)
            if self.work + 2.0 * self.newest > self.allowed:  # one more, and the one that judges the point
                break
        assert self.point is not None
        if status == Status.MAX_ITER:  # the gap is still that of the point before the last
            self._judge(self._project(Projection(self.mixtures, _floored(posteriors))))
            status = Status.OPTIMAL if self.gap <= self.target else Status.MAX_ITER
        room = _FINE * self.options.tol
        point = compact(self.mixtures, self.point, min(_NEGLIGIBLE, room) if self.convex else room)
        objective = self.mixtures.objective(point)
        return MixturesResult(
            point=point,
            objective=objective,
            indifferent=self.mixtures.indifferent,
            gap=self.gap + max(0.0, objective - self.value) / max(self.mixtures.scale, self.value),
            n_iter=iteration,
            n_fallbacks=self.n_fallbacks,
            status=status,
            suspicious=self.suspicious,
            history=self.record.history,
        )

    @property
    def target(self) -> float:
        """The gap to reach: a little less than the tolerance, which `compact` may use up."""
        return (1.0 - _FINE) * self.options.tol

    def _turn(self, posteriors: Pair) -> Status | None:
        """Project; None if the loop is to go on from the new point."""
        projection = Projection(self.mixtures, posteriors)
        found = self._project(projection)
        self.suspicious |= found.gap < -_CROSSED or found.point.norm < -_CROSSED * abs(found.primal)
        if self.point is not None:
            before = self.gap
            self._judge(found)
            if self._has_settled(before):
                return Status.OPTIMAL
        value = self.mixtures.objective(found.point)
        if not value < self.value:
            return Status.OPTIMAL if self.gap <= self.target else Status.STALLED
        self.point, self.value = found.point, value
        after = _floored(self.mixtures.posteriors(found.point))
        if max(float(np.abs(after[s] - posteriors[s]).max()) for s in SIDES) <= _UNCHANGED:
            self._judge(found)
            return Status.OPTIMAL if self.gap <= self.target else Status.STALLED
        return None

    def _has_settled(self, before: float) -> bool:
        """Whether the gap is small and falling: near a saddle it grows, from next to nothing."""
        return self.gap <= _SETTLED * self.target or (self.gap <= self.target and self.gap < before < np.inf)

    def _judge(self, found: Projected) -> None:
        """The gap of the point, whose own projection this is.

        Where scores differ hugely the floor of the posteriors counts, and a dual far above Φ says nothing.
        """
        bounded = found.status == Status.OPTIMAL or found.imbalance <= _UNBALANCED
        gap = (self.value - found.dual) / max(self.mixtures.scale, abs(self.value))
        self.gap = max(gap, 0.0) if bounded and gap >= -max(_CROSSED, self.options.tol) else np.inf

    @property
    def accuracy(self) -> float:
        """Of a projection: a small part of what is still to gain; exact where one is the whole problem."""
        if self.convex:
            return _EXACT
        return float(np.clip(_PART_OF_GAP * self.gap, _FINE * self.options.tol, _COARSE * self.options.tol))

    def _project(self, projection: Projection) -> Projected:
        if self.solver == "smo":
            found = project_smo(projection, tol=self.accuracy)
            if found.status == Status.OPTIMAL or is_over():
                return found
            self.n_fallbacks += 1
        found = project_interior(projection, tol=self.accuracy, masks=self.masks)
        self.newest = found.work
        self.work += found.work
        self.masks = likely(projection, found)
        return found

    def _entry(self, iteration: int) -> dict[str, Any]:
        assert self.point is not None
        return {
            "start": self.number,
            "iteration": iteration,
            "objective": self.value,
            "gap": self.gap,
            "n_active": sum(int(np.count_nonzero(~dead)) for dead in unused(self.mixtures, self.point)),
        }


def learn_separating(mixtures: Mixtures, starts: Sequence[Pair], **keywords: Any) -> MixturesResult | None:
    """The hard margin: no sample may fall short of its margin. None if no such mixtures were found.

    The bound of the duals is an exact price: with one that no dual attains, nothing falls short. It is raised
    from one that suits the kernels' size, from the posteriors reached so far.
    """
    size = min(float(mixtures.diagonals[k].mean()) for side in SIDES for k in mixtures.kernels[side])
    for power in range(2, 2 + _HARD_STEPS):
        bounded = replace(mixtures, bounds=np.full(mixtures.n_samples, 10.0**power / size))
        result = learn_mixtures(bounded, starts, **keywords)
        shortage = (result.objective - 0.5 * result.point.norm) / bounded.bounds[0]
        if shortage <= _SEPARATED or result.status in ENDED_EARLY:
            return result
        starts = [*starts, bounded.posteriors(result.point)][-max(1, len(starts)) :]
    return None


def unused(mixtures: Mixtures, point: Point) -> Pair:
    """Which components of both mixtures have no part in the samples of their class that hold the boundary."""
    return _unused(mixtures, point, 0), _unused(mixtures, point, 1)


def _unused(mixtures: Mixtures, point: Point, side: int) -> Array:
    mass = point.coefficients[side][:, mixtures.rows[side]].sum(axis=1)
    return np.asarray((mass <= _DEAD * mass.sum()) & (mass.sum() > 0.0))


def compact(mixtures: Mixtures, point: Point, tol: float) -> Point:
    """The point without the components and samples that have no part in it; Φ may rise by ``tol`` of it.

    An unused component may still explain samples far from the boundary; it goes only if Φ and all posteriors
    stay, so that the certificate holds. Where
    offsets alone keep all margins no sample has a part: coefficients are then the rests that a solver leaves.
    """
    alone = mixtures.point(
        (np.zeros_like(point.coefficients[0]), np.zeros_like(point.coefficients[1])), point.offsets
    )
    if mixtures.objective(alone) <= _NEGLIGIBLE * mixtures.indifferent:
        return alone
    value = mixtures.objective(point)
    limit = value + tol * max(mixtures.scale, value)

    def keeps(other: Point) -> bool:
        return mixtures.objective(other) <= limit and _explain_alike(mixtures, other, point)

    fewer = _without_unused(mixtures, point)
    fewer = fewer if keeps(fewer) else point
    return next(filter(keeps, (_without_small(mixtures, fewer, least) for least in _LEAST)), fewer)


def _explain_alike(mixtures: Mixtures, point: Point, other: Point) -> bool:
    """Whether the posteriors of two points are the same: what was certified of one holds of the other."""
    pairs = zip(mixtures.posteriors(point), mixtures.posteriors(other), strict=True)
    return all(float(np.abs(a - b).max()) <= _ALIKE for a, b in pairs)


def _without_unused(mixtures: Mixtures, point: Point) -> Point:
    dead = unused(mixtures, point)
    offsets = tuple(np.where(dead[s], -np.inf, point.offsets[s]) for s in SIDES)
    coefficients = tuple(np.where(dead[s][:, None], 0.0, point.coefficients[s]) for s in SIDES)
    return mixtures.point((coefficients[0], coefficients[1]), (offsets[0], offsets[1]))


def _without_small(mixtures: Mixtures, point: Point, least: float) -> Point:
    size = sum(np.abs(point.coefficients[s]).sum(axis=0) for s in SIDES)
    kept = size > least * size.max()
    coefficients = tuple(np.where(kept, point.coefficients[s], 0.0) for s in SIDES)
    return mixtures.point((coefficients[0], coefficients[1]), point.offsets)


def _floored(posteriors: Pair) -> Pair:
    raised = tuple(q + _FLOOR for q in posteriors)
    return raised[0] / raised[0].sum(axis=1, keepdims=True), raised[1] / raised[1].sum(axis=1, keepdims=True)


# ------------------------------------------------------------------ starts
def n_starts(mixtures: Mixtures) -> int:
    """How many starts are sensible: one if the kernels differ, several if one occurs again in a class."""
    return _MANY if has_twins(mixtures) else 1


def has_twins(mixtures: Mixtures) -> bool:
    """Whether two components of a class have the same kernel, by its index or by its values."""
    return any(
        _same(mixtures.Ks, int(a), int(b))
        for kernels in mixtures.kernels
        for position, a in enumerate(kernels)
        for b in kernels[:position]
    )


def _same(Ks: Array, a: int, b: int) -> bool:
    if a == b:
        return True
    difference = np.abs(Ks[a][0] - Ks[b][0]).max()  # one row tells most kernels apart
    size = np.abs(Ks[a]).max()
    return bool(difference <= _SAME * size and np.abs(Ks[a] - Ks[b]).max() <= _SAME * size)


def draw_starts(mixtures: Mixtures, n_init: int, generator: np.random.Generator) -> list[Pair]:
    """``n_init`` pairs of posteriors, (n_positive, M) and (n_negative, N)."""
    uniform = _uniform(mixtures, 0), _uniform(mixtures, 1)
    twins = has_twins(mixtures)
    starts = [] if twins else [uniform]
    while len(starts) < n_init:
        draw = _assigned_at_random if len(starts) % 2 == 0 else _clustered
        starts.append((draw(mixtures, 0, generator), draw(mixtures, 1, generator)))
    if twins and n_init >= _MANY:  # equal twins are not the aim, but nothing should be worse
        starts[-1] = uniform
    return starts[:n_init]


def _uniform(mixtures: Mixtures, side: int) -> Array:
    size = mixtures.sizes[side]
    return np.full((mixtures.rows[side].size, size), 1.0 / size)


def _assigned_at_random(mixtures: Mixtures, side: int, generator: np.random.Generator) -> Array:
    size = mixtures.sizes[side]
    return np.eye(size)[generator.integers(size, size=mixtures.rows[side].size)]


def _clustered(mixtures: Mixtures, side: int, generator: np.random.Generator) -> Array:
    rows, size = mixtures.rows[side], mixtures.sizes[side]
    K = sum(mixtures.Ks[kernel][np.ix_(rows, rows)] for kernel in mixtures.kernels[side]) / size
    runs = [_kernel_means(np.asarray(K), size, generator) for _ in range(_RESTARTS)]
    return min(runs, key=lambda run: run[1])[0]


def _kernel_means(K: Array, size: int, generator: np.random.Generator) -> tuple[Array, float]:
    """One run of kernel k-means: 0/1 memberships, and the sum of squared distances to the means."""
    members = np.eye(size)[generator.integers(size, size=len(K))]
    for _ in range(_ROUNDS):
        shares = members / np.maximum(members.sum(axis=0), 1.0)
        products = K @ shares
        distances = np.diagonal(K)[:, None] - 2.0 * products + (shares * products).sum(axis=0)
        moved = np.eye(size)[distances.argmin(axis=1)]
        if (moved == members).all():
            break
        members = moved
    return members, float((members * distances).sum())
