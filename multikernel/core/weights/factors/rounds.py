"""Rounds of map-reduce over the rows: what is asked, what the blocks answer, and the units of both.

**Queries and sums.** With the scores f = Z w + b and β_i = −C_i ∂ℓ_δ/∂f_i, the rows give Σ C ℓ and Σ C ℓ_δ,
and by task and by the sign of β the sums that the dual value is made of: Z'β, Σβ, Σ yβ, Σ β²/C, max |β|/C.
They are kept by sign so that Σβ = 0 can be had by scaling one side. The Hessian Z'DZ comes back packed (its
upper triangle).

**Passes** over a block are the map of each map-reduce. Values and gradients are in double precision whatever
the factors are; the Hessian, which steers and does not certify, is in the factors' own. It is that of the
rows with curvature alone.

**Units** in which the numbers are of order one. With Z_m = d_m s Z'_m and y = t y' (s and t powers of two,
d_m the costs), the same problem has

    w_m = (t / (d_m s)) w'_m,   b = t b',   β = (t/s²) β',   P = (t²/s²) P',   μ_m = μ'_m / d_m².
"""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numba.extending import get_cython_function_address
from scipy.linalg import lapack

from ...._numba import kept_njit
from ...._typing import Array
from ...optim.loop import power_of_two
from ...svm.primal import Kinked, PrimalLoss

S = TypeVar("S")
_POINTERS = (ctypes.c_void_p,) * 10  # uplo, trans, n, k, alpha, A, lda, beta, C, ldc
_PASS_ENTRIES = 2**19  # of the factors at a time: what is read twice stays in the cache
_HESSIAN_ENTRIES = 2**20


# ---------------------------------------------------------------------- rounds
class Rows(Protocol):
    """What the solver asks of :class:`multikernel.rows.RowBlocks`."""

    n_rows: int
    n_blocks: int

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any: ...
    def derive(self, function: Callable[..., Any], *arguments: Any) -> Any: ...


def n_bytes(thing: Any) -> int:
    """The bytes of the arrays that an object is made of; a number counts as eight."""
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes)
    if isinstance(thing, tuple | list):
        return sum(n_bytes(part) for part in thing)
    return n_bytes(tuple(vars(thing).values())) if hasattr(thing, "__dict__") else 8


