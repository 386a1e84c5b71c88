"""The locally combined kernel and its adjoint.

    K_η = Σ_m (η_m η_m') ∘ K_m,        c_im = Σ_r (U_m ∘ K_m U_m)_ir,   U_m = η_m ∘ B

B (n, r) are the signed dual coefficients of r machines, so that Σ_im c_im = tr(B'K_η B). Several gates may
read the same stored kernel: ``sources[m]`` is the place of gate m's kernel in the stack.
"""

from typing import Any

import numpy as np

from .._numba import compiled

Array = np.ndarray[Any, np.dtype[Any]]


@compiled
def combine_gated(Ks: Array, sources: Array, eta: Array, out: Array) -> None:
    """``out = Σ_m (η_m η_m') ∘ Ks[sources[m]]``; ``eta`` is (P, n), a gate in each row.

    Kernels are symmetric: the lower triangle is computed and mirrored, so that ``out`` is symmetric exactly.
    """
    n = out.shape[0]
    for i in range(n):
        row = out[i]
        for j in range(i + 1):
            row[j] = 0.0
        for m in range(sources.size):
            here = eta[m, i]
            if here != 0.0:
                source = Ks[sources[m], i]
                gate = eta[m]
                for j in range(i + 1):
                    row[j] += here * gate[j] * source[j]
    for first in range(0, n, 64):  # by blocks: the mirror writes columns
        for i in range(first, n):
            for j in range(first, min(first + 64, i)):
                out[j, i] = out[i, j]


def gated_contributions(Ks: Array, sources: Array, eta: Array, B: Array) -> Array:
    """c (n, P) from gates (n, P) and coefficients (n, r); only support rows and columns are read."""
    rows = np.flatnonzero(B.any(axis=1))
    support, gates = B[rows], eta[rows]
    c = np.zeros(eta.shape)
    for source in np.unique(sources):
        block = Ks[source][np.ix_(rows, rows)]
        for m in np.flatnonzero(sources == source):
            U = gates[:, [m]] * support
            c[rows, m] = np.einsum("ir,ir->i", U, block @ U)
    return c
