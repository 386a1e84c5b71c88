"""Families of kernel matrices over labelled and unlabelled points, in the form that matrix learning needs.

    K(w) = Σ_i w_i K_i,    every K_i scaled to the same mean diagonal ``size`` over all n points,

so that weights with Σ w = 1 give a matrix of trace n · size, whatever the members. The N labelled points come
first. Two kinds: a stack of ready matrices, and rank-one members v_i v_i' of orthonormal vectors. The
identity may be one more member, the last: its weight is a learned 1/C.
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import qr

from ..._typing import Array

_DEPENDENT = 1e-7


class KernelFamily(ABC):
    """What a solver asks of a family; the labelled block is all that a machine sees.

    Attributes
    ----------
    n_members : int, the identity included
    n_labelled, n : int
    size : float, the mean diagonal of the identity and of a member with trace 1
    scales : array (n_members,), K_i = scales_i × the caller's matrix
    traces : array (n_members,), of the members in units of n · size: 1, but for the members of a basis
    has_identity : bool
    """

    n: int

    def __init__(
        self, scales: Array, traces: Array, n_labelled: int, has_identity: bool, size: float
    ) -> None:
        self.scales = np.append(scales, size) if has_identity else scales
        self.traces = np.append(traces, 1.0) if has_identity else traces
        self.n_labelled, self.size = n_labelled, size
        self.has_identity = has_identity
        self.n_members = self.scales.size

    def combined(self, w: Array) -> Array:
        """The labelled block of K(w), identity included: a new array (N, N)."""
        K = self._combined(w[: self.n_members - self.has_identity])
        if self.has_identity:
            K.flat[:: self.n_labelled + 1] += w[-1] * self.size
        return K

    def products(self, beta: Array) -> Array:
        """K_i β over the labelled points, one column for each member: (N, n_members)."""
        columns = self._products(beta)
        return np.column_stack([columns, self.size * beta]) if self.has_identity else columns

    @abstractmethod
    def whole(self, w: Array) -> Array:
        """K(w) over all points (n, n), without the identity's share."""

    @abstractmethod
    def _combined(self, w: Array) -> Array: ...

    @abstractmethod
    def _products(self, beta: Array) -> Array: ...


class KernelBasis:
    """Orthonormal matrices Qs (k, n, n) that span the same combinations as a stack (m, n, n), k ≤ m.

    Weights of any sign on kernels that are nearly dependent grow without limit and lose their digits; the
    coordinates in an orthonormal basis do not. Directions in which the scaled kernels differ by less than
    1e-7 of the largest are left out.
    """

    def __init__(self, Ks: Array, scales: Array) -> None:
        m, n = Ks.shape[0], Ks.shape[1]
        columns = (np.asarray(Ks, float) * scales[:, None, None]).reshape(m, -1).T
        Q, R, order = qr(columns, mode="economic", pivoting=True, overwrite_a=True, check_finite=False)
        size = np.abs(np.diag(R))
        k = int(np.count_nonzero(size > _DEPENDENT * size[0]))
        self.Qs = np.ascontiguousarray(Q[:, :k].T).reshape(k, n, n)
        self._R = np.empty((k, m))
        self._R[:, order] = R[:k]

    def coordinates(self, w: Array) -> Array:
        """Of Σ_i w_i K_i, (k,)."""
        return self._R @ w

    def weights(self, u: Array) -> Array:
        """The smallest weights of the scaled kernels that give Σ_j u_j Q_j, (m,)."""
        return np.linalg.lstsq(self._R, u, rcond=None)[0]


def dependence(Ks: Array, with_identity: bool = False) -> tuple[float, Array]:
    """How nearly members depend on one another: the smallest over the largest eigenvalue of their cosines.

    Zero (but for rounding) if some combination of the members vanishes; with the members' part in it.
    """
    flat = Ks.reshape(len(Ks), -1)
    S = np.asarray(flat @ flat.T, float)
    if with_identity:
        traces = np.array([np.trace(K, dtype=float) for K in Ks])
        S = np.block([[S, traces[:, None]], [traces, np.array([[float(Ks.shape[1])]])]])
    sizes = np.sqrt(np.diag(S))
    values, vectors = np.linalg.eigh(S / np.outer(sizes, sizes))
    return float(max(values[0], 0.0) / values[-1]), vectors[:, 0]


class StackFamily(KernelFamily):
    """Ready matrices (m, n, n), never modified and never copied.

    By default the scales give every member the trace n · size, which must be positive.
    """

    def __init__(
        self,
        Ks: Array,
        n_labelled: int,
        with_identity: bool = False,
        size: float = 1.0,
        scales: Array | None = None,
    ) -> None:
        self.n = Ks.shape[1]
        traces = np.array([np.trace(K, dtype=float) for K in Ks]) / (self.n * size)
        if scales is None:
            scales = 1.0 / traces
        super().__init__(scales, scales * traces, n_labelled, with_identity, size)
        self.Ks = Ks

    def whole(self, w: Array) -> Array:
        return self._sum(w[: len(self.Ks)], self.n)

    def _combined(self, w: Array) -> Array:
        return self._sum(w, self.n_labelled)

    def _sum(self, w: Array, size: int) -> Array:
        factors = w * self.scales[: w.size]
        total = factors[0] * self.Ks[0, :size, :size].astype(float)
        for factor, K in zip(factors[1:], self.Ks[1:], strict=True):
            total += factor * K[:size, :size]
        return total

    def _products(self, beta: Array) -> Array:
        N = self.n_labelled
        columns = np.empty((N, len(self.Ks)))
        for i, K in enumerate(self.Ks):
            columns[:, i] = K[:N, :N] @ beta
        columns *= self.scales[: len(self.Ks)]
        return columns


class RankOneFamily(KernelFamily):
    """Members v_i v_i' of orthonormal columns: K(w) is positive semidefinite exactly for w ≥ 0."""

    def __init__(self, V: Array, n_labelled: int, with_identity: bool = False, size: float = 1.0) -> None:
        self.n, m = V.shape
        super().__init__(np.full(m, self.n * size), np.ones(m), n_labelled, with_identity, size)
        self.V = V
        self.labelled = np.ascontiguousarray(V[:n_labelled]) * np.sqrt(self.n * size)

    def whole(self, w: Array) -> Array:
        w = w[: self.V.shape[1]]
        return (self.V * (w * (self.n * self.size))) @ self.V.T

    def _combined(self, w: Array) -> Array:
        return (self.labelled * w) @ self.labelled.T

    def _products(self, beta: Array) -> Array:
        return self.labelled * (self.labelled.T @ beta)
