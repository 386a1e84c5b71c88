"""Orthogonal vectors over labelled and unlabelled points, given by the user instead of eigenvectors."""

from typing import Any

import numpy as np
import scipy.linalg

from .._typing import Array
from .._validation import check_real_matrix

_ORTHOGONAL = 1e-8  # cosines of two vectors
_RANGE = 1e-10  # of the largest eigenvalue
_CARRIED = 1e-6  # what a kernel may miss of vectors of length 1


def orthonormal(vectors: Any, n: int) -> Array:
    """The vectors (n, k), checked to be orthogonal, as new columns of length 1.

    Examples
    --------
    >>> orthonormal([[3.0, 0.0], [0.0, 2.0], [4.0, 0.0]], 3).tolist()
    [[0.6, 0.0], [0.0, 1.0], [0.8, 0.0]]
    """
    if np.ndim(vectors) < 2:
        raise ValueError(
            f"vectors must be a matrix, with a row for each of the {n} points and a column for each vector; "
            f"got {f'shape {np.shape(vectors)}' if np.ndim(vectors) else repr(vectors)}."
        )
    V = check_real_matrix(vectors, "vectors").astype(float)
    if V.ndim != 2 or V.shape[0] != n or V.shape[1] == 0:
        raise ValueError(
            f"vectors must hold a row for each of the {n} points, labelled and unlabelled, and a column for "
            f"each vector; got shape {V.shape}."
        )
    if not np.isfinite(V).all():
        raise ValueError(f"vectors must be finite; column {np.argwhere(~np.isfinite(V))[0][1]} is not.")
    largest = np.abs(V).max(axis=0)
    if not largest.all():
        raise ValueError(f"vectors must not vanish; column {np.flatnonzero(largest == 0.0)[0]} is zero.")
    V = V / largest
    V /= np.linalg.norm(V, axis=0)
    cosines = np.abs(V.T @ V - np.eye(V.shape[1]))
    if cosines.max() > _ORTHOGONAL:
        i, j = sorted(int(k) for k in np.unravel_index(cosines.argmax(), cosines.shape))
        raise ValueError(
            f"vectors must be orthogonal; columns {i} and {j} have the cosine {V[:, i] @ V[:, j]:.3g}. "
            "numpy.linalg.qr(vectors)[0] spans the same space."
        )
    return V


def carried_by(K: Array, V: Array) -> Array | None:
    """A with KA = V, by which the kernel of K reaches V at other points; None if no A is."""
    values, U = scipy.linalg.eigh(K, check_finite=False)
    kept = values > _RANGE * values[-1]
    A = (U[:, kept] / values[kept]) @ (U[:, kept].T @ V)
    return A if np.abs(K @ A - V).max() <= _CARRIED else None
