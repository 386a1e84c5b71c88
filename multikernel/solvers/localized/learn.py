"""Learn gates: descents from several starts, of which the lowest objective is kept."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...combine.gates import GATES, START_SCALE, is_saturated
from ...core.optim.loop import Result, Status
from ...criteria.margin import Hinge
from ..compilation import compile_first
from .descent import Descent, DescentOptions, descend
from .gating import GatedObjective
from .machines import BinaryMachines

Array = np.ndarray[Any, np.dtype[Any]]


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
