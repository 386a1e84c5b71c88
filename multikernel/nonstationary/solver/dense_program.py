"""The dual of the projection written out, on some of its variables.

    H[(t,r),(t',r')] = Σ_j q_t(j) q_t'(j) k_j(t, t') + [r = r'] k_r(t, t')     t and t' of one class
                     = −q_t(r') k_r'(t, t') − q_t'(r) k_r(t, t')               of different classes

and A, whose rows are the balances Σ_t s_t(j) of the components, those of the negative mixture with the
opposite sign.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..._numba import compiled, read_only
from ...views import available_memory
from .mixtures import Array, Pair
from .projection import Projection

_SMALLEST = 1e-300
_LARGE = 2**28  # bytes below which nobody is asked


class Variables(NamedTuple):
    """The variables u_tr that are not held at zero, sample by sample, those of the positives first.

    Attributes
    ----------
    masks : pair of bool arrays (n_positive, N) and (n_negative, M)
    samples : pair of int arrays, the samples of each class that have variables, numbered within the class
    start : int array (n_groups + 1,), where the variables of each sample begin
    replica : int array (n_variables,), r
    """

    masks: Pair
    samples: Pair
    start: Array
    replica: Array

    @property
    def group(self) -> Array:
        """The sample of each variable, counted as in ``start``."""
        return np.repeat(np.arange(self.start.size - 1), np.diff(self.start))

    @property
    def n_positive(self) -> int:
        """How many variables belong to positive samples."""
        return int(self.start[self.samples[0].size])

    def spread(self, u: Array) -> Pair:
        """The variables as duals of the whole problem."""
        duals = np.zeros(self.masks[0].shape), np.zeros(self.masks[1].shape)
        duals[0][self.masks[0]] = u[: self.n_positive]
        duals[1][self.masks[1]] = u[self.n_positive :]
        return duals

    def gather(self, values: Pair) -> Array:
        """What belongs to the variables, from arrays shaped as the duals."""
        return np.concatenate([values[0][self.masks[0]], values[1][self.masks[1]]])


def select(masks: Pair) -> Variables:
    """The variables where the masks are true."""
    counts = masks[0].sum(axis=1), masks[1].sum(axis=1)
    samples = np.flatnonzero(counts[0]), np.flatnonzero(counts[1])
    sizes = np.concatenate([counts[0][samples[0]], counts[1][samples[1]]])
    replica = np.concatenate([np.nonzero(masks[0])[1], np.nonzero(masks[1])[1]])
    return Variables(masks, samples, np.concatenate([[0], np.cumsum(sizes)]), replica)


@dataclass(frozen=True)
class DenseProgram:
    """The matrices of the problem on some variables.

    Attributes
    ----------
    H : array (n_variables, n_variables)
    f : array (n_variables,)
    A : array (M + N, n_variables), of rank M + N − 1
    C : array (n_groups,)
    start, group : the variables of each sample, the sample of each variable
    entropic : whether the objective has the entropy of u_t / λ_t
    scale : what gaps are measured by beside the value
    """

    H: Array
    f: Array
    A: Array
    C: Array
    start: Array
    group: Array
    entropic: bool
    scale: float = 1.0

    def total(self, u: Array) -> Array:
        """λ."""
        return np.add.reduceat(u, self.start[:-1])

    def slacks(self, e: Array) -> Array:
        """ξ, from the shortfalls of the variables."""
        top = np.maximum.reduceat(e, self.start[:-1])
        if self.entropic:
            top = top + np.log(self.total(np.exp(e - top[self.group])))
        return np.maximum(top, 0.0)

    def dual(self, u: Array, Hu: Array) -> float:
        value = float(self.f @ u - 0.5 * (u @ Hu))
        return value - float(u @ self.log_shares(u)) if self.entropic else value

    def log_shares(self, u: Array) -> Array:
        """ln(u_tr / λ_t), the gradient of −λ H(u/λ)."""
        return np.asarray(np.log(np.maximum(u, _SMALLEST) / self.total(u)[self.group]))


def dense_program(projection: Projection, variables: Variables) -> DenseProgram:
    """Write the problem out on the variables."""
    mixtures, q = projection.mixtures, projection.posteriors
    samples = variables.samples
    rows = tuple(mixtures.rows[side][samples[side]] for side in (0, 1))
    shares = tuple(np.ascontiguousarray(q[side][samples[side]]) for side in (0, 1))
    n = variables.replica.size
    _require_memory(n)
    H = np.empty((n, n))
    Ks = read_only(mixtures.Ks)
    _fill_hessian(Ks, mixtures.kernels, rows, shares, variables.start, variables.replica, H)
    return DenseProgram(
        H,
        variables.gather(projection.linear),
        _constraints(variables, (shares[0], shares[1])),
        np.concatenate([mixtures.bounds[rows[0]], mixtures.bounds[rows[1]]]),
        variables.start,
        variables.group,
        mixtures.mode == "full",
        mixtures.scale,
    )


def _require_memory(n: int) -> None:
    """Refuse what would not fit: H, and the matrix of a step."""
    needed = 16 * n**2
    available = available_memory() if needed > _LARGE else None
    if available is not None and needed > available:
        raise ValueError(
            f"the convex problem of these mixtures has {n} pairs of a sample and a kernel that matter, which "
            f"take {needed / 2**30:.1f} GiB; {available / 2**30:.1f} GiB are available. Use fewer kernels or "
            'samples, or solver="smo" (mode "qp" or "hard").'
        )


def _constraints(variables: Variables, shares: Pair) -> Array:
    M, N, n_positive = shares[0].shape[1], shares[1].shape[1], variables.n_positive
    counts = np.diff(variables.start)
    A = np.zeros((M + N, variables.replica.size))
    A[:M, :n_positive] = np.repeat(shares[0], counts[: len(shares[0])], axis=0).T
    A[M:, n_positive:] = -np.repeat(shares[1], counts[len(shares[0]) :], axis=0).T
    places = np.arange(variables.replica.size)
    A[M + variables.replica[:n_positive], places[:n_positive]] = 1.0
    A[variables.replica[n_positive:], places[n_positive:]] = -1.0
    return A


@compiled
def _fill_hessian(
    Ks: Array, kernels: Pair, rows: Pair, shares: Pair, start: Array, replica: Array, H: Array
) -> None:
    """H of the dual; own parts once for each pair of samples."""
    first = 0
    for side in range(2):
        own, other = kernels[side], kernels[1 - side]
        samples, q = rows[side], shares[side]
        for g in range(samples.size):
            i = samples[g]
            for h in range(g + 1):
                j = samples[h]
                common = 0.0
                for c in range(own.size):
                    common += q[g, c] * q[h, c] * Ks[own[c], i, j]
                for x in range(start[first + g], start[first + g + 1]):
                    for y in range(start[first + h], start[first + h + 1]):
                        value = common
                        if replica[x] == replica[y]:
                            value += Ks[other[replica[x]], i, j]
                        H[x, y] = value
                        H[y, x] = value
        first += samples.size
    n_positive = rows[0].size
    for g in range(n_positive):
        i = rows[0][g]
        for h in range(rows[1].size):
            j = rows[1][h]
            for x in range(start[g], start[g + 1]):
                n = replica[x]
                seen = shares[1][h, n] * Ks[kernels[1][n], i, j]
                for y in range(start[n_positive + h], start[n_positive + h + 1]):
                    m = replica[y]
                    value = -seen - shares[0][g, m] * Ks[kernels[0][m], i, j]
                    H[x, y] = value
                    H[y, x] = value
