"""C ← C + A'A by BLAS without Python's lock, so that the threads of several blocks work at the same time.

SciPy's own call keeps the lock. This is the same routine, called through the address that SciPy publishes for
compiled code.
"""

import ctypes
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address
from scipy.linalg import lapack

from ...._typing import Array
from ...svm.primal import Kinked, PrimalLoss
from .rounds import FactorBlock, Line, Query, Sums, factors_of

_POINTERS = (ctypes.c_void_p,) * 10  # uplo, trans, n, k, alpha, A, lda, beta, C, ldc


@cache
def _syrk(name: str) -> Any:
    address = get_cython_function_address("scipy.linalg.cython_blas", name)
    return ctypes.CFUNCTYPE(None, *_POINTERS)(address)


def add_gram(C: Array, A: Array) -> None:
    """Add A'A to the upper triangle of C (R, R), Fortran-contiguous; A (n, R) is C-contiguous.

    Examples
    --------
    >>> C = np.zeros((2, 2), order="F")
    >>> add_gram(C, np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> C.tolist()
    [[10.0, 14.0], [0.0, 20.0]]
    """
    if not (C.flags.f_contiguous and A.flags.c_contiguous and C.dtype == A.dtype and A.shape[1] == len(C)):
        raise ValueError("add_gram needs C by columns and A by rows, of one type and with as many columns.")
    single = C.dtype == np.float32
    kind = ctypes.c_float if single else ctypes.c_double
    n, k, one = ctypes.c_int(A.shape[1]), ctypes.c_int(A.shape[0]), kind(1.0)
    upper, plain = ctypes.c_char(b"U"), ctypes.c_char(b"N")
    by = ctypes.byref
    # a table by rows is its transpose by columns: A'A is a product of that transpose with itself
    _syrk("ssyrk" if single else "dsyrk")(
        by(upper), by(plain), by(n), by(k), by(one), A.ctypes.data, by(n), by(one), C.ctypes.data, by(n)
    )


# -----------------------------------------------------------------------------
# One pass over a block of rows: the map of each map-reduce.
#
# Values and gradients are in double precision whatever the factors are; the Hessian, which steers and does
# not certify, is in the factors' own. It is that of the rows with curvature alone.


_PASS_ENTRIES = 2**19  # of the factors at a time: what is read twice stays in the cache
_HESSIAN_ENTRIES = 2**20


def block_sums(block: FactorBlock, loss: PrimalLoss, query: Query) -> Sums:
    """The sums of one block at a point."""
    Z, targets, prices = factors_of(block)
    part = _Pass(loss, query)
    curvature = np.empty(targets.shape)
    for rows in _slices(targets.shape[0], Z.shape[1], _PASS_ENTRIES):
        curvature[rows] = part.add(np.asarray(Z[rows], float), targets[rows], prices[rows])
    shared = loss.is_quadratic and prices.shape[1] == 1
    hessian, edge, corner = _curvature(Z, curvature[:, :1] if shared else curvature, query.curvature)
    return part.sums(hessian, edge, corner)


def line_sums(block: FactorBlock, loss: PrimalLoss, line: Line) -> Array:
    """Σ C ℓ_δ at each step length along a line: (n_lengths,)."""
    Z, targets, prices = factors_of(block)
    scores, change = np.empty(targets.shape), np.empty(targets.shape)
    for rows in _slices(targets.shape[0], Z.shape[1], _PASS_ENTRIES):
        z = np.asarray(Z[rows], float)
        scores[rows] = z @ line.coefficients.T + line.intercepts
        change[rows] = z @ line.direction.T + line.slope
    values = (loss.smoothed(targets, scores + length * change, line.width).value for length in line.lengths)
    return np.array([(prices * value).sum() for value in values])


