"""Learning kernel weights: one outer loop for every loss, weight set and number of tasks.

    min_{μ in M}  Σ_t J_t(μ),   J_t(μ) = max_β  y_t'β − ε‖β‖₁ − ½ β'(Σ_m (f_m + μ_m) K_m + diag(shift))β

Each iteration solves the machines at the current weights (only as far as the outer loop can use), computes
q_m = Σ_t β_t'K_mβ_t, and takes a Newton step in μ; the dual variables are moved along with it, so that the
next solve starts nearly optimal. Kernels that are far from active are left out (a working set) and looked
at again before the solver says that it is done. A quarter to a half of the samples is solved first, which
finds the active kernels for a few per cent of the cost.

The loop stops when the relative duality gap of the weights and duals that it returns is at most ``tol``.

f ≥ 0 is the floor of the stack, 0 by default: fixed parts of the weights of kernels that must not be left
out. They are always in the working set, and Σ_m f_m q_m is part of the constant of each plane below.

**Certificate** (:class:`Iterate`): the present weights and duals of all the tasks, with their values, bounds
and gap. The gap is relative: (upper − lower) / |upper|. The one-class value may be 0, where there is nothing
to be relative to: its |upper| counts as at least :meth:`.losses.Loss.least_size`.

At any (μ, β), the primal value P(μ, β) is an upper bound of the optimum, and
Σ reward − ½ support(q) − ½ f'q − ½ Σ shift β² a lower one (minimum over μ of the plane that β gives). Bounds
are estimated from an adjoint F of a nearby β where that is enough: exact ones cost a read of the stack.

**Cutting planes** are the safeguards where the optimal value is not smooth. Every feasible β of a machine
gives a plane below its optimal value: J(μ) ≥ S − ½ μ'q. Two uses, both rare: a *null step* refines a Newton
step that made things worse with the planes seen so far, and the *level method* (Lemaréchal, Nemirovskii &
Nesterov, 1995) takes over where the free variables say nothing about the curvature (hardly any, or a singular
block); it always converges. The small programs go to Clarabel and HiGHS.

This is not the level method of `multikernel.rules.solver.level`: that one knows its set by cuts only, keeps
to its boundary, has a quadratic term and a bound from multipliers; this one is over the simplex, with each
plane in its own units.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from ..._typing import Array
from ..optim import cone
from ..optim.loop import Options, Recorder, Result, Status, patient_steps, relative_gap
from ..optim.reciprocal import minimize_reciprocal
from ..optim.simplex import NO_CURVATURE, minimize_model
from ..optim.weight_sets import LpBall
from ..stack.sums import WeightedStack
from ..svm.joint.machine import JointMachine
from ..svm.joint.worst import WorstMachine
from ..svm.losses import JointHinge, Loss, SquaredError, WorstHinge, value_floor
from ..svm.machine import CROSSED_BOUNDS, NEGATIVE_CURVATURE, Machine, RidgeMachine, Sensitivity, Values
from ..svm.smooth import SmoothLoss
from .second import AnyLoss, FactorPart

WORKING_MARGIN = 0.3  # kernels with q below (1 − margin) of the largest are left out
_NEARLY_DONE = 100.0  # times tol: from here on the duals have to certify as they are
EARLY_CHECK = 0.05  # at this gap the kernels left out are looked at for the first time, if they are many
_MOST_NULL_STEPS = 30
_MOST_POLISHING = 12
_UNSEEN_POLISHING = 2  # times that machines are solved on before the kernels left out are looked at
_LEVEL_STEPS = 16  # the level method's first turn; each is twice as long as the one before
_PATIENCE = 5  # stalls or null steps in a row before the level method takes over
_NEGLIGIBLE = 1e-9
_WITHIN_REACH = 3.0
_FALL = 1e-2  # of what the slope promised; less is lost in the inner solutions' errors


# ---------------------------------------------------------------------- weights, duals and bounds
def _machine(loss: Loss | JointHinge, stack: WeightedStack, steps: int) -> Any:
    """The machine that solves for a loss."""
    if isinstance(loss, JointHinge):
        return (WorstMachine if isinstance(loss, WorstHinge) else JointMachine)(loss, stack, steps)
    return (RidgeMachine if isinstance(loss, SquaredError) else Machine)(loss, stack, steps)


@dataclass(frozen=True)
class SolveResult(Result):
    """Learned kernel weights and one machine for each task, solved ``n_iter`` times.

    The objective is the dual value at the learned kernel, the gap (upper − lower) / |upper|. The history has
    the best bounds until then and n_active; in the last entry the bounds of what is returned.
    """

    weights: Array  # (n_kernels,), in the units of the caller's kernels
    ridge: float  # the learned weight of the identity (0 when it is not learned)
    duals: Array  # (n_outputs, n), one output for each task, or for each class of a joint machine
    intercepts: Array  # (n_outputs,)
    # upper_bound, lower_bound: they enclose the optimal value
    upper_bound: float
    lower_bound: float
    passes: float  # reads of the whole stack by SMO and the outer loop
    # of kernels that predict by a factor, because dual variables do not hold their part of the function
    factors: dict[int, FactorPart] = field(default_factory=dict)
    # whether negative curvature was met, which a positive semidefinite kernel cannot have
    suspicious: bool = False

    @property
    def is_finite(self) -> bool:
        """Whether nothing overflowed on the way back to the caller's units."""
        numbers = [self.weights, self.duals, self.intercepts, np.array([self.objective, self.upper_bound])]
        numbers += [part.coef for part in self.factors.values()]
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
    least_gap : the least of these since it was last reset
    best_upper, best_lower, best_mu, best_duals : the best bounds seen, and where the first was
    """

    def __init__(
        self, stack: WeightedStack, losses: Sequence[AnyLoss], weight_set: LpBall, options: Options
    ) -> None:
        self.stack, self.weight_set, self.options = stack, weight_set, options
        self.n_kernels = stack.n_kernels
        self.fixed = self.n_kernels == 1 or np.isinf(weight_set.p)
        steps = options.max_steps if self.fixed else min(options.max_steps, patient_steps(stack.n))
        # smooth losses have none: they are handed over at once
        self.machines = [_machine(loss, stack, steps) for loss in losses if not isinstance(loss, SmoothLoss)]
        self.mu = weight_set.center(self.n_kernels)
        self.least_size = value_floor(losses, stack.mean_diagonals)
        for machine in self.machines:
            machine.least_size = self.least_size / len(losses)
        self.q = np.full(self.n_kernels, -np.inf)
        self.working = np.ones(self.n_kernels, bool)
        self.target = 0.5 * options.tol if self.fixed else 0.02
        self.upper = self.gap = self.scaled_gap = self.working_gap = self.least_gap = self.best_upper = np.inf
        self.lower = self.best_lower = -np.inf
        self.best_mu = self.mu
        self.best_duals: list[Array] = []
        self.exact, self.always_exact = False, False
        self.rest_checked = False
        self.n_polished = 0
        # an upper bound that the present weights should stay below, else the exact plane is needed
        self.ceiling = np.inf

    def _solve(self) -> list[Values]:
        if isinstance(self.machines[0], RidgeMachine):
            factor = self.stack.factor()
            for machine in self.machines:
                machine.use_factor(factor)
        share = self.best_upper + 0.1 * self._size(self.best_upper)
        value_stop = share if len(self.machines) == 1 else np.inf
        plain = self.working_gap <= _NEARLY_DONE * self.options.tol or self.target <= self.options.tol
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
        lower = self._lower(self.q[kernels], self._plane())
        gap = self._relative(min(upper, self.best_upper), lower)
        unknown = sum(remainder for _, remainder in parts)
        if unknown > 0.1 * gap * self._size(upper) or gap <= self.options.tol or self._checks_rest(gap, gap):
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

    def _checks_rest(self, gap: float, plain: float) -> bool:
        """Whether it is time to look at the kernels outside the working set.

        ``plain`` is the gap of the duals as they are: until it is small, the machines are solved on first.
        """
        n_working = np.count_nonzero(self.working)
        if n_working == self.n_kernels:
            return False
        many = self.n_kernels - n_working > 3 * n_working  # the more are left out, the likelier one is missed
        if many and gap <= EARLY_CHECK and not self.rest_checked:
            return True
        ready = self.options.rough or plain <= self.options.tol or self.n_polished >= _UNSEEN_POLISHING
        return gap <= self.options.tol and ready

    def _note_upper(self, upper: float) -> None:
        if upper < self.best_upper:
            self.best_upper, self.best_mu = upper, self.mu.copy()
            self.best_duals = [machine.beta.copy() for machine in self.machines]

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
        plane = self._plane()
        lower = self._lower(self.q[self.working], plane)
        self.working_gap = self._relative(self.best_upper, lower)
        self.upper = sum(v.primal.plain for v in values)
        self.lower = self._plain_lower(self.q[self.working], plane)
        if self._checks_rest(self.working_gap, self._relative(self.upper, self.lower)):
            self._check_rest()
            lower, self.lower = self._lower(self.q, plane), self._plain_lower(self.q, plane)
        # over the working set alone where the others were not looked at: it says whether to go on solving
        self.scaled_gap = self._relative(upper, lower)
        if np.isfinite(self.q).all():
            self.best_lower = max(self.best_lower, lower)
        else:
            self.lower = -np.inf
        self.gap = self._relative(self.upper, self.lower)
        return values

    def _size(self, value: float) -> float:
        """What a difference from this value is relative to."""
        return max(abs(value), self.least_size)

    def _relative(self, upper: float, lower: float) -> float:
        return relative_gap(upper, lower, self.least_size)

    def _plane(self) -> tuple[float, float, float]:
        """The plane that the duals give: reward, Σ shift β² (the loss's own shift) + f'q, largest scaling."""
        terms = [machine.terms(machine.loss.shift) for machine in self.machines]
        shifted = sum(t.shifted for t in terms)
        if self.stack.floor is not None:
            kept = np.flatnonzero(self.stack.floor)
            shifted += float(self.stack.floor[kept] @ self.q[kept])
        return sum(t.reward for t in terms), shifted, min(t.room for t in terms)

    def _lower(self, q: Array, plane: tuple[float, float, float]) -> float:
        """The plane's least value over the weight set, at the best scaling of β."""
        reward, shifted, limit = plane
        quadratic = self.weight_set.support(q) + shifted
        if self.machines[0].loss.total:
            c = 1.0
        else:
            c = min(max(reward, 0.0) / quadratic if quadratic > 0 else np.inf, limit)
        return c * reward - 0.5 * c * c * quadratic if np.isfinite(c) else 0.0

    def _plain_lower(self, q: Array, plane: tuple[float, float, float]) -> float:
        """The lower bound of the duals as they are, which are those that will be returned."""
        reward, shifted, _ = plane
        return reward - 0.5 * (self.weight_set.support(q) + shifted)

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


# ---------------------------------------------------------------------- cutting planes
@dataclass
class Planes:
    """Planes S_k − ½ μ'q_k below the optimal value, each with the duals that gave it."""

    rewards: list[float] = field(default_factory=list)
    q: list[Array] = field(default_factory=list)
    duals: list[Array] = field(default_factory=list)

    def add(self, reward: float, q: Array, duals: Array) -> None:
        """Keep one more plane."""
        self.rewards.append(reward)
        self.q.append(q)
        self.duals.append(duals)

    def matrices(self, kernels: Array) -> tuple[Array, Array]:
        """Constants and slopes over the given kernels."""
        return np.array(self.rewards), -0.5 * np.array(self.q)[:, kernels]


def _solve(P: Array, c: Array, equality: Array, inequality: Array, bound: Array) -> Array:
    """min ½x'Px + c'x subject to equality'x = 1 and inequality x ≤ bound."""
    blocks = [
        cone.Block(equality[None], np.ones(1), cone.zero(1)),
        cone.Block(inequality, bound, cone.nonnegative(len(bound))),
    ]
    return cone.minimize(P, c, blocks, tol_gap_rel=1e-9, tol_feas=1e-8).x


def _magnitude(constants: Array, slopes: Array) -> float:
    """What to divide by, so that the small program is of order one."""
    return max(float(np.abs(constants).max()), float(np.abs(slopes).max()), 1e-300)


def _onto_simplex(x: Array, otherwise: Array) -> Array:
    """Remove the rounding of the conic solver; where it failed, ``otherwise``."""
    x = np.where(x < 1e-8, 0.0, x)
    return x / x.sum() if np.isfinite(x).all() and x.sum() > 0.5 else otherwise


def null_step(H: Array, center: Array, constants: Array, slopes: Array) -> tuple[Array, float]:
    """min over the simplex of max_k(constant_k + slope_k'x) + ½(x − center)'H(x − center); x and the max."""
    m, k = center.size, constants.size
    scale = _magnitude(constants, slopes)
    P = np.zeros((m + 1, m + 1))
    P[:m, :m] = H / scale
    c = np.append(-H @ center / scale, 1.0)
    inequality = np.vstack(
        [np.hstack([-np.eye(m), np.zeros((m, 1))]), np.hstack([slopes / scale, -np.ones((k, 1))])]
    )
    x = _solve(
        P, c, np.append(np.ones(m), 0.0), inequality, np.concatenate([np.zeros(m), -constants / scale])
    )
    return _onto_simplex(x[:m], center), float(x[m]) * scale


def lower_bound(constants: Array, slopes: Array) -> tuple[float, Array]:
    """The least of max_k(constant_k + slope_k'x) over the simplex, and the multipliers of the planes."""
    k, m = slopes.shape
    scale = _magnitude(constants, slopes)
    solution = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.hstack([slopes / scale, -np.ones((k, 1))]),
        b_ub=-constants / scale,
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs",
    )
    if solution.status != 0:
        return -np.inf, np.full(k, 1.0 / k)
    multipliers = np.maximum(-solution.ineqlin.marginals, 0.0)
    return float(solution.fun) * scale, multipliers / multipliers.sum()


