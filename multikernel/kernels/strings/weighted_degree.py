"""The weighted degree kernel: sequences compared place by place, for signals at fixed positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._numba import kept_njit
from multikernel._validation import RowError, check_count, check_positive_integer
from multikernel.kernels._rows import Pair, Rows, mirror, row_blocks, write_tile
from multikernel.kernels.base import checked
from multikernel.kernels.strings._letters import Letters, SequenceKernel, check_alphabet

# Without the liberties of fast arithmetic: k(x, z) and k(z, x) are to be equal bit by bit.
_exact = kept_njit(error_model="numpy", nogil=True)


@dataclass(frozen=True, repr=False)
class WeightedDegree(SequenceKernel):
    """k(x, z) = Σ_{d ≤ D} β_d Σ_l Σ_{s ≤ S} δ_s (m_d(l + s, l) + m_d(l, l + s)).

    m_d(i, j) is 1 where the d letters of x from place i on are those of z from place j on, else 0. D is the
    `degree`, β_d = 2 (D − d + 1) / (D (D + 1)), S the `shift` and δ_s = 1 / (2 (s + 1)). Without shift this
    is Σ_d β_d Σ_l m_d(l, l). Positive semidefinite for any shift, since Σ_s cos(s t) / (s + 1) ≥ −1/2.

    Parameters
    ----------
    degree : int, default=5
        The longest stretch of letters that counts by itself; longer ones count by their parts.
    shift : int, default=0
        How many places a signal may lie elsewhere. Without shift all sequences must have the same length;
        with it, places are counted from the first letter, and beyond an end nothing matches.
    alphabet : {"dna", "rna", "protein"}, str of letters or None, default=None
        As of :class:`Spectrum`: a letter outside it matches nothing, not even itself, so that such a letter
        can also fill sequences up to one length.

    Examples
    --------
    >>> WeightedDegree(degree=2, alphabet="dna")(["ACGT", "ACTT", "NCGN"]).round(4)
    array([[3.6667, 2.3333, 1.6667],
           [2.3333, 3.6667, 0.6667],
           [1.6667, 0.6667, 1.6667]])

    References
    ----------
    G. Rätsch and S. Sonnenburg (2004). Accurate splice site detection for Caenorhabditis elegans. Kernel
    Methods in Computational Biology, MIT Press, 277–298.

    G. Rätsch, S. Sonnenburg and B. Schölkopf (2005). RASE: recognition of alternatively spliced exons in C.
    elegans. Bioinformatics 21, i369–i377.
    """

    degree: int = checked(5, check_positive_integer)
    shift: int = checked(0, check_count)
    alphabet: str | None = checked(None, check_alphabet)

    def _gains(self, longest: int) -> np.ndarray:
        """What a run of 0, 1, … `longest` letters that agree counts: Σ_d β_d (run − d + 1)."""
        D = self.degree
        d = np.arange(1, D + 1)
        beta = 2.0 * (D - d + 1) / (D * (D + 1.0))
        runs = np.arange(longest + 1)[:, None]
        return np.asarray((beta * np.maximum(runs - d + 1, 0)).sum(axis=1))

    def _require_lengths(self, rows: Rows, length: int | None = None) -> None:
        """Refuse sequences of different lengths, which have no common places, unless these may shift."""
        if self.shift:
            return
        lengths = self._letters(rows).lengths
        expected = int(lengths[0]) if length is None else length
        others = np.flatnonzero(lengths != expected)
        if others.size:
            raise RowError(
                f"WeightedDegree without shift needs sequences of one length; {rows.label} holds "
                f"{int(lengths[others[0]])} letters instead of {expected} at row",
                int(others[0]),
                ". Align the sequences, fill them up with a letter outside the alphabet, or use shift > 0.",
            )

    def _check_rows(self, rows: Rows) -> None:
        self._require_lengths(rows)

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        left, right = self._letters(pair.left), self._letters(pair.right)
        self._require_lengths(pair.right)
        self._require_lengths(pair.left, int(right.lengths[0]))
        gains = self._gains(max(int(left.lengths.max()), int(right.lengths.max())))
        for rows in row_blocks(*out.shape):
            begin = rows.start if pair.symmetric else 0
            values = np.empty((rows.stop - rows.start, out.shape[1] - begin))
            _compare(_parts(left), _parts(right), (rows.start, begin), gains, self.shift, values)
            if pair.symmetric:
                mirror(values[:, : len(values)])
            write_tile(out, rows, slice(begin, out.shape[1]), values, pair.symmetric)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        self._require_lengths(rows)
        letters = self._letters(rows)
        gains = self._gains(int(letters.lengths.max()))
        diagonal = np.empty((len(letters), 1))
        for row in range(len(letters)):
            _compare(_parts(letters), _parts(letters), (row, row), gains, self.shift, diagonal[row : row + 1])
        return diagonal[:, 0]


def _parts(letters: Letters) -> tuple[np.ndarray, np.ndarray]:
    return letters.codes, letters.starts


@_exact
def _compare(
    left: tuple[np.ndarray, np.ndarray],
    right: tuple[np.ndarray, np.ndarray],
    first: tuple[int, int],
    gains: np.ndarray,
    shift: int,
    values: np.ndarray,
) -> None:
    """values[i, j] = similarity of the sequences first[0] + i of the left and first[1] + j of the right."""
    for i in range(values.shape[0]):
        x = left[0][left[1][first[0] + i] : left[1][first[0] + i + 1]]
        for j in range(values.shape[1]):
            z = right[0][right[1][first[1] + j] : right[1][first[1] + j + 1]]
            total = _runs(x, z, gains)
            for s in range(1, shift + 1):
                total += (_runs(x[s:], z, gains) + _runs(x, z[s:], gains)) / (2.0 * (s + 1.0))
            values[i, j] = total


@_exact
def _runs(x: np.ndarray, z: np.ndarray, gains: np.ndarray) -> float:
    """The sum of what runs of equal letters count, place by place."""
    total = 0.0
    run = 0
    for place in range(min(len(x), len(z))):
        if x[place] == z[place] and x[place] >= 0:
            run += 1
        else:
            total += gains[run]
            run = 0
    return total + gains[run]
