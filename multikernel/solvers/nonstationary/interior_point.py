"""A dense primal-dual interior point method for the projection, on some of its variables.

    min  ½ u'Hu − f'u [− Σ_t λ_t H(u_t / λ_t)],    Au = 0 : y,   u ≥ 0 : z,   λ_t + σ_t = C_t,  σ ≥ 0 : v

Mehrotra's predictor and corrector; each iteration factors H + diag(z/u) + E'diag(v/σ)E once (E sums the
variables of a sample, E'E is block diagonal) and eliminates Au = 0 by its Schur complement. One row of A is
redundant and left out. It stops on the duality gap: y makes the slacks of the primal, ξ_t = [max_r e_tr]₊
with e = f − Hu + A'y (the log-sum-exp in mode "full").
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..._numba import compiled
from ..result import Status
from .mixtures import Array, Pair
from .projection import Projection

_MAX_ITER = 100
_PATIENCE = 8  # iterations without a smaller gap or products after which rounding is to blame
_LIFTS = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-8, 1e-6)
_SMALLEST = 1e-300


class Solution(NamedTuple):
    """Variables of the problem, multipliers of Au = 0 (M + N,), and how it ended."""

    u: Array
    y: Array
    status: Status


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
    """

    H: Array
    f: Array
    A: Array
    C: Array
    start: Array
    group: Array
    entropic: bool

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
    H = np.empty((n, n))
    _fill_hessian(mixtures.Ks, mixtures.kernels, rows, shares, variables.start, variables.replica, H)
    return DenseProgram(
        H,
        variables.gather(projection.linear),
        _constraints(variables, (shares[0], shares[1])),
        np.concatenate([mixtures.bounds[rows[0]], mixtures.bounds[rows[1]]]),
        variables.start,
        variables.group,
        mixtures.mode == "full",
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


@compiled
def _add_curvature(K: Array, start: Array, between: Array, within: Array, alone: Array) -> None:
    """Add ``between`` to all pairs of a sample's variables, less ``within`` if unequal, ``alone`` to each."""
    for g in range(start.size - 1):
        for x in range(start[g], start[g + 1]):
            for y in range(start[g], start[g + 1]):
                K[x, y] += between[g]
                if x != y:
                    K[x, y] -= within[g]
            K[x, x] += alone[x]


class _Step(NamedTuple):
    u: Array
    y: Array
    z: Array
    sigma: Array
    v: Array


class InteriorPoint:
    """The iterate, its Newton steps, and the path that they follow."""

    def __init__(self, program: DenseProgram) -> None:
        self.program = program
        counts = np.diff(program.start)
        size = 1.0 / np.sqrt(max(float(np.mean(np.diagonal(program.H))), 1e-12))
        self.u = np.minimum(0.5 * program.C / counts, size)[program.group]
        scale = max(1.0, float(np.abs(program.f).max()))
        self.z = np.full(self.u.size, scale)
        self.v = np.full(counts.size, scale)
        self.A = program.A[:-1]  # the rows of A are dependent
        self.y = np.zeros(len(self.A))
        self.sigma = program.C - program.total(self.u)
        self.n_iter = 0
        self.best, self.smallest, self.least_mu = (self.u, self.y), np.inf, np.inf

    def follow(self, tol: float) -> Solution:
        """Go on until the gap is within ``tol``, nothing improves any more, or the iterations are used up."""
        waited = 0
        while True:
            self.evaluate()
            score = max(self.gap, self.imbalance)
            waited = 0 if score < self.smallest or self.mu < 0.5 * self.least_mu else waited + 1
            self.least_mu = min(self.least_mu, self.mu)
            if score < self.smallest:
                self.best, self.smallest = (self.u, self.y), score
            if self.smallest <= tol:
                return self._answer(Status.OPTIMAL)
            if self.n_iter >= _MAX_ITER:
                return self._answer(Status.MAX_ITER)
            if waited >= _PATIENCE or not self.advance():
                return self._answer(Status.STALLED)
            self.n_iter += 1

    def _answer(self, status: Status) -> Solution:
        u, y = self.best
        return Solution(u, np.append(y, 0.0), status)

    def evaluate(self) -> None:
        """Residuals, complementarity, and the gap between primal and dual value."""
        program, u = self.program, self.u
        Hu = program.H @ u
        e = program.f - Hu + self.A.T @ self.y
        self.gradient = e - program.log_shares(u) if program.entropic else e
        self.dual_residual = -self.gradient - self.z + self.v[program.group]
        self.balance = self.A @ u
        self.n_products = u.size + self.v.size
        self.mu = float(u @ self.z + self.sigma @ self.v) / self.n_products
        dual = program.dual(u, Hu)
        primal = 0.5 * float(u @ Hu) + float(program.C @ program.slacks(e))
        self.gap = (primal - dual) / (1.0 + abs(dual))
        self.imbalance = float(np.abs(self.balance).max(initial=0.0)) / (1.0 + float(u.sum()))

    def factor(self) -> bool:
        """Factor the matrix of the Newton step; False if rounding leaves none."""
        program, u = self.program, self.u
        with np.errstate(over="ignore"):  # rounding may put a variable on its bound
            between, alone = self.v / self.sigma, self.z / u
        within = np.zeros_like(between)
        if program.entropic:
            total = program.total(u)
            within = 1.0 / total
            alone = alone + _others(u, program.start) / (u * total[program.group])
        if not (np.isfinite(between).all() and np.isfinite(alone).all()):
            return False
        for lift in _LIFTS:
            K = program.H.copy()
            _add_curvature(K, program.start, between, within, alone)
            if lift:
                K.flat[:: u.size + 1] *= 1.0 + lift
            factor, failed = lapack.dpotrf(K.T, lower=1, overwrite_a=1, clean=0)
            if not failed:
                self.K = factor
                return self._eliminate()
        return False

    def _eliminate(self) -> bool:
        self.KA = self.solve(self.A.T)
        S = self.A @ self.KA
        scale = np.sqrt(np.maximum(np.diagonal(S), _SMALLEST))
        values, vectors = np.linalg.eigh(S / np.outer(scale, scale))
        kept = values > 1e-14 * values[-1]  # a component that no sample uses has no multiplier
        inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
        self.S_inverse = inverse / np.outer(scale, scale)
        return bool(np.isfinite(self.S_inverse).all())

    def solve(self, right: Array) -> Array:
        return np.asarray(lapack.dpotrs(self.K, right, lower=1)[0])

    def step(self, to_z: Array, to_v: Array) -> _Step:
        """Newton's step to products u z and σ v changed by ``to_z`` and ``to_v``."""
        group = self.program.group
        free = self.solve(-self.dual_residual + to_z / self.u - (to_v / self.sigma)[group])
        y = self.S_inverse @ (-self.balance - self.A @ free)
        u = free + self.KA @ y
        sigma = -self.program.total(u)
        return _Step(u, y, (to_z - self.z * u) / self.u, sigma, (to_v - self.v * sigma) / self.sigma)

    def lengths(self, d: _Step) -> tuple[float, float]:
        """How far the primal and the dual variables may go before one of them is zero."""
        return (
            min(_longest(self.u, d.u), _longest(self.sigma, d.sigma)),
            min(_longest(self.z, d.z), _longest(self.v, d.v)),
        )

    def advance(self) -> bool:
        """One iteration from an evaluated iterate; False if floating point allows none."""
        if not self.factor():
            return False
        first = self.step(-self.u * self.z, -self.sigma * self.v)
        primal, dual = (min(1.0, length) for length in self.lengths(first))
        after = (self.u + primal * first.u) @ (self.z + dual * first.z)
        after += (self.sigma + primal * first.sigma) @ (self.v + dual * first.v)
        target = (max(after, 0.0) / (self.mu * self.n_products)) ** 3 * self.mu
        step = self.step(
            target - self.u * self.z - first.u * first.z,
            target - self.sigma * self.v - first.sigma * first.v,
        )
        return self._move(step)

    def _move(self, d: _Step) -> bool:
        near = max(0.9, min(0.9995, 1.0 - 10.0 * self.mu / (1.0 + self.mu)))
        if self.program.entropic:
            near = 0.95
        primal, dual = (min(1.0, near * length) for length in self.lengths(d))
        if self.program.entropic:  # the objective is not quadratic: both must move together
            primal = dual = min(primal, dual)
        if not (primal > 1e-12 and np.isfinite(d.u).all() and np.isfinite(d.z).all()):
            return False
        self.u = np.maximum(self.u + primal * d.u, _SMALLEST)
        self.sigma = np.maximum(self.program.C - self.program.total(self.u), _SMALLEST)
        self.y = self.y + dual * d.y
        self.z = np.maximum(self.z + dual * d.z, _SMALLEST)
        self.v = np.maximum(self.v + dual * d.v, _SMALLEST)
        return True


def _others(u: Array, start: Array) -> Array:
    """The sum of the sample's other variables, without the cancellation of λ − u."""
    others = np.empty_like(u)
    _sum_others(u, start, others)
    return others


@compiled
def _sum_others(u: Array, start: Array, others: Array) -> None:
    for g in range(start.size - 1):
        for x in range(start[g], start[g + 1]):
            total = 0.0
            for y in range(start[g], start[g + 1]):
                if x != y:
                    total += u[y]
            others[x] = total


def _longest(values: Array, changes: Array) -> float:
    """The step at which the first of some positive values becomes zero."""
    falling = changes < 0.0
    return float((-values[falling] / changes[falling]).min()) if falling.any() else np.inf
