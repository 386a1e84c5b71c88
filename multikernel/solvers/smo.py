"""Sequential minimal optimisation for one fixed kernel, compiled.

Solves, from any feasible start, the dual of every machine of the library in one form:

    max_β  y'β − ε‖β‖₁ − ½ β'(K + diag(shift))β   subject to   lower ≤ β ≤ upper,  Σβ fixed by the start.

Each step moves one pair (i up, j down): i by the largest ascent, j by the second-order gain (Fan, Chen & Lin,
2005). ``up[t]`` and ``down[t]`` hold what must be added to the gradient g to get the score of moving β_t up
or down: 0 or ±ε where the move is possible, ∓HUGE where it is not. Zero is a stop for a step when ε > 0,
because the slope changes there. Scores are searched block by block, so that the search is vectorised and the
index is looked for in the winning block alone.

Rows of the combined kernel are formed only when a step touches them. Shrinking: from time to time the
variables that no pair can use are dropped and, once half are gone, the rest are moved to compact arrays
(rows too), so that the loops run over contiguous memory; before the solver stops, the full gradient is
rebuilt and the dropped ones are checked.
"""

from typing import Any

import numpy as np

from ..combine._numba import HUGE, compiled, inlined, larger, smaller
from ..combine.passes import combine_row

Array = np.ndarray[Any, np.dtype[Any]]

BLOCK = 64
TINY_CURVATURE = 1e-12
# What a call of the loop ended with.
CONVERGED, ITERATION_LIMIT, VALUE_REACHED, UNBOUNDED = 0, 1, 2, 3


@inlined
def _extremes(g: Array, up: Array, down: Array) -> Any:
    best_up = -HUGE
    best_down = HUGE
    for t in range(g.size):
        best_up = larger(g[t] + up[t], best_up)
        best_down = smaller(g[t] + down[t], best_down)
    return best_up, best_down


@inlined
def _best_gain(score: float, d_i: float, g: Array, down: Array, d: Array, row: Array) -> float:
    best = 0.0
    for t in range(g.size):
        ascent: float = larger(score - g[t] - down[t], 0.0)
        curvature = larger(d_i + d[t] - 2.0 * np.float64(row[t]), TINY_CURVATURE)
        best = larger(ascent * ascent / curvature, best)
    return best


@inlined
def _step_gradient(step: float, g: Array, row_i: Array, row_j: Array, up: Array, down: Array) -> Any:
    best_up = -HUGE
    best_down = HUGE
    for t in range(g.size):
        x = g[t] - step * (np.float64(row_i[t]) - np.float64(row_j[t]))
        g[t] = x
        best_up = larger(x + up[t], best_up)
        best_down = smaller(x + down[t], best_down)
    return best_up, best_down


@inlined
def _set_moves(
    t: int, beta: Array, lower: Array, upper: Array, epsilon: float, up: Array, down: Array
) -> None:
    if beta[t] >= upper[t]:
        up[t] = -HUGE
    else:
        up[t] = epsilon if beta[t] < 0.0 else -epsilon
    if beta[t] <= lower[t]:
        down[t] = HUGE
    else:
        down[t] = -epsilon if beta[t] > 0.0 else epsilon


@inlined
def _room_up(value: float, bound: float, epsilon: float) -> float:
    return -value if (epsilon > 0.0 and value < 0.0) else bound - value


@inlined
def _room_down(value: float, bound: float, epsilon: float) -> float:
    return value if (epsilon > 0.0 and value > 0.0) else value - bound


@inlined
def _land_up(value: float, bound: float, epsilon: float) -> float:
    return 0.0 if (epsilon > 0.0 and value < 0.0) else bound


@inlined
def _land_down(value: float, bound: float, epsilon: float) -> float:
    return 0.0 if (epsilon > 0.0 and value > 0.0) else bound


