"""What a contestant hands to the judge, and how what is feasible but for rounding becomes feasible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """Weights on the simplex, duals in the box, and the number of SVM solves where that is meaningful."""

    weights: NDArray[np.float64]
    alpha: NDArray[np.float64]
    n_solves: int | None = None


@dataclass(frozen=True)
class MatrixAnswer:
    """Weights μ of the kernels over all points, duals of the labelled ones, how the solver says it ended."""

    weights: NDArray[np.float64]
    alpha: NDArray[np.float64]
    status: str


@dataclass(frozen=True)
class DiscriminantAnswer:
    """Weights θ with θ'r = 1, λ as it was given or learned, how the solver says it ended."""

    weights: NDArray[np.float64]
    reg: float
    status: str


@dataclass(frozen=True)
class ProjectionAnswer:
    """Duals (n_positive, N) and (n_negative, M), offsets (M,) and (N,), how the solver says it ended."""

    duals: tuple[NDArray[np.float64], NDArray[np.float64]]
    offsets: tuple[NDArray[np.float64], NDArray[np.float64]]
    status: str


@dataclass(frozen=True)
class LocalizedAnswer:
    """A gate (P, D + 1), signed duals (n,) and intercept; the objective of the start as it was found there.

    ``n_solves`` machines were solved for ``n_steps`` steps of the descent.
    """

    gate: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    intercept: float
    n_solves: int
    n_steps: int
    first: float
    status: str


@dataclass(frozen=True)
class JointAnswer:
    """Duals α (n, n_classes), intercepts (n_classes,), how the solver says it ended."""

    alpha: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    status: str


@dataclass(frozen=True)
class JointWeightsAnswer:
    """Weights (m,) on the simplex, duals α (n, n_classes), intercepts (n_classes,), how the solver ended."""

    weights: NDArray[np.float64]
    alpha: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    status: str
    n_solves: int | None = None


def make_feasible(alpha: ArrayLike, y: ArrayLike, C: float) -> FloatArray:
    """The duals of an interior-point method, clipped into the box and balanced by scaling one class down.

    This can only help a contestant whose duals are feasible to its own tolerance and not to rounding.
    """
    y = np.asarray(y, dtype=np.float64)
    clipped = np.clip(np.asarray(alpha, dtype=np.float64), 0.0, C)
    positive, negative = float(clipped[y > 0].sum()), float(clipped[y < 0].sum())
    if min(positive, negative) <= 0.0:
        return np.zeros_like(clipped)
    heavy = y > 0 if positive > negative else y < 0
    clipped[heavy] *= min(positive, negative) / max(positive, negative)
    return clipped


def make_weights(weights: ArrayLike) -> FloatArray:
    """Weights clipped at zero and divided by their sum."""
    clipped = np.maximum(np.asarray(weights, dtype=np.float64), 0.0)
    return clipped / clipped.sum()
