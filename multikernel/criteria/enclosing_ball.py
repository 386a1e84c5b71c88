"""The smallest ball around the samples in feature space, in the form of the other machines.

    R² = max_b  b'd − b'Kb,    b ≥ 0, Σb = 1,   d = diag K
       = min_w  max_i ‖φ(x_i) − w‖² = min_w  ‖w‖² + max_i (d_i − 2 f_i),    f = Kb

With the target d/2 this is twice  max_b y'b − ½ b'Kb, whose primal risk is max_i (y_i − f_i).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .margin import Loss

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class EnclosingBall(Loss):
    """``target`` is half the diagonal of the kernel; twice the optimal value is the squared radius.

    Examples
    --------
    >>> x = np.array([-1.0, 0.0, 3.0])
    >>> EnclosingBall(0.5 * x * x).risk(np.outer(x, x) @ [0.5, 0.0, 0.5])
    (1.5, 0.0)
    """

    total = 1.0

    @property
    def lower(self) -> Array:
        return np.zeros(self.target.size)

    @property
    def upper(self) -> Array:
        return np.ones(self.target.size)

    @property
    def start(self) -> Array:
        """All samples alike."""
        return np.full(self.target.size, 1.0 / self.target.size)

    def risk(self, scores: Array) -> tuple[float, float]:
        return float((self.target - scores).max()), 0.0

    def restrict(self, index: Array, factor: float) -> "EnclosingBall":
        return EnclosingBall(self.target[index])

    def rescaled(self, kernel_scale: float, target_scale: float) -> "EnclosingBall":
        if kernel_scale != target_scale:
            raise ValueError("the diagonal is part of the kernel: both must be scaled alike.")
        return EnclosingBall(self.target / target_scale)
