"""The divergence of Kullback and Leibler between the Gaussians of a combined kernel and of the targets.

With K_η = λI + Σ_m η_m K_m / s_m and K_y = λI + TT', both n × n, and X = K_η⁻¹, Z = XK_yX,

    towards the targets   D(K_η ‖ K_y) = ½ [tr(K_y⁻¹K_η) − log det K_η + log det K_y − n],   convex in η
        gradient ½ [tr(K_y⁻¹K_m) − tr(XK_m)] / s_m,    Hessian ½ tr(XK_mXK_l) / s_m s_l
    from the targets      D(K_y ‖ K_η) = ½ [tr(XK_y) + log det K_η − log det K_y − n],   convex + concave
        gradient ½ [tr(XK_m) − tr(ZK_m)] / s_m,        Hessian of the convex part tr(XK_mZK_l) / s_m s_l
"""

from functools import cached_property

import numpy as np
import scipy.linalg

from ..._typing import Array
from ...core.optim.loop import Options
from ...core.optim.simplex import SimplexResult, minimise_over_simplex
from ...core.stack.sums import quadratic_sums, weighted_sum


class GaussianDivergence:
    """Both divergences at any η.

    Parameters
    ----------
    Ks : array (m, n, n), never copied
    scales : array (m,), s
    T : array (n, k)
    reg : float > 0, λ

    Examples
    --------
    >>> y = np.array([1.0, -1.0])
    >>> divergence = GaussianDivergence(np.stack([np.outer(y, y), np.eye(2)]), np.ones(2), y[:, None], 0.5)
    >>> [round(divergence.towards(np.array(eta)).value, 6) for eta in ([1.0, 0.0], [0.5, 0.5])]
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

    def towards(self, eta: Array) -> "Towards":
        """D(K_η ‖ K_y) and its derivatives."""
        return Towards(self, eta)

    def away(self, eta: Array) -> "Away":
        """D(K_y ‖ K_η) and its derivatives."""
        return Away(self, eta)

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
    """D(K_η ‖ K_y) at η.

    Attributes
    ----------
    value : float
    gradient : array (m,)
    hessian : array (m, m), when asked for
    """

    def __init__(self, divergence: GaussianDivergence, eta: Array) -> None:
        self._of = of = divergence
        self._X, log_det = of.inverse(eta)
        self.value = 0.5 * (float(of.slopes_y @ eta) + of.rest_y - log_det + of.log_det_y - of.n)
        self.gradient = 0.5 * (of.slopes_y - of.inner(self._X))

    @cached_property
    def hessian(self) -> Array:
        """Positive semidefinite."""
        return 0.5 * self._of.curvature(self._X, self._X)


class Away:
    """D(K_y ‖ K_η) at η.

    Attributes
    ----------
    value : float
    gradient : array (m,)
    convex_hessian, concave_hessian : array (m, m), of the two parts, when asked for
    """

    def __init__(self, divergence: GaussianDivergence, eta: Array) -> None:
        self._of = of = divergence
        self._X, log_det = of.inverse(eta)
        B = self._X @ of.T
        trace = of.reg * float(np.trace(self._X)) + float(np.vdot(of.T, B))
        self.value = 0.5 * (trace + log_det - of.log_det_y - of.n)
        self._Z = of.reg * (self._X @ self._X) + B @ B.T
        self.gradient = 0.5 * of.inner(self._X - self._Z)

    @cached_property
    def convex_hessian(self) -> Array:
        """Of ½ tr(K_η⁻¹K_y)."""
        return self._of.curvature(self._X, self._Z)

    @cached_property
    def concave_hessian(self) -> Array:
        """Of ½ log det K_η."""
        return -0.5 * self._of.curvature(self._X, self._X)


# -----------------------------------------------------------------------------
# Weights on the simplex of least divergence between the Gaussians of the kernel and of the targets.
#
#     towards    min D(K_η ‖ K_y): convex, by Newton's method
#     away       D(K_y ‖ K_η) stationary: as before, with a model that is made convex. Where the curvature is
#                not positive, the concave part of D is replaced by the plane that touches it, which is not
#                below D; no step rises.
#
# Gaps are relative to D + n/2: D itself may be zero, and n/2 is a change of D that one can see.


_FLAT = 1e-12


class DivergencePoint:
    """What the search asks of a point: D + n/2, its slopes, a convex model, Frank and Wolfe's gap."""

    def __init__(self, at: Towards | Away, eta: Array, n: int) -> None:
        self._at = at
        self.value, self.gradient = at.value + 0.5 * n, at.gradient
        self.gap = max(float(at.gradient @ eta - at.gradient.min()), 0.0) / self.value

    @property
    def divergence(self) -> float:
        """D."""
        return self._at.value

    @property
    def hessian(self) -> Array:
        """That of D, or of its convex part."""
        if isinstance(self._at, Towards):
            return self._at.hessian
        convex = self._at.convex_hessian
        whole = convex + self._at.concave_hessian
        lowest = float(np.linalg.eigvalsh(whole)[0])
        return whole if lowest >= -_FLAT * float(np.trace(convex)) else convex


def minimise_divergence(
    divergence: GaussianDivergence, options: Options, *, towards: bool
) -> SimplexResult[DivergencePoint]:
    """Minimise D(K_η ‖ K_y), or make D(K_y ‖ K_η) stationary, from equal weights.

    Parameters
    ----------
    divergence : GaussianDivergence
    options : Options
    towards : bool

    Examples
    --------
    >>> y = np.array([1.0, -1.0, 1.0])
    >>> divergence = GaussianDivergence(np.stack([np.outer(y, y), np.eye(3)]), np.ones(2), y[:, None], 0.5)
    >>> found = minimise_divergence(divergence, Options(tol=1e-8), towards=False)
    >>> found.point.round(6).tolist(), round(found.evaluation.divergence, 6)
    ([1.0, 0.0], 0.0)
    """
    m, n = divergence.scales.size, divergence.n

    def evaluate(eta: Array) -> DivergencePoint:
        return DivergencePoint(divergence.towards(eta) if towards else divergence.away(eta), eta, n)

    return minimise_over_simplex(evaluate, np.full(m, 1.0 / m), options)
