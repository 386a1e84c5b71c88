"""The weights at which two classes spread least along the line through their centres.

    min_{η ≥ 0}  (√(η'M₊η) + √(η'M₋η)) / d'η

In x_m = η_m d_m this is min √(x'Q₊x) + √(x'Q₋x) over the simplex, Q = M / dd': convex. As
(s₊ + s₋)² = min_θ s₊²/θ + s₋²/(1 − θ), it is, for every θ, a quadratic program over the simplex, and θ is the
root of a function of one variable: at it θ = s₊ / (s₊ + s₋). The slope g of the sum gives the bound: no x has
a value below min_m g_m.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from ..criteria.line_spread import LineSpread
from .simplex_step import minimize_step

Array = np.ndarray[Any, np.dtype[Any]]

_ENDS = 1e-10  # of θ
_APART = 1e-10  # of the largest distance of the centres: a kernel below it cannot tell the classes apart
_VANISHED = 1e-6


class LeastSpread(NamedTuple):
    """Weights (m,) of sum 1, F there, its gap and the number of quadratic programs.

    The gap is (F − bound) / F; where F is a millionth of the mean F of single kernels, it is that part, as F
    may be zero.
    """

    weights: Array
    value: float
    gap: float
    n_iter: int


def minimise_spread(spread: LineSpread) -> LeastSpread:
    """Solve; weights 0 for kernels in which the centres coincide (and for all, if they do in all).

    Examples
    --------
    >>> forms = np.array([np.diag([1.0, 4.0]), np.diag([1.0, 4.0])])
    >>> found = minimise_spread(LineSpread(forms, np.ones(2)))
    >>> found.weights.round(6).tolist(), round(found.value, 6)
    ([0.8, 0.2], 1.788854)
    """
    d = spread.distances
    apart = np.flatnonzero(d > _APART * d.max())
    weights = np.zeros(d.size)
    if not apart.size:
        return LeastSpread(weights, np.nan, 0.0, 0)
    Qs = spread.covariances[:, apart[:, None], apart] / np.outer(d[apart], d[apart])
    program = _Programs(Qs)
    x = program.solve()
    spreads = program.spreads(x)
    value = float(spreads.sum())
    slope = sum((Q @ x / s for Q, s in zip(Qs, spreads, strict=True) if s > 0.0), np.zeros(x.size))
    alone = float(np.sqrt(np.maximum(np.einsum("cii->ci", Qs), 0.0)).sum(axis=0).mean())
    if value > _VANISHED * alone:
        gap = max(value - float(slope.min()), 0.0) / value
    else:
        gap = value / alone if alone > 0.0 else 0.0
    weights[apart] = x / d[apart]
    return LeastSpread(weights / weights.sum(), value, gap, program.n_solved)


class _Programs:
    """min x'(Q₊/θ + Q₋/(1 − θ))x over the simplex, for one θ after the other; the best x is kept."""

    def __init__(self, Qs: Array) -> None:
        self.Qs, self.n_solved = Qs, 0
        self.x = np.full(Qs.shape[1], 1.0 / Qs.shape[1])
        self._least = float(self.spreads(self.x).sum())
        self._excess: dict[float, float] = {}  # where values are rounding, they depend on the start

    def spreads(self, x: Array) -> Array:
        return np.sqrt(np.maximum(x @ self.Qs @ x, 0.0))

    def solve(self) -> Array:
        low, high = _ENDS, 1.0 - _ENDS
        if self.x.size > 1 and self.excess(low) < 0.0 < self.excess(high):
            brentq(self.excess, low, high, xtol=1e-15, rtol=1e-14)
        return self.x

    def excess(self, theta: float) -> float:
        """θ − s₊ / (s₊ + s₋) at the x of θ, times s₊ + s₋: it rises with θ."""
        if theta not in self._excess:
            H = (1.0 - theta) * self.Qs[0] + theta * self.Qs[1]
            start = np.maximum(self.x, 1e-3 / self.x.size)
            start = start / start.sum()
            self._excess[theta] = self._judge(minimize_step(H, H @ start, start), theta)
            self.n_solved += 1
        return self._excess[theta]

    def _judge(self, x: Array, theta: float) -> float:
        first, second = self.spreads(x)
        if first + second <= self._least:
            self.x, self._least = x, float(first + second)
        return float(theta * second - (1.0 - theta) * first)
