"""The weights, of any sign, whose combination of kernels is positive semidefinite: {w : Σ_i w_i K_i ⪰ 0}.

Kernels of low rank, or with repeated points, have a common null space on which every combination vanishes.
There is no interior then; so the set is described on the common range, where equal weights lie inside it.
"""

import numpy as np
import scipy.linalg

from ..._typing import Array

_RANGE_TOLERANCE = 1e-12  # rounding leaves less; what is larger can cost the criterion per cents


class Spectrahedron:
    """Positive semidefinite combinations of a stack.

    Parameters
    ----------
    Ks : array (m, n, n), symmetric
        Never modified.
    scales : array (m,)
        Factors of the matrices.
    inside : array (m,), optional
        Weights whose combination is positive definite on the common range; by default ones, as for positive
        semidefinite members.

    Attributes
    ----------
    Ks : array (m, p, p), the scaled members on the common range
    basis : array (n, p) or None, its orthonormal basis (None: the whole space)
    size : int, p
    """

    def __init__(self, Ks: Array, scales: Array, inside: Array | None = None) -> None:
        total = np.tensordot(scales if inside is None else scales * inside, np.asarray(Ks, float), 1)
        eigenvalues, vectors = scipy.linalg.eigh(total, overwrite_a=True, check_finite=False)
        kept = eigenvalues > _RANGE_TOLERANCE * eigenvalues[-1]
        self.basis = None if kept.all() else np.ascontiguousarray(vectors[:, kept])
        if self.basis is None and Ks.dtype == float and np.all(scales == 1.0):
            self.Ks, self.size = Ks, Ks.shape[1]  # nothing to change, nothing to copy
            return
        self.Ks = np.empty((len(Ks), int(kept.sum()), int(kept.sum())))
        for i, K in enumerate(Ks):
            self.Ks[i] = K if self.basis is None else self.basis.T @ K @ self.basis
            self.Ks[i] *= scales[i]
            if self.basis is not None:
                self.Ks[i] = 0.5 * (self.Ks[i] + self.Ks[i].T)
        self.size = self.Ks.shape[1]

    @property
    def n_members(self) -> int:
        return self.Ks.shape[0]

    def combine(self, w: Array) -> Array:
        """Σ_i w_i K_i, (p, p)."""
        return (w @ self.Ks.reshape(w.size, -1)).reshape(self.size, self.size)

    def traces(self, Z: Array) -> Array:
        """tr(Z K_i) for every member, (m,)."""
        return self.Ks.reshape(self.n_members, -1) @ Z.ravel()

    def inner_products(self) -> Array:
        """⟨K_i, K_j⟩, (m, m)."""
        flat = self.Ks.reshape(self.n_members, -1)
        return flat @ flat.T
