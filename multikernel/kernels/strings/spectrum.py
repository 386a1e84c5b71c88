"""Kernels that count short patterns of letters, wherever in a sequence they occur."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from multikernel._validation import check_count, check_positive_integer
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.base import checked
from multikernel.kernels.strings._counts import (
    LARGEST_CODE,
    Counts,
    Windows,
    count_patterns,
    count_subsequences,
    write_products,
)
from multikernel.kernels.strings._letters import NAMED, SequenceKernel, check_alphabet

_LARGEST_KEPT = 1 << 23  # counts that are kept with their rows, 12 bytes each
_MOST_SUBSEQUENCES = 10_000


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
        while longest < self.k and self._size ** (longest + 1) <= LARGEST_CODE:
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

    References
    ----------
    C. Leslie, E. Eskin and W. S. Noble (2002). The spectrum kernel: a string kernel for SVM protein
    classification. Pacific Symposium on Biocomputing, 564–575.

    Examples
    --------
    >>> Spectrum(k=2, alphabet="dna")(["ACACG", "CACA", "GGN"])
    array([[6., 5., 0.],
           [5., 5., 0.],
           [0., 0., 1.]])
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

    References
    ----------
    C. Leslie, E. Eskin, A. Cohen, J. Weston and W. S. Noble (2004). Mismatch string kernels for
    discriminative protein classification. Bioinformatics 20, 467–476.

    Examples
    --------
    >>> Mismatch(k=2, mismatches=1)(["AC", "AG", "TT"])
    array([[7., 4., 2.],
           [4., 7., 2.],
           [2., 2., 7.]])
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

    References
    ----------
    C. Leslie and R. Kuang (2004). Fast string kernels using inexact matching for protein sequences. Journal
    of Machine Learning Research 5, 1435–1455.

    Examples
    --------
    >>> Gappy(k=2, gaps=1, alphabet="dna")(["ACG", "AG", "AAG"])
    array([[3., 0., 1.],
           [0., 0., 0.],
           [1., 0., 2.]])
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
