"""Feature maps x ↦ z with z(x) · z(x′) ≈ k(x, x′), fitted on the reference rows of one view."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from multikernel._validation import NotFiniteError
from multikernel.kernels import Kernel, Linear
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.base import Scaled

_INDEFINITE = 1e-8  # of the largest eigenvalue: what rounding leaves below zero is far less


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


def nystroem_map(kernel: Kernel, landmarks: Rows, label: str) -> LandmarkMap:
    """Z = K(X, L) V Λ^(−1/2), with K(L, L) = V Λ Vᵀ; directions without an eigenvalue are dropped."""
    K = np.empty((len(landmarks), len(landmarks)))
    evaluate_rows(kernel, Pair(landmarks, landmarks, keep=kernel._is_composite), K)
    values, vectors = scipy.linalg.eigh(K, driver="evd")
    largest = float(np.abs(values).max())
    if values[0] < -_INDEFINITE * largest:
        raise ValueError(
            f"kernels must be positive semidefinite; {label} has eigenvalue {values[0]:.3g} on its "
            "landmarks. Use another kernel, or gram='dense' with psd='clip' or 'shift'."
        )
    kept = values > len(K) * np.finfo(np.float64).eps * largest
    # leading directions first
    matrix = (vectors[:, kept] / np.sqrt(values[kept]))[:, ::-1]
    return LandmarkMap(landmarks, np.ascontiguousarray(matrix))
