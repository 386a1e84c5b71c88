"""Principal components in the feature space of a kernel.

    HKH = V diag(λ) V',   H = I − 11'/n,      z(x) = diag(λ)^{−½} V'(k(x) centred)

k(x) are the similarities of x to the training samples, minus their mean over them, minus the mean of each
training column, plus the mean of all. The samples' own coordinates are V diag(λ)^½.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

Array = np.ndarray[Any, np.dtype[Any]]

_ROUNDING = 1e-12  # share of the largest eigenvalue that is none


@dataclass(frozen=True, eq=False)
class KernelComponents:
    """The leading components.

    Attributes
    ----------
    eigenvalues : array (q,), λ, largest first; zero where nothing but rounding is left
    vectors : array (n, q), V; the entry of largest size in each column is positive
    shares : array (q,), λ / tr HKH
    column_means : array (n,), of K
    """

    eigenvalues: Array
    vectors: Array
    shares: Array
    column_means: Array

    @property
    def scores(self) -> Array:
        """Coordinates of the training samples, (n, q)."""
        return np.asarray(self.vectors * np.sqrt(self.eigenvalues))

    def project(self, K: Array) -> Array:
        """Coordinates of new samples, (n_test, q), from K (n_test, n)."""
        centred = K - K.mean(axis=1, keepdims=True) - (self.column_means - self.column_means.mean())
        sizes = np.sqrt(self.eigenvalues)
        inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
        return np.asarray(centred @ (self.vectors * inverse))


def kernel_components(K: Array, n_components: int) -> KernelComponents:
    """The leading components of a kernel matrix K (n, n), symmetric positive semidefinite.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 6.0])
    >>> found = kernel_components(np.outer(x, x), 1)
    >>> found.scores.ravel(), found.project(np.outer([3.0, 7.0], x)).ravel(), found.shares
    (array([-2., -1.,  3.]), array([0., 4.]), array([1.]))
    """
    means = K.mean(axis=0)
    centred = K - means - (means - means.mean())[:, None]
    total = float(np.trace(centred))
    values, vectors = _leading(centred, n_components)
    values = np.where(values > _ROUNDING * max(values[0], 0.0), values, 0.0)
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[largest, np.arange(n_components)] < 0.0, -1.0, 1.0)
    return KernelComponents(values, vectors, values / total if total > 0.0 else 0.0 * values, means)


def _leading(K: Array, q: int) -> tuple[Array, Array]:
    """The q largest eigenvalues, largest first, and their vectors."""
    n = len(K)
    values, vectors = eigh(K, subset_by_index=[n - q, n - 1], check_finite=False)
    if values.size < q:  # a search by index may lose some of those that are equal
        values, vectors = eigh(K, driver="evd", overwrite_a=True, check_finite=False)
    return values[: -q - 1 : -1], vectors[:, : -q - 1 : -1]
