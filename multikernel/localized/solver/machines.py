"""Fixed-kernel machines that are solved again and again while their kernel moves.

The feasible set of the duals does not depend on the kernel: the solution at one kernel is a feasible start at
the next. Machines of one group share the kernel; J is the sum of their dual values, and B (n, r) holds their
signed dual coefficients, so that f = K B + b for each of them and dJ/dK = −½ BB'.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._numba import read_only
from ..._typing import Array
from ...core.optim.loop import Status
from ...core.stack.passes import gather_block
from ...core.stack.sums import GatedStack, WeightedStack, WholeKernel
from ...core.svm.joint.solver import solve_multiclass
from ...core.svm.joint.worst import solve_worst
from ...core.svm.losses import Hinge, JointHinge, Loss, WorstHinge
from ...core.svm.machine import CROSSED_BOUNDS, NEGATIVE_CURVATURE, Machine

Kernel = Array | GatedStack

LEAST_STEPS, STEPS_PER_SAMPLE = 10**5, 100
_COARSEST_VIOLATION = 0.1
_PATIENCE = 5


class Solved(NamedTuple):
    """The machines at one kernel."""

    value: float  # J; of a machine that was not solved to the tolerance its primal value, which is above
    gap: float  # (primal − dual) / |primal|, the largest of the machines
    exhausted: bool  # whether a machine used all its steps


def most_steps(n: int) -> int:
    """Steps allowed to one solve: on kernels of low rank SMO converges slowly, for minutes without need."""
    return max(LEAST_STEPS, STEPS_PER_SAMPLE * n)


class BinaryMachines:
    """Machines of one output each, by the warm-starting SMO, to a relative duality gap of ``tol``.

    ``rows`` are the samples of each machine, of ``n`` in all; by default each has all of them. A value above
    the ceiling may be left unfinished. ``suspicious``: whether negative curvature was met, which a positive
    semidefinite kernel cannot have.
    """

    def __init__(
        self,
        losses: Sequence[Loss],
        rows: Sequence[Array] | None = None,
        n: int | None = None,
        tol: float = 1e-4,
    ) -> None:
        self.losses, self.rows, self.tol = list(losses), rows, tol
        self.n_machines = len(self.losses)
        self.n = losses[0].target.size if n is None else n
        self.suspicious = False
        self._blocks: dict[int, Array] = {}
        self.reset()

    def reset(self) -> None:
        self._machines: list[Machine] = []
        self.coefficients = np.zeros((self.n, len(self.losses)))
        self.intercepts = np.zeros(len(self.losses))

    def whole_losses(self) -> list[Loss]:
        """The losses on all the samples: those that a machine does not have cost it nothing."""
        if self.rows is None:
            return self.losses
        return [self._spread(loss, rows) for loss, rows in zip(self.losses, self.rows, strict=True)]

    def _spread(self, loss: Loss, rows: Array) -> Loss:
        signs, bounds = np.ones(self.n), np.zeros(self.n)
        signs[rows], bounds[rows] = loss.target, np.maximum(loss.upper, -loss.lower)
        return Hinge(signs, bounds)

    def solve(self, kernel: Kernel, ceiling: float = np.inf) -> Solved:
        self._use(kernel)
        limit = ceiling if len(self._machines) == 1 else np.inf
        value, gap, exhausted = 0.0, 0.0, False
        for k, machine in enumerate(self._machines):
            _set_out(machine)
            found = machine.solve(self.tol, limit)
            own = (found.primal.plain - found.dual) / max(abs(found.primal.plain), np.finfo(float).tiny)
            if found.cut_off:  # refused, though rounding may put it on the other side of the ceiling
                value += max(found.dual, np.nextafter(limit, np.inf))
            else:  # the dual value of a machine that is not solved would make bad solutions look good
                value += found.dual if own <= self.tol else found.primal.plain
            gap, exhausted = max(gap, own), exhausted or machine.exhausted
            self.suspicious |= machine.least_curvature < NEGATIVE_CURVATURE or own < CROSSED_BOUNDS
            self.coefficients[self._samples(k), k] = machine.beta
            self.intercepts[k] = found.primal.intercept
        return Solved(value, gap, exhausted)

    def _samples(self, k: int) -> Any:
        return slice(None) if self.rows is None else self.rows[k]

    def _use(self, kernel: Kernel) -> None:
        """Hand the kernel to the machines: itself, or the block of each one's samples."""
        if self.rows is None:
            whole = kernel if isinstance(kernel, GatedStack) else WholeKernel(kernel)
            stacks: list[WeightedStack] = [whole] * len(self.losses)
        else:
            K = kernel.whole() if isinstance(kernel, GatedStack) else kernel
            stacks = [self._block(k, K) for k in range(len(self.losses))]
        if not self._machines:
            steps = most_steps(self.n)
            self._machines = [Machine(loss, s, steps) for loss, s in zip(self.losses, stacks, strict=True)]
            for machine in self._machines:  # few steps are allowed: Newton comes to help early
                machine.patience = _PATIENCE * machine.stack.n + 500
                machine.tries_scales = False
        for machine, stack in zip(self._machines, stacks, strict=True):
            machine.stack = stack

    def _block(self, k: int, K: Array) -> WholeKernel:
        """The kernel of one machine's samples, always in the same memory."""
        assert self.rows is not None
        block = self._blocks.setdefault(k, np.empty((self.rows[k].size,) * 2))
        gather_block(read_only(K), self.rows[k], block)
        return WholeKernel(block)


