"""What the solver on factors returns."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...core.optim.loop import Result

Array = np.ndarray[Any, np.dtype[Any]]


class Witness(NamedTuple):
    """Where the slopes of the (smoothed) loss give the β of the lower bound: β = −C ∂ℓ/∂f.

    Where it does not sum to zero, and there is an intercept, its heavier side is scaled down; then all of it
    by the best factor within its bounds.

    Attributes
    ----------
    coefficients : array (T, R)
    intercepts : array (T,)
    smoothing : float, the width in units of the targets; 0 for losses without a kink
    """

    coefficients: Array
    intercepts: Array
    smoothing: float


@dataclass(frozen=True)
class BlockResult(Result):
    """Learned weights of blocks of factors, and one linear machine for each task.

    Attributes
    ----------
    weights : array (m,), of the kernels Z_m Z_m'
    coefficients : array (T, R), the scores are Z @ coefficients.T + intercepts
    intercepts : array (T,)
    objective : float, the dual value at the learned kernel
    upper_bound, lower_bound : float, they enclose the optimal value; the first is that of the coefficients
    gap : float, (upper − lower) / |upper|
    witness : Witness, of the lower bound
    smoothing : float, the last width of the smoothing; 0 for losses without a kink
    n_iter : int, steps on all rows
    rounds : int, map-reduces, those on a part of the rows included
    bytes_moved : int, what went to the blocks and came back, over all blocks and rounds
    status : Status
    history : list of dict with iteration, objective, lower_bound, gap, n_active, smoothing
        The best bounds until then; in the last entry those of what is returned.
    """

    weights: Array
    coefficients: Array
    intercepts: Array
    upper_bound: float
    lower_bound: float
    witness: Witness
    smoothing: float
    rounds: int
    bytes_moved: int

    @property
    def is_finite(self) -> bool:
        """Whether nothing overflowed on the way back to the caller's units."""
        numbers = (self.weights, self.coefficients, self.intercepts, np.array([self.objective, self.gap]))
        return all(bool(np.isfinite(values).all()) for values in numbers)
