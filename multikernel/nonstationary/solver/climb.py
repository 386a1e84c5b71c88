"""Newton steps on a face of the projection's feasible set, each cut where a dual or a bound stops it.

On a face (see ``face``) the dual value is a quadratic that one linear system maximises. The step towards its
maximum goes as far as every dual stays nonnegative and every sample within its bound; what stops it is fixed,
and the next step starts from there. A whole step ends the climb. How the slopes change is known from the
system alone: the scores are brought up to date once, after the climb.
"""

from typing import Any

import numpy as np

from ..._numba import HUGE, compiled, larger
from .components import Setting, State, imbalance_of
from .face import Face, delete, gradient, insert, newton_step, null_step
from .mixtures import Array


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
