"""The Laplacian of a network as a sparse matrix, a bound of its eigenvalues, and its eigenvectors.

    L = D − A,   or normalised   L = I − D^{−1/2} A D^{−1/2},   D = diag(A 1)

The row of a node without edges is zero in both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse


def sparse_laplacian(adjacency: Any, normalized: bool) -> Any:
    """L of a symmetric, non-negative CSR array with a zero diagonal, as CSR."""
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    if not normalized:
        return scipy.sparse.csr_array(scipy.sparse.diags_array(degrees) - adjacency)
    connected = degrees > 0.0
    scale = np.zeros_like(degrees)
    scale[connected] = 1.0 / np.sqrt(degrees[connected])
    scaling = scipy.sparse.diags_array(scale)
    identity = scipy.sparse.diags_array(connected.astype(np.float64))
    return scipy.sparse.csr_array(identity - scaling @ adjacency @ scaling)


def largest_eigenvalue_bound(adjacency: Any, normalized: bool) -> float:
    """A number that no eigenvalue of L exceeds.

    2 for the normalised one; max_i (d_i + Σ_j A_ij d_j / d_i) for the other: the row sums of
    D^{−1} (D + A) D, whose largest eigenvalue is that of D + A, and so at least that of D − A.
    """
    if adjacency.nnz == 0:
        return 0.0
    if normalized:
        return 2.0
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    largest = float(degrees.max())
    part = degrees / largest  # products of degrees could overflow
    reached = adjacency @ part
    connected = part > 0.0
    sums = degrees[connected] + reached[connected] / part[connected]
    return float(min(2.0 * largest, np.nanmax(sums)))


def eigenvectors(laplacian: Any) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, none below 0, and eigenvectors as columns, by a dense decomposition."""
    values, vectors = scipy.linalg.eigh(laplacian.toarray(), overwrite_a=True)
    # a Laplacian has no negative eigenvalues: what is below zero is rounding
    return np.maximum(values, 0.0), vectors