class Rounds:
    """Rows that count the map-reduces asked of them, and the bytes that went to the blocks and came back."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.rounds = 0
        self.bytes_moved = 0

    def sum(self, function: Callable[..., S], *arguments: Any) -> S:
        """Σ over the blocks of ``function(block, *arguments)``: one round."""
        result: S = self.rows.sum(function, *arguments)
        self.rounds += 1
        self.bytes_moved += self.rows.n_blocks * (n_bytes(arguments) + n_bytes(result))
        return result

    def part(self, function: Callable[..., Any], *arguments: Any) -> "Rounds":
        """The rows that ``function`` makes of these; what they count is added to these by :meth:`add`."""
        return Rounds(self.rows.derive(function, *arguments))

    def add(self, other: "Rounds") -> None:
        self.rounds += other.rounds
        self.bytes_moved += other.bytes_moved


# ---------------------------------------------------------------------- queries and sums
class FactorBlock(Protocol):
    """A block whose parts are factors Z (n, R), targets (n, T), prices (n, T) or (n, 1)."""

    @property
    def start(self) -> int: ...
    @property
    def parts(self) -> tuple[Any, ...]: ...


@dataclass(frozen=True)
class ChosenRows:
    """Some rows of a block; as the only part of derived rows it stands for all of them."""

    n_rows: int
    parts: tuple[Array, Array, Array]

    def __len__(self) -> int:
        return self.n_rows


def factors_of(block: FactorBlock) -> tuple[Array, Array, Array]:
    """Factors, targets and prices of a block, of the chosen rows where some were chosen."""
    first = block.parts[0]
    Z, targets, prices = first.parts if isinstance(first, ChosenRows) else block.parts
    return Z, targets, prices


class Query(NamedTuple):
    """Where sums are asked for: a point, one or two widths of the smoothing, and whether the Hessian, too.

    The Hessian, and what is said of the rows inside the parabola, is that of the last width.
    """

    coefficients: Array  # (T, R)
    intercepts: Array  # (T,)
    widths: tuple[float, ...]
    curvature: bool


class Line(NamedTuple):
    """A line from a point, and the step lengths at which the smoothed loss is asked for."""

    coefficients: Array
    intercepts: Array
    direction: Array  # (T, R)
    slope: Array  # (T,), of the intercepts
    lengths: Array
    width: float


@dataclass(frozen=True)
class Sums:
    """Sums over rows; the leading axis k is that of the widths, signs are (positive, negative)."""

    # risk, price: (1,), Σ C ℓ and Σ C
    risk: Array
    price: Array
    smoothed: Array  # (k,), Σ C ℓ_δ
    adjoint: Array  # (k, T, 2, R), Z'β
    # total, reward, shifted: (k, T, 2), Σ β, Σ target β and Σ β²/C
    total: Array
    reward: Array
    shifted: Array
    peak: Array  # (k, T, 2), the largest |β|/C
    # inner: (T, 4), over the rows inside the last parabola: their number, Σ C, Σ C u and Σ C u², where u is
    # the excess; empty for losses without a kink
    inner: Array
    inner_sides: Array  # (T, 2), over the same rows: Σ C s and Σ C s u, s the sign of β
    inner_adjoint: Array  # (T, 2, R), Z' of these
    # hessian: (h, R (R + 1) / 2), packed; h is 1 where all tasks share it, 0 where it was not asked for
    hessian: Array
    edge: Array  # (h, R), Z'D1
    corner: Array  # (h,), 1'D1

    def __add__(self, other: "Sums") -> "Sums":
        parts = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Sums(**{**parts, "peak": np.maximum(self.peak, other.peak)})


@kept_njit()
def unpacked(packed: Array, n_columns: int) -> Array:  # pragma: no cover (compiled)
    """The symmetric matrix of a packed upper triangle, column after column, in double precision."""
    full = np.empty((n_columns, n_columns))
    place = 0
    for j in range(n_columns):
        for i in range(j + 1):
            full[i, j] = full[j, i] = packed[place + i]
        place += j + 1
    return full


# ---------------------------------------------------------------------- Gram matrices by BLAS
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


# ---------------------------------------------------------------------- passes over a block
def block_sums(block: FactorBlock, loss: PrimalLoss, query: Query) -> Sums:
    """The sums of one block at a point."""
    Z, targets, prices = factors_of(block)
    part = _Pass(loss, query)
    curvature = np.empty(targets.shape)
    for rows, z in _doubles(Z):
        curvature[rows] = part.add(z, targets[rows], prices[rows])
    shared = loss.is_quadratic and prices.shape[1] == 1
    hessian, edge, corner = _curvature(Z, curvature[:, :1] if shared else curvature, query.curvature)
    return part.sums(hessian, edge, corner)


def line_sums(block: FactorBlock, loss: PrimalLoss, line: Line) -> Array:
    """Σ C ℓ_δ at each step length along a line: (n_lengths,)."""
    Z, targets, prices = factors_of(block)
    scores, change = np.empty(targets.shape), np.empty(targets.shape)
    for rows, z in _doubles(Z):
        scores[rows] = z @ line.coefficients.T + line.intercepts
        change[rows] = z @ line.direction.T + line.slope
    values = (loss.smoothed(targets, scores + length * change, line.width).value for length in line.lengths)
    return np.array([(prices * value).sum() for value in values])


def _doubles(Z: Array) -> Iterator[tuple[slice, Array]]:
    """Some rows of the factors at a time, in double precision, all in one piece of memory.

    Workers of a cluster give memory back at once: a new piece for each slice costs as much as the products.
    """
    n, n_columns = Z.shape
    room = (
        None
        if Z.dtype == np.float64
        else np.empty((min(n, _slice_rows(n_columns, _PASS_ENTRIES)), n_columns))
    )
    for rows in _slices(n, n_columns, _PASS_ENTRIES):
        if room is None:
            yield rows, Z[rows]
        else:
            z = room[: rows.stop - rows.start]
            z[...] = Z[rows]
            yield rows, z


def _slice_rows(n_columns: int, entries: int) -> int:
    return max(entries // n_columns, 64)


def _slices(n: int, n_columns: int, entries: int) -> Iterator[slice]:
    """Rows that have so many entries together."""
    size = _slice_rows(n_columns, entries)
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
    room = np.empty((min(rows.size, _slice_rows(R, _HESSIAN_ENTRIES)), R), Z.dtype)  # one for all slices
    for part in _slices(rows.size, R, _HESSIAN_ENTRIES):
        scaled = room[: part.stop - part.start]
        np.take(Z, rows[part], axis=0, out=scaled, mode="clip")  # the other modes take more memory
        scaled *= roots[part, None]
        add_gram(gram, scaled)
        edge += roots[part] @ scaled
    return pack(gram, uplo="U")[0], edge


# ---------------------------------------------------------------------- survey of the rows
@dataclass(frozen=True)
class Survey:
    """Sums that tell the scale of a problem."""

    squares: Array  # (R,), squared factors over the rows that were looked at
    n_looked_at: Array  # (1,), how many these are
    peak: Array  # (1,), the largest |target|
    # price, priced_target, priced_square: (T,), Σ C, Σ C target and Σ C target²
    price: Array
    priced_target: Array
    priced_square: Array
    risk: Array  # (1,), Σ C ℓ at scores of 0

    def __add__(self, other: "Survey") -> "Survey":
        parts = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Survey(**{**parts, "peak": np.maximum(self.peak, other.peak)})


def block_survey(block: FactorBlock, loss: PrimalLoss, share: int) -> Survey:
    """The survey of one block: of all targets, and of one in ``share`` rows of its factors."""
    Z, targets, prices = factors_of(block)
    some = np.asarray(Z[_chosen(block, share, 0)], float)
    prices = np.broadcast_to(prices, targets.shape)
    return Survey(
        squares=np.einsum("ij,ij->j", some, some),
        n_looked_at=np.array([float(some.shape[0])]),
        peak=np.array([np.abs(targets).max(initial=0.0)]),
        price=prices.sum(axis=0),
        priced_target=(prices * targets).sum(axis=0),
        priced_square=(prices * targets * targets).sum(axis=0),
        risk=np.array([(prices * loss.value(targets, np.zeros_like(targets))).sum()]),
    )


def thin(block: FactorBlock, share: int, seed: int) -> tuple[ChosenRows]:
    """About one in ``share`` rows, each counted ``share`` times; the choice hangs on row numbers alone."""
    Z, targets, prices = factors_of(block)
    rows = _chosen(block, share, seed)
    return (ChosenRows(Z.shape[0], (Z[rows], targets[rows], prices[rows] * float(share))),)


def _chosen(block: FactorBlock, share: int, seed: int) -> Array:
    """One in ``share`` rows of a block, by a number without pattern (splitmix64) that a row's number gives.

    Rows that come in turns are met evenly, and another partition into blocks chooses the same.
    """
    n = block.parts[0].shape[0]
    x = np.arange(block.start, block.start + n, dtype=np.uint64)
    x = x + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.flatnonzero((x ^ (x >> np.uint64(31))) % np.uint64(share) == 0)


# ---------------------------------------------------------------------- units
class Derivatives(NamedTuple):
    """Second derivatives of the smoothed loss in w and b; h is 1 where the tasks share them."""

    hessian: Array  # (h, R, R)
    edge: Array  # (h, R)
    corner: Array  # (h,)


@dataclass(frozen=True)
class Units:
    """The change of units; ``columns`` (R,) is 1 / (d_m s) of each column's block."""

    columns: Array
    kernel: float = 1.0  # s²
    target: float = 1.0  # t

    @property
    def value(self) -> float:
        return self.kernel / self.target / self.target

    def coefficients(self, w: Array) -> Array:
        """The caller's coefficients of the scaled ones."""
        return w * (self.columns * self.target)

    def scaled_coefficients(self, w: Array) -> Array:
        return w / self.columns / self.target

    def sums(self, sums: Sums) -> tuple[Sums, Derivatives | None]:
        """Sums in the scaled units, and the Hessian unpacked (None where there is none)."""
        dual, value = self.kernel / self.target, self.value
        scaled = Sums(
            risk=sums.risk * value,
            price=sums.price * dual,
            smoothed=sums.smoothed * value,
            adjoint=sums.adjoint * (self.columns * dual),
            total=sums.total * dual,
            reward=sums.reward * (dual / self.target),
            shifted=sums.shifted * value,
            peak=sums.peak,
            inner=sums.inner * np.array([1.0, dual, value, value / self.target]),
            inner_sides=sums.inner_sides * np.array([dual, dual / self.target]),
            inner_adjoint=sums.inner_adjoint * np.outer([dual, dual / self.target], self.columns),
            hessian=sums.hessian[:0].copy(),  # a view would keep the whole
            edge=sums.edge[:0],
            corner=sums.corner[:0],
        )
        if not sums.corner.size:
            return scaled, None
        hessian = np.empty((len(sums.hessian), self.columns.size, self.columns.size))
        for task, packed in enumerate(sums.hessian):
            hessian[task] = unpacked(packed, self.columns.size)
        hessian *= self.columns[:, None]
        hessian *= self.columns * self.kernel
        edge, corner = sums.edge * (self.columns * self.kernel), sums.corner * self.kernel
        return scaled, Derivatives(hessian, edge, corner)


def choose_units(survey: Survey, offsets: Array, costs: Array, has_signs: bool) -> Units:
    """The largest mean diagonal after costs, and the largest target, become of order one."""
    diagonals = np.add.reduceat(survey.squares, offsets[:-1]) / max(float(survey.n_looked_at[0]), 1.0)
    root = power_of_two(float(np.sqrt((diagonals / (costs * costs)).max())))
    target = 1.0 if has_signs else power_of_two(float(survey.peak[0]))
    return Units(1.0 / (np.repeat(costs, np.diff(offsets)) * root), root * root, target)
