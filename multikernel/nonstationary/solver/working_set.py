"""The projection by the interior point method on those constraints that matter.

In the primal, leaving out a dual variable u_tr leaves out the constraint that component r puts on sample t.
Most of them are slack at the optimum: of the samples far from the other class all, of the others those of
components that are not the largest. So the method solves a part, looks at what was left out, adds what is
violated, and ends when the gap *of the whole problem* is within the tolerance: exact, not a heuristic. In
mode "full" every component of a sample counts, so that samples come and go whole.
"""

from dataclasses import replace

import numpy as np

from ...core.optim.loop import Status, is_over
from .interior_point import interior_point
from .mixtures import SIDES, Array, Mixtures, Pair, Point
from .projection import Projected, Projection, dense_program, finish, select

_SMALL = 400  # so many variables are all taken at once
_FIRST = 800  # variables to begin with, where nothing is known
_MORE = 100  # violated constraints that are added at a time, at least
_GROWTH = 1.0  # or this part of those that are there
_NEAR = 0.03  # constraints slack by less than this part of the margin are kept for the next projection
_CLOSE = 0.01  # what is slack by less than this part of the margin is added beside what is violated
_UNUSED = 1e-3  # variables below this part of the largest go again, while the solution is rough
_EACH = 3  # samples that hold down each component of the other class, at least: it would rise for ever
_MAX_ROUNDS = 80
_MOST_WORK = 1e12  # arithmetic operations, about half a minute: no part is begun after so many
_STEP = 1e7  # operations that the time of an iteration stands for beside its Cholesky factor
_ROUGH, _FINER = 1e-3, 0.01  # accuracy of the first part, and by how much that of the later ones falls


def project_interior(projection: Projection, *, tol: float = 1e-8, masks: Pair | None = None) -> Projected:
    """Solve the projection to a gap of ``tol`` (scale + |J|).

    ``masks``, shaped as the duals, tell the variables to begin with: ``likely`` in a similar projection.
    """
    current = _begin(projection) if masks is None else (masks[0].copy(), masks[1].copy())
    part, n_before = _Part(projection, current, tol), 0
    accuracy = max(0.5 * tol, _ROUGH)
    best: Projected | None = None
    highest, work = -np.inf, 0.0
    for _ in range(_MAX_ROUNDS):
        accuracy = 0.5 * tol if part.whole else accuracy
        found = part.solve(accuracy, n_before)
        if best is None or found.error < best.error:
            best = found
        work += part.work
        if found.status == Status.OPTIMAL or part.whole or work > _MOST_WORK or is_over():
            break
        risen = found.dual > highest + 2.0 * accuracy * (found.scale + abs(found.dual))
        highest = max(highest, found.dual)
        if accuracy >= _ROUGH and risen:  # or what goes could come back, and go again
            kept = likely(projection, found, _UNUSED)
            current = current[0] & kept[0], current[1] & kept[1]
        n_added = _grow(current, projection, found.point)
        if n_added == 0 and accuracy <= 0.5 * tol:  # rounding: nothing is violated, yet the gap is too large
            break
        if n_added == 0 or found.gap < 10.0 * accuracy:
            accuracy = max(0.5 * tol, _FINER * accuracy)
        if n_added:
            part, n_before = _Part(projection, current, tol), found.n_iter
    assert best is not None
    return replace(best, work=work)


class _Part:
    """The problem on the variables of the masks."""

    def __init__(self, projection: Projection, masks: Pair, tol: float) -> None:
        _hold_every_component(masks, projection)
        self.projection, self.tol = projection, tol
        self.whole = bool(masks[0].all() and masks[1].all())
        self.variables = select((masks[0].copy(), masks[1].copy()))
        self.method = interior_point(dense_program(projection, self.variables))

    def solve(self, accuracy: float, n_before: int) -> Projected:
        """Go on to this accuracy of the part, and judge what comes out on the whole problem."""
        before = self.method.n_iter
        solution = self.method.follow(accuracy)
        self.work = (self.method.n_iter - before + 1) * (_STEP + self.variables.replica.size**3 / 3.0)
        M = self.projection.mixtures.sizes[0]
        return finish(
            self.projection,
            self.variables.spread(solution.u),
            (-solution.y[:M], solution.y[M:]),
            tol=self.tol,
            n_iter=n_before + self.method.n_iter,
            status=solution.status,
        )