def _slices(n: int, n_columns: int, entries: int) -> Iterator[slice]:
    """Rows that have so many entries together."""
    size = max(entries // n_columns, 64)
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


class _Pass:
    """Sums over the rows of a block that were added so far; see :class:`Sums`."""

    def __init__(self, loss: PrimalLoss, query: Query) -> None:
        self.loss, self.query = loss, query
        self.k = len(query.widths)
        T, R = query.coefficients.shape
        self.n_inner = T if isinstance(loss, Kinked) else 0
        self.risk, self.price, self.smoothed = np.zeros(1), np.zeros(1), np.zeros(self.k)
        self.numbers, self.peak = np.zeros((3, self.k, T, 2)), np.zeros((self.k, T, 2))
        self.inner = np.zeros((4, self.n_inner))
        self.inner_sides = np.zeros((self.n_inner, 2))
        self.adjoint = np.zeros((2 * (self.k * T + self.n_inner), R))

    def add(self, z: Array, target: Array, price: Array) -> Array:
        """Add some rows; their curvature (n, T) is returned."""
        scores = z @ self.query.coefficients.T + self.query.intercepts
        price = np.broadcast_to(price, target.shape)
        self.price += price.sum()
        self.risk += np.vdot(price, self.loss.value(target, scores))
        columns = []
        for i, width in enumerate(self.query.widths):
            value, slope, curvature = self.loss.smoothed(target, scores, width)
            self.smoothed[i] += np.vdot(price, value)
            columns.append(self._add_duals(i, -price * slope, target, price))
        curvature = price * curvature
        if isinstance(self.loss, Kinked):
            columns.append(self._add_inner(self.loss, target, scores, np.where(curvature > 0.0, price, 0.0)))
        self.adjoint += np.concatenate(columns, axis=1).T @ z
        return np.asarray(curvature)

    def _add_duals(self, which: int, beta: Array, target: Array, price: Array) -> Array:
        """Sums of β by sign; β by sign is returned, (n, 2 T)."""
        signed = np.stack([np.maximum(beta, 0.0), np.minimum(beta, 0.0)], axis=2)
        ratio = np.divide(signed, price[:, :, None], out=np.zeros_like(signed), where=price[:, :, None] > 0.0)
        self.numbers[0, which] += signed.sum(axis=0)
        self.numbers[1, which] += np.einsum("itk,it->tk", signed, target)
        self.numbers[2, which] += np.einsum("itk,itk->tk", signed, ratio)
        self.peak[which] = np.maximum(self.peak[which], np.abs(ratio).max(axis=0, initial=0.0))
        return signed.reshape(signed.shape[0], -1)

    def _add_inner(self, loss: Kinked, target: Array, scores: Array, price: Array) -> Array:
        """Sums over the rows inside the parabola, which alone have a price here; (n, 2 T) is returned."""
        u, sign = loss.excess(target, scores)
        pull = price * u
        self.inner += np.stack(
            [(price > 0.0).sum(axis=0), price.sum(axis=0), pull.sum(axis=0), (pull * u).sum(axis=0)]
        )
        sides = np.stack([price * sign, pull * sign], axis=2)
        self.inner_sides += sides.sum(axis=0)
        return sides.reshape(sides.shape[0], -1)

    def sums(self, hessian: Array, edge: Array, corner: Array) -> Sums:
        T, R = self.query.coefficients.shape
        duals, inner = np.split(self.adjoint, [2 * self.k * T])
        total, reward, shifted = self.numbers
        return Sums(
            risk=self.risk, price=self.price, smoothed=self.smoothed, adjoint=duals.reshape(self.k, T, 2, R),
            total=total, reward=reward, shifted=shifted, peak=self.peak,
            inner=self.inner.T, inner_sides=self.inner_sides, inner_adjoint=inner.reshape(self.n_inner, 2, R),
            hessian=hessian, edge=edge, corner=corner,
        )  # fmt: skip


def _curvature(Z: Array, curvature: Array, wanted: bool) -> tuple[Array, Array, Array]:
    """Z'DZ (packed), Z'D1 and 1'D1 for each column of ``curvature``; nothing where it is not wanted."""
    R, n_tasks = Z.shape[1], curvature.shape[1] if wanted else 0
    packed = np.zeros((n_tasks, R * (R + 1) // 2), Z.dtype)
    edge, corner = np.zeros((n_tasks, R)), np.zeros(n_tasks)
    for task in range(n_tasks):
        rows = np.flatnonzero(curvature[:, task])
        if rows.size:
            packed[task], edge[task] = _gram(Z, rows, curvature[rows, task])
            corner[task] = curvature[rows, task].sum()
    return packed, edge, corner


def _gram(Z: Array, rows: Array, curvature: Array) -> tuple[Array, Array]:
    """The packed upper triangle of Z'DZ and Z'D1, on some of the rows."""
    R = Z.shape[1]
    pack = lapack.strttp if Z.dtype == np.float32 else lapack.dtrttp
    roots = np.sqrt(curvature).astype(Z.dtype)
    gram, edge = np.zeros((R, R), Z.dtype, order="F"), np.zeros(R)
    for part in _slices(rows.size, R, _HESSIAN_ENTRIES):
        scaled = Z[rows[part]]
        scaled *= roots[part, None]
        add_gram(gram, scaled)
        edge += roots[part] @ scaled
    return pack(gram, uplo="U")[0], edge
