"""Kernel weights of several tasks that share which kernels they use.

    min_{ν ≥ 0, g(ν) ≤ T^(1/q)}  Σ_t J_t(ν_t),      g(ν) = (Σ_m (Σ_t ν_tm^q)^(p/q))^(1/p)

J_t(ν_t) is the optimal value of the machine of task t on Σ_m ν_tm K_m / d_m², on its own samples, with costs
d. With q = ∞ the weights are common to all tasks; with q = 1 the tasks share nothing but the budget. At equal
weights of all tasks, ν_t has the norm 1 of a single task for every q.

Each iteration solves the machines at the present weights. With r_tm = β_t'K_mβ_t / d_m² and the squared norms
a_tm = ν_tm² r_tm of the functions, the weights that minimize Σ a_tm / ν_tm over the set have a closed form:

    ν_tm ∝ u_m a_tm^(1/(q+1)) within a kernel,   u_m ∝ A_m^(1/(p+1)),   A_m = (Σ_t a_tm^(q/(q+1)))^((q+1)/q)

A step to them never raises the value. Longer steps along the same direction of log ν are tried while they
lower the value; otherwise the closed form is taken from the best point.

**Certificate.** The duals of all machines bound the value of any weights: with the reward c_t of the duals,
Σ_t c_t − ½ T^(1/q) ‖r‖*, where ‖·‖* is the dual mixed norm. Bounds of the machines include their own gaps.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Status, relative_gap
from ...core.optim.weight_sets import dual_norm
from ...core.stack.sums import quadratic_sums, weighted_sum
from ...core.svm.losses import Loss
from ...core.weights.learn import learn_weights
from ...core.weights.loop import SolveResult

_PLAIN, _LONGER, _MOST = 1.0, 1.5, 8.0  # lengths of steps: the closed form, how they grow, the limit
_INNER, _FINEST, _ROUGH = 0.1, 1e-4, 0.01  # gaps of the machines: of the present gap, and at most
_SMALL = 1e-3  # weight of a kernel, of the largest


class TaskProblem(NamedTuple):
    """One task: the kernels of its samples (n_kernels, n_t, n_t), and a loss for each of its machines."""

    Ks: Array
    losses: Sequence[Loss]


class _Point(NamedTuple):
    """Weights (n_tasks, n_kernels), the machines there, their forms and the value."""

    weights: Array
    machines: list[SolveResult]
    forms: Array
    upper: float


def _dual(q: float) -> float:
    """The exponent of the dual norm."""
    return np.inf if q == 1.0 else 1.0 if np.isinf(q) else q / (q - 1.0)


def mixed_norm(values: Array, inner: float, outer: float) -> float:
    """(Σ_m (Σ_t v_tm^inner)^(outer/inner))^(1/outer) for v ≥ 0 of shape (n_tasks, n_kernels).

    Examples
    --------
    >>> mixed_norm(np.array([[3.0, 0.0], [4.0, 2.0]]), 2.0, 1.0)
    7.0
    """
    by_kernel = np.array([dual_norm(column, _dual(inner)) for column in values.T])
    return float(dual_norm(by_kernel, _dual(outer)))


def best_weights(norms: Array, p: float, q: float) -> Array:
    """The weights ν with g(ν) = T^(1/q) that minimize Σ a_tm / ν_tm, for a ≥ 0 of shape (n_tasks, n_kernels).

    Examples
    --------
    >>> best_weights(np.array([[4.0, 1.0], [4.0, 1.0]]), 1.0, np.inf).round(3).tolist()
    [[0.667, 0.333], [0.667, 0.333]]
    """
    n_tasks = len(norms)
    norms = norms / max(float(norms.max()), 1e-300)
    share = 1.0 if np.isinf(q) else q / (q + 1.0)
    powers = norms**share
    within = powers.sum(axis=0) ** (1.0 / share)  # A_m
    outer = 0.0 if np.isinf(p) else 1.0 / (p + 1.0)
    u = np.where(within > 0.0, within, 0.0) ** outer
    u /= dual_norm(u, _dual(p))
    if np.isinf(q):
        return np.tile(u, (n_tasks, 1))
    shares = np.where(
        powers.sum(axis=0) > 0.0, powers / np.maximum(powers.sum(axis=0), 1e-300), 1.0 / n_tasks
    )
    return u * (n_tasks * shares) ** (1.0 / q)


def learn_task_weights(
    problems: Sequence[TaskProblem],
    *,
    sharing: float = 2.0,
    norm: float = 1.0,
    costs: Array | None = None,
    options: Options | None = None,
) -> list[SolveResult]:
    """Learn kernel weights for several tasks; see the module.

    Parameters
    ----------
    problems : sequence of TaskProblem
    sharing : float >= 1
        q: infinity for common weights.
    norm : float >= 1
        p: 1 leaves kernels out, for all tasks at once.
    costs : array of shape (n_kernels,), optional
    options : Options, optional

    Returns
    -------
    list of SolveResult
        One for each task, with its weights and machines. Bounds, gap, status and history are those of all
        tasks together, and the same in each.
    """
    options = options or Options()
    search = _Search(problems, float(sharing), float(norm), costs, options)
    return search.run()


class _Search:
    def __init__(
        self, problems: Sequence[TaskProblem], q: float, p: float, costs: Array | None, options: Options
    ) -> None:
        self.problems, self.q, self.p, self.options = problems, q, p, options
        n_kernels = len(problems[0].Ks)
        self.squares = np.ones(n_kernels) if costs is None else costs * costs
        self.radius = 1.0 if np.isinf(q) else len(problems) ** (1.0 / q)
        self.record = Recorder.of(options, divisible=True)
        self.lower, self.gap, self.inner = -np.inf, 1.0, _INNER
        self.starts: list[SolveResult | None] = [None] * len(problems)

    def run(self) -> list[SolveResult]:
        n_tasks, n_kernels = len(self.problems), self.squares.size
        best = self._solve(best_weights(np.ones((n_tasks, n_kernels)), self.p, self.q))
        length = _PLAIN
        while not self._note(best):
            tried = self._solve(self._step(best, length))
            if tried.upper <= best.upper:
                best, length = tried, min(length * _LONGER, _MOST)
            elif length > _PLAIN:
                length = _PLAIN
            else:  # the closed form never raises the value: the machines are not solved well enough to tell
                self.inner = max(self.inner * _INNER, _FINEST)
                best = tried
        return self._results(self._without_small(best))

    def _without_small(self, point: _Point) -> _Point:
        """The point without kernels of negligible weight, if it is as good: steps never reach 0."""
        largest = point.weights.max(axis=0)
        small = largest < _SMALL * largest.max()
        if self.p > 1.0 or not small.any():
            return point
        weights = np.where(small, 0.0, point.weights)
        pruned = self._solve(weights * (self.radius / mixed_norm(weights, self.q, self.p)))
        gap = max(relative_gap(pruned.upper, self.lower), 0.0)
        if gap > max(self.gap, self.options.tol):
            return point
        self.gap = gap
        last = {"objective": pruned.upper, "lower_bound": self.lower, "gap": gap}
        self.record.history[-1] |= last | {"n_active": int(np.count_nonzero(~small))}
        return pruned

    def _step(self, point: _Point, length: float) -> Array:
        """Along log ν towards the closed form, or beyond it, and back to the boundary of the set."""
        target = best_weights(point.weights**2 * point.forms, self.p, self.q)
        if length == _PLAIN:
            return target
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(point.weights > 0.0, target / point.weights, 0.0)
        weights = point.weights * ratio**length
        return weights * (self.radius / mixed_norm(weights, self.q, self.p))

    def _solve(self, weights: Array) -> _Point:
        """The machines at some weights; their duals bound the value everywhere."""
        tol = min(_ROUGH, self.inner * max(self.gap, self.options.tol))
        options = replace(self.options, tol=tol, callback=None)
        machines, forms = [], np.empty_like(weights)
        for t, (Ks, losses) in enumerate(self.problems):
            combined = weighted_sum(Ks, weights[t] / self.squares)[None]
            found = learn_weights(combined, losses, options=options, start=self.starts[t])
            forms[t] = quadratic_sums(Ks, found.duals.T) / self.squares
            machines.append(found)
            self.starts[t] = replace(found, weights=np.ones(1), history=[]) if not found.factors else None
        upper = float(sum(found.upper_bound for found in machines))
        if all(not found.factors for found in machines):
            rewards = [
                m.lower_bound + 0.5 * float(w @ r) for m, w, r in zip(machines, weights, forms, strict=True)
            ]
            bound = float(sum(rewards)) - 0.5 * self.radius * mixed_norm(forms, _dual(self.q), _dual(self.p))
            self.lower = max(self.lower, bound)
        return _Point(weights, machines, forms, upper)

    def _note(self, point: _Point) -> bool:
        self.gap = max(relative_gap(point.upper, self.lower), 0.0)
        entry = {
            "iteration": len(self.record.history) + 1,
            "objective": point.upper,
            "lower_bound": self.lower,
            "gap": self.gap,
            "n_active": int(np.count_nonzero(point.weights.max(axis=0) > 1e-6 * point.weights.max())),
        }
        return self.record.note(entry)

    def _results(self, point: _Point) -> list[SolveResult]:
        worst = max((machine.status for machine in point.machines), key=list(Status).index)
        status = worst if worst in (Status.INDEFINITE, Status.INSEPARABLE) else self.record.status
        return [
            replace(
                machine,
                weights=weights / self.squares,
                upper_bound=point.upper,
                lower_bound=self.lower,
                gap=self.gap,
                n_iter=self.record.n_iter,
                status=status,
                history=self.record.history if t == 0 else [],
                factors={},
            )
            for t, (machine, weights) in enumerate(zip(point.machines, point.weights, strict=True))
        ]
