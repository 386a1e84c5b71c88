"""Training Gram matrices of several kernels of the same rows, written together, all at once or on demand.

The products x · z of a tile are computed once, and so are the distances Σ |x − z|; every kernel makes its
values of them, and writes these and their mirror image below the diagonal, while they are in the cache. So
every page of the matrices is written once, and none is needed beside them. The squared distances of a tile
serve all Gaussians, the others all Laplacians, and one of these whose gamma is a power of two times that of a
wider one is a power of it: squaring takes a fraction of the time of an exponential.

To compute a kernel takes less time than to touch fresh memory for it. A stack on demand (`OnDemand`) writes
the kernels that a learner works with, and computes what is asked of others without storing them.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from multikernel._numba import compiled, kept_njit, read_only, smaller, transpose_square
from multikernel.kernels._rows import Pair, Rows, TileBuffers, cityblock_tile, product_strips, tiles
from multikernel.kernels.base import Kernel

_MOST_POWER = 16  # of one exponential: a power p has p times its relative error
_WIDTH = 256  # columns of a tile
_LARGEST_SHARE = 0.1  # of the largest number: below it, rounding on the way does not overflow


def joins(kernel: Kernel, rows: Rows, dtype: Any) -> bool:
    """Whether the training Gram of a fitted kernel can be written with others, and is finite in `dtype`."""
    if not (kernel.is_psd and kernel.is_fitted and kernel._written_from(rows)):
        return False
    with np.errstate(all="ignore"):  # of a positive semidefinite kernel no entry is above the largest k(x, x)
        return bool(kernel._diagonal(rows).max() <= _LARGEST_SHARE * float(np.finfo(dtype).max))


@dataclass(frozen=True)
class Joined:
    """A kernel that `joins` others, as it is, or divided by √(k(x, x) k(z, z)), times a number.

    `roots` are 1 / √k(x, x) of the rows, 0 where k(x, x) is; None leaves the kernel as it is.
    """

    kernel: Any
    roots: np.ndarray | None = None
    factor: float = 1.0

    def diagonal(self, rows: Rows) -> np.ndarray:
        """What stands on the diagonal of the training Gram."""
        plain = (
            self.kernel.evaluate_diagonal(rows) if self.roots is None else (self.roots > 0.0).astype(float)
        )
        return plain if self.factor == 1.0 else self.factor * plain

    def of_rows(self, positions: np.ndarray) -> Joined:
        """The same for some of the rows."""
        return self if self.roots is None else replace(self, roots=self.roots[positions])

    def some_rows(self, rows: Rows, positions: np.ndarray) -> np.ndarray:
        """Some rows of the training Gram."""
        K = np.empty((len(positions), len(rows)))
        self.kernel.evaluate(Pair(rows.take(positions), rows), K)
        if self.roots is not None:
            K *= np.multiply.outer(self.roots[positions], self.roots)
        if self.factor != 1.0:
            K *= self.factor
        K[np.arange(len(positions)), positions] = self.diagonal(rows)[positions]
        return K


# --- all tiles of all kernels ------------------------------------------------------------------

Put = Callable[[int, slice, slice, np.ndarray], None]
Chain = tuple[float, list[tuple[int, int]]]  # see `_chains`


def write_together(rows: Rows, kernels: Sequence[Joined], outs: Mapping[int, np.ndarray]) -> None:
    """Write the training Gram of some of the kernels, by number, into arrays (n, n), symmetric bit by bit.

    What is written of a kernel does not depend on which others are.
    """
    buffers = TileBuffers(1)

    def put(number: int, left: slice, right: slice, values: np.ndarray) -> None:
        if kernels[number].factor != 1.0:
            values = np.multiply(values, kernels[number].factor, out=buffers.shaped(values.shape)[0])
        _write_both(outs[number], left.start, right.start, values)

    _visit(rows, kernels, outs, put)
    for number, out in outs.items():
        np.fill_diagonal(out, kernels[number].diagonal(rows))


def quadratic_forms(rows: Rows, kernels: Sequence[Joined], beta: np.ndarray) -> np.ndarray:
    """β'Kβ for the training Gram K of each kernel, of which no matrix is made; shape (n_kernels,)."""
    squares = beta * beta
    totals = np.array([squares @ joined.diagonal(rows) for joined in kernels])

    def add(number: int, left: slice, right: slice, values: np.ndarray) -> None:
        corner = min(max(left.stop - right.start, 0), right.stop - right.start)
        here, there = beta[left], beta[right]
        twice = 2.0 * kernels[number].factor
        totals[number] += twice * float(here @ values[:, corner:] @ there[corner:])
        if corner:  # a part of the square at the diagonal, of which the upper half counts
            above = np.triu(values[:, :corner], left.start - right.start + 1)
            totals[number] += twice * float(here @ above @ there[:corner])

    _visit(rows, kernels, range(len(kernels)), add)
    return totals


