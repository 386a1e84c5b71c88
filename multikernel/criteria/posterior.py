"""The loss of the support vector machine with soft labels (PPSVM).

A soft label ŷ_i = P(+|x_i) − P(−|x_i) in [−1, 1] takes the place of the label ±1 in the constraints,
ŷ_i(f_i + b) ≥ ŷ_i²(1 − ξ_i). With the side s_i = sign ŷ_i,

    min  ½‖w‖² + Σ_i (C_i/|ŷ_i|) [|ŷ_i| − s_i(f_i + b)]₊
    max_β  ŷ'β − ½ β'Kβ   subject to   0 ≤ s_i β_i ≤ C_i/|ŷ_i|,  Σβ = 0:

a sample has to reach the margin |ŷ_i| only, and each unit that is missing costs the more, the smaller it is.
With ŷ_i = ±1 it is the hinge. Weights of samples alone cannot express it, for they leave the margin at 1.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .margin import _PricedLoss, _weighted_quantile

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class PosteriorHinge(_PricedLoss):
    """The hinge of soft labels; ``target`` holds ŷ, not zero, ``C`` one number for each sample (or for all).

    Examples
    --------
    >>> loss = PosteriorHinge(np.array([1.0, -0.5]), 2.0)
    >>> loss.lower.tolist(), loss.upper.tolist()
    ([0.0, -4.0], [2.0, 0.0])
    >>> loss.risk(np.zeros(2))  # the bias -0.5 meets the second margin
    (3.0, -0.5)
    """

    @cached_property
    def _prices(self) -> Array:
        """What one unit of missing margin costs."""
        return np.asarray(self._C / np.abs(self.target))

    @property
    def lower(self) -> Array:
        return np.where(self.target > 0, 0.0, -self._prices)

    @property
    def upper(self) -> Array:
        return np.where(self.target > 0, self._prices, 0.0)

    def risk(self, scores: Array) -> tuple[float, float]:
        y, prices = self.target, self._prices
        b = _weighted_quantile(y - scores, prices, float(prices[y > 0].sum()))
        missing = np.maximum(np.sign(y) * (y - scores - b), 0.0)
        return float(prices @ missing), b

    def restrict(self, index: Array, factor: float) -> "PosteriorHinge":
        return PosteriorHinge(self.target[index], self._C[index] * factor)

    def rescaled(self, kernel_scale: float, target_scale: float) -> "PosteriorHinge":
        return PosteriorHinge(self.target / target_scale, self._C * (kernel_scale / target_scale**2))
