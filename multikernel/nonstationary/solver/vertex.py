"""The vertex of the feasible set that the gradient of the projection's dual value points to.

    max_v  g'v,    Av = 0,  v ≥ 0,  Σ_r v_tr ≤ C_t

The multipliers of Av = 0 are the offsets with which the present mixtures have the least primal value, and the
value of this program exceeds g'u by exactly the gap that they leave: v − u is a direction of ascent while
there is one.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from scipy.optimize import linprog

from .components import Setting, State, add_scores, coefficients_of
from .mixtures import Array


@dataclass(frozen=True)
class Vertex:
    """The vertex v, (n_components, n), and the multipliers (n_components,) that belong to it."""

    duals: Array
    multipliers: Array

    def advance(self, setting: Setting, state: State) -> bool:
        """Go towards the vertex as far as the dual value rises; False where it does not."""
        move = self.duals - state.duals
        change = move.sum(axis=0) * setting.shares - move
        slope = float((move * gradients(setting, state)).sum())
        curvature = 0.0
        for c, kernel in enumerate(setting.kernels):
            curvature += float(change[c] @ (setting.Ks[kernel] @ change[c]))
        length = min(1.0, slope / curvature) if curvature > 0.0 else 1.0
        if not slope > 0.0:
            return False
        scored = coefficients_of(setting, state)
        state.duals[:] = np.maximum(state.duals + length * move, 0.0)
        state.totals[:] = state.duals.sum(axis=0)
        add_scores(setting, state, coefficients_of(setting, state) - scored)
        return True


def gradients(setting: Setting, state: State) -> Array:
    """Of the dual value, (n_components, n); of no meaning for the components of the sample's own class."""
    return np.asarray(setting.linear - state.own + state.scores)


def best_vertex(setting: Setting, state: State) -> Vertex | None:
    """Solve the linear program; None if its solver fails."""
    n_components, n = state.duals.shape
    begin, end = setting.ranges[setting.sides].T
    numbers = np.arange(n_components)[:, None]
    components, samples = np.nonzero((begin <= numbers) & (numbers < end))
    columns = setting.shares[:, samples].copy()
    columns[components, np.arange(samples.size)] -= 1.0
    places = np.arange(samples.size)
    totals = scipy.sparse.csr_matrix((np.ones(samples.size), (samples, places)), shape=(n, samples.size))
    found = linprog(
        -gradients(setting, state)[components, samples],
        A_ub=totals,
        b_ub=setting.bounds,
        A_eq=columns[:-1],
        b_eq=np.zeros(n_components - 1),
        method="highs",
    )
    if found.status != 0:
        return None
    duals = np.zeros_like(state.duals)
    duals[components, samples] = np.maximum(found.x, 0.0)
    return Vertex(duals, np.append(found.eqlin.marginals, 0.0))
