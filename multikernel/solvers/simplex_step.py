"""The best step of a quadratic model over the simplex, exact also where the matrix is large beside the slope.

    min  g'd + ½ d'Hd     x + d ≥ 0,  Σ d = 0

The unknown is the step and not the point: products Hx, which may be larger than g by more digits than there
are, never occur.
"""

from typing import Any

import numpy as np

from .._numba import compiled

Array = np.ndarray[Any, np.dtype[Any]]


@compiled
def minimize_step(H: Array, g: Array, point: Array) -> Array:
    """x + d (m,), by a primal active set from x.

    Parameters
    ----------
    H : array (m, m), positive semidefinite
    g : array (m,)
    point : array (m,), x ≥ 0 of sum 1

    Examples
    --------
    >>> minimize_step(2.0 * np.eye(3), np.array([-1.0, 0.0, 9.0]), np.array([0.2, 0.4, 0.4])).round(3)
    array([0.65, 0.35, 0.  ])
    """
    n = g.size
    trace = 0.0
    for i in range(n):
        trace += H[i, i]
    ridge = 1e-14 * trace / n + 1e-300
    x = point.copy()
    inside = x > 0.0
    slope = g.copy()
    settled = 0
    for _ in range(20 * n + 50):
        w = np.flatnonzero(inside)
        k = w.size
        block = np.empty((k, k))
        sides = np.empty((k, 2))
        for a in range(k):
            sides[a, 0] = 1.0
            sides[a, 1] = slope[w[a]]
            for b in range(k):
                block[a, b] = H[w[a], w[b]] + trace / n  # Σ d = 0: no effect, but definite along x itself
            block[a, a] += ridge
        solved = np.linalg.solve(block, sides)
        level = solved[:, 1].sum() / solved[:, 0].sum()
        step = 1.0
        blocking = -1
        for a in range(k):
            move = level * solved[a, 0] - solved[a, 1]
            if move < 0.0 and x[w[a]] + step * move < 0.0:
                step = -x[w[a]] / move
                blocking = a
        for a in range(k):
            x[w[a]] = max(x[w[a]] + step * (level * solved[a, 0] - solved[a, 1]), 0.0)
        if blocking >= 0:
            x[w[blocking]] = 0.0
            inside[w[blocking]] = False
        for i in range(n):
            slope[i] = g[i]
        for j in range(n):
            moved = x[j] - point[j]
            if moved != 0.0:
                for i in range(n):
                    slope[i] += H[i, j] * moved
        if blocking >= 0:
            settled = 0
            continue
        if settled == 0:  # once more on the same set: what the first solution left to rounding
            settled = 1
            continue
        level = 0.0
        for a in range(k):
            level += slope[w[a]] / k
        entering = -1
        best = -1e-12 * np.abs(slope).max()
        for i in range(n):
            if not inside[i] and slope[i] - level < best:
                best = slope[i] - level
                entering = i
        if entering < 0:
            break
        inside[entering] = True
        settled = 0
    return x / x.sum()
