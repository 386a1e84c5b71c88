"""Transforms of kernels, carried out on factors: z_i in place of row i of the Gram matrix.

A factor is a projection of what it stands for, z = Pφ(x), so that k(x, x) − ‖z‖² ≥ 0 is what it leaves out.
Each step changes the factors in their memory and returns the exact k(x, x) after it:

- centring subtracts the mean factor of the reference rows: φ(x) is centred at the projected mean, which
  leaves out as much as before;
- a unit diagonal divides z by the exact √k(x, x), so that Z approximates the normalised kernel;
- a unit trace multiplies z by √(1 / mean of k(x, x) over the reference rows);
- a unit variance multiplies z by √(1 / (mean of k(x, x) − ‖mean of z‖²)), both over the reference rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multikernel.kernels import Center, Chain, PSDRepair, Transform, UnitDiagonal, UnitTrace, UnitVariance
from multikernel.kernels._rows import squared_norms
from multikernel.kernels.transforms import inverse_roots

_FLAT = 1e-12  # of the largest k(x, x), as for Gram matrices


class FactorStep(ABC):
    """One transform of factors, fitted on those of the reference rows."""

    @abstractmethod
    def apply(self, Z: np.ndarray, diagonal: np.ndarray | None) -> np.ndarray | None:
        """Transform Z (n, r) in its memory; returns k(x, x) after the step, or None where None was given."""


@dataclass(frozen=True, eq=False)
class Shift(FactorStep):
    """z ↦ z − mean."""

    mean: np.ndarray = field(repr=False)

    def apply(self, Z: np.ndarray, diagonal: np.ndarray | None) -> np.ndarray | None:
        if diagonal is None:
            Z -= self.mean
            return None
        left_out = np.maximum(diagonal - squared_norms(Z), 0.0)
        Z -= self.mean
        return left_out + squared_norms(Z)


@dataclass(frozen=True, eq=False)
class UnitLength(FactorStep):
    """z ↦ z / √k(x, x); zero where k(x, x) is."""

    def apply(self, Z: np.ndarray, diagonal: np.ndarray | None) -> np.ndarray | None:
        assert diagonal is not None
        roots = inverse_roots(diagonal)
        if not np.all(roots == 1.0):  # Gaussian-like kernels have a unit diagonal already
            Z *= roots[:, None]
        return (roots > 0.0).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Scale(FactorStep):
    """z ↦ root · z."""

    root: float

    def apply(self, Z: np.ndarray, diagonal: np.ndarray | None) -> np.ndarray | None:
        Z *= self.root
        return None if diagonal is None else diagonal * (self.root * self.root)


def fit_steps(
    transforms: Iterable[Transform], Z: np.ndarray, diagonal: np.ndarray
) -> tuple[tuple[FactorStep, ...], np.ndarray]:
    """Fit a view's transforms on factors Z of the reference rows, which are transformed in their memory.

    Given the exact k(x, x), also returns what they are after the transforms.
    """
    steps: list[FactorStep] = []
    for transform in _flat(transforms):
        if isinstance(transform, PSDRepair):
            continue  # nothing to clip: Z Zᵀ has no negative eigenvalue
        if isinstance(transform, Center) and find_degenerate(Z, diagonal):
            Z[...], diagonal = 0.0, np.zeros_like(diagonal)  # else rounding would be left
        steps.append(_fitted(transform, Z, diagonal))
        after = steps[-1].apply(Z, diagonal)
        assert after is not None
        diagonal = after
    return tuple(steps), diagonal


def find_degenerate(Z: np.ndarray, diagonal: np.ndarray) -> str:
    """Whether a kernel is "all zero" or "constant" on rows with factors Z (n, r) and k(x, x), or neither, "".

    With z̄ the mean factor and δ what a row has beyond it, k(x, x′) = ‖z̄‖² + z̄ · δ + z̄ · δ′ + δ · δ′.
    """
    largest = float(diagonal.max())
    if largest <= 0.0:
        return "all zero"
    mean = Z.mean(axis=0)
    beyond = Z - mean
    squares = np.maximum(diagonal - squared_norms(Z), 0.0) + squared_norms(beyond)
    spread = float(np.abs(beyond @ mean).max()) + float(squares.max())
    return "constant" if len(Z) > 1 and spread <= _FLAT * largest else ""


def _fitted(transform: Transform, Z: np.ndarray, diagonal: np.ndarray) -> FactorStep:
    if isinstance(transform, Center):
        return Shift(Z.mean(axis=0))
    if isinstance(transform, UnitDiagonal):
        return UnitLength()
    if isinstance(transform, UnitVariance):
        mean = Z.mean(axis=0)
        factor = UnitVariance().fit_means(diagonal, float(mean @ mean)).factor
    else:
        factor = UnitTrace().fit_diagonal(diagonal).factor
    assert factor is not None
    return Scale(float(np.sqrt(factor)))


def check_transforms(transforms: Iterable[Transform]) -> None:
    """Refuse transforms that have no counterpart on factors."""
    for transform in _flat(transforms):
        if isinstance(transform, PSDRepair) and transform.how == "shift":
            raise ValueError(
                "transforms='shift' adds a multiple of the identity, which no factor of low rank holds. "
                "Leave it out: factors represent positive semidefinite kernels only; or use gram='dense'."
            )
        if not isinstance(transform, Center | UnitDiagonal | UnitTrace | UnitVariance | PSDRepair):
            raise ValueError(
                f"{type(transform).__name__} is a transform of Gram matrices that factors cannot follow. Use "
                "'center', 'unit_diagonal', 'unit_trace', 'unit_variance' or 'clip', or gram='dense'."
            )


def _flat(transforms: Iterable[Transform]) -> list[Transform]:
    """Transforms in their order, chains opened."""
    opened: list[Transform] = []
    for transform in transforms:
        opened += _flat(transform.transforms) if isinstance(transform, Chain) else [transform]
    return opened


def share_left_out(transforms: Iterable[Transform], Z: np.ndarray, diagonal: np.ndarray) -> float:
    """The relative trace error after transforms that are fitted on these factors; Z is not changed."""
    Z = np.array(Z)
    _, diagonal = fit_steps(transforms, Z, diagonal)
    return float(trace_errors(diagonal.sum(), squared_norms(Z).sum()))


def trace_errors(exact: Any, of_factors: Any) -> np.ndarray:
    """1 − Σ ‖z‖² / Σ k(x, x), not below 0; 0 where both sums are."""
    exact, of_factors = np.asarray(exact), np.asarray(of_factors)
    positive = exact > 0.0
    return np.where(positive, np.maximum(1.0 - of_factors / np.where(positive, exact, 1.0), 0.0), 0.0)


def row_weights(transforms: Iterable[Transform], diagonal: np.ndarray) -> np.ndarray:
    """What 1 of k(x, x) of each row is after the transforms, up to a factor that all rows share."""
    if any(isinstance(transform, UnitDiagonal) for transform in _flat(transforms)):
        return inverse_roots(diagonal) ** 2
    return np.ones(len(diagonal))
