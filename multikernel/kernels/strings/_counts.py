"""How often which pattern occurs in which sequence: sparse tables of counts, and sums of their products.

A pattern of letters a_1 … a_k is the number Σ a_j A^(k − j), with A the size of the alphabet. Counts are
whole numbers, and so are all sums here: floating point holds them exactly up to 2^53, so that the order of
the additions does not matter and the matrices are symmetric bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._numba import compiled
from multikernel.kernels._rows import mirror, product_tiles, row_blocks
from multikernel.kernels.strings._letters import Letters

LARGEST_CODE = 2**62
_DIRECT = 1 << 22  # patterns that may be looked up in a table of all of them
_CHUNK = 1 << 21  # patterns that are counted at one time
_BLOCK_ROWS = 128
_BLOCK_ELEMENTS = 1 << 20
_DENSE_SHARE = 0.04  # of products that are not zero, from which on BLAS is faster
_DENSE_ELEMENTS = 1 << 25  # entries that a table may have when it is written out

Term = tuple[float, scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]


@dataclass(frozen=True)
class Counts:
    """How often each pattern of the vocabulary occurs in each sequence.

    Attributes
    ----------
    patterns : ndarray of int64, shape (n_patterns,)
        Those that occur, ascending.
    table : csr_matrix of shape (n, n_patterns), float64
        Canonical.
    """

    patterns: np.ndarray
    table: scipy.sparse.csr_matrix

    def in_terms_of(self, other: Counts) -> scipy.sparse.csr_matrix:
        """The table with the patterns of `other` for columns; those that it does not have are left out."""
        if self is other:
            return self.table
        places = np.searchsorted(other.patterns, self.patterns)
        places[places == len(other.patterns)] = 0
        known = other.patterns[places] == self.patterns if len(other.patterns) else places < 0
        kept = known[self.table.indices]
        starts = np.concatenate([[0], np.cumsum(kept)])[self.table.indptr]
        columns = places[self.table.indices[kept]]
        shape = (self.table.shape[0], len(other.patterns))
        return scipy.sparse.csr_matrix((self.table.data[kept], columns, starts), shape=shape)

    def squares(self) -> np.ndarray:
        """Σ count² of each sequence."""
        return np.asarray(self.table.multiply(self.table).sum(axis=1), dtype=np.float64).ravel()


@dataclass(frozen=True)
class Windows:
    """All stretches of `width` letters of the alphabet, sequence by sequence.

    Attributes
    ----------
    codes : ndarray of int32
        Letters of all sequences.
    places : ndarray of int64
        Where each stretch begins in them.
    starts : ndarray of int64, shape (n + 1,)
        The stretches of row i are ``places[starts[i]:starts[i + 1]]``.
    """

    codes: np.ndarray
    places: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, letters: Letters, width: int) -> Windows:
        """Stretches within one sequence and without letters outside the alphabet."""
        n_letters = len(letters.codes)
        if n_letters < width:
            return cls(letters.codes, np.empty(0, np.int64), np.zeros(len(letters) + 1, np.int64))
        outside = np.concatenate([[0], np.cumsum(letters.codes < 0)])
        complete = outside[width:] == outside[:-width]
        ends = np.repeat(letters.starts[1:], letters.lengths)[
            : len(complete)
        ]  # of the sequence of each letter
        complete &= np.arange(width, n_letters + 1) <= ends
        starts = np.concatenate([[0], np.cumsum(complete)])[np.minimum(letters.starts, len(complete))]
        return cls(letters.codes, np.flatnonzero(complete), starts)

    def patterns(self, positions: Sequence[int], size: int) -> np.ndarray:
        """The letters at some positions of every stretch, as one number each."""
        numbers = np.zeros(len(self.places), dtype=np.int64)
        for position in positions:
            numbers *= size
            numbers += self.codes[self.places + position]
        return numbers

    def part(self, rows: slice) -> Windows:
        """The stretches of some rows."""
        starts = self.starts[rows.start : rows.stop + 1]
        return Windows(self.codes, self.places[starts[0] : starts[-1]], starts - starts[0])


def count_patterns(windows: Windows, positions: Sequence[int], size: int) -> Counts:
    """Of every stretch one pattern: its letters at some positions."""
    numbers = windows.patterns(positions, size)
    return _counted(numbers, np.ones(len(numbers)), windows.starts, size ** len(positions))


def count_subsequences(windows: Windows, width: int, k: int, size: int) -> Counts:
    """Of every stretch all patterns of k of its letters in their order, each pattern once for a stretch."""
    places = list(combinations(range(width), k))
    space = size**k
    chunks = [
        _subsequences(windows.part(rows), places, size) for rows in _chunks(windows.starts, len(places))
    ]
    numbers, counts, sizes = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
    return _counted(numbers, counts, np.concatenate([[0], np.cumsum(sizes)]), space)


def _chunks(starts: np.ndarray, patterns_per_stretch: int) -> Iterator[slice]:
    """Slices of rows that have about `_CHUNK` patterns each."""
    most = max(1, _CHUNK // patterns_per_stretch)
    first, n = 0, len(starts) - 1
    while first < n:
        last = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
        last = min(n, max(last, first + 1))
        yield slice(first, last)
        first = last


def _subsequences(
    windows: Windows, places: Sequence[Sequence[int]], size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Patterns of some rows, how often each occurs, and how many different ones each row has."""
    numbers = np.stack([windows.patterns(positions, size) for positions in places], axis=1)
    numbers.sort(axis=1)
    first = np.ones(numbers.shape, dtype=bool)
    first[:, 1:] = numbers[:, 1:] != numbers[:, :-1]
    ends = np.concatenate([[0], np.cumsum(first.sum(axis=1))])[windows.starts]
    counts = _counted(numbers[first], np.ones(int(ends[-1])), ends, size ** len(places[0]))
    return counts.patterns[counts.table.indices], counts.table.data, np.diff(counts.table.indptr)


