"""Kernels of low rank by factors, beside kernels that are stored: K(ω) = Q W(ω) Q' + R(ω).

Q is an orthonormal basis of all factors, W(ω) = Σ ω_m T_m T_m', and R the weighted sum of the other kernels.
A factor is made of the kernel's values at some pivots, or of its explicit features, which are far more
precise where the kernel has some.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, lapack, qr, solve_triangular

from ..._typing import Array

# Of the largest diagonal element: columns of factors of smaller pivots are mostly rounding of the kernel.
RANK_TOL = 1e-12
FEATURE_TOL = 1e-8  # of the largest singular value of explicit features
# of directions that several kernels share, up to the rounding of features and of the kernels' values
_SPAN_TOL, _ROUGH_SPAN_TOL = 1e-14, 1e-12


# ---------------------------------------------------------------------- factors
class Factor(NamedTuple):
    """K ≈ LL' with L = K[:, pivots] root⁻¹, root upper triangular, or L = Z basis, Z explicit features."""

    L: Array  # (n, r)
    pivots: Array | None = None  # (r,)
    root: Array | None = None  # (r, r)
    basis: Array | None = None  # (n_features, r), orthonormal columns


def features(values: Array, root: Array) -> Array:
    """values root⁻¹ (n, r): what a factor makes of the kernel's values (n, r) at its pivots."""
    if not root.size:
        return np.zeros(values.shape)
    return np.asarray(solve_triangular(root, values.T, trans="T", lower=False, check_finite=False).T)


def pivoted_factor(K: Array, tol: float = RANK_TOL) -> Factor:
    """The factor by pivoted Cholesky, up to ``tol`` of the largest element of the diagonal.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, -3.0])
    >>> factor = pivoted_factor(np.outer(x, x))
    >>> factor.pivots.tolist(), (factor.L @ factor.L.T).round(12).tolist() == np.outer(x, x).tolist()
    ([2], True)
    """
    largest = float(np.max(np.diagonal(K), initial=0.0))
    if not largest > 0.0:
        return Factor(np.zeros((len(K), 0)), np.zeros(0, np.intp), np.zeros((0, 0)))
    c, order, rank, _ = lapack.dpstrf(np.array(K, float, order="F"), tol=tol * largest, lower=1)
    pivots, root = order[:rank] - 1, np.ascontiguousarray(np.tril(c[:rank, :rank]).T)
    # as predictions compute them: the certificate is for the kernel LL', whatever rounding did to L
    return Factor(features(np.asarray(K[:, pivots], float), root), pivots, root)


def explicit_factor(Z: Array) -> Factor:
    """The factor of ZZ' on the right singular vectors of Z whose singular values are not lost in rounding.

    Examples
    --------
    >>> Z = np.array([[1.0, 2.0], [2.0, 4.0], [-1.0, -2.0]])
    >>> factor = explicit_factor(Z)
    >>> factor.L.shape, bool(np.allclose(factor.L @ factor.L.T, Z @ Z.T))
    ((3, 1), True)
    """
    _, sizes, right = np.linalg.svd(Z, full_matrices=False)
    basis = np.ascontiguousarray(right[sizes > FEATURE_TOL * sizes.max(initial=0.0)].T)
    return Factor(Z @ basis, basis=basis)


_EXACT = 64.0 * float(np.finfo(float).eps)  # of the largest diagonal element: nothing but rounding
_SAMPLES_A_COLUMN, _MOST_COLUMNS = 16, 32


