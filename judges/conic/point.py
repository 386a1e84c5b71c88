"""What the conic solver returns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class ConicPoint:
    """Weights, the machine that they give, and bounds of the optimum with their proof.

    Attributes
    ----------
    w : array (n_members,), feasible, K(w) ⪰ 0 but for rounding
    beta : array (N,), label × dual of the machine with weights w
    intercept : float, of that machine
    value : float, its dual value 2y'β − β'(K(w) + τI)β
    upper : float, its primal value: no less than the optimum
    lower : float, what ``proof`` and ``Z`` prove: no more than the optimum
    proof : array (N,), feasible duals
    Z : array (p, p) or None, multiplier of K(w) ⪰ 0 on the cone's range
    n_rounds : int, programs in weights and duals that were solved
    why : str
        How it ended: "solved" (the gap is at most the tolerance), "stopped" (by ``watch``), "stalled" or
        "max_iter".
    """

    w: Array
    beta: Array
    intercept: float
    value: float
    upper: float
    lower: float
    proof: Array
    Z: Array | None
    n_rounds: int
    why: str

    @property
    def gap(self) -> float:
        """(upper − lower) / |upper|, infinite where a bound is."""
        if not (np.isfinite(self.upper) and np.isfinite(self.lower)):
            return np.inf
        return (self.upper - self.lower) / max(abs(self.upper), float(np.finfo(float).tiny))
