"""Transforms of Gram matrices: fitted on the training Gram, applied to it and to test rows.

Each transform is an immutable description. ``fit(K)`` returns a new, fitted transform; ``train(K)`` is the
transformed training Gram; ``test(K_test, diag_test)`` the transformed test rows (n_test, n), and
``test_diag(K_test, diag_test)`` the transformed self-similarities of the test points, which the next
transform of a chain may need. ``restrict(support)`` keeps what is needed for the columns of the support.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import scipy.linalg

from multikernel._validation import RowError, all_finite, check_choice, check_gram, check_square
from multikernel.kernels._rows import TileBuffers, row_blocks

State = TypeVar("State")
_FLAT = 1e-12  # of the largest k(x, x): a variance of less is rounding


class Transform(ABC):
    """A transform of Gram matrices, fitted on the training Gram."""

    #: Whether `test` and `test_diag` read `diag_test`.
    needs_diagonal = False
    #: Whether `test` reads the columns of all training points even after `restrict`.
    needs_all_columns = False

    @abstractmethod
    def fit(self, K: np.ndarray) -> Transform:
        """Return a new transform with the state of the training Gram `K` (n, n)."""

    @abstractmethod
    def train(self, K: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
        """Transform the training Gram (n, n) the transform was fitted on; in its memory if `overwrite`."""

    @abstractmethod
    def test(self, K_test: np.ndarray, diag_test: np.ndarray) -> np.ndarray:
        """Transform test rows (n_test, n), given the test points' k(x, x) before this transform (n_test,)."""

    @abstractmethod
    def test_diag(self, K_test: np.ndarray, diag_test: np.ndarray) -> np.ndarray:
        """The test points' k(x, x) after this transform; arguments are as they were before it."""

    @abstractmethod
    def restrict(self, support: np.ndarray) -> Transform:
        """A transform whose `test` gives the columns of the training points `support` only.

        It takes only those columns too, unless ``needs_all_columns``.
        """

    def moved(self, diagonal: np.ndarray) -> Transform:
        """The same fitted transform for other training points, of which k(x, x) before it is given."""
        raise ValueError(
            f"{type(self).__name__} reads the similarities of all training points, and cannot be moved to "
            "others. Fit it on them."
        )

    def fit_train(self, K: np.ndarray, *, overwrite: bool = False) -> tuple[Transform, np.ndarray]:
        """Fit, and transform the training Gram."""
        fitted = self.fit(K)
        return fitted, fitted.train(K, overwrite=overwrite)

    def _fitted(self, state: State | None) -> State:
        """What `fit` has set."""
        if state is None:
            raise ValueError(
                f"{type(self).__name__} is not fitted. Call fit(K) with the training Gram first."
            )
        return state


def _writable(K: np.ndarray, overwrite: bool) -> np.ndarray:
    return K if overwrite else np.array(K, copy=True, order="C", subok=False)


