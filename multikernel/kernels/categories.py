"""Kernels of categories: texts, whole numbers and logical values, which are equal or not."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from multikernel._validation import RowError, check_number
from multikernel.kernels._columns import codes_of, columns_of, missing_in, same_width
from multikernel.kernels._distances import direct_distances
from multikernel.kernels._rows import Pair, Rows, row_blocks
from multikernel.kernels.base import Kernel


@dataclass(frozen=True, repr=False)
class Hamming(Kernel):
    """k(x, z) = (1 / d) Σ [x_j = z_j], the share of the d columns in which two rows are equal.

    With `gamma`, k(x, z) = exp(−gamma (1 − share)), which falls faster as rows differ in more columns. Both
    are positive semidefinite: [x_j = z_j] is the product of two indicators of categories, and the exponential
    of a kernel is one. Categories that no training row has are like any other.

    Parameters
    ----------
    gamma : float or None, default=None

    Notes
    -----
    Columns may hold texts, objects that can be compared, whole numbers or logical values. Entries that are
    missing are refused: :class:`Mixed` reads them.

    Examples
    --------
    >>> Hamming()([["a", "x"], ["a", "y"]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    >>> Hamming(gamma=2.0)([["a", "x"], ["a", "y"]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    gamma: float | None = None
    _reads_numbers = False

    def __post_init__(self) -> None:
        if self.gamma is not None:
            object.__setattr__(self, "gamma", check_number("Hamming gamma", self.gamma, above=0.0))

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        right = _entries(pair.right)
        left = right if pair.symmetric else _entries(pair.left)
        same_width(left, right, (pair.left.label, pair.right.label))
        known: list[dict[Hashable, int]] = [{} for _ in right]
        columns = _coded(right, known, pair.right)
        rows = columns if pair.symmetric else _coded(left, known, pair.left)
        direct_distances("hamming", rows, columns, out)
        for block in row_blocks(*out.shape):
            values = out[block]
            if self.gamma is None:
                np.subtract(1.0, values, out=values)
            else:
                values *= -self.gamma
                np.exp(values, out=values)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        entries = _entries(rows)
        _coded(entries, [{} for _ in entries], rows)
        return np.ones(len(entries[0]))


def _entries(rows: Rows) -> list[np.ndarray]:
    columns = columns_of(rows)
    for place, column in enumerate(columns):
        missing = missing_in(column)
        if missing.any():
            raise RowError(
                f"Hamming needs a category everywhere; column {place} of {rows.label} is missing at row",
                int(np.flatnonzero(missing)[0]),
                ". Use Mixed(), which reads gaps, or fill them with a category of their own.",
            )
    return columns


def _coded(columns: list[np.ndarray], known: list[dict[Hashable, int]], rows: Rows) -> np.ndarray:
    """Numbers for the categories, a table (n, d)."""
    coded = [
        codes_of(column.tolist(), names, f"column {place} of {rows.label}")
        for place, (column, names) in enumerate(zip(columns, known, strict=True))
    ]
    return np.ascontiguousarray(np.column_stack(coded))
