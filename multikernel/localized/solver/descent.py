"""Descent on an objective whose every value takes the solution of kernel machines.

Steps have at most unit length: the length of the gradient depends on C and on the size of the kernels, and
long steps end where gates are saturated and gradients vanish. A step is accepted when it lowers the value by
a part of what the slope promises (Armijo), so the value never rises; the next one starts at
twice its length. The objective offers

    value(theta, ceiling)   J, solved; above the ceiling it may be a lower bound: the step is refused anyway
    gradient()              of the point whose value was asked for last
    project(theta)          the nearest admissible point
    snapshot()              what is to be kept of the point whose value was asked for last

and the loop ends when J has fallen by no more than ``tol`` of itself, ``patience`` times running.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from ..._typing import Array
from ...core.optim.line_search import armijo, backtrack
from ...core.optim.loop import Callback, Entry, Recorder, Result, Status

OPTIMIZERS = ("gradient", "lbfgs")

_LONGEST = 1.0
_HALVINGS = 15
_FLAT = 1e-10  # relative to the value: a gradient of this size has no direction
_NOTHING = 1e-100  # squares of much less underflow
_MEMORY = 10
_CURVED = 1e-10


class Objective(Protocol):
    """What is minimised."""

    def value(self, theta: Array, ceiling: float = np.inf) -> float:
        """J."""

    def gradient(self) -> Array:
        """dJ/dtheta of the last point."""

    def project(self, theta: Array) -> Array:
        """The nearest admissible point."""

    def snapshot(self) -> Any:
        """What is to be kept of the last point."""

    def describe(self) -> Entry:
        """What the history should say of the last point."""


@dataclass(frozen=True)
class DescentOptions:
    """Numerics of the descent.

    Attributes
    ----------
    optimizer : "gradient", or "lbfgs" with steps of the same largest length
    tol : relative decrease at which to stop
    patience : so many steps running have to fall below it
    max_iter : steps
    callback : called with every entry of the history; True stops the descent
    blocks : index arrays of the parameters that move by turns; None: all move together
    """

    optimizer: str = "gradient"
    tol: float = 1e-3
    patience: int = 1
    max_iter: int = 100
    callback: Callback | None = None
    blocks: Sequence[Array] | None = None


@dataclass(frozen=True)
class Descent(Result):
    """Where a descent ended.

    Attributes
    ----------
    theta : array
    objective : float, J
    gradient_norm : float
    snapshot : what the objective kept of this point
    n_iter : int, steps taken
    n_evaluations : int, values asked for
    status : OPTIMAL (no more than ``tol`` to gain in a step, or no gradient), MAX_ITER, STALLED (no step
        lowers the value), INTERRUPTED
    history : list of dict with iteration, objective, step, gradient_norm and what the objective describes
    """

    theta: Array
    gradient_norm: float
    snapshot: Any
    n_evaluations: int


def descend(objective: Objective, start: Array, options: DescentOptions | None = None) -> Descent:
    """Lower the objective from a start.

    Parameters
    ----------
    objective : Objective
    start : array (n_parameters,)
    options : DescentOptions
    """
    return _Run(objective, options or DescentOptions()).go(np.array(start, float))


class _Run:
    """One descent."""

    def __init__(self, objective: Objective, options: DescentOptions) -> None:
        self.objective, self.options = objective, options
        self.n_evaluations = 0
        self.record = Recorder(max_iter=options.max_iter, callback=options.callback)

    def go(self, start: Array) -> Descent:
        options = self.options
        self.theta = self.objective.project(start)
        self.value = self._evaluate(self.theta, np.inf)
        self._accept()
        blocks = [np.arange(start.size)] if options.blocks is None else list(options.blocks)
        movers = [(_LimitedMemory if options.optimizer == "lbfgs" else _Steepest)(block) for block in blocks]
        step, small = 0.0, 0
        while not self._note(step, reached=small >= options.patience):
            before, steps = self.value, [self._move(mover) for mover in movers]
            if not any(steps):
                self.record.stop(self._standing(movers))
                break
            step = max(steps)
            small = small + 1 if before - self.value <= options.tol * abs(before) else 0
        return Descent(
            theta=self.theta,
            gradient_norm=float(np.linalg.norm(self.gradient)),
            snapshot=self.kept,
            n_evaluations=self.n_evaluations,
            objective=self.value,
            **self.record.outcome,
        )

    def _evaluate(self, theta: Array, ceiling: float) -> float:
        self.n_evaluations += 1
        return self.objective.value(theta, ceiling)

    def _accept(self) -> None:
        self.gradient = self.objective.gradient()
        self.kept = self.objective.snapshot()
        self.described = self.objective.describe()

    def _is_flat(self, gradient: Array) -> bool:
        return float(np.linalg.norm(gradient)) <= _FLAT * max(_NOTHING, abs(self.value))

    def _standing(self, movers: "Sequence[_Steepest]") -> Status:
        """No block moved: for want of a gradient, or of a step that lowers the value."""
        flat = all(self._is_flat(self.gradient[mover.block]) for mover in movers)
        return Status.OPTIMAL if flat else Status.STALLED

    def _move(self, mover: "_Steepest") -> float:
        """The length of the step that was accepted; zero if none was."""
        gradient = self.gradient[mover.block]
        if self._is_flat(gradient):
            return 0.0
        while True:
            direction = mover.direction(gradient)
            attempt = partial(self._try, mover, direction, float(direction @ gradient))
            length = backtrack(attempt, _HALVINGS, first=mover.first)
            if length is not None:
                mover.first = min(_LONGEST, 2.0 * length)
                return length * float(np.linalg.norm(direction))
            if not mover.forget():
                return 0.0

    def _try(self, mover: "_Steepest", direction: Array, slope: float, length: float) -> float | None:
        """The length, if the step lowers the value enough; the descent is then at its end."""
        ceiling = armijo(self.value, length, slope)
        theta = self.theta.copy()
        theta[mover.block] += length * direction
        theta = self.objective.project(theta)
        value = self._evaluate(theta, ceiling)
        if not value <= ceiling:
            return None
        old, before = self.theta, self.gradient
        self.theta, self.value = theta, value
        self._accept()
        mover.learn((theta - old)[mover.block], (self.gradient - before)[mover.block])
        return length

    def _note(self, step: float, reached: bool) -> bool:
        entry = {
            "iteration": len(self.record.history),
            "objective": self.value,
            "step": step,
            "gradient_norm": float(np.linalg.norm(self.gradient)),
            **self.described,
        }
        return self.record.note(entry, reached=reached)


class _Steepest:
    """Against the gradient, at unit length; ``first`` is the length to try first."""

    def __init__(self, block: Array) -> None:
        self.block = block
        self.first = _LONGEST

    def direction(self, gradient: Array) -> Array:
        return -gradient / np.linalg.norm(gradient)

    def learn(self, change: Array, bend: Array) -> None:
        """What a step told of the curvature."""

    def forget(self) -> bool:
        """Whether there is something to forget that may have misled the direction."""
        return False


class _LimitedMemory(_Steepest):
    """L-BFGS directions, shortened to the longest step; steepest descent where they do not descend."""

    def __init__(self, block: Array) -> None:
        super().__init__(block)
        self.pairs: list[tuple[Array, Array]] = []

    def direction(self, gradient: Array) -> Array:
        self.first = 1.0  # the direction has a length of its own
        direction = self._two_loops(gradient)
        if not self.pairs or float(direction @ gradient) >= 0.0:
            self.pairs.clear()
            return super().direction(gradient)
        return direction * min(1.0, _LONGEST / float(np.linalg.norm(direction)))

    def _two_loops(self, gradient: Array) -> Array:
        q, weights = gradient.copy(), []
        for change, bend in reversed(self.pairs):
            weights.append(float(change @ q) / float(change @ bend))
            q -= weights[-1] * bend
        if self.pairs:
            change, bend = self.pairs[-1]
            q *= float(change @ bend) / float(bend @ bend)
        for (change, bend), weight in zip(self.pairs, reversed(weights), strict=True):
            q += (weight - float(bend @ q) / float(change @ bend)) * change
        return -q

    def learn(self, change: Array, bend: Array) -> None:
        enough = _CURVED * float(np.linalg.norm(change)) * float(np.linalg.norm(bend))
        if float(change @ bend) > enough:
            self.pairs = [*self.pairs[1 - _MEMORY :], (change, bend)]

    def forget(self) -> bool:
        had = bool(self.pairs)
        self.pairs.clear()
        return had