@dataclass(frozen=True, eq=False)
class Center(Transform):
    """K′ = H K H with H = I − 11ᵀ / n: the kernel after the training mean is moved to the origin.

    A test row needs its similarities to **all** training points, also after `restrict`, for their mean.

    Attributes
    ----------
    column_means : ndarray of shape (n_samples,) or None
        Means of the training columns; of the support's columns after `restrict`.
    """

    column_means: np.ndarray | None = field(default=None, repr=False)
    mean: float = field(default=0.0, repr=False)
    support: np.ndarray | None = field(default=None, repr=False)
    needs_all_columns = True

    def fit(self, K: np.ndarray) -> Center:
        means: np.ndarray = np.asarray(K.mean(axis=0, dtype=np.float64))
        return Center(column_means=means, mean=float(means.mean()))

    def train(self, K: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
        means = self._fitted(self.column_means)
        K = _writable(K, overwrite)
        buffers = TileBuffers(1)
        for block in row_blocks(*K.shape):
            (shift,) = buffers.shaped((block.stop - block.start, len(K)))
            np.add(means[block, None], means, out=shift)
            shift -= self.mean
            K[block] -= shift
        return K

    def test(self, K_test: np.ndarray, diag_test: np.ndarray) -> np.ndarray:
        means = self._fitted(self.column_means)
        row_means: np.ndarray = np.asarray(K_test.mean(axis=1, dtype=np.float64))
        columns = K_test if self.support is None else K_test[:, self.support]
        return columns - (row_means[:, None] + (means - self.mean))

    def test_diag(self, K_test: np.ndarray, diag_test: np.ndarray) -> np.ndarray:
        return diag_test - 2.0 * np.mean(K_test, axis=1, dtype=np.float64) + self.mean

    def restrict(self, support: np.ndarray) -> Center:
        means = self._fitted(self.column_means)
        return replace(self, column_means=means[support], support=np.asarray(support))


@dataclass(frozen=True, eq=False)
class UnitDiagonal(Transform):
    """K′_ij = K_ij / √(K_ii K_jj); a point with K_ii = 0 keeps a zero row.

    Attributes
    ----------
    inverse_roots : ndarray of shape (n_samples,) or None
        1 / √K_ii of the training points, 0 where K_ii is.
    """

    inverse_roots: np.ndarray | None = field(default=None, repr=False)
    needs_diagonal = True

    def fit(self, K: np.ndarray) -> UnitDiagonal:
        return UnitDiagonal(inverse_roots(K.diagonal()))

    def train(self, K: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
        roots = self._fitted(self.inverse_roots)
        K = _writable(K, overwrite)
        if np.all(roots == 1.0):  # Gaussian-like kernels have a unit diagonal already
            return K
        buffers = TileBuffers(1)
        with np.errstate(all="ignore"):
            for block in row_blocks(*K.shape):
                (factors,) = buffers.shaped((block.stop - block.start, len(K)))
                K[block] *= np.multiply(roots[block, None], roots, out=factors)
        np.fill_diagonal(K, roots > 0.0)
        return K

    def test(self, K_test: np.ndarray, diag_test: np.ndarray) -> np.ndarray:
        roots = self._fitted(self.inverse_roots)
        with np.errstate(all="ignore"):
            return K_test * np.multiply.outer(inverse_roots(diag_test), roots)

    def test_diag(self, K_test: np.ndarray, diag_test: np.ndarray) -> np.ndarray:
        return (diag_test > 0.0).astype(np.float64)

    def restrict(self, support: np.ndarray) -> UnitDiagonal:
        return UnitDiagonal(self._fitted(self.inverse_roots)[support])

    def moved(self, diagonal: np.ndarray) -> UnitDiagonal:
        return UnitDiagonal(inverse_roots(diagonal))


def inverse_roots(diagonal: np.ndarray) -> np.ndarray:
    """1 / √k(x, x) of each point, 0 where k(x, x) is; refused where it is negative by more than rounding."""
    diagonal = np.asarray(diagonal, dtype=np.float64)
    # centring a point at the mean leaves rounding of either sign where zero is meant
    floor = -1e-8 * float(np.abs(diagonal).max(initial=0.0))
    if not all_finite(diagonal) or diagonal.min(initial=0.0) < floor:
        place = int(np.argmin(np.where(np.isfinite(diagonal), diagonal, -np.inf)))
        raise RowError(
            f"a unit diagonal needs self-similarities k(x, x) >= 0; got {diagonal[place]:g} at row",
            place,
            ". Repair the kernel first with PSDRepair.",
        )
    roots = np.zeros_like(diagonal)
    positive = diagonal > 0.0
    roots[positive] = 1.0 / np.sqrt(diagonal[positive])
    return roots


@dataclass(frozen=True, eq=False)
class _Multiple(Transform):
    """K′ = factor · K."""

    factor: float | None = None

    def train(self, K: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
        factor = self._fitted(self.factor)
        K = _writable(K, overwrite)
        K *= factor
        return K

    def test(self, K_test: np.ndarray, diag_test: np.ndarray) -> np.ndarray:
        return K_test * self._fitted(self.factor)

    def test_diag(self, K_test: np.ndarray, diag_test: np.ndarray) -> np.ndarray:
        return diag_test * self._fitted(self.factor)

    def restrict(self, support: np.ndarray) -> Transform:
        return self

    def moved(self, diagonal: np.ndarray) -> Transform:
        return self


@dataclass(frozen=True, eq=False)
class UnitTrace(_Multiple):
    """K′ = K · n / trace(K): the mean of the diagonal becomes 1.

    Attributes
    ----------
    factor : float or None
    """

    def fit(self, K: np.ndarray) -> UnitTrace:
        return self.fit_diagonal(K.diagonal())

    def fit_diagonal(self, diagonal: np.ndarray) -> UnitTrace:
        """The same, of the diagonal of the training Gram alone."""
        mean = float(np.mean(diagonal, dtype=np.float64))
        if not mean > 0.0 or not np.isfinite(mean):
            raise ValueError(f"a unit trace needs a positive trace; the mean diagonal entry is {mean:g}.")
        return UnitTrace(min(1.0 / mean, float(np.finfo(np.float64).max)))


@dataclass(frozen=True, eq=False)
class UnitVariance(_Multiple):
    """K′ = K / (mean of the diagonal − mean of K): the training points have unit variance in feature space.

    That is the mean squared distance of the points φ(x) to their mean. A kernel whose variance is not above
    0, since it is constant on the training points or not positive semidefinite, is left as it is.

    Attributes
    ----------
    factor : float or None

    Examples
    --------
    >>> _, K_train = UnitVariance().fit_train(np.array([[4.0, 2.0], [2.0, 8.0]]))
    >>> K_train
    array([[2., 1.],
           [1., 4.]])
    """

    def fit(self, K: np.ndarray) -> UnitVariance:
        diagonal = np.asarray(K.diagonal(), dtype=np.float64)
        return self.fit_means(diagonal, float(K.mean(dtype=np.float64)))

    def fit_means(self, diagonal: np.ndarray, mean: float) -> UnitVariance:
        """The same, of the diagonal and the mean of the training Gram."""
        variance = float(np.mean(diagonal)) - mean
        if not np.isfinite(variance):
            raise ValueError(f"a unit variance needs finite similarities; their variance is {variance:g}.")
        floor = _FLAT * float(np.abs(diagonal).max(initial=0.0))
        return UnitVariance(min(1.0 / variance, float(np.finfo(np.float64).max)) if variance > floor else 1.0)


@dataclass(frozen=True, eq=False)
class PSDRepair(Transform):
    """Make an indefinite Gram positive semidefinite.

    With K = V diag(λ) Vᵀ: ``how="clip"`` gives V diag(max(λ, 0)) Vᵀ, and test rows are projected on the
    retained eigenvectors; ``how="shift"`` gives K − min(λ_min, 0) I, and test rows stay as they are.
    A clipped test row needs its similarities to **all** training points, also after `restrict`.

    Parameters
    ----------
    how : {"clip", "shift"}, default="clip"

    Attributes
    ----------
    vectors : ndarray of shape (n_samples, r) or None
        Retained eigenvectors (clip).
    values : ndarray of shape (r,) or None
        Retained eigenvalues (clip).
    shift : float or None
        What was added to the diagonal (shift).
    """

    how: str = "clip"
    vectors: np.ndarray | None = field(default=None, repr=False)
    values: np.ndarray | None = field(default=None, repr=False)
    shift: float | None = field(default=None, repr=False)
    support: np.ndarray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_choice("how", self.how, ("clip", "shift"))

    @property
    def needs_all_columns(self) -> bool:  # type: ignore[override]
        return self.how == "clip"

    def fit(self, K: np.ndarray) -> PSDRepair:
        exact = np.array(K, dtype=np.float64)
        if self.how == "shift":
            lowest = scipy.linalg.eigvalsh(exact, subset_by_index=[0, 0], overwrite_a=True)[0]
            return PSDRepair("shift", shift=max(0.0, -float(lowest)))
        values, vectors = scipy.linalg.eigh(exact, overwrite_a=True, driver="evd")
        kept = values > len(K) * np.finfo(np.float64).eps * max(float(np.abs(values).max()), 0.0)
        return PSDRepair("clip", vectors=np.ascontiguousarray(vectors[:, kept]), values=values[kept])

    def train(self, K: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
        K = _writable(K, overwrite)
        if self.how == "shift":
            K[np.diag_indices(len(K))] += self._fitted(self.shift)
            return K
        halves = self._fitted(self.vectors) * np.sqrt(self._fitted(self.values))
        K[...] = halves @ halves.T
        return K

    def test(self, K_test: np.ndarray, diag_test: np.ndarray) -> np.ndarray:
        if self.how == "shift":
            return np.array(K_test)
        vectors = self._fitted(self.vectors)
        back = vectors if self.support is None else vectors[self.support]
        return (K_test @ vectors) @ back.T

    def test_diag(self, K_test: np.ndarray, diag_test: np.ndarray) -> np.ndarray:
        if self.how == "shift":
            return diag_test + self._fitted(self.shift)
        return np.sum((K_test @ self._fitted(self.vectors)) ** 2 / self._fitted(self.values), axis=1)

    def restrict(self, support: np.ndarray) -> PSDRepair:
        return self if self.how == "shift" else replace(self, support=np.asarray(support))


@dataclass(frozen=True, eq=False)
class Chain(Transform):
    """Several transforms, one after the other.

    Examples
    --------
    >>> K = np.array([[4.0, 2.0], [2.0, 9.0]])
    >>> _, K_train = Chain([Center(), UnitDiagonal()]).fit_train(K)
    >>> K_train
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    transforms: tuple[Transform, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "transforms", as_transforms(self.transforms))

    @property
    def needs_diagonal(self) -> bool:  # type: ignore[override]
        return any(transform.needs_diagonal for transform in self.transforms)

    @property
    def needs_all_columns(self) -> bool:  # type: ignore[override]
        return any(transform.needs_all_columns for transform in self.transforms)

    def fit(self, K: np.ndarray) -> Chain:
        return self.fit_train(K)[0]

    def fit_train(self, K: np.ndarray, *, overwrite: bool = False) -> tuple[Chain, np.ndarray]:
        K = _writable(K, overwrite) if self.transforms else K
        fitted = []
        for transform in self.transforms:
            step, K = transform.fit_train(K, overwrite=True)
            fitted.append(step)
        return Chain(tuple(fitted)), K

    def train(self, K: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
        K = _writable(K, overwrite)
        for transform in self.transforms:
            K = transform.train(K, overwrite=True)
        return K

    def test(self, K_test: np.ndarray, diag_test: np.ndarray) -> np.ndarray:
        return self._walk(K_test, diag_test, self.needs_diagonal)[0]

    def test_diag(self, K_test: np.ndarray, diag_test: np.ndarray) -> np.ndarray:
        return self._walk(K_test, diag_test, True)[1]

    def _walk(
        self, K_test: np.ndarray, diag_test: np.ndarray, with_diagonal: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        for transform in self.transforms:
            diag_next = transform.test_diag(K_test, diag_test) if with_diagonal else diag_test
            K_test, diag_test = transform.test(K_test, diag_test), diag_next
        return K_test, diag_test

    def restrict(self, support: np.ndarray) -> Chain:
        """Transforms up to the last that needs all columns keep them; that one picks the support."""
        wide = [i for i, transform in enumerate(self.transforms) if transform.needs_all_columns]
        start = wide[-1] if wide else 0
        return Chain(self.transforms[:start] + tuple(t.restrict(support) for t in self.transforms[start:]))

    def moved(self, diagonal: np.ndarray) -> Chain:
        found, none = [], np.empty((len(diagonal), 0))
        for transform in self.transforms:
            found.append(transform.moved(diagonal))
            diagonal = found[-1].test_diag(none, diagonal)
        return Chain(tuple(found))


# --- transforms by name, and of plain Gram matrices in one call --------------------------------


_BY_NAME = {
    "center": Center(),
    "unit_diagonal": UnitDiagonal(),
    "unit_trace": UnitTrace(),
    "unit_variance": UnitVariance(),
    "clip": PSDRepair("clip"),
    "shift": PSDRepair("shift"),
}


def as_transforms(spec: Any) -> tuple[Transform, ...]:
    """A tuple of transforms from a transform, a name, or several of either."""
    if spec is None:
        return ()
    if isinstance(spec, Transform):
        return (spec,)
    if isinstance(spec, str):
        return (_BY_NAME[check_choice("transforms", spec, tuple(_BY_NAME))],)
    if not isinstance(spec, list | tuple):
        raise TypeError(
            f"transforms must be transforms or their names ({', '.join(_BY_NAME)}); got {spec!r}."
        )
    return tuple(transform for part in spec for transform in as_transforms(part))


def _transformed(K: Any, transform: Transform) -> np.ndarray:
    K = check_square(K, "K")
    check_gram(K, "K")
    return transform.fit_train(K)[1]


def center(K: Any) -> np.ndarray:
    """H K H with H = I − 11ᵀ / n, as a new array.

    Examples
    --------
    >>> center([[2.0, 0.0], [0.0, 2.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return _transformed(K, Center())


def unit_diagonal(K: Any) -> np.ndarray:
    """K_ij / √(K_ii K_jj), as a new array; a zero diagonal entry leaves a zero row."""
    return _transformed(K, UnitDiagonal())


def unit_trace(K: Any) -> np.ndarray:
    """K · n / trace(K), as a new array: the mean of the diagonal is 1."""
    return _transformed(K, UnitTrace())


def unit_variance(K: Any) -> np.ndarray:
    """K / (mean of the diagonal − mean of K), as a new array: the variance in feature space is 1."""
    return _transformed(K, UnitVariance())


def repair_psd(K: Any, how: str = "clip") -> np.ndarray:
    """The positive semidefinite part of K (``"clip"``), or K plus a multiple of I (``"shift"``)."""
    return _transformed(K, PSDRepair(how))