@compiled
def _fetch(
    i: int,
    Ks: Array,
    active: Array,
    weights: Array,
    shift: Array,
    Kc: Array,
    valid: Array,
    index: Array,
    rows: Array,
    have: Array,
) -> int:
    """Make ``rows[i]`` hold the combined row of sample ``index[i]``; says whether the stack was read."""
    if have[i]:
        return 0
    source = index[i]
    formed = 0
    if not valid[source]:
        combine_row(Ks, active, weights, source, Kc[source])
        Kc[source, source] += shift[source]
        valid[source] = True
        formed = 1
    if index.size != valid.size:
        full = Kc[source]
        target = rows[i]
        for t in range(index.size):
            target[t] = full[index[t]]
    have[i] = True
    return formed


@compiled
def _run(
    Ks: Array,
    active: Array,
    weights: Array,
    shift: Array,
    Kc: Array,
    valid: Array,
    index: Array,
    rows: Array,
    have: Array,
    diag: Array,
    lower: Array,
    upper: Array,
    epsilon: float,
    beta: Array,
    g: Array,
    up: Array,
    down: Array,
    tol: float,
    max_iter: int,
    value: float,
    value_stop: float,
) -> Any:
    """The loop over pairs on (possibly compact) arrays of one length.

    Returns (iterations, violation, rows formed, dual value, least relative curvature met, reason).
    """
    n = g.size
    n_blocks = (n + BLOCK - 1) // BLOCK
    iterations = 0
    formed = 0
    least = HUGE
    reason = ITERATION_LIMIT
    for t in range(n):
        _set_moves(t, beta, lower, upper, epsilon, up, down)
    score_i = -HUGE
    score_low = HUGE
    block_i = 0
    for k in range(n_blocks):
        s = k * BLOCK
        e = min(n, s + BLOCK)
        best_up, best_down = _extremes(g[s:e], up[s:e], down[s:e])
        if best_up > score_i:
            score_i = best_up
            block_i = k
        if best_down < score_low:
            score_low = best_down
    while True:
        if score_i - score_low <= tol:
            reason = CONVERGED
            break
        if value > value_stop:
            reason = VALUE_REACHED
            break
        if iterations >= max_iter:
            break
        i = -1
        for t in range(block_i * BLOCK, min(n, block_i * BLOCK + BLOCK)):
            if g[t] + up[t] >= score_i:
                i = t
                break
        if i < 0:
            break
        formed += _fetch(i, Ks, active, weights, shift, Kc, valid, index, rows, have)
        row_i = rows[i]
        d_i = diag[i]
        best = 0.0
        block_j = -1
        for k in range(n_blocks):
            s = k * BLOCK
            e = min(n, s + BLOCK)
            gain = _best_gain(score_i, d_i, g[s:e], down[s:e], diag[s:e], row_i[s:e])
            if gain > best:
                best = gain
                block_j = k
        if block_j < 0:
            break
        j = -1
        best = -1.0
        for t in range(block_j * BLOCK, min(n, block_j * BLOCK + BLOCK)):
            ascent = score_i - g[t] - down[t]
            if ascent > 0.0:
                curvature = max(d_i + diag[t] - 2.0 * np.float64(row_i[t]), TINY_CURVATURE)
                if ascent * ascent / curvature > best:
                    best = ascent * ascent / curvature
                    j = t
        formed += _fetch(j, Ks, active, weights, shift, Kc, valid, index, rows, have)
        row_j = rows[j]
        curvature = d_i + diag[j] - 2.0 * np.float64(row_i[j])
        size = abs(d_i) + abs(diag[j]) + TINY_CURVATURE
        if curvature < least * size:
            least = curvature / size
        ascent = score_i - g[j] - down[j]
        room_i = _room_up(beta[i], upper[i], epsilon)
        room_j = _room_down(beta[j], lower[j], epsilon)
        if curvature < TINY_CURVATURE:
            curvature = TINY_CURVATURE
            if room_i >= HUGE and room_j >= HUGE:
                reason = UNBOUNDED
                break
        step = ascent / curvature
        if step < room_i and step < room_j:
            beta[i] += step
            beta[j] -= step
        elif room_i < room_j:
            step = room_i
            beta[i] = _land_up(beta[i], upper[i], epsilon)
            beta[j] -= step
        elif room_j < room_i:
            step = room_j
            beta[j] = _land_down(beta[j], lower[j], epsilon)
            beta[i] += step
        else:
            step = room_i
            beta[i] = _land_up(beta[i], upper[i], epsilon)
            beta[j] = _land_down(beta[j], lower[j], epsilon)
        value += step * (ascent - 0.5 * step * curvature)
        _set_moves(i, beta, lower, upper, epsilon, up, down)
        _set_moves(j, beta, lower, upper, epsilon, up, down)
        score_i = -HUGE
        score_low = HUGE
        block_i = 0
        for k in range(n_blocks):
            s = k * BLOCK
            e = min(n, s + BLOCK)
            best_up, best_down = _step_gradient(step, g[s:e], row_i[s:e], row_j[s:e], up[s:e], down[s:e])
            if best_up > score_i:
                score_i = best_up
                block_i = k
            if best_down < score_low:
                score_low = best_down
        iterations += 1
    return iterations, score_i - score_low, formed, value, least, reason


