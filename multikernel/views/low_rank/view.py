"""One view of a low-rank bank: which map stands for its kernel, and its factors of any rows.

A table is read in blocks of rows, each by all views: what views have in common, they share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from multikernel._validation import RowError, all_finite, naming, naming_rows
from multikernel.kernels import Kernel, Kronecker, Pairwise, Precomputed
from multikernel.kernels._rows import Pair, Rows, squared_norms, take_rows
from multikernel.views.columns import Scaling, Selection, n_rows
from multikernel.views.low_rank.maps import FeatureMap, evaluate_diagonal
from multikernel.views.low_rank.transforms import FactorStep, Shift, UnitLength, check_transforms
from multikernel.views.view import View, has_part

_BLOCK_ROWS = 1024  # whose similarities are computed at one time: they stay near the processor


@dataclass(frozen=True, eq=False)
class FactorView:
    """A view after fit: its kernel with numbers for parameters, its columns, its map and its transforms.

    `traces` are Σ k(x, x) and Σ ‖z‖² over the reference rows after the transforms; `gram_error` is
    ‖K − Z Zᵀ‖ / ‖K‖ before them, on some of the reference rows.
    """

    name: str
    kernel: Kernel
    selection: Selection
    scaling: Scaling | None = field(repr=False)
    approximation: str
    map: FeatureMap | None = field(repr=False)
    steps: tuple[FactorStep, ...] = field(repr=False)
    traces: np.ndarray = field(repr=False)
    gram_error: float

    @property
    def label(self) -> str:
        return f"view {self.name!r}"

    @property
    def rank(self) -> int:
        """Number of columns of its factors; 0 for a view that is not active."""
        return 0 if self.map is None else self.map.rank

    def dropped(self) -> FactorView:
        """The same view without what its factors are computed from."""
        return replace(self, scaling=None, map=None, steps=())

    def rows(self, table: Any) -> Rows:
        """The view's columns of `table`, scaled as the reference rows were."""
        rows = Rows(self.selection.take(table, self.label), self.label, one_column=self.selection.scalar)
        return rows if self.scaling is None else self.scaling.rows(rows)

    def write(self, pair: Pair, Z: np.ndarray, *, diagonal: bool = False) -> np.ndarray | None:
        """Write the factors of the pair's left rows into Z (n, rank), float64; returns k(x, x) if asked."""
        assert self.map is not None
        pair.left.label = self.label
        with naming(self.label):
            self.map.write(self.kernel, pair, Z)
            return self._transform(pair.left, Z, diagonal)

    def diagonal(self, pair: Pair) -> np.ndarray:
        """Exact k(x, x) of the pair's left rows after the transforms."""
        # only a centre is a matter of factors
        width = self.rank if any(isinstance(step, Shift) for step in self.steps) else 0
        Z = np.empty((len(pair.left), width))
        if width:
            exact = self.write(pair, Z, diagonal=True)
        else:
            pair.left.label = self.label
            with naming(self.label):
                exact = self._transform(pair.left, Z, True)
        assert exact is not None
        return exact

    def _transform(self, rows: Rows, Z: np.ndarray, diagonal: bool) -> np.ndarray | None:
        lengths = [place for place, step in enumerate(self.steps) if isinstance(step, UnitLength)]
        last = len(self.steps) if diagonal else max(lengths, default=-1)  # the last that needs k(x, x)
        exact = evaluate_diagonal(self.kernel, rows) if last >= 0 else None
        for place, step in enumerate(self.steps):
            exact = step.apply(Z, exact if place <= last else None)
        return exact


def check_low_rank(view: View) -> None:
    """Refuse a view whose kernel or transforms factors cannot stand for."""
    with naming(f"view {view.name!r}"):
        check_transforms(view.transforms)
        if has_part(view.kernel, Precomputed, outside=(Kronecker, Pairwise)):
            raise ValueError(
                f"{view.kernel!r} is a matrix that is there already; factors would take its place. Use "
                "gram='dense'."
            )
        if not view.kernel.is_psd:
            raise ValueError(
                f"{view.kernel!r} is not positive semidefinite, so that no factors stand for it. Use another "
                "kernel, or gram='dense' with psd='clip' or 'shift'."
            )


# --- blocks of rows ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """One view on one block of rows: its place in the factors of all views and rows."""

    index: int  # of the view in its bank
    view: FactorView
    rows: slice  # with columns: where its factors stand in those of all
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
        with naming_rows(self.rows.start):
            return self.view.diagonal(self.shared.pair(self.view))

    def _write(self, Z: np.ndarray, *, diagonal: bool) -> tuple[np.ndarray, np.ndarray | None]:
        place = Z[self.rows, self.columns]
        factors = place if Z.dtype == np.float64 else np.empty(place.shape)
        with naming_rows(self.rows.start):
            exact = self.view.write(self.shared.pair(self.view), factors, diagonal=diagonal)
            if factors is not place:
                _store(place, factors, self.view.label)
        return factors, exact


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
