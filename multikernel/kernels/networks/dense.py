"""Kernels on the nodes of a network, from its adjacency matrix.

    K = exp(−beta L),   L = D − A,   or normalised   L = I − D^{−1/2} A D^{−1/2},   D = diag(A 1)

K_ij is the heat that reaches node j from node i in the time beta: similarity along all paths, long ones
counting less.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from multikernel._validation import check_gram, check_number, check_square


def diffusion_kernel(adjacency: Any, beta: float = 1.0, *, normalized: bool = True) -> np.ndarray:
    """Return exp(−beta L) of the Laplacian L of an undirected network, by its eigenvectors.

    Parameters
    ----------
    adjacency : array-like or sparse matrix of shape (n, n)
        Symmetric, with entries of at least 0 and a zero diagonal: A_ij is the strength of the edge i–j.
    beta : float, default=1.0
        The time of the diffusion, greater than 0: as it grows, farther nodes become similar.
    normalized : bool, default=True
        Whether L = I − D^{−1/2} A D^{−1/2} (hubs count no more than other nodes) or L = D − A. A node
        without edges is similar to itself alone.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric bit by bit and positive semidefinite: with eigenvalues exp(−beta l), l those of L.

    Examples
    --------
    >>> diffusion_kernel([[0.0, 1.0], [1.0, 0.0]], beta=1.0).round(4)
    array([[0.5677, 0.4323],
           [0.4323, 0.5677]])
    """
    A = _check_adjacency(adjacency)
    beta = check_number("beta", beta, above=0.0)
    values, vectors = scipy.linalg.eigh(_laplacian(A, normalized))
    # A Laplacian has no negative eigenvalues: what is below zero is rounding.
    half = vectors * np.exp(-0.5 * beta * np.maximum(values, 0.0))
    K = half @ half.T
    symmetric: np.ndarray = (K + K.T) / 2.0
    return symmetric


def _laplacian(A: np.ndarray, normalized: bool) -> np.ndarray:
    degrees = A.sum(axis=1)
    if not normalized:
        plain: np.ndarray = np.diag(degrees) - A
        return plain
    connected = degrees > 0.0
    scale = np.zeros_like(degrees)
    scale[connected] = 1.0 / np.sqrt(degrees[connected])
    laplacian: np.ndarray = np.diag(connected.astype(np.float64)) - scale[:, np.newaxis] * A * scale
    return laplacian


def _check_adjacency(adjacency: Any) -> np.ndarray:
    A = check_square(adjacency, "adjacency").astype(np.float64)
    check_gram(A, "adjacency")
    if A.min() < 0.0:
        i, j = map(int, np.argwhere(A < 0.0)[0])
        raise ValueError(
            f"adjacency must not be negative; got {A[i, j]:g} at ({i}, {j}). "
            "Give the strength of an edge as a number of at least 0."
        )
    loops = np.flatnonzero(A.diagonal())
    if loops.size:
        raise ValueError(
            f"adjacency must have a zero diagonal; node {loops[0]} has an edge to itself. "
            "Remove such edges with numpy.fill_diagonal(adjacency, 0)."
        )
    return A
