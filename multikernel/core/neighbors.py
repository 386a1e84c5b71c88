"""Nearest neighbours in the feature space of a kernel.

    ‖φ(x) − φ(x_j)‖² = k(x, x) + k(x_j, x_j) − 2 k(x, x_j)

The order of the neighbours of x does not depend on k(x, x), so that the similarities of new points to the
labelled ones are enough. Two things are decided by rule and not by chance:

- Votes: of the classes with most neighbours among the nearest, the one that has the nearest of them wins.
- Distances that are exactly equal (a narrow Gaussian is zero between all points) would leave the choice to
  the order of the labelled points, which often is that of their classes. They are taken in another order, a
  permutation drawn with a fixed seed: the same seed gives the same votes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import check_positive_integer


@dataclass(frozen=True)
class Votes:
    """What the neighbours of each new point say."""

    winners: Array  # (n_new,), the class that wins, as a code
    counts: Array  # (n_new, n_classes), how many of the neighbours each class has


def kernel_distances(K: Array, diagonal: Array) -> Array:
    """½ ‖φ(x) − φ(x_j)‖² less ½ k(x, x), (n_new, n), which orders the neighbours of x all the same.

    ``K`` (n_new, n) are similarities of the new points to the labelled ones, ``diagonal`` (n,) those of the
    labelled points to themselves.
    """
    return 0.5 * diagonal - K  # halves: very large similarities stay finite


def check_n_neighbors(n_neighbors: Any, n: int) -> int:
    """A positive integer, and no more than the `n` labelled points."""
    k = check_positive_integer("n_neighbors", n_neighbors)
    if k > n:
        raise ValueError(
            f"n_neighbors must be at most the number of labelled samples; got n_neighbors={k} for {n} "
            "sample(s). Lower it, or label more."
        )
    return k


def nearest(distances: Array, n_neighbors: int, *, seed: int = 0) -> Array:
    """The positions (n_new, n_neighbors) of the nearest labelled points of each new one, nearest first.

    ``distances`` (n_new, n) are anything that grows with the distance. Points at exactly the same one are
    taken in the order of a permutation with this seed.

    Examples
    --------
    >>> nearest(np.array([[3.0, 1.0, 2.0]]), 2).tolist()
    [[1, 2]]
    """
    n_new, n = distances.shape
    order = np.random.default_rng(seed).permutation(n)
    shuffled = distances[:, order]
    furthest = np.partition(shuffled, n_neighbors - 1, axis=1)[:, n_neighbors - 1 : n_neighbors]
    inside = shuffled < furthest
    level = shuffled == furthest
    room = n_neighbors - inside.sum(axis=1, keepdims=True)
    inside |= level & (np.cumsum(level, axis=1) <= room)
    columns = np.nonzero(inside)[1].reshape(n_new, n_neighbors)
    by_distance = np.argsort(np.take_along_axis(shuffled, columns, axis=1), axis=1, kind="stable")
    return np.asarray(order[np.take_along_axis(columns, by_distance, axis=1)])


def neighbour_votes(distances: Array, codes: Array, n_neighbors: int, *, seed: int = 0) -> Votes:
    """Let the labelled points that are :func:`nearest` to each new one vote for its class, 0, 1, …

    Examples
    --------
    >>> votes = neighbour_votes(np.array([[3.0, 1.0, 2.0]]), np.array([0, 0, 1]), 2)
    >>> votes.winners.tolist(), votes.counts.tolist()
    ([0], [[1, 1]])
    """
    labels = codes[nearest(distances, n_neighbors, seed=seed)]
    shape = len(labels), int(codes.max()) + 1
    rows = np.arange(len(labels))[:, None]
    counts = np.zeros(shape, np.intp)
    np.add.at(counts, (rows, labels), 1)
    places = np.full(shape, n_neighbors)  # of the nearest neighbour of each class
    np.minimum.at(places, (rows, labels), np.arange(n_neighbors))
    leading = counts == counts.max(axis=1, keepdims=True)
    return Votes(np.where(leading, places, n_neighbors).argmin(axis=1), counts)


# ---------------------------------------------------------------------- graphs
def squared_distances(K: Array) -> Array:
    """Of the samples in the feature space: k_ii + k_jj − 2 k_ij, where rounding explains it 0."""
    diagonal = K.diagonal()
    squares = diagonal[:, None] + diagonal[None] - 2.0 * K
    rounding = 8.0 * np.finfo(float).eps * np.maximum.outer(np.abs(diagonal), np.abs(diagonal))
    squares[squares <= rounding] = 0.0
    return squares


def affinities(squares: Array, n_neighbors: int | None) -> Array:
    """A_ij = exp(−d_ij² / (s_i s_j)), s_i the distance of i to its k-th neighbor.

    ``squares`` (n, n) are d². With fewer samples, the farthest one is taken as the neighbor; without a
    number of neighbors all affinities are 1. Where s_i s_j = 0, the limit: 1 at distance 0, else 0.

    Examples
    --------
    >>> affinities(np.array([[0.0, 1.0], [1.0, 0.0]]), 1).round(3).tolist()
    [[1.0, 0.368], [0.368, 1.0]]
    """
    if n_neighbors is None:
        return np.ones_like(squares)
    k = min(n_neighbors, len(squares) - 1)
    scales = np.sqrt(np.partition(squares, k, axis=1)[:, k])
    widths = np.multiply.outer(scales, scales)
    ratios = np.divide(squares, widths, out=np.full_like(squares, np.inf), where=widths > 0.0)
    ratios[squares == 0.0] = 0.0
    return np.exp(-ratios)


def near_pairs(squares: Array, k: int) -> Array:
    """1 where one of two samples is among the k nearest of the other (ties by number), else 0; (n, n).

    Examples
    --------
    >>> near_pairs(np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]]), 1).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    n = len(squares)
    if n < 2:
        return np.zeros_like(squares)
    distances = squares + np.diag(np.full(n, np.inf))
    nearest = np.argsort(distances, axis=1, kind="stable")[:, : min(k, n - 1)]
    near = np.zeros_like(squares)
    np.put_along_axis(near, nearest, 1.0, axis=1)
    return np.maximum(near, near.T)
