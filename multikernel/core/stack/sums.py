"""Sizes, weighted sums and quadratic forms of a whole stack of kernels, in double precision.

The stack Ks (m, n, n) may be float32 or memory-mapped; it is read one kernel at a time and never copied.
"""

from collections.abc import Sequence

import numpy as np

from ..._typing import Array
from .passes import combine_rows

_CONSTANT = 1e-12  # share of the trace that rounding leaves of the variance of a constant kernel


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


def kernel_scales(Ks: Array, names: Sequence[str]) -> Array:
    """s_m = tr K_m / n (m,), so that K_m / s_m has trace n; a kernel without one is refused."""
    scales = mean_diagonals(Ks)
    with np.errstate(divide="ignore", over="ignore"):
        usable = (scales > 0.0) & np.isfinite(1.0 / scales) & np.isfinite(scales)
    if not usable.all():
        bad = int(np.argmin(usable))
        raise ValueError(
            f"kernel {names[bad]!r} cannot be scaled to trace n: its mean diagonal is {scales[bad]:.1e}. "
            "Leave it out."
        )
    return scales


def variance_scales(Ks: Array, names: Sequence[str]) -> Array:
    """s_m = tr(HK_mH) / n (m,), so that HK_mH / s_m has trace n; a constant kernel is refused."""
    scales = variances(Ks)
    flat = np.flatnonzero(~(scales > _CONSTANT * mean_diagonals(Ks)))
    if flat.size:
        raise ValueError(
            f"kernel {names[flat[0]]!r} is the same for all samples: it has no scale. Leave it out."
        )
    return scales
