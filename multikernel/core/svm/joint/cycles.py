"""Sequential minimal optimisation over cycles of classes, compiled: the loop of the joint multiclass machine.

Raising α_il by t moves t from class l to the sample's own class k in the constraints Σ_i B_il = 0; lowering
it moves t back. So a sample of class k offers two edges of a graph on the classes: k → l at the cost g_il
if α_il can be raised, l → k at the cost −g_il if it can be lowered, where g_il = F_ik − F_il − R_il and F =
KB. The feasible directions are the cycles of this graph, and a cycle of negative cost ascends. Each step
takes

1. the cheapest edges W[k, l], kept from step to step: only those of classes whose F moved are searched
   again;
2. a cycle of least mean cost by Karp's algorithm (1978), or a cycle of two classes that is nearly as good
   as the last one found so, which is looked for first because it costs less;
3. for each of its edges in turn the sample with the largest second-order gain, given the others;
4. the exact step along the cycle, or to the first bound, which is met exactly.

Samples are in the order of their classes, and arrays have one row for each class, so that every search runs
over contiguous memory. As in :mod:`multikernel.core.svm.smo`, rows of the kernel are fetched when a step
first touches them.

**The cycle of least mean cost in a dense graph** (Karp, 1978). With D_t(v) the least cost of a walk of t
edges that ends in v, the least mean cost of a cycle is

    min_v max_{t < n} (D_n(v) − D_t(v)) / (n − t),

and the walk of n edges to the best v contains such a cycle. An edge of cost HUGE or more is absent.
"""

from typing import Any, NamedTuple

import numpy as np

from ...._numba import HUGE, compiled, inlined, larger, smaller
from ...._typing import Array
from ..smo import TINY_CURVATURE

# A cycle of two classes with this share of the last least mean is taken without a search for a better one.
NEARLY_AS_GOOD = 0.7
# A sample must bring this share of the ascent: raising and lowering one α brings rounding, at no curvature.
NOTICEABLE = 1e-3
# What a call of the loop ended with.
CONVERGED, ITERATION_LIMIT = 0, 1


# ---------------------------------------------------------------------- cycle of least mean cost
@compiled
def _shortest_walks(W: Array, distance: Array, before: Array) -> None:
    """distance[t, v]: the least cost of a walk of t edges that ends in v, from anywhere."""
    n = W.shape[0]
    for v in range(n):
        distance[0, v] = 0.0
    for t in range(1, n + 1):
        for v in range(n):
            distance[t, v] = 2.0 * HUGE
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


# ---------------------------------------------------------------------- steps along cycles
class Samples(NamedTuple):
    """The kernel, the order of the samples by class, where each class starts, and the rows fetched so far."""

    K: Array
    order: Array
    starts: Array
    diag: Array
    rows: Array
    have: Array


class Limits(NamedTuple):
    """The bounds C_i (n,) and the rewards R (n_classes, n)."""

    upper: Array
    rewards: Array


class Point(NamedTuple):
    """α and F, and R where α can be raised or lowered (else ∓HUGE); each (n_classes, n).

    With these, F_k − F_l − raising_l and F_k − F_l − lowering_l are g where the move is possible.
    """

    alpha: Array
    F: Array
    raising: Array
    lowering: Array


class Edges(NamedTuple):
    """At k, l for samples of class k: the least g of an α_l to be raised, the largest of one to lower."""

    raised: Array
    lowered: Array


class Cycle(NamedTuple):
    """Classes of a cycle in their order; for the edge from each to the next its sample, kind and cost."""

    classes: Array
    sample: Array
    rises: Array
    cost: Array


class Others(NamedTuple):
    """For the choice of one edge of a cycle: ascent and curvature of the others, and the neighbours' rows."""

    ascent: float
    least: float
    curvature: float
    diag: Array
    row_a: Array
    row_b: Array


class Outcome(NamedTuple):
    """What a call of the loop did: ``mean`` is the least mean cost of a cycle at the end."""

    iterations: int
    mean: float
    least_curvature: float
    reason: int


@inlined
def _set_moves(l: int, i: int, limits: Limits, point: Point) -> None:
    reward = limits.rewards[l, i]
    point.raising[l, i] = reward if point.alpha[l, i] < limits.upper[i] else -HUGE
    point.lowering[l, i] = reward if point.alpha[l, i] > 0.0 else HUGE


@inlined
def _extremes(own: Array, other: Array, raising: Array, lowering: Array) -> Any:
    least = HUGE
    largest = -HUGE
    for t in range(own.size):
        difference = own[t] - other[t]
        least = smaller(difference - raising[t], least)
        largest = larger(difference - lowering[t], largest)
    return least, largest


