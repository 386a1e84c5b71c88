"""The optimal value of kernel ridge regression as a function of kernel weights, and its gradient.

    F(η) = tr T'(P + αI)⁻¹T,      P = K_η ∘ … ∘ K_η  (d times, entry by entry),   K_η = Σ_m η_m K_m / s_m
    ∂F/∂η_m = −d ⟨AA' ∘ K_η^{∘(d−1)}, K_m / s_m⟩,      A = (P + αI)⁻¹T

F / α is the least of Σ (t − f)² / α + ‖f‖² over the functions f of the kernel P. For d = 1 it is convex.
"""

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..combine.stack_sums import quadratic_sums, weighted_sum

Array = np.ndarray[Any, np.dtype[Any]]


class RidgeValue:
    """F and its gradient, to be asked for many η ≥ 0.

    Parameters
    ----------
    Ks : array (m, n, n), symmetric positive semidefinite; never modified and never copied
    T : array (n, k), targets
    alpha : float, α > 0
    scales : array (m,), s_m > 0
    degree : int, d ≥ 1

    Examples
    --------
    >>> value = RidgeValue(np.eye(2)[None], np.array([[1.0], [3.0]]), 1.0, np.ones(1))
    >>> value(np.array([4.0]))
    (2.0, array([-0.4]))
    """

    def __init__(self, Ks: Array, T: Array, alpha: float, scales: Array, degree: int = 1) -> None:
        self.Ks, self.T, self.alpha, self.scales, self.degree = Ks, T, alpha, scales, degree

    def __call__(self, eta: Array) -> tuple[float, Array]:
        """F and its gradient (m,); infinite where P overflows."""
        K = weighted_sum(self.Ks, eta / self.scales)
        with np.errstate(over="ignore", invalid="ignore"):
            M = K**self.degree
        M.flat[:: len(M) + 1] += self.alpha
        if not np.isfinite(M.sum()):
            return np.inf, np.full(len(eta), np.nan)
        A = self._solve(M)
        return float(np.vdot(self.T, A)), -self._forms(K, A) / self.scales

    def _solve(self, M: Array) -> Array:
        try:
            return np.asarray(cho_solve(cho_factor(M, overwrite_a=True, check_finite=False), self.T))
        except LinAlgError:
            raise ValueError(
                f"alpha={self.alpha:g} is too small beside the kernels, which are singular to rounding. "
                "Raise alpha."
            ) from None

    def _forms(self, K: Array, A: Array) -> Array:
        if self.degree == 1:
            return quadratic_sums(self.Ks, A)
        G = A @ A.T
        G *= self.degree * K ** (self.degree - 1)
        return np.array([np.vdot(G, np.asarray(K_m, np.float64)) for K_m in self.Ks])
