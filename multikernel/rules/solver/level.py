"""Kernel weights of a machine in any set g(η) ≤ 1, by planes and cuts: the level method, with its duals.

    min_{η ≥ 0, g(η) ≤ 1}  J(η) + Ω(η),    J(η) = Σ_t max_β  y_t'β − ε‖β‖₁ − ½ β'(Σ_m η_m K_m + diag(shift))β

Every solved machine gives a plane below J: J(η) ≥ S(β) − ½ η'q(β), with q_m = Σ_t β_t'K_mβ_t; every value of
the gauge g gives a row r of the set: r'η ≤ 1. The next weights are the nearest to the best so far at which
all planes are below a level between the bounds (Lemaréchal, Nemirovskii & Nesterov 1995); they are scaled to
g = 1, since J falls in every weight. Ω = ω‖η − center‖² is optional, and so is a floor: the weight of a
kernel is then floor + η_m, and the floor is part of the constant of each plane.

The certificate is a duality gap. Multipliers λ of the planes (of sum 1) and ν of the rows give the duals
β = Σ_k λ_k β_k and the bound  S(β) + min_{η in M} {(Σ_j ν_j r_j − ½ q(β))'η + Ω(η)} − Σ_j ν_j,  which holds
for any λ and ν ≥ 0, with M any set around the true one: the box 0 ≤ η_m ≤ 1/g(e_m), or η ≥ 0 with Ω. The
small programs (Clarabel) choose λ and ν and are not believed.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

from ..._typing import Array
from ...core.optim import cone
from ...core.optim.loop import Options, Recorder, Result, Status, relative_gap
from ...core.optim.weight_sets import Gauge
from ...core.stack.sums import mean_diagonals, weighted_sum
from ...core.svm.losses import Loss, value_floor
from ...core.svm.machine import CROSSED_BOUNDS
from .margin_value import MarginPoint, MarginValue

_LEVEL = 0.5  # between the bounds
_NEGLIGIBLE = 1e-9  # a weight, in units of the largest that it can have
_RETREATS = 30
_STEEPEST = 1e-12  # share of the steepest slope below which a value is rounding
_PATIENCE = 60  # machines without a gap smaller by a tenth
_MOST_UNSOLVED = 25  # machines on which SMO converges slowly: kernels too different in scale


class Pull(NamedTuple):
    """Ω(η) = strength ‖η − center‖², with g(center) = 1; meant for sums, where center raises both parts."""

    strength: float
    center: Array


@dataclass(frozen=True, eq=False)
class LevelResult(Result):
    """Weights, duals, and the bounds that they prove.

    ``objective`` is the primal value at the weights, an upper bound; ``n_iter`` counts machines solved.
    """

    weights: Array  # (n_kernels,)
    duals: Array  # (n_machines, n), feasible: they give the lower bound
    lower_bound: float
    prices: Array  # (n_rows,), ν of the rows that the gauge knows
    excess: Array  # (n_weights,), what the box adds to the bound, 0 but for rounding


@dataclass(eq=False)
class LevelMethod:
    """Learns the weights of a stack of kernels in the set of a gauge.

    The state: x = η in units of the largest weights, planes, and the bounds so far.

    Examples
    --------
    >>> from multikernel.core.optim.weight_sets import CappedSum
    >>> from multikernel.core.svm.losses import Hinge
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> Ks = np.stack([np.outer(x, x), np.outer(z, z), np.outer(y, y)])
    >>> found = LevelMethod(Ks, [Hinge(y, 1.0)], CappedSum(3, 2.0), Options(tol=1e-6)).run()
    >>> found.weights.round(3).tolist(), found.gap <= 1e-6
    ([1.0, 0.0, 1.0], True)
    """

    Ks: Array  # (n_kernels, n, n), never modified and never copied
    losses: Sequence[Loss]  # one for each machine
    gauge: Gauge  # of as many weights as there are kernels (or ties)
    options: Options  # ``tol`` for the gap, ``max_iter`` solved machines, ``callback``
    _: KW_ONLY
    pull: Pull | None = None  # Ω
    ties: Any = None  # (n_kernels,) of int: kernels of the same number have the same weight
    floor: float = 0.0  # what every weight has beyond its part in the set

    def __post_init__(self) -> None:
        options, pull = self.options, self.pull
        self.machine = MarginValue(self.losses, tol=0.1 * options.tol)
        self.constants: list[float] = []
        self.forms: list[Array] = []
        self.points: list[Array] = []
        self.duals: list[Array] = []
        self.record = Recorder(options.tol, callback=options.callback)
        self.upper, self.lower = np.inf, -np.inf
        self.suspicious, self.n_unsolved = False, 0
        self.ties = np.arange(len(self.Ks)) if self.ties is None else self.ties
        units = np.array([self.gauge.at(one) for one in np.eye(int(self.ties.max()) + 1)])
        if not (units > 0.0).any():
            raise ValueError("no kernel tells the samples apart: the weights have no scale.")
        self.units = np.where(units > 0.0, units, np.inf)  # a gauge that does not see a weight: it stays 0
        self.omega = np.zeros(units.size) if pull is None else pull.strength / self.units**2
        self.center = np.zeros(units.size) if pull is None else pull.center * self.units
        self.best = np.ones(units.size) if pull is None else self.center
        sizes = mean_diagonals(self.Ks)
        least = np.bincount(self.ties, sizes) / self.units + self.floor * sizes.sum()
        self.least_size = value_floor(self.losses, least)
        self.shares, self.prices = np.ones(1), np.zeros(len(self.gauge.rows))

    # ------------------------------------------------------------------ the loop
    def run(self) -> LevelResult:
        """Iterate until the gap is small enough."""
        x, record = self.best, self.record
        for _ in range(self.options.max_iter):
            if not self._evaluate(x):
                record.stop(Status.STALLED if self.duals else Status.INSEPARABLE)
                break
            x = self._bound()
            self._note()
            if self.suspicious or self.gap < CROSSED_BOUNDS:
                record.stop(Status.INDEFINITE)
            elif not record.ended and (self.n_unsolved >= _MOST_UNSOLVED or self._waits()):
                record.stop(Status.STALLED)
            if record.ended:
                break
            x = self._level_step(x)
        return self._result()

    def _waits(self) -> bool:
        """Whether the gap has hardly fallen for long: small programs at the end of their precision."""
        history = self.record.history
        earlier = history[-_PATIENCE]["gap"] if len(history) >= _PATIENCE else np.inf
        return self.gap > 0.9 * earlier

    @property
    def gap(self) -> float:
        """(upper − lower) / |upper|, in the units of :mod:`multikernel.core.optim.loop`."""
        return relative_gap(self.upper, self.lower, self.least_size)

    def _weights(self, x: Array) -> Array:
        return self.floor + (x / self.units)[self.ties]

    def _evaluate(self, x: Array) -> bool:
        """Solve the machines at x, brought to the boundary; False if there is no solution on the way."""
        for _ in range(_RETREATS):
            x = self._to_boundary(x)
            point = self.machine(weighted_sum(self.Ks, self._weights(x)))
            if np.isfinite(point.upper):
                self.n_unsolved += point.gap > self.options.tol
                self._keep(x, point)
                return True
            if not self.duals:
                return False
            x = 0.5 * (x + self.best)  # a hard margin that is not separable there
        return False

    def _to_boundary(self, x: Array) -> Array:
        size = self.gauge.at(x / self.units)
        if self.omega.any() and size < 1.0:
            return x + (1.0 - size) * self.center
        return x / size

    def _keep(self, x: Array, point: MarginPoint) -> None:
        q = np.bincount(self.ties, point.forms(self.Ks)) / self.units
        self.forms.append(q)
        self.constants.append(point.value + 0.5 * float(q @ x))
        self.points.append(x)
        self.duals.append(point.duals)
        self.suspicious |= point.suspicious
        upper = point.upper + self._price(x)
        if upper < self.upper:
            self.best, self.upper = x, upper

    def _price(self, x: Array) -> float:
        return float(self.omega @ (x - self.center) ** 2)

    def _note(self) -> None:
        bounds = {"objective": self.upper, "lower_bound": self.lower, "gap": max(self.gap, 0.0)}
        entry = {"iteration": len(self.record.history) + 1, **bounds}
        self.record.note(entry, reached=self.gap <= self.options.tol)

    # ------------------------------------------------------------------ small programs
    def _bound(self) -> Array:
        """Where the planes (and Ω) are least over the rows; the bound of its multipliers, if it is better."""
        c, Q, R = np.array(self.constants), np.array(self.forms), self.gauge.rows / self.units
        k, size = Q.shape
        scale = _magnitude(self.upper, c, Q)
        A = np.block(
            [
                [-np.eye(size), np.zeros((size, 1))],
                [-0.5 * Q / scale, -np.ones((k, 1))],
                [R, np.zeros((len(R), 1))],
            ]
        )
        b = np.concatenate([np.zeros(size), -c / scale, np.ones(len(R))])
        P = np.diag(np.append(2.0 * self.omega / scale, 0.0))
        linear = np.append(-2.0 * self.omega * self.center / scale, 1.0)
        x, z = _solve(P, linear, A, b)
        shares, prices = np.maximum(z[size : size + k], 0.0), np.maximum(z[size + k :], 0.0) * scale
        if not (np.isfinite(z).all() and shares.sum() > 0.5):
            return self.best
        shares = shares / shares.sum()
        bound, _ = self._dual_value(float(shares @ c), shares @ Q, prices)
        if bound > self.lower:
            self.lower, self.shares, self.prices = bound, shares, prices
        return np.maximum(x[:size], 0.0)

    def _dual_value(self, constant: float, q: Array, prices: Array) -> tuple[float, Array]:
        """The bound of a plane and prices of the rows, and what the box 0 ≤ x ≤ 1 adds to it."""
        constant -= float(prices.sum())
        slope = prices @ (self.gauge.rows / self.units) - 0.5 * q
        excess = np.maximum(-slope, 0.0)
        if self.omega.any():
            x = np.maximum(self.center - slope / (2.0 * self.omega), 0.0)
            return constant + float(slope @ x) + self._price(x), np.zeros_like(excess)
        return constant - float(excess.sum()), excess

    def _level_step(self, otherwise: Array) -> Array:
        """The point nearest to the best one where all planes of J + Ω are below the level."""
        Q, R = np.array(self.forms), self.gauge.rows / self.units
        X = np.array(self.points)
        slopes = -0.5 * Q + 2.0 * self.omega * (X - self.center)
        constants = np.array(self.constants) + ((X**2 - self.center**2) * -self.omega).sum(axis=1)
        size = Q.shape[1]
        scale = _magnitude(self.upper, constants, slopes)
        level = self.lower + _LEVEL * (self.upper - self.lower)
        A = np.vstack([-np.eye(size), slopes / scale, R])
        b = np.concatenate([np.zeros(size), (level - constants) / scale, np.ones(len(R))])
        x, _ = _solve(np.eye(size), -self.best, A, b)
        x = np.where(x < _NEGLIGIBLE, 0.0, x)
        return x if np.isfinite(x).all() and x.any() else otherwise

    # ------------------------------------------------------------------ the end
    def _result(self) -> LevelResult:
        """One set of duals for the bound: the mean of those of the planes, which is at least as good."""
        if not self.duals:
            nothing = np.zeros((len(self.losses), self.Ks.shape[1]))
            weights = np.full(len(self.Ks), np.nan)
            none = np.zeros(self.units.size)
            ends = {"objective": np.inf, "gap": np.inf, **self.record.outcome}
            return LevelResult(weights, nothing, -np.inf, self.prices, none, **ends)
        duals = np.tensordot(self.shares, np.array(self.duals)[: self.shares.size], 1)
        for loss, beta in zip(self.losses, duals, strict=True):
            np.clip(beta, loss.lower, loss.upper, out=beta)  # rounding
        forms = MarginPoint(0.0, 0.0, duals).forms(self.Ks)
        q = np.bincount(self.ties, forms) / self.units
        constant = _rewards(self.losses, duals) - 0.5 * self.floor * float(forms.sum())
        prices = np.zeros(len(self.gauge.rows))
        prices[: self.prices.size] = self.prices
        bound, excess = self._dual_value(constant, q, prices)
        self.lower = max(self.lower, bound)
        ends = {"objective": self.upper, "gap": max(self.gap, 0.0), **self.record.outcome}
        return LevelResult(self._weights(self.best), duals, self.lower, prices, excess, **ends)


def _rewards(losses: Sequence[Loss], duals: Array) -> float:
    """S(β) = Σ_t y'β − ε‖β‖₁ − ½ Σ shift β²."""
    return sum(
        float(loss.target @ beta - loss.epsilon * np.abs(beta).sum() - 0.5 * loss.shift @ beta**2)
        for loss, beta in zip(losses, duals, strict=True)
    )


def _magnitude(value: float, constants: Array, slopes: Array) -> float:
    """What to divide by, so that values in the small program are of order one, whatever its slopes."""
    steepest = _STEEPEST * float(np.abs(slopes).max())
    return max(abs(value), float(np.abs(constants).max()), steepest, 1e-300)


def _solve(P: Array, c: Array, A: Array, b: Array) -> tuple[Array, Array]:
    """min ½x'Px + c'x subject to Ax ≤ b; the solution and its multipliers."""
    answer = cone.minimize(P, c, [cone.Block(A, b, cone.nonnegative(len(b)))], tol_gap_abs=1e-11)
    return answer.x, answer.multipliers[0]
