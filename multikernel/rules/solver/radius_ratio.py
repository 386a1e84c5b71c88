"""Squared radius times squared norm of the machine, by descent along both derivatives (Chapelle et al. 2002).

    min F(η) = R²(η) ‖w(η)‖²,    η ≥ 0, Σ_m η_m s_m = 1,    both of the kernel K_η + I/C

With the squared hinge of penalty C the machine is the hard margin on K_η + I/C: ‖w‖² is twice its value J,
and F / n is Vapnik's bound of the leave-one-out error. With duals β of the machine and the shares b of the
samples at the centre of the smallest ball

    ∂‖w‖²/∂η_m = −β'K_mβ,      ∂R²/∂η_m = b'diag K_m − b'K_mb,

and the product is lowered by projected gradients, η_m in units of 1/s_m. It is not convex. Of several
machines the squared norms are added.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from ...core.optim.loop import Options, Status
from ...core.optim.weight_sets import Simplex
from ...core.stack.sums import weighted_sum
from ...core.svm.losses import Loss
from .descent import ProjectedResult, minimise_projected
from .margin_value import MarginValue
from .radius import smallest_ball

_FLAT = 1e-12  # a spread of this share of the diagonal is rounding
_SHARE = 1e-3  # of the tolerance asked for, to which machines and balls are solved


@dataclass(frozen=True, eq=False)
class RatioPoint:
    """F, its gradient, and what they come from."""

    value: float
    gradient: Array  # (m,), in η
    spread: Array  # (m,), the derivative of R²
    duals: Array  # (n_machines, n), β
    center: Array  # (n,), b


class RadiusTimesNorm:
    """F and its gradient, to be asked for many η ≥ 0; Ks (m, n, n) is never modified and never copied.

    ``losses`` are squared hinges of one C, or hard margins with ``ridge=0``; ``ridge`` is 1/C.

    Examples
    --------
    >>> from multikernel.core.svm.losses import HardMargin
    >>> x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> F = RadiusTimesNorm(np.outer(x, x)[None], [HardMargin(y)], ridge=0.0)
    >>> round(F.at(np.array([1.0])).value, 6), round(F.at(np.array([9.0])).value, 6)
    (4.0, 4.0)
    """

    def __init__(self, Ks: Array, losses: Sequence[Loss], ridge: float, tol: float = 1e-9) -> None:
        self.Ks, self.ridge, self.tol = Ks, ridge, tol
        self.margin = MarginValue(losses, tol=tol)
        self._center: Array | None = None

    def at(self, eta: Array) -> RatioPoint:
        """F; infinite where a hard margin has no machine."""
        K = weighted_sum(self.Ks, eta)
        machines = self.margin(K)
        if not np.isfinite(machines.upper):
            nothing = np.full(len(eta), np.nan)
            return RatioPoint(np.inf, nothing, nothing, machines.duals, np.full(len(K), np.nan))
        K.flat[:: len(K) + 1] += self.ridge
        ball = smallest_ball(K, tol=self.tol, start=self._center)
        b = self._center = ball.center
        norm, radius = 2.0 * machines.value, ball.lower_bound
        spread = np.array([b @ np.diagonal(part) - b @ (part @ b) for part in self.Ks])
        gradient = norm * spread - radius * machines.forms(self.Ks)
        return RatioPoint(radius * norm, gradient, spread, machines.duals, b)


def minimise_ratio(
    Ks: Array, losses: Sequence[Loss], ridge: float, units: Array, options: Options
) -> tuple[ProjectedResult, RatioPoint]:
    """A stationary point of F over η = θ · units, θ in the simplex, from equal θ; and F there.

    ``units`` (m,) are 1/s_m, s_m the mean diagonal of each kernel. The status is "inseparable" if there is no
    machine at equal θ.

    Examples
    --------
    >>> from multikernel.core.svm.losses import HardMargin
    >>> x, z, y = np.array([-1.0, 1.0, 2.0]), np.array([1.0, -1.0, 1.0]), np.array([-1.0, 1.0, 1.0])
    >>> Ks = np.stack([np.outer(x, x), np.outer(z, z), np.outer(y, y)])
    >>> found, point = minimise_ratio(Ks, [HardMargin(y)], 0.0, np.ones(3), Options(tol=1e-6))
    >>> found.point.round(4).tolist(), round(point.value, 6)
    ([0.0, 0.0, 1.0], 1.0)
    """
    ratio = RadiusTimesNorm(Ks, losses, ridge, tol=max(_SHARE * options.tol, 1e-11))

    def evaluate(theta: Array) -> tuple[float, Array]:
        point = ratio.at(theta * units)
        return point.value, point.gradient * units

    start = np.full(len(units), 1.0 / len(units))
    first = ratio.at(start * units)
    if not np.isfinite(first.value):
        status = Status.INSEPARABLE
        return ProjectedResult(start, first.gradient, objective=np.inf, n_iter=0, status=status), first
    if not (first.spread * units).max() > _FLAT:
        raise ValueError("no kernel tells the samples apart: the weights have no scale.")
    found = minimise_projected(evaluate, Simplex(), start, options)
    return found, ratio.at(found.point * units)