def level_step(constants: Array, slopes: Array, center: Array, low: float, high: float) -> Array:
    """The point nearest to ``center`` where the planes lie below a level between the two bounds."""
    m = center.size
    room = 0.9 * low + 0.1 * high - constants
    # each plane by its own size: one may be steeper than another by many digits
    scales = np.maximum(np.maximum(np.abs(slopes).max(axis=1), np.abs(room)), 1e-300)
    inequality = np.vstack([-np.eye(m), slopes / scales[:, None]])
    bound = np.concatenate([np.zeros(m), room / scales])
    return _onto_simplex(_solve(np.eye(m), -center, np.ones(m), inequality, bound), center)


# ---------------------------------------------------------------------- outer loop
class _Center(NamedTuple):
    """Where the last Newton step started, what it expected, and the Hessian of which kernels it used."""

    mu: Array
    goal: Array
    upper: float
    slope: float
    hessian: Array
    kernels: Array


class OuterLoop(Iterate):
    """The outer loop; see the module. Kernels and losses are already scaled to order one."""

    def __init__(
        self, stack: WeightedStack, losses: Sequence[AnyLoss], weight_set: LpBall, options: Options
    ) -> None:
        super().__init__(stack, losses, weight_set, options)
        self.planes = Planes()
        # a factorisation is not left half-way, as SMO is
        self.record = Recorder.of(
            options, divisible=not any(isinstance(m, RidgeMachine) for m in self.machines)
        )
        self.units = (1.0, 1.0)
        self.center: _Center | None = None
        self.level_mode = False
        self.n_null = self.n_stalled = self.n_closed = 0
        self.least_dual = np.inf
        self.fineness, self.level_steps = 1.0, _LEVEL_STEPS
        self.enough = options.tol  # the gap of the planes at which their mean is tried
        self.allowed_work = self.allowed_iter = np.inf

    def limit_work(self, numbers: float, iterations: int) -> None:
        """Stop, as stalled, after a maximum number of kernel entries read, or of iterations."""
        self.allowed_work, self.allowed_iter = numbers, iterations
        for machine in self.machines:
            steps = int(0.5 * numbers / (self.stack.n * machine.n_outputs**2)) + 1
            machine.max_steps = min(machine.max_steps, steps)

    @property
    def work(self) -> float:
        """Numbers read so far: a step of a machine reads two rows of the sum, for each pair of classes."""
        stack = self.stack
        steps = 2.0 * stack.n * sum(machine.n_steps * machine.n_outputs**2 for machine in self.machines)
        return steps + stack.passes * stack.n_stored * float(stack.n) ** 2

    # ------------------------------------------------------------------ the loop
    def run(self) -> Status:
        """Iterate until the gap is small enough; the results stay in the attributes."""
        self.stack.set_weights(self.mu)
        for machine in self.machines:
            if machine.beta.any():
                machine.refresh(np.flatnonzero(self.working))
            machine.rebuild_gradient()
        while True:
            values = self._evaluate(self._solve())
            stops = self._note()
            if self._is_indefinite():
                return Status.INDEFINITE
            if stops and self.record.status == Status.OPTIMAL:
                return Status.OPTIMAL
            if stops:
                return self._leave(values, self.record.status)
            if self.work > self.allowed_work or self.record.n_iter > self.allowed_iter:
                return self._leave(values, Status.STALLED)
            if not self._step(values):
                return self._leave(values, Status.STALLED)
            if self.gap <= self.options.tol:  # the level method certifies without another solve
                return Status.OPTIMAL

    def _leave(self, values: list[Values], status: Status) -> Status:
        """Stop short of the optimum: with the best weights seen, and their own gap over all the kernels."""
        self.working[:] = True
        if sum(v.primal.value for v in values) > self.best_upper:
            for machine, beta in zip(self.machines, self.best_duals, strict=False):  # none of the start's
                machine.set_start(beta)
            self._restart_at(self.best_mu)
            values = self._solve()
        self._certify(values)
        return Status.OPTIMAL if self.gap <= self.options.tol else status

    def in_units(self, value: float) -> float:
        """A value in the caller's units; factor by factor, so that nothing overflows on the way."""
        return value * self.units[0] * self.units[1]

    def bounds(self, upper: float, lower: float, n_active: int | None = None) -> dict[str, float]:
        """What an entry of the history says of two bounds; ``n_active`` of the present weights by default."""
        n_active = int(np.count_nonzero(self.stack.weights)) if n_active is None else n_active
        return {
            "objective": self.in_units(float(upper)),
            "lower_bound": self.in_units(float(lower)),
            "gap": max(float(self._relative(upper, lower)), 0.0),  # rounding
            "n_active": n_active,
        }

    def _note(self) -> bool:
        bounds = self.bounds(self.best_upper, self.best_lower)
        entry = {"iteration": len(self.record.history) + 1, **bounds}
        tol, rough = self.options.tol, self.options.rough
        reached = self.gap <= tol or (rough and self._relative(self.best_upper, self.best_lower) <= tol)
        return self.record.note(entry, reached=bool(reached))

    # ------------------------------------------------------------------ steps
    def _step(self, values: list[Values]) -> bool:
        """Change the weights (or only the inner accuracy); False when nothing more can be gained."""
        if self.fixed or self.scaled_gap <= self.options.tol:
            self.target *= 0.3
            self.n_polished += 1
            exhausted = self.fixed and any(machine.exhausted for machine in self.machines)
            return self.n_polished < _MOST_POLISHING and not exhausted
        self.n_polished = 0
        dual = sum(v.dual for v in values)
        self._watch_progress(dual)
        if self.level_mode:
            return self._level_step()
        if self.exact:
            self._keep_plane()
        if self.center is not None and self.working_gap > self.options.tol:
            worse = dual > self.ceiling + 1e-10 * abs(dual)
            if worse and self.n_null < _MOST_NULL_STEPS:
                self._null_step()
                return True
        self.n_null = 0
        self._newton_step(sum(v.primal.value for v in values))
        return True

    def _inner_target(self, gap: float) -> float:
        """No better than the outer loop can use; finer where steps at this accuracy bring too little.

        The lower bound is of first order in the error of β, the machine's own gap of second order when the
        loss is smooth: then the gap has to be squared away. Newton's step corrects the β that are free.
        """
        tol = self.options.tol
        target = min(0.02, 0.01 * gap, 30.0 * gap * gap)
        if target < _WITHIN_REACH * tol:  # the next gap may be small enough: the machines must not spoil it
            target = min(target, 0.2 * tol)
        return self.fineness * max(min(0.2 * tol, 1e3 * tol * tol), target)

    def _watch_progress(self, dual: float) -> None:
        """Ask for a finer inner solution where a step brought little; count what looks like a kink.

        Little beside the least gap, not the last one: steps to and fro across a valley make it rise and fall.
        """
        if 0.5 * self.least_gap < self.working_gap < EARLY_CHECK:
            self.fineness = max(0.1 * self.fineness, 1e-9)
        if self.n_null == 0:
            little = self.least_dual - dual < 0.02 * self.working_gap * self._size(self.best_upper)
            slow = self.working_gap > 0.8 * self.least_gap
            if slow and not self.always_exact:  # an estimated gap may be too small: all after it look slow
                self.always_exact, slow, self.least_gap = True, False, np.inf
            self.n_stalled = self.n_stalled + 1 if slow and little else 0
            self.least_dual = min(self.least_dual, dual)
        self.least_gap = min(self.least_gap, self.working_gap)
        if (self.n_null >= _PATIENCE or self.n_stalled >= _PATIENCE) and not self.level_mode:
            self.level_mode = self.always_exact = True
            self.working[:] = True
            self._refresh()
            self.planes = Planes()

    def _keep_plane(self) -> None:
        q = np.where(np.isfinite(self.q), self.q, np.nan)
        reward, shifted, _ = self._plane()
        self.planes.add(reward - 0.5 * shifted, q, np.array([m.beta for m in self.machines]))

    def _newton_step(self, upper: float) -> None:
        kernels = np.flatnonzero(self.working)
        sensitivities = [m.sensitivity(kernels) for m in self.machines]
        H = sum(s.hessian for s in sensitivities)
        q = self.q[kernels] + sum(s.q_change for s in sensitivities)
        n_free = sum(s.rows.size for s in sensitivities)
        flat = n_free < 2 or float(np.abs(H).max()) <= NO_CURVATURE * float(np.abs(q).max())
        mu = np.zeros(self.n_kernels)
        ratios: Array | float = 1.0
        if flat and self.weight_set.p == 1.0:  # J is locally linear: a damped step to its least corner
            curvature = 0.5 * q.max() * np.eye(kernels.size)
            mu[kernels], _ = null_step(curvature, self.mu[kernels], np.zeros(1), -0.5 * q[None])
        else:
            theta = self.weight_set.to_simplex(self.mu[kernels])
            found = minimize_reciprocal(theta, q, np.asarray(H)) if self.weight_set.p == 1.0 else None
            if found is None:
                theta = minimize_model(theta, q, np.ascontiguousarray(H), float(self.weight_set.p))
            else:
                theta, ratios = found
            mu[kernels] = self._tidy(theta)
        change = mu[kernels] - self.mu[kernels]
        slope = -0.5 * float(q @ change)
        self._set_center(_Center(self.mu, mu, upper, slope, np.asarray(H), kernels))
        self._move_to(mu)
        self._follow(kernels, change * ratios, sensitivities)
        self.target = self._inner_target(self.working_gap)

    def _set_center(self, center: _Center | None) -> None:
        self.center = center
        # beyond it the step made things worse, and a null step needs the exact plane
        self.ceiling = np.inf if center is None else center.upper + _FALL * center.slope

    def _retreat_to(self, mu: Array) -> None:
        self._restart_at(mu)
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
            self._retreat_to(self._shorter_step(center))
            return
        known = [k for k, q in enumerate(self.planes.q) if np.isfinite(q[kernels]).all()][-30:]
        constants, slopes = self.planes.matrices(kernels)
        curvature = 1e-3 * abs(center.slope) * 4.0 ** (self.n_null - 1) * np.eye(kernels.size)
        if np.array_equal(kernels, center.kernels):
            curvature += center.hessian
        x, model = null_step(curvature, center.mu[kernels], constants[known], slopes[known])
        mu = np.zeros(self.n_kernels)
        mu[kernels] = x
        self._set_center(center._replace(slope=min(model - center.upper, 0.0)))
        self._retreat_to(mu)

    def _shorter_step(self, center: _Center) -> Array:
        """For p > 1, where J is smooth: less and less of the way that Newton's step wanted to go."""
        start, goal = self.weight_set.to_simplex(center.mu), self.weight_set.to_simplex(center.goal)
        share = 0.25**self.n_null
        return self.weight_set.from_simplex((1.0 - share) * start + share * goal)

    def _closed_form(self) -> Array:
        """For p > 1: the least of J over the set with every |w_m| held, which J itself cannot exceed."""
        p = self.weight_set.p
        norms = np.maximum(self.mu**2 * self.q, 0.0) ** (1.0 / (p + 1.0))
        top = float(norms.max())
        norms = norms / top if top > 0.0 else self.mu  # β = 0 to working precision: stay
        return norms / float((norms**p).sum()) ** (1.0 / p)

    def _level_step(self) -> bool:
        """Level method on all the kernels; the planes' multipliers give the duals that certify it."""
        if self.weight_set.p > 1.0:
            return self._closed_form_step()
        self._keep_plane()
        constants, slopes = self.planes.matrices(np.arange(self.n_kernels))
        if not (np.isfinite(constants).all() and np.isfinite(slopes).all()):
            return False  # beyond floating point
        low, multipliers = lower_bound(constants, slopes)
        if self._relative(self.best_upper, low) <= self.enough:
            if not self._certify_mean(multipliers):
                self.enough *= 0.1  # the mean is optimal to this, its scores only to the root of it
            return True
        mu = level_step(constants, slopes, self.best_mu, max(low, self.best_lower), self.best_upper)
        ends = len(self.planes.rewards) >= self.level_steps
        if ends or np.abs(mu - self.mu).max() <= _NEGLIGIBLE:  # where it is, as far as the planes can tell
            self.level_steps *= 2 if ends else 1  # ever longer turns: the level method alone converges
            self._restart_at(self.best_mu)
            self._leave_level_mode()
            return True
        self._restart_at(mu)
        gap = self._relative(self.best_upper, max(low, self.best_lower))
        self.target = max(0.1 * self.enough, min(0.02, 0.03 * gap))
        return True

    def _closed_form_step(self) -> bool:
        """Instead of the level method for p > 1: a turn of closed-form updates, from weights well inside."""
        if self.n_closed == 0:
            theta = self.weight_set.to_simplex(self.best_mu)
            self._retreat_to(self.weight_set.from_simplex(0.9 * theta + 0.1 / theta.size))
        elif self.n_closed < self.level_steps:
            self._retreat_to(self._closed_form())
        else:
            self.level_steps *= 2
            self._leave_level_mode()
            return True
        self.n_closed += 1
        return True

    def _leave_level_mode(self) -> None:
        """Back to Newton's steps: where J is smooth they are far more precise."""
        self.level_mode = self.always_exact = False
        self._set_center(None)
        self.n_closed = 0
        self.n_null = self.n_stalled = 0
        self.least_gap = self.least_dual = np.inf

    def _certify_mean(self, multipliers: Array) -> bool:
        """Where J has a kink, no single solution certifies the optimum; the mean of several does."""
        duals = np.tensordot(multipliers, np.array(self.planes.duals), 1)
        for machine, beta in zip(self.machines, duals, strict=True):
            machine.set_start(beta)
        self._restart_at(self.best_mu)
        self._certify([m.values() for m in self.machines])
        return self.gap <= self.options.tol
