"""Maps that compare rows with a few landmarks: Nyström's, and the pivots of an incomplete Cholesky factor."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.linalg

from multikernel._validation import is_indefinite
from multikernel.kernels import Kernel, Transform
from multikernel.kernels._rows import Pair, Rows
from multikernel.views.low_rank.maps import LandmarkMap, evaluate_rows, raise_indefinite_kernel
from multikernel.views.low_rank.transforms import row_weights, share_left_out

# Times the number of rows: what may be left out of k(x, x), relative to it. With less, rounding grows beyond
# all bounds at rows far from the landmarks; with more, more of other rows is missed: the root of it.
_EPS = 1e-13
_INDEFINITE = 1e-8  # of k(x, x): what rounding leaves below zero is far less
_FIRST_COLUMNS = 64


def nystroem_map(kernel: Kernel, landmarks: Rows) -> LandmarkMap:
    """Z = K(X, L) C^(−T), with K(L, L) = C Cᵀ; landmarks that others stand for already are dropped.

    Z Zᵀ = K(X, L) K(L, L)⁻¹ K(L, X), as with the symmetric root K(L, L)^(−1/2), at half the price.
    """
    K = np.empty((len(landmarks), len(landmarks)))
    evaluate_rows(kernel, Pair(landmarks, landmarks, keep=kernel._is_composite), K)
    if is_indefinite(K, full=True):
        lowest = float(scipy.linalg.eigvalsh(K, subset_by_index=[0, 0])[0])
        raise_indefinite_kernel(kernel, f"has eigenvalue {lowest:.3g} on its landmarks", landmarks)
    sizes = np.sqrt(K.diagonal())
    K /= np.multiply.outer(sizes, sizes)  # so that landmarks count alike, however long they are
    factor, failed = scipy.linalg.lapack.dpotrf(K, lower=1, clean=1)
    if not failed and float(factor.diagonal().min()) ** 2 > len(K) * _EPS:
        return _triangular_map(factor * sizes[:, None], landmarks)
    # landmarks in the order in which they add most, up to those that add nothing
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(K, lower=1, tol=len(K) * _EPS)
    kept = order[:rank] - 1
    return _triangular_map(np.tril(factor[:rank, :rank]) * sizes[kept, None], landmarks.take(kept))


def _triangular_map(factor: np.ndarray, landmarks: Rows) -> LandmarkMap:
    """Z = K(X, L) C^(−T) for the lower triangle C."""
    inverse, _ = scipy.linalg.lapack.dtrtri(factor, lower=1)
    return LandmarkMap(landmarks, np.ascontiguousarray(np.tril(inverse).T))


class PivotedCholesky:
    """K ≈ L Lᵀ, one column after the other, each for a row drawn by how much of it is left out.

    Only the columns of K that belong to pivots are computed. Drawn pivots (Chen et al., 2025) leave out less
    than the rows of which most is left out, which are outliers at first; with heavy tails half as many do.

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
    seed : int
        Of the draws.

    Attributes
    ----------
    left_out : ndarray of shape (n,)
        k(x, x) − ‖z‖² of each row.

    References
    ----------
    Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber (2025). Randomly pivoted Cholesky: practical
    approximation of a kernel matrix with few entry evaluations. Communications on Pure and Applied
    Mathematics 78, 995–1041.
    """

    def __init__(
        self, kernel: Kernel, rows: Rows, diagonal: np.ndarray, weights: np.ndarray, seed: int
    ) -> None:
        self._kernel = kernel
        self._rows = rows
        self._weights = weights
        self._total = float(weights @ diagonal)
        self._diagonal = diagonal
        self._columns = np.empty((len(rows), min(len(rows), _FIRST_COLUMNS)), order="F")
        self._pivots: list[int] = []
        self._rng = np.random.default_rng(seed)
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
        """Add pivots until there are `rank`, or at most `share` is left out; False at the end."""
        while len(self._pivots) < rank and self.share_left_out > share:
            worth = np.where(
                self.left_out > len(self._rows) * _EPS * self._diagonal, self._weights * self.left_out, 0.0
            )
            ends = np.cumsum(worth)
            if ends[-1] <= 0.0:
                return False
            self._add(int(np.searchsorted(ends, self._rng.random() * ends[-1], side="right")))
        return len(self._pivots) < min(rank, len(self._rows))

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
        if self.left_out[lowest] < -_INDEFINITE * self._diagonal[lowest]:
            raise_indefinite_kernel(self._kernel, "leaves less than nothing of k(x, x)", self._rows, lowest)
        np.maximum(self.left_out, 0.0, out=self.left_out)
        self.left_out[pivot] = 0.0
        self._pivots.append(pivot)

    def map(self) -> LandmarkMap:
        """Z = K(X, P) L_P^(−T), with P the pivots and L_P their rows of L."""
        landmarks = self._rows.take(np.array(self._pivots))
        landmarks.label = f"landmarks of {self._rows.label}"
        return _triangular_map(np.tril(self.factor[self._pivots]), landmarks)


def cholesky_map(
    transforms: Iterable[Transform],
    kernel: Kernel,
    rows: Rows,
    diagonal: np.ndarray,
    rank: int | float,
    *,
    largest: int,
    seed: int,
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
    largest : int
        No more pivots than these, where `rank` is a share of the trace.
    seed : int
    """
    cholesky = PivotedCholesky(kernel, rows, diagonal, row_weights(transforms, diagonal), seed)
    if isinstance(rank, int):
        cholesky.advance(rank)
        return cholesky.map()
    share = rank
    while cholesky.advance(largest, share):
        left_out = share_left_out(transforms, cholesky.factor, diagonal)
        if left_out <= rank:
            break
        # a centred kernel has a smaller trace: less must be left out of the plain one
        share = (1.0 - 1e-9) * cholesky.share_left_out * (rank / left_out)
    return cholesky.map()