def _visit(rows: Rows, kernels: Sequence[Joined], wanted: Collection[int], put: Put) -> None:
    """Hand over the values of the kernels wanted, by number, in tiles that cover the upper half."""
    sources = [joined.kernel._written_from(rows) for joined in kernels]
    dots = {number: kernels[number] for number in wanted if sources[number] == "products"}

    def chains(source: str) -> list[Chain]:
        gammas = {k: j.kernel._coefficient for k, j in enumerate(kernels) if sources[k] == source}
        return [(gamma, part) for gamma, chain in _chains(gammas) if (part := _up_to_last(chain, wanted))]

    with np.errstate(all="ignore"):
        if dots or chains("sqeuclidean"):
            _visit_products(rows, dots, chains("sqeuclidean"), wanted, put)
        if chains("cityblock"):
            _visit_distances(rows, chains("cityblock"), wanted, put)


def _visit_products(
    rows: Rows, dots: Mapping[int, Joined], chains: list[Chain], wanted: Collection[int], put: Put
) -> None:
    """Functions of the products x · z, and Gaussians."""
    buffers, norms = TileBuffers(2), read_only(rows.sq_norms)
    for left, first, strip in product_strips(rows.values, rows.values, half=True):
        for begin in range(first, len(rows), _WIDTH):
            right = slice(begin, min(begin + _WIDTH, len(rows)))
            scratch = buffers.shaped((len(strip), right.stop - begin))
            for number, joined in dots.items():
                products = strip[:, begin - first : right.stop - first]
                put(number, left, right, _values(joined, left, right, products, scratch))
            if chains:
                _negative_distances(read_only(strip), begin - first, norms[left], norms[right], scratch[0])
            for number, values in _follow(chains, wanted, scratch):
                put(number, left, right, values)


def _visit_distances(rows: Rows, chains: list[Chain], wanted: Collection[int], put: Put) -> None:
    """Laplacians."""
    buffers = TileBuffers(2)
    table, columns = read_only(rows.values), read_only(np.ascontiguousarray(rows.values.T))
    for left, right in tiles(len(rows), len(rows), half=True):
        scratch = buffers.shaped((left.stop - left.start, right.stop - right.start))
        cityblock_tile(table[left], columns, right.start, scratch[0])
        np.negative(scratch[0], out=scratch[0])
        for number, values in _follow(chains, wanted, scratch):
            put(number, left, right, values)


def _values(
    joined: Joined, left: slice, right: slice, products: np.ndarray, scratch: list[np.ndarray]
) -> np.ndarray:
    """The values of a kernel that is a function of the products."""
    values, factors = scratch
    np.copyto(values, products)
    joined.kernel._map(values)
    if joined.roots is not None:
        values *= np.multiply(joined.roots[left, None], joined.roots[right], out=factors)
    return values


