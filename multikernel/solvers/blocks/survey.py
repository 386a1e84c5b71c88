"""A first look at the rows: their scale, and a part of them to start on."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...criteria.primal import PrimalLoss
from .sums import ChosenRows, FactorBlock, factors_of

Array = np.ndarray[Any, np.dtype[Any]]


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
