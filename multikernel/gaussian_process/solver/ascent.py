"""Newton's steps on an evidence L(θ) over θ ≥ lower, by a positive semidefinite model of its curvature.

Each step maximizes the model over the feasible set, as a nonnegative least squares problem:

    max_d  g'd − ½ d'(H + μ diag H) d,   θ + d ≥ lower,

so that weights reach their bound exactly, and leave it again. μ grows until the evidence rises by a tenth of
what the model says, and shrinks after a success: the evidence never falls. The certificate is what the model
(with μ = 0) says that the evidence would rise by, in nats a sample; it is 0 where, and only where, the
first-order conditions hold: g = 0 for weights above their bound, g ≤ 0 for those at it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import nnls

from ..._typing import Array
from ...core.optim.loop import ENDED_EARLY, Options, Recorder, Result, Status, is_over, reason_to_stop

_RIDGE = 1e-12  # of the mean curvature
_ENOUGH = 0.1  # share of the rise that the model says
_TRIALS = 30
_LEAST_DAMPING, _MOST_DAMPING = 1e-6, 1e12
_ROUNDING = 1e-13  # of the evidence: rises below it cannot be told from none


class Evidence(Protocol):
    """What is maximized. A state is what an evaluation leaves for the derivatives, and for the model."""

    n: int
    n_kernels: int

    def evaluate(self, theta: Array, near: Any = None) -> tuple[float, Any]:
        """L(θ) and its state; ``near`` is the state at a point close by. Raises LinAlgError where there is
        none."""

    def derivatives(self, theta: Array, state: Any) -> tuple[Array, Array]:
        """The gradient of L, and a positive semidefinite model of minus its curvature."""


@dataclass(frozen=True, eq=False)
class EvidenceResult(Result):
    """The point of largest evidence that was found: ``objective`` is L there, ``gap`` the certificate."""

    theta: Array
    state: Any


def maximize_evidence(
    evidence: Evidence, starts: Sequence[Array], lower: Array, options: Options
) -> EvidenceResult:
    """The best of the ascents from several starts (each θ); the history is that of all, numbered by start."""
    best: EvidenceResult | None = None
    history: list[dict[str, Any]] = []
    for number, start in enumerate(starts):
        found = _ascend(evidence, np.maximum(start, lower), lower, options)
        history += [{**entry, "start": number} for entry in found.history]
        if best is None or found.objective > best.objective:
            best = found
        if found.status in ENDED_EARLY:
            break
    assert best is not None
    kept = {name: value for name, value in vars(best).items() if name != "history"}
    return EvidenceResult(**kept, history=history)


def _ascend(evidence: Evidence, theta: Array, lower: Array, options: Options) -> EvidenceResult:
    record, damping = Recorder.of(options), _LEAST_DAMPING
    value, state = evidence.evaluate(theta)
    iteration = 0
    while True:
        slope, curvature = evidence.derivatives(theta, state)
        promised = _step(theta, lower, slope, curvature, 0.0)[1]
        gap = promised / evidence.n
        entry = {"iteration": iteration, "objective": value, "gap": gap}
        entry["n_active"] = float(np.count_nonzero(theta[: evidence.n_kernels]))
        if record.note(entry):
            break
        found = _improved(evidence, theta, lower, value, state, slope, curvature, damping)
        if found is None:
            is_level = promised <= _ROUNDING * abs(value)
            record.stop(Status.OPTIMAL if is_level else reason_to_stop() or Status.STALLED)
            break
        theta, value, state, damping = found
        iteration += 1
    outcome = {**record.outcome, "n_iter": max(1, record.n_iter)}
    return EvidenceResult(objective=value, gap=gap, theta=theta, state=state, **outcome)


def _improved(
    evidence: Evidence,
    theta: Array,
    lower: Array,
    value: float,
    state: Any,
    slope: Array,
    curvature: Array,
    damping: float,
) -> tuple[Array, float, Any, float] | None:
    """A better point, and the damping to go on with; None where there is none within the trials."""
    for _ in range(_TRIALS):
        there, promised = _step(theta, lower, slope, curvature, damping)
        try:
            higher, state_there = evidence.evaluate(there, state)
        except LinAlgError:
            higher = -np.inf
        if np.isfinite(higher) and higher > value and higher - value >= _ENOUGH * promised:
            return there, higher, state_there, max(damping / 10.0, _LEAST_DAMPING)
        damping *= 4.0
        if damping > _MOST_DAMPING or is_over():
            break
    return None


def _step(theta: Array, lower: Array, slope: Array, curvature: Array, damping: float) -> tuple[Array, float]:
    """The best point of the model over the feasible set, and the rise that the model promises there."""
    H = curvature.copy()
    sizes = np.diagonal(curvature)
    unit = max(float(sizes.mean()), np.finfo(float).tiny)
    H.flat[:: len(H) + 1] += damping * sizes + _RIDGE * unit + damping * _RIDGE * unit
    roots = np.sqrt(np.diagonal(H))
    factor = np.linalg.cholesky(H / np.outer(roots, roots)).T
    pull = (slope + H @ (theta - lower)) / roots
    x, _ = nnls(factor, np.linalg.solve(factor.T, pull), maxiter=100 * len(H))
    there = lower + x / roots
    move = there - theta
    return there, max(float(slope @ move - 0.5 * move @ H @ move), 0.0)
