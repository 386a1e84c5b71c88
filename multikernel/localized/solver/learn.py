"""The objective of localized multiple kernel learning: J(V) at the kernel that the gate of V combines.

    J(V) = max_β dual(β; K_η) + (ridge/2) Σ_m ‖v_m‖²,        K_η = Σ_m (η_m η_m') ∘ K_m

By Danskin's theorem dJ/dV needs no derivative of the duals: dJ/dη_m(x_i) = −c_im / η_m(x_i) at the solution.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..._typing import Array
from ...core.compilation import compile_first
from ...core.optim.loop import Result, Status
from ...core.stack.gated import GatedStack, gated_contributions
from ...core.svm.losses import Hinge
from .descent import Descent, DescentOptions, descend
from .gates import GATES, OPEN, START_SCALE, Gate, is_saturated
from .machines import BinaryMachines, Machines, Solved


class GatedPoint(NamedTuple):
    """A solved gate: parameters V (P, D + 1), its values η (n, P), the machines on its kernel."""

    V: Array
    eta: Array
    coefficients: Array
    intercepts: Array
    solved: Solved


class GatedObjective:
    """J as a function of the gate's parameters, flat.

    Parameters
    ----------
    Ks : array (n_stored, n, n)
        Never modified.
    sources : array (P,)
        The stored kernel of each gate.
    X : array (n, D), gating features
    gate : Gate
    machines : Machines
    ridge : float
        Of the gate's parameters without the biases (or widths).
    """

    def __init__(
        self, Ks: Array, sources: Array, X: Array, gate: Gate, machines: Machines, ridge: float = 0.0
    ) -> None:
        self.Ks, self.sources, self.X = Ks, np.array(sources, np.intp), X
        self.gate, self.machines, self.ridge = gate, machines, ridge
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
        penalty = 0.5 * self.ridge * float((self.V[:, :-1] ** 2).sum())
        self.solved = self.machines.solve(self.kernel, ceiling - penalty)
        return self.solved.value + penalty

    def gradient(self) -> Array:
        """dJ/dV of the last point, flat."""
        c = gated_contributions(self.Ks, self.sources, self.eta, self.machines.coefficients)
        slope = self.gate.gradient(self.V, self.X, self.eta, c)
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
        return {"gap": self.solved.gap, "n_active": float((self.eta > OPEN).sum(axis=1).mean())}


# -----------------------------------------------------------------------------
# Learn gates: descents from several starts, of which the lowest objective is kept.


@dataclass(frozen=True)
class LocalizedResult(Result):
    """A learned gate (or projections) with its machines.

    Attributes
    ----------
    point : what the objective keeps of its best point
    objective : float, J
    gap : float, the relative duality gap of the machines at the learned kernel
    gradient_norm : float, ‖dJ/dtheta‖ there
    n_iter : int, steps of the descent that was kept
    n_solves : int, solutions of the machines, all starts together
    status : Status
    exhausted : bool, whether the machines used all their steps at that point
    start_saturated : bool, whether the gate of the kept start was saturated from the beginning
    suspicious : bool, whether negative curvature was met, which a positive semidefinite kernel cannot have
    history : list of dict with start, iteration, objective, step, gradient_norm, gap, n_active
    objectives : list of float, J of every start
    """

    point: Any
    gradient_norm: float
    n_solves: int
    exhausted: bool
    start_saturated: bool
    suspicious: bool
    objectives: list[float] = field(default_factory=list)


def learn_gates(
    objective: GatedObjective,
    n_init: int,
    rng: np.random.Generator,
    options: DescentOptions | None = None,
    scale: float = START_SCALE,
) -> LocalizedResult:
    """Learn the gate from ``n_init`` random starts; ties keep the first.

    Parameters
    ----------
    objective : GatedObjective
    n_init : int
    rng : Generator
        Every start has a child of its own, so that more starts do not change the first ones.
    options : DescentOptions
    scale : float
        Half the width of the interval from which linear gates are drawn.
    """
    dtype = objective.Ks.dtype
    compile_first(f"gates {dtype}", lambda: _learn_tiny(dtype))
    starts = [
        objective.gate.draw(objective.sources.size, objective.X, child, scale) for child in rng.spawn(n_init)
    ]
    saturated = [is_saturated(objective.gate.values(start, objective.X)) for start in starts]
    return keep_best(objective, [start.ravel() for start in starts], saturated, options or DescentOptions())


def keep_best(
    objective: Any, starts: list[Array], saturated: list[bool], options: DescentOptions
) -> LocalizedResult:
    """Descend from every start and keep the lowest value; an interruption ends the search."""
    best, chosen, objectives, n_solves = None, 0, [], 0
    for number, start in enumerate(starts):
        objective.machines.reset()
        found = descend(objective, start, _numbered(options, number))
        objectives.append(found.objective)
        n_solves += found.n_evaluations
        if best is None or found.objective < best.objective:
            best, chosen = found, number
        if found.status == Status.INTERRUPTED:
            break
    assert best is not None
    return _result(objective, best, saturated[chosen], objectives, n_solves)


def _numbered(options: DescentOptions, number: int) -> DescentOptions:
    """The options, with a callback that says which start it is."""
    callback = options.callback
    if callback is None:
        return options
    return replace(options, callback=lambda entry: callback({"start": number, **entry}))


def _result(
    objective: Any, best: Descent, saturated: bool, objectives: list[float], n_solves: int
) -> LocalizedResult:
    number = objectives.index(best.objective)
    return LocalizedResult(
        point=best.snapshot,
        objective=best.objective,
        gap=best.snapshot.solved.gap,
        gradient_norm=best.gradient_norm,
        n_iter=best.n_iter,
        n_solves=n_solves,
        status=best.status,
        exhausted=best.snapshot.solved.exhausted,
        start_saturated=saturated,
        suspicious=objective.machines.suspicious,
        history=[{"start": number, **entry} for entry in best.history],
        objectives=objectives,
    )


def _learn_tiny(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)
    Ks = np.ascontiguousarray((X @ X.T)[None].astype(dtype))
    machines = BinaryMachines([Hinge(y, 1.0)])
    objective = GatedObjective(Ks, np.zeros(2, np.intp), X, GATES["softmax"], machines)
    descend(objective, objective.gate.draw(2, X, rng).ravel(), DescentOptions(max_iter=2))
