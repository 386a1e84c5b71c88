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

from typing import Any, NamedTuple

import numpy as np

from ..._numba import HUGE, compiled, inlined, larger, read_only, smaller
from ..._typing import Array
from ..stack.passes import adjoint_rows, combine_row, factor_row, gated_row

BLOCK = 64
TINY_CURVATURE = 1e-12
_FIRST, _MINUS = np.zeros(1, np.intp), -np.ones(1)  # the combined kernel as a stack of one, subtracted
# What a call of the loop ended with.
CONVERGED, ITERATION_LIMIT, VALUE_REACHED, UNBOUNDED = 0, 1, 2, 3


class Combination(NamedTuple):
    """The weighted sum of a stack: its kernels with weight, and the rows of ``combined`` that are valid.

    With ``gates`` (n_active, n) the weight of a kernel depends on the sample, and ``weights`` is not read;
    rows come of a ``factor`` (r, n) of the sum where there is one.
    """

    Ks: Array
    active: Array
    weights: Array
    shift: Array
    combined: Array
    valid: Array
    gates: Array
    factor: Array


class Box(NamedTuple):
    """The kernel's diagonal, the bounds of β, and ε."""

    diag: Array
    lower: Array
    upper: Array
    epsilon: float


class Progress(NamedTuple):
    """The dual value at the start, and the value that is enough."""

    value: float
    value_stop: float


class Part(NamedTuple):
    """The samples that the loop runs over, with their rows of the combined kernel where it has them."""

    samples: Array
    rows: Array
    have: Array


class Point(NamedTuple):
    """β, the gradient, and what it takes to move up and down."""

    beta: Array
    gradient: Array
    up: Array
    down: Array