def short_factor(K: Array) -> Array | None:
    """L (r, n) with K = L'L up to rounding, where r is small beside n; None where K has no such factor.

    Pivots are tried up to 32, or n / 16; a product with K then tells an indefinite kernel from one of low
    rank.

    Examples
    --------
    >>> x = np.arange(1.0, 65.0)
    >>> short_factor(np.outer(x, x)).shape, short_factor(np.eye(64))
    ((1, 64), None)
    """
    n = len(K)
    most = min(n // _SAMPLES_A_COLUMN, _MOST_COLUMNS)
    left = np.array(np.diagonal(K), float)
    largest = float(left.max(initial=0.0))
    L = np.empty((most, n))
    for r in range(most + 1):
        p = int(left.argmax())
        if left[p] <= _EXACT * largest:
            return L[:r].copy() if _is_product(K, L[:r], largest) else None
        if r < most:
            L[r] = (K[p] - L[:r, p] @ L[:r]) / np.sqrt(left[p])
            left -= L[r] ** 2
    return None


def _is_product(K: Array, L: Array, largest: float) -> bool:
    """Whether K = L'L, by a product with signs of no pattern."""
    signs = np.where(np.sin(np.arange(1.0, len(K) + 1.0) ** 2) > 0.0, 1.0, -1.0)
    product = blas.dsymv(1.0, K.T, signs) if K.dtype == float else K @ signs  # half of K is read
    difference = np.abs(product - (L @ signs) @ L).max(initial=0.0)
    return bool(difference <= _EXACT * largest * len(K))


# ---------------------------------------------------------------------- kernels
class Kernels:
    """K(ω) = Q W(ω) Q' + R(ω): weighted sums and their adjoints.

    ``Ks`` (m, n, n) with fixed ``scales``; kernels that have a factor are not read.
    """

    def __init__(self, Ks: Array, scales: Array, factors: dict[int, Factor]) -> None:
        self.Ks, self.scales, self.factors = Ks, scales, factors
        self.n_kernels, self.n = Ks.shape[:2]
        self.low = np.array(sorted(factors), np.intp)
        self.dense = np.setdiff1d(np.arange(self.n_kernels), self.low)
        scaled = [factors[m].L * np.sqrt(scales[m]) for m in self.low]
        is_rough = any(factors[m].basis is None for m in self.low)
        self.Q, self.T = _common_basis(scaled, self.n, _ROUGH_SPAN_TOL if is_rough else _SPAN_TOL)
        self.rank = int(self.Q.shape[1])
        self._summed: tuple[Array, Array] | None = None  # the last weights and their R

    def dense_sum(self, omega: Array) -> Array | None:
        """R(ω), not to be modified: the same array as long as ω is the same; None where there is none."""
        if not self.dense.size:
            return None
        if self._summed is not None and np.array_equal(self._summed[0], omega):
            return self._summed[1]
        R = np.zeros((self.n, self.n))
        for m in self.dense:
            R += (omega[m] * self.scales[m]) * self.Ks[m]
        self._summed = (omega.copy(), R)
        return R

    def shares(self, split: "Split", omega: Array, eta: Array) -> tuple[Array, list[Array]]:
        """θ = G⁻¹η, and T_m'ξ of each kernel of low rank, which make η to its last digits."""
        theta = split.down(eta)
        inner = split.inner(theta)
        missing = split.inner(split.down(eta - self.moved(omega, inner, eta.shape[1])))
        return theta, [part + more for part, more in zip(inner, missing, strict=True)]

    def split(self, omega: Array) -> "Split":
        """How a function of the range of Q is shared by the kernels of low rank."""
        stacked = [np.sqrt(omega[m]) * T.T for m, T in zip(self.low, self.T, strict=True)]
        if not self.rank:
            return Split(np.zeros((0, 0)), [np.zeros((len(part), 0)) for part in stacked])
        left, upper = qr(np.concatenate(stacked), mode="economic", check_finite=False)
        ends = np.cumsum([len(part) for part in stacked])[:-1]
        blocks = [block / np.sqrt(omega[m]) for m, block in zip(self.low, np.split(left, ends), strict=True)]
        return Split(np.ascontiguousarray(upper.T), blocks)

    def adjoints(self, beta: Array, inner: Sequence[Array]) -> tuple[Array, Array]:
        """F (n_kernels, n, d), q (n_kernels,): by T_m'ξ (r_m, d), or by β (n, d) of dense kernels."""
        F, q = np.empty((self.n_kernels, *beta.shape)), np.empty(self.n_kernels)
        for m, T, part in zip(self.low, self.T, inner, strict=True):
            F[m], q[m] = self.Q @ (T @ part), float(np.vdot(part, part))
        for m in self.dense:
            F[m] = self.scales[m] * (self.Ks[m] @ beta)
            q[m] = float(np.vdot(F[m], beta))
        return F, q

    def forms(self, beta: Array) -> Array:
        """q of any β; cancellation in Q'β is squared away."""
        return self.adjoints(beta, self.projected(beta))[1]

    def certain_forms(self, beta: Array) -> Array:
        """q of any β by the factors themselves, in extended precision where the machine has it."""
        q = np.empty(self.n_kernels)
        for m in self.low:
            inside = self.factors[int(m)].L.T.astype(np.longdouble) @ beta.astype(np.longdouble)
            q[m] = self.scales[m] * float(np.vdot(inside, inside))
        for m in self.dense:
            q[m] = self.scales[m] * float(np.vdot(self.Ks[m] @ beta, beta))
        return q

    def mismatch(self, split: "Split", omega: Array, beta: Array, inner: Sequence[Array]) -> Array:
        """G'(ξ − Q'β) (r, d) by the factors themselves, in extended precision where the machine has it."""
        missing = np.zeros((self.rank, beta.shape[1]), np.longdouble)
        for m, block, part in zip(self.low, split.blocks, inner, strict=True):
            made = self.factors[int(m)].L.T.astype(np.longdouble) @ beta.astype(np.longdouble)
            made *= np.sqrt(np.longdouble(self.scales[m]))
            missing += omega[m] * (block.T.astype(np.longdouble) @ (part.astype(np.longdouble) - made))
        return missing.astype(float)

    def projected(self, beta: Array) -> list[Array]:
        """T_m'Q'β of each kernel of low rank, (r_m, d)."""
        inside = self.Q.T @ beta
        return [T.T @ inside for T in self.T]

    def moved(self, d_mu: Array, inner: Sequence[Array], d: int) -> Array:
        """Σ_m dμ_m T_m T_m'ξ over the kernels of low rank, (r, d), from T_m'ξ."""
        total = np.zeros((self.rank, d))
        for m, T, part in zip(self.low, self.T, inner, strict=True):
            total += d_mu[m] * (T @ part)
        return total

    def mean_diagonal(self, omega: Array) -> float:
        """That of K(ω)."""
        low = sum(omega[m] * float(np.vdot(T, T)) for m, T in zip(self.low, self.T, strict=True))
        dense = sum(omega[m] * self.scales[m] * float(np.trace(self.Ks[m])) for m in self.dense)
        return float(low + dense) / self.n


class Split(NamedTuple):
    """W = GG', and T_m'W⁻¹η from θ = G⁻¹η: the least of all ways to make η, without W or its inverse."""

    G: Array  # (r, r), lower triangular
    blocks: list[Array]  # (r_m, r): T_m'W⁻¹η = block θ

    def down(self, x: Array) -> Array:
        """G⁻¹x."""
        return solve_triangular(self.G, x, lower=True, check_finite=False) if x.size else x

    def up(self, x: Array) -> Array:
        """G⁻ᵀx."""
        return solve_triangular(self.G, x, lower=True, trans="T", check_finite=False) if x.size else x

    def inner(self, theta: Array) -> list[Array]:
        """T_m'ξ of each kernel of low rank, (r_m, d)."""
        return [block @ theta for block in self.blocks]


def _common_basis(factors: Sequence[Array], n: int, tol: float) -> tuple[Array, list[Array]]:
    """Orthonormal Q (n, r) of the range of all factors, and T_m with L_m = Q T_m."""
    if not factors:
        return np.zeros((n, 0)), []
    # Columns of one factor differ by their singular values: each is brought to length 1, so that none loses
    # more than its own rounding.
    together = np.concatenate([_unit_columns(L) for L in factors], axis=1)
    basis, upper, _ = qr(together, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diagonal(upper))
    rank = int(np.count_nonzero(diagonal > tol * diagonal[0])) if diagonal.size else 0
    basis = np.ascontiguousarray(basis[:, :rank])
    # in the basis of the sum's eigenvectors the elements of W are graded
    inside = [basis.T @ L for L in factors]
    sizes = [float(np.linalg.norm(T)) or 1.0 for T in inside]
    parts = np.concatenate([T / size for T, size in zip(inside, sizes, strict=True)], axis=1)
    Q = basis @ np.linalg.svd(parts, full_matrices=False)[0]
    return Q, [Q.T @ L for L in factors]


def _unit_columns(L: Array) -> Array:
    sizes = np.linalg.norm(L, axis=0)
    return np.asarray(L / np.where(sizes > 0.0, sizes, 1.0))
