"""The objective of localized multiple kernel learning: J(V) at the kernel that the gate of V combines.

    J(V) = max_β dual(β; K_η) + (ridge/2) Σ_m ‖v_m‖²,        K_η = Σ_m (η_m η_m') ∘ K_m

By Danskin's theorem dJ/dV needs no derivative of the duals: dJ/dη_m(x_i) = −c_im / η_m(x_i) at the solution.
"""

from typing import Any, NamedTuple

import numpy as np

from ...combine.gated import GatedStack, gated_contributions
from ...combine.gates import OPEN, Gate
from .machines import Machines, Solved

Array = np.ndarray[Any, np.dtype[Any]]


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
