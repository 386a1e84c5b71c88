"""How many clusters: the eigengap of the graph of near samples (von Luxburg 2007).

With the affinities A_ij = exp(−d_ij² / (s_i s_j)) of samples one of which is among the 20 nearest of the
other, s_i the distance to the 7th neighbor (Zelnik-Manor & Perona 2004), in the feature space of the mean of
the scaled kernels, and D the sums of the rows of A: D^{−½} A D^{−½} has as many eigenvalues λ of 1 as the
graph has parts. With μ = 1 − λ, the eigenvalues of the Laplacian, the gap after k of them is

    (μ_{k+1} − μ_k) / (μ_{k+1} + 0.01),

near 1 where k parts hardly touch and are themselves connected well. The difference λ_k − λ_{k+1} alone would
prefer large k, where the eigenvalues of two parts with a long shape inside fall off faster.
"""

import numpy as np
import scipy.linalg

from ..._typing import Array
from ...core.neighbors import affinities, near_pairs, squared_distances

NEAR, SCALE = 20, 7  # neighbors in the graph, and of the scale
_FLOOR = 0.01  # eigenvalues of the Laplacian far below it are 0


def graph_spectrum(K: Array, count: int) -> Array:
    """The largest eigenvalues of the graph of near samples, λ_1 = 1 first; K (n, n) is the kernel."""
    squares, n = squared_distances(K), len(K)
    A = affinities(squares, min(SCALE, n - 1)) * near_pairs(squares, min(NEAR, n - 1))
    degrees = np.maximum(A.sum(axis=1), 1e-300)
    A /= np.sqrt(np.outer(degrees, degrees))
    first = max(n - count, 0)
    return scipy.linalg.eigh(A, eigvals_only=True, subset_by_index=[first, n - 1])[::-1]


def gaps(eigenvalues: Array) -> Array:
    """The gap after k eigenvalues, k = 1, 2, …; one less than there are eigenvalues.

    Examples
    --------
    >>> gaps(np.array([1.0, 0.99, 0.98, 0.51])).round(2).tolist()
    [0.5, 0.33, 0.94]
    """
    mu = 1.0 - eigenvalues
    return np.asarray((mu[1:] - mu[:-1]) / (np.maximum(mu[1:], 0.0) + _FLOOR))


def widest_gap(eigenvalues: Array) -> int:
    """The k ≥ 2 with the largest gap.

    Examples
    --------
    >>> widest_gap(np.array([1.0, 0.99, 0.98, 0.5, 0.45]))
    3
    """
    return int(gaps(eigenvalues)[1:].argmax()) + 2
