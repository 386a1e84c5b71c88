"""The projection: the best mixtures when it is settled which component explains which sample of its class.

With posteriors q held fixed, Jensen's inequality makes the problem convex:

    min  ½ Σ_j ‖w_j‖² + Σ_t C_t ξ_t,    Σ_j q_t(j) F_j(x_t) + H(q_t) − opposite(F(x_t)) ≥ γ_t − ξ_t,  ξ ≥ 0

Its dual has one variable u_tr for each sample t and component r of the other class, λ_t = Σ_r u_tr:

    max  f'u − ½ u'Hu [+ Σ_t λ_t H(u_t / λ_t), mode "full"],    Au = 0,  u ≥ 0,  λ_t ≤ C_t

    f_tr = γ_t − H(q_t) + ½ Σ_j q_t(j) k_j(t, t) − ½ k_r(t, t)

u'Hu = Σ_j ‖w_j‖² with the coefficients s_t(j) = λ_t q_t(j) for the components of the sample's class, −u_tr
for those of the other. The multipliers of Au = 0 (Σ_t s_t(j) = 0 for every component) are the offsets. H(q)
is left out in mode "hard", where q is 0 or 1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core.optim.loop import Status
from .mixtures import SIDES, Array, Mixtures, Pair, Point, entropy, log_sum_exp


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
        reduce = log_sum_exp if self.mixtures.mode == "full" else _largest
        return np.maximum(reduce(shortfalls[0]), 0.0), np.maximum(reduce(shortfalls[1]), 0.0)

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
    """What a solver of the projection returns; every solver, so that none can forget to say that it failed.

    Attributes
    ----------
    duals : pair of arrays (n_positive, N) and (n_negative, M), nonnegative
    point : the mixtures, with the multipliers of Au = 0 as offsets
    primal, dual : float, they enclose the optimal value; the dual less what balancing the duals would cost
    scale : float, what the gap is measured by beside the value
    imbalance : float, max |Au| / (min(1, Σ C) + Σ u): of duals out of balance ``dual`` is no bound
    n_iter : int
    status : Status
    solver : str, the solver that made this: another than the one asked for, where that fell back on it
    """

    duals: Pair
    point: Point
    primal: float
    dual: float
    scale: float
    imbalance: float
    n_iter: int
    status: Status
    solver: str

    @property
    def error(self) -> float:
        """How far from solved: the gap, which is negative only of duals out of balance, and the imbalance."""
        return max(abs(self.gap), self.imbalance)

    @property
    def gap(self) -> float:
        """(primal − dual) / (scale + |dual|)."""
        return (self.primal - self.dual) / (self.scale + abs(self.dual))


def finish(
    projection: Projection,
    duals: Pair,
    offsets: Pair,
    *,
    tol: float,
    n_iter: int,
    status: Status,
    solver: str,
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
    return Projected(duals, point, primal, dual, scale, imbalance, n_iter, status, solver)


def balance(projection: Projection, duals: Pair) -> Array:
    """Au, (M + N,): Σ_t s_t(j) of every component, of the negative mixture with the opposite sign."""
    positive, negative = (s.sum(axis=1) for s in projection.coefficients(duals))
    return np.concatenate([positive, -negative])


def _largest(scores: Array) -> Array:
    return np.asarray(scores.max(axis=-1))


def _weighted_entropy(duals: Array) -> Array:
    """λ_t H(u_t / λ_t)."""
    total = duals.sum(axis=1, keepdims=True)
    shares = duals / np.where(total > 0.0, total, 1.0)
    return np.asarray(total[:, 0] * entropy(shares))