def likely(projection: Projection, found: Projected, least: float = 1e-6) -> Pair:
    """The variables that probably matter when the posteriors change a little, or the solution was rough.

    Those above ``least`` times the largest, and those of constraints that are nearly attained.
    """
    shortfalls = projection.shortfalls(found.point)
    slacks = projection.slacks(shortfalls)
    mixtures = projection.mixtures
    masks = []
    for side in SIDES:
        reach = _NEAR * np.abs(mixtures.margins[mixtures.rows[side]])
        near = shortfalls[side] > (slacks[side] - reach)[:, None]
        used = found.duals[side] > least * float(found.duals[side].max(initial=0.0))
        masks.append(_by_mode(near | used, mixtures))
    return masks[0], masks[1]


def _begin(projection: Projection) -> Pair:
    """All variables of a small problem; of a large one those of some samples, spread over each class."""
    shapes = [values.shape for values in projection.linear]
    total = sum(rows * columns for rows, columns in shapes)
    masks = []
    for rows, columns in shapes:
        mask = np.full((rows, columns), total <= _SMALL)
        n_chosen = min(rows, max(2, _FIRST * rows * columns // (total * columns)))
        mask[np.linspace(0, rows - 1, n_chosen).astype(int)] = True
        masks.append(mask)
    return masks[0], masks[1]


def _by_mode(mask: Array, mixtures: Mixtures) -> Array:
    """In mode "full" the samples of the mask, with all their variables."""
    if mixtures.mode != "full":
        return mask
    return np.repeat(mask.any(axis=1, keepdims=True), mask.shape[1], axis=1)


def _hold_every_component(masks: Pair, projection: Projection) -> None:
    """See to it that every component is held down by some samples of the other class."""
    for side in SIDES:
        mask = masks[side]
        for component in np.flatnonzero(mask.sum(axis=0) < min(_EACH, len(mask))):
            chosen = np.linspace(0, len(mask) - 1, _EACH).astype(int)
            mask[chosen, component] = True
        mask[:] = _by_mode(mask, projection.mixtures)


def _grow(masks: Pair, projection: Projection, point: Point) -> int:
    """Add the constraints that the point violates most, and with them those it nearly does; how many."""
    shortfalls = projection.shortfalls(point)
    mixtures = projection.mixtures
    excess = []
    for side in SIDES:
        inside = np.where(masks[side], shortfalls[side], -np.inf).max(axis=1)
        beyond = shortfalls[side] - np.maximum(inside, 0.0)[:, None]
        if mixtures.mode == "full":  # a sample that is left out counts by the log-sum-exp
            beyond = np.broadcast_to(projection.slacks(shortfalls)[side][:, None], beyond.shape)
        reach = _CLOSE * np.abs(mixtures.margins[mixtures.rows[side]])
        excess.append(np.where(masks[side], -np.inf, beyond / reach[:, None]))
    every = np.concatenate([part.ravel() for part in excess])
    if not (every > 0.0).any():
        return 0
    candidates = np.flatnonzero(every > -1.0)
    limit = max(_MORE, int(_GROWTH * (masks[0].sum() + masks[1].sum())))
    worst = candidates[np.argsort(-every[candidates], kind="stable")[:limit]]
    n_first = masks[0].size
    masks[0].flat[worst[worst < n_first]] = True
    masks[1].flat[worst[worst >= n_first] - n_first] = True
    return int(worst.size)
