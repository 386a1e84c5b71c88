"""A margin machine with a logarithmic penalty on the share of each kernel in it.

    min_{w, b}  F(w) = ½ G(t)² + Σ_t risk_t,      t_m = ‖w_m‖,   T = Σ_m t_m,
    G(t) = T Σ_m φ(t_m/T),      φ(s) = log(1 + s/e) / log(1 + 1/e)

φ is concave with φ(0) = 0 and φ(1) = 1: G is T where one kernel does everything, and more where several do. G
is concave and of degree one, so that it is below its tangent d't, d = ∇G, at every t, and

    F(w)  ≤  ½ (Σ_m d_m ‖w_m‖)² + Σ_t risk_t

with equality at the point itself. The right side is multiple kernel learning with the costs d_m, so that F
never rises. F less a lower bound of the right side tells how far the point is from stationary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..._typing import Array
from ...core.optim.gaps import relative_gap, value_floor
from ...core.optim.loop import Options, Recorder, Result, Status
from ...core.stack.sums import mean_diagonals, quadratic_sums
from ...core.svm.losses import Loss
from ...core.svm.result import SolveResult
from ...core.weights.learn import learn_weights


@dataclass(frozen=True, eq=False)
class LogPenaltyResult(Result):
    """A stationary point.

    Attributes
    ----------
    weights : array (n_kernels,): the machine is that of the kernel Σ_m weights_m K_m
    duals : array (n_machines, n)
    norms : array (n_kernels,), ‖w_m‖
    objective : float, F
    gap : float, stationarity; see the module
    n_iter : int, convex problems
    status : Status
    history : list of dict with iteration, objective, gap; the objective never rises
    """

    weights: Array
    duals: Array
    norms: Array


class _Point(NamedTuple):
    found: SolveResult
    norms: Array
    risk: float


def learn_log_penalty(Ks: Array, losses: Sequence[Loss], e: float, options: Options) -> LogPenaltyResult:
    """Descend from the solution for the plain norm.

    Parameters
    ----------
    Ks : array (n_kernels, n, n), never modified and never copied
    losses : sequence of Loss, one for each machine
    e : float
        The share of a kernel beyond which it costs little more.
    options : Options
        ``tol`` for the gap, ``max_iter`` convex problems.

    Examples
    --------
    >>> from multikernel.criteria import Hinge
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([-1.0, -1.0, 1.2, 1.0])
    >>> found = learn_log_penalty(np.stack([np.outer(x, x), np.outer(z, z)]), [Hinge(y, 1.0)], 0.1, Options())
    >>> found.norms.round(2).tolist(), found.gap <= 1e-3
    ([0.0, 1.0], True)
    """
    inner = replace(options, tol=0.1 * options.tol, max_iter=300, callback=None)
    here = _point(Ks, learn_weights(Ks, losses, options=inner))
    floor = value_floor(losses, mean_diagonals(Ks))
    record, gap = Recorder(options.tol, callback=options.callback), np.inf
    for iteration in range(options.max_iter):
        value = _value(here, e)
        _, costs = share_penalty(here.norms, e)
        there = _point(Ks, learn_weights(Ks, losses, costs=costs, options=inner, start=here.found))
        gap = max(relative_gap(value, there.found.lower_bound, floor), 0.0)
        if record.note({"iteration": iteration + 1, "objective": value, "gap": gap}):
            break
        if _value(there, e) >= value:
            record.stop(Status.STALLED)  # the inner solver is not precise enough
            break
        here = there
    found = here.found
    return LogPenaltyResult(
        found.weights, found.duals, here.norms, objective=_value(here, e), gap=gap, **record.outcome
    )


def share_penalty(norms: Array, e: float) -> tuple[float, Array]:
    """G and its gradient; at 0, that of equal shares.

    Examples
    --------
    >>> value, slopes = share_penalty(np.array([2.0, 0.0]), 0.1)
    >>> round(value, 9), slopes.round(3).tolist()
    (2.0, [1.0, 4.791])
    """
    total = float(norms.sum())
    shares = norms / total if total > 0.0 else np.full(norms.size, 1.0 / norms.size)
    unit = np.log1p(1.0 / e)
    parts = np.log1p(shares / e) / unit
    slopes = 1.0 / ((e + shares) * unit)
    return total * float(parts.sum()), slopes + float(parts.sum() - slopes @ shares)


def _point(Ks: Array, found: SolveResult) -> _Point:
    """The norms of the parts and the risk of a solution."""
    q = np.maximum(quadratic_sums(Ks, np.ascontiguousarray(found.duals.T)), 0.0)
    return _Point(found, found.weights * np.sqrt(q), found.upper_bound - 0.5 * float(found.weights @ q))


def _value(point: _Point, e: float) -> float:
    return 0.5 * share_penalty(point.norms, e)[0] ** 2 + point.risk
