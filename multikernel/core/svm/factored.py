"""Sequential minimal optimization on a kernel with a short factor, K = Z'Z + diag(shift), compiled.

The problem and the steps on pairs are those of ``smo.py``. With Z (r, n) and r small, no row of the kernel
has to be formed: a working set of samples is solved by steps on pairs, on the square of the kernel between
them, and the gradient of all samples is then brought up to date at once, which takes r numbers for each. A
set has the samples between their bounds, which answer to every change, and those that violate optimality
most.
"""

from typing import Any

import numpy as np

from ..._numba import HUGE, compiled, inlined, larger
from ..._typing import Array
from .smo import (
    CONVERGED,
    ITERATION_LIMIT,
    UNBOUNDED,
    VALUE_REACHED,
    Box,
    Combination,
    Outcome,
    Part,
    Point,
    Progress,
    run_pairs,
    set_moves,
)

_LEAST, _MOST = 64, 512  # samples of a set: all that some pair can use, or a share of them
_SHARE = 3
_PRECISION = 0.1  # of a set, relative to the largest violation before it
_STEPS = 8  # at most, for each sample of a set
_HALVINGS = 8


@inlined
def _gains(point: Point, rise: Array, drop: Array) -> Any:
    """What moving each sample up, and down, adds to the dual value at first; the largest of each."""
    most_up = -HUGE
    most_down = -HUGE
    g, up, down = point.gradient, point.up, point.down
    for t in range(g.size):
        rise[t] = g[t] + up[t]
        drop[t] = -g[t] - down[t]
        most_up = larger(rise[t], most_up)
        most_down = larger(drop[t], most_down)
    return most_up, most_down


@compiled
def _level(gains: Array, low: float, high: float, most: int) -> float:
    """A level from ``low`` to ``high`` that ``most`` of the gains reach, or somewhat fewer."""
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        count = 0
        for t in range(gains.size):
            count += gains[t] >= middle
        if count > most:
            low = middle
        else:
            high = middle
    return high


@compiled
def _choose(rise: Array, drop: Array, most_up: float, most_down: float, keep: Array) -> int:
    """Write the samples of the next set to ``keep``; how many they are.

    The two that violate most come first, so that there is always a step; samples whose two gains cancel are
    between their bounds.
    """
    useful = 0
    for t in range(rise.size):
        useful += rise[t] > -most_down or drop[t] > -most_up
    room = min(keep.size, max(_LEAST, useful // _SHARE))
    up_from, down_from = -most_down, -most_up
    if useful > room:
        up_from = _level(rise, up_from, most_up, room // 3)
        down_from = _level(drop, down_from, most_down, room // 3)
    first, second, k = np.argmax(rise), np.argmax(drop), 2
    keep[0], keep[1] = first, second
    for t in range(rise.size):
        if k == room:
            break
        is_useful = rise[t] > -most_down or drop[t] > -most_up
        if not is_useful or t in (first, second):
            continue
        if rise[t] >= up_from or drop[t] >= down_from or rise[t] == -drop[t]:
            keep[k] = t
            k += 1
    return k


@compiled
def _square(Z: Array, shift: Array, keep: Array) -> Array:
    """The kernel between the samples of a set."""
    k = keep.size
    own = np.empty((Z.shape[0], k))
    for r in range(Z.shape[0]):
        for a in range(k):
            own[r, a] = Z[r, keep[a]]
    square = np.zeros((k, k))
    for a in range(k):
        row = square[a]
        for r in range(Z.shape[0]):
            z = own[r]
            for b in range(k):
                row[b] += z[a] * z[b]
        row[a] += shift[keep[a]]
    return square


@compiled
def _move(kernel: Combination, point: Point, keep: Array, beta: Array) -> None:
    """Give the samples of a set their β, and bring the gradient of all samples up to date."""
    Z, g = kernel.factor, point.gradient
    for r in range(Z.shape[0]):
        change = 0.0
        for a in range(keep.size):
            change += Z[r, keep[a]] * (beta[a] - point.beta[keep[a]])
        z = Z[r]
        for t in range(g.size):
            g[t] -= change * z[t]
    for a in range(keep.size):
        t = keep[a]
        g[t] -= kernel.shift[t] * (beta[a] - point.beta[t])
        point.beta[t] = beta[a]


@compiled
def _run(
    kernel: Combination, box: Box, point: Point, room: Array, tol: float, max_iter: int, progress: Progress
) -> Any:
    """The loop over working sets; returns the fields of an Outcome, as a plain tuple."""
    beta, up, down = point.beta, point.up, point.down
    rise = np.empty(beta.size)
    drop = np.empty(beta.size)
    for t in range(beta.size):
        set_moves(t, beta, box.lower, box.upper, box.epsilon, up, down)
    iterations = 0
    least = HUGE
    value = progress.value
    reason = ITERATION_LIMIT
    while True:
        most_up, most_down = _gains(point, rise, drop)
        violation = most_up + most_down
        if violation <= tol:
            reason = CONVERGED
            break
        if value > progress.value_stop:
            reason = VALUE_REACHED
            break
        if iterations >= max_iter:
            reason = ITERATION_LIMIT
            break
        keep = room[: _choose(rise, drop, most_up, most_down, room)]
        k = keep.size
        part = Part(keep, _square(kernel.factor, kernel.shift, keep), np.ones(k, np.bool_))
        small = Box(box.diag[keep], box.lower[keep], box.upper[keep], box.epsilon)
        inner = Point(beta[keep], point.gradient[keep], np.empty(k), np.empty(k))
        goal = larger(tol, _PRECISION * violation)
        steps = min(_STEPS * k, max_iter - iterations)
        done, _, _, value, curvature, reason = run_pairs(
            kernel, part, small, inner, goal, steps, Progress(value, progress.value_stop)
        )
        _move(kernel, point, keep, inner.beta)
        for t in keep:
            set_moves(t, beta, box.lower, box.upper, box.epsilon, up, down)
        iterations += done
        least = min(least, curvature)
        if done == 0 or reason in (VALUE_REACHED, UNBOUNDED):
            break
    return iterations, violation, 0, value, least, reason


def smo_on_factor(
    kernel: Combination, box: Box, beta: Array, g: Array, tol: float, max_iter: int, progress: Progress
) -> Outcome:
    """:func:`.smo.smo` for a kernel that has a factor: no row of it is formed."""
    point = Point(beta, g, np.empty(g.size), np.empty(g.size))
    room = np.empty(min(g.size, max(_LEAST, min(g.size // _SHARE, _MOST))), np.intp)
    return Outcome(*_run(kernel, box, point, room, tol, max_iter, progress))