class Outcome(NamedTuple):
    """What a call of the loop did, and why it ended."""

    iterations: int
    violation: float
    formed: int
    value: float
    least_curvature: float
    reason: int


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
def set_moves(
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
def _fetch(kernel: Combination, part: Part, i: int) -> int:
    """Make ``part.rows[i]`` hold the combined row of its sample; says whether the stack was read for it.

    Callers ask whether it is there first: a call with so many arrays takes longer than the rest of a step.
    """
    source = part.samples[i]
    formed = 0
    full = kernel.combined[source]
    if not kernel.valid[source]:
        if kernel.factor.shape[0] > 0:
            factor_row(kernel.factor, source, full)
        elif kernel.gates.shape[0] > 0:
            gated_row(kernel.Ks, kernel.active, kernel.gates, source, full)
        else:
            combine_row(kernel.Ks, kernel.active, kernel.weights, source, full)
        full[source] += kernel.shift[source]
        kernel.valid[source] = True
        formed = 1
    if part.samples.size != kernel.valid.size:
        target = part.rows[i]
        for t in range(part.samples.size):
            target[t] = full[part.samples[t]]
    part.have[i] = True
    return formed


@inlined
def _search_up(g: Array, up: Array, down: Array) -> Any:
    """The largest score up with its block, and the least score down."""
    score_up = -HUGE
    score_down = HUGE
    block = 0
    for k in range((g.size + BLOCK - 1) // BLOCK):
        s = k * BLOCK
        e = min(g.size, s + BLOCK)
        best_up, best_down = _extremes(g[s:e], up[s:e], down[s:e])
        if best_up > score_up:
            score_up = best_up
            block = k
        score_down = min(score_down, best_down)
    return score_up, score_down, block


@inlined
def _find_up(score: float, block: int, g: Array, up: Array) -> int:
    """The sample of the block that has the score."""
    for t in range(block * BLOCK, min(g.size, block * BLOCK + BLOCK)):
        if g[t] + up[t] >= score:
            return t
    return -1


@inlined
def _search_down(score: float, d_i: float, g: Array, down: Array, diag: Array, row: Array) -> int:
    """The partner with the largest second-order gain."""
    best = 0.0
    block = -1
    for k in range((g.size + BLOCK - 1) // BLOCK):
        s = k * BLOCK
        e = min(g.size, s + BLOCK)
        gain = _best_gain(score, d_i, g[s:e], down[s:e], diag[s:e], row[s:e])
        if gain > best:
            best = gain
            block = k
    j: Any = np.int64(-1)  # a literal would have the functions that get it compiled twice
    best = -1.0
    if block >= 0:
        for t in range(block * BLOCK, min(g.size, block * BLOCK + BLOCK)):
            ascent = score - g[t] - down[t]
            curvature = max(d_i + diag[t] - 2.0 * np.float64(row[t]), TINY_CURVATURE)
            if ascent > 0.0 and ascent * ascent / curvature > best:
                best = ascent * ascent / curvature
                j = t
    return j


@inlined
def _move_pair(i: int, j: int, step: float, room_i: float, room_j: float, box: Box, beta: Array) -> float:
    """Move β_i up and β_j down by the step, or to the nearer stop, which is met exactly; the step taken."""
    if step < room_i and step < room_j:
        beta[i] += step
        beta[j] -= step
        return step
    if room_i <= room_j:
        step = room_i
        beta[j] = _land_down(beta[j], box.lower[j], box.epsilon) if room_i == room_j else beta[j] - step
        beta[i] = _land_up(beta[i], box.upper[i], box.epsilon)
        return step
    step = room_j
    beta[i] += step
    beta[j] = _land_down(beta[j], box.lower[j], box.epsilon)
    return step


@inlined
def _apply_step(step: float, point: Point, row_i: Array, row_j: Array) -> Any:
    """The gradient after a step, with the new extremes found in the same pass."""
    score_up = -HUGE
    score_down = HUGE
    block = 0
    g, up, down = point.gradient, point.up, point.down
    for k in range((g.size + BLOCK - 1) // BLOCK):
        s = k * BLOCK
        e = min(g.size, s + BLOCK)
        best_up, best_down = _step_gradient(step, g[s:e], row_i[s:e], row_j[s:e], up[s:e], down[s:e])
        if best_up > score_up:
            score_up = best_up
            block = k
        score_down = min(score_down, best_down)
    return score_up, score_down, block


@compiled
def run_pairs(
    kernel: Combination, part: Part, box: Box, point: Point, tol: float, max_iter: int, progress: Progress
) -> Any:
    """The loop over pairs on (possibly compact) arrays of one length; returns the fields of an Outcome.

    As a plain tuple: to make the class on the way out, numba calls Python, which may raise there (Ctrl-C was
    pressed meanwhile), and numba would not notice.
    """
    beta, g, up, down, diag = point.beta, point.gradient, point.up, point.down, box.diag
    for t in range(g.size):
        set_moves(t, beta, box.lower, box.upper, box.epsilon, up, down)
    iterations = 0
    formed = 0
    least = HUGE
    value = progress.value
    reason = ITERATION_LIMIT
    score_up, score_down, block = _search_up(g, up, down)
    while True:
        if score_up - score_down <= tol:
            reason = CONVERGED
            break
        if value > progress.value_stop:
            reason = VALUE_REACHED
            break
        if iterations >= max_iter:
            break
        i = _find_up(score_up, block, g, up)
        if i < 0:
            break
        if not part.have[i]:
            formed += _fetch(kernel, part, i)
        row_i = part.rows[i]
        j = _search_down(score_up, diag[i], g, down, diag, row_i)
        if j < 0:
            break
        if not part.have[j]:
            formed += _fetch(kernel, part, j)
        row_j = part.rows[j]
        curvature = diag[i] + diag[j] - 2.0 * np.float64(row_i[j])
        least = min(least, curvature / (abs(diag[i]) + abs(diag[j]) + TINY_CURVATURE))
        room_i = _room_up(beta[i], box.upper[i], box.epsilon)
        room_j = _room_down(beta[j], box.lower[j], box.epsilon)
        if curvature < TINY_CURVATURE:
            curvature = TINY_CURVATURE
            if room_i >= HUGE and room_j >= HUGE:
                reason = UNBOUNDED
                break
        ascent = score_up - g[j] - down[j]
        step = _move_pair(i, j, ascent / curvature, room_i, room_j, box, beta)
        value += step * (ascent - 0.5 * step * curvature)
        set_moves(i, beta, box.lower, box.upper, box.epsilon, up, down)
        set_moves(j, beta, box.lower, box.upper, box.epsilon, up, down)
        score_up, score_down, block = _apply_step(step, point, row_i, row_j)
        iterations += 1
    return iterations, score_up - score_down, formed, value, least, reason


# The rest is left to NumPy: compiled with the loop in it, it would be optimised again together with it.
def _useful(g: Array, up: Array, down: Array) -> Array:
    """Positions that some pair can still use: those that can beat the extremes in one direction."""
    rise, fall = g + up, g + down
    return np.flatnonzero((rise >= fall.min()) | (fall <= rise.max()))


def candidates(box: Box, beta: Array, g: Array) -> Array:
    """Samples that some pair can use at present: most of those whose rows a call of the loop will ask for."""
    up = np.where(beta >= box.upper, -HUGE, np.where(beta < 0.0, box.epsilon, -box.epsilon))
    down = np.where(beta <= box.lower, HUGE, np.where(beta > 0.0, -box.epsilon, box.epsilon))
    return _useful(g, up, down)


def _run_compact(
    kernel: Combination, keep: Array, box: Box, point: Point, tol: float, max_iter: int, progress: Progress
) -> Outcome:
    """The loop on the given samples alone, in compact arrays; the full gradient is brought up to date."""
    k = keep.size
    part = Part(keep, np.empty((k, k), kernel.combined.dtype), np.zeros(k, np.bool_))
    small = Box(box.diag[keep], box.lower[keep], box.upper[keep], box.epsilon)
    inner = Point(point.beta[keep], point.gradient[keep], np.empty(k), np.empty(k))
    out = Outcome(*run_pairs(kernel, part, small, inner, tol, max_iter, progress))
    change = inner.beta - point.beta[keep]
    moved = np.flatnonzero(change)
    rows, combined = keep[moved], read_only(kernel.combined[None])
    adjoint_rows(combined, _FIRST, _MINUS, rows, change[moved], point.gradient[None], False)
    point.beta[keep] = inner.beta
    return out


def smo(
    kernel: Combination, box: Box, beta: Array, g: Array, tol: float, max_iter: int, progress: Progress
) -> Outcome:
    """Improve ``beta`` and its gradient ``g`` in place until the largest violation is at most ``tol``.

    Stops early after ``max_iter`` steps, or once the dual value exceeds ``progress.value_stop``.
    """
    n = g.size
    period = max(n, 500)
    point = Point(beta, g, np.empty(n), np.empty(n))
    whole = Part(np.arange(n), kernel.combined, kernel.valid)
    iterations = formed = 0
    least = HUGE
    while True:
        budget = min(period, max_iter - iterations)
        out = Outcome(*run_pairs(kernel, whole, box, point, tol, budget, progress))
        iterations += out.iterations
        formed += out.formed
        least = min(least, out.least_curvature)
        progress = Progress(out.value, progress.value_stop)
        if out.reason != ITERATION_LIMIT or iterations >= max_iter or out.iterations < budget:
            break
        keep = _useful(g, point.up, point.down)
        if 2 * keep.size > n or keep.size < 2:
            continue
        out = _run_compact(kernel, keep, box, point, tol, max_iter - iterations, progress)
        iterations += out.iterations
        formed += out.formed
        least = min(least, out.least_curvature)
        progress = Progress(out.value, progress.value_stop)
        if out.reason != CONVERGED:
            break
    return out._replace(iterations=iterations, formed=formed, least_curvature=least)