def _set_out(machine: Machine) -> None:
    """The last duals as a start for the present kernel, or the best multiple of them.

    Where the kernel has grown, the duals as they are can be worth hugely less than none at all.
    """
    loss, stack = machine.loss, machine.stack
    scores = stack.product(machine.beta)
    norm2 = float(machine.beta @ scores)
    reward = machine.terms(stack.shift).reward
    if loss.total == 0.0 and reward < 0.5 * norm2:
        share = max(reward / norm2, 0.0)
        machine.beta, scores = share * machine.beta, share * scores
    machine.gradient = loss.target - scores
    coarsest = _COARSEST_VIOLATION * (float(np.abs(loss.target).max()) or 1.0)
    machine.violation = min(2.0 * machine.violation, coarsest)


class JointMachines:
    """All classes in one machine, r = n_classes outputs, with intercepts of sum zero.

    ``codes`` (n,) are the classes 0 … n_classes − 1, C (n,) bounds each sample's duals, ``tol`` is the
    relative duality gap to reach. ``worst_only``: the machine of Crammer & Singer, without intercepts.
    """

    n_machines = 1

    def __init__(
        self, codes: Array, n_classes: int, C: Array, tol: float = 1e-4, worst_only: bool = False
    ) -> None:
        self.codes, self.n_classes, self.C, self.tol = codes, n_classes, C, tol
        self.worst_only = worst_only
        self.suspicious = False
        self.reset()

    def reset(self) -> None:
        self._start: Array | None = None
        self.coefficients = np.zeros((self.codes.size, self.n_classes))
        self.intercepts = np.zeros(self.n_classes)

    def whole_losses(self) -> list[JointHinge]:
        """The loss of all the classes."""
        return [(WorstHinge if self.worst_only else JointHinge)(self.codes, self.n_classes, self.C)]

    def solve(self, kernel: Kernel, ceiling: float = np.inf) -> Solved:
        found = (solve_worst if self.worst_only else solve_multiclass)(
            kernel.whole() if isinstance(kernel, GatedStack) else kernel,
            self.codes,
            self.n_classes,
            self.C,
            tol=self.tol,
            start=self._start,
            max_iter=most_steps(self.codes.size),
        )
        self._start = found.alpha
        self.coefficients, self.intercepts = found.coefficients, found.intercepts
        value = found.objective if found.gap <= self.tol else found.primal
        self.suspicious |= found.status == Status.INDEFINITE
        return Solved(value, found.gap, found.status == Status.MAX_ITER)


Machines = BinaryMachines | JointMachines
