"""The evidence of a regression with Gaussian noise.

With C = Σ_m θ_m K_m / s_m + σ² I and α = C⁻¹y, in the terms C_j of C:

    L          = −½ y'α − ½ log det C − ½ n log 2π
    ∂L/∂θ_j    = ½ α'C_jα − ½ tr(C⁻¹C_j)
    curvature  ≈ ½ (C_iα)'C⁻¹(C_jα)

The last is the average of minus the curvature and its expectation (average information, Gilmour, Thompson &
Cullis 1995): positive semidefinite, and without a product of two matrices of n × n.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dpotri, dtrtri

from ..._typing import Array
from .components import Components

_LOG_2PI = float(np.log(2.0 * np.pi))


class GaussianState(NamedTuple):
    """What is known at a θ."""

    root: Array  # (n, n), lower, with root root' = C
    inverse: Array  # (n, n), C⁻¹
    alpha: Array  # (n,)


class GaussianEvidence:
    """L of targets (n,) under the terms of a covariance, the last of which is noise."""

    def __init__(self, terms: Components, targets: Array) -> None:
        self.terms, self.targets = terms, targets
        self.n, self.n_kernels = terms.n, len(terms.Ks)

    def evaluate(self, theta: Array, near: Any = None) -> tuple[float, GaussianState]:
        """L(θ), and what the derivatives need."""
        root = cholesky(self.terms.total(theta), lower=True, overwrite_a=True, check_finite=False)
        half, _ = dpotri(root, lower=1)
        inverse = np.tril(half) + np.tril(half, -1).T
        alpha = inverse @ self.targets
        fit = -0.5 * float(self.targets @ alpha)
        value = fit - float(np.log(np.diagonal(root)).sum()) - 0.5 * self.n * _LOG_2PI
        if not np.isfinite(value):
            raise LinAlgError("the evidence is not finite")
        return value, GaussianState(root, inverse, alpha)

    def derivatives(self, theta: Array, state: GaussianState) -> tuple[Array, Array]:
        """Gradient, and average information."""
        parts = self.terms.apply(state.alpha)
        slope = 0.5 * parts @ state.alpha - 0.5 * self.terms.inner(state.inverse)
        return slope, 0.5 * parts @ state.inverse @ parts.T


def inverse_root(root: Array) -> Array:
    """A (n, n), lower, with A'A = C⁻¹."""
    inverse, _ = dtrtri(root, lower=1)
    return np.tril(inverse)
