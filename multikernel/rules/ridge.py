"""Weights by kernel ridge regression.

They lie in a ball around given ones (Cortes, Mohri & Rostamizadeh).
"""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import check_flag, check_number, check_positive_integer
from ..core.optim.weight_sets import PositiveBall
from ..core.stack.sums import kernel_scales
from .learner import About, Learned, WeightLearner
from .solver.descent import minimise_projected
from .solver.ridge_ball import HomogeneousRidgeValue, RidgeValue, homogeneous_sums, learn_in_ball
from .targets import Targets, unit_ideal


class BallRidge(WeightLearner):
    """Kernel ridge regression with weights η ≥ 0, ‖η − η₀‖ ≤ Λ."""

    alpha: float
    center: Any
    radius: float
    normalize: bool

    def _value(
        self, Ks: Array, targets: Targets, degree: int = 1, form: type[RidgeValue] = RidgeValue
    ) -> RidgeValue:
        alpha = check_number("alpha", self.alpha, above=0.0)
        scales = kernel_scales(Ks, self.view_names_) if self.normalize else np.ones(len(Ks))
        return form(Ks, unit_ideal(targets), alpha, scales, degree)

    def _ball(self, m: int) -> PositiveBall:
        radius = check_number("radius", self.radius, above=0.0)
        try:
            center = np.asarray(0.0 if self.center is None else self.center, dtype=float)
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"center must be a number or a list of numbers; got {self.center!r}.") from error
        if center.shape not in ((), (m,)):
            raise ValueError(f"center must be a number, or one for each of {m} kernels; got {center.size}.")
        if not (np.isfinite(center) & (center >= 0.0)).all():
            raise ValueError(f"center must be finite and not negative; got {self.center!r}.")
        return PositiveBall(np.full(m, center), radius)


@dataclass(eq=False, repr=False)
class RidgeBall(BallRidge):
    """Weights by which kernel ridge regression fits best, in a ball around given ones.

    min_{η ≥ 0, ‖η − η₀‖ ≤ Λ}  tr T'(Σ_m η_m K_m / s_m + αI)⁻¹T

    T holds the labels, ±1 (a column for each of more than two classes), or the values, centred and divided
    by their standard deviation. At the optimum η = η₀ + Λ v / ‖v‖ with v_m = tr A'K_mA / s_m,
    A = (K + αI)⁻¹T: no weight is zero unless v_m and η₀ are.

    Parameters
    ----------
    alpha : float, default=1.0
        α > 0, the ridge, beside kernels of mean diagonal 1.
    center : float or array-like of shape (n_kernels,), default=None
        η₀ ≥ 0; default 0.
    radius : float, default=1.0
        Λ > 0.
    normalize : bool, default=True
        Whether s_m = tr K_m / n, so that the scales of the kernels do not matter; else s_m = 1.
    tol : float, default=1e-3
        Relative gap to reach.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Η_m / s_m.
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
        solver="damped fixed point, with projected gradient as fallback; Frank-Wolfe gap",
        cost="n³/3 + 2 P n² for each of about 10 iterations; memory 2 n²",
        use="Regression, or kernels that are all useful: none is dropped.",
        reference="Cortes, Mohri & Rostamizadeh 2009",
    )

    alpha: float = 1.0
    _: KW_ONLY
    center: Any = None
    radius: float = 1.0
    normalize: bool = True
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        ball, options = self._ball(len(Ks)), self._options()
        value = self._value(Ks, targets)
        found = learn_in_ball(value, ball, options)
        return Learned.of(found, found.point / value.scales, n_iter=max(1, found.n_iter))


@dataclass(eq=False, repr=False)
class PolynomialRidge(BallRidge):
    """Weights by which kernel ridge regression fits best on a power of the sum of the kernels.

    min_{η ≥ 0, ‖η − η₀‖ ≤ Λ}  tr T'(P + αI)⁻¹T,      P = (Σ_m η_m K_m / s_m)^{∘d}

    with the power taken entry by entry: all products of d kernels are in P. T is as for :class:`RidgeBall`.
    The problem is not convex; this is a stationary point, from equal weights on the boundary of the ball.

    Parameters
    ----------
    degree : int, default=2
        d ≥ 1; 1 is :class:`RidgeBall`.
    multinomial : bool, default=True
        Whether P is the power, which has the product of different kernels as often as its factors can be
        ordered: η₁² K₁² + 2 η₁ η₂ K₁K₂ + η₂² K₂² for d = 2. False has each product once, the formula as
        printed: squares count for more.
    alpha : float, default=1.0
        As for :class:`RidgeBall`.
    center : float or array-like of shape (n_kernels,), default=None
        As for :class:`RidgeBall`.
    radius : float, default=1.0
        As for :class:`RidgeBall`.
    normalize : bool, default=True
        As for :class:`RidgeBall`.
    tol : float, default=1e-3
        Stationarity to reach.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Η_m / s_m, within the power.
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
        solver="projected gradient, stationarity (not convex)",
        cost="n³/3 + P n² for each of about 20 iterations; memory 3 n²",
        use="Interactions between sources, such as one linear kernel for each feature.",
        reference="Cortes, Mohri & Rostamizadeh 2010",
    )

    degree: int = 2
    alpha: float = 1.0
    _: KW_ONLY
    center: Any = None
    radius: float = 1.0
    normalize: bool = True
    multinomial: bool = True
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        degree = check_positive_integer("degree", self.degree)
        form = RidgeValue if check_flag("multinomial", self.multinomial) else HomogeneousRidgeValue
        ball, options = self._ball(len(Ks)), self._options()
        value = self._value(Ks, targets, degree, form)
        start = ball.center + ball.radius / np.sqrt(len(Ks))
        with np.errstate(over="ignore"):
            if not np.isfinite(start.sum() ** max(degree, 2)):  # distances are squared in any case
                raise ValueError(f"degree={degree} overflows at radius={ball.radius:g}. Lower one of them.")
            largest = np.dot(start / value.scales, [K.diagonal().max() for K in Ks])  # no entry is larger
            if not np.isfinite(len(Ks[0]) * largest**degree):
                raise ValueError(_overflows(degree))
        found = minimise_projected(value, ball, start, options)
        return Learned.of(found, found.point / value.scales, n_iter=max(1, found.n_iter))

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The sum of the kernels with their weights, to the power, entry by entry; or each product once."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.multinomial:
                K = super().combine_rows(kernels)
                K **= self.degree
            else:
                K = homogeneous_sums(kernels, self.kernel_weights_, self.degree)[-1]
        if not np.isfinite(K).all():
            raise ValueError(_overflows(self.degree))
        return K


def _overflows(degree: int) -> str:
    return (
        f'the power of degree {degree} overflows. Normalize the kernels (normalize="diagonal" of each View, '
        "or unit_diagonal(K) of a matrix), or lower degree or radius."
    )
