"""Kernel ridge regression with weights in a ball (Cortes, Mohri & Rostamizadeh)."""

from typing import Any

from ..._typing import Array
from ..learner import About, Learned
from ..solver.ridge_ball import learn_in_ball
from ..targets import Targets
from ._ball import BallRidge


class RidgeBall(BallRidge):
    """Weights by which kernel ridge regression fits best, in a ball around given ones.

    min_{η ≥ 0, ‖η − η₀‖ ≤ Λ}  tr T'(Σ_m η_m K_m / s_m + αI)⁻¹T

    T holds the labels, ±1 (a column for each of more than two classes), or the values, centred and divided
    by their standard deviation. At the optimum η = η₀ + Λ v / ‖v‖ with v_m = tr A'K_mA / s_m,
    A = (K + αI)⁻¹T: no weight is zero unless v_m and η₀ are.

    Parameters
    ----------
    alpha : float
        α > 0, the ridge, beside kernels of mean diagonal 1.
    center : float or array-like (n_kernels,), optional
        η₀ ≥ 0; default 0.
    radius : float
        Λ > 0.
    normalise : bool
        Whether s_m = tr K_m / n, so that the scales of the kernels do not matter; else s_m = 1.
    tol : float
        Relative gap to reach.
    max_iter : int

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), η_m / s_m
    objective_ : float
    dual_gap_ : float, relative: no weights have an objective below (1 − dual_gap_) objective_

    Examples
    --------
    >>> y = np.array([1, 1, -1, -1])
    >>> learner = RidgeBall().fit([np.outer(y, y), np.eye(4)], y)
    >>> learner.kernel_weights_.round(3), round(learner.objective_, 3)
    (array([0.97 , 0.243]), 0.78)
    """

    about = About(
        family="ridge",
        problem="min tr T'(K_η + αI)⁻¹T, η ≥ 0, ‖η − η₀‖₂ ≤ Λ",
        solver="damped fixed point, projected gradients behind it; Frank-Wolfe gap",
        cost="n³/3 + 2 P n² for each of some 10 iterations, two n × n matrices",
        use="Values to predict, or kernels that are all of some use: none is dropped.",
        reference="Cortes, Mohri & Rostamizadeh 2009",
    )

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        center: Any = None,
        radius: float = 1.0,
        normalise: bool = True,
        tol: float = 1e-6,
        max_iter: int = 500,
    ) -> None:
        self.alpha = alpha
        self.center = center
        self.radius = radius
        self.normalise = normalise
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        ball, options = self._ball(len(Ks)), self._options()
        value = self._value(Ks, targets)
        found = learn_in_ball(value, ball, options)
        return Learned.of(found, found.point / value.scales, n_iter=max(1, found.n_iter))
