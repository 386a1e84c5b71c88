"""What kernels of sequences have in common: an alphabet, and one column of strings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.base import Kernel
from multikernel.kernels.strings._counts import LARGEST_CODE, Counts, Windows
from multikernel.kernels.strings._letters import Letters, alphabet_size, check_alphabet, encoded, fit_alphabet
from multikernel.kernels.strings._products import write_products

_LARGEST_KEPT = 1 << 23  # counts that are kept with their rows, 12 bytes each


class SequenceKernel(Kernel):
    """A kernel of one column of strings, by the letters of an alphabet."""

    alphabet: str | None
    _reads_numbers = False

    def _check_alphabet(self) -> None:
        object.__setattr__(self, "alphabet", check_alphabet(type(self).__name__, self.alphabet))

    @property
    def is_fitted(self) -> bool:
        return self.alphabet is not None

    def _resolve(self, rows: Rows) -> Kernel:
        fitted = replace(self, alphabet=fit_alphabet(type(self).__name__, self.alphabet, rows))  # type: ignore[type-var]
        fitted._check_rows(rows)
        return fitted

    def _check_rows(self, rows: Rows) -> None:
        """Refuse training rows of which nothing is left to compare."""

    def _letters(self, rows: Rows) -> Letters:
        assert self.alphabet is not None
        return encoded(rows, self.alphabet)


class CountKernel(SequenceKernel):
    """k(x, z) = Σ weight · (counts of x) · (counts of z), over one or more ways to count patterns."""

    @property
    @abstractmethod
    def _width(self) -> int:
        """Letters of the stretches whose patterns are counted."""

    @abstractmethod
    def _weights(self) -> list[float]:
        """One for each of `_counts`."""

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
        return alphabet_size(self.alphabet)

    def _check_length(self, name: str, length: int) -> None:
        """Patterns must be whole numbers of 64 bits."""
        if self.alphabet is None:
            return
        longest = 0
        while longest < length and self._size ** (longest + 1) <= LARGEST_CODE:
            longest += 1
        if longest < length:
            raise ValueError(
                f"{type(self).__name__} {name} must be at most {longest} with an alphabet of {self._size} "
                f"letters, so that patterns have numbers; got {length}."
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
