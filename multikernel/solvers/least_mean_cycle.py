"""The cycle of least mean cost in a dense graph, compiled (Karp, 1978).

With D_t(v) the least cost of a walk of t edges that ends in v, the least mean cost of a cycle is

    min_v max_{t < n} (D_n(v) − D_t(v)) / (n − t),

and the walk of n edges to the best v contains such a cycle. An edge of cost HUGE or more is absent.
"""

from typing import Any

import numpy as np

from .._numba import HUGE, compiled

Array = np.ndarray[Any, np.dtype[Any]]


@compiled
def _shortest_walks(W: Array, distance: Array, before: Array) -> None:
    """distance[t, v]: the least cost of a walk of t edges that ends in v, from anywhere."""
    n = W.shape[0]
    distance[0] = 0.0
    for t in range(1, n + 1):
        distance[t] = 2.0 * HUGE
        for u in range(n):
            start = distance[t - 1, u]
            for v in range(n):
                if u != v and start + W[u, v] < distance[t, v]:
                    distance[t, v] = start + W[u, v]
                    before[t, v] = u


@compiled
def least_mean_cycle(W: Array, classes: Array) -> Any:
    """Karp: the least mean cost of a cycle and its length; its classes are written to ``classes``."""
    n = W.shape[0]
    distance = np.empty((n + 1, n))
    before = np.zeros((n + 1, n), np.int64)
    _shortest_walks(W, distance, before)
    best = HUGE
    last = -1
    for v in range(n):
        if distance[n, v] < 0.5 * HUGE:
            worst = -HUGE
            for t in range(n):
                if distance[t, v] < 0.5 * HUGE:
                    worst = max(worst, (distance[n, v] - distance[t, v]) / (n - t))
            if worst < best:
                best = worst
                last = v
    if last < 0:
        return HUGE, 0
    walk = np.empty(n + 1, np.int64)
    for t in range(n, 0, -1):
        walk[t] = last
        last = before[t, last]
    walk[0] = last
    return _cheapest_loop(W, walk, classes)


@compiled
def _cheapest_loop(W: Array, walk: Array, classes: Array) -> Any:
    """The simple cycle of least mean cost on a walk; its mean and length."""
    best = HUGE
    start = 0
    length = 0
    for s in range(walk.size):
        cost = 0.0
        for e in range(s + 1, walk.size):
            cost += W[walk[e - 1], walk[e]]
            if walk[e] == walk[s]:
                if cost / (e - s) < best:
                    best = cost / (e - s)
                    start = s
                    length = e - s
                break
    for t in range(length):
        classes[t] = walk[start + t]
    return best, length
