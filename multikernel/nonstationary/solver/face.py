"""A face of the feasible set: the directions in which the duals are free, and the factor of their Hessian.

A direction belongs to a free dual u_tr. Where λ_t is below its bound it moves u_tr alone; at the bound it
moves u_tr against the sample's pivot, the dual that answers for λ_t = C_t, so that bounded samples cost no
rows of constraints. Direction a changes s_t(j) by c_a(j), so that the Hessian and Au = 0 read

    H_ab = Σ_j c_a(j) c_b(j) k_j(t_a, t_b),    Σ_a c_a(j) x_a = 0 for every component j but the last

(the c of a direction sum to zero). Adding a constant to every kernel changes nothing where Au = 0, and keeps
the matrix away from singular; so does a slight ridge, which only shortens the step. The upper factor R of
H = R'R and W = R'⁻¹C' are updated when a direction comes or goes.
"""

from typing import NamedTuple

import numpy as np

from ..._numba import compiled, larger
from .components import Setting, State
from .mixtures import Array

RIDGE = 1e-13  # relative to the diagonal of the Hessian
DEPENDENT = 1e-11  # a direction whose new part is a smaller share of it than this depends on the others
_FAINT = 1e-2  # of what a diagonal of the constraints' system has at most
_NOTHING = 1e-11  # pivots of the constraints' system below this share of the diagonal count as zero


class Face(NamedTuple):
    """The free directions, the first ``size[0]`` of what the arrays hold."""

    samples: Array  # (capacity,) of int, t of each direction
    components: Array  # (capacity,) of int, r of each direction
    columns: Array  # (capacity, n_components), c
    slopes: Array  # (capacity,), derivative of the dual value
    ridges: Array  # (capacity,), what was added to the diagonal
    factor: Array  # (capacity, capacity), R
    constraints: Array  # (capacity, n_components − 1), W
    size: Array  # (1,) of int
    pivots: Array  # (n,) of int, −1 where λ_t is free
    member: Array  # (n_components, n) of bool, whether u_tr has a direction or is a pivot
    constants: Array  # (n_components,), what is added to the kernels


def face_of(setting: Setting) -> Face:
    """The face of u = 0, without a direction."""
    n_components, n = setting.shares.shape
    opposite = setting.ranges[setting.sides]
    capacity = int((opposite[:, 1] - opposite[:, 0]).sum())
    level = setting.diagonals.mean(axis=1)[setting.kernels]
    return Face(
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty((capacity, n_components)),
        np.empty(capacity),
        np.empty(capacity),
        np.empty((capacity, capacity)),
        np.empty((capacity, n_components - 1)),
        np.zeros(1, np.int64),
        np.full(n, -1, np.int64),
        np.zeros((n_components, n), np.bool_),
        np.where(level > 0.0, level, 1.0),
    )


@compiled
def gradient(setting: Setting, state: State, c: int, t: int) -> float:
    """Of the dual value in u_tc."""
    return setting.linear[c, t] - state.own[t] + state.scores[c, t]


@compiled
def _product(setting: Setting, face: Face, a: int, b: int) -> float:
    value = 0.0
    for c in range(setting.kernels.size):
        k = setting.Ks[setting.kernels[c], face.samples[a], face.samples[b]] + face.constants[c]
        value += face.columns[a, c] * face.columns[b, c] * k
    return value


@compiled
def insert(setting: Setting, face: Face, t: int, c: int, slope: float) -> bool:
    """Let u_tc be free: one direction more, at the end. Returns whether it depends on the others."""
    k = face.size[0]
    face.samples[k], face.components[k], face.slopes[k] = t, c, slope
    face.member[c, t] = True
    column, pivot = face.columns[k], face.pivots[t]
    for j in range(column.size):
        column[j] = setting.shares[j, t] if pivot < 0 else 0.0
    if pivot >= 0:
        column[pivot] = 1.0
    column[c] -= 1.0
    right = np.empty(k)
    for a in range(k):
        right[a] = _product(setting, face, a, k)
    _forward(face.factor, right)
    diagonal = _product(setting, face, k, k)
    face.ridges[k] = RIDGE * diagonal
    rest = diagonal
    for a in range(k):
        face.factor[a, k] = right[a]
        rest -= right[a] * right[a]
    face.factor[k, k] = np.sqrt(larger(rest, 0.0) + face.ridges[k])
    for j in range(face.constraints.shape[1]):
        value = column[j]
        for a in range(k):
            value -= right[a] * face.constraints[a, j]
        face.constraints[k, j] = value / face.factor[k, k]
    face.size[0] = k + 1
    return rest <= DEPENDENT * diagonal


@compiled
def null_step(face: Face) -> Array:
    """The combination with the last direction that does not change the mixtures, where that depends on the
    others; with the sign that does not lower the dual value."""
    k, p = face.size[0] - 1, face.constraints.shape[1]
    step = np.empty(k + 1)
    for a in range(k):
        step[a] = -face.factor[a, k]
    _backward(face.factor, step[:k])
    step[k] = 1.0
    right = np.zeros(p)  # what is left of Ax, known to half the digits: taken away
    for j in range(p):
        for a in range(k + 1):
            right[j] -= face.columns[a, j] * step[a]
    correction = _restoring(face, k, right)
    for a in range(k):
        step[a] += correction[a]
    slope = 0.0
    for a in range(k + 1):
        slope += step[a] * face.slopes[a]
    if slope < 0.0:
        for a in range(k + 1):
            step[a] = -step[a]
    return step


