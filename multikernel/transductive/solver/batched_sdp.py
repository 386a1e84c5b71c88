"""Many small semidefinite programs at once, by one primal-dual interior point method over arrays.

    max g'x      F(x) = I + Σ_j x_j D_j ⪰ 0,   f(x) = 1 + Rx ≥ 0
    min tr Z + Σ z      tr(Z D_j) + (R'z)_j = −g_j,   Z ⪰ 0,  z ≥ 0

The programs have their own D and g and share the rows R of a box, which keeps every one of them bounded. The
direction is that of Helmberg, Kojima and Monteiro with Mehrotra's correction. Multipliers that do not fulfil
the equations yet are completed by multipliers of the box, so that every iterate gives an upper bound. About
ten iterations of some 20 products of k × k matrices for each program.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._typing import Array

_TO_THE_BOUNDARY = 0.95
_MAX_ITER = 60


class Box:
    """The box |c_i + (Yx)_i| ≤ width as rows 1 + Rx ≥ 0.

    Parameters
    ----------
    Y : array (l, d), full column rank
    c : array (l,), |c_i| < width
    width : float

    Attributes
    ----------
    rows : array (2l, d), R
    """

    def __init__(self, Y: Array, c: Array, width: float) -> None:
        self._room = np.concatenate([width + c, width - c])
        self.rows = np.concatenate([Y, -Y]) / self._room[:, None]
        self._inverse = np.linalg.pinv(Y)

    def multipliers(self, r: Array) -> Array:
        """Nonnegative z with R'z = r, for every row of r (b, d): (b, 2l)."""
        a = r @ self._inverse
        return np.concatenate([np.maximum(a, 0.0), np.maximum(-a, 0.0)], axis=1) * self._room


class _Step(NamedTuple):
    """Changes of x, F, f, Z and z; one program in each row."""

    x: Array
    F: Array
    f: Array
    Z: Array
    z: Array


