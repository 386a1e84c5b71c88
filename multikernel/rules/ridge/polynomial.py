"""Kernel ridge regression on a power of the sum of kernels (Cortes, Mohri & Rostamizadeh)."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_positive_integer
from ..learner import About, Learned
from ..solver.descent import minimise_projected
from ..targets import Targets
from ._ball import BallRidge


class PolynomialRidge(BallRidge):
    """Weights by which kernel ridge regression fits best on a power of the sum of the kernels.

    min_{η ≥ 0, ‖η − η₀‖ ≤ Λ}  tr T'(P + αI)⁻¹T,      P = (Σ_m η_m K_m / s_m)^{∘d}

    with the power taken entry by entry: all products of d kernels are in P. T is as for :class:`RidgeBall`.
    The problem is not convex; this is a stationary point, from equal weights on the boundary of the ball.

    Parameters
    ----------
    degree : int
        d ≥ 1; 1 is :class:`RidgeBall`.
    alpha, center, radius, normalise
        As for :class:`RidgeBall`.
    tol : float
        Stationarity to reach.
    max_iter : int

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), η_m / s_m, within the power
    objective_ : float
    dual_gap_ : float
        Stationarity: the most that the tangent of the objective falls over the ball, relative to it.

    Examples
    --------
    >>> x, z = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> learner = PolynomialRidge().fit([np.outer(x, x), np.outer(z, z)], x * z)
    >>> learner.kernel_weights_.round(3)
    array([0.707, 0.707])
    """

    is_linear = False
    certificate = "stationarity"
    about = About(
        family="ridge",
        problem="min tr T'(K_η^{∘d} + αI)⁻¹T, η ≥ 0, ‖η − η₀‖₂ ≤ Λ",
        solver="projected gradients, stationarity (not convex)",
        cost="n³/3 + P n² for each of some 20 iterations, three n × n matrices",
        use="Interactions between sources, such as one linear kernel for each feature.",
        reference="Cortes, Mohri & Rostamizadeh 2010",
    )

    def __init__(
        self,
        degree: int = 2,
        alpha: float = 1.0,
        *,
        center: Any = None,
        radius: float = 1.0,
        normalise: bool = True,
        tol: float = 1e-6,
        max_iter: int = 500,
    ) -> None:
        self.degree = degree
        self.alpha = alpha
        self.center = center
        self.radius = radius
        self.normalise = normalise
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        degree = check_positive_integer("degree", self.degree)
        ball, options = self._ball(len(Ks)), self._options()
        value = self._value(Ks, targets, degree)
        start = ball.center + ball.radius / np.sqrt(len(Ks))
        with np.errstate(over="ignore"):
            if not np.isfinite(start.sum() ** max(degree, 2)):  # distances are squared in any case
                raise ValueError(f"degree={degree} overflows at radius={ball.radius:g}. Lower one of them.")
        found = minimise_projected(value, ball, start, options)
        return Learned.of(found, found.point / value.scales, n_iter=max(1, found.n_iter))

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The sum of the kernels with their weights, to the power, entry by entry."""
        K = super().combine_rows(kernels)
        with np.errstate(over="ignore", invalid="ignore"):
            K **= self.degree
        if not np.isfinite(K).all():
            raise ValueError(
                f"the power of degree {self.degree} overflows. Normalise the kernels "
                "(transforms='unit_diagonal'), or lower degree or radius."
            )
        return K
