"""A problem so small that fitting it costs compilation and nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multikernel import MKLClassifier


def tiny_problem() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A stack of three kernels on 40 points, (3, 40, 40), and labels."""
    rng = np.random.RandomState(0)
    points = rng.normal(size=(40, 3))
    y = np.where(points[:, 0] + 0.5 * rng.normal(size=40) > 0, 1.0, -1.0)
    stack = np.stack([np.outer(column, column) + np.eye(40) for column in points.T])
    return stack, y


def fit_tiny() -> None:
    """Fit it as the timed fits are made, so that everything they need is compiled."""
    stack, y = tiny_problem()
    MKLClassifier(kernels="precomputed", C=1.0, tol=1e-6).fit(np.moveaxis(stack, 0, -1), y)
