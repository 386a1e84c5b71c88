"""The losses of the kernel machines as functions of the scores, and smooth stand-ins for those with a kink.

    P(w, b) = Ω(w) + Σ_i C_i ℓ(y_i, f_i),   f_i = z_i·w + b

=========================  ======================  =====================================================
loss                       ℓ(y, f)                 dual of the loss in :mod:`.losses`
=========================  ======================  =====================================================
PrimalHinge                [1 − y f]₊              0 ≤ y_i β_i ≤ C_i
PrimalSquaredHinge         ½ [1 − y f]₊²           0 ≤ y_i β_i, shift = 1/C_i
PrimalEpsilonInsensitive   [|y − f| − ε]₊          −C_i ≤ β_i ≤ C_i
PrimalSquaredError         ½ (y − f)²              β free, shift = 1/C_i (C_i = 1/ridge_i)
=========================  ======================  =====================================================

A kink u ↦ [u]₊ is replaced by a parabola of width δ around it,

    h(u) = 0 for u ≤ −δ/2,   (u + δ/2)²/(2δ) in between,   u for u ≥ δ/2,

whose slope lies in [0, 1]: β_i = −C_i ∂ℓ/∂f_i is feasible for the dual of the loss with the kink, whatever
the width is. Only the rows of the parabola have curvature. At the minimiser of the smoothed problem, the
duality gap of the true one is Σ C_i ([u_i]₊ − slope_i u_i) over those rows, which falls like δ² where many
rows share it, and like δ for the few that the margin itself holds there: four times less than that of a
parabola on one side of the kink.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ..._typing import Array


class Smoothed(NamedTuple):
    """A loss of each row with its first and second derivative in the score, without the rows' prices."""

    value: Array
    slope: Array
    curvature: Array


class PrimalLoss(ABC):
    """A loss as a function of target and score, row by row; see the module's table.

    A loss that is smooth needs no smoothing; its dual then has no bounds but a shift of 1/C.
    """

    epsilon: float = 0.0  # what a unit of |β| costs in the dual
    is_smooth: ClassVar[bool] = True
    has_signs: ClassVar[bool] = False  # whether the targets are ±1
    is_quadratic: ClassVar[bool] = False  # whether the curvature is the same everywhere

    @abstractmethod
    def value(self, target: Array, scores: Array) -> Array:
        """The loss itself."""

    @abstractmethod
    def smoothed(self, target: Array, scores: Array, width: float) -> Smoothed:
        """Its stand-in of this width, in units of the target; the loss itself where it is smooth."""


class Kinked(PrimalLoss):
    """A loss [u]₊ of an excess u that is linear in the score where u is near 0."""

    is_smooth: ClassVar[bool] = False

    @abstractmethod
    def excess(self, target: Array, scores: Array) -> tuple[Array, Array]:
        """u, and the sign of −∂u/∂f, which is that of β."""

    def start(self, width: float) -> float:
        """The excess at which a parabola of this width begins."""
        return -0.5 * width

    def value(self, target: Array, scores: Array) -> Array:
        return np.maximum(self.excess(target, scores)[0], 0.0)

    def smoothed(self, target: Array, scores: Array, width: float) -> Smoothed:
        u, sign = self.excess(target, scores)
        beyond = u - self.start(width)
        least = 0.5 * width + self.start(width)  # so that it is never below the loss
        inside = np.clip(beyond / width, 0.0, 1.0)
        value = inside * (beyond - 0.5 * width * inside) + least
        curvature = np.where((beyond >= 0.0) & (beyond < width), 1.0 / width, 0.0)
        return Smoothed(value, -sign * inside, curvature)


@dataclass(frozen=True)
class PrimalHinge(Kinked):
    """[1 − y f]₊, y = ±1.

    Examples
    --------
    >>> import numpy as np
    >>> y, f = np.array([1.0, 1.0, -1.0]), np.array([2.0, 0.9, 0.5])
    >>> PrimalHinge().value(y, f).round(3).tolist()
    [0.0, 0.1, 1.5]
    >>> PrimalHinge().smoothed(y, f, 0.4).slope.round(3).tolist()
    [-0.0, -0.75, 1.0]
    """

    has_signs: ClassVar[bool] = True

    def excess(self, target: Array, scores: Array) -> tuple[Array, Array]:
        return 1.0 - target * scores, target


@dataclass(frozen=True)
class PrimalSquaredHinge(PrimalLoss):
    """½ [1 − y f]₊², y = ±1: half of what ``LinearSVC`` calls the squared hinge.

    Examples
    --------
    >>> import numpy as np
    >>> PrimalSquaredHinge().value(np.array([1.0, -1.0]), np.array([2.0, 1.0])).tolist()
    [0.0, 2.0]
    """

    has_signs: ClassVar[bool] = True

    def value(self, target: Array, scores: Array) -> Array:
        return 0.5 * np.maximum(1.0 - target * scores, 0.0) ** 2

    def smoothed(self, target: Array, scores: Array, width: float) -> Smoothed:
        slack = np.maximum(1.0 - target * scores, 0.0)
        return Smoothed(0.5 * slack * slack, -target * slack, (slack > 0.0).astype(float))


@dataclass(frozen=True)
class PrimalEpsilonInsensitive(Kinked):
    """[|y − f| − ε]₊.

    Examples
    --------
    >>> import numpy as np
    >>> PrimalEpsilonInsensitive(0.5).value(np.array([1.0, 1.0]), np.array([0.8, 2.0])).tolist()
    [0.0, 0.5]
    """

    epsilon: float = 0.1

    def excess(self, target: Array, scores: Array) -> tuple[Array, Array]:
        residual = target - scores
        return np.abs(residual) - self.epsilon, np.where(residual < 0.0, -1.0, 1.0)

    def start(self, width: float) -> float:
        """The parabolas of the two sides must not meet: where ε is too small for both, they are one."""
        return max(-0.5 * width, -self.epsilon)


@dataclass(frozen=True)
class PrimalSquaredError(PrimalLoss):
    """½ (y − f)².

    Examples
    --------
    >>> import numpy as np
    >>> PrimalSquaredError().value(np.array([1.0, 1.0]), np.array([1.0, 3.0])).tolist()
    [0.0, 2.0]
    """

    is_quadratic: ClassVar[bool] = True

    def value(self, target: Array, scores: Array) -> Array:
        return 0.5 * (target - scores) ** 2

    def smoothed(self, target: Array, scores: Array, width: float) -> Smoothed:
        residual = target - scores
        return Smoothed(0.5 * residual * residual, -residual, np.ones_like(residual))
