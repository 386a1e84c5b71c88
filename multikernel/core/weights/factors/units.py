"""A first look at the rows: their scale, and a part of them to start on."""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ...._typing import Array
from ...optim.gaps import power_of_two
from ...svm.primal import PrimalLoss
from .rounds import ChosenRows, FactorBlock, Sums, factors_of, unpacked


@dataclass(frozen=True)
class Survey:
    """Sums that tell the scale of a problem.

    Attributes
    ----------
    squares : array (R,), squared factors over the rows that were looked at
    n_looked_at : array (1,), how many these are
    peak : array (1,), the largest |target|
    price, priced_target, priced_square : array (T,), Σ C, Σ C target and Σ C target²
    risk : array (1,), Σ C ℓ at scores of 0
    """

    squares: Array
    n_looked_at: Array
    peak: Array
    price: Array
    priced_target: Array
    priced_square: Array
    risk: Array

    def __add__(self, other: "Survey") -> "Survey":
        parts = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Survey(**{**parts, "peak": np.maximum(self.peak, other.peak)})


def block_survey(block: FactorBlock, loss: PrimalLoss, share: int) -> Survey:
    """The survey of one block: of all targets, and of one in ``share`` rows of its factors."""
    Z, targets, prices = factors_of(block)
    some = np.asarray(Z[_chosen(block, share, 0)], float)
    prices = np.broadcast_to(prices, targets.shape)
    return Survey(
        squares=np.einsum("ij,ij->j", some, some),
        n_looked_at=np.array([float(some.shape[0])]),
        peak=np.array([np.abs(targets).max(initial=0.0)]),
        price=prices.sum(axis=0),
        priced_target=(prices * targets).sum(axis=0),
        priced_square=(prices * targets * targets).sum(axis=0),
        risk=np.array([(prices * loss.value(targets, np.zeros_like(targets))).sum()]),
    )


def thin(block: FactorBlock, share: int, seed: int) -> tuple[ChosenRows]:
    """About one in ``share`` rows, each counted ``share`` times; the choice hangs on row numbers alone."""
    Z, targets, prices = factors_of(block)
    rows = _chosen(block, share, seed)
    return (ChosenRows(Z.shape[0], (Z[rows], targets[rows], prices[rows] * float(share))),)


def _chosen(block: FactorBlock, share: int, seed: int) -> Array:
    """One in ``share`` rows of a block, by a number without pattern (splitmix64) that a row's number gives.

    Rows that come in turns are met evenly, and another partition into blocks chooses the same.
    """
    n = block.parts[0].shape[0]
    x = np.arange(block.start, block.start + n, dtype=np.uint64)
    x = x + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.flatnonzero((x ^ (x >> np.uint64(31))) % np.uint64(share) == 0)


# -----------------------------------------------------------------------------
# Units in which the numbers are of order one.
#
# With Z_m = d_m s Z'_m and y = t y' (s and t powers of two, d_m the costs), the same problem has
#
#     w_m = (t / (d_m s)) w'_m,   b = t b',   β = (t/s²) β',   P = (t²/s²) P',   μ_m = μ'_m / d_m².


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