def _counted(numbers: np.ndarray, counts: np.ndarray, starts: np.ndarray, space: int) -> Counts:
    """Patterns of row i are ``numbers[starts[i]:starts[i + 1]]``; what occurs twice is added up."""
    patterns, columns = _compressed(numbers, space)
    shape = (len(starts) - 1, len(patterns))
    table = scipy.sparse.csr_matrix((counts, columns, starts), shape=shape)
    table.sum_duplicates()
    return Counts(patterns, table)


def _compressed(numbers: np.ndarray, space: int) -> tuple[np.ndarray, np.ndarray]:
    """The different numbers, ascending, and the place of each among them."""
    if space > _DIRECT:
        patterns, columns = np.unique(numbers, return_inverse=True)
        return patterns, columns
    found = np.zeros(space, dtype=bool)
    found[numbers] = True
    patterns = np.flatnonzero(found)
    lookup = np.zeros(space, dtype=np.int32)
    lookup[patterns] = np.arange(len(patterns), dtype=np.int32)
    return patterns, lookup[numbers]


# --- products of tables, written into Gram matrices --------------------------------------------


def write_products(terms: Iterable[Term], out: np.ndarray, *, half: bool) -> None:
    """Write Σ weight · left rightᵀ into `out`; `half` where left and right are one table in every term."""
    exact = out if out.dtype == np.float64 else np.empty(out.shape)
    exact[...] = 0.0
    for weight, left, right in terms:
        add = _add_dense if _is_dense(left, right) else _add_sparse
        add(weight, left, right, exact, half)
    if half:
        _mirror_all(exact)
    if exact is not out:
        out[...] = exact


def _is_dense(left: Any, right: Any) -> bool:
    if max(left.shape[0], right.shape[0]) * left.shape[1] > _DENSE_ELEMENTS or not left.shape[1]:
        return False
    filled = left.nnz / max(1, np.prod(left.shape)) * right.nnz / max(1, np.prod(right.shape))
    return bool(filled > _DENSE_SHARE)


def _add_dense(weight: float, left: Any, right: Any, out: np.ndarray, half: bool) -> None:
    A = left.toarray()
    B = A if right is left else right.toarray()
    for rows, columns, products in product_tiles(A, B, half=half):
        out[rows, columns] += weight * products


def _add_sparse(weight: float, left: Any, right: Any, out: np.ndarray, half: bool) -> None:
    table = (left.indptr.astype(np.int64), left.indices.astype(np.int32, copy=False), left.data)
    others = _columns_of(right)
    n, width = out.shape
    height = max(1, min(_BLOCK_ROWS, _BLOCK_ELEMENTS // max(1, width)))
    buffer = np.empty((height, width))
    for first in range(0, n, height):
        rows = slice(first, min(first + height, n))
        begin = first if half else 0
        values = buffer[: rows.stop - first]
        values[:, begin:] = 0.0
        _accumulate(table, first, others, begin, values)
        out[rows, begin:] += weight * values[:, begin:]


def _columns_of(table: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Where the rows of each pattern begin and end, these rows, and their counts."""
    columns = table.tocsc()
    bounds = columns.indptr.astype(np.int64)
    return bounds[:-1].copy(), bounds[1:].copy(), columns.indices.astype(np.int32, copy=False), columns.data


@compiled
def _accumulate(
    table: tuple[np.ndarray, ...], first: int, others: tuple[np.ndarray, ...], least: int, values: np.ndarray
) -> None:
    """values[i, j] += Σ counts of row first + i times those of row j, for rows j of at least `least`.

    `others` is the other table by columns; their starts move on to `least`, which never goes back.
    """
    indptr, patterns, counts = table
    starts, ends, rows, row_counts = others
    for i in range(values.shape[0]):
        for place in range(indptr[first + i], indptr[first + i + 1]):
            pattern = patterns[place]
            count = counts[place]
            start = starts[pattern]
            end = ends[pattern]
            while start < end and rows[start] < least:
                start += 1
            starts[pattern] = start
            for other in range(start, end):
                values[i, rows[other]] += count * row_counts[other]


def _mirror_all(out: np.ndarray) -> None:
    """Copy what is right of the diagonal to the left of it, some rows at a time."""
    for rows in row_blocks(len(out), len(out), _BLOCK_ROWS * len(out)):
        mirror(out[rows, rows])
        out[rows.stop :, rows] = out[rows, rows.stop :].T
