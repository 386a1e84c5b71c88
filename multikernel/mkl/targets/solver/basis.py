"""The samples and targets of a ridge regression, in a basis that all sets of kernel weights share.

    min_{f, b}  Σ_i w_i (y_i − f(x_i) − b)² + α ‖f‖²   has residuals  α P_α r·y  in units r = √w,  with

    P_α = Q (Q'RKRQ + αI)⁻¹ Q',   R = diag(r),   Q (n, n − 1) orthonormal columns orthogonal to r,

or Q = I without an intercept. No small number is subtracted from a large one on the way, as there is in
A⁻¹ − A⁻¹rr'A⁻¹ / (r'A⁻¹r). Where all the kernels together have a rank that is much smaller than n, Q is
replaced by a basis B of their range, and P_α = B (B'RKRB + αI)⁻¹ B' + (I − BB' − rr'/r'r) / α.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from ...._typing import Array

_RANK_SHARE = 0.8  # of the dimensions: a range that is not smaller gains nothing
_ROUNDING = 10.0  # times machine precision and the root of the dimensions: eigenvalues that are zero


@dataclass(frozen=True)
class Basis:
    """Kernels (m, r, r) and targets (r, T) in the basis of their range, and what is outside of it."""

    grams: Array
    targets: Array  # in units of their scales
    scales: Array  # (T,), the size of each target
    roots: Array  # (n,), √w
    intercept: bool
    columns: Array | None  # (n, r), B where the range is smaller than the space
    outside: Array | None  # (n, T), the part of r·y outside of the range

    @property
    def n_samples(self) -> int:
        return int(self.roots.size)

    @property
    def rank(self) -> int:
        return int(self.grams.shape[1])

    @property
    def n_free(self) -> int:
        """The dimensions of the residuals: n, or n − 1 with an intercept."""
        return self.n_samples - self.intercept

    @property
    def outside_norms(self) -> Array:
        """‖(I − BB' − rr'/r'r) r·y‖² of each target."""
        if self.outside is None:
            return np.zeros(self.targets.shape[1])
        return np.asarray(np.einsum("ij,ij->j", self.outside, self.outside))

    @property
    def direction(self) -> Array:
        """r / ‖r‖ with an intercept, which is orthogonal to the basis; else zeros."""
        return self.roots / np.linalg.norm(self.roots) if self.intercept else np.zeros(self.n_samples)

    def of_target(self, target: int) -> "Basis":
        """The same with one of the targets."""
        outside = None if self.outside is None else self.outside[:, [target]]
        return replace(self, targets=self.targets[:, [target]], scales=self.scales[[target]], outside=outside)

    def expand(self, vectors: Array) -> Array:
        """Coordinates (r, k) as vectors of the samples (n, k)."""
        if self.columns is not None:
            return np.asarray(self.columns @ vectors)
        return _from_complement(self.roots, vectors) if self.intercept else vectors


def make_basis(Ks: Array, Y: Array, weights: Array, intercept: bool) -> Basis:
    """The basis of a stack (m, n, n) with targets (n, T) and positive weights (n,), in the stack's dtype."""
    dtype = Ks.dtype
    roots = np.sqrt(weights).astype(dtype)
    plain = bool((weights == 1.0).all())
    grams = np.empty((len(Ks), roots.size - intercept, roots.size - intercept), dtype)
    for m, K in enumerate(Ks):
        scaled = np.asarray(K) if plain else roots[:, None] * K * roots
        grams[m] = _on_complement(roots, scaled) if intercept else scaled
    middle = np.average(Y, axis=0, weights=weights) if intercept else np.zeros(Y.shape[1])
    scales = np.abs(Y - middle).max(axis=0)
    scales = np.where(scales > 0.0, scales, 1.0)
    scaled = (roots[:, None] * ((Y - middle) / scales)).astype(dtype)
    targets = _to_complement(roots, scaled) if intercept else scaled
    return _restricted(Basis(grams, targets, scales, roots, intercept, None, None))


def _restricted(basis: Basis) -> Basis:
    """The same in the range of the kernels, where that is much smaller."""
    total = np.zeros(basis.grams.shape[1:])
    for K in basis.grams:
        size = float(np.trace(K))
        total += K / size if size > 0.0 else 0.0
    if not total.any():
        return basis
    values, vectors = scipy.linalg.eigh(total, driver="evd", check_finite=False)
    # rounding of the decomposition, relative to the largest eigenvalue, and of the entries of the kernels
    of_entries = float(np.finfo(basis.grams.dtype).eps) * float(np.trace(total)) / values.size
    noise = float(np.finfo(float).eps) * values[-1] + of_entries
    kept = values > _ROUNDING * np.sqrt(values.size) * noise
    if kept.sum() > _RANK_SHARE * values.size:
        return basis
    V = vectors[:, kept].astype(basis.grams.dtype)
    targets = V.T @ basis.targets
    outside = basis.expand(basis.targets - V @ targets)
    grams = np.stack([V.T @ K @ V for K in basis.grams])
    return replace(basis, grams=grams, targets=targets, columns=basis.expand(V), outside=outside)


# ---------------------------------------------------------------------- the complement of a vector
def _reflector(roots: Array) -> tuple[Array, float]:
    """v and τ of the Householder reflection I − τvv' that takes the roots to a multiple of e_1."""
    v = roots.copy()
    v[0] += np.copysign(np.linalg.norm(roots), roots[0])
    return v, float(2.0 / (v @ v))


def _to_complement(roots: Array, Y: Array) -> Array:
    """Q'Y: reflected, and without the first row."""
    v, tau = _reflector(roots)
    return Y[1:] - np.outer(tau * v[1:], v @ Y)


def _from_complement(roots: Array, Z: Array) -> Array:
    """Q Z."""
    v, tau = _reflector(roots)
    out = np.empty((roots.size, Z.shape[1]), Z.dtype)
    out[1:] = Z
    out[0] = 0.0
    out -= np.outer(tau * v, v[1:] @ Z)
    return out


def _on_complement(roots: Array, K: Array) -> Array:
    """Q'KQ of a symmetric matrix."""
    v, tau = _reflector(roots)
    p = tau * (K @ v)
    p -= (0.5 * tau * (p @ v)) * v
    return np.asarray((K - np.outer(v, p) - np.outer(p, v))[1:, 1:])


def stratify(masks: Array) -> list[tuple[Array, Array]]:
    """Rows and targets of each pattern of a mask (n, T): the samples that are known, the targets of it.

    Examples
    --------
    >>> known = np.array([[True, True, True], [True, False, True]])
    >>> [(rows.tolist(), targets.tolist()) for rows, targets in stratify(known)]
    [([0, 1], [0, 2]), ([0], [1])]
    """
    packed = np.packbits(masks, axis=0)
    _, first, inverse = np.unique(packed, axis=1, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    order: Sequence[int] = np.argsort(first).tolist()  # patterns in the order of their first target
    return [(np.flatnonzero(masks[:, first[p]]), np.flatnonzero(inverse == p)) for p in order]
