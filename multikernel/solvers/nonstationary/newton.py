"""Newton steps on the free duals of the projection, with an exact active set: what certifies its optimum.

On a face (see ``face``) the dual value is a quadratic that one linear system maximises. The step towards its
maximum is cut where a dual reaches zero or a sample its bound: that one is fixed, and the next step starts from
there. Where a whole step fits, the face is solved, its multipliers are the offsets of the mixtures, and the
duals and bounds that they show to be fixed wrongly are set free.
"""

import numpy as np

from ..._numba import HUGE, compiled, larger
from ..result import Status
from .components import Setting, State, add_scores, coefficients_of, dual_value, imbalance_of, rescore
from .face import Face, delete, face_of, gradient, insert, newton_step, null_step
from .mixtures import Array

MOST = 40
BATCH = 20
SHARE = 0.1


def certify(
    setting: Setting, state: State, tol: float, max_newton: int, verbose: bool = False
) -> tuple[Array, int, Status]:
    """Climb from the state to the optimum; returns the multipliers of Au = 0, the rounds, and how it ended."""
    face = face_of(setting)
    multipliers = np.zeros(setting.kernels.size)
    settle(setting, state, face, multipliers)
    changes = 0
    for n_iter in range(1, max_newton + 1):
        primal, violations, entering = price(setting, state, face, multipliers)
        dual = dual_value(setting, state)
        if verbose:
            print(n_iter, "k", face.size[0], "bounded", (face.pivots >= 0).sum(), "chg", changes, "J", dual, "gap", primal - dual, "viol", (violations > 0).sum(), violations.max(), flush=True)
        if primal - dual <= 0.5 * tol * (1.0 + abs(dual)):
            return multipliers, n_iter, Status.OPTIMAL
        order = np.argsort(-violations, kind="stable")[:MOST]
        order = order[violations[order] > SHARE * violations[order[0]]]
        scored = coefficients_of(setting, state)
        admit(setting, state, face, order, entering)
        changes += climb(setting, state, face, multipliers)
        add_scores(setting, state, coefficients_of(setting, state) - scored)
    return multipliers, max_newton, Status.MAX_ITER


@compiled
def settle(setting: Setting, state: State, face: Face, multipliers: Array) -> None:
    """Set free what is positive, a few samples at a time: most of it goes to zero, while the face is small."""
    n_components, n = state.duals.shape
    for first in range(0, n, BATCH):
        scored = coefficients_of(setting, state)
        for t in range(first, min(first + BATCH, n)):
            if state.totals[t] >= setting.bounds[t] * (1.0 - 1e-12) and face.pivots[t] < 0:
                _settle_at_bound(setting, state, face, t, _largest(state, t))
            for c in range(n_components):
                if state.duals[c, t] > 0.0 and not face.member[c, t]:
                    _free(setting, state, face, t, c)
        climb(setting, state, face, multipliers)
        add_scores(setting, state, coefficients_of(setting, state) - scored)


@compiled
def _free(setting: Setting, state: State, face: Face, t: int, c: int) -> None:
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


@compiled
def _fix(setting: Setting, state: State, face: Face, direction: int, sample: int) -> None:
    """What stopped a step is fixed."""
    if direction >= 0:
        state.duals[face.components[direction], face.samples[direction]] = 0.0
        delete(face, direction)
    else:
        _turn(setting, state, face, sample)


@compiled
def _largest(state: State, t: int) -> int:
    best = 0
    for c in range(1, state.duals.shape[0]):
        if state.duals[c, t] > state.duals[best, t]:
            best = c
    return best


@compiled
def _settle_at_bound(setting: Setting, state: State, face: Face, t: int, pivot: int) -> None:
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
def _longest(setting: Setting, state: State, face: Face, step: Array, length: float) -> tuple[float, int, int]:
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
def _turn(setting: Setting, state: State, face: Face, t: int) -> None:
    """A sample has come to its bound, or the pivot of one at its bound has come to zero: the largest dual
    of the sample's directions is the pivot from now on."""
    if face.pivots[t] >= 0:
        state.duals[face.pivots[t], t] = 0.0
        face.member[face.pivots[t], t] = False
    n_components = state.duals.shape[0]
    slopes, free, pivot = np.zeros(n_components), np.zeros(n_components, np.bool_), -1
    for a in range(face.size[0] - 1, -1, -1):
        if face.samples[a] == t:
            c = face.components[a]
            slopes[c], free[c] = face.slopes[a], True
            if pivot < 0 or state.duals[c, t] > state.duals[pivot, t]:
                pivot = c
            delete(face, a)
    _settle_at_bound(setting, state, face, t, pivot)
    for c in range(n_components):
        if free[c] and c != pivot:
            insert(setting, face, t, c, slopes[c] - slopes[pivot])


@compiled
def price(setting: Setting, state: State, face: Face, multipliers: Array) -> tuple[float, Array, Array]:
    """The primal value with these multipliers; by sample the worst violation, and the component that enters
    (−1: the bound is released). The slopes of the directions are computed afresh."""
    n_components, n = state.duals.shape
    violations, entering = np.zeros(n), np.full(n, -1)
    primal = 0.0
    for t in range(n):
        begin, end = setting.ranges[setting.sides[t]]
        expected, worst = 0.0, 0.0
        for c in range(n_components):
            expected += setting.shares[c, t] * multipliers[c]
        pivot = face.pivots[t]
        price = 0.0
        if pivot >= 0:
            price = gradient(setting, state, pivot, t) + expected - multipliers[pivot]
            violations[t] = larger(-price, 0.0)
        for c in range(begin, end):
            reduced = gradient(setting, state, c, t) + expected - multipliers[c]
            worst = larger(worst, reduced)
            if not face.member[c, t] and reduced - price > violations[t]:
                violations[t], entering[t] = reduced - price, c
        primal += setting.bounds[t] * worst
        for c in range(n_components):
            s = state.totals[t] * setting.shares[c, t] - state.duals[c, t]
            primal += 0.5 * s * state.scores[c, t]
    for a in range(face.size[0]):
        t, c = face.samples[a], face.components[a]
        face.slopes[a] = gradient(setting, state, c, t)
        if face.pivots[t] >= 0:
            face.slopes[a] -= gradient(setting, state, face.pivots[t], t)
    return primal, violations, entering


@compiled
def admit(setting: Setting, state: State, face: Face, samples: Array, entering: Array) -> None:
    """Set free what is fixed wrongly."""
    for t in samples:
        if entering[t] >= 0:
            _free(setting, state, face, t, entering[t])
            continue
        free = np.zeros(state.duals.shape[0], np.bool_)
        for c in range(free.size):
            free[c] = face.member[c, t]
        for a in range(face.size[0] - 1, -1, -1):
            if face.samples[a] == t:
                delete(face, a)
        face.pivots[t] = -1
        for c in range(free.size):
            if free[c]:
                _free(setting, state, face, t, c)