@compiled
def _search_edges(samples: Samples, point: Point, moved: Array, edges: Edges) -> None:
    """The cheapest edges again, of the pairs of classes whose F moved."""
    for k in range(moved.size):
        s, e = samples.starts[k], samples.starts[k + 1]
        own = point.F[k, s:e]
        for l in range(moved.size):
            if k != l and (moved[k] or moved[l]):
                edges.raised[k, l], edges.lowered[k, l] = _extremes(
                    own, point.F[l, s:e], point.raising[l, s:e], point.lowering[l, s:e]
                )


@inlined
def edge_cost(edges: Edges, k: int, l: int) -> float:
    """W[k, l]; at least HUGE if no sample offers the edge."""
    return min(edges.raised[k, l], -edges.lowered[l, k])


@compiled
def _best_pair(edges: Edges, classes: Array) -> float:
    """Write the two classes with the cheapest cycle; returns its mean cost."""
    best = HUGE
    for k in range(edges.raised.shape[0]):
        for l in range(k):
            mean = 0.5 * (edge_cost(edges, k, l) + edge_cost(edges, l, k))
            if mean < best:
                best = mean
                classes[0], classes[1] = k, l
    return best


@compiled
def _choose_cycle(edges: Edges, last_mean: float, tol: float, classes: Array) -> Any:
    """The mean cost and the length of the cycle to step along, and whether the mean is the least there is."""
    mean = _best_pair(edges, classes)
    n = edges.raised.shape[0]
    if n == 2:
        return mean, 2, True
    if mean < -0.5 * tol and mean <= NEARLY_AS_GOOD * last_mean:
        return mean, 2, False
    W = np.empty((n, n))
    for k in range(n):
        for l in range(n):
            W[k, l] = edge_cost(edges, k, l)
    mean, length = least_mean_cycle(W, classes)
    return mean, length, True


@inlined
def _cheapest(start: int, end: int, own: Array, other: Array, sign: float, moves: Array) -> Any:
    """The sample with the least own − other + sign · moves, and that cost."""
    found = -1
    best = HUGE
    for i in range(start, end):
        cost = own[i] - other[i] + sign * moves[i]
        if cost < best:
            best = cost
            found = i
    return found, best


@inlined
def _cheapest_sample(k: int, l: int, samples: Samples, point: Point) -> Any:
    """The sample of the edge k → l with the least cost, whether its α rises, and the cost."""
    F, starts = point.F, samples.starts
    up, cost_up = _cheapest(starts[k], starts[k + 1], F[k], F[l], -1.0, point.raising[l])
    down, cost_down = _cheapest(starts[l], starts[l + 1], F[k], F[l], 1.0, point.lowering[k])
    if cost_up <= cost_down:
        return up, True, cost_up
    return down, False, cost_down


@compiled
def _fetch(samples: Samples, i: int) -> Array:
    """The row of the kernel of sample i, in the order of the classes."""
    row = samples.rows[i]
    if not samples.have[i]:
        source = samples.K[samples.order[i]]
        for t in range(row.size):
            row[t] = source[samples.order[t]]
        samples.have[i] = True
    return row


@inlined
def _best_gain(
    start: int, end: int, own: Array, other: Array, sign: float, moves: Array, others: Others
) -> Any:
    """The sample whose ascent²/curvature is largest, that gain and the ascent; −1 if none ascends enough."""
    found = -1
    best = 0.0
    best_ascent = 0.0
    for i in range(start, end):
        ascent = others.ascent - (own[i] - other[i] + sign * moves[i])
        if ascent > others.least:
            curvature = others.curvature + 2.0 * (others.diag[i] - others.row_a[i] - others.row_b[i])
            gain = ascent * ascent / max(curvature, TINY_CURVATURE)
            if gain > best:
                best = gain
                best_ascent = ascent
                found = i
    return found, best, best_ascent


@compiled
def _other_edges(place: int, length: int, cycle: Cycle, samples: Samples) -> Others:
    """What the other edges of the cycle contribute. Only neighbours share a class, and they share one:

    the curvature along the cycle is Σ_e 2 K_ee − 2 Σ over pairs of neighbours K_ee'.
    """
    ascent = 0.0
    curvature = 0.0
    for e in range(length):
        if e != place:
            i = cycle.sample[e]
            ascent -= cycle.cost[e]
            curvature += 2.0 * samples.diag[i]
            after = (e + 1) % length
            if after != place:
                curvature -= 2.0 * _fetch(samples, i)[cycle.sample[after]]
    row_a = _fetch(samples, cycle.sample[(place - 1) % length])
    row_b = _fetch(samples, cycle.sample[(place + 1) % length])
    least = NOTICEABLE * (ascent - cycle.cost[place])
    return Others(ascent, least, curvature, samples.diag, row_a, row_b)


