"""What the solvers of margin machines return."""

from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from ..optim.loop import Result


@dataclass(frozen=True)
class MachineResult(Result):
    """A fixed-kernel machine.

    Attributes
    ----------
    dual : array (n,), label × dual of a classifier
    intercept : float
    objective : float, the dual value
    gap : float, (primal − dual) / |primal|
    n_iter : int, steps of the inner solver
    status : Status
    """

    dual: Array
    intercept: float


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
