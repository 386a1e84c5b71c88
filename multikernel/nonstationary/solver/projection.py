"""The projection: the best mixtures when it is settled which component explains which sample of its class.

With posteriors q held fixed, Jensen's inequality makes the problem convex:

    min  ½ Σ_j ‖w_j‖² + Σ_t C_t ξ_t,    Σ_j q_t(j) F_j(x_t) + H(q_t) − opposite(F(x_t)) ≥ γ_t − ξ_t,  ξ ≥ 0

Its dual has one variable u_tr for each sample t and component r of the other class, λ_t = Σ_r u_tr:

    max  f'u − ½ u'Hu [+ Σ_t λ_t H(u_t / λ_t), mode "full"],    Au = 0,  u ≥ 0,  λ_t ≤ C_t

    f_tr = γ_t − H(q_t) + ½ Σ_j q_t(j) k_j(t, t) − ½ k_r(t, t)

u'Hu = Σ_j ‖w_j‖² with the coefficients s_t(j) = λ_t q_t(j) for the components of the sample's class, −u_tr
for those of the other. The multipliers of Au = 0 (Σ_t s_t(j) = 0 for every component) are the offsets. H(q)
is left out in mode "hard", where q is 0 or 1.

Written out on some of its variables, the dual has the matrices

    H[(t,r),(t',r')] = Σ_j q_t(j) q_t'(j) k_j(t, t') + [r = r'] k_r(t, t')     t and t' of one class
                     = −q_t(r') k_r'(t, t') − q_t'(r) k_r(t, t')               of different classes

and A, whose rows are the balances Σ_t s_t(j) of the components, those of the negative mixture with the
opposite sign.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..._numba import compiled, read_only
from ...core.optim.loop import Status
from ...views import available_memory
from .mixtures import SIDES, Array, Mixtures, Pair, Point, entropy

_SMALLEST = 1e-300
_LARGE = 2**28  # bytes below which nobody is asked


@dataclass(frozen=True)
class Projection:
    """One convex problem: the mixtures' setting, and the posteriors (n_positive, M) and (n_negative, N)."""

    mixtures: Mixtures
    posteriors: Pair

    @cached_property
    def entropies(self) -> Pair:
        """H(q_t) of the samples of both classes; zeros in mode "hard"."""
        if self.mixtures.mode == "hard":
            return np.zeros(len(self.posteriors[0])), np.zeros(len(self.posteriors[1]))
        return entropy(self.posteriors[0]), entropy(self.posteriors[1])

    @cached_property
    def linear(self) -> Pair:
        """f, (n_positive, N) and (n_negative, M)."""
        return self._linear(0), self._linear(1)

    def _linear(self, side: int) -> Array:
        mixtures, rows = self.mixtures, self.mixtures.rows[side]
        own, other = (mixtures.diagonals[mixtures.kernels[s]][:, rows].T for s in (side, 1 - side))
        constant = mixtures.margins[rows] - self.entropies[side]
        constant = constant + 0.5 * (self.posteriors[side] * own).sum(axis=1)
        return np.asarray(constant[:, None] - 0.5 * other)

    def coefficients(self, duals: Pair) -> Pair:
        """s_t(j), (M, n) and (N, n), of the duals u, (n_positive, N) and (n_negative, M)."""
        mixtures = self.mixtures
        coefficients = tuple(np.zeros((size, mixtures.n_samples)) for size in mixtures.sizes)
        for side, rows in enumerate(mixtures.rows):
            coefficients[side][:, rows] = (self.posteriors[side] * duals[side].sum(axis=1, keepdims=True)).T
            coefficients[1 - side][:, rows] = -duals[side].T
        return coefficients[0], coefficients[1]

    def point(self, duals: Pair, offsets: Pair) -> Point:
        """The mixtures of these duals and offsets."""
        return self.mixtures.point(self.coefficients(duals), offsets)

    def shortfalls(self, point: Point) -> Pair:
        """γ_t − Σ_j q_t(j) F_j − H(q_t) + F_r for each sample and component of the other class.

        Shapes as the duals. At the optimum none exceeds ξ_t, and those with u_tr > 0 equal it (less
        ln(u_tr / λ_t) in mode "full").
        """
        return self._shortfalls(point, 0), self._shortfalls(point, 1)

    def _shortfalls(self, point: Point, side: int) -> Array:
        rows = self.mixtures.rows[side]
        own, other = point.scores[side][rows], point.scores[1 - side][rows]
        expected = (self.posteriors[side] * own).sum(axis=1) + self.entropies[side]
        return np.asarray((self.mixtures.margins[rows] - expected)[:, None] + other)

    def slacks(self, shortfalls: Pair) -> Pair:
        """ξ of the samples of both classes."""
        first, second = (self.mixtures.opposite(part) for part in shortfalls)
        return np.maximum(first, 0.0), np.maximum(second, 0.0)

    def primal(self, point: Point) -> float:
        """The value of the primal problem at a point: never below the optimum."""
        slacks = self.slacks(self.shortfalls(point))
        bounds = self.mixtures.bounds
        price = sum(float(bounds[self.mixtures.rows[side]] @ slacks[side]) for side in SIDES)
        return 0.5 * point.norm + price

    def dual(self, duals: Pair, point: Point) -> float:
        """The value of the dual problem at feasible duals, whose mixtures are ``point``."""
        value = sum(float((self.linear[side] * duals[side]).sum()) for side in SIDES) - 0.5 * point.norm
        if self.mixtures.mode == "full":
            value += sum(float(_weighted_entropy(duals[side]).sum()) for side in SIDES)
        return value


