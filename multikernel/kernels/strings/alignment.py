"""Local alignment: how well the best matching parts of two sequences fit, by the library parasail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._validation import check_positive_integer
from multikernel.kernels._columns import import_library
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.base import Kernel, checked
from multikernel.kernels.strings._letters import read_strings

_OF_PROTEINS = (
    *(f"blosum{level}" for level in (*range(30, 65, 5), 62, *range(65, 95, 5), 100)),
    *(f"pam{level}" for level in range(10, 510, 10)),
)
_OF_DNA = ("dnafull", "nuc44")
_PROTEIN_LETTERS, _ANY_RESIDUE = "ABCDEFGHIKLMNPQRSTVWXYZ", "X"
_DNA_LETTERS, _ANY_BASE = "ABCDGHKMNRSTVWY", "N"


@dataclass(frozen=True, repr=False)
class LocalAlignment(Kernel):
    """k(x, z) = the largest score of an alignment of a part of x with a part of z (Smith & Waterman).

    Letters that stand below each other count by the substitution matrix, and a gap of g letters costs
    gap_open + (g − 1) gap_extend; the empty alignment counts 0. In general **not** positive semidefinite
    (``is_psd`` is False): `EmpiricalMap(LocalAlignment())` is. It needs the library parasail, installed with
    the extra ``multikernel[sequences]``.

    Parameters
    ----------
    matrix : str, default="blosum62"
        A matrix of parasail: "blosum30" to "blosum100", "pam10" to "pam500" for proteins, "dnafull" or
        "nuc44" for DNA.
    gap_open : int, default=11
        What the first letter of a gap costs; at least `gap_extend`.
    gap_extend : int, default=1
        What every further letter of it costs.

    Examples
    --------
    >>> LocalAlignment()(["MKVLA", "KVW", "GG"])
    array([[22.,  9.,  0.],
           [ 9., 20.,  0.],
           [ 0.,  0., 12.]])

    Notes
    -----
    Small letters are read as capitals. The matrices know the ambiguous letters B, Z and X of proteins and
    those of IUPAC for DNA; any other letter is read as X or N, of which nothing is known, and U of DNA as T.
    The time is that of n² alignments of the lengths' product each: seconds for hundreds of proteins, minutes
    for thousands.

    References
    ----------
    T. F. Smith and M. S. Waterman (1981). Identification of common molecular subsequences. Journal of
    Molecular Biology 147, 195–197.

    J. Daily (2016). Parasail: SIMD C library for global, semi-global, and local pairwise sequence alignments.
    BMC Bioinformatics 17, 81.
    """

    matrix: str = "blosum62"
    gap_open: int = checked(11, check_positive_integer)
    gap_extend: int = checked(1, check_positive_integer)
    is_psd = False
    _reads_numbers = False
    _reads_tables = False
    _reads_strings = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.matrix not in _OF_PROTEINS + _OF_DNA:
            raise ValueError(
                "LocalAlignment matrix must be 'blosum30' to 'blosum100' or 'pam10' to 'pam500' (such as "
                f"'blosum62' or 'pam250'), 'dnafull' or 'nuc44'; got {self.matrix!r}."
            )
        if self.gap_open < self.gap_extend:
            raise ValueError(
                f"LocalAlignment gap_open must be at least gap_extend; got {self.gap_open} and "
                f"{self.gap_extend}."
            )

    def _resolve(self, rows: Rows) -> Kernel:
        _import_parasail()  # so that it is missed before anything is computed
        return self

    def _strings(self, rows: Rows) -> list[str]:
        is_dna = self.matrix in _OF_DNA
        strings: list[str] = rows.derived("spelled", is_dna, lambda: _spelled(read_strings(rows), is_dna))
        return strings

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        score = _Scorer(self.matrix, self.gap_open, self.gap_extend)
        right = self._strings(pair.right)
        for row, text in enumerate(self._strings(pair.left)):
            first = row if pair.symmetric else 0
            out[row, first:] = score(text, right[first:])
        if pair.symmetric:
            for row in range(len(out)):
                out[row + 1 :, row] = out[row, row + 1 :]

    def _diagonal(self, rows: Rows) -> np.ndarray:
        score = _Scorer(self.matrix, self.gap_open, self.gap_extend)
        return np.array([score(text, [text])[0] for text in self._strings(rows)], dtype=np.float64)


class _Scorer:
    """Scores of one sequence against others."""

    def __init__(self, matrix: str, gap_open: int, gap_extend: int) -> None:
        self._parasail = _import_parasail()
        self._matrix = getattr(self._parasail, matrix)
        self._gaps = (gap_open, gap_extend)

    def __call__(self, text: str, others: list[str]) -> list[int]:
        profile = self._parasail.profile_create_sat(text, self._matrix)  # wider numbers where 8 bits overflow
        align = self._parasail.sw_striped_profile_sat
        return [align(profile, other, *self._gaps).score for other in others]


def _import_parasail() -> Any:
    return import_library("parasail", "LocalAlignment", "sequences")


def _spelled(strings: list[str], is_dna: bool) -> list[str]:
    """Capitals that the matrix knows; all others as the letter that may be any."""
    known, unknown = (_DNA_LETTERS, _ANY_BASE) if is_dna else (_PROTEIN_LETTERS, _ANY_RESIDUE)
    table = {ord(letter): unknown for letter in set("".join(strings))}
    table |= {ord(spelling): letter for letter in known for spelling in (letter, letter.lower())}
    if is_dna:
        table |= {ord("U"): "T", ord("u"): "T"}
    return [text.translate(table) for text in strings]