@compiled
def _improve_edge(place: int, length: int, cycle: Cycle, samples: Samples, point: Point) -> None:
    """Give one edge of the cycle the sample with the largest gain, the other edges as they are."""
    k, l = cycle.classes[place], cycle.classes[(place + 1) % length]
    others = _other_edges(place, length, cycle, samples)
    F, starts = point.F, samples.starts
    up, gain_up, ascent_up = _best_gain(starts[k], starts[k + 1], F[k], F[l], -1.0, point.raising[l], others)
    down, gain_down, ascent_down = _best_gain(
        starts[l], starts[l + 1], F[k], F[l], 1.0, point.lowering[k], others
    )
    if up >= 0 and gain_up >= gain_down:
        cycle.sample[place], cycle.rises[place] = up, True
        cycle.cost[place] = others.ascent - ascent_up
    elif down >= 0:
        cycle.sample[place], cycle.rises[place] = down, False
        cycle.cost[place] = others.ascent - ascent_down


@inlined
def _room(place: int, length: int, cycle: Cycle, limits: Limits, point: Point) -> float:
    i = cycle.sample[place]
    if cycle.rises[place]:
        return limits.upper[i] - point.alpha[cycle.classes[(place + 1) % length], i]
    return point.alpha[cycle.classes[place], i]


@compiled
def _move(step: float, length: int, cycle: Cycle, samples: Samples, limits: Limits, point: Point) -> None:
    """Move along the cycle; an α that comes to its bound is set to it exactly."""
    for e in range(length):
        i = cycle.sample[e]
        room = _room(e, length, cycle, limits, point)
        k, l = cycle.classes[e], cycle.classes[(e + 1) % length]
        if cycle.rises[e]:
            point.alpha[l, i] = limits.upper[i] if step >= room else point.alpha[l, i] + step
            _set_moves(l, i, limits, point)
        else:
            point.alpha[k, i] = 0.0 if step >= room else point.alpha[k, i] - step
            _set_moves(k, i, limits, point)
        gained = _fetch(samples, i)
        lost = _fetch(samples, cycle.sample[(e - 1) % length])
        F = point.F[k]
        for t in range(F.size):
            F[t] += step * (gained[t] - lost[t])


@compiled
def _step(length: int, cycle: Cycle, samples: Samples, limits: Limits, point: Point) -> float:
    """Step along the cycle of the given classes; returns its relative curvature."""
    for e in range(length):
        k, l = cycle.classes[e], cycle.classes[(e + 1) % length]
        cycle.sample[e], cycle.rises[e], cycle.cost[e] = _cheapest_sample(k, l, samples, point)
    for e in range(length):
        _improve_edge(e, length, cycle, samples, point)
    ascent = 0.0
    curvature = 0.0
    scale = TINY_CURVATURE
    room = HUGE
    for e in range(length):
        i = cycle.sample[e]
        ascent -= cycle.cost[e]
        curvature += 2.0 * (samples.diag[i] - _fetch(samples, i)[cycle.sample[(e + 1) % length]])
        scale += 2.0 * abs(samples.diag[i])
        room = min(room, _room(e, length, cycle, limits, point))
    _move(min(room, ascent / max(curvature, TINY_CURVATURE)), length, cycle, samples, limits, point)
    return curvature / scale


def run(samples: Samples, limits: Limits, point: Point, edges: Edges, tol: float, max_iter: int) -> Any:
    """Improve ``point`` in place until no cycle has a mean cost below −tol/2.

    Returns the fields of an :class:`Outcome`, as a plain tuple (:mod:`multikernel.core.svm.smo` says why).
    """
    n_classes = point.alpha.shape[0]
    at_most = n_classes + 1
    cycle = Cycle(
        np.empty(at_most, np.int64),
        np.empty(at_most, np.int64),
        np.empty(at_most, np.bool_),
        np.empty(at_most),
    )
    return _run(samples, limits, point, edges, tol, max_iter, cycle, np.ones(n_classes, np.bool_))


@compiled
def _run(
    samples: Samples,
    limits: Limits,
    point: Point,
    edges: Edges,
    tol: float,
    max_iter: int,
    cycle: Cycle,
    moved: Array,
) -> Any:
    """The loop; ``moved`` says of which classes F moved, all of them at first."""
    n_classes, n = point.alpha.shape
    for l in range(n_classes):
        for i in range(n):
            _set_moves(l, i, limits, point)
    iterations = 0
    least = HUGE
    last_mean = -HUGE
    while True:
        _search_edges(samples, point, moved, edges)
        at_end = iterations >= max_iter  # the least mean is then asked for: the intercepts need it
        mean, length, is_least = _choose_cycle(edges, -HUGE if at_end else last_mean, tol, cycle.classes)
        if is_least:
            last_mean = mean
        if mean >= -0.5 * tol:
            return iterations, mean, least, CONVERGED
        if at_end:
            return iterations, mean, least, ITERATION_LIMIT
        least = min(least, _step(length, cycle, samples, limits, point))
        for k in range(n_classes):
            moved[k] = False
        for e in range(length):
            moved[cycle.classes[e]] = True
        iterations += 1
