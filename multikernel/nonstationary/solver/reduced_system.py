"""The linear system of an interior point step, in coordinates in which large numbers do no harm.

A bound on λ_t = Σ_r u_tr that is attained adds a huge multiple of the matrix of ones to the block of sample
t, and drowns what else the block says of the differences of its variables. So each sample has its own
coordinates, u_t = V_t x_t, in which λ_t is one of them: the huge number then stands alone on the diagonal.
The step solves

    (V'HV + D) x − V'A'y = b,    AVx = r,    D block diagonal

by a Cholesky factor of the first matrix and the Schur complement of the second equation, with a step of
refinement where digits count.
"""

import numpy as np
from scipy.linalg import lapack

from ..._numba import compiled
from .mixtures import Array

_LIFTS = (1e-12, 1e-11, 1e-10, 1e-8, 1e-6)  # relative to the largest element of the diagonal


class ReducedSystem:
    """The system for given matrices H (n, n), A (p, n) and blocks of variables; ``factor`` makes it ready."""

    def __init__(self, H: Array, A: Array, start: Array) -> None:
        self.H, self.A, self.start = H, A, start
        self.width = int(np.diff(start).max())
        variables = np.arange(len(H))
        self._diagonal = variables, variables - np.repeat(start[:-1], np.diff(start))

    def factor(self, V: Array, D: Array) -> bool:
        """Take the blocks of V and D, row by row in (n, width); False if rounding leaves no factor.

        The diagonal is lifted a little: with more variables inside their bounds than the kernels have rank
        there are directions along which nothing changes, and rounding would send the step far along them.
        """
        self.V = V
        if not (np.isfinite(V).all() and np.isfinite(D).all()):
            return False
        for lift in _LIFTS:
            K = np.empty_like(self.H)
            _transform(self.H, V, self.start, K)
            self.D = D.copy()
            self.D[self._diagonal] += lift * float(np.diagonal(K).max())
            _add_blocks(K, self.D, self.start)
            factor, failed = lapack.dpotrf(K.T, lower=0, overwrite_a=1, clean=0)
            if not failed:
                self.K = factor
                return self._eliminate()
        return False

    def _eliminate(self) -> bool:
        self.B = np.stack([self.backward(row) for row in self.A])
        self.KB = self._solve_first(self.B.T)
        S = self.B @ self.KB
        scale = np.sqrt(np.maximum(np.diagonal(S), 1e-300))
        values, vectors = np.linalg.eigh(S / np.outer(scale, scale))
        kept = values > 1e-14 * values[-1]  # a component that no sample uses has no multiplier
        inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
        self.S_inverse = inverse / np.outer(scale, scale)
        return bool(np.isfinite(self.S_inverse).all())

    def _solve_first(self, right: Array) -> Array:
        return np.asarray(lapack.dpotrs(self.K, right, lower=0)[0])

    def solve(self, b: Array, r: Array, refine: bool = True) -> tuple[Array, Array]:
        """x and y."""
        x, y = self._solve_once(b, r)
        if not refine:
            return x, y
        left = self.backward(self.H @ self.forward(x)) + _blocks_times(self.D, x, self.start) - self.B.T @ y
        dx, dy = self._solve_once(b - left, r - self.B @ x)
        return x + dx, y + dy

    def _solve_once(self, b: Array, r: Array) -> tuple[Array, Array]:
        free = self._solve_first(b)
        y = self.S_inverse @ (r - self.B @ free)
        return free + self.KB @ y, y

    def forward(self, x: Array) -> Array:
        """Vx."""
        return _blocks_times(self.V, x, self.start)

    def backward(self, b: Array) -> Array:
        """V'b."""
        result = np.zeros_like(b)
        _transposed_times(self.V, b, self.start, self.start.size - 1, result)
        return result


def _blocks_times(blocks: Array, x: Array, start: Array) -> Array:
    result = np.zeros_like(x)
    _times(blocks, x, start, result)
    return result


@compiled
def _times(blocks: Array, x: Array, start: Array, result: Array) -> None:
    for g in range(start.size - 1):
        first = start[g]
        for i in range(first, start[g + 1]):
            total = 0.0
            for c in range(start[g + 1] - first):
                total += blocks[i, c] * x[first + c]
            result[i] = total


@compiled
def _transposed_times(blocks: Array, b: Array, start: Array, n_groups: int, result: Array) -> None:
    for g in range(n_groups):
        first = start[g]
        for c in range(start[g + 1] - first):
            total = 0.0
            for i in range(first, start[g + 1]):
                total += blocks[i, c] * b[i]
            result[first + c] = total


@compiled
def _transform(H: Array, V: Array, start: Array, K: Array) -> None:
    """The lower triangle of K = V'HV, a row at a time."""
    half = np.empty(H.shape[0])
    for g in range(start.size - 1):
        first, end = start[g], start[g + 1]
        for c in range(end - first):
            half[:end] = 0.0
            for i in range(first, end):
                weight = V[i, c]
                if weight != 0.0:
                    for j in range(end):
                        half[j] += weight * H[i, j]
            _transposed_times(V, half, start, g + 1, K[first + c])


@compiled
def _add_blocks(K: Array, D: Array, start: Array) -> None:
    for g in range(start.size - 1):
        first = start[g]
        for i in range(first, start[g + 1]):
            for c in range(start[g + 1] - first):
                K[i, first + c] += D[i, c]
