"""The terms of a covariance C(θ) = Σ_m θ_m K_m / s_m (+ θ 11') (+ θ I), and products with all of them.

The kernels K_m are divided by the mean s_m of their diagonals, so that all θ have one unit. The constant term
11' is the prior of an intercept, the identity that of noise; neither is stored.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..._typing import Array


@dataclass(frozen=True, eq=False)
class Components:
    """Kernels (n_kernels, n, n), which are neither copied nor changed, and what is added to them.

    Examples
    --------
    >>> terms = Components(np.stack([2.0 * np.eye(2), np.ones((2, 2))]), noise=True)
    >>> terms.total(np.array([1.0, 2.0, 0.5])).tolist()
    [[3.5, 2.0], [2.0, 3.5]]
    >>> terms.inner(np.eye(2)).tolist()
    [2.0, 2.0, 2.0]
    """

    Ks: Array
    constant: bool = False
    noise: bool = False

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(self.Ks.shape[1])

    @property
    def size(self) -> int:
        """The number of terms."""
        return len(self.Ks) + self.constant + self.noise

    @property
    def scales(self) -> Array:
        """One over the mean of the diagonal of each kernel; 1 for a diagonal of zeros."""
        means = np.array([float(np.diagonal(K).mean(dtype=np.float64)) for K in self.Ks])
        return 1.0 / np.where(means > 0.0, means, 1.0)

    def _scaled(self) -> Iterator[Array]:
        for scale, K in zip(self.scales, self.Ks, strict=True):
            yield np.multiply(K, scale, dtype=np.float64)

    def total(self, theta: Array) -> Array:
        """C(θ), (n, n)."""
        total = np.zeros((self.n, self.n))
        for weight, scale, K in zip(theta, self.scales, self.Ks, strict=False):
            if weight != 0.0:
                total += np.multiply(K, weight * scale, dtype=np.float64)
        if self.constant:
            total += theta[len(self.Ks)]
        if self.noise:
            total.flat[:: self.n + 1] += theta[-1]
        return total

    def apply(self, a: Array) -> Array:
        """Each term times a vector (n,): (size, n)."""
        parts = [K @ a for K in self._scaled()]
        if self.constant:
            parts.append(np.full(self.n, a.sum()))
        if self.noise:
            parts.append(a)
        return np.stack(parts)

    def inner(self, R: Array) -> Array:
        """tr(R K) of each term, for a symmetric R (n, n): (size,)."""
        parts = [float(np.vdot(K, R)) for K in self._scaled()]
        if self.constant:
            parts.append(float(R.sum()))
        if self.noise:
            parts.append(float(np.trace(R)))
        return np.array(parts)
