"""Feature maps x ↦ z with z(x) · z(x′) ≈ k(x, x′), fitted on the reference rows of one view."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from multikernel._validation import NotFiniteError, RowError
from multikernel.kernels import Kernel, Linear
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.base import Scaled

NO_ROWS = Rows(np.empty((0, 0)))
_ERROR_ROWS = 512
_PANEL = 48  # columns: fewer cost more calls, more cost products with zeros


class FeatureMap(ABC):
    """A fitted map of one view's rows to factors."""

    #: Rows to which the map compares others; None for maps without.
    landmarks: Rows | None = None

    @property
    @abstractmethod
    def rank(self) -> int:
        """Number of columns of a factor."""

    @abstractmethod
    def write(self, kernel: Kernel, pair: Pair, out: np.ndarray) -> None:
        """Write the factors of the pair's left rows into `out` (n, rank), float64.

        Parameters
        ----------
        kernel : Kernel
            Fitted.
        pair : Pair
            The rows against `landmarks`, or against no rows.
        """

    def pair(self, kernel: Kernel, rows: Rows, *, keep: bool = False) -> Pair:
        """The rows against `landmarks`, or against no rows; products are kept for another view or kernel."""
        landmarks = NO_ROWS if self.landmarks is None else self.landmarks
        return Pair(rows, landmarks, keep=keep or kernel._is_composite)

    def factors(self, kernel: Kernel, rows: Rows) -> np.ndarray:
        """The factors of `rows`, (n, rank)."""
        Z = np.empty((len(rows), self.rank))
        self.write(kernel, self.pair(kernel, rows), Z)
        return Z


@dataclass(frozen=True, eq=False)
class LandmarkMap(FeatureMap):
    """z(x) = triangleᵀ (k(x, l_1), …, k(x, l_r)), with triangle · triangleᵀ the inverse of K(L, L).

    The triangle is an upper one: the first columns of Z depend on the first landmarks only.
    """

    landmarks: Rows = field(repr=False)
    triangle: np.ndarray = field(repr=False)

    @property
    def rank(self) -> int:
        return len(self.triangle)

    def write(self, kernel: Kernel, pair: Pair, out: np.ndarray) -> None:
        similarities = np.empty(pair.shape)
        evaluate_rows(kernel, pair, similarities)
        for start in range(0, self.rank, _PANEL):
            panel = slice(start, min(start + _PANEL, self.rank))
            # in the columns of a panel, the triangle is zero below its end
            filled = self.triangle[: panel.stop, panel]
            np.matmul(similarities[:, : panel.stop], filled, out=out[:, panel])


@dataclass(frozen=True, eq=False)
class ColumnMap(FeatureMap):
    """z(x) = root · x: the kernel is factor · x · x′, so that the columns themselves are exact factors."""

    root: float
    n_columns: int

    @property
    def rank(self) -> int:
        return self.n_columns

    def write(self, kernel: Kernel, pair: Pair, out: np.ndarray) -> None:
        table = pair.left.values
        dense = table.toarray() if pair.left.is_sparse else table
        np.multiply(dense, self.root, out=out)


def evaluate_rows(kernel: Kernel, pair: Pair, out: np.ndarray) -> None:
    """`Kernel.evaluate`, whose error names the first row that has no finite similarities."""
    try:
        kernel.evaluate(pair, out)
    except RowError:
        raise
    except ValueError:
        out.fill(0.0)  # it may have been refused before anything was written
        with contextlib.suppress(ValueError):
            kernel.evaluate(pair, out)
        _name_first(~np.isfinite(out).all(axis=1), kernel, pair.left)
        raise


def evaluate_diagonal(kernel: Kernel, rows: Rows) -> np.ndarray:
    """`Kernel.evaluate_diagonal`, whose error names the first row, and which may not be negative."""
    try:
        diagonal = kernel.evaluate_diagonal(rows)
    except RowError:
        raise
    except ValueError:
        with np.errstate(all="ignore"):
            _name_first(~np.isfinite(kernel._diagonal(rows)), kernel, rows)
        raise
    lowest = int(np.argmin(diagonal))
    if diagonal[lowest] < 0.0:
        raise_indefinite_kernel(kernel, f"has k(x, x) = {diagonal[lowest]:.3g}", rows, lowest)
    return diagonal


def _name_first(bad: np.ndarray, kernel: Kernel, rows: Rows) -> None:
    if bad.any():
        raise NotFiniteError(
            f"{kernel!r} is not finite on {rows.label}",
            int(np.argmax(bad)),
            "where a value is missing or too large. Impute or drop it, or rescale the columns.",
        ) from None


def raise_indefinite_kernel(kernel: Kernel, found: str, rows: Rows, row: int | None = None) -> NoReturn:
    """Refuse a kernel that proves not to be positive semidefinite, at a row if one is named."""
    start = f"kernels must be positive semidefinite; on {rows.label}, {kernel!r} {found}"
    remedy = ". Use another kernel, or gram='dense' with psd='clip' or 'shift'."
    if row is None:
        raise ValueError(start + remedy)
    raise RowError(f"{start} at row", row, remedy)


def exact_map(kernel: Kernel, rows: Rows, largest: int) -> FeatureMap | None:
    """Factors without error, where the kernel has explicit features and at most `largest` of them."""
    factor, base = 1.0, kernel
    while isinstance(base, Scaled):
        factor, base = factor * base.factor, base.base
    if not isinstance(base, Linear) or rows.values.shape[1] > largest:
        return None
    return ColumnMap(float(np.sqrt(factor)), int(rows.values.shape[1]))


def gram_error(kernel: Kernel, map_: FeatureMap, rows: Rows) -> float:
    """‖K − Z Zᵀ‖ / ‖K‖ (Frobenius), over at most 512 evenly spaced rows, before transforms."""
    some = rows.take(np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _ERROR_ROWS)).astype(np.intp)))
    K = np.empty((len(some), len(some)))
    evaluate_rows(kernel, Pair(some, some, keep=kernel._is_composite), K)
    largest = float(np.abs(K).max())
    if largest == 0.0:
        return 0.0
    Z = map_.factors(kernel, some)
    missed = (K - Z @ Z.T) / largest  # squares of K itself may be too large for floating point
    return float(np.linalg.norm(missed) / np.linalg.norm(K / largest))
