"""Newton's method with an active set for the projection: it makes the SMO converge and certifies the optimum.

Where the duals are optimal on their face (see ``climb``), the multipliers of Au = 0 are the offsets of the
mixtures. They bound the optimum from above, and show what is fixed wrongly: a dual at zero, or a sample at
its bound, that would gain by moving. Those are set free, the worst first, and the next climb starts.

Where the face determines no multipliers (every sample at zero or at its bound, say), this may go round in
circles. Then one linear program finds the multipliers with the least upper bound, and by its duality the
vertex that the gradient points to; a step towards it raises the dual value as long as there is a gap.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._numba import HUGE, compiled, larger
from ...core.optim.loop import Status
from .climb import climb, keep_at_bound, set_free
from .components import Setting, State, add_scores, coefficients_of, dual_value, rescore
from .face import Face, delete, face_of, gradient
from .mixtures import Array
from .vertex import best_vertex

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
    """What the multipliers say of a solved face.

    Attributes
    ----------
    primal : float, an upper bound of the optimum
    violations : array (n,), by sample the worst
    entering : int array (n,), the component of the dual to be set free, −1 to release the sample's bound
    residual : float, the largest reduced slope of what is free: zero where the face is solved
    scale : float, the largest slope
    """

    primal: float
    violations: Array
    entering: Array
    residual: float
    scale: float


def certify(setting: Setting, state: State, tol: float, max_newton: int) -> tuple[Array, int, Status]:
    """Climb from the state to the optimum.

    Parameters
    ----------
    setting : Setting
    state : State, feasible, with its scores up to date; left at the last point
    tol : float, for the gap relative to 1 + |dual value|
    max_newton : int, rounds

    Returns
    -------
    multipliers : array (n_components,), of Au = 0
    n_iter : int, rounds done
    status : Status
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
            limits = self.tol, max_newton - self.n_iter
            end, done = ascend(self.setting, self.state, self.face, self.multipliers, self.progress, limits)
            self.n_iter += done
            if end == _LIMIT:
                break
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
