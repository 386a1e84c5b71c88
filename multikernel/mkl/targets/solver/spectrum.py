"""Ridge regressions at one set of kernel weights, for all alphas and targets, by one eigendecomposition.

With K = Σ γ_m G_m = VΛV' in the basis of :mod:`.basis`, U = BV and Z = V'(B'r·y):

    P_α r·y = U (Λ + α)⁻¹ Z + outside / α,      P_ii = Σ_j U_ij² / (λ_j + α) + outside_ii / α

are the dual variables (times r) and what leave-one-out needs: r_i times the error at a sample that was left
out is (P r·y)_i / P_ii, and of a fold S of samples P_SS⁻¹ (P r·y)_S, with the intercept learned anew. Where a
sample stands for several equal rows, and one of weight v is left out, so that the share s = 1 − v / w_i of
its weight stays, the error is (P r·y)_i / (r_i (s / α + (1 − s) P_ii)). All
alphas and targets are screened by one product with Z²: of Σ_i F_i (P r·y)_i², the leave-one-out error, the
terms with two different coordinates of Z are left out.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from ...._typing import Array
from .basis import Basis


@dataclass(frozen=True)
class Spectrum:
    """The kernels of a basis at one set of weights γ (m,)."""

    basis: Basis
    values: Array  # (r,), λ ≥ 0
    vectors: Array  # (r, r), V

    @classmethod
    def at(cls, basis: Basis, weights: Array) -> "Spectrum":
        K = np.tensordot(weights.astype(basis.grams.dtype), basis.grams, 1)
        values, vectors = scipy.linalg.eigh(K, driver="evd", overwrite_a=True, check_finite=False)
        return cls(basis, np.maximum(values, 0.0), vectors)

    @cached_property
    def samples(self) -> Array:
        """U (n, r)."""
        return self.basis.expand(self.vectors)

    def rotate(self, targets: slice | Array) -> Array:
        """Z of some targets (r, k)."""
        return np.asarray(self.vectors.T @ self.basis.targets[:, targets])

    def screen(self, Z: Array, targets: slice | Array, alphas: Array, factors: Array) -> Array:
        """About Σ_i F_i (P_α r·y)_i² for factors F (n_alphas, n) of the samples: (n_alphas, k).

        Products of two coordinates of Z are left out, as if they were independent: one product with Z².
        """
        basis = self.basis
        diagonal = (factors.astype(self._squares.dtype) @ self._squares) * self._inverse(alphas) ** 2
        found = diagonal.astype(Z.dtype) @ (Z * Z)
        if basis.outside is not None:
            outside = basis.outside[:, targets] ** 2
            found = found + (factors / alphas[:, None] ** 2).astype(Z.dtype) @ outside
        return np.asarray(found, float)

    def values_of(self, Z: Array, targets: slice | Array, alphas: Array) -> Array:
        """½ α y'P_αy, the optimal values of the regressions (n_alphas, k)."""
        sizes = self._inverse(alphas).astype(Z.dtype) @ (Z * Z)
        sizes = sizes + self.basis.outside_norms[targets] / alphas[:, None]
        return np.asarray(0.5 * alphas[:, None] * sizes)

    def duals(self, Z: Array, targets: slice | Array, alpha: float) -> Array:
        """P_α r·y (n, k)."""
        scaled = Z / (self.values + alpha)[:, None].astype(Z.dtype)
        found = self.samples @ scaled
        if self.basis.outside is not None:
            found += self.basis.outside[:, targets] / alpha
        return np.asarray(found)

    def leverages(self, alphas: Array) -> Array:
        """P_ii at each alpha (n_alphas, n)."""
        found = self._inverse(alphas).astype(self.samples.dtype) @ self._squares.T
        return np.asarray(found + self._outside_diagonal / alphas[:, None])

    def block(self, rows: Array, alpha: float) -> Array:
        """P_SS of some samples."""
        part = self.samples[rows].astype(float)
        found = (part / (self.values + alpha)) @ part.T
        if self.basis.columns is not None:
            B, u = self.basis.columns[rows].astype(float), self.basis.direction[rows]
            found += (np.eye(rows.size) - B @ B.T - np.outer(u, u)) / alpha
        return found

    @cached_property
    def _squares(self) -> Array:
        return self.samples**2

    @cached_property
    def _outside_diagonal(self) -> Array:
        basis = self.basis
        if basis.columns is None:
            return np.zeros(basis.n_samples)
        left = 1.0 - np.einsum("ij,ij->i", basis.columns, basis.columns) - basis.direction**2
        return np.maximum(left, 0.0)

    def _inverse(self, alphas: Array) -> Array:
        """1 / (λ + α), (n_alphas, r)."""
        return np.asarray(1.0 / (self.values.astype(float) + alphas[:, None]))
