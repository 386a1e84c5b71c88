"""Smooth convex losses of the scores of all samples, which need not be sums over the samples.

    min_{f, b}  ½‖f‖²_K + L(f + b)

A loss states its value, its gradient and its Hessian; its conjugate is not needed. At any scores u
with Σ ∂L/∂u_i = 0 (where there is an intercept), β = −∇L(u) is a feasible dual point of the value

    L(u) + β'u − ½ β'Kβ  ≤  optimum

because L*(−β) = −β'u − L(u) there. Scores and dual value meet at the optimum, so that every loss of this form
has a certificate. :mod:`.interior_point` takes Newton's steps, for kernel weights and scores together:

    (R + H⁻¹) dβ + Q e + F dμ + 1 db = u − f − b,     H = ∇²L(u) = SS'

where H⁻¹ is never computed, since (R + H⁻¹)⁻¹ = S (1 + S'RS)⁻¹ S'; where there is no root S, x = Hy with
(1 + RH) y = r, by conjugate gradients in the inner product of H. A step is no longer than log(1 + δ) / δ of
Newton's, δ the largest change of a score: the Hessians of the logistic loss and of the log-sum-exps of Cox's
partial likelihood change by a factor of at most exp(δ) on the way.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.linalg import lapack

from ..._typing import Array
from ..optim.loop import is_over

_MOST_STEPS = 100  # of the search for an intercept
_BALANCED = 1e-15  # of the sum of all slopes
_ERROR = 1e-3  # of conjugate gradients, relative
_RANK_TOL = 1e-14  # of the largest diagonal element of a Hessian that is factorized
_COLUMNS = 64  # of a Gram matrix in the Hessian, at a time
_TINY = float(np.finfo(float).tiny)


# ---------------------------------------------------------------------- Hessians
class Curvature(ABC):
    """The Hessian H of a loss at some scores, as what it does to the columns of a matrix (n, k)."""

    @abstractmethod
    def product(self, X: Array) -> Array:
        """HX."""

    def gram(self, Z: Array, columns: Array) -> Array:
        """Y'HY with Y = Z diag(columns), some columns at a time."""
        found = np.empty((Z.shape[1],) * 2)
        for first in range(0, Z.shape[1], _COLUMNS):
            part = slice(first, first + _COLUMNS)
            found[:, part] = Z.T @ self.product(np.ascontiguousarray(Z[:, part], float) * columns[part])
        found *= columns[:, None]
        return np.asarray(0.5 * (found + found.T))


class RootedCurvature(Curvature):
    """H = SS', S (n, r)."""

    @abstractmethod
    def down(self, X: Array) -> Array:
        """S'X."""

    @abstractmethod
    def up(self, Z: Array) -> Array:
        """SZ."""

    def inside(self, R: Array) -> Array:
        """S'RS for a symmetric matrix R."""
        return self.down(np.ascontiguousarray(self.down(R).T))

    def product(self, X: Array) -> Array:
        return self.up(self.down(X))


@dataclass(frozen=True)
class DiagonalCurvature(RootedCurvature):
    """S = diag(root)."""

    root: Array  # (n,)

    def down(self, X: Array) -> Array:
        return np.asarray(self.root[:, None] * X)

    def up(self, Z: Array) -> Array:
        return np.asarray(self.root[:, None] * Z)

    def inside(self, R: Array) -> Array:
        return np.asarray(self.root[:, None] * R * self.root)


@dataclass(frozen=True)
class DenseCurvature(RootedCurvature):
    """S as a matrix."""

    root: Array  # (n, r)

    def down(self, X: Array) -> Array:
        return np.asarray(self.root.T @ X)

    def up(self, Z: Array) -> Array:
        return np.asarray(self.root @ Z)


def factorized(H: Curvature, n: int) -> DenseCurvature:
    """The same with its root, by Cholesky's factorization with pivoting."""
    matrix = np.asfortranarray(H.product(np.eye(n)))
    largest = float(np.max(np.diagonal(matrix), initial=0.0))
    if not largest > 0.0:
        return DenseCurvature(np.zeros((n, 0)))
    factor, pivots, rank, _ = lapack.dpstrf(matrix, tol=_RANK_TOL * largest, lower=1)
    root = np.empty((n, rank))
    root[pivots - 1] = np.tril(factor)[:, :rank]
    return DenseCurvature(root)


