"""Sets of kernel weights: the unit simplex and the unit balls of the lp norms, nonnegative part.

    M_p = {μ ≥ 0 : Σ_m μ_m^p ≤ 1},   support(q) = max over M_p of μ'q = ‖q₊‖_{p*},  1/p + 1/p* = 1.

Both are images of the simplex under μ = θ^(1/p), and a convex function that falls in μ stays convex in θ, so
one solver over the simplex serves all of them. Costs d_m (Bach's) are not part of the set: they scale the
kernels by 1/d_m² before the set is met.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class LpBall:
    """Nonnegative weights in the unit ball of the lp norm.

    Parameters
    ----------
    p : float >= 1
        1 is the simplex (sparse weights), infinity fixes every weight at 1 (the plain sum).

    Examples
    --------
    >>> import numpy as np
    >>> LpBall(1.0).support(np.array([1.0, 3.0]))
    3.0
    >>> float(LpBall(2.0).support(np.array([3.0, 4.0])))
    5.0
    """

    p: float = 1.0

    def __post_init__(self) -> None:
        if not self.p >= 1.0:
            raise ValueError(f"norm must be at least 1 (1 is the simplex); got {self.p!r}.")

    def support(self, q: Array) -> float:
        """The largest μ'q over the set."""
        q = np.maximum(q, 0.0)
        top = float(q.max())
        if self.p == 1.0 or top == 0.0:
            return top
        if np.isinf(self.p):
            return float(q.sum())
        conjugate = self.p / (self.p - 1.0)
        return top * float(((q / top) ** conjugate).sum()) ** (1.0 / conjugate)

    def best_response(self, q: Array) -> Array:
        """The μ that attains :meth:`support` (a vertex of the simplex for p = 1)."""
        if self.p == 1.0:
            mu = np.zeros(q.size)
            mu[int(np.argmax(q))] = 1.0
            return mu
        if np.isinf(self.p):
            return np.ones(q.size)
        q = np.maximum(q, 0.0)
        top = float(q.max())
        if top == 0.0:
            return self.center(q.size)
        mu = (q / top) ** (1.0 / (self.p - 1.0))
        return mu / float((mu**self.p).sum()) ** (1.0 / self.p)

    def center(self, n_kernels: int) -> Array:
        """Equal weights on the boundary of the set."""
        return self.from_simplex(np.full(n_kernels, 1.0 / n_kernels))

    def from_simplex(self, theta: Array) -> Array:
        """μ = θ^(1/p)."""
        if self.p == 1.0:
            return theta.copy()
        return np.ones(theta.size) if np.isinf(self.p) else theta ** (1.0 / self.p)

    def to_simplex(self, mu: Array) -> Array:
        """θ = μ^p, on the boundary of the set."""
        theta = mu**self.p
        return theta / theta.sum()
