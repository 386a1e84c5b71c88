"""A prior on the mean gate that closes gates which are not needed.

    s Σ_m log(1 + t_m),   t_m = Σ_i w_i η_m(x_i)

With n = Σ_i w_i this is, up to a constant, minus the logarithm of a Dirichlet density of the mean gate
π_m = t_m / n with concentration 1 − s, floored by one sample, for 1 + t_m = n (π_m + 1/n). A gate that is
closed everywhere has no part of it; a first sample is costly, and more samples of an open gate are cheap, so
that few gates with many samples each cost less than many with few. It is concave in π: the start has a say in
which gates close.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from .learn import GatedObjective


@dataclass(frozen=True, eq=False)
class MeanGatePrior:
    """The prior, with s = ``strength`` and sample weights w (n,)."""

    strength: float
    weights: Array

    def value(self, eta: Array) -> float:
        """Of gates η (n, P)."""
        return self.strength * float(np.log1p(self.weights @ eta).sum())

    def contributions(self, eta: Array) -> Array:
        """c (n, P) as the gradient of a gate takes it: −η_m(x_i) ∂/∂η_m(x_i)."""
        return np.asarray(-self.strength * self.weights[:, None] * eta / (1.0 + self.weights @ eta))


class SparseGatedObjective(GatedObjective):
    """J with the prior, which is added to value and gradient of the objective without it."""

    def __init__(self, prior: MeanGatePrior, *given: Any) -> None:
        super().__init__(*given)
        self.prior = prior

    def value(self, theta: Array, ceiling: float = np.inf) -> float:
        prior = self.prior.value(self.gate.values(self.shaped(theta), self.X))
        return super().value(theta, ceiling - prior) + prior

    def gradient(self) -> Array:
        slope = self.gate.gradient(self.V, self.X, self.eta, self.prior.contributions(self.eta))
        return np.asarray(super().gradient() + slope.ravel())


def gated_objective(strength: float, weights: Array, *given: Any) -> GatedObjective:
    """The objective of :class:`GatedObjective`, with the prior where its strength is not 0."""
    if strength == 0.0:
        return GatedObjective(*given)
    return SparseGatedObjective(MeanGatePrior(strength, weights), *given)
