"""The locally combined kernel and its adjoint.

    K_η = Σ_m (η_m η_m') ∘ K_m,        c_im = Σ_r (U_m ∘ K_m U_m)_ir,   U_m = η_m ∘ B

B (n, r) are the signed dual coefficients of r machines, so that Σ_im c_im = tr(B'K_η B). Several gates may
read the same stored kernel: ``sources[m]`` is the place of gate m's kernel in the stack.
"""

import numpy as np

from ..._numba import read_only
from ..._typing import Array
from .linear import WeightedStack
from .passes import gated_rows, support_products


class GatedStack(WeightedStack):
    """K_η for the current gate; its rows are formed when they are asked for.

    Parameters
    ----------
    Ks : array (n_stored, n, n), C-contiguous float64 or float32
        Never modified and never copied.
    sources : array (P,)
        The stored kernel of each gate.
    """

    def __init__(self, Ks: Array, sources: Array) -> None:
        combined = np.empty(Ks.shape[1:])  # double precision, whatever the stack's
        super().__init__(Ks, np.ones(len(Ks)), np.zeros(Ks.shape[1]), combined=combined)
        self.sources = np.array(sources, np.intp)
        self.active, self.effective, self.shift = self.sources, self.scales, self._shift
        self.diag = np.zeros(self.n)

    def set_gates(self, eta: Array) -> None:
        """Change the gate, (n, P); every row has to be formed again."""
        self.gates = np.ascontiguousarray(eta.T)
        self.diag = (self.gates**2 * self._diagonals[self.sources]).sum(axis=0)
        self.valid[:] = False

    def form_rows(self, rows: Array) -> None:
        formed = gated_rows(self.Ks, self.sources, self.gates, rows, self.combined, self.valid)
        self.count_rows(formed, self.sources.size)

    def whole(self) -> Array:
        """K_η with all its rows."""
        self.form_rows(np.arange(self.n))
        return self.combined


def gated_contributions(Ks: Array, sources: Array, eta: Array, B: Array) -> Array:
    """c (n, P) from gates (n, P) and coefficients (n, r); only support rows and columns are read."""
    rows = np.flatnonzero(B.any(axis=1))
    support, gates = B[rows].T, eta[rows].T
    c = np.zeros(eta.shape)
    for source in np.unique(sources):
        own = np.flatnonzero(sources == source)
        U = (gates[own, None] * support).reshape(own.size * B.shape[1], rows.size)
        U = np.ascontiguousarray(U)  # one layout, which the loop is compiled for
        products = np.empty_like(U)
        support_products(read_only(Ks[source]), rows, U, products)
        products *= U
        c[rows[:, None], own] = products.reshape(own.size, B.shape[1], rows.size).sum(axis=1).T
    return c