@kept_njit(fastmath={"nnan", "nsz", "contract"}, nogil=True)  # sums keep their order, see below
def _negative_distances(strip, first, left, right, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """−‖x − z‖² from the products in some columns of a strip, and the squared norms of both sides."""
    for i in range(left.size):
        products, own, distances = strip[i], left[i], out[i]
        for j in range(right.size):
            # ‖x‖² + ‖z‖² first: addition commutes, so the result does not depend on the order of x and z
            distances[j] = smaller(2.0 * products[first + j] - (own + right[j]), 0.0)


@compiled
def _write_both(out, row, column, values):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write a tile into `out` at its place, and its mirror image below the diagonal."""
    height, width = values.shape
    for i in range(height):
        target, source = out[row + i], values[i]
        for j in range(width):
            target[column + j] = source[j]
    begin = min(max(row + height - column, 0), width)  # before, the tile has both triangles
    whole, last = height - height % 8, width - (width - begin) % 8
    for j in range(begin, last, 8):
        for i in range(0, whole, 8):
            transpose_square(out, column + j, row + i, values, i, j)
        for i in range(whole, height):
            for k in range(j, j + 8):
                out[column + k, row + i] = values[i, k]
    for j in range(last, width):
        for i in range(height):
            out[column + j, row + i] = values[i, j]


def _follow(
    chains: list[Chain], wanted: Collection[int], scratch: list[np.ndarray]
) -> Iterator[tuple[int, np.ndarray]]:
    """The values of the kernels wanted from negative distances, one after the other in the same array."""
    distances, values = scratch
    for gamma, chain in chains:
        np.multiply(distances, gamma, out=values)
        np.exp(values, out=values)
        for number, n_squarings in chain:
            for _ in range(n_squarings):
                np.square(values, out=values)
            if number in wanted:
                yield number, values


def _up_to_last(chain: list[tuple[int, int]], wanted: Collection[int]) -> list[tuple[int, int]]:
    """The chain without what follows the last that is wanted."""
    places = [place for place, (number, _) in enumerate(chain) if number in wanted]
    return chain[: places[-1] + 1] if places else []


def _chains(gammas: dict[int, float]) -> list[Chain]:
    """Kernels exp(−gamma · distance), the widest first, each with how often the values before it are squared.

    Each chain has the gamma of its first, which takes an exponential; kernels go by number.

    Examples
    --------
    >>> _chains({0: 4.0, 1: 1.0, 2: 3.0})
    [(1.0, [(1, 0)]), (3.0, [(2, 0)]), (4.0, [(0, 0)])]
    >>> _chains({0: 2.0, 1: 0.5, 2: 16.0})
    [(0.5, [(1, 0), (0, 2)]), (16.0, [(2, 0)])]
    """
    chains: list[Chain] = []
    last = math.nan
    for number, gamma in sorted(gammas.items(), key=lambda item: item[1]):
        fraction, exponent = math.frexp(gamma / last)
        # no fraction is 0.5 at the first, whose ratio is NaN
        is_power = fraction == 0.5 and math.ldexp(last, exponent - 1) == gamma
        if is_power and gamma <= _MOST_POWER * chains[-1][0]:
            chains[-1][1].append((number, exponent - 1))
        else:
            chains.append((gamma, [(number, 0)]))
        last = gamma
    return chains


# --- on demand ---------------------------------------------------------------------------------


class OnDemand:
    """A training stack (n_kernels, n, n) whose kernels are computed when they are asked for.

    To NumPy, and by number, it is an array like any other: what is asked for is written first. It knows its
    diagonals, some rows, the stack of some samples and quadratic forms without that.

    Parameters
    ----------
    memory : ndarray (n_kernels, n, n), C-contiguous and not initialised
    rows : list of Rows, for each kernel the training rows that it reads; kernels of one object are joined
    kernels : list of Joined
    """

    def __init__(self, memory: np.ndarray, rows: Sequence[Rows], kernels: Sequence[Joined]) -> None:
        self._memory, self._rows, self._kernels = memory, list(rows), list(kernels)
        self._is_written = np.zeros(len(memory), bool)
        self._lock = threading.Lock()  # machines may be learned side by side
        self.shape, self.dtype = memory.shape, memory.dtype

    def __len__(self) -> int:
        return len(self._memory)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.with_kernels(range(len(self))), dtype=dtype, copy=copy)

    def __getitem__(self, key: Any) -> np.ndarray:
        numbers = [int(key)] if isinstance(key, (int, np.integer)) else range(len(self))
        return self.with_kernels(numbers)[key]

    def with_kernels(self, numbers: Sequence[int] | range | np.ndarray) -> np.ndarray:
        """The memory of the stack, in which these kernels are written; nothing may be read of others."""
        with self._lock:
            missing = {int(m) for m in numbers if not self._is_written[m]}
            for rows, group in self._groups if missing else ():
                outs = {place: self._memory[m] for place, m in enumerate(group) if m in missing}
                if outs:
                    write_together(rows, [self._kernels[m] for m in group], outs)
            self._is_written[list(missing)] = True
        return self._memory

    @cached_property
    def _groups(self) -> list[tuple[Rows, list[int]]]:
        """The numbers of the kernels of each table of rows."""
        groups: dict[int, list[int]] = {}
        for m, rows in enumerate(self._rows):
            groups.setdefault(id(rows), []).append(m)
        return [(self._rows[group[0]], group) for group in groups.values()]

    def diagonals(self) -> np.ndarray:
        """The diagonal of each kernel, (n_kernels, n)."""
        return np.array([k.diagonal(r) for k, r in zip(self._kernels, self._rows, strict=True)])

    def some_rows(self, positions: np.ndarray) -> np.ndarray:
        """Some rows of each kernel, (n_kernels, n_positions, n)."""
        return np.stack([self.rows_of(m, positions) for m in range(len(self))])

    def rows_of(self, number: int, positions: np.ndarray) -> np.ndarray:
        """Some rows of one kernel, (n_positions, n), which is not written for them."""
        return self._kernels[number].some_rows(self._rows[number], positions)

    def of_samples(self, positions: np.ndarray) -> np.ndarray:
        """The stack of some of the samples, a new array."""
        out = np.empty((len(self), len(positions), len(positions)), self.dtype)
        for rows, group in self._groups:
            parts = [self._kernels[m].of_rows(positions) for m in group]
            write_together(rows.take(positions), parts, {place: out[m] for place, m in enumerate(group)})
        return out

    def quadratic_forms(self, numbers: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """β'K_mβ of some kernels, from the samples where β is not zero; shape (n_numbers,)."""
        used = np.flatnonzero(beta)
        forms = np.zeros(len(self))
        for rows, members in self._groups if used.size else ():
            group = [m for m in members if m in numbers]
            if group:
                parts = [self._kernels[m].of_rows(used) for m in group]
                forms[group] = quadratic_forms(rows.take(used), parts, beta[used])
        return forms[numbers]
