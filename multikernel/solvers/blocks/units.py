"""Units in which the numbers are of order one.

With Z_m = d_m s Z'_m and y = t y' (s and t powers of two, d_m the costs), the same problem has

    w_m = (t / (d_m s)) w'_m,   b = t b',   β = (t/s²) β',   P = (t²/s²) P',   μ_m = μ'_m / d_m².
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..relative import power_of_two
from .sums import Sums, unpacked
from .survey import Survey

Array = np.ndarray[Any, np.dtype[Any]]


class Derivatives(NamedTuple):
    """Second derivatives of the smoothed loss in w and b; h is 1 where the tasks share them."""

    hessian: Array  # (h, R, R)
    edge: Array  # (h, R)
    corner: Array  # (h,)


@dataclass(frozen=True)
class Units:
    """The change of units; ``columns`` (R,) is 1 / (d_m s) of each column's block."""

    columns: Array
    kernel: float = 1.0  # s²
    target: float = 1.0  # t

    @property
    def value(self) -> float:
        return self.kernel / self.target / self.target

    def coefficients(self, w: Array) -> Array:
        """The caller's coefficients of the scaled ones."""
        return w * (self.columns * self.target)

    def scaled_coefficients(self, w: Array) -> Array:
        return w / self.columns / self.target

    def sums(self, sums: Sums) -> tuple[Sums, Derivatives | None]:
        """Sums in the scaled units, and the Hessian unpacked (None where there is none)."""
        dual, value = self.kernel / self.target, self.value
        scaled = Sums(
            risk=sums.risk * value,
            price=sums.price * dual,
            smoothed=sums.smoothed * value,
            adjoint=sums.adjoint * (self.columns * dual),
            total=sums.total * dual,
            reward=sums.reward * (dual / self.target),
            shifted=sums.shifted * value,
            peak=sums.peak,
            inner=sums.inner * np.array([1.0, dual, value, value / self.target]),
            inner_sides=sums.inner_sides * np.array([dual, dual / self.target]),
            inner_adjoint=sums.inner_adjoint * np.outer([dual, dual / self.target], self.columns),
            hessian=sums.hessian[:0].copy(),  # a view would keep the whole
            edge=sums.edge[:0],
            corner=sums.corner[:0],
        )
        if not sums.corner.size:
            return scaled, None
        hessian = np.empty((len(sums.hessian), self.columns.size, self.columns.size))
        for task, packed in enumerate(sums.hessian):
            hessian[task] = unpacked(packed, self.columns.size)
        hessian *= self.columns[:, None]
        hessian *= self.columns * self.kernel
        edge, corner = sums.edge * (self.columns * self.kernel), sums.corner * self.kernel
        return scaled, Derivatives(hessian, edge, corner)


def choose_units(survey: Survey, offsets: Array, costs: Array, has_signs: bool) -> Units:
    """The largest mean diagonal after costs, and the largest target, become of order one."""
    diagonals = np.add.reduceat(survey.squares, offsets[:-1]) / max(float(survey.n_looked_at[0]), 1.0)
    root = power_of_two(float(np.sqrt((diagonals / (costs * costs)).max())))
    target = 1.0 if has_signs else power_of_two(float(survey.peak[0]))
    return Units(1.0 / (np.repeat(costs, np.diff(offsets)) * root), root * root, target)
