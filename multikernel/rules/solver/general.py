"""Kernel machines over any differentiable combination of kernels, with a price on its parameters.

    min_{η ≥ 0}  J(K_η) + r(η),      r = ρ Σ_m η_m   or   ½ρ Σ_m η_m²

J is the optimal value of the machines (:mod:`.margin_value`), K_η the sum of the kernels or the product of
their powers. The descent is :func:`.descent.minimise_boxed`. Because J ≥ 0, a point at least as good as η has
a price of at most F(η) = J(K_η) + r(η); over these points the gap

    (F'(η)'η − min_{r(ζ) ≤ F(η)} F'(η)'ζ + J⁺ − J⁻) / F(η),     J⁻ ≤ J ≤ J⁺ by the machines' own gap,

bounds (F(η) − min F) / F(η) if K_η is a sum: the problem is convex. For products it measures how far η is
from stationary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..._typing import Array
from ...core.optim.loop import Options, Status
from ...core.svm.losses import Loss
from .descent import Point, ProjectedResult, minimise_boxed
from .margin_value import MarginValue
from .products import PowerProduct, WeightedSum

_SHARE = 1e-3  # of the gap asked for, that the machines may leave open


@dataclass(frozen=True)
class LinearPrice:
    """r(η) = ρ Σ_m η_m, and what the certificate needs of it."""

    rho: float

    def value(self, eta: Array) -> float:
        """r(η)."""
        return self.rho * float(eta.sum())

    def gradient(self, eta: Array) -> Array:
        """r'(η)."""
        return np.full(eta.size, self.rho)

    def most(self, ceiling: float) -> float:
        """The largest η_m with r(η) ≤ ceiling."""
        return ceiling / self.rho

    def least(self, g: Array, ceiling: float) -> float:
        """The smallest g'η over η ≥ 0 with r(η) ≤ ceiling: all that may be spent, on the steepest."""
        return min(float(g.min()), 0.0) * self.most(ceiling)


class QuadraticPrice(LinearPrice):
    """r(η) = ½ρ Σ_m η_m²."""

    def value(self, eta: Array) -> float:
        return 0.5 * self.rho * float(eta @ eta)

    def gradient(self, eta: Array) -> Array:
        return self.rho * eta

    def most(self, ceiling: float) -> float:
        return float(np.sqrt(2.0 * ceiling / self.rho))

    def least(self, g: Array, ceiling: float) -> float:
        """Along what falls, as far as may be gone."""
        return -float(np.linalg.norm(np.minimum(g, 0.0))) * self.most(ceiling)


def minimise_general(
    combination: WeightedSum | PowerProduct,
    losses: Sequence[Loss],
    price: LinearPrice,
    units: Array,
    options: Options,
) -> ProjectedResult:
    """Minimise J(K_η) + r(η) from η = units / m, or less where that costs more than it can save.

    ``losses`` with J ≥ 0, one for each machine; ``units`` (m,) > 0 are a usual size of each η_m: the descent
    is in η / units. η = 0 at once where J is 0 without any kernel.

    Examples
    --------
    >>> from multikernel.core.svm.losses import Hinge
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> Ks = np.stack([np.outer(y, y), np.eye(4)])
    >>> options = Options(tol=1e-6)
    >>> found = minimise_general(WeightedSum(Ks), [Hinge(y, 1.0)], LinearPrice(0.5), np.ones(2), options)
    >>> found.point.round(4).tolist(), round(found.objective, 6)
    ([1.0, 0.0], 1.0)
    """
    margin = MarginValue(losses, tol=max(_SHARE * options.tol, 1e-11))
    worth = margin(_finite(combination.matrix(units / units.size))).value
    if not worth > 0.0:  # nothing to explain, and no price is worth paying
        zeros = np.zeros(units.size)
        return ProjectedResult(zeros, zeros, objective=0.0, gap=0.0, n_iter=0, status=Status.OPTIMAL)
    units = np.minimum(units, price.most(worth))

    def evaluate(theta: Array) -> tuple[float, Array]:
        eta = units * theta
        K = _finite(combination.matrix(eta))
        point = margin(K)
        gradient = price.gradient(eta) - 0.5 * combination.forms(K, point.duals)
        return point.value + price.value(eta), gradient * units

    def gap_at(here: Point) -> float:
        slope = float(here.gradient @ here.x) - price.least(here.gradient / units, here.value)
        return max(slope, 0.0) / max(abs(here.value), np.finfo(float).tiny)

    start = np.full(units.size, 1.0 / units.size)
    upper = price.most(evaluate(start)[0]) / units
    found = minimise_boxed(evaluate, gap_at, start, upper, options)
    eta = units * found.point
    last = margin(combination.matrix(eta))
    gap = found.gap + max(last.upper - last.value, 0.0) / max(abs(found.objective), np.finfo(float).tiny)
    status = Status.STALLED if found.status == Status.OPTIMAL and gap > 2.0 * options.tol else found.status
    return replace(found, point=eta, gradient=found.gradient / units, gap=gap, status=status)


def _finite(K: Array) -> Array:
    if not np.isfinite(K).all():
        raise ValueError(
            'the combined kernel overflows. Give the views normalize="diagonal", or matrices as '
            "unit_diagonal(K)."
        )
    return K