class SmallPrograms:
    """The iterates of all programs.

    Parameters
    ----------
    D : array (b, d, k, k), symmetric matrices
    g : array (b, d)
    box : Box, of d coordinates

    Attributes
    ----------
    x : array (b, d), feasible
    upper : array (b,), upper bounds of the optima
    """

    def __init__(self, D: Array, g: Array, box: Box) -> None:
        b, d, k, _ = D.shape
        self.D, self.g, self.box = D, g, box
        self._flat = D.reshape(b, d, k * k)
        self.n_products = k + len(box.rows)
        self.x = np.zeros((b, d))
        size = np.maximum(np.linalg.norm(g, axis=1), 1e-3) / np.sqrt(k)
        self.F = np.tile(np.eye(k), (b, 1, 1))
        self.f = np.ones((b, len(box.rows)))
        self.Z = size[:, None, None] * self.F
        self.z = size[:, None] * self.f
        self.upper = self._bound()

    def solve(self, tolerance: Array) -> None:
        """Iterate until ``upper`` exceeds g'x by at most ``tolerance`` (b,), or floating point ends it."""
        for _ in range(_MAX_ITER):
            open_ = self.upper - _dots(self.g, self.x) > tolerance
            if not open_.any():
                return
            try:
                step, primal, dual = self._direction()
            except np.linalg.LinAlgError:  # rounding: the bounds so far are what there is
                return
            self._move(step, np.where(open_, primal, 0.0), np.where(open_, dual, 0.0))
            self.upper = np.minimum(self.upper, self._bound())

    def _bound(self) -> Array:
        """The dual value, with what the box must add for the equations to hold."""
        missing = -self.g - _traces(self.Z, self._flat) - self.z @ self.box.rows
        added = self.box.multipliers(missing).sum(axis=1)
        return np.trace(self.Z, axis1=1, axis2=2) + self.z.sum(axis=1) + added

    def _direction(self) -> tuple[_Step, Array, Array]:
        """The corrected direction, and how far F, f and Z, z may follow it."""
        self._factor()
        gap = _dots(self.F, self.Z) + _dots(self.f, self.z)
        first = self._step(np.zeros(len(gap)), 0.0, 0.0)
        primal, dual = self._lengths(first)
        after = self._gap_after(first, np.minimum(primal, 1.0), np.minimum(dual, 1.0))
        target = np.clip(after / gap, 1e-6, 1.0) ** 3 * gap / self.n_products
        matrix = _symmetric(self._F_inverse @ first.F @ first.Z)
        step = self._step(target, matrix, first.f * first.z / self.f)
        primal, dual = self._lengths(step)
        return step, np.minimum(_TO_THE_BOUNDARY * primal, 1.0), np.minimum(_TO_THE_BOUNDARY * dual, 1.0)

    def _factor(self) -> None:
        L, R = np.linalg.cholesky(self.F), np.linalg.cholesky(self.Z)
        self._L_inverse, self._R_inverse = np.linalg.inv(L), np.linalg.inv(R)
        self._F_inverse = _transposed(self._L_inverse) @ self._L_inverse
        mixed = (self._L_inverse[:, None] @ self.D @ R[:, None]).reshape(self._flat.shape)
        rows = self.box.rows * np.sqrt(self.z / self.f)[:, :, None]
        self._M = mixed @ _transposed(mixed) + _transposed(rows) @ rows

    def _step(self, target: Array, matrix: Any, vector: Any) -> _Step:
        """The direction to products equal to ``target``; ``matrix`` and ``vector`` are the corrections."""
        to_Z = target[:, None, None] * self._F_inverse - matrix
        to_z = target[:, None] / self.f - vector
        slope = self.g + _traces(to_Z, self._flat) + to_z @ self.box.rows
        dx = np.linalg.solve(self._M, slope[:, :, None])[:, :, 0]
        dF = (dx[:, None, :] @ self._flat).reshape(self.F.shape)
        df = dx @ self.box.rows.T
        dZ = to_Z - self.Z - _symmetric(self._F_inverse @ dF @ self.Z)
        dz = to_z - self.z - self.z / self.f * df
        return _Step(dx, dF, df, dZ, dz)

    def _lengths(self, step: _Step) -> tuple[Array, Array]:
        """Where F or f, and where Z or z, cease to be positive."""
        primal = np.minimum(_lowest(self._L_inverse, step.F), (step.f / self.f).min(axis=1))
        dual = np.minimum(_lowest(self._R_inverse, step.Z), (step.z / self.z).min(axis=1))
        return 1.0 / np.maximum(-primal, 1e-9), 1.0 / np.maximum(-dual, 1e-9)

    def _gap_after(self, step: _Step, primal: Array, dual: Array) -> Array:
        F, Z = self.F + primal[:, None, None] * step.F, self.Z + dual[:, None, None] * step.Z
        f, z = self.f + primal[:, None] * step.f, self.z + dual[:, None] * step.z
        return _dots(F, Z) + _dots(f, z)

    def _move(self, step: _Step, primal: Array, dual: Array) -> None:
        self.x += primal[:, None] * step.x
        self.F += primal[:, None, None] * step.F
        self.f += primal[:, None] * step.f
        self.Z += dual[:, None, None] * step.Z
        self.z += dual[:, None] * step.z


def _dots(A: Array, B: Array) -> Array:
    """The inner product of each pair."""
    return np.einsum("bi,bi->b", A.reshape(len(A), -1), B.reshape(len(B), -1))


def _traces(Z: Array, flat: Array) -> Array:
    """tr(Z D_j) for every program and member."""
    return np.einsum("bi,bji->bj", Z.reshape(len(Z), -1), flat)


def _lowest(inverse_factor: Array, change: Array) -> Array:
    """The smallest eigenvalue of each change, relative to the matrix whose factor is given inverted."""
    return np.linalg.eigvalsh(inverse_factor @ change @ _transposed(inverse_factor))[:, 0]


def _transposed(A: Array) -> Array:
    return np.swapaxes(A, -1, -2)


def _symmetric(A: Array) -> Array:
    return 0.5 * (A + _transposed(A))
