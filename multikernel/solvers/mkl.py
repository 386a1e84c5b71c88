"""Learning kernel weights: one outer loop for every loss, weight set and number of tasks.

    min_{μ in M}  Σ_t J_t(μ),   J_t(μ) = max_β  y_t'β − ε‖β‖₁ − ½ β'(Σ_m μ_m K_m + diag(shift))β

Each iteration solves the machines at the current weights (only as far as the outer loop can use), computes
q_m = Σ_t β_t'K_mβ_t, and takes a Newton step in μ; the dual variables are moved along with it, so that the
next solve starts nearly optimal. Kernels that are far from active are left out (a working set) and looked at
again before the solver says that it is done. A quarter of the samples is solved first, which finds the active
kernels for a few per cent of the cost.

Certificate, at any (μ, β): the primal value P(μ, β) is an upper bound of the optimum, and
Σ reward − ½ support(q) − ½ Σ shift β² a lower one (minimum over μ of the plane that β gives). The loop stops
when (P − L)/|P| ≤ tol for the weights and duals that it returns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..combine.linear import WeightedStack
from ..combine.weight_sets import LpBall
from ..criteria.margin import HardMargin, Loss, SquaredError
from .bundle import Planes, level_step, lower_bound, null_step
from .free_system import Sensitivity
from .machine import CROSSED_BOUNDS, NEGATIVE_CURVATURE, Machine, RidgeMachine, Values
from .result import Status
from .simplex_qp import minimize_model

Array = np.ndarray[Any, np.dtype[Any]]

COARSE_GAP = 2e-2
WORKING_MARGIN = 0.3  # kernels with q below (1 − margin) of the largest are left out
_EARLY_CHECK = 0.05
_MOST_NULL_STEPS = 30
_MOST_POLISHING = 12
_PATIENCE = 5  # stalls or null steps in a row before the level method takes over
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Options:
    """Numerics of the outer loop: nothing here changes the problem.

    Attributes
    ----------
    tol : relative duality gap to reach
    max_iter : outer iterations
    max_steps : steps of one inner solve
    coarse : whether to start on a part of the samples
    rough : stop on the best bounds seen, though no one pair of weights and duals attains both
    seed : of the choice of that part
    callback : called after each iteration with the newest entry of the history; True stops the solver
    """

    tol: float = 1e-3
    max_iter: int = 300
    max_steps: int = 10**7
    coarse: bool = True
    rough: bool = False
    seed: int = 0
    callback: Callable[[dict[str, float]], bool | None] | None = None


class _Center(NamedTuple):
    """Where the last Newton step started, what it expected, and the Hessian of which kernels it used."""

    mu: Array
    upper: float
    slope: float
    hessian: Array
    kernels: Array


class WeightLearner:
    """The outer loop's state; see the module. Kernels and losses are already scaled to order one."""

    def __init__(
        self, stack: WeightedStack, losses: Sequence[Loss], weight_set: LpBall, options: Options
    ) -> None:
        self.stack, self.weight_set, self.options = stack, weight_set, options
        kind = RidgeMachine if isinstance(losses[0], SquaredError) else Machine
        self.machines = [kind(loss, stack, options.max_steps) for loss in losses]
        self.n_kernels = stack.n_kernels
        self.fixed = self.n_kernels == 1 or np.isinf(weight_set.p)
        self.q = np.full(self.n_kernels, -np.inf)
        self.working = np.ones(self.n_kernels, bool)
        self.mu = weight_set.center(self.n_kernels)
        self.target = 0.5 * options.tol if self.fixed else 0.02
        self.best_upper, self.best_lower = np.inf, -np.inf
        self.best_mu = self.mu
        self.planes = Planes()
        self.history: list[dict[str, float]] = []
        self.rest_checked = False
        self.level_mode = False
        self.n_null = self.n_stalled = 0
        self.previous_gap, self.least_dual = np.inf, np.inf
        self.fineness, self.n_polished = 1.0, 0
        self.exact = False
        self.center: _Center | None = None

    # ------------------------------------------------------------------ the loop
    def run(self) -> Status:
        """Iterate until the gap is small enough; the results stay in the attributes."""
        self.stack.set_weights(self.mu)
        for machine in self.machines:
            if machine.beta.any():
                machine.refresh(np.flatnonzero(self.working))
            machine.rebuild_gradient()
        for iteration in range(1, self.options.max_iter + 1):
            values = self._solve()
            values = self._evaluate(values)
            stop = self._record()
            if self._is_indefinite():
                return Status.INDEFINITE
            if self.gap <= self.options.tol:
                return Status.OPTIMAL
            if self.options.rough and self._relative(self.best_upper, self.best_lower) <= self.options.tol:
                return Status.OPTIMAL
            if stop:
                return self._leave(values, Status.INTERRUPTED)
            if iteration == self.options.max_iter:
                break
            if not self._step(values):
                return self._leave(values, Status.STALLED)
            if self.gap <= self.options.tol:  # the level method certifies without another solve
                return Status.OPTIMAL
        return self._leave(values, Status.MAX_ITER)

    def _leave(self, values: list[Values], status: Status) -> Status:
        """Stop short of the optimum: with the best weights seen, and their own gap over all the kernels."""
        self.working[:] = True
        if sum(v.primal.value for v in values) > self.best_upper:
            self._restart_at(self.best_mu)
            values = self._solve()
        self._certify(values)
        return Status.OPTIMAL if self.gap <= self.options.tol else status

    def _solve(self) -> list[Values]:
        if isinstance(self.machines[0], RidgeMachine):
            factor = self.stack.factor()
            for machine in self.machines:
                machine.use_factor(factor)
        share = self.best_upper + 0.1 * abs(self.best_upper)
        value_stop = share if len(self.machines) == 1 else np.inf
        return [machine.solve(self.target, value_stop) for machine in self.machines]

    def _evaluate(self, values: list[Values]) -> list[Values]:
        """Bounds at the present weights and duals: estimated first, exact where it matters."""
        if self._estimate(values):
            return values
        return self._certify(values)

    def _estimate(self, values: list[Values]) -> bool:
        """Gap from an estimate of q; False if it is too rough, or small enough to be certified."""
        kernels = np.flatnonzero(self.working)
        if any(v.cut_off for v in values) or not all(m.knows(kernels) for m in self.machines):
            return False
        if self.level_mode or isinstance(self.machines[0], RidgeMachine):
            return False
        upper = sum(v.primal.value for v in values)
        parts = [m.estimate_q(kernels) for m in self.machines]
        self.q[:] = -np.inf
        self.q[kernels] = sum(q for q, _ in parts)
        lower = self._lower(self.q[kernels])
        gap = self._relative(min(upper, self.best_upper), lower)
        unknown = sum(remainder for _, remainder in parts)
        if unknown > 0.1 * gap * abs(upper) or gap <= self.options.tol or self._checks_rest(gap):
            return False
        if self.center is not None and sum(v.dual for v in values) > self.center.upper:
            return False  # a null step needs the exact plane
        self._note_upper(upper)
        self.working_gap, self.exact = gap, False
        self.upper, self.lower, self.gap, self.scaled_gap = upper, -np.inf, np.inf, np.inf
        return True

    def _refresh(self) -> None:
        kernels = np.flatnonzero(self.working)
        self.q[:] = -np.inf
        self.q[kernels] = sum(machine.refresh(kernels) for machine in self.machines)

    def _checks_rest(self, gap: float) -> bool:
        """Whether it is time to look at the kernels outside the working set."""
        if self.working.all():
            return False
        return gap <= self.options.tol or (gap <= _EARLY_CHECK and not self.rest_checked)

    def _note_upper(self, upper: float) -> None:
        if upper < self.best_upper:
            self.best_upper, self.best_mu = upper, self.mu.copy()

    def _certify(self, values: list[Values]) -> list[Values]:
        """Exact bounds; looks at the kernels left out when it matters."""
        self._refresh()
        self.exact = True
        for machine in self.machines:
            machine.rebuild_gradient()
        values = [
            machine.values()._replace(cut_off=old.cut_off)
            for machine, old in zip(self.machines, values, strict=True)
        ]
        upper = sum(v.primal.value for v in values)
        self._note_upper(upper)
        lower = self._lower(self.q[self.working])
        self.working_gap = self._relative(self.best_upper, lower)
        if self.working.all():
            self.best_lower = max(self.best_lower, lower)
        elif self._checks_rest(self.working_gap):
            self._check_rest()
            self.best_lower = max(self.best_lower, self._lower(self.q))
        complete = bool(np.isfinite(self.q).all())
        self.scaled_gap = self._relative(upper, self._lower(self.q)) if complete else np.inf
        self.upper = sum(v.primal.plain for v in values)
        self.lower = self._plain_lower() if complete else -np.inf
        self.gap = self._relative(self.upper, self.lower)
        return values

    @staticmethod
    def _relative(upper: float, lower: float) -> float:
        if not (np.isfinite(upper) and np.isfinite(lower)):
            return np.inf
        return (upper - lower) / max(abs(upper), np.finfo(float).tiny)

    def _plane(self) -> tuple[float, float, float]:
        """The plane that the duals give: reward, Σ shift β² without the identity's part, largest scaling."""
        terms = [machine.terms() for machine in self.machines]
        ridge = sum(self.stack.ridge * t.norm2 for t in terms)  # the identity is a kernel, not a shift
        return sum(t.reward for t in terms), sum(t.shifted for t in terms) - ridge, min(t.room for t in terms)

    def _lower(self, q: Array) -> float:
        """The plane's least value over the weight set, at the best scaling of β."""
        reward, shifted, limit = self._plane()
        quadratic = self.weight_set.support(q) + shifted
        if self.machines[0].loss.total:
            c = 1.0
        else:
            c = min(max(reward, 0.0) / quadratic if quadratic > 0 else np.inf, limit)
        return c * reward - 0.5 * c * c * quadratic if np.isfinite(c) else 0.0

    def _plain_lower(self) -> float:
        """The lower bound of the duals that will be returned: as they are, or scaled for a hard margin."""
        scale = self.final_scale()
        reward, shifted, _ = self._plane()
        return scale * reward - 0.5 * scale * scale * (self.weight_set.support(self.q) + shifted)

    def final_scale(self) -> float:
        """What the duals are multiplied by at the end: a hard margin is scaled to be exactly 1."""
        loss = self.machines[0].loss
        if not isinstance(loss, HardMargin) or self.stack.identity:
            return 1.0
        half, _ = loss.half_width(self.machines[0].scores)
        return 1.0 / half if half > 0 else 1.0

    def _check_rest(self) -> None:
        """q of the kernels outside the working set; those near the top enter it."""
        self.rest_checked = True
        rest = np.flatnonzero(~self.working)
        self.q[rest] = sum(self.stack.quadratic_forms(rest, m.beta) for m in self.machines)
        top = self.q[self.working].max()
        entering = ~self.working & (self.q > (1.0 - 0.5 * WORKING_MARGIN) * top)
        if entering.any():
            self.working |= entering
            for machine in self.machines:
                machine.refresh(np.flatnonzero(self.working))

    def _record(self) -> bool:
        entry = {
            "iteration": len(self.history) + 1,
            "objective": float(self.best_upper),
            "lower_bound": float(self.best_lower),
            "gap": float(self._relative(self.best_upper, self.best_lower)),
            "n_active": int(np.count_nonzero(self.mu)),
        }
        self.history.append(entry)
        return bool(self.options.callback(entry)) if self.options.callback else False

    def _is_indefinite(self) -> bool:
        """A pair with negative curvature, or bounds that cross, prove that the kernel is indefinite."""
        found = self.gap < CROSSED_BOUNDS or any(
            m.least_curvature < NEGATIVE_CURVATURE for m in self.machines
        )
        self.stack.negative_curvature |= found
        return found

    # ------------------------------------------------------------------ steps
    def _step(self, values: list[Values]) -> bool:
        """Change the weights (or only the inner accuracy); False when nothing more can be gained."""
        if self.fixed or self.scaled_gap <= self.options.tol:
            self.target *= 0.3
            self.n_polished += 1
            return self.n_polished < _MOST_POLISHING
        self.n_polished = 0
        dual = sum(v.dual for v in values)
        self._watch_progress(dual)
        if self.level_mode:
            return self._level_step()
        if self.exact:
            self._keep_plane()
        if self.center is not None and self.working_gap > self.options.tol:
            worse = dual > self.center.upper + 1e-4 * self.center.slope + 1e-10 * abs(dual)
            if worse and self.n_null < _MOST_NULL_STEPS:
                self._null_step()
                return True
        self.n_null = 0
        self._newton_step(sum(v.primal.value for v in values))
        return True

    def _inner_target(self, gap: float) -> float:
        """No better than the outer loop can use; finer where steps at this accuracy bring too little.

        The lower bound is of first order in the error of β, the machine's own gap of second order when the
        loss is smooth: then the gap has to be squared away.
        """
        return self.fineness * max(0.2 * self.options.tol, min(0.02, 0.003 * gap, 10.0 * gap * gap))

    def _watch_progress(self, dual: float) -> None:
        """Ask for a finer inner solution where a step brought little; count what looks like a kink."""
        if 0.5 * self.previous_gap < self.working_gap < _EARLY_CHECK:
            self.fineness = max(0.1 * self.fineness, 1e-9)
        if self.n_null == 0:
            little = self.least_dual - dual < 0.02 * self.working_gap * abs(self.best_upper)
            self.n_stalled = (
                self.n_stalled + 1 if self.working_gap > 0.8 * self.previous_gap and little else 0
            )
            self.least_dual = min(self.least_dual, dual)
        self.previous_gap = self.working_gap
        if (self.n_null >= _PATIENCE or self.n_stalled >= _PATIENCE) and not self.level_mode:
            self.level_mode = True
            self.working[:] = True
            self._refresh()
            self.planes = Planes()

    def _keep_plane(self) -> None:
        q = np.where(np.isfinite(self.q), self.q, np.nan)
        reward, shifted, _ = self._plane()
        self.planes.add(reward - 0.5 * shifted, q, np.array([m.beta for m in self.machines]))

    def _move_to(self, mu: Array) -> None:
        self.mu = mu
        self.stack.set_weights(mu)

    def _newton_step(self, upper: float) -> None:
        kernels = np.flatnonzero(self.working)
        sensitivities = [m.sensitivity(kernels) for m in self.machines]
        H = sum(s.hessian for s in sensitivities)
        q = self.q[kernels]
        n_free = sum(s.rows.size for s in sensitivities)
        mu = np.zeros(self.n_kernels)
        if n_free < 2 and self.weight_set.p == 1.0:  # J is locally linear: a damped step to its least corner
            curvature = 0.5 * q.max() * np.eye(kernels.size)
            mu[kernels], _ = null_step(curvature, self.mu[kernels], np.zeros(1), -0.5 * q[None])
        else:
            theta = self.weight_set.to_simplex(self.mu[kernels])
            theta = minimize_model(theta, q, np.ascontiguousarray(H), float(self.weight_set.p))
            mu[kernels] = self._tidy(theta)
        change = mu[kernels] - self.mu[kernels]
        slope = -0.5 * float(q @ change)
        self.center = _Center(self.mu, upper, slope, np.asarray(H), kernels)
        self._move_to(mu)
        self._follow(kernels, change, sensitivities)
        self.target = self._inner_target(self.working_gap)

    def _tidy(self, theta: Array) -> Array:
        if self.weight_set.p == 1.0:
            theta = np.where(theta < _NEGLIGIBLE, 0.0, theta)
        return self.weight_set.from_simplex(theta / theta.sum())

    def _follow(self, kernels: Array, change: Array, sensitivities: list[Sensitivity]) -> None:
        """Move each machine's β with the weights, and rebuild what depends on both."""
        for machine, sensitivity in zip(self.machines, sensitivities, strict=True):
            if isinstance(machine, RidgeMachine):
                continue
            if machine.follow(change, sensitivity):
                machine.recombine(kernels, form_rows=len(self.machines) == 1)
            else:
                machine.refresh(kernels)  # F may belong to an earlier β
                machine.rebuild_gradient()

    def _null_step(self) -> None:
        """The Newton step made it worse: back to its centre, with the planes seen so far."""
        assert self.center is not None
        self.n_null += 1
        center = self.center
        kernels = np.flatnonzero(self.working)
        if self.weight_set.p > 1.0:
            self._closed_form_step()
            return
        known = [k for k, q in enumerate(self.planes.q) if np.isfinite(q[kernels]).all()][-30:]
        constants, slopes = self.planes.matrices(kernels)
        curvature = 1e-3 * abs(center.slope) * 4.0 ** (self.n_null - 1) * np.eye(kernels.size)
        if np.array_equal(kernels, center.kernels):
            curvature += center.hessian
        x, model = null_step(curvature, center.mu[kernels], constants[known], slopes[known])
        mu = np.zeros(self.n_kernels)
        mu[kernels] = x
        self.center = center._replace(slope=min(model - center.upper, 0.0))
        self._restart_at(mu)

    def _closed_form_step(self) -> None:
        """For p > 1: the minimiser over the set with every |w_m| held, which never makes J larger."""
        p = self.weight_set.p
        mu0 = self.best_mu
        norms = np.maximum(mu0 * mu0 * self.q, 0.0) ** (1.0 / (p + 1.0))
        self.center = None
        self._restart_at(norms / float((norms**p).sum()) ** (1.0 / p))

    def _level_step(self) -> bool:
        """Level method on all the kernels; the planes' multipliers give the duals that certify it."""
        if self.weight_set.p > 1.0:
            self._closed_form_step()
            return True
        self._keep_plane()
        constants, slopes = self.planes.matrices(np.arange(self.n_kernels))
        low, multipliers = lower_bound(constants, slopes)
        if self._relative(self.best_upper, low) <= self.options.tol and self._certify_mean(multipliers):
            return True
        mu = level_step(constants, slopes, self.best_mu, max(low, self.best_lower), self.best_upper)
        self._restart_at(mu)
        gap = self._relative(self.best_upper, max(low, self.best_lower))
        self.target = max(0.1 * self.options.tol, min(0.02, 0.03 * gap))
        return True

    def _certify_mean(self, multipliers: Array) -> bool:
        """Where J has a kink, no single solution certifies the optimum; the mean of several does."""
        duals = np.tensordot(multipliers, np.array(self.planes.duals), 1)
        for machine, beta in zip(self.machines, duals, strict=True):
            machine.set_start(beta)
        self._restart_at(self.best_mu)
        self._certify([m.values() for m in self.machines])
        return self.gap <= self.options.tol

    def _restart_at(self, mu: Array) -> None:
        self._move_to(mu)
        for machine in self.machines:
            machine.refresh(np.flatnonzero(self.working))
            machine.rebuild_gradient()
        self.target = self._inner_target(self.working_gap)