def in_inner_product(R: Array, H: Curvature, sides: Array, most: int) -> Array | None:
    """(R + H⁻¹)⁻¹ of each of the sides (n, k), as Hy with (1 + RH) y = r, by conjugate gradients.

    1 + RH is symmetric in the inner product y'Hz, and its eigenvalues are 1 at least; what H takes to zero is
    no part of the answer. The error in the norm of 1 + RH is at most r'Hr of the residual, and the answer is
    at least that of the side divided by the largest eigenvalue, of which the steps tell. None where ``most``
    products are too few.
    """
    y = np.zeros_like(sides)
    r, Hr = sides.copy(), H.product(sides)
    p, Hp = r.copy(), Hr.copy()
    size = _inner(r, Hr)
    goal, largest = _ERROR**2 * size, np.ones(size.size)
    for _ in range(most):
        open_ = np.flatnonzero(size * largest > goal)
        if not open_.size or is_over():
            return H.product(y)
        q = p[:, open_] + R @ Hp[:, open_]
        bend = np.maximum(_inner(Hp[:, open_], q), _TINY)
        largest[open_] = np.maximum(largest[open_], bend / np.maximum(_inner(Hp, p)[open_], _TINY))
        length = size[open_] / bend
        y[:, open_] += length * p[:, open_]
        r[:, open_] -= length * q
        Hr[:, open_] = H.product(r[:, open_])
        new = _inner(r[:, open_], Hr[:, open_])
        ratio = new / size[open_]
        p[:, open_] = r[:, open_] + ratio * p[:, open_]
        Hp[:, open_] = Hr[:, open_] + ratio * Hp[:, open_]
        size[open_] = new
    return None


def _inner(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", a, b))


# ---------------------------------------------------------------------- losses


class SmoothLoss(ABC):
    """L(u), u (n,) the scores of the samples with the intercept; see the module."""

    has_intercept = True
    has_root = True  # whether its curvature is a RootedCurvature

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of samples."""

    @property
    @abstractmethod
    def largest_dual(self) -> float:
        """A bound of |∂L/∂u_i|."""

    @abstractmethod
    def value(self, u: Array) -> float:
        """L(u)."""

    @abstractmethod
    def gradient(self, u: Array) -> Array:
        """∇L(u), (n,)."""

    @abstractmethod
    def curvature(self, u: Array) -> Curvature:
        """∇²L(u)."""

    @abstractmethod
    def rescaled(self, kernel_scale: float, target_scale: float) -> "SmoothLoss":
        """The loss for K/kernel_scale: kernel_scale L. β becomes β · kernel_scale."""

    @property
    def shift(self) -> Array:
        """What the dual adds to the kernel's diagonal."""
        return np.zeros(self.n)

    def least_size(self, mean_diagonal: float) -> float:
        """What a gap is at least relative to."""
        return 0.0

    def best_intercept(self, scores: Array) -> float:
        """The b with the least L(scores + b), by Newton's steps between bounds; 0 without an intercept."""
        if not self.has_intercept:
            return 0.0
        b, low, high, reach = 0.0, -np.inf, np.inf, 1.0
        for _ in range(_MOST_STEPS):
            slopes = self.gradient(scores + b)
            slope, size = float(slopes.sum()), float(np.abs(slopes).sum())
            if abs(slope) <= _BALANCED * size:
                break
            low, high = (b, high) if slope < 0.0 else (low, b)
            ones = np.ones((self.n, 1))
            bend = float(self.curvature(scores + b).product(ones).sum())  # the second derivative in b, 1'H1
            reach *= 2.0  # where the slopes are flat Newton's step is far too long
            step = -slope / bend if abs(slope) < reach * bend else -reach * float(np.sign(slope))
            middle = 0.5 * (low + high)
            if b + step == b or (np.isfinite(middle) and middle in (low, high)):
                break
            b = b + step if low < b + step < high else middle
        return b


@dataclass(frozen=True)
class Logistic(SmoothLoss):
    """Σ C_i log(1 + exp(−y_i u_i)); ``target`` holds ±1, ``C`` one number for each sample (or one for all).

    Examples
    --------
    >>> loss = Logistic(np.array([1.0, -1.0]), 2.0)
    >>> round(loss.value(np.zeros(2)), 4), loss.gradient(np.zeros(2)).tolist()
    (2.7726, [-1.0, 1.0])
    """

    target: Array
    C: Array | float

    @property
    def n(self) -> int:
        return self.target.size

    @cached_property
    def _C(self) -> Array:
        return np.broadcast_to(np.asarray(self.C, float), self.target.shape)

    @property
    def largest_dual(self) -> float:
        return float(self._C.max())

    def value(self, u: Array) -> float:
        return float(self._C @ np.logaddexp(0.0, -self.target * u))

    def _wrong(self, u: Array) -> Array:
        """1 / (1 + exp(y u)), the probability of the other class."""
        return np.exp(-np.logaddexp(0.0, self.target * u))

    def gradient(self, u: Array) -> Array:
        return -self._C * self.target * self._wrong(u)

    def curvature(self, u: Array) -> DiagonalCurvature:
        return DiagonalCurvature(np.sqrt(self._C * self._wrong(u) * self._wrong(-u)))

    def rescaled(self, kernel_scale: float, target_scale: float) -> Self:
        return replace(self, C=self._C * kernel_scale)
