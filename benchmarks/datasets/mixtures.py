"""Projections of kernel mixtures to measure on: two data sets, posteriors at the start and near the end of a fit.

* "mc", scikit-learn's synthetic classes: a linear, a quadratic and a Gaussian kernel of unit diagonal, one
  component each in both classes, C = 10.
* "piecewise", after the synthetic problem of Lewis et al. (2006): the plane, the boundary a line on the left
  and a parabola on the right, classes 0.2 above and below it; a linear and a quadratic kernel as they are,
  C = 1e4, with which the classes are separated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets.points import load_points
from multikernel.solvers.nonstationary.mixtures import Mixtures
from multikernel.solvers.nonstationary.projection import Projection
from multikernel.solvers.nonstationary.working_set import project_interior

FloatArray = NDArray[np.float64]
Pair = tuple[FloatArray, FloatArray]

POSTERIORS = ("uniform", "random", "converged")

_SEED = 0
_SHIFT = 0.2
_TURNS, _UNCHANGED = 30, 1e-3
_FLOOR = 1e-8
_BOUNDS = {"mc": 10.0, "piecewise": 1e4}


@dataclass(frozen=True)
class ProjectionTask:
    """Find the best mixtures for given posteriors; every kernel is a component of both classes.

    Attributes
    ----------
    kernels : array (m, n, n)
    y : array (n,), ±1
    posteriors : pair of arrays (n_positive, m) and (n_negative, m), rows sum to 1
    C : float
    margin : float, γ of every sample: 1 + ln m
    """

    kernels: FloatArray
    y: FloatArray
    posteriors: Pair
    C: float
    margin: float

    @property
    def rows(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The samples of the positive and of the negative class."""
        return np.flatnonzero(self.y > 0), np.flatnonzero(self.y < 0)

    @property
    def projection(self) -> Projection:
        """The same, as the package has it."""
        m, n = self.kernels.shape[:2]
        every = np.arange(m), np.arange(m)
        mixtures = Mixtures(self.kernels, every, self.rows, np.full(n, self.C), np.full(n, self.margin))
        return Projection(mixtures, self.posteriors)


def piecewise_points(n: int, seed: int = _SEED) -> tuple[FloatArray, FloatArray]:
    """n points of the plane and their labels ±1."""
    rng = np.random.default_rng(seed)
    across = rng.uniform(-3.0, 3.0, n)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    boundary = np.where(across < 0.0, across, across**2)
    return np.column_stack([across, boundary + y * (_SHIFT + rng.exponential(1.0, n))]), y


def kernels_of(dataset: str, n: int) -> tuple[FloatArray, FloatArray]:
    """The stack, kernels first, and the labels."""
    points, y = load_points("mc", n) if dataset == "mc" else piecewise_points(n)
    inner = points @ points.T
    inner = 0.5 * (inner + inner.T)
    if dataset != "mc":
        return np.stack([inner, (1.0 + inner) ** 2]), y
    squares = np.diag(inner)
    distances = np.maximum(squares[:, None] + squares - 2.0 * inner, 0.0)
    np.fill_diagonal(distances, 0.0)
    stack = np.stack([inner, (1.0 + inner) ** 2, np.exp(-distances / np.median(distances))])
    norms = np.sqrt(np.einsum("mtt->mt", stack))
    return stack / norms[:, :, None] / norms[:, None, :], y


@cache
def projection_task(dataset: str, n: int, posteriors: str) -> ProjectionTask:
    """Posteriors "uniform", "random", or "converged": those at which the turns of a fit hardly move any more."""
    kernels, y = kernels_of(dataset, n)
    m = len(kernels)
    counts = int((y > 0).sum()), int((y < 0).sum())
    shares: Pair = np.full((counts[0], m), 1.0 / m), np.full((counts[1], m), 1.0 / m)
    if posteriors == "random":
        rng = np.random.default_rng(_SEED)
        shares = rng.dirichlet(np.ones(m), counts[0]), rng.dirichlet(np.ones(m), counts[1])
    task = ProjectionTask(kernels, y, shares, _BOUNDS[dataset], 1.0 + float(np.log(m)))
    return _converged(task) if posteriors == "converged" else task


def _converged(task: ProjectionTask) -> ProjectionTask:
    for _ in range(_TURNS):
        projection = task.projection
        after = projection.mixtures.posteriors(project_interior(projection, tol=1e-7).point)
        change = max(float(np.abs(new - old).max()) for new, old in zip(after, task.posteriors, strict=True))
        floored = [(q + _FLOOR) / (1.0 + q.shape[1] * _FLOOR) for q in after]
        task = replace(task, posteriors=(floored[0], floored[1]))
        if change < _UNCHANGED:
            break
    return task
