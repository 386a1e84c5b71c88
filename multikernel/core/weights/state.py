"""The present weights and duals of all the tasks, and what is known there: values, bounds, the gap.

The gap is relative: (upper − lower) / |upper|. The one-class value may be 0, where there is nothing to be
relative to: its |upper| counts as at least :meth:`.criteria.Loss.least_size`.

Certificate, at any (μ, β): the primal value P(μ, β) is an upper bound of the optimum, and
Σ reward − ½ support(q) − ½ Σ shift β² a lower one (minimum over μ of the plane that β gives). Bounds are
estimated from an adjoint F of a nearby β where that is enough, because exact ones cost a read of the stack.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ..optim.gaps import relative_gap, value_floor
from ..optim.loop import Options, Result, patient_steps
from ..optim.weight_sets import LpBall
from ..stack.linear import WeightedStack
from ..svm.joint.loss import JointHinge
from ..svm.joint.machine import JointMachine
from ..svm.losses import Loss, SquaredError
from ..svm.machine import CROSSED_BOUNDS, NEGATIVE_CURVATURE, Machine, RidgeMachine, Values

WORKING_MARGIN = 0.3  # kernels with q below (1 − margin) of the largest are left out
_NEARLY_DONE = 100.0  # times tol: from here on the duals have to certify as they are
EARLY_CHECK = 0.05  # at this gap the kernels left out are looked at for the first time, if they are many


def _machine(loss: Loss | JointHinge, stack: WeightedStack, steps: int) -> Any:
    """The machine that solves for a loss."""
    if isinstance(loss, JointHinge):
        return JointMachine(loss, stack, steps)
    return (RidgeMachine if isinstance(loss, SquaredError) else Machine)(loss, stack, steps)


@dataclass(frozen=True)
class SolveResult(Result):
    """Learned kernel weights and one machine for each task.

    Attributes
    ----------
    weights : array (n_kernels,), in the units of the caller's kernels
    ridge : float, the learned weight of the identity (0 when it is not learned)
    duals : array (n_outputs, n), one output for each task, or for each class of a joint machine
    intercepts : array (n_outputs,)
    objective : float, the dual value at the learned kernel
    upper_bound, lower_bound : float, they enclose the optimal value
    gap : float, (upper − lower) / |upper|
    n_iter : int, outer iterations, which is the number of machines solved for each task
    passes : float, reads of the whole stack
    status : Status
    suspicious : bool, whether negative curvature was met, which a positive semidefinite kernel cannot have
    history : list of dict with iteration, objective, lower_bound, gap, n_active
        The best bounds until then; in the last entry those of what is returned.
    """

    weights: Array
    ridge: float
    duals: Array
    intercepts: Array
    upper_bound: float
    lower_bound: float
    passes: float
    suspicious: bool = False

    @property
    def is_finite(self) -> bool:
        """Whether nothing overflowed on the way back to the caller's units."""
        numbers = (self.weights, self.duals, self.intercepts, np.array([self.objective, self.upper_bound]))
        return all(bool(np.isfinite(values).all()) for values in numbers)


