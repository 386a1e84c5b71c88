"""Kernels of sequences read one column of strings as numbers: positions of their letters in an alphabet.

Of a named alphabet, small letters are read as capitals, and U and T as the same letter. A letter outside the
alphabet is -1: no pattern that holds it matches anything, not even itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._validation import WHOLE_VIEWS, RowError, is_missing
from multikernel.kernels._rows import Rows
from multikernel.kernels.base import Kernel

NAMED = {"dna": "ACGT", "rna": "ACGU", "protein": "ACDEFGHIKLMNPQRSTVWY"}
# What else a letter of a named alphabet may be written as.
_SPELLINGS = {"dna": {"U": "T"}, "rna": {"T": "U"}, "protein": {}}
_OUTSIDE = -1
_LEAST_SHARE = 0.5  # of the training letters that a named alphabet must know


@dataclass(frozen=True)
class Letters:
    """Sequences one after the other: row i is ``codes[starts[i]:starts[i + 1]]``."""

    codes: np.ndarray  # positions in the alphabet; -1 for letters outside it
    starts: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.starts)


class SequenceKernel(Kernel):
    """A kernel of one column of strings, by the letters of an alphabet."""

    alphabet: str | None
    _reads_numbers = False
    _reads_tables = False
    _reads_strings = True

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
        """The sequences as positions in the alphabet, kept with the rows for the next kernel."""
        alphabet = self.alphabet
        assert alphabet is not None
        return rows.derived("letters", alphabet, lambda: _letters(rows, alphabet))


def check_alphabet(name: str, alphabet: Any) -> str | None:
    """Return the name of an alphabet, letters, or None for those of the training rows."""
    if alphabet is None:
        return None
    requirement = (
        f"{name} must be 'dna', 'rna', 'protein', a string of letters such as 'ACGT', or None for the "
        "letters of the training rows"
    )
    if not isinstance(alphabet, str):
        raise TypeError(f"{requirement}; got {alphabet!r}.")
    if alphabet in NAMED:
        return alphabet
    if alphabet.lower() in NAMED:
        raise ValueError(f"{requirement}; got {alphabet!r}. Did you mean {alphabet.lower()!r}?")
    if not alphabet or len(set(alphabet)) < len(alphabet):
        what = "an empty string" if not alphabet else f"{alphabet!r}, which holds a letter twice"
        raise ValueError(f"{requirement}; got {what}.")
    return alphabet


def fit_alphabet(kernel: str, alphabet: str | None, rows: Rows) -> str:
    """The letters of the training rows for None; otherwise the alphabet, if it fits them.

    A named alphabet must know half of all letters, and letters that are given at least one of them: others
    are most likely a mistake, and their similarities would say nothing.
    """
    text = "".join(read_strings(rows))
    if alphabet is None:
        return "".join(sorted(set(text)))
    inside = np.count_nonzero(_encode(text, alphabet) != _OUTSIDE) / len(text)
    if inside == 0.0 or (alphabet in NAMED and inside < _LEAST_SHARE):
        known = {
            spelling for letter in NAMED.get(alphabet, alphabet) for spelling in (letter, letter.lower())
        }
        others = "".join(sorted(set(text) - known))
        raise ValueError(
            f"{kernel} alphabet {alphabet!r} must be that of the sequences, but {1.0 - inside:.0%} of the "
            f"letters of {rows.label} are outside it ({others[:20]}). Use another alphabet: 'dna', 'rna', "
            "'protein', the letters themselves, or None for the letters of the training rows."
        )
    return alphabet


def _letters(rows: Rows, alphabet: str) -> Letters:
    strings = read_strings(rows)
    starts = np.zeros(len(strings) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in strings], out=starts[1:])
    return Letters(_encode("".join(strings), alphabet), starts)


def _encode(text: str, alphabet: str) -> np.ndarray:
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    spelled = _spellings(alphabet)
    table = np.full(max(int(points.max(initial=0)), *map(ord, spelled)) + 1, _OUTSIDE, dtype=np.int32)
    table[[ord(letter) for letter in spelled]] = list(spelled.values())
    return table[points]


def _spellings(alphabet: str) -> dict[str, int]:
    """The position in the alphabet of every letter that is understood."""
    letters = NAMED.get(alphabet, alphabet)
    spelled = {letter: position for position, letter in enumerate(letters)}
    if alphabet in NAMED:
        spelled |= {other: spelled[letter] for other, letter in _SPELLINGS[alphabet].items()}
        spelled |= {letter.lower(): position for letter, position in spelled.items()}
    return spelled


def read_strings(rows: Rows) -> list[str]:
    """One column of strings, none of them empty or missing."""
    raw = rows.raw
    shape = tuple(getattr(raw, "shape", ()))
    if len(shape) > 2 or (len(shape) == 2 and shape[1] != 1):
        raise ValueError(
            f"a kernel of sequences needs one column of strings; {rows.label} has shape {shape}. Name the "
            "column that holds them, as in View('sequence', Spectrum(k=3), 'sequence')."
        )
    values: Sequence[Any] = np.asarray(raw, dtype=object).ravel().tolist() if shape else list(raw)
    if not values:
        raise ValueError(f"{rows.label} must hold at least one sequence; got 0 samples.")
    if all(type(value) is str and value for value in values):
        return list(values)
    return [_string(value, row, rows.label) for row, value in enumerate(values)]


def _string(value: Any, row: int, label: str) -> str:
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if isinstance(value, (list, tuple, np.ndarray)) and len(value) == 1:
        value = value[0]  # a table of one column, as a list of rows
    if isinstance(value, str):
        if not value:
            raise RowError(
                f"sequences must have at least one letter; {label} holds an empty string at row",
                row,
                ". Drop the row, or fill in what is missing.",
            )
        return str(value)
    missing = is_missing(value)
    what = f"a missing value ({value!r})" if missing else f"{value!r}"
    remedy = f"Drop the row. {WHOLE_VIEWS}" if missing else "Give the column of the sequences."
    raise RowError(f"a kernel of sequences needs strings; {label} holds {what} at row", row, f". {remedy}")
