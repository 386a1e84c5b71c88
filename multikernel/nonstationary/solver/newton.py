"""Newton's method with an active set for the projection: it makes the SMO converge and certifies the optimum.

The second-order step is that of Lewis, Jebara and Noble (2006), section 3.3; the active set, the certificate
and the order (after the sweeps, not between them) are ours.

On a face (see ``face``) the dual value is a quadratic that one linear system maximises. A climb takes the
step towards its maximum, as far as every dual stays nonnegative and every sample within its bound; what stops
it is fixed, and the next step starts from there, until a whole step fits. How the slopes change is known from
the system alone: the scores are brought up to date once, after the climb.

Where the duals are optimal on their face, the multipliers of Au = 0 are the offsets of the mixtures. They
bound the optimum from above, and show what is fixed wrongly: a dual at zero, or a sample at its bound, that
would gain by moving. Those are set free, the worst first, and the next climb starts.

Where the face determines no multipliers (every sample at zero or at its bound, say), this may go round in
circles. Then one linear program finds the vertex of the feasible set that the gradient g points to,

    max_v  g'v,    Av = 0,  v ≥ 0,  Σ_r v_tr ≤ C_t

The multipliers of Av = 0 are the offsets with which the present mixtures have the least primal value, and the
value of this program exceeds g'u by exactly the gap that they leave: v − u is a direction of ascent while
there is one.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from scipy.optimize import linprog

from ..._numba import HUGE, compiled, larger
from ...core.optim.loop import Status, has_deadline, is_over
from .components import Setting, State, add_scores, coefficients_of, dual_value, imbalance_of, rescore
from .face import Face, delete, face_of, gradient, insert, newton_step, null_step
from .mixtures import Array

_PART = 20  # rounds before it looks at the time
_BATCH = 20  # samples set free at a time at the start
_MOST = 10  # violators set free at a time
_SHARE = 0.1  # of the worst violation that another must have to be set free with it
_PATIENCE = 4  # rounds without a rise of the dual value
_ROUNDING = 1e-13  # relative: less is no rise
_INEXACT_SLOPE = 1e-6  # relative: slopes of a solved face above this tell that its factor has lost digits
_AT_BOUND = 1e-12  # relative
# Why rounds end.
_SOLVED, _IDLE, _INEXACT, _LIMIT = 0, 1, 2, 3


class Progress(NamedTuple):
    """The best dual value so far (1,), and the rounds (1,) without a rise of it."""

    best: Array
    idle: Array


class Quote(NamedTuple):
    """What the multipliers say of a solved face."""

    primal: float  # an upper bound of the optimum
    violations: Array  # (n,), by sample the worst
    # (n,) of int, the component of the dual to be set free, −1 to release the sample's bound
    entering: Array
    residual: float  # the largest reduced slope of what is free: zero where the face is solved
    scale: float  # the largest slope


def certify(setting: Setting, state: State, tol: float, max_newton: int) -> tuple[Array, int, Status]:
    """Climb from a feasible state, whose scores are up to date, to the optimum, in a maximum number of rounds
    at most.

    The gap is relative to 1 + |dual value|. Returns the multipliers of Au = 0, the rounds, and how it ended.
    """
    ascent = _Ascent(setting, state, tol)
    status = ascent.run(max_newton)
    return ascent.multipliers, ascent.n_iter, status


class _Ascent:
    """From face to face, the dual value rising."""

    def __init__(self, setting: Setting, state: State, tol: float) -> None:
        self.setting, self.state, self.tol = setting, state, tol
        self.multipliers = np.zeros(setting.kernels.size)
        self.progress = Progress(np.array([-HUGE]), np.zeros(1, np.int64))
        self.n_iter = 0
        self._settle()

    def _settle(self) -> None:
        """The face that the duals are on, solved."""
        self.face = face_of(self.setting)
        settle(self.setting, self.state, self.face, self.multipliers)

    def run(self, max_newton: int) -> Status:
        """Rounds until the gap is closed or nothing helps."""
        while self.n_iter < max_newton:
            most = min(max_newton - self.n_iter, _PART) if has_deadline() else max_newton - self.n_iter
            limits = self.tol, most
            end, done = ascend(self.setting, self.state, self.face, self.multipliers, self.progress, limits)
            self.n_iter += done
            if is_over():
                break
            if end == _LIMIT:
                continue
            rescore(self.setting, self.state)
            status = self._after(end)
            if status is not None:
                return status
        return Status.MAX_ITER

    def _after(self, end: int) -> Status | None:
        """What the end of the rounds asks for, with fresh scores; how the ascent ended, if it did."""
        if end == _IDLE:
            return self._step_to_vertex()
        if end == _INEXACT:
            self._settle()
            return None
        return Status.OPTIMAL if self._is_closed() else None

    def _is_closed(self) -> bool:
        primal = _primal_value(self.setting, self.state, self.face, self.multipliers)
        return bool(is_enough(primal, dual_value(self.setting, self.state), self.tol))

    def _step_to_vertex(self) -> Status | None:
        """Certify with the best multipliers there are, or move towards the vertex that they belong to."""
        found = best_vertex(self.setting, self.state)
        if found is None:
            return Status.STALLED
        self.multipliers = found.multipliers
        if self._is_closed():
            return Status.OPTIMAL
        if not found.advance(self.setting, self.state):
            return Status.STALLED
        self.progress.idle[0] = 0
        self._settle()
        return None


@compiled
def is_enough(primal: float, dual: float, tol: float) -> bool:
    """Whether the gap is closed, with some room for rounding."""
    return primal - dual <= 0.5 * tol * (1.0 + abs(dual))


@compiled
def ascend(
    setting: Setting,
    state: State,
    face: Face,
    multipliers: Array,
    progress: Progress,
    limits: tuple[float, int],
) -> tuple[int, int]:
    """Rounds from a solved face: judge it, set free the worst violators (fewer when the last rounds gained
    nothing), climb. Returns why they end, and their number."""
    tol, max_rounds = limits
    for done in range(1, max_rounds + 1):
        quote = price(setting, state, face, multipliers)
        dual = dual_value(setting, state)
        if is_enough(quote.primal, dual, tol):
            return _SOLVED, done
        rise, rounding = dual - progress.best[0], _ROUNDING * (1.0 + abs(dual))
        progress.best[0] = larger(dual, progress.best[0])
        progress.idle[0] = 0 if rise > rounding else progress.idle[0] + 1
        if progress.idle[0] > _PATIENCE:
            return _IDLE, done
        if rise < -rounding or quote.residual > _INEXACT_SLOPE * quote.scale:
            return _INEXACT, done
        scored = coefficients_of(setting, state)
        admit(setting, state, face, quote, max(_MOST >> (2 * progress.idle[0]), 1))
        climb(setting, state, face, multipliers)
        _score(setting, state, scored)
    return _LIMIT, max_rounds


@compiled
def _score(setting: Setting, state: State, scored: Array) -> None:
    """Bring the scores up to date; ``scored`` is the s that they belong to."""
    change = coefficients_of(setting, state)
    for c in range(change.shape[0]):
        for t in range(change.shape[1]):
            change[c, t] -= scored[c, t]
    add_scores(setting, state, change)


@compiled
def settle(setting: Setting, state: State, face: Face, multipliers: Array) -> None:
    """Set free what is positive, a few samples at a time: most of it goes to zero while the face is small."""
    n_components, n = state.duals.shape
    for first in range(0, n, _BATCH):
        scored = coefficients_of(setting, state)
        for t in range(first, min(first + _BATCH, n)):
            if state.totals[t] >= setting.bounds[t] * (1.0 - _AT_BOUND) and face.pivots[t] < 0:
                keep_at_bound(setting, state, face, t, _largest(state, t))
            for c in range(n_components):
                if state.duals[c, t] > 0.0 and not face.member[c, t]:
                    set_free(setting, state, face, t, c)
        climb(setting, state, face, multipliers)
        _score(setting, state, scored)


@compiled
def _largest(state: State, t: int) -> int:
    best = 0
    for c in range(1, state.duals.shape[0]):
        if state.duals[c, t] > state.duals[best, t]:
            best = c
    return best


@compiled
def _primal_value(setting: Setting, state: State, face: Face, multipliers: Array) -> float:
    """For callers in Python, which get a number and no class: see :func:`multikernel.core.svm.smo.smo`."""
    return price(setting, state, face, multipliers).primal


@compiled
def price(setting: Setting, state: State, face: Face, multipliers: Array) -> Quote:
    """Judge the multipliers; the slopes of the free directions are computed afresh."""
    n_components, n = state.duals.shape
    violations, entering = np.zeros(n), np.full(n, -1)
    primal = 0.0
    for t in range(n):
        begin, end = setting.ranges[setting.sides[t]]
        expected, worst, charge, pivot = 0.0, 0.0, 0.0, face.pivots[t]
        for c in range(n_components):
            expected += setting.shares[c, t] * multipliers[c]
            s = state.totals[t] * setting.shares[c, t] - state.duals[c, t]
            primal += 0.5 * s * state.scores[c, t]
        if pivot >= 0:
            charge = gradient(setting, state, pivot, t) + expected - multipliers[pivot]
            violations[t] = larger(-charge, 0.0)
        for c in range(begin, end):
            reduced = gradient(setting, state, c, t) + expected - multipliers[c]
            worst = larger(worst, reduced)
            if not face.member[c, t] and reduced - charge > violations[t]:
                violations[t], entering[t] = reduced - charge, c
        primal += setting.bounds[t] * worst
    residual, scale = _refresh(setting, state, face, multipliers)
    return Quote(primal, violations, entering, residual, scale)


@compiled
def _refresh(setting: Setting, state: State, face: Face, multipliers: Array) -> tuple[float, float]:
    """Slopes from the scores; the largest reduced one, and the largest."""
    residual, scale = 0.0, 0.0
    for a in range(face.size[0]):
        t, c = face.samples[a], face.components[a]
        slope = gradient(setting, state, c, t)
        scale = larger(scale, abs(slope))
        if face.pivots[t] >= 0:
            slope -= gradient(setting, state, face.pivots[t], t)
        face.slopes[a] = slope
        for j in range(multipliers.size):
            slope += face.columns[a, j] * multipliers[j]
        residual = larger(residual, abs(slope))
    return residual, scale


@compiled
def admit(setting: Setting, state: State, face: Face, quote: Quote, most: int) -> None:
    """Set free what is fixed most wrongly."""
    worst = 0.0
    for _ in range(most):
        t: Any = np.int64(0)  # a literal would have the functions that get it compiled twice
        for s in range(1, quote.violations.size):
            if quote.violations[s] > quote.violations[t]:
                t = s
        worst = larger(worst, quote.violations[t])
        if quote.violations[t] <= _SHARE * worst:
            return
        quote.violations[t] = 0.0
        if quote.entering[t] >= 0:
            set_free(setting, state, face, t, quote.entering[t])
        else:
            _release(setting, state, face, t)


@compiled
def _release(setting: Setting, state: State, face: Face, t: int) -> None:
    """The sample leaves its bound: its positive duals move each on its own."""
    free = np.zeros(state.duals.shape[0], np.bool_)
    for c in range(free.size):
        free[c] = face.member[c, t]
    for a in range(face.size[0] - 1, -1, -1):
        if face.samples[a] == t:
            delete(face, a)
    face.pivots[t] = -1
    for c in range(free.size):
        if free[c]:
            set_free(setting, state, face, t, c)


# ------------------------------------------------------------------ climbs on a face
@compiled
def climb(setting: Setting, state: State, face: Face, multipliers: Array) -> int:
    """Newton steps until a whole one fits; returns how many were cut. The scores are left as they were."""
    imbalance = imbalance_of(setting, state)
    cuts = 0
    while True:
        step = newton_step(face, imbalance, multipliers)
        length, direction, sample = _longest(setting, state, face, step, 1.0)
        _advance(state, face, step, length)
        _update_slopes(face, step, length, multipliers, imbalance)
        for j in range(imbalance.size):
            imbalance[j] *= 1.0 - length
        if direction < 0 and sample < 0:
            return cuts
        _fix(setting, state, face, direction, sample)
        cuts += 1


@compiled
def _longest(
    setting: Setting, state: State, face: Face, step: Array, length: float
) -> tuple[float, int, int]:
    """How far a step can go, at most ``length``, and the direction or the sample that stops it."""
    direction, sample = -1, -1
    moves = np.empty(state.totals.size)
    for a in range(step.size):
        moves[face.samples[a]] = 0.0
    for a in range(step.size):
        t = face.samples[a]
        moves[t] += step[a]
        u = state.duals[face.components[a], t]
        if u + length * step[a] < 0.0:
            length, direction = u / -step[a], a
    for a in range(step.size):
        t = face.samples[a]
        if moves[t] > 0.0:
            pivot = face.pivots[t]
            room = setting.bounds[t] - state.totals[t] if pivot < 0 else state.duals[pivot, t]
            if room < length * moves[t]:
                length, direction, sample = larger(room / moves[t], 0.0), -1, t
    return length, direction, sample


@compiled
def _advance(state: State, face: Face, step: Array, length: float) -> None:
    for a in range(step.size):
        t, c, x = face.samples[a], face.components[a], length * step[a]
        state.duals[c, t] = larger(state.duals[c, t] + x, 0.0)
        if face.pivots[t] < 0:
            state.totals[t] += x
        else:
            state.duals[face.pivots[t], t] -= x
    for a in range(step.size):
        t = face.samples[a]
        pivot = face.pivots[t]
        if pivot >= 0:  # only now: what one direction takes from the pivot another may give
            state.duals[pivot, t] = larger(state.duals[pivot, t], 0.0)


@compiled
def _update_slopes(face: Face, step: Array, length: float, multipliers: Array, imbalance: Array) -> None:
    """slopes − length · Hx, with Hx from the system that the step solves."""
    for a in range(step.size):
        product = face.slopes[a] - face.ridges[a] * step[a]
        for j in range(imbalance.size):
            product += face.columns[a, j] * (multipliers[j] + face.constants[j] * imbalance[j])
        face.slopes[a] -= length * product


@compiled
def _fix(setting: Setting, state: State, face: Face, direction: int, sample: int) -> None:
    """What stopped a step is fixed."""
    if direction >= 0:
        state.duals[face.components[direction], face.samples[direction]] = 0.0
        delete(face, direction)
    else:
        _turn(setting, state, face, sample)


@compiled
def _turn(setting: Setting, state: State, face: Face, t: int) -> None:
    """A sample has come to its bound, or the pivot of one at its bound has come to zero: the largest dual
    of the sample's directions is the pivot from now on."""
    if face.pivots[t] >= 0:
        state.duals[face.pivots[t], t] = 0.0
        face.member[face.pivots[t], t] = False
    n_components = state.duals.shape[0]
    slopes, free = np.zeros(n_components), np.zeros(n_components, np.bool_)
    pivot: Any = np.int64(-1)  # a literal would have the functions that get it compiled twice
    for a in range(face.size[0] - 1, -1, -1):
        if face.samples[a] == t:
            c = face.components[a]
            slopes[c], free[c] = face.slopes[a], True
            if pivot < 0 or state.duals[c, t] > state.duals[pivot, t]:
                pivot = c
            delete(face, a)
    keep_at_bound(setting, state, face, t, pivot)
    for c in range(n_components):
        if free[c] and c != pivot:
            insert(setting, face, t, c, slopes[c] - slopes[pivot])


