"""Feature maps x ↦ z with z(x) · z(x′) ≈ k(x, x′), fitted on the reference rows of one view."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from multikernel._validation import NotFiniteError
from multikernel.kernels import Kernel, Linear
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.base import Scaled

NO_ROWS = Rows(np.empty((0, 0)))
_ERROR_ROWS = 512


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
    """z(x) = matrixᵀ (k(x, l_1), …, k(x, l_s)), with matrix matrixᵀ the pseudo-inverse of K(L, L)."""

    landmarks: Rows = field(repr=False)
    matrix: np.ndarray = field(repr=False)

    @property
    def rank(self) -> int:
        return int(self.matrix.shape[1])

    def write(self, kernel: Kernel, pair: Pair, out: np.ndarray) -> None:
        similarities = np.empty(pair.shape)
        evaluate_rows(kernel, pair, similarities)
        np.matmul(similarities, self.matrix, out=out)


@dataclass(frozen=True, eq=False)
class ColumnMap(FeatureMap):
    """z(x) = root · x: the kernel is factor · x · x′, so that the columns themselves are exact factors."""

    root: float
    rank: int = 0

    def write(self, kernel: Kernel, pair: Pair, out: np.ndarray) -> None:
        table = pair.left.values
        dense = table.toarray() if pair.left.is_sparse else table
        np.multiply(dense, self.root, out=out)


def evaluate_rows(kernel: Kernel, pair: Pair, out: np.ndarray) -> None:
    """`Kernel.evaluate`, whose error names the first row that has no finite similarities."""
    try:
        kernel.evaluate(pair, out)
    except NotFiniteError:
        raise
    except ValueError:
        out.fill(0.0)  # it may have been refused before anything was written
        with contextlib.suppress(ValueError):
            kernel.evaluate(pair, out)
        bad = np.flatnonzero(~np.isfinite(out).all(axis=1))
        if not bad.size:
            raise
        raise NotFiniteError(
            f"{kernel!r} is not finite on {pair.left.label}",
            int(bad[0]),
            "where a value is missing or too large. Impute or drop it, or rescale the columns.",
        ) from None


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
    size = float(np.linalg.norm(K))
    Z = map_.factors(kernel, some)
    K -= Z @ Z.T
    return float(np.linalg.norm(K)) / size if size > 0.0 else 0.0
