"""A gate that does not depend on the sample: what an infinite ridge on its parameters leaves.

    K_η = Σ_m η_m² K_m,   μ_m = η_m²,        min over μ ≥ 0, Σ_m μ_m = 1 of J

is multiple kernel learning with norm 1, a convex problem: its weights are learned to a duality gap, and the
gate has their roots. Copies of a kernel share its weight evenly.
"""

import numpy as np

from ..._typing import Array
from ...core.optim.loop import Callback, Options
from ...core.weights.learn import learn_weights
from .gates import ALL_GATES, CONSTANT
from .learn import GatedObjective, LocalizedResult


def learn_constant(
    objective: GatedObjective, tol: float, max_iter: int, callback: Callback | None = None
) -> LocalizedResult:
    """Learn the weights of the kernels of an objective, and solve its machines with them."""
    machines, sources = objective.machines, objective.sources
    used, place, copies = np.unique(sources, return_inverse=True, return_counts=True)
    Ks = objective.Ks if used.size == len(objective.Ks) else np.ascontiguousarray(objective.Ks[used])
    options = Options(tol=tol, max_iter=max_iter, callback=callback)
    found = learn_weights(Ks, machines.whole_losses(), options=options)
    V = np.zeros((sources.size, objective.X.shape[1] + 1))
    V[:, -1] = _roots(found.weights, copies)[place]
    machines.reset()
    fixed = GatedObjective(objective.Ks, sources, objective.X, ALL_GATES[CONSTANT], machines)
    value = fixed.value(V.ravel())
    return LocalizedResult(
        objective=value,
        gap=fixed.solved.gap,
        n_iter=found.n_iter,
        status=found.status,
        history=[{"start": 0, **entry} for entry in found.history],
        theta=V.ravel(),
        gradient_norm=0.0,
        point=fixed.snapshot(),
        n_evaluations=1,
        n_solves=machines.n_machines * (found.n_iter + 1),
        exhausted=fixed.solved.exhausted,
        start_saturated=False,
        suspicious=found.suspicious or machines.suspicious,
        objectives=[value],
    )


def _roots(weights: Array, copies: Array) -> Array:
    """The value of each kernel's gate; that of one of several copies."""
    return np.sqrt(np.maximum(weights, 0.0) / copies)
