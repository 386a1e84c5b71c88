"""Criteria of a reduction as two graphs over the samples: pairs to hold together, and pairs to keep apart.

Each criterion is a pair of symmetric weights W^b (keep apart) and W^w (hold together), both (n, n):

=========== ============================================== ==============================================
criterion   W^w                                            W^b
=========== ============================================== ==============================================
lda         1/n_c inside class c                           1/n − 1/n_c inside class c, else 1/n
lfda        A_ij/n_c inside class c                        A_ij (1/n − 1/n_c) inside class c, else 1/n
mfa         1 where one is among the k nearest of the      1 for the k n_c shortest pairs of a sample of
            other, of one class                            class c and one of another class, for each c
laplacian   A_ij where one is among the k nearest of the   d_i d_j / Σ d, d_i = Σ_j W^w_ij: the variance
            other, else 0                                  of the samples, each counted d_i times
=========== ============================================== ==============================================

A_ij = exp(−d_ij² / (s_i s_j)), s_i the distance of i to its k-th neighbor (of its class for lfda). Sugiyama
(2007) has the first two, Yan et al. (2007) marginal Fisher analysis, He & Niyogi (2004) the last.
"""

import numpy as np

from ..._typing import Array
from ...core.neighbors import affinities, near_pairs
from .directions import pair_weights

SUPERVISED = ("lda", "lfda", "mfa")
CRITERIA = (*SUPERVISED, "laplacian")


def graph_pair(criterion: str, squares: Array, codes: Array | None, k: int) -> tuple[Array, Array]:
    """W^b and W^w (n, n) of a criterion, from squared distances (n, n) and classes 0, 1, … (n,)."""
    if codes is None:
        return laplacian_pair(squares, k)
    if criterion == "mfa":
        return marginal_pair(squares, codes, k)
    return pair_weights(squares, codes, k if criterion == "lfda" else None)


def marginal_pair(squares: Array, codes: Array, k: int) -> tuple[Array, Array]:
    """W^b and W^w of marginal Fisher analysis.

    Examples
    --------
    >>> x, codes = np.array([0.0, 1.0, 3.0, 9.0]), np.array([0, 0, 1, 1])
    >>> between, within = marginal_pair((x[:, None] - x) ** 2, codes, 1)
    >>> np.argwhere(np.triu(between)).tolist(), np.argwhere(np.triu(within)).tolist()
    ([[0, 2], [1, 2]], [[0, 1], [2, 3]])
    """
    between, within = np.zeros_like(squares), np.zeros_like(squares)
    for code in np.unique(codes):
        own, others = np.flatnonzero(codes == code), np.flatnonzero(codes != code)
        within[np.ix_(own, own)] = near_pairs(squares[np.ix_(own, own)], k)
        across = squares[np.ix_(own, others)]
        count = min(k * own.size, across.size)
        shortest = np.argsort(across, axis=None, kind="stable")[:count]
        i, j = np.unravel_index(shortest, across.shape)
        between[own[i], others[j]] = between[others[j], own[i]] = 1.0
    return between, within


def laplacian_pair(squares: Array, k: int) -> tuple[Array, Array]:
    """W^b and W^w of locality preserving projections, without classes."""
    within = near_pairs(squares, k) * affinities(squares, k)
    degrees = within.sum(axis=1)
    return np.outer(degrees, degrees) / max(float(degrees.sum()), 1e-300), within
