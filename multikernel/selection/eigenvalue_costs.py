"""Costs of kernels from their spectra: a kernel that can tell more samples apart has to earn its weight.

d_m = (e_m / e_1)^γ,     e_m = the number of eigenvalues above ½ of K_m at unit diagonal, at least 1
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_THRESHOLD = 0.5


def count_large_eigenvalues(Ks: Array) -> Array:
    """e_m of each kernel.

    Parameters
    ----------
    Ks : array (n_kernels, n, n)
        Symmetric positive semidefinite. They are scaled to unit diagonal; a sample without length stays zero.

    Returns
    -------
    array (n_kernels,) of int, from 1 to n

    Examples
    --------
    >>> count_large_eigenvalues(np.array([np.eye(3), np.ones((3, 3))])).tolist()
    [3, 1]
    """
    return np.array([_count(np.asarray(K, float)) for K in Ks])


def _count(K: Array) -> int:
    lengths = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
    eigenvalues = np.linalg.eigvalsh(K * inverse[:, None] * inverse)
    return max(1, int(np.count_nonzero(eigenvalues > _THRESHOLD)))


def eigenvalue_costs(counts: Array, exponent: float) -> Array:
    """d_m = (e_m / e_1)^γ, (n_kernels,): without the division by e_1 the costs would change C as well.

    Examples
    --------
    >>> eigenvalue_costs(np.array([2, 8]), 0.5).tolist()
    [1.0, 2.0]
    """
    return np.asarray((counts / counts[0]) ** exponent)
