"""Labelled and unlabelled points for kernel matrix learning: ionosphere, four fifths of the rows labelled.

The kernels are those of Lanckriet et al., all with unit diagonal: (1 + x'z)², Gaussians exp(−‖x − z‖² / 2σ),
x'z. Where no folder has ionosphere, scikit-learn's breast cancer (standardised) takes its place; every
record says which.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from judges.programs.tasks import TransductiveProblem
from multikernel.datasets import load_dataset

FloatArray = NDArray[np.float64]

TRANSDUCTIVE = ("ionosphere", "breast_cancer")
LABELLED = 0.8

_SEED = 0
_WIDTHS = (0.5, 3.0, 10.0)  # σ; a bank of three kernels has the first alone
_NOISE = 0.05  # of the rows that are used again, so that no row is there twice


@cache
def transductive_rows() -> tuple[str, FloatArray, FloatArray]:
    """Name, distinct rows and labels ±1 of the data that this machine has."""
    try:
        found = load_dataset("ionosphere")
        name, points, target = "ionosphere", np.asarray(found.X, dtype=np.float64), np.asarray(found.y)
    except ValueError:  # no folder has the set, and OpenML cannot be asked
        name = "breast_cancer"
        points, target = load_breast_cancer(return_X_y=True)
        points = (points - points.mean(axis=0)) / points.std(axis=0)
    distinct, first = np.unique(points, axis=0, return_index=True)
    return name, distinct, np.where(target[first] == 1, 1.0, -1.0)


def _draw(points: FloatArray, y: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """n rows in random order; beyond those there are, rows again with noise."""
    rng = np.random.default_rng(_SEED)
    order = np.resize(rng.permutation(len(points)), n)
    drawn = points[order]
    drawn[len(points) :] += _NOISE * rng.normal(size=drawn[len(points) :].shape)
    return drawn, y[order]


def unit_diagonal_kernels(points: FloatArray, m: int) -> FloatArray:
    """The m kernels, (m, n, n), exactly symmetric."""
    if not 3 <= m <= 2 + len(_WIDTHS):
        raise ValueError(f"a transductive bank has 3 to {2 + len(_WIDTHS)} kernels; {m} were asked for")
    inner = points @ points.T
    squares = np.diag(inner)
    distances = np.maximum(squares[:, None] + squares[None, :] - 2.0 * inner, 0.0)
    grams = [(1.0 + inner) ** 2, *(np.exp(-0.5 * distances / width) for width in _WIDTHS[: m - 2]), inner]
    stack = np.empty((m, len(points), len(points)))
    for index, gram in enumerate(grams):
        root = np.sqrt(np.diag(gram))
        scaled = gram / np.outer(root, root)
        stack[index] = 0.5 * (scaled + scaled.T)
        np.fill_diagonal(stack[index], 1.0)
    return stack


def transductive_problem(n: int, m: int, C: float = 1.0) -> TransductiveProblem:
    """n points, m kernels, four fifths of the points labelled."""
    dataset, points, y = transductive_rows()
    drawn, labels = _draw(points, y, n)
    return TransductiveProblem(dataset, unit_diagonal_kernels(drawn, m), labels[: int(LABELLED * n)], C)
