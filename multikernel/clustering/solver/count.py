"""How many clusters: the eigengap of the graph of near samples (von Luxburg, 2007; Zelnik-Manor & Perona, 2004).

With the affinities A_ij = exp(−d_ij² / (s_i s_j)) of samples one of which is among the 10 nearest of the other,
s_i the distance to the 7th neighbor, in the feature space of the mean of the scaled kernels, and D the sums of
the rows of A: D^{−½} A D^{−½} has as many eigenvalues of 1 as the graph has parts, so that λ_k − λ_{k+1} is
large where k parts hardly touch.
"""

import numpy as np
import scipy.linalg

from ..._typing import Array
from ...core.neighbors import affinities, near_pairs, squared_distances

NEAR, SCALE = 10, 7  # neighbors in the graph, and of the scale


def graph_spectrum(K: Array, count: int) -> Array:
    """The largest eigenvalues of the graph of near samples, λ_1 = 1 first; K (n, n) is the kernel."""
    squares, n = squared_distances(K), len(K)
    A = affinities(squares, min(SCALE, n - 1)) * near_pairs(squares, min(NEAR, n - 1))
    degrees = np.maximum(A.sum(axis=1), 1e-300)
    A /= np.sqrt(np.outer(degrees, degrees))
    first = max(n - count, 0)
    return scipy.linalg.eigh(A, eigvals_only=True, subset_by_index=[first, n - 1])[::-1]


def widest_gap(eigenvalues: Array) -> int:
    """The k ≥ 2 of the largest λ_k − λ_{k+1}.

    Examples
    --------
    >>> widest_gap(np.array([1.0, 0.99, 0.98, 0.5, 0.45]))
    3
    """
    gaps = eigenvalues[1:-1] - eigenvalues[2:]
    return int(gaps.argmax()) + 2