@compiled
def _useful(g: Array, up: Array, down: Array) -> Array:
    """Positions that some pair can still use: those that can beat the extremes in one direction."""
    best_up, best_down = _extremes(g, up, down)
    keep = np.empty(g.size, np.int64)
    count = 0
    for t in range(g.size):
        if g[t] + up[t] >= best_down or g[t] + down[t] <= best_up:
            keep[count] = t
            count += 1
    return keep[:count]


@compiled
def smo(
    Ks: Array,
    active: Array,
    weights: Array,
    shift: Array,
    Kc: Array,
    valid: Array,
    diag: Array,
    lower: Array,
    upper: Array,
    epsilon: float,
    beta: Array,
    g: Array,
    tol: float,
    max_iter: int,
    value: float,
    value_stop: float,
) -> Any:
    """Improve ``beta`` and its gradient ``g`` in place until the largest violation is at most ``tol``.

    Returns (iterations, violation, rows formed, dual value, least relative curvature, reason); ``value`` is
    the dual value at the start, and the loop stops early once it exceeds ``value_stop``.
    """
    n = g.size
    period = max(n, 500)
    everything = np.arange(n)
    up = np.empty(n)
    down = np.empty(n)
    iterations = 0
    formed = 0
    least = HUGE
    violation = HUGE
    reason = ITERATION_LIMIT
    while True:
        budget = min(period, max_iter - iterations)
        used, violation, new, value, low, reason = _run(
            Ks, active, weights, shift, Kc, valid, everything, Kc, valid, diag,
            lower, upper, epsilon, beta, g, up, down, tol, budget, value, value_stop,
        )  # fmt: skip
        iterations += used
        formed += new
        least = min(least, low)
        if reason != ITERATION_LIMIT or iterations >= max_iter or used < budget:
            break
        keep = _useful(g, up, down)
        if 2 * keep.size > n or keep.size < 2:
            continue
        k = keep.size
        rows = np.empty((k, k), Kc.dtype)
        have = np.zeros(k, np.bool_)
        beta_k = beta[keep]
        g_k = g[keep]
        used, violation, new, value, low, reason = _run(
            Ks, active, weights, shift, Kc, valid, keep, rows, have, diag[keep],
            lower[keep], upper[keep], epsilon, beta_k, g_k, up[:k], down[:k], tol, max_iter - iterations,
            value, value_stop,
        )  # fmt: skip
        iterations += used
        formed += new
        least = min(least, low)
        for r in range(k):
            change = beta_k[r] - beta[keep[r]]
            if change != 0.0:
                row = Kc[keep[r]]
                for t in range(n):
                    g[t] -= change * np.float64(row[t])
                beta[keep[r]] = beta_k[r]
        if reason != CONVERGED:
            break
    return iterations, violation, formed, value, least, reason