@compiled
def keep_at_bound(setting: Setting, state: State, face: Face, t: int, pivot: int) -> None:
    """λ_t = C_t exactly, the pivot answers for it."""
    rest = 0.0
    for c in range(state.duals.shape[0]):
        if c != pivot:
            rest += state.duals[c, t]
    state.duals[pivot, t] = larger(setting.bounds[t] - rest, 0.0)
    state.totals[t] = setting.bounds[t]
    face.pivots[t] = pivot
    face.member[pivot, t] = True


@compiled
def set_free(setting: Setting, state: State, face: Face, t: int, c: int) -> None:
    slope = gradient(setting, state, c, t)
    if face.pivots[t] >= 0:
        slope -= gradient(setting, state, face.pivots[t], t)
    if insert(setting, face, t, c, slope):
        _slide(setting, state, face)


@compiled
def _slide(setting: Setting, state: State, face: Face) -> None:
    """Along a combination of directions that leaves the mixtures as they are, until a dual or a sample stops
    it: the directions stay independent, and as few as the kernels' rank needs."""
    step = null_step(face)
    length, direction, sample = _longest(setting, state, face, step, HUGE)
    if direction < 0 and sample < 0:
        return
    _advance(state, face, step, length)
    _fix(setting, state, face, direction, sample)


