"""Sizes, weighted sums and quadratic forms of a whole stack of kernels, in double precision.

The stack Ks (m, n, n) may be float32 or memory-mapped; it is read one kernel at a time and never copied.
"""

from typing import Any

import numpy as np

from .passes import combine_rows

Array = np.ndarray[Any, np.dtype[Any]]


def mean_diagonals(Ks: Array) -> Array:
    """tr K_m / n for each kernel, (m,).

    Examples
    --------
    >>> mean_diagonals(np.array([np.eye(2), 3 * np.eye(2)]))
    array([1., 3.])
    """
    return np.array([np.diagonal(K).mean(dtype=np.float64) for K in Ks])


def variances(Ks: Array) -> Array:
    """tr(HK_mH) / n, H = I − 11'/n: the mean squared distance from the centre in each feature space, (m,).

    Examples
    --------
    >>> x = np.array([1.0, 3.0])
    >>> variances(np.outer(x, x)[None])
    array([1.])
    """
    return mean_diagonals(Ks) - np.array([K.mean(dtype=np.float64) for K in Ks])


def weighted_sum(Ks: Array, weights: Array) -> Array:
    """Σ_m weights_m K_m as a new array (n, n); kernels of weight 0 are not read.

    Examples
    --------
    >>> weighted_sum(np.array([np.eye(2), np.ones((2, 2))]), np.array([2.0, 0.5]))
    array([[2.5, 0.5],
           [0.5, 2.5]])
    """
    n = Ks.shape[1]
    out, none = np.empty((n, n)), np.zeros(n, np.bool_)
    combine_rows(np.asarray(Ks), np.flatnonzero(weights), weights, np.zeros(n), np.arange(n), out, none)
    return out


def quadratic_sums(Ks: Array, A: Array) -> Array:
    """tr A'K_mA for each kernel and one A (n, k), (m,).

    Examples
    --------
    >>> quadratic_sums(np.array([np.eye(2), np.ones((2, 2))]), np.array([[1.0], [2.0]]))
    array([5., 9.])
    """
    return np.array([np.vdot(A, np.asarray(K) @ A) for K in Ks])
