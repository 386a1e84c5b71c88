"""Weights on the simplex of least divergence between the Gaussians of the kernel and of the targets.

    towards    min D(K_η ‖ K_y): convex, by Newton's method
    away       D(K_y ‖ K_η) stationary: as before, with a model that is made convex. Where the curvature is
               not positive, the concave part of D is replaced by the plane that touches it, which is not
               below D; no step rises.

Gaps are relative to D + n/2: D itself may be zero, and n/2 is a change of D that one can see.
"""

from typing import Any

import numpy as np

from ..core.optim.loop import Options
from ..criteria.divergence import Away, GaussianDivergence, Towards
from .simplex_newton import SimplexResult, minimise_over_simplex

Array = np.ndarray[Any, np.dtype[Any]]

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
