"""Are two classes separable by a kernel? The nearest points of their hulls, by SMO within each class.

    d² = min ‖Σ_{y>0} a_i φ(x_i) − Σ_{y<0} a_i φ(x_i)‖²,   a ≥ 0, Σ_{y>0} a = Σ_{y<0} a = 1

This is the bounded form of the hard margin: the optimal value is 2/d², and its dual variables are 2a/d². The
scores of any iterate whose classes do not overlap prove that a separating function exists; a distance that
vanishes in floating point proves that none does to working precision.
"""

import numpy as np

from ..._numba import HUGE, compiled
from ..._typing import Array

_VANISHING = 1e-9  # of the spread
_ROUNDING = 10.0  # in units of the last digit of the diagonal: a constant kernel has a distance of this size


@compiled
def _hull_steps(K: Array, y: Array, beta: Array, f: Array, max_steps: int, rtol: float, floor: float) -> int:
    """Pairwise steps within one class, on β = y a and f = Kβ, in place; returns the number of steps."""
    n = y.size
    for steps in range(max_steps):
        widest = 0.0
        i = j = -1
        for sign in (1.0, -1.0):
            low, high = HUGE, -HUGE
            low_at = high_at = -1
            for t in range(n):
                if y[t] == sign:
                    score = sign * f[t]
                    if score < low:
                        low, low_at = score, t
                    if beta[t] != 0.0 and score > high:
                        high, high_at = score, t
            if high - low > widest:
                widest = high - low
                i, j = low_at, high_at
        d2 = 0.0
        for t in range(n):
            d2 += beta[t] * f[t]
        if widest <= rtol * d2 or d2 <= floor or i < 0 or i == j:
            return steps
        curvature = max(K[i, i] + K[j, j] - 2.0 * K[i, j], 1e-12)
        step = min(widest / curvature, abs(beta[j]))
        signed = step * y[i]
        beta[i] += signed
        beta[j] = 0.0 if step == abs(beta[j]) else beta[j] - signed
        for t in range(n):
            f[t] += signed * (K[i, t] - K[j, t])
    return max_steps


def spread(K: Array) -> float:
    """Mean squared distance from the mean: to a machine with intercept the origin does not matter."""
    diagonal = float(np.mean(np.diagonal(K), dtype=float))
    return max(diagonal - float(np.mean(K, dtype=float)), np.finfo(K.dtype).eps * diagonal)


def separating_duals(K: Array, y: Array, max_steps: int = 200_000) -> Array | None:
    """Duals of a hard-margin machine close to optimal, or None if K does not separate the classes y = ±1."""
    beta = np.where(y > 0, 1.0 / np.count_nonzero(y > 0), -1.0 / np.count_nonzero(y < 0))
    f = np.asarray(K @ beta, float)
    rounding = _ROUNDING * np.finfo(K.dtype).eps * float(np.mean(np.diagonal(K), dtype=float))
    floor = max(_VANISHING * spread(K), rounding)
    _hull_steps(K, y, beta, f, max_steps, 0.1, floor)
    d2 = float(beta @ f)
    separated = f[y > 0].min() > f[y < 0].max()
    return 2.0 * beta / d2 if separated and d2 > floor else None