# ------------------------------------------------------------------ the vertex
@dataclass(frozen=True)
class Vertex:
    """The vertex v, (n_components, n), and the multipliers (n_components,) that belong to it."""

    duals: Array
    multipliers: Array

    def advance(self, setting: Setting, state: State) -> bool:
        """Go towards the vertex as far as the dual value rises; False where it does not."""
        move = self.duals - state.duals
        change = move.sum(axis=0) * setting.shares - move
        slope = float((move * gradients(setting, state)).sum())
        curvature = 0.0
        for c, kernel in enumerate(setting.kernels):
            curvature += float(change[c] @ (setting.Ks[kernel] @ change[c]))
        length = min(1.0, slope / curvature) if curvature > 0.0 else 1.0
        if not slope > 0.0:
            return False
        scored = coefficients_of(setting, state)
        state.duals[:] = np.maximum(state.duals + length * move, 0.0)
        state.totals[:] = state.duals.sum(axis=0)
        add_scores(setting, state, coefficients_of(setting, state) - scored)
        return True


def gradients(setting: Setting, state: State) -> Array:
    """Of the dual value, (n_components, n); of no meaning for the components of the sample's own class."""
    return np.asarray(setting.linear - state.own + state.scores)


def best_vertex(setting: Setting, state: State) -> Vertex | None:
    """Solve the linear program; None if its solver fails."""
    n_components, n = state.duals.shape
    begin, end = setting.ranges[setting.sides].T
    numbers = np.arange(n_components)[:, None]
    components, samples = np.nonzero((begin <= numbers) & (numbers < end))
    columns = setting.shares[:, samples].copy()
    columns[components, np.arange(samples.size)] -= 1.0
    places = np.arange(samples.size)
    totals = scipy.sparse.csr_matrix((np.ones(samples.size), (samples, places)), shape=(n, samples.size))
    found = linprog(
        -gradients(setting, state)[components, samples],
        A_ub=totals,
        b_ub=setting.bounds,
        A_eq=columns[:-1],
        b_eq=np.zeros(n_components - 1),
        method="highs",
    )
    if found.status != 0:
        return None
    duals = np.zeros_like(state.duals)
    duals[components, samples] = np.maximum(found.x, 0.0)
    return Vertex(duals, np.append(found.eqlin.marginals, 0.0))
