"""Compiled order statistics: the primal value of the hinge is needed often, and must cost next to nothing."""

from typing import Any

import numpy as np

from .._numba import compiled, larger, smaller

Array = np.ndarray[Any, np.dtype[Any]]


@compiled
def _select(values: Array, k: int) -> float:
    """The k-th smallest of ``values``, which are reordered so that smaller ones stand before it."""
    low = 0
    high = values.size - 1
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < values[low]:
            values[middle], values[low] = values[low], values[middle]
        if values[high] < values[low]:
            values[high], values[low] = values[low], values[high]
        if values[high] < values[middle]:
            values[high], values[middle] = values[middle], values[high]
        pivot = values[middle]
        i = low
        j = high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return values[k]


@compiled
def _hinge_risk(y: Array, scores: Array, scale: float, C: float, n_positive: int, scratch: Array) -> Any:
    """C Σ [1 − y(s f + b)]₊ at the best b, which lies between two order statistics of y − s f."""
    n = y.size
    for t in range(n):
        scratch[t] = y[t] - scale * scores[t]
    k = n_positive
    if k == 0 or k == n:
        b = _select(scratch, max(k - 1, 0))
    else:
        below = _select(scratch, k - 1)
        above = 1e300
        for t in range(k, n):
            above = smaller(scratch[t], above)
        b = 0.5 * (below + above)
    total = 0.0
    for t in range(n):
        total += larger(1.0 - y[t] * (scale * scores[t] + b), 0.0)
    return C * total, b


@compiled
def hinge_bound(y: Array, scores: Array, norm2: float, C: float, n_positive: int, scales: Array) -> Any:
    """The least primal value over growing scales (it is convex), the value at scale 1, and its intercept."""
    scratch = np.empty(y.size)
    risk, intercept = _hinge_risk(y, scores, 1.0, C, n_positive, scratch)
    plain = 0.5 * norm2 + risk
    best = plain
    for k in range(scales.size):
        value = 0.5 * scales[k] * scales[k] * norm2
        if value < best:
            value += _hinge_risk(y, scores, scales[k], C, n_positive, scratch)[0]
        if value >= best:
            break
        best = value
    return best, plain, intercept
