"""Maps that compare rows with a few landmarks: Nyström's, and the pivots of an incomplete Cholesky factor."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.linalg

from multikernel.kernels import Kernel, Transform
from multikernel.kernels._rows import Pair, Rows
from multikernel.views.low_rank.maps import LandmarkMap, evaluate_rows
from multikernel.views.low_rank.transforms import row_weights, share_left_out

_EPS = float(np.finfo(np.float64).eps)
_INDEFINITE = 1e-8  # of the largest eigenvalue: what rounding leaves below zero is far less
_FIRST_COLUMNS = 64


def nystroem_map(kernel: Kernel, landmarks: Rows) -> LandmarkMap:
    """Z = K(X, L) V Λ^(−1/2), with K(L, L) = V Λ Vᵀ; directions without an eigenvalue are dropped."""
    K = np.empty((len(landmarks), len(landmarks)))
    evaluate_rows(kernel, Pair(landmarks, landmarks, keep=kernel._is_composite), K)
    values, vectors = scipy.linalg.eigh(K, driver="evd")
    largest = float(np.abs(values).max())
    if values[0] < -_INDEFINITE * largest:
        _raise_indefinite(kernel, f"has eigenvalue {values[0]:.3g}")
    kept = values > len(K) * _EPS * largest
    # leading directions first
    matrix = (vectors[:, kept] / np.sqrt(values[kept]))[:, ::-1]
    return LandmarkMap(landmarks, np.ascontiguousarray(matrix))


class PivotedCholesky:
    """K ≈ L Lᵀ, one column after the other, each for the row of which most is left out.

    Only the columns of K that belong to pivots are computed.

    Parameters
    ----------
    kernel : Kernel
        Fitted.
    rows : Rows
        Of which pivots are chosen.
    diagonal : ndarray of shape (n,)
        k(x, x).
    weights : ndarray of shape (n,)
        What is left out of each row counts by its weight.

    Attributes
    ----------
    left_out : ndarray of shape (n,)
        k(x, x) − ‖z‖² of each row.
    """

    def __init__(self, kernel: Kernel, rows: Rows, diagonal: np.ndarray, weights: np.ndarray) -> None:
        self._kernel = kernel
        self._rows = rows
        self._weights = weights
        self._total = float(weights @ diagonal)
        self._negligible = len(rows) * _EPS * diagonal
        self._columns = np.empty((len(rows), min(len(rows), _FIRST_COLUMNS)), order="F")
        self._pivots: list[int] = []
        self.left_out = diagonal.copy()

    @property
    def factor(self) -> np.ndarray:
        """L of shape (n, number of pivots): the factors of the rows."""
        return self._columns[:, : len(self._pivots)]

    @property
    def share_left_out(self) -> float:
        """The weighted trace of K − L Lᵀ, relative to that of K."""
        return float(self._weights @ self.left_out) / self._total

    def advance(self, rank: int, share: float = 0.0) -> bool:
        """Add pivots until there are `rank`, or at most `share` is left out; False where nothing is left."""
        while len(self._pivots) < rank and self.share_left_out > share:
            pivot = int(np.argmax(self._weights * self.left_out))
            if self.left_out[pivot] <= self._negligible[pivot]:
                return False
            self._add(pivot)
        return len(self._pivots) < len(self._rows)

    def _add(self, pivot: int) -> None:
        count = len(self._pivots)
        if count == self._columns.shape[1]:
            wider = np.empty((len(self._rows), min(2 * count, len(self._rows))), order="F")
            wider[:, :count] = self._columns
            self._columns = wider
        column = np.empty((len(self._rows), 1))
        landmark = self._rows.take(np.array([pivot]))
        evaluate_rows(self._kernel, Pair(self._rows, landmark, keep=self._kernel._is_composite), column)
        new = self._columns[:, count]
        np.subtract(column[:, 0], self.factor @ self._columns[pivot, :count], out=new)
        new /= np.sqrt(self.left_out[pivot])
        self.left_out -= new * new
        lowest = int(np.argmin(self.left_out))
        if self.left_out[lowest] < -_INDEFINITE * float(self._negligible[lowest] / _EPS):
            _raise_indefinite(self._kernel, f"leaves out {self.left_out[lowest]:.3g} of row {lowest}")
        np.maximum(self.left_out, 0.0, out=self.left_out)
        self.left_out[pivot] = 0.0
        self._pivots.append(pivot)

    def map(self) -> LandmarkMap:
        """Z = K(X, P) L_P^(−T), with P the pivots and L_P their rows of L."""
        triangle = self.factor[self._pivots]
        inverse = scipy.linalg.solve_triangular(triangle, np.eye(len(triangle)), lower=True)
        landmarks = self._rows.take(np.array(self._pivots))
        landmarks.label = f"landmarks of {self._rows.label}"
        return LandmarkMap(landmarks, np.ascontiguousarray(inverse.T))


def cholesky_map(
    transforms: Iterable[Transform], kernel: Kernel, rows: Rows, diagonal: np.ndarray, rank: int | float
) -> LandmarkMap:
    """The map of pivots, as many as `rank`, or until at most that share of the trace is left out.

    Parameters
    ----------
    transforms : iterable of Transform
        Of the view: what is left out is measured after them.
    kernel : Kernel
        Fitted.
    rows : Rows
    diagonal : ndarray of shape (n,)
        k(x, x).
    rank : int or float
    """
    cholesky = PivotedCholesky(kernel, rows, diagonal, row_weights(transforms, diagonal))
    if isinstance(rank, int):
        cholesky.advance(rank)
        return cholesky.map()
    share = rank
    while cholesky.advance(len(rows), share):
        left_out = share_left_out(transforms, cholesky.factor, diagonal)
        if left_out <= rank:
            break
        # a centred kernel has a smaller trace: less must be left out of the plain one
        share = 0.95 * cholesky.share_left_out * min(1.0, rank / left_out)
    return cholesky.map()


def _raise_indefinite(kernel: Kernel, found: str) -> None:
    raise ValueError(
        f"kernels must be positive semidefinite; {kernel!r} {found} on its landmarks. Use another kernel, or "
        "gram='dense' with psd='clip' or 'shift'."
    )
