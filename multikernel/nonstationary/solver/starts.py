"""Where the outer loop begins: posteriors of every sample over the components of its class.

Uniform posteriors are a good start when the kernels differ, and no start at all when two components of a
class share a kernel: they then stay equal for ever. There the starts are drawn: every other one assigns each
sample to a component at random, the rest by kernel k-means within the class. Either kind alone can be a trap.
"""

from collections.abc import Callable

import numpy as np

from .mixtures import SIDES, Array, Mixtures, Pair

Draw = Callable[[Mixtures, int, np.random.Generator], Array]

_SAME = 1e-10
_MANY = 8
_RESTARTS, _ROUNDS = 5, 30


def n_starts(mixtures: Mixtures) -> int:
    """How many starts are sensible: one if the kernels differ, several if one occurs again in a class."""
    return _MANY if has_twins(mixtures) else 1


def has_twins(mixtures: Mixtures) -> bool:
    """Whether two components of a class have the same kernel, by its index or by its values."""
    return any(
        _same(mixtures.Ks, int(a), int(b))
        for kernels in mixtures.kernels
        for position, a in enumerate(kernels)
        for b in kernels[:position]
    )


def _same(Ks: Array, a: int, b: int) -> bool:
    if a == b:
        return True
    difference = np.abs(Ks[a][0] - Ks[b][0]).max()  # one row tells most kernels apart
    size = np.abs(Ks[a]).max()
    return bool(difference <= _SAME * size and np.abs(Ks[a] - Ks[b]).max() <= _SAME * size)


def draw_starts(mixtures: Mixtures, n_init: int, generator: np.random.Generator) -> list[Pair]:
    """``n_init`` pairs of posteriors, (n_positive, M) and (n_negative, N)."""
    uniform = _for_each_class(mixtures, _uniform, generator)
    twins = has_twins(mixtures)
    starts = [] if twins else [uniform]
    while len(starts) < n_init:
        draw = _assigned_at_random if len(starts) % 2 == 0 else _clustered
        starts.append(_for_each_class(mixtures, draw, generator))
    if twins and n_init >= _MANY:  # equal twins are not the aim, but nothing should be worse
        starts[-1] = uniform
    return starts[:n_init]


def _for_each_class(mixtures: Mixtures, draw: Draw, generator: np.random.Generator) -> Pair:
    positive, negative = (draw(mixtures, side, generator) for side in SIDES)
    return positive, negative


def _uniform(mixtures: Mixtures, side: int, _generator: np.random.Generator) -> Array:
    size = mixtures.sizes[side]
    return np.full((mixtures.rows[side].size, size), 1.0 / size)


def _assigned_at_random(mixtures: Mixtures, side: int, generator: np.random.Generator) -> Array:
    size = mixtures.sizes[side]
    return np.eye(size)[generator.integers(size, size=mixtures.rows[side].size)]


def _clustered(mixtures: Mixtures, side: int, generator: np.random.Generator) -> Array:
    rows, size = mixtures.rows[side], mixtures.sizes[side]
    K = sum(mixtures.Ks[kernel][np.ix_(rows, rows)] for kernel in mixtures.kernels[side]) / size
    runs = [_kernel_means(np.asarray(K), size, generator) for _ in range(_RESTARTS)]
    return min(runs, key=lambda run: run[1])[0]


def _kernel_means(K: Array, size: int, generator: np.random.Generator) -> tuple[Array, float]:
    """One run of kernel k-means: 0/1 memberships, and the sum of squared distances to the means."""
    members = np.eye(size)[generator.integers(size, size=len(K))]
    for _ in range(_ROUNDS):
        shares = members / np.maximum(members.sum(axis=0), 1.0)
        products = K @ shares
        distances = np.diagonal(K)[:, None] - 2.0 * products + (shares * products).sum(axis=0)
        moved = np.eye(size)[distances.argmin(axis=1)]
        if (moved == members).all():
            break
        members = moved
    return members, float((members * distances).sum())
