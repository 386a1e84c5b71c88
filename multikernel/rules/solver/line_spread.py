"""The weights at which two classes spread least along the line through their centres.

For K_η = Σ_m η_m K_m, with a = 1/n₊ on one class and −1/n₋ on the other, the centres m± of the classes in
feature space have ‖m₊ − m₋‖² = a'K_ηa, and sample i stands at (K_ηa)_i / ‖m₊ − m₋‖ on the line through them.
With the standard deviations s± of the members of each class on that line,

    F(η) = (s₊ + s₋) / ‖m₊ − m₋‖ = (√(η'M₊η) + √(η'M₋η)) / d'η,      d_m = a'K_ma ≥ 0,

M± the covariances, over the members of a class, of the columns K_1a, …, K_Pa. The numerator is convex and the
denominator linear: F is quasi-convex in η ≥ 0, and the same at any multiple of η.

In x_m = η_m d_m, min F is min √(x'Q₊x) + √(x'Q₋x) over the simplex, Q = M / dd': convex. As (s₊ + s₋)² =
min_θ s₊²/θ + s₋²/(1 − θ), it is, for every θ, a quadratic program over the simplex, and θ is the root of a
function of one variable: at it θ = s₊ / (s₊ + s₋). Where one class can be made not to spread at all there is
no root, and the θ next to the end of its range is near enough.

For any x and θ, with c = max(s₊/θ, s₋/(1 − θ)), the slope g = (Q₊x/θ + Q₋x/(1 − θ)) / c gives the bound: no
x has a value below min_m g_m, as g = A₊'u₊ + A₋'u₋ with Q = A'A and ‖u₊‖, ‖u₋‖ ≤ 1.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ..._typing import Array
from ...core.optim.simplex import minimize_step
from ...core.scatter import class_contrast

_ENDS = 1e-7  # of θ: where there is no root, a part of this size may be lost
_APART = 1e-10  # of the largest distance of the centres: a kernel below it cannot tell the classes apart
_VANISHED = 1e-6


@dataclass(frozen=True, eq=False)
class LineSpread:
    """What F is made of."""

    covariances: Array  # (2, m, m), M₊ and M₋; zero for a class of one member
    distances: Array  # d (m,)


def line_spread(Ks: Array, signs: Array, scales: Array) -> LineSpread:
    """The parts of F for the kernels K_m / scales_m and signs of ±1, both present; the stack is read once.

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0, 4.0, 6.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> spread = line_spread(np.outer(x, x)[None], y, np.ones(1))
    >>> spread.distances, spread.covariances.ravel()  # 4.5², and 4.5² times the variances 2 and 0.5
    (array([20.25]), array([40.5  , 10.125]))
    """
    contrast = class_contrast((signs > 0.0).astype(int))
    columns = np.stack([(K @ contrast) / scale for K, scale in zip(Ks, scales, strict=True)], axis=1)
    covariances = [_covariance(columns[members]) for members in (signs > 0.0, signs < 0.0)]
    return LineSpread(np.stack(covariances), np.maximum(contrast @ columns, 0.0))


def _covariance(rows: Array) -> Array:
    centred = rows - rows.mean(axis=0)
    return np.asarray(centred.T @ centred) / max(len(rows) - 1, 1)


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
    program = Programs(Qs)
    x = program.solve()
    spreads = program.spreads(x)
    value = float(spreads.sum())
    alone = float(np.sqrt(np.maximum(np.einsum("cii->ci", Qs), 0.0)).sum(axis=0).mean())
    if value > _VANISHED * alone:
        own = program.bound(x, float(np.clip(spreads[0] / value, _ENDS, 1.0 - _ENDS)))
        gap = max(value - max(own, program.best_bound), 0.0) / value
    else:
        gap = value / alone if alone > 0.0 else 0.0
    weights[apart] = x / d[apart]
    return LeastSpread(weights / weights.sum(), value, gap, program.n_solved)


class Programs:
    """min x'(Q₊/θ + Q₋/(1 − θ))x over the simplex, for one θ after the other; the best x is kept."""

    def __init__(self, Qs: Array) -> None:
        self.Qs, self.n_solved = Qs, 0
        self.x = np.full(Qs.shape[1], 1.0 / Qs.shape[1])
        self._least, self.best_bound = float(self.spreads(self.x).sum()), 0.0
        self._excess: dict[float, float] = {}  # where values are rounding, they depend on the start

    def spreads(self, x: Array) -> Array:
        return np.sqrt(np.maximum(x @ self.Qs @ x, 0.0))

    def solve(self) -> Array:
        low, high = _ENDS, 1.0 - _ENDS
        if self.x.size == 1:
            return self.x
        if self.excess(low) < 0.0 and self.excess(high) > 0.0:
            brentq(self.excess, low, high, xtol=1e-15, rtol=1e-14)
            return self.x
        side = 1.0 if self.excess(low) < 0.0 else 0.0
        for end in (10.0 * _ENDS, 100.0 * _ENDS):  # farther in, the program is better conditioned
            self.excess(abs(side - end))
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

    def bound(self, x: Array, theta: float) -> float:
        """min_m g_m; see the module."""
        parts = np.array([theta, 1.0 - theta])
        longest = float((self.spreads(x) / parts).max())
        slope = (self.Qs @ x / parts[:, None]).sum(axis=0)
        return float(slope.min()) / longest if longest > 0.0 else 0.0

    def _judge(self, x: Array, theta: float) -> float:
        first, second = self.spreads(x)
        self.best_bound = max(self.best_bound, self.bound(x, theta))
        if first + second <= self._least:
            self.x, self._least = x, float(first + second)
        return float(theta * second - (1.0 - theta) * first)