@compiled
def _restoring(face: Face, k: int, right: Array) -> Array:
    """Of the first k directions the shortest step with Cx = right."""
    p = right.size
    system, multipliers, step = np.zeros((p, p)), np.zeros(p), np.zeros(k)
    for a in range(k):
        for i in range(p):
            for j in range(i + 1):
                system[i, j] += face.constraints[a, i] * face.constraints[a, j]
    _renew(system, right, multipliers, face.constants)
    for a in range(k):
        for j in range(p):
            step[a] += face.constraints[a, j] * multipliers[j]
    _backward(face.factor, step)
    return step


@compiled
def delete(face: Face, k: int) -> None:
    """Fix the dual of direction k: rotations bring the factor back to triangular."""
    size, R, W = face.size[0], face.factor, face.constraints
    face.member[face.components[k], face.samples[k]] = False
    for a in range(k, size - 1):
        face.samples[a], face.components[a] = face.samples[a + 1], face.components[a + 1]
        face.slopes[a], face.ridges[a] = face.slopes[a + 1], face.ridges[a + 1]
        for j in range(face.columns.shape[1]):
            face.columns[a, j] = face.columns[a + 1, j]
    for a in range(k):
        row = R[a]
        for b in range(k, size - 1):
            row[b] = row[b + 1]
    for a in range(k, size - 1):
        upper, lower = R[a], R[a + 1]
        x, y = upper[a + 1], lower[a + 1]
        radius = np.sqrt(x * x + y * y)
        cosine, sine = x / radius, y / radius
        upper[a] = radius
        for b in range(a + 2, size):
            x, y = upper[b], lower[b]
            upper[b - 1] = cosine * x + sine * y
            lower[b] = cosine * y - sine * x
        for j in range(W.shape[1]):
            x, y = W[a, j], W[a + 1, j]
            W[a, j], W[a + 1, j] = cosine * x + sine * y, cosine * y - sine * x
    face.size[0] = size - 1


@compiled
def _forward(R: Array, right: Array) -> None:
    """R'⁻¹ right, in its place."""
    n = right.size
    for a in range(n):
        row = R[a]
        value = right[a] / row[a]
        right[a] = value
        for b in range(a + 1, n):
            right[b] -= value * row[b]


@compiled
def _backward(R: Array, right: Array) -> None:
    """R⁻¹ right, in its place."""
    n = right.size
    for a in range(n - 1, -1, -1):
        row = R[a]
        value = right[a]
        for b in range(a + 1, n):
            value -= row[b] * right[b]
        right[a] = value / row[a]


@compiled
def newton_step(face: Face, imbalance: Array, multipliers: Array) -> Array:
    """The step x that is best on the face and takes the imbalance Au away; renews the multipliers.

    H x = slopes + C'y, C x = −imbalance. Where the free directions leave a multiplier undetermined it stays.
    """
    k, p = face.size[0], face.constraints.shape[1]
    W = face.constraints[:k]
    step = np.empty(k)
    for a in range(k):
        step[a] = face.slopes[a]
    _forward(face.factor, step)
    system, right = np.zeros((p, p)), np.empty(p)
    for i in range(p):
        right[i] = -imbalance[i]
    for a in range(k):
        for i in range(p):
            right[i] -= W[a, i] * step[a]
            for j in range(i + 1):
                system[i, j] += W[a, i] * W[a, j]
    _renew(system, right, multipliers, face.constants)
    for a in range(k):
        for j in range(p):
            step[a] += W[a, j] * multipliers[j]
    _backward(face.factor, step)
    return step


@compiled
def _renew(system: Array, right: Array, solution: Array, constants: Array) -> None:
    """Solve with the lower triangle of a semidefinite matrix; undetermined unknowns keep their values."""
    p = right.size
    for i in range(p):
        for j in range(p):
            right[i] -= (system[i, j] if j <= i else system[j, i]) * solution[j]
    for i in range(p):
        least = _NOTHING * larger(system[i, i], _FAINT / constants[i])
        for j in range(i):
            for m in range(j):
                system[i, j] -= system[i, m] * system[j, m]
            system[i, j] = system[i, j] / system[j, j] if system[j, j] > 0.0 else 0.0
            system[i, i] -= system[i, j] * system[i, j]
            right[i] -= system[i, j] * right[j]
        if system[i, i] > least:
            system[i, i] = np.sqrt(system[i, i])
            right[i] /= system[i, i]
        else:
            system[i, i] = right[i] = 0.0
    for i in range(p - 1, -1, -1):
        for j in range(i + 1, p):
            right[i] -= system[j, i] * right[j]
        right[i] = right[i] / system[i, i] if system[i, i] > 0.0 else 0.0
    for i in range(p):
        solution[i] += right[i]
