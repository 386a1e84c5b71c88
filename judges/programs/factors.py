"""K = G G' with as few columns as the numbers allow: what a second-order cone needs of a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_NEGLIGIBLE = 1e-12


def gram_factor(kernel: NDArray[np.float64]) -> NDArray[np.float64]:
    """G (n, r) with G G' = kernel up to eigenvalues below 1e-12 of the largest.

    Polynomial kernels on few features have low rank; leaving the zeros out makes the cones, and the
    conic solvers' work, smaller.
    """
    eigenvalues, vectors = np.linalg.eigh(kernel)
    kept = eigenvalues > _NEGLIGIBLE * eigenvalues[-1]
    return vectors[:, kept] * np.sqrt(eigenvalues[kept])
