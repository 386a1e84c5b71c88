"""Projections of kernel mixtures: two data sets, posteriors at the start and near the end of a fit.

* "mc", scikit-learn's synthetic classes: a linear, a quadratic and a Gaussian kernel of unit diagonal, one
  component each in both classes, C = 10.
* "piecewise", after the synthetic problem of Lewis et al. (2006): points 0.2 above and below a curve that
  is a line on the left and a parabola on the right (``multikernel.datasets.make_piecewise``); a linear and
  a quadratic kernel as they are, C = 1e4; mixtures of them separate the classes, neither does alone.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets.points import load_points
from judges.programs.tasks import ProjectionTask
from multikernel.datasets.generators import make_piecewise
from multikernel.nonstationary.solver.working_set import project_interior

FloatArray = NDArray[np.float64]
Pair = tuple[FloatArray, FloatArray]

POSTERIORS = ("uniform", "random", "converged")

_SEED = 0
_TURNS, _UNCHANGED = 30, 1e-3
_FLOOR = 1e-8
_BOUNDS = {"mc": 10.0, "piecewise": 1e4}


def kernels_of(dataset: str, n: int) -> tuple[FloatArray, FloatArray]:
    """The stack, kernels first, and the labels."""
    points, y = load_points("mc", n) if dataset == "mc" else make_piecewise(n, random_state=_SEED)
    inner = points @ points.T
    inner = 0.5 * (inner + inner.T)
    if dataset != "mc":
        return np.stack([inner, (1.0 + inner) ** 2]), y.astype(np.float64)
    squares = np.diag(inner)
    distances = np.maximum(squares[:, None] + squares - 2.0 * inner, 0.0)
    np.fill_diagonal(distances, 0.0)
    stack = np.stack([inner, (1.0 + inner) ** 2, np.exp(-distances / np.median(distances))])
    norms = np.sqrt(np.einsum("mtt->mt", stack))
    return stack / (norms[:, :, None] * norms[:, None, :]), y


@cache
def projection_task(dataset: str, n: int, posteriors: str) -> ProjectionTask:
    """Posteriors "uniform", "random", or "converged": those that a turn of a fit hardly changes."""
    task = uniform_task(*kernels_of(dataset, n), _BOUNDS[dataset])
    if posteriors == "random":
        return randomized(task)
    return converged(task) if posteriors == "converged" else task


def uniform_task(kernels: FloatArray, y: FloatArray, C: float) -> ProjectionTask:
    """The projection at the start of a fit: every component explains a sample as well as the others."""
    m = len(kernels)
    counts = int((y > 0).sum()), int((y < 0).sum())
    shares = np.full((counts[0], m), 1.0 / m), np.full((counts[1], m), 1.0 / m)
    return ProjectionTask(kernels, y, shares, C, 1.0 + float(np.log(m)))


def randomized(task: ProjectionTask) -> ProjectionTask:
    """The same with posteriors from a uniform Dirichlet distribution."""
    rng = np.random.default_rng(_SEED)
    first, second = (rng.dirichlet(np.ones(q.shape[1]), len(q)) for q in task.posteriors)
    return replace(task, posteriors=(first, second))


def converged(task: ProjectionTask) -> ProjectionTask:
    """The same with posteriors that a turn of a fit hardly changes."""
    for _ in range(_TURNS):
        projection = task.projection
        after = projection.mixtures.posteriors(project_interior(projection, tol=1e-7).point)
        change = max(float(np.abs(new - old).max()) for new, old in zip(after, task.posteriors, strict=True))
        floored = [(q + _FLOOR) / (1.0 + q.shape[1] * _FLOOR) for q in after]
        task = replace(task, posteriors=(floored[0], floored[1]))
        if change < _UNCHANGED:
            break
    return task
