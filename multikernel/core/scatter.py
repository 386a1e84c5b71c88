"""Scatter of classes in the feature space of a kernel: what discriminant analysis is made of.

With P = I − 11'/n, a centred kernel G~ = P G P and the columns h_c = √(n/n_c) P e_c of H (e_c the indicator
of class c, with n_c points), the scatters between classes and of all points (neither divided by n) are

    S_b = φ H H' φ' / n,   S_t = φ P φ',   and   F(M) = tr H' M⁻¹ H,   M = λ I + Σ_i η_i G~_i / tr G~_i

is the smaller, the better the classes are separated relative to S_t + λI. For two classes the one column
a (1/n₊ on the positive class, −1/n₋ on the negative) takes the place of H: H H' = n₊ n₋ a a'.
"""

import numpy as np

from .._numba import HUGE, compiled, larger, read_only, smaller
from .._typing import Array

_NULL = 1e-10  # relative size of an eigenvalue of H'H that counts as zero
_CONSTANT = 1e-12  # share of its trace that centring leaves of a kernel that is constant but for rounding


class SingularScatterError(ValueError):
    """The regularised total scatter cannot be inverted."""

    def __init__(self, reg: float) -> None:
        super().__init__(
            f"the total scatter is singular with reg={reg:.1e}: the kernel matrix of the training points "
            "(repeated points, or fewer features than points) has eigenvalues that are zero to rounding. "
            'Raise reg, or learn it with reg="learn".'
        )


def class_contrast(codes: Array) -> Array:
    """The vector a: 1/n₊ for class 1, −1/n₋ for class 0.

    Examples
    --------
    >>> class_contrast(np.array([0, 1, 1]))
    array([-1. ,  0.5,  0.5])
    """
    positive = codes == 1
    return np.where(positive, 1.0 / np.count_nonzero(positive), -1.0 / np.count_nonzero(~positive))


def class_columns(codes: Array) -> Array:
    """The matrix H (n, k) of the classes 0 … k−1, all of them present; its columns have sum zero.

    Examples
    --------
    >>> class_columns(np.array([0, 1, 1])).round(3)
    array([[ 1.155, -0.816],
           [-0.577,  0.408],
           [-0.577,  0.408]])
    """
    sizes = np.bincount(codes).astype(float)
    H = np.zeros((codes.size, sizes.size))
    H[np.arange(codes.size), codes] = np.sqrt(codes.size / sizes)[codes]
    H -= np.sqrt(sizes / codes.size)
    return H


def compressed(H: Array) -> Array:
    """A matrix Q of full column rank with QQ' = HH', so that tr H'M⁻¹H = tr Q'M⁻¹Q."""
    values, vectors = np.linalg.eigh(H.T @ H)
    return np.asarray(H @ vectors[:, values > _NULL * values[-1]])


def separation_columns(codes: Array) -> Array:
    """The columns of the objective: a (n, 1) for two classes, a compressed H (n, k−1) for more."""
    if codes.max() == 1:
        return class_contrast(codes)[:, None]
    return compressed(class_columns(codes))


class CenteredStack:
    """The members A_i = P G_i P / tr(P G_i P) of a stack that stays as it is: nothing of its size is formed.

    ``traces`` are r_i = tr P G_i P; ``usable`` says whether centring leaves more of a kernel than rounding.
    """

    def __init__(self, Ks: Array) -> None:
        self.Ks = read_only(Ks)
        self.m, self.n = Ks.shape[0], Ks.shape[1]
        self.row_means, self._floors = _rows_of(self.Ks)
        self._diagonals = np.einsum("mii->mi", Ks)
        diagonals = self._diagonals.sum(axis=1)
        self.traces = diagonals - self.row_means.sum(axis=1)
        self.usable = self.traces > _CONSTANT * diagonals
        self._scales = np.divide(1.0, self.traces, out=np.zeros(self.m), where=self.usable)

    def combine(self, shares: Array, ridge: float) -> Array:
        """Σ_i shares_i A_i + ridge I + 11'/n² as a new array (n, n), only the upper triangle filled.

        The last term makes the sum regular along 1, where centring leaves nothing: vectors of sum zero do
        not see it.
        """
        weights = shares * self._scales
        middle = weights @ self.row_means
        offset = middle - 0.5 * float(middle.mean()) - 0.5 / self.n**2
        out = np.empty((self.n, self.n))
        _combine_centered(self.Ks, np.flatnonzero(weights), weights, offset, ridge, out)
        return out

    def largest_entry(self, shares: Array) -> float:
        """Of the kernels in Σ_i shares_i A_i before they are centred: what its rounding is relative to."""
        return float(((shares * self._scales) @ self._diagonals).max())

    def floor(self, shares: Array) -> float:
        """A lower bound of the eigenvalues of Σ_i shares_i A_i on vectors of sum zero, by Gershgorin's discs.

        It is near them where a kernel with weight is nearly the identity, and zero where none is.
        """
        return float((shares * self._scales) @ self._floors)

    def products(self, rows: Array, kernels: Array, out: Array) -> None:
        """``out[k]`` = V'A_i of the kernels i, where i ≥ 0; the rows of V' (d, n) have sum zero."""
        for place, i in enumerate(kernels):
            if i >= 0:
                np.matmul(rows, self.Ks[i], out=out[place])
        out -= out.mean(axis=2, keepdims=True)
        out *= self._scales[kernels][:, None, None]

    def times(self, B: Array) -> Array:
        """A_i B for every kernel, (m, n, q); the columns of B (n, q) have sum zero."""
        # Whole rows are read: BLAS's products of one triangle lose a digit, which small λ have not to spare.
        products = (self.Ks.reshape(-1, self.n) @ B).reshape(self.m, self.n, -1)
        products -= products.mean(axis=1, keepdims=True)
        products *= self._scales[:, None, None]
        return products


@compiled
def _rows_of(Ks: Array) -> tuple[Array, Array]:
    """Row means, and by how much each diagonal exceeds the rest of its row at least, or zero."""
    m, n = Ks.shape[0], Ks.shape[1]
    means = np.empty((m, n))
    floors = np.empty(m)
    for i in range(m):
        least = HUGE
        for r in range(n):
            row = Ks[i, r]
            total = 0.0
            size = 0.0
            for c in range(n):
                total += row[c]
                size += abs(row[c])
            means[i, r] = total / n
            least = smaller(least, 2.0 * row[r] - size)
        floors[i] = larger(least, 0.0)
    return means, floors


@compiled
def _combine_centered(
    Ks: Array, active: Array, weights: Array, middle: Array, ridge: float, out: Array
) -> None:
    """Upper triangle of Σ weights_m K_m − middle 1' − 1 middle' + ridge I."""
    n = middle.size
    for i in range(n):
        row = out[i]
        offset = middle[i]
        for t in range(i, n):
            row[t] = -offset - middle[t]
        k = 0
        while k + 2 <= active.size:
            w = weights[active[k]]
            a = Ks[active[k], i]
            w2 = weights[active[k + 1]]
            b = Ks[active[k + 1], i]
            for t in range(i, n):
                row[t] += w * a[t] + w2 * b[t]
            k += 2
        if k < active.size:
            w = weights[active[k]]
            a = Ks[active[k], i]
            for t in range(i, n):
                row[t] += w * a[t]
        row[i] += ridge
