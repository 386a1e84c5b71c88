"""Localized multiple kernel learning: J(V) at the kernel that the gate of V combines, and its descent.

    J(V) = max_β dual(β; K_η) + (ridge/2) Σ_m ‖v_m‖² + Σ_im c_im η_m(x_i),        K_η = Σ_m (η_m η_m') ∘ K_m

with c_im what a fully open gate of kernel m costs at sample i (zero unless costs are given).
By Danskin's theorem dJ/dV needs no derivative of the duals: dJ/dη_m(x_i) = −c_im / η_m(x_i) at the solution.
J is not convex: descents set out from several starts, and the lowest objective is kept.

The descent serves any objective whose every value takes the solution of kernel machines. Steps have at most
unit length: the length of the gradient depends on C and on the size of the kernels, and long steps end where
gates are saturated and gradients vanish. A step is accepted when it lowers the value by a part of what the
slope promises (Armijo), so the value never rises; the next one starts at twice its length. The loop ends when
J has fallen by no more than ``tol`` of itself, ``patience`` times running.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..._typing import Array
from ...core.optim.loop import (
    ENDED_EARLY,
    Callback,
    Entry,
    Recorder,
    Result,
    Status,
    armijo,
    backtrack,
    is_over,
    reason_to_stop,
)
from ...core.stack.sums import GatedStack
from .copies import part_copies
from .gates import OPEN, START_SCALE, Gate, SigmoidGate, is_saturated
from .machines import Machines, Solved

OPTIMIZERS = ("gradient", "lbfgs")

_LONGEST = 1.0
_HALVINGS = 15
_FLAT = 1e-10  # relative to the value: a gradient of this size has no direction
_NOTHING = 1e-100  # squares of much less underflow
_MEMORY = 10
_CURVED = 1e-10


class GatedPoint(NamedTuple):
    """A solved gate: parameters V (P, D + 1), its values η (n, P), the machines on its kernel."""

    V: Array
    eta: Array
    coefficients: Array
    intercepts: Array
    solved: Solved


class GatedObjective:
    """J as a function of the gate's parameters, flat.

    Ks (n_stored, n, n) is never modified, ``sources`` (P,) tells the stored kernel of each gate, X (n, D) are
    the gating features. The ridge is on the gate's parameters without the biases (or widths); ``prices``
    (n, P) are what open gates cost at each sample, None for nothing.
    """

    def __init__(
        self,
        Ks: Array,
        sources: Array,
        X: Array,
        gate: Gate,
        machines: Machines,
        ridge: float = 0.0,
        prices: Array | None = None,
    ) -> None:
        self.Ks, self.sources, self.X = Ks, np.array(sources, np.intp), X
        self.gate, self.machines, self.ridge, self.prices = gate, machines, ridge, prices
        self.kernel = GatedStack(Ks, self.sources)

    @property
    def K(self) -> Array:
        """The combined kernel of the last point, whole."""
        return self.kernel.whole()

    def shaped(self, theta: Array) -> Array:
        """V (P, D + 1) of flat parameters."""
        return theta.reshape(self.sources.size, -1)

    def value(self, theta: Array, ceiling: float = np.inf) -> float:
        """J; a lower bound of it where that exceeds the ceiling."""
        self.V = self.shaped(theta)
        self.eta = self.gate.values(self.V, self.X)
        self.kernel.set_gates(self.eta)
        penalty = 0.5 * self.ridge * float((self.V[:, :-1] ** 2).sum()) if self.ridge else 0.0
        if self.prices is not None:
            penalty += float((self.prices * self.eta).sum())
        self.solved = self.machines.solve(self.kernel, ceiling - penalty)
        return self.solved.value + penalty

    def gradient(self) -> Array:
        """dJ/dV of the last point, flat."""
        c = self.kernel.contributions(self.machines.coefficients)
        if self.prices is not None:
            c -= self.prices * self.eta
        slope = self.gate.gradient(self.V, self.X, self.eta, c)
        if self.ridge:
            slope[:, :-1] += self.ridge * self.V[:, :-1]
        return np.asarray(slope.ravel())

    def project(self, theta: Array) -> Array:
        """The nearest admissible parameters."""
        return np.asarray(self.gate.project(self.shaped(theta)).ravel())

    def snapshot(self) -> GatedPoint:
        """The last point, with copies of what the next solve overwrites."""
        machines = self.machines
        return GatedPoint(
            self.V, self.eta, machines.coefficients.copy(), machines.intercepts.copy(), self.solved
        )

    def describe(self) -> dict[str, Any]:
        """The duality gap of the machines, and the mean number of open gates."""
        return {"gap": self.solved.gap, "n_active": np.count_nonzero(self.eta > OPEN) / len(self.eta)}


class Objective(Protocol):
    """What is minimised, as :class:`GatedObjective`; ``describe``: for the history, of the last point."""

    machines: Machines

    def value(self, theta: Array, ceiling: float = np.inf) -> float: ...
    def gradient(self) -> Array: ...
    def project(self, theta: Array) -> Array: ...
    def snapshot(self) -> Any: ...
    def describe(self) -> Entry: ...


@dataclass(frozen=True)
class DescentOptions:
    """Numerics of the descent."""

    optimizer: str = "gradient"  # "gradient", or "lbfgs" with steps of the same largest length
    tol: float = 1e-3  # relative decrease at which to stop
    patience: int = 1  # so many steps running have to fall below it
    max_iter: int = 100  # steps
    callback: Callback | None = None  # called with every entry of the history; True stops the descent
    # index arrays of the parameters that move alternately; None: all move together
    blocks: Sequence[Array] | None = None


@dataclass(frozen=True)
class Descent(Result):
    """Where a descent ended.

    It is OPTIMAL where no more than ``tol`` is to gain in a step, or there is no gradient, and STALLED where
    no step lowers the value.
    """

    theta: Array
    gradient_norm: float
    point: Any  # what the objective kept of this point
    n_evaluations: int  # values asked for


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalizedResult(Descent):
    """The best of several descents: a learned gate, or projections, with its machines.

    ``gap`` is the relative duality gap of the machines at the learned kernel.
    """

    n_solves: int  # machines solved, all starts together
    exhausted: bool  # whether the machines used all their steps at that point
    start_saturated: bool  # whether the gate of the kept start was saturated from the beginning
    suspicious: bool  # whether negative curvature was met, which a positive semidefinite kernel cannot have
    objectives: list[float] = field(default_factory=list)  # J of every start


@dataclass(frozen=True)
class Gated:
    """One learned gate: ``rows`` are its samples, ``names`` its machines, ``kind`` the name of its model."""

    result: LocalizedResult
    rows: Array
    names: list[str]
    kind: str

    def coefficients(self, n_samples: int) -> Array:
        """Signed duals of all the samples (n_machines, n_samples)."""
        full = np.zeros((len(self.names), n_samples))
        full[:, self.rows] = self.result.point.coefficients.T
        return full


def learn_gates(
    objective: GatedObjective,
    n_init: int,
    rng: np.random.Generator,
    options: DescentOptions | None = None,
    scale: float = START_SCALE,
) -> LocalizedResult:
    """Learn the gate from ``n_init`` random starts; ties keep the first.

    Every start has a child of ``rng``, so that more starts do not change the first ones; ``scale`` is half
    the width of the interval from which linear gates are drawn. The first start of sigmoid gates tells copies
    of a kernel apart.
    """
    starts = [
        objective.gate.draw(objective.sources.size, objective.X, child, scale) for child in rng.spawn(n_init)
    ]
    parts = isinstance(objective.gate, SigmoidGate) and np.unique(objective.sources).size < starts[0].shape[0]
    if parts:
        starts[0] = part_copies(objective, starts[0])
    saturated = [is_saturated(objective.gate.values(start, objective.X)) for start in starts]
    options = options or DescentOptions()
    found = keep_best(objective, [start.ravel() for start in starts], saturated, options)
    return replace(found, n_solves=found.n_solves + parts * objective.machines.n_machines)


def keep_best(
    objective: Objective, starts: list[Array], saturated: list[bool], options: DescentOptions
) -> LocalizedResult:
    """Descend from every start and keep the lowest value; where the fit is over, the search is."""
    found: list[Descent] = []
    for number, start in enumerate(starts):
        objective.machines.reset()
        found.append(descend(objective, start, _numbered(options, number)))
        if found[-1].status in ENDED_EARLY:
            break
    objectives = [descent.objective for descent in found]
    chosen = int(np.argmin(objectives))
    best = found[chosen]
    told = {
        "status": found[-1].status if found[-1].status in ENDED_EARLY else best.status,
        "gap": best.point.solved.gap,
        "history": [{"start": chosen, **entry} for entry in best.history],
    }
    return LocalizedResult(
        **{**vars(best), **told},
        n_solves=objective.machines.n_machines * sum(descent.n_evaluations for descent in found),
        exhausted=best.point.solved.exhausted,
        start_saturated=saturated[chosen],
        suspicious=objective.machines.suspicious,
        objectives=objectives,
    )


def _numbered(options: DescentOptions, number: int) -> DescentOptions:
    """The options, with a callback that says which start it is."""
    callback = options.callback
    if callback is None:
        return options
    return replace(options, callback=lambda entry: callback({"start": number, **entry}))


# ------------------------------------------------------------------ one descent
def descend(objective: Objective, start: Array, options: DescentOptions | None = None) -> Descent:
    """Lower the objective from a start (n_parameters,)."""
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
        self.value = self._evaluate(self.theta)
        self._accept()
        blocks = [np.arange(start.size)] if options.blocks is None else list(options.blocks)
        movers = [(_LimitedMemory if options.optimizer == "lbfgs" else _Steepest)(block) for block in blocks]
        step, small = 0.0, 0
        while not self._note(step, reached=small >= options.patience):
            before, steps = self.value, [self._move(mover) for mover in movers]
            if not any(steps):
                self.record.stop(reason_to_stop() or self._standing(movers))
                break
            step = max(steps)
            small = small + 1 if before - self.value <= options.tol * abs(before) else 0
        return Descent(
            theta=self.theta,
            gradient_norm=_length(self.gradient),
            point=self.kept,
            n_evaluations=self.n_evaluations,
            objective=self.value,
            **self.record.outcome,
        )

    def _evaluate(self, theta: Array, ceiling: float = np.inf) -> float:
        self.n_evaluations += 1
        return self.objective.value(theta, ceiling)

    def _accept(self) -> None:
        self.gradient = self.objective.gradient()
        self.kept = self.objective.snapshot()
        self.described = self.objective.describe()

    def _is_flat(self, gradient: Array) -> bool:
        return _length(gradient) <= _FLAT * max(_NOTHING, abs(self.value))

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
                return length * _length(direction)
            if not mover.forget():
                return 0.0

    def _try(self, mover: "_Steepest", direction: Array, slope: float, length: float) -> float | None:
        """The length, if the step lowers the value enough; the descent is then at its end."""
        if is_over():
            return None
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
            "gradient_norm": _length(self.gradient),
            **self.described,
        }
        return self.record.note(entry, reached=reached)


def _length(vector: Array) -> float:
    return math.sqrt(float(vector @ vector))


class _Steepest:
    """Against the gradient, at unit length; ``first`` is the length to try first."""

    def __init__(self, block: Array) -> None:
        self.block = block
        self.first = _LONGEST

    def direction(self, gradient: Array) -> Array:
        return -gradient / _length(gradient)

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
        return direction * min(1.0, _LONGEST / _length(direction))

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
        enough = _CURVED * _length(change) * _length(bend)
        if float(change @ bend) > enough:
            self.pairs = [*self.pairs[1 - _MEMORY :], (change, bend)]

    def forget(self) -> bool:
        had = bool(self.pairs)
        self.pairs.clear()
        return had
