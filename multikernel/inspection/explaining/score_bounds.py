"""What the duality gap says of scores: how far those of the optimum can be from those of the fitted model.

A machine with the kernel K and the loss ℓ minimizes

    P(f, b) = ½‖f‖² + Σ_i C_i ℓ_i(f(x_i) + b),     f in the space of K,

and D(β) = (linear in β) − ½‖f_β‖² is its dual, f_β = Σ_i β_i k(x_i, ·). P is strongly convex in f, with
modulus 1 and jointly with b, and D falls by at least ½‖f_β − f*‖² from its maximum, where f* is the optimum
of both:

    P(f_β, b) − P* ≥ ½‖f_β − f*‖²   and   D* − D(β) ≥ ½‖f_β − f*‖²,

so that with P* = D*

    ‖f_β − f*‖² ≤ P(f_β, b) − D(β) = gap,     |f_β(x) − f*(x)| ≤ √gap · √k(x, x) =: ε(x).

The optimal intercept minimizes Σ_i C_i ℓ_i(f*(x_i) + b). Its set of minimizers moves down where the scores
move up, as the losses are convex; so every optimal b* lies between the least minimizer for the scores f + ε
and the greatest for f − ε. With that, every optimal score at x lies in

    [f(x) − ε(x) + b_low, f(x) + ε(x) + b_high].

This is of the machine with the kernel that was learned. Learned weights on a ball of norm p > 1 are, with
q = 2p / (p + 1), the problem with ½‖f‖²_{2,q} = ½ (Σ_m ‖f_m‖^q)^{2/q} instead of ½‖f‖², which is
strongly convex with modulus q − 1 in that norm. With the gap G of both, weights and machine, therefore

    ‖f − f*‖_{2,q} ≤ √(2 G / (q − 1)),     |f(x) − f*(x)| ≤ √(2 G / (q − 1)) · (Σ_m k_m(x, x)^{q'/2})^{1/q'}

with 1/q + 1/q' = 1. For p = 1 the weights of the optimum need not be unique, and there is no such bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ...core.inputs import weigh_samples
from ...mkl.classifier import MKLClassifier
from ...mkl.regressors import MKLRegressor

_ROUNDING = 1e-9  # of the primal value: gaps below it are rounding
_AGREES = 1e-6  # of the primal value: how far the gap may be beyond that of the model


class NoBound(ValueError):
    """Why the duality gap of a model says nothing that is known here about its scores."""


@dataclass(frozen=True)
class Machine:
    """One machine on its training samples: targets, penalties, scores without intercept, dual variables."""

    target: Array
    C: Array
    scores: Array
    dual: Array
    intercept: float
    loss: str  # "hinge", "squared_hinge" or "epsilon"
    epsilon: float = 0.0

    @property
    def norm2(self) -> float:
        return float(self.dual @ self.scores)

    @property
    def primal(self) -> float:
        return 0.5 * self.norm2 + self.risk(self.scores + self.intercept)

    def risk(self, scores: Array) -> float:
        if self.loss == "epsilon":
            return float(self.C @ np.maximum(np.abs(self.target - scores) - self.epsilon, 0.0))
        slack = np.maximum(1.0 - self.target * scores, 0.0)
        return float(self.C @ slack) if self.loss == "hinge" else 0.5 * float(self.C @ (slack * slack))

    @property
    def dual_value(self) -> float:
        linear = float(self.target @ self.dual) - self.epsilon * float(np.abs(self.dual).sum())
        shift = 0.5 * float((self.dual**2 / self.C).sum()) if self.loss == "squared_hinge" else 0.0
        return linear - 0.5 * self.norm2 - shift

    @property
    def is_feasible(self) -> bool:
        """Whether the dual variables are those of some machine on these samples."""
        least = np.zeros_like(self.C) if self.loss != "epsilon" else -self.C
        most = np.inf if self.loss == "squared_hinge" else self.C
        values = self.dual if self.loss == "epsilon" else self.target * self.dual
        room = _AGREES * self.C
        balanced = abs(self.dual.sum()) <= _AGREES * max(float(np.abs(self.dual).sum()), 1e-300)
        return balanced and bool(np.all((values >= least - room) & (values <= most + room)))

    @property
    def gap(self) -> float:
        """P − D, at least what rounding may have taken away."""
        primal = self.primal
        return max(primal - self.dual_value, _ROUNDING * abs(primal))

    def intercepts(self, room: Array) -> tuple[float, float]:
        """The least and the greatest optimal intercept for scores within ``room`` of these."""
        return self._minimizers(self.scores + room)[0], self._minimizers(self.scores - room)[1]

    def _minimizers(self, scores: Array) -> tuple[float, float]:
        """The ends of the interval of intercepts that minimize the risk of some scores."""
        if self.loss == "squared_hinge":
            return _roots(self.target, self.C, scores)
        if self.loss == "hinge":
            points, weights, level = self.target - scores, self.C, self.C[self.target > 0.0].sum()
        else:
            rest = self.target - scores
            points = np.concatenate([rest - self.epsilon, rest + self.epsilon])
            weights, level = np.concatenate([self.C, self.C]), self.C.sum()
        order = np.argsort(points, kind="stable")
        slope = np.concatenate([[0.0], np.cumsum(weights[order])]) - level  # left of each point, then beyond
        rounding = 1e-12 * max(float(level), 1e-300)
        low = int(np.searchsorted(slope[1:], -rounding))  # the first point beyond which no slope is negative
        high = int(np.searchsorted(slope[1:], rounding, side="right"))
        ends = points[order]
        return (
            float(ends[low]) if slope[0] < -rounding else -np.inf,
            float(ends[high]) if high < ends.size else np.inf,
        )


def _roots(target: Array, C: Array, scores: Array) -> tuple[float, float]:
    """Where the slope in b of Σ (C_i / 2) [1 − y_i (f_i + b)]₊² is 0, by bisection from outside."""

    def slope(b: float) -> float:
        return -float((C * target) @ np.maximum(1.0 - target * (scores + b), 0.0))

    points = target - scores
    low, high = float(points.min()), float(points.max())
    ends = []
    for at_most in (False, True):  # the last b with a slope below 0, the first with one above 0
        a, b = low - 1.0, high + 1.0
        for _ in range(200):
            middle = 0.5 * (a + b)
            below = slope(middle) <= 0.0 if at_most else slope(middle) < 0.0
            a, b = (middle, b) if below else (a, middle)
        ends.append(b if at_most else a)
    return ends[0], ends[1]


@dataclass(frozen=True, eq=False)
class ScoreBounds:
    """Bounds of the scores of the optimum, (n_samples, n_machines) each.

    ``low`` and ``high`` are of the optimum with the kernel that was learned; ``joint_low`` and ``joint_high``
    of the optimum over weights and machines together, NaN where there is no bound.
    """

    low: Array
    high: Array
    joint_low: Array
    joint_high: Array


def score_bounds(final: Any, X: Any, scores: Array, X_train: Any, y_train: Any) -> ScoreBounds:
    """Bounds for the scores, without intercept, of samples; from the samples that the model was fitted to."""
    _check_kind(final)
    X_train = final._validate_table(X_train, reset=False)
    machines = _machines(final, X_train, np.asarray(y_train).ravel())
    bank = final._fitted.bank
    own, of_train = bank.self_similarities(X), bank.self_similarities(X_train)
    low, high, joint_low, joint_high = (np.full(scores.shape, np.nan) for _ in range(4))
    exponent = _joint_exponent(final, bank)
    group_gaps = _group_gaps(final, machines)
    for k, machine in enumerate(machines):
        weights = final.machine_weights_[k]
        radius = np.sqrt(machine.gap)
        room, of_own = (radius * np.sqrt(np.maximum(part @ weights, 0.0)) for part in (of_train, own))
        low[:, k], high[:, k] = _around(machine, scores[:, k], room, of_own)
        if exponent is not None:
            radius = np.sqrt(2.0 * group_gaps[k] / (exponent - 1.0))
            room, of_own = (radius * _dual_norm(part, exponent) for part in (of_train, own))
            joint_low[:, k], joint_high[:, k] = _around(machine, scores[:, k], room, of_own)
    return ScoreBounds(low, high, joint_low, joint_high)


def _around(machine: Machine, scores: Array, room: Array, own: Array) -> tuple[Array, Array]:
    b_low, b_high = machine.intercepts(room)
    return scores - own + b_low, scores + own + b_high


def _dual_norm(diagonals: Array, q: float) -> Array:
    """(Σ_m k_m(x, x)^{q'/2})^{1/q'} with 1/q + 1/q' = 1."""
    other = q / (q - 1.0)
    roots = np.sqrt(np.maximum(diagonals, 0.0))
    top = roots.max(axis=1, keepdims=True)
    scaled = roots / np.where(top > 0.0, top, 1.0)
    return np.asarray(top[:, 0] * np.sum(scaled**other, axis=1) ** (1.0 / other))


def _joint_exponent(final: Any, bank: Any) -> float | None:
    """q of the norm that learned weights stand for; None where it is not strongly convex, or has bounds."""
    p = float(final.norm)
    if p <= 1.0 or final.costs is not None or getattr(final, "kept_views_", []):
        return None
    if len(bank.active_) < len(final.view_names_):  # what is left out of the model has no diagonal here
        return None
    return 2.0 if np.isinf(p) else 2.0 * p / (p + 1.0)


def _group_gaps(final: Any, machines: list[Machine]) -> list[float]:
    """The gap of weights and machines together, of the machines that have their weights in common."""
    primals = [machine.primal for machine in machines]
    if getattr(final, "multiclass", "ovr") == "shared":
        primals = [sum(primals)] * len(machines)
    return [max(final.dual_gap_, _ROUNDING) * primal for primal in primals]


# ------------------------------------------------------------------ the machines of a model
def _check_kind(final: Any) -> None:
    name = type(final).__name__
    if type(final) not in (MKLClassifier, MKLRegressor):
        raise NoBound(f"bounds of scores are of MKLClassifier and MKLRegressor; {name} has none here.")
    if not hasattr(final, "dual_coef_") or final.gram_ != "dense" or final.missing_ != "error":
        raise NoBound(
            "bounds of scores are of models on dense Gram matrices without missing views; this one has "
            f"gram_={final.gram_!r} and missing_={final.missing_!r}."
        )
    if final._precomputed:
        raise NoBound("bounds of scores need k(x, x) of each sample, which precomputed kernels do not say.")
    if final.kernel_factors_:
        raise NoBound("bounds of scores need dual variables; some kernels of this model predict by factors.")
    if isinstance(final, MKLClassifier):
        several = final.classes_.size > 2 and final.multiclass not in ("ovr", "shared")
        if several or isinstance(final.C, str) or not np.isfinite(final.C):
            raise NoBound(
                "bounds of scores are of binary models, multiclass='ovr' and 'shared' with a finite C; got "
                f"multiclass={final.multiclass!r}, C={final.C!r}."
            )


def _machines(final: Any, X_train: Any, y: Array) -> list[Machine]:
    scores = final._scores(X_train)
    if len(y) != len(scores):
        raise ValueError(f"y_train must have an entry for each of the {len(scores)} samples; got {len(y)}.")
    if final.support_.size and final.support_.max() >= len(scores):
        raise ValueError(
            f"X_train must hold the samples that the model was fitted to, {final.support_.max() + 1} at "
            f"least; got {len(scores)}."
        )
    machines = []
    for k in range(scores.shape[1]):
        dual = np.zeros(len(scores))
        dual[final.support_] = final.dual_coef_[k]
        target, C, loss, epsilon = _problem(final, y, k)
        machines.append(Machine(target, C, scores[:, k], dual, float(final.intercept_[k]), loss, epsilon))
    allowed = (final.dual_gap_ + _AGREES) * sum(machine.primal for machine in machines)
    for machine in machines:
        if not machine.is_feasible or machine.primal - machine.dual_value > allowed:
            raise NoBound(
                "X_train and y_train do not give the duality gap of the model: they are not the samples that "
                "it was fitted to, in their order, or these had sample_weight, which bounds do not know."
            )
    return machines


def _problem(final: Any, y: Array, k: int) -> tuple[Array, Array, str, float]:
    """Target, penalties, loss and epsilon of a machine."""
    if isinstance(final, MKLRegressor):
        return y.astype(float), np.full(y.size, float(final.C_)), "epsilon", float(final.epsilon_)
    codes = np.searchsorted(final.classes_, y)
    weights = weigh_samples(final.class_weight, final.classes_, codes, None)
    target = np.where(codes == (1 if final.classes_.size == 2 else k), 1.0, -1.0)
    return target, final.C_[k] * weights, final.loss, 0.0
