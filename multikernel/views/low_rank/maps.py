"""Feature maps x ↦ z with z(x) · z(x′) ≈ k(x, x′), fitted on the reference rows of one view.

Exact columns for linear kernels; maps that compare rows with a few landmarks (those of Nyström, and the
pivots of an incomplete Cholesky factor); and random features: k(x, z) = E cos(w · (x − z)) over frequencies
w, so that a few draws of w give factors. Of a frequency w both cos(w · x) and sin(w · x) are taken: their
products sum to cos(w · (x − z)), without the phase that one cosine alone needs (RBFSampler of scikit-learn),
and ‖z‖² is k(x, x) exactly.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
import scipy.linalg

from multikernel._validation import NotFiniteError, RowError, is_indefinite
from multikernel.kernels import Gaussian, Kernel, Laplacian, Linear, Transform
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.base import Power, Product, Scaled
from multikernel.views.low_rank.transforms import row_weights, share_left_out

NO_ROWS = Rows(np.empty((0, 0)))
_ERROR_ROWS = 512
_PANEL = 48  # columns: fewer cost more calls, more cost products with zeros
# Times the number of rows: what may be left out of k(x, x), relative to it. With less, rounding grows beyond
# all bounds at rows far from the landmarks; with more, more of other rows is missed: the root of it.
_EPS = 1e-13
_INDEFINITE = 1e-8  # of k(x, x): what rounding leaves below zero is far less
_FIRST_COLUMNS = 64


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
        """Write the factors of the pair's left rows, against `landmarks`, into `out` (n, rank), float64."""

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


# --- landmarks ---------------------------------------------------------------------------------


def nystroem_map(kernel: Kernel, landmarks: Rows) -> LandmarkMap:
    """Z = K(X, L) C^(−T), with K(L, L) = C Cᵀ; landmarks that others stand for already are dropped.

    Z Zᵀ = K(X, L) K(L, L)⁻¹ K(L, X), as with the symmetric root K(L, L)^(−1/2), at half the cost.
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
    What is left out of a row, k(x, x) − ‖z‖², counts by its weight.

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

    The share is measured after the transforms of the view; of pivots there are not more than `largest` then.
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


# --- random features ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FourierMap(FeatureMap):
    """z(x) = root · (cos(x · w_1), …, cos(x · w_s), sin(x · w_1), …, sin(x · w_s))."""

    frequencies: np.ndarray = field(repr=False)
    root: float

    @property
    def rank(self) -> int:
        return 2 * int(self.frequencies.shape[1])

    def write(self, kernel: Kernel, pair: Pair, out: np.ndarray) -> None:
        angles = pair.left.values @ self.frequencies
        half = self.frequencies.shape[1]
        np.cos(angles, out=out[:, :half])
        np.sin(angles, out=out[:, half:])
        out *= self.root


def fourier_map(kernel: Kernel, rows: Rows, rank: int, seed: int) -> FourierMap:
    """Random features of a fitted kernel: `rank` of them, one fewer where it is odd."""
    if rank < 2:
        raise ValueError(f"random features come in pairs: rank must be at least 2; got {rank}.")
    n_columns, count = int(rows.values.shape[1]), rank // 2
    frequencies = _frequencies(kernel, (n_columns, count), np.random.default_rng(seed))
    if frequencies is None:
        raise ValueError(
            f"{kernel!r} has no random features: there are some for Gaussian and Laplacian, and their "
            "products, powers and multiples. Use approximation='nystroem' or 'cholesky'."
        )
    size = float(kernel.evaluate_diagonal(rows.take(np.array([0])))[0])  # the same for every row
    return FourierMap(frequencies, float(np.sqrt(size / count)))


def _frequencies(kernel: Kernel, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray | None:
    """Draws from the Fourier transform of the kernel; those of a product of kernels are sums."""
    if isinstance(kernel, Gaussian):
        return rng.normal(scale=np.sqrt(2.0 * kernel._coefficient), size=shape)
    if isinstance(kernel, Laplacian):
        return float(kernel.gamma) * rng.standard_cauchy(shape)
    if isinstance(kernel, Scaled):
        return _frequencies(kernel.base, shape, rng)
    if isinstance(kernel, Product):
        return _sum_of_draws([kernel.left, kernel.right], shape, rng)
    if isinstance(kernel, Power):
        return _sum_of_draws([kernel.base] * kernel.exponent, shape, rng)
    return None


def _sum_of_draws(
    kernels: list[Kernel], shape: tuple[int, int], rng: np.random.Generator
) -> np.ndarray | None:
    total = np.zeros(shape)
    for kernel in kernels:
        draws = _frequencies(kernel, shape, rng)
        if draws is None:
            return None
        total += draws
    return total