@dataclass(frozen=True)
class Projected:
    """What every solver of the projection returns, so that none can forget to say that it failed."""

    duals: Pair  # (n_positive, N) and (n_negative, M), nonnegative
    point: Point  # the mixtures, with the multipliers of Au = 0 as offsets
    primal: float  # with the dual it encloses the optimal value
    dual: float  # less what balancing the duals would cost
    scale: float  # what the gap is measured by beside the value
    imbalance: float  # max |Au| / (min(1, Σ C) + Σ u): of duals out of balance ``dual`` is no bound
    n_iter: int
    status: Status
    work: float = 0.0  # arithmetic operations of the interior point method, roughly

    @property
    def error(self) -> float:
        """How far from solved: the gap, which is negative only of duals out of balance, and the imbalance."""
        return max(abs(self.gap), self.imbalance)

    @property
    def gap(self) -> float:
        """(primal − dual) / (scale + |dual|)."""
        return (self.primal - self.dual) / (self.scale + abs(self.dual))


def finish(
    projection: Projection, duals: Pair, offsets: Pair, *, tol: float, n_iter: int, status: Status
) -> Projected:
    """Evaluate what a solver found on the whole problem: optimal is feasible with a gap within tol."""
    point = projection.point(duals, offsets)
    primal, dual = projection.primal(point), projection.dual(duals, point)
    scale = projection.mixtures.scale
    mass = min(1.0, float(projection.mixtures.bounds.sum())) + float(duals[0].sum() + duals[1].sum())
    out = np.abs(balance(projection, duals))
    imbalance = float(out.max()) / mass
    # What balancing the duals would cost at these prices: without it the value of slightly infeasible duals
    # may lie above the optimum.
    dual -= float(np.abs(np.concatenate(offsets) - offsets[1][-1]) @ out)
    if imbalance <= tol and primal - dual <= tol * (scale + abs(dual)):
        status = Status.OPTIMAL
    elif status == Status.OPTIMAL:
        status = Status.STALLED
    return Projected(duals, point, primal, dual, scale, imbalance, n_iter, status)


def balance(projection: Projection, duals: Pair) -> Array:
    """Au, (M + N,): Σ_t s_t(j) of every component, of the negative mixture with the opposite sign."""
    positive, negative = (s.sum(axis=1) for s in projection.coefficients(duals))
    return np.concatenate([positive, -negative])


def _weighted_entropy(duals: Array) -> Array:
    """λ_t H(u_t / λ_t)."""
    total = duals.sum(axis=1, keepdims=True)
    shares = duals / np.where(total > 0.0, total, 1.0)
    return np.asarray(total[:, 0] * entropy(shares))


# ------------------------------------------------------------------ the dual written out
class Variables(NamedTuple):
    """The variables u_tr that are not held at zero, sample by sample, those of the positives first."""

    masks: Pair  # (n_positive, N) and (n_negative, M) of bool
    # the samples of each class that have variables, numbered within the class
    samples: Pair
    start: Array  # (n_groups + 1,) of int, where the variables of each sample begin
    replica: Array  # (n_variables,) of int, r

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
    """The matrices of the problem on some variables."""

    H: Array  # (n_variables, n_variables)
    f: Array  # (n_variables,)
    A: Array  # (M + N, n_variables), of rank M + N − 1
    C: Array  # (n_groups,)
    start: Array  # the variables of each sample
    group: Array  # the sample of each variable
    entropic: bool  # whether the objective has the entropy of u_t / λ_t
    scale: float = 1.0  # what gaps are measured by beside the value

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
            'samples, or solver="smo" (method="qp" or "hard").'
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
