"""Weights of least divergence between the Gaussians of a combined kernel and of the targets.

With K_η = λI + Σ_m η_m K_m / s_m and K_y = λI + TT', both n × n, and X = K_η⁻¹, Z = XK_yX, the divergences of
Kullback and Leibler are

    towards the targets   D(K_η ‖ K_y) = ½ [tr(K_y⁻¹K_η) − log det K_η + log det K_y − n],   convex in η
        gradient ½ [tr(K_y⁻¹K_m) − tr(XK_m)] / s_m,    Hessian ½ tr(XK_mXK_l) / s_m s_l
    from the targets      D(K_y ‖ K_η) = ½ [tr(XK_y) + log det K_η − log det K_y − n],   convex + concave
        gradient ½ [tr(XK_m) − tr(ZK_m)] / s_m,        Hessian of the convex part tr(XK_mZK_l) / s_m s_l

η is in the simplex. The first is minimised by Newton's method. The second is made stationary in the same way,
with a model that is made convex: where the curvature is not positive, the concave part of D is replaced by
the plane that touches it, which is not below D; no step rises. Gaps are relative to D + n/2: D itself may be
zero, and n/2 is a change of D that one can see.
"""

from functools import cached_property

import numpy as np
import scipy.linalg

from ..._typing import Array
from ...core.optim.loop import Options
from ...core.optim.simplex import SimplexResult, minimise_over_simplex
from ...core.stack.sums import quadratic_sums, weighted_sum

_FLAT = 1e-12  # curvature of this part of that of the convex part is rounding


class GaussianDivergence:
    """Both divergences at any η, from Ks (m, n, n), which is never copied, T (n, k) and λ = `reg` > 0.

    Examples
    --------
    >>> y = np.array([1.0, -1.0])
    >>> divergence = GaussianDivergence(np.stack([np.outer(y, y), np.eye(2)]), np.ones(2), y[:, None], 0.5)
    >>> [round(Towards(divergence, np.array(eta)).divergence, 6) for eta in ([1.0, 0.0], [0.5, 0.5])]
    [0.0, 0.164998]
    """

    def __init__(self, Ks: Array, scales: Array, T: Array, reg: float) -> None:
        self.Ks, self.scales, self.T, self.reg = Ks, scales, T, reg
        self.n, k = T.shape
        small = T.T @ T + reg * np.eye(k)
        R = scipy.linalg.solve_triangular(np.linalg.cholesky(small), T.T, lower=True).T
        self.log_det_y = float(np.linalg.slogdet(small)[1]) + (self.n - k) * float(np.log(reg))
        # K_y⁻¹ = (I − RR') / λ: tr(K_y⁻¹K_m / s_m) for each m, and λ tr K_y⁻¹
        traces = np.array([np.trace(K, dtype=float) for K in Ks])
        self.slopes_y = (traces - quadratic_sums(Ks, R)) / (reg * scales)
        self.rest_y = self.n - float(np.vdot(R, R))

    def inverse(self, eta: Array) -> tuple[Array, float]:
        """K_η⁻¹ (n, n), and log det K_η."""
        K = weighted_sum(self.Ks, eta / self.scales)
        K[np.diag_indices(self.n)] += self.reg
        factor = scipy.linalg.cholesky(K, lower=True, overwrite_a=True, check_finite=False)
        log_det = 2.0 * float(np.log(np.diagonal(factor)).sum())
        inverse, _ = scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
        lower = np.tril(inverse, -1)
        return lower + lower.T + np.diag(np.diagonal(inverse)), log_det

    def inner(self, G: Array) -> Array:
        """⟨G, K_m⟩ / s_m, (m,)."""
        return np.array([np.vdot(G, K) for K in self.Ks]) / self.scales

    def curvature(self, X: Array, Z: Array) -> Array:
        """tr(XK_mZK_l) / s_m s_l (m, m), for symmetric X, Z: 2m products of matrices."""
        m = len(self.Ks)
        H = np.empty((m, m))
        for i in range(m):
            B = X @ self.Ks[i] @ Z
            for j in range(i + 1):
                H[i, j] = H[j, i] = float(np.vdot(B, self.Ks[j])) / (self.scales[i] * self.scales[j])
        return H


class Towards:
    """D(K_η ‖ K_y) at η, as Newton's method over the simplex asks for it.

    ``value`` is D + n/2, ``hessian`` that of a convex model, ``gap`` Frank and Wolfe's, relative to it.
    """

    def __init__(self, of: GaussianDivergence, eta: Array) -> None:
        self._of = of
        self._X, log_det = of.inverse(eta)
        self.divergence, self.gradient = self._value_and_gradient(eta, log_det)
        self.value = self.divergence + 0.5 * of.n
        self.gap = max(float(self.gradient @ eta - self.gradient.min()), 0.0) / self.value

    def _value_and_gradient(self, eta: Array, log_det: float) -> tuple[float, Array]:
        of = self._of
        value = 0.5 * (float(of.slopes_y @ eta) + of.rest_y - log_det + of.log_det_y - of.n)
        return value, 0.5 * (of.slopes_y - of.inner(self._X))

    @cached_property
    def hessian(self) -> Array:
        """Positive semidefinite."""
        return 0.5 * self._of.curvature(self._X, self._X)


class Away(Towards):
    """D(K_y ‖ K_η) at η; its attributes are those of :class:`Towards`, and the Hessians of its two parts."""

    def _value_and_gradient(self, eta: Array, log_det: float) -> tuple[float, Array]:
        of, X = self._of, self._X
        B = X @ of.T
        trace = of.reg * float(np.trace(X)) + float(np.vdot(of.T, B))
        self._Z = of.reg * (X @ X) + B @ B.T
        return 0.5 * (trace + log_det - of.log_det_y - of.n), 0.5 * of.inner(X - self._Z)

    @cached_property
    def convex_hessian(self) -> Array:
        """Of ½ tr(K_η⁻¹K_y)."""
        return self._of.curvature(self._X, self._Z)

    @cached_property
    def concave_hessian(self) -> Array:
        """Of ½ log det K_η."""
        return -0.5 * self._of.curvature(self._X, self._X)

    @cached_property
    def hessian(self) -> Array:
        """That of D where it is positive semidefinite, else that of the convex part."""
        whole = self.convex_hessian + self.concave_hessian
        lowest = float(np.linalg.eigvalsh(whole)[0])
        return whole if lowest >= -_FLAT * float(np.trace(self.convex_hessian)) else self.convex_hessian


def minimise_divergence(
    divergence: GaussianDivergence, options: Options, *, towards: bool
) -> SimplexResult[Towards]:
    """Minimise D(K_η ‖ K_y), or make D(K_y ‖ K_η) stationary, from equal weights.

    Examples
    --------
    >>> y = np.array([1.0, -1.0, 1.0])
    >>> divergence = GaussianDivergence(np.stack([np.outer(y, y), np.eye(3)]), np.ones(2), y[:, None], 0.5)
    >>> found = minimise_divergence(divergence, Options(tol=1e-8), towards=False)
    >>> found.point.round(6).tolist(), round(found.evaluation.divergence, 6)
    ([1.0, 0.0], 0.0)
    """
    m, kind = divergence.scales.size, Towards if towards else Away
    return minimise_over_simplex(lambda eta: kind(divergence, eta), np.full(m, 1.0 / m), options)
