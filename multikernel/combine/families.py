"""Families of kernel matrices over labelled and unlabelled points, in the form that matrix learning needs.

    K(w) = Σ_i w_i K_i,    every K_i scaled to mean diagonal one over all n points,

so that weights with Σ w = 1 give a matrix of trace n, whatever the members. The N labelled points come
first. Two kinds: a stack of ready matrices, and rank-one members v_i v_i' of orthonormal vectors. The identity
may be one more member, the last: its weight is a learned 1/C.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class KernelFamily(ABC):
    """What a solver asks of a family; the labelled block is all that a machine sees.

    Attributes
    ----------
    n_members : int, the identity included
    n_labelled, n : int
    scales : array (n_members,), K_i = scales_i × the caller's matrix
    has_identity : bool
    """

    def __init__(self, scales: Array, n_labelled: int, n: int, has_identity: bool) -> None:
        self.scales = np.append(scales, 1.0) if has_identity else scales
        self.n_labelled, self.n = n_labelled, n
        self.has_identity = has_identity
        self.n_members = self.scales.size

    def combined(self, w: Array) -> Array:
        """The labelled block of K(w), identity included: a new array (N, N)."""
        K = self._combined(w[: self.n_members - self.has_identity])
        if self.has_identity:
            K.flat[:: self.n_labelled + 1] += w[-1]
        return K

    def products(self, beta: Array) -> Array:
        """K_i β over the labelled points, one column for each member: (N, n_members)."""
        columns = self._products(beta)
        return np.column_stack([columns, beta]) if self.has_identity else columns

    @abstractmethod
    def whole(self, w: Array) -> Array:
        """K(w) over all points (n, n), without the identity's share."""

    @abstractmethod
    def _combined(self, w: Array) -> Array: ...

    @abstractmethod
    def _products(self, beta: Array) -> Array: ...


class StackFamily(KernelFamily):
    """Ready matrices.

    Parameters
    ----------
    Ks : array (m, n, n)
        Positive traces; never modified and never copied.
    n_labelled : int
    with_identity : bool
    """

    def __init__(self, Ks: Array, n_labelled: int, with_identity: bool = False) -> None:
        n = Ks.shape[1]
        traces = np.array([np.trace(K, dtype=float) for K in Ks])
        super().__init__(n / traces, n_labelled, n, with_identity)
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
    """Members v_i v_i' of orthonormal vectors: K(w) is positive semidefinite exactly for w ≥ 0.

    Parameters
    ----------
    V : array (n, m), orthonormal columns
    n_labelled : int
    with_identity : bool
    """

    def __init__(self, V: Array, n_labelled: int, with_identity: bool = False) -> None:
        n, m = V.shape
        super().__init__(np.full(m, float(n)), n_labelled, n, with_identity)
        self.V = V
        self.labelled = np.ascontiguousarray(V[:n_labelled]) * np.sqrt(n)

    def whole(self, w: Array) -> Array:
        w = w[: self.V.shape[1]]
        return (self.V * (w * self.n)) @ self.V.T

    def _combined(self, w: Array) -> Array:
        return (self.labelled * w) @ self.labelled.T

    def _products(self, beta: Array) -> Array:
        return self.labelled * (self.labelled.T @ beta)
