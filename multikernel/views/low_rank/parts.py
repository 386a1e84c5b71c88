"""A table in blocks of rows, each read by all views: what views have in common, they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._validation import RowError, all_finite
from multikernel.kernels._rows import Pair, Rows, squared_norms, take_rows
from multikernel.views._finish import naming
from multikernel.views.columns import n_rows
from multikernel.views.low_rank.view import FactorView

_BLOCK_ROWS = 1024  # whose similarities are computed at one time: they stay near the processor


@dataclass(frozen=True)
class Part:
    """One view on one block of rows: its place in the factors of all views and rows.

    Attributes
    ----------
    index : int
        Of the view in its bank.
    rows, columns : slice
        Where its factors stand in those of all.
    """

    index: int
    view: FactorView
    rows: slice
    columns: slice
    shared: _SharedRows

    def write(self, Z: np.ndarray) -> None:
        """Write the factors into their place in Z, float64 or float32."""
        self._write(Z, diagonal=False)

    def write_with_traces(self, Z: np.ndarray) -> tuple[float, float]:
        """Write the factors into their place in Z; returns Σ k(x, x) and Σ ‖z‖² over the rows."""
        factors, exact = self._write(Z, diagonal=True)
        assert exact is not None
        return float(exact.sum()), float(squared_norms(factors).sum())

    def diagonal(self) -> np.ndarray:
        """Exact k(x, x) of each row after the transforms."""
        with self._naming_rows():
            return self.view.diagonal(self.shared.pair(self.view))

    def _write(self, Z: np.ndarray, *, diagonal: bool) -> tuple[np.ndarray, np.ndarray | None]:
        place = Z[self.rows, self.columns]
        factors = place if Z.dtype == np.float64 else np.empty(place.shape)
        with self._naming_rows():
            exact = self.view.write(self.shared.pair(self.view), factors, diagonal=diagonal)
            if factors is not place:
                _store(place, factors, self.view.label)
        return factors, exact

    @contextmanager
    def _naming_rows(self) -> Iterator[None]:
        """Let an error about a row of the block name its row in the table."""
        try:
            yield
        except RowError as error:
            raise error.in_row(self.rows.start + error.row) from None


def _store(place: np.ndarray, factors: np.ndarray, label: str) -> None:
    """Write factors in a lower precision; those that do not fit it are refused."""
    with np.errstate(over="ignore", under="ignore"):
        place[...] = factors
    if not all_finite(place):
        row = int(np.argmax(~np.isfinite(place).all(axis=1)))
        raise RowError(
            f"the factors of {label} do not fit in {place.dtype.name} at row",
            row,
            ". Rescale its columns, or use dtype='float64'.",
        )


def iter_parts(table: Any, views: Sequence[FactorView], active: Sequence[int]) -> Iterator[Part]:
    """Every active view on every block of rows, block after block; factors stand side by side."""
    ends = np.cumsum([views[index].rank for index in active]).tolist()
    columns = [slice(end - views[index].rank, end) for index, end in zip(active, ends, strict=True)]
    n = n_rows(table)
    for start in range(0, n, _BLOCK_ROWS):
        rows = slice(start, min(start + _BLOCK_ROWS, n))
        block = table if n <= _BLOCK_ROWS else take_rows(table, rows)
        shared = _SharedRows(block, [views[index] for index in active])
        for index, place in zip(active, columns, strict=True):
            yield Part(index, views[index], rows, place, shared)


class _SharedRows:
    """The rows of a table as several views see them, and their products with landmarks."""

    def __init__(self, table: Any, views: Sequence[FactorView]) -> None:
        self._table = table
        self._uses = [id(view.map.landmarks) for view in views if view.map is not None]
        self._rows: dict[tuple[Any, int], Rows] = {}
        self._pairs: dict[tuple[int, int], Pair] = {}

    def pair(self, view: FactorView) -> Pair:
        """The view's rows against its landmarks; one object for all views that have both in common."""
        assert view.map is not None
        columns = (view.selection, id(view.scaling))
        if columns not in self._rows:
            with naming(view.label):
                self._rows[columns] = view.rows(self._table)
        rows, landmarks = self._rows[columns], view.map.landmarks
        place = (id(rows), id(landmarks))
        if place not in self._pairs:
            keep = landmarks is not None and self._uses.count(id(landmarks)) > 1
            self._pairs[place] = view.map.pair(view.kernel, rows, keep=keep)
        return self._pairs[place]
