"""Kernels that count short patterns of letters, wherever in a sequence they occur.

A pattern of letters a_1 … a_k is the number Σ a_j A^(k − j), with A the size of the alphabet. Counts are
whole numbers, and so are all sums here: floating point holds them exactly up to 2^53, so that the order of
the additions does not matter and the matrices are symmetric bit by bit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._numba import compiled
from multikernel._validation import check_count, check_positive_integer
from multikernel.kernels._rows import Pair, Rows, mirror, product_tiles, row_blocks, squared_norms
from multikernel.kernels.base import checked
from multikernel.kernels.strings._letters import NAMED, Letters, SequenceKernel, check_alphabet

_LARGEST_CODE = 2**62
_DIRECT = 1 << 22  # patterns that may be looked up in a table of all of them
_CHUNK = 1 << 21  # patterns that are counted at one time
_BLOCK_ROWS = 128
_BLOCK_ELEMENTS = 1 << 20
_DENSE_SHARE = 0.04  # of products that are not zero, from which on BLAS is faster
_DENSE_ELEMENTS = 1 << 25  # entries that a table may have when it is written out
_LARGEST_KEPT = 1 << 23  # counts that are kept with their rows, 12 bytes each
_MOST_SUBSEQUENCES = 10_000

Term = tuple[float, scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]


class CountKernel(SequenceKernel):
    """k(x, z) = Σ weight · (counts of x) · (counts of z), over one or more ways to count patterns."""

    k: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_length()

    @property
    def _width(self) -> int:
        """Letters of the stretches whose patterns are counted."""
        return self.k

    def _weights(self) -> list[float]:
        """One for each of `_counts`."""
        return [1.0]

    @abstractmethod
    def _counts(self, windows: Windows) -> Iterator[Counts]:
        """The tables of counts, one after the other."""

    @property
    def _patterns_per_letter(self) -> int:
        """How many patterns are counted for each letter of a sequence, at most."""
        return len(self._weights())

    @property
    def _size(self) -> int:
        assert self.alphabet is not None
        return len(NAMED.get(self.alphabet, self.alphabet))

    def _check_length(self) -> None:
        """Patterns must be whole numbers of 64 bits."""
        if self.alphabet is None:
            return
        longest = 0
        while longest < self.k and self._size ** (longest + 1) <= _LARGEST_CODE:
            longest += 1
        if longest < self.k:
            raise ValueError(
                f"{type(self).__name__} k must be at most {longest} with an alphabet of {self._size} "
                f"letters, so that patterns have numbers; got {self.k}."
            )

    def _check_rows(self, rows: Rows) -> None:
        letters = self._letters(rows)
        if not len(Windows.of(letters, self._width).places):
            raise ValueError(
                f"{self!r} needs sequences with at least {self._width} letters of its alphabet in a row; "
                f"{rows.label} holds none (the longest sequence has {int(letters.lengths.max())} letters). "
                "Use shorter patterns, or another alphabet."
            )

    def _windows(self, rows: Rows) -> Windows:
        return Windows.of(self._letters(rows), self._width)

    def _all_counts(self, rows: Rows) -> Iterator[Counts]:
        """The tables of counts of `rows`, kept for the next time where they are small."""
        if len(self._letters(rows).codes) * self._patterns_per_letter > _LARGEST_KEPT:
            return self._counts(self._windows(rows))
        kept: list[Counts] = rows.derived("counts", self, lambda: list(self._counts(self._windows(rows))))
        return iter(kept)

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        right = self._all_counts(pair.right)
        if pair.symmetric:
            terms = ((weight, c.table, c.table) for weight, c in zip(self._weights(), right, strict=True))
        else:
            left = self._all_counts(pair.left)
            terms = (
                (weight, a.in_terms_of(b), b.table)
                for weight, a, b in zip(self._weights(), left, right, strict=True)
            )
        write_products(terms, out, half=pair.symmetric)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        total = np.zeros(len(rows))
        for weight, counts in zip(self._weights(), self._all_counts(rows), strict=True):
            total += weight * counts.squares()
        return total


@dataclass(frozen=True, repr=False)
class Spectrum(CountKernel):
    """k(x, z) = Σ_α c_α(x) c_α(z), with c_α(x) how often the k letters α stand in x, one after the other.

    Rows are strings in one column. A sequence of fewer than k letters has no patterns, so that it is similar
    to nothing; at least one training sequence must have one.

    Parameters
    ----------
    k : int, default=3
        Letters of a pattern.
    alphabet : {"dna", "rna", "protein"}, str of letters or None, default=None
        Patterns with a letter outside it (N, X, gaps) count nowhere. Of a named alphabet, small letters are
        read as capitals and U and T as the same; half of all training letters at least must be in it.
        None takes all letters of the training rows, as they are written: with a letter that only new rows
        have, a pattern counts nowhere either.

    Examples
    --------
    >>> Spectrum(k=2, alphabet="dna")(["ACACG", "CACA", "GGN"])
    array([[6., 5., 0.],
           [5., 5., 0.],
           [0., 0., 1.]])

    References
    ----------
    C. Leslie, E. Eskin and W. S. Noble (2002). The spectrum kernel: a string kernel for SVM protein
    classification. Pacific Symposium on Biocomputing, 564–575.
    """

    k: int = checked(3, check_positive_integer)
    alphabet: str | None = checked(None, check_alphabet)

    def _counts(self, windows: Windows) -> Iterator[Counts]:
        yield count_patterns(windows, range(self.k), self._size)


@dataclass(frozen=True, repr=False)
class Mismatch(CountKernel):
    """k(x, z) = Σ_α c_α(x) c_α(z), with c_α(x) how many stretches of x differ from α in few letters.

    α runs over all patterns of k letters of the alphabet; a stretch of k letters counts for every α from
    which it differs in at most `mismatches` of them. Nothing is enumerated: with N_r(x, z) the number of
    pairs of stretches that agree in exactly r places, k = Σ_r I(k − r) N_r, I(h) the number of patterns near
    both of two stretches at distance h, and N_r follows from the pairs that agree in r places or more.

    Parameters
    ----------
    k : int, default=3
    mismatches : int, default=1
        Below k; 0 is the spectrum kernel.
    alphabet : {"dna", "rna", "protein"}, str of letters or None, default="dna"
        As of :class:`Spectrum`. How many letters there are counts: of each, there is a pattern.

    Examples
    --------
    >>> Mismatch(k=2, mismatches=1)(["AC", "AG", "TT"])
    array([[7., 4., 2.],
           [4., 7., 2.],
           [2., 2., 7.]])

    References
    ----------
    C. Leslie, E. Eskin, A. Cohen, J. Weston and W. S. Noble (2004). Mismatch string kernels for
    discriminative protein classification. Bioinformatics 20, 467–476.
    """

    k: int = checked(3, check_positive_integer)
    mismatches: int = checked(1, check_count)
    alphabet: str | None = checked("dna", check_alphabet)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mismatches >= self.k:
            raise ValueError(
                f"Mismatch mismatches must be less than k = {self.k}, or every pattern matches every other; "
                f"got {self.mismatches}."
            )

    def _agreements(self) -> list[tuple[int, ...]]:
        """The places in which stretches are asked to agree: all but 2 · mismatches of them, or more."""
        sizes = range(self.k, max(-1, self.k - 2 * self.mismatches - 1), -1)
        return [places for size in sizes for places in combinations(range(self.k), size)]

    def _weights(self) -> list[float]:
        return [float(self._weight(len(places))) for places in self._agreements()]

    def _weight(self, i: int) -> int:
        """What a pair of stretches counts for each i places in which it agrees.

        Pairs that agree in exactly r places are N_r = Σ_{i ≥ r} (−1)^(i − r) C(i, r) M_i, M_i the sum over
        all i places of the pairs that agree in them.
        """
        least = max(0, self.k - 2 * self.mismatches)
        return sum(self._near_both(self.k - r) * (-1) ** (i - r) * comb(i, r) for r in range(least, i + 1))

    def _near_both(self, h: int) -> int:
        """How many patterns are near both of two stretches that differ in h places.

        Of these places, a have the letter of the first and b that of the second; j of the others differ.
        """
        k, m = self.k, self.mismatches
        total = 0
        for j in range(k - h + 1):
            elsewhere = comb(k - h, j) * (self._size - 1) ** j
            for a in range(h + 1):
                for b in range(h - a + 1):
                    if max(h - a, h - b) + j <= m:
                        total += elsewhere * comb(h, a) * comb(h - a, b) * (self._size - 2) ** (h - a - b)
        return total

    def _counts(self, windows: Windows) -> Iterator[Counts]:
        for places in self._agreements():
            yield count_patterns(windows, places, self._size)


@dataclass(frozen=True, repr=False)
class Gappy(CountKernel):
    """k(x, z) = Σ_α c_α(x) c_α(z), with c_α(x) how many stretches of x hold the letters α with gaps.

    α runs over all patterns of k letters. A stretch of k + gaps letters counts once for every α whose letters
    it holds in this order, with others between, before or after them: the gappy kernel of Leslie & Kuang with
    g = k + gaps. A sequence of fewer than k + gaps letters has no such stretch and is similar to nothing.

    Parameters
    ----------
    k : int, default=3
    gaps : int, default=1
        0 is the spectrum kernel.
    alphabet : {"dna", "rna", "protein"}, str of letters or None, default=None
        As of :class:`Spectrum`; a stretch that holds a letter outside it counts nowhere.

    Examples
    --------
    >>> Gappy(k=2, gaps=1, alphabet="dna")(["ACG", "AG", "AAG"])
    array([[3., 0., 1.],
           [0., 0., 0.],
           [1., 0., 2.]])

    References
    ----------
    C. Leslie and R. Kuang (2004). Fast string kernels using inexact matching for protein sequences. Journal
    of Machine Learning Research 5, 1435–1455.
    """

    k: int = checked(3, check_positive_integer)
    gaps: int = checked(1, check_count)
    alphabet: str | None = checked(None, check_alphabet)

    def __post_init__(self) -> None:
        super().__post_init__()
        if comb(self._width, self.k) > _MOST_SUBSEQUENCES:
            raise ValueError(
                f"Gappy k and gaps must leave at most {_MOST_SUBSEQUENCES} ways to choose k of k + gaps "
                f"letters; got {comb(self._width, self.k)} with k={self.k} and gaps={self.gaps}."
            )

    @property
    def _width(self) -> int:
        return self.k + self.gaps

    @property
    def _patterns_per_letter(self) -> int:
        return comb(self._width, self.k)

    def _counts(self, windows: Windows) -> Iterator[Counts]:
        yield count_subsequences(windows, self._width, self.k, self._size)


# --- how often which pattern occurs in which sequence: sparse tables of counts ------------------


@dataclass(frozen=True)
class Counts:
    """How often each pattern of the vocabulary occurs in each sequence."""

    patterns: np.ndarray  # those that occur, ascending
    table: scipy.sparse.csr_matrix  # (n, n_patterns), canonical

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
        return squared_norms(self.table)


@dataclass(frozen=True)
class Windows:
    """All stretches of `width` letters of the alphabet, sequence by sequence."""

    codes: np.ndarray  # letters of all sequences
    places: np.ndarray  # where each stretch begins in them
    starts: np.ndarray  # the stretches of row i are places[starts[i]:starts[i + 1]]

    @classmethod
    def of(cls, letters: Letters, width: int) -> Windows:
        """Stretches within one sequence and without letters outside the alphabet."""
        n_letters = len(letters.codes)
        if n_letters < width:
            return cls(letters.codes, np.empty(0, np.int64), np.zeros(len(letters) + 1, np.int64))
        outside = np.concatenate([[0], np.cumsum(letters.codes < 0)])
        complete = outside[width:] == outside[:-width]
        # of the sequence of each letter
        ends = np.repeat(letters.starts[1:], letters.lengths)[: len(complete)]
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
