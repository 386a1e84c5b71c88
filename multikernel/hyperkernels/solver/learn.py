"""Machines and their common kernel, by cutting planes.

    min_{v ∈ cone}  c/2 ‖v‖² + Σ_l J_l(v),   J_l(v) = max_β  Σ_i y_i β_i − ε ‖β‖₁ − ½ β'K(v)β

over v = Σ_p β_p F_p, β_p ≥ 0 (:mod:`.harmonic`) and the feasible duals β of each machine. Any duals are a
plane below J: Σ J_l(v) ≥ e − v's. The next v minimizes the greatest of the planes with the penalty, a small
quadratic program over some pairs p; further pairs are added where it would fall (the price of a pair is a
number that is computed for all n² pairs). Then the machines are solved at the new v.

The certificate is a duality gap that holds whatever the program returned. Above: the primal value of the
machines at v. Below, for weights w ≥ 0 of sum 1 of the planes, e = Σ w e, s = Σ w s, ρ = s − c v and the
largest price δ = max(0, max_p ρ'F_p) over all pairs,

    c/2 ‖v'‖² + Σ J_l(v') ≥ e − c/2 ‖v‖² − δ v_00 / φ_0 − δ² / (2 c φ_0²)    for every v' in the cone,

since e − s'v' + c/2 ‖v'‖² = e − c/2 ‖v‖² − ρ'v' + c/2 ‖v' − v‖², and ρ'v' = Σ β_p ρ'F_p ≤ δ Σ β_p, which
is δ v'_00 / φ_0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from ...core.optim.cone import Block, minimize, nonnegative, zero
from ...core.optim.loop import Options, Recorder, Result, Status, is_over, relative_gap
from ...core.svm.losses import Loss
from ...core.weights.learn import learn_weights
from .harmonic import Harmonic

_FIRST_PAIRS = 20
_PRICINGS = 30  # of one program
_PRICE = 1e-3  # of the tolerance: what prices may cost of the lower bound
_MACHINE = 0.03  # of the tolerance: that of the machines


@dataclass(frozen=True, eq=False)
class HyperkernelResult(Result):
    """The kernel and its machines: ``objective`` is the primal value, ``gap`` relative to it."""

    v: Array
    duals: Array  # (n_machines, n)
    intercepts: Array
    lower_bound: float
    suspicious: bool


@dataclass(frozen=True, eq=False)
class _Point:
    """The machines at a v: their plane, and the primal value with the penalty."""

    v: Array
    duals: Array
    intercepts: Array
    offset: float  # e
    slope: Array  # s
    primal: float
    suspicious: bool


def learn_hyperkernel(
    base: Harmonic, losses: Sequence[Loss], penalty: float, options: Options
) -> HyperkernelResult:
    """Learn a kernel that machines with these losses share.

    Parameters
    ----------
    base : Harmonic
    losses : sequence of Hinge or EpsilonInsensitive
    penalty : float, c
    options : Options

    Examples
    --------
    >>> from multikernel.core.svm.losses import Hinge
    >>> x = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> base = Harmonic(np.exp(-np.subtract.outer(x, x) ** 2)[None], 0.6)
    >>> learn_hyperkernel(base, [Hinge(np.sign(x), 1.0)], 4.0, Options()).gap < 1e-3
    True
    """
    record, planes = Recorder.of(options), _Planes(base, penalty, options.tol)
    one = base.features(np.zeros(1, int))[0]  # the pair of a sample with itself
    best = _solve_machines(base, losses, penalty, one / base.kernel(one)[0, 0], options)
    lower = -np.inf
    planes.add(best)
    for iteration in range(1, options.max_iter + 1):
        v, below = planes.minimum(abs(best.primal))
        lower = max(lower, below)
        here = _solve_machines(base, losses, penalty, v, options)
        planes.add(here)
        best = here if here.primal < best.primal else best
        gap = max(relative_gap(best.primal, lower), 0.0)
        entry = {"iteration": iteration, "objective": best.primal, "lower_bound": lower, "gap": gap}
        entry["n_active"] = float(np.count_nonzero(best.v.reshape(len(base.Us), -1).any(axis=1)))
        if record.note(entry):
            break
        if planes.is_stuck:
            record.stop(Status.STALLED)
            break
    return HyperkernelResult(
        objective=best.primal,
        gap=gap,
        v=best.v,
        duals=best.duals,
        intercepts=best.intercepts,
        lower_bound=lower,
        suspicious=best.suspicious,
        **record.outcome,
    )


def _solve_machines(
    base: Harmonic, losses: Sequence[Loss], penalty: float, v: Array, options: Options
) -> _Point:
    K = base.kernel(v)
    found = learn_weights(K[None], losses, options=Options(tol=_MACHINE * options.tol))
    beta = found.duals
    primal, offset = 0.5 * penalty * float(v @ v), 0.0
    intercepts = []
    for loss, own in zip(losses, beta, strict=True):
        scores = K @ own
        risk, intercept = loss.risk(scores)
        primal += 0.5 * float(own @ scores) + risk
        offset += float(loss.target @ own - loss.epsilon * np.abs(own).sum())
        intercepts.append(intercept)
    slope = base.norms(beta)
    return _Point(v, beta, np.array(intercepts), offset, slope, primal, found.suspicious)


class _Planes:
    """The greatest of the planes with the penalty, over the pairs that are in use."""

    def __init__(self, base: Harmonic, penalty: float, tol: float) -> None:
        self.base, self.penalty, self.tol = base, penalty, tol
        first = np.unique(np.linspace(0, base.n**2 - 1, _FIRST_PAIRS).astype(int))
        self.pairs = [0, *first[first > 0].tolist()]
        self.offsets: list[float] = []
        self.slopes: list[Array] = []
        self.is_stuck = False

    def add(self, point: _Point) -> None:
        """One more plane."""
        self.offsets.append(point.offset)
        self.slopes.append(point.slope)

    def minimum(self, size: float) -> tuple[Array, float]:
        """The v of the least value over all pairs, and a lower bound of the problem."""
        best = -np.inf
        allowed = _PRICE * self.tol * size
        for _ in range(_PRICINGS):
            v, weights = self._over_pairs()
            offset = float(weights @ self.offsets)
            left = weights @ np.array(self.slopes) - self.penalty * v
            prices = self.base.kernel(left).ravel()
            dearest = int(prices.argmax())
            price, first = max(float(prices[dearest]), 0.0), float(self.base.roots[0])
            cost = price * v[0] / first + price**2 / (2.0 * self.penalty * first**2)
            best = max(best, offset - 0.5 * self.penalty * float(v @ v) - cost)
            if cost <= allowed or dearest in self.pairs or is_over():  # each pricing reads all powers
                break
            self.pairs.append(dearest)
        return v, best

    def _over_pairs(self) -> tuple[Array, Array]:
        """min c/2 ‖F'β‖² + θ over β ≥ 0 and θ ≥ e − s'F'β of each plane; v, and weights of the planes."""
        F = self.base.features(np.array(self.pairs))
        values, axes = np.linalg.eigh(F.T @ F)
        kept = axes[:, values > 1e-14 * values[-1]]  # what the pairs span
        Z, S = F @ kept, np.array(self.slopes) @ kept
        n_pairs, q = Z.shape
        unit = max(float(np.abs(self.offsets).max()), np.finfo(float).tiny)
        scale = np.sqrt(unit / self.penalty)  # of v, so that both terms are of size one
        P = np.zeros((n_pairs + q + 1,) * 2)
        P[n_pairs : n_pairs + q, n_pairs : n_pairs + q] = np.eye(q)
        objective = np.zeros(n_pairs + q + 1)
        objective[-1] = 1.0
        of_span = np.column_stack([Z.T, -np.eye(q), np.zeros(q)])
        of_planes = np.column_stack([np.zeros((len(S), n_pairs)), -S * scale / unit, -np.ones(len(S))])
        blocks = [
            Block(of_span, np.zeros(q), zero(q)),
            Block(-np.eye(n_pairs, n_pairs + q + 1), np.zeros(n_pairs), nonnegative(n_pairs)),
            Block(of_planes, -np.array(self.offsets) / unit, nonnegative(len(S))),
        ]
        answer = minimize(P, objective, blocks)
        if not answer.is_finite:
            self.is_stuck = True
            return self.base.features(np.zeros(1, int))[0], np.full(len(S), 1.0 / len(S))
        weights = np.maximum(answer.multipliers[2], 0.0)
        beta = scale * np.maximum(answer.x[:n_pairs], 0.0)
        return beta @ F, weights / weights.sum()
