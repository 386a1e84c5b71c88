"""A margin machine with a logarithmic penalty on the norm of its part in each kernel.

    min_{w, b}  F(w) = ½ G(w)² + Σ_t risk_t,      G = Σ_m h(‖w_m‖),   h(t) = e log(1 + t/e)

At norms t_m the tangents d_m = h'(t_m) = 1/(1 + t_m/e) give h(‖w_m‖) ≤ h(t_m) + d_m(‖w_m‖ − t_m), and with
A = Σ d_m t_m, for all w, since (a + c)² ≤ a²/τ + c²/(1 − τ) for 0 < τ < 1, here τ = A/G,

    F(w)  ≤  ½ (Σ_m d_m √(G/A) ‖w_m‖)² + Σ_t risk_t + ½ G (G − A),

with equality at the point itself. The right side is multiple kernel learning with the costs d_m √(G/A), so
that F never rises. F less a lower bound of the right side tells how far the point is from stationary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..combine.stack_sums import quadratic_sums
from ..criteria import Loss
from .learn import learn_weights
from .options import Options
from .result import SolveResult, Status

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class LogPenaltyResult:
    """A stationary point.

    Attributes
    ----------
    weights : array (n_kernels,): the machine is that of the kernel Σ_m weights_m K_m
    duals : array (n_machines, n)
    norms : array (n_kernels,), ‖w_m‖
    scale : float, e
    objective : float, F
    gap : float, stationarity; see the module
    n_iter : int, convex problems
    status : Status
    history : list of dict with iteration, objective, gap; the objective never rises
    """

    weights: Array
    duals: Array
    norms: Array
    scale: float
    objective: float
    gap: float
    n_iter: int
    status: Status
    history: list[dict[str, float]] = field(default_factory=list)


class _Point(NamedTuple):
    found: SolveResult
    norms: Array
    risk: float


def learn_log_penalty(Ks: Array, losses: Sequence[Loss], scale: float, options: Options) -> LogPenaltyResult:
    """Descend from the solution for the plain norm.

    Parameters
    ----------
    Ks : array (n_kernels, n, n), never modified and never copied
    losses : sequence of Loss, one for each machine
    scale : float
        e in units of Σ_m ‖w_m‖ at the start.
    options : Options
        ``tol`` for the gap, ``max_iter`` convex problems.

    Examples
    --------
    >>> from multikernel.criteria import Hinge
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([-1.0, -1.0, 1.2, 1.0])
    >>> found = learn_log_penalty(np.stack([np.outer(x, x), np.outer(z, z)]), [Hinge(y, 1.0)], 0.1, Options())
    >>> found.norms.round(2).tolist(), found.history[-1]["objective"] <= found.history[0]["objective"]
    ([0.0, 1.0], True)
    """
    inner = replace(options, tol=0.1 * options.tol, max_iter=300, callback=None)
    here = _point(Ks, learn_weights(Ks, losses, options=inner))
    e = scale * float(here.norms.sum())
    if e == 0.0:  # no machine uses any kernel
        return _result(here, 1.0, here.found.gap, here.found.status, [])
    history: list[dict[str, float]] = []
    status, gap = Status.MAX_ITER, np.inf
    for iteration in range(options.max_iter):
        G, A, tangents = _penalty(here.norms, e)
        value = _value(here, e)
        costs = tangents * np.sqrt(G / A)
        there = _point(Ks, learn_weights(Ks, losses, costs=costs, options=inner, start=here.found))
        bound = there.found.lower_bound + 0.5 * G * (G - A)
        gap = max(value - bound, 0.0) / max(abs(value), np.finfo(float).tiny)
        history.append({"iteration": iteration + 1, "objective": value, "gap": gap})
        if gap <= options.tol:
            status = Status.OPTIMAL
        elif options.callback and options.callback(history[-1]):
            status = Status.INTERRUPTED
        elif _value(there, e) >= value:
            status = Status.STALLED  # the inner solver is not precise enough
        if status != Status.MAX_ITER:
            break
        here = there
    return _result(here, e, gap, status, history)


def _point(Ks: Array, found: SolveResult) -> _Point:
    """The norms of the parts and the risk of a solution."""
    q = np.maximum(quadratic_sums(Ks, np.ascontiguousarray(found.duals.T)), 0.0)
    return _Point(found, found.weights * np.sqrt(q), found.upper_bound - 0.5 * float(found.weights @ q))


def _penalty(norms: Array, e: float) -> tuple[float, float, Array]:
    """G, A and the tangents."""
    tangents = 1.0 / (1.0 + norms / e)
    return float(e * np.log1p(norms / e).sum()), float(tangents @ norms), tangents


def _value(point: _Point, e: float) -> float:
    return 0.5 * _penalty(point.norms, e)[0] ** 2 + point.risk


def _result(
    here: _Point, e: float, gap: float, status: Status, history: list[dict[str, float]]
) -> LogPenaltyResult:
    found = here.found
    return LogPenaltyResult(
        found.weights, found.duals, here.norms, e, _value(here, e), gap, max(len(history), 1), status, history
    )