class Iterate:
    """Weights μ, one machine for each task, the working set of kernels, and the bounds.

    Attributes
    ----------
    mu : array (n_kernels,), the present weights
    q : array (n_kernels,), Σ_t β_t'K_mβ_t; −inf for kernels that were not looked at
    working : array of bool, the kernels whose adjoint is kept
    upper, lower, gap : exact bounds of the present weights and duals (lower −inf where only estimated)
    scaled_gap : the same at the best scaling of the duals, which steers but is not returned
    working_gap : gap over the working set, from the best upper bound
    least_gap : the least of these since the working set last grew
    best_upper, best_lower, best_mu : the best bounds seen, and where the first was
    """

    def __init__(
        self, stack: WeightedStack, losses: Sequence[Loss | JointHinge], weight_set: LpBall, options: Options
    ) -> None:
        self.stack, self.weight_set, self.options = stack, weight_set, options
        self.n_kernels = stack.n_kernels
        self.fixed = self.n_kernels == 1 or np.isinf(weight_set.p)
        steps = options.max_steps if self.fixed else min(options.max_steps, patient_steps(stack.n))
        self.machines = [_machine(loss, stack, steps) for loss in losses]
        self.mu = weight_set.center(self.n_kernels)
        self.least_size = value_floor(losses, stack.mean_diagonals)
        for machine in self.machines:
            machine.least_size = self.least_size / len(losses)
        self.q = np.full(self.n_kernels, -np.inf)
        self.working = np.ones(self.n_kernels, bool)
        self.target = 0.5 * options.tol if self.fixed else 0.02
        self.upper, self.lower, self.gap, self.scaled_gap, self.working_gap = (
            np.inf,
            -np.inf,
            np.inf,
            np.inf,
            np.inf,
        )
        self.least_gap = np.inf
        self.best_upper, self.best_lower = np.inf, -np.inf
        self.best_mu = self.mu
        self.exact, self.always_exact = False, False
        self.rest_checked = False
        # an upper bound that the present weights should stay below, else the exact plane is needed
        self.ceiling = np.inf

    def _solve(self) -> list[Values]:
        if isinstance(self.machines[0], RidgeMachine):
            factor = self.stack.factor()
            for machine in self.machines:
                machine.use_factor(factor)
        share = self.best_upper + 0.1 * self._size(self.best_upper)
        value_stop = share if len(self.machines) == 1 else np.inf
        plain = self.working_gap <= _NEARLY_DONE * self.options.tol
        return [machine.solve(self.target, value_stop, plain) for machine in self.machines]

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
        if self.always_exact or isinstance(self.machines[0], RidgeMachine):
            return False
        upper = sum(v.primal.value for v in values)
        parts = [m.estimate_q(kernels) for m in self.machines]
        self.q[:] = -np.inf
        self.q[kernels] = sum(q for q, _ in parts)
        lower = self._lower(self.q[kernels])
        gap = self._relative(min(upper, self.best_upper), lower)
        unknown = sum(remainder for _, remainder in parts)
        if unknown > 0.1 * gap * self._size(upper) or gap <= self.options.tol or self._checks_rest(gap):
            return False
        if sum(v.dual for v in values) > self.ceiling:
            return False
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
        n_working = np.count_nonzero(self.working)
        if n_working == self.n_kernels:
            return False
        many = self.n_kernels - n_working > 2 * n_working  # the more are left out, the likelier one is missed
        return gap <= self.options.tol or (many and gap <= EARLY_CHECK and not self.rest_checked)

    def _note_upper(self, upper: float) -> None:
        if upper < self.best_upper:
            self.best_upper, self.best_mu = upper, self.mu.copy()

    def _certify(self, values: list[Values]) -> list[Values]:
        """Exact bounds; looks at the kernels left out when it matters."""
        self._refresh()
        self.exact = True
        for machine in self.machines:
            machine.rebuild_gradient()
        if any([machine.scale_to_margin() for machine in self.machines]):
            self._refresh()
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

    def _size(self, value: float) -> float:
        """What a difference from this value is relative to."""
        return max(abs(value), self.least_size)

    def _relative(self, upper: float, lower: float) -> float:
        return relative_gap(upper, lower, self.least_size)

    def _plane(self) -> tuple[float, float, float]:
        """The plane that the duals give: reward, Σ shift β² (the loss's own shift), largest scaling."""
        terms = [machine.terms(machine.loss.shift) for machine in self.machines]
        return sum(t.reward for t in terms), sum(t.shifted for t in terms), min(t.room for t in terms)

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
        """The lower bound of the duals as they are, which are those that will be returned."""
        reward, shifted, _ = self._plane()
        return reward - 0.5 * (self.weight_set.support(self.q) + shifted)

    def _check_rest(self) -> None:
        """q of the kernels outside the working set; those near the top enter it."""
        self.rest_checked = True
        rest = np.flatnonzero(~self.working)
        self.q[rest] = sum(m.quadratic_forms(rest) for m in self.machines)
        top = self.q[self.working].max()
        entering = ~self.working & (self.q > (1.0 - 0.5 * WORKING_MARGIN) * top)
        if entering.any():
            self.working |= entering
            self.least_gap = np.inf
            for machine in self.machines:
                machine.refresh(np.flatnonzero(self.working))

    def _is_indefinite(self) -> bool:
        """A pair with negative curvature, or bounds that cross, prove that the kernel is indefinite."""
        found = self.gap < CROSSED_BOUNDS or any(
            m.least_curvature < NEGATIVE_CURVATURE for m in self.machines
        )
        self.stack.negative_curvature |= found
        return found

    def _move_to(self, mu: Array) -> None:
        self.mu = mu
        self.stack.set_weights(mu)

    def _restart_at(self, mu: Array) -> None:
        """Other weights with the same duals."""
        self._move_to(mu)
        for machine in self.machines:
            machine.refresh(np.flatnonzero(self.working))
            machine.rebuild_gradient()
