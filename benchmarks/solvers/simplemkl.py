"""SimpleMKL (Rakotomamonjy, Bach, Canu and Grandvalet, 2008) written plainly around scikit-learn's SVC.

min over the simplex of J(d) = max_alpha sum alpha − ½ sum_m d_m q_m(alpha): a reduced gradient step from the
largest weight, followed to the last facet that still lowers J, then a golden section search on that
segment. As in the authors' own program, the search starts coarse (a tenth of the segment) and is refined
tenfold whenever a step no longer moves the weights.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.solvers.svc import duals_of, solve_svc
from judges.programs.answers import Answer

FloatArray = NDArray[np.float64]

_GOLDEN = (5.0**0.5 - 1.0) / 2.0
_COARSE_SEARCH, _FINE_SEARCH = 1e-1, 1e-8
_NO_MOVE = 1e-8
_ZERO_WEIGHT = 1e-12


class _Objective:
    """J(d) and its gradient by one SVC solve each, counted."""

    def __init__(self, kernels: FloatArray, y: FloatArray, C: float, svc_tol: float):
        self.kernels, self.y, self.C, self.svc_tol = kernels, y, C, svc_tol
        self.n_solves = 0

    def solve(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """J(weights) and the duals there."""
        self.n_solves += 1
        kernel = self._combined(weights)
        alpha = duals_of(solve_svc(kernel, self.y, self.C, self.svc_tol), self.y)
        beta = self.y * alpha
        return float(alpha.sum() - 0.5 * beta @ kernel @ beta), alpha

    def _combined(self, weights: FloatArray) -> FloatArray:
        """The weighted sum of the kernels that have weight."""
        first, *others = np.flatnonzero(weights)
        kernel = weights[first] * self.kernels[first]
        for index in others:
            kernel += weights[index] * self.kernels[index]
        return kernel

    def gradient(self, alpha: FloatArray) -> FloatArray:
        """dJ/dd_m = −½ (y∘alpha)' K_m (y∘alpha)."""
        m, n, _ = self.kernels.shape
        beta = self.y * alpha
        return -0.5 * (self.kernels.reshape(m * n, n) @ beta).reshape(m, n) @ beta


def _direction(weights: FloatArray, gradient: FloatArray) -> FloatArray:
    """Reduced gradient with respect to the largest weight; zero weights may only grow."""
    reference = int(np.argmax(weights))
    direction = gradient[reference] - gradient
    direction[(weights <= 0.0) & (direction < 0.0)] = 0.0
    direction[reference] = 0.0
    direction[reference] = -direction.sum()
    return direction


def _longest_step(weights: FloatArray, direction: FloatArray) -> tuple[float, int]:
    """The step at which the first weight reaches zero, and which one."""
    shrinking = np.flatnonzero(direction < 0.0)
    if shrinking.size == 0:
        return 0.0, -1
    steps = -weights[shrinking] / direction[shrinking]
    first = int(np.argmin(steps))
    return float(steps[first]), int(shrinking[first])


def _on_simplex(weights: FloatArray) -> FloatArray:
    clipped = np.where(weights > _ZERO_WEIGHT, weights, 0.0)
    return clipped / clipped.sum()


def _golden_search(
    objective: _Objective, weights: FloatArray, direction: FloatArray, longest: float, precision: float
) -> FloatArray:
    """The best point of weights + [0, longest] direction, to `precision` of the segment."""

    def at(step: float) -> FloatArray:
        return _on_simplex(weights + step * direction)

    low, high = 0.0, longest
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    j_left, j_right = objective.solve(at(left))[0], objective.solve(at(right))[0]
    while high - low > precision * longest:
        if j_left <= j_right:
            high, right, j_right = right, left, j_left
            left = high - _GOLDEN * (high - low)
            j_left = objective.solve(at(left))[0]
        else:
            low, left, j_left = left, right, j_right
            right = low + _GOLDEN * (high - low)
            j_right = objective.solve(at(right))[0]
    return at(left if j_left <= j_right else right)


def _descend(
    objective: _Objective, weights: FloatArray, value: float, direction: FloatArray, precision: float
) -> FloatArray:
    """One outer step: walk from facet to facet while J falls, then search the last segment."""
    reference = int(np.argmax(weights))
    while True:
        longest, leaving = _longest_step(weights, direction)
        if longest <= 0.0:
            return weights
        candidate = weights + longest * direction
        candidate[leaving] = 0.0
        candidate = _on_simplex(candidate)
        candidate_value = objective.solve(candidate)[0]
        if candidate_value >= value:
            return _golden_search(objective, weights, direction, longest, precision)
        weights, value = candidate, candidate_value
        direction = direction.copy()
        direction[reference] += direction[leaving]
        direction[leaving] = 0.0
        if leaving == reference or not np.any(direction):
            return weights


def iterate_simplemkl(
    kernels: FloatArray, y: FloatArray, C: float, svc_tol: float = 1e-4
) -> Iterator[Answer]:
    """Yield weights and duals after every outer iteration, until no search moves the weights any more.

    The caller judges each answer and decides when to stop, so that SimpleMKL needs no certificate of its
    own and pays for none.
    """
    m = kernels.shape[0]
    objective = _Objective(kernels, y, C, svc_tol)
    weights, precision = np.full(m, 1.0 / m), _COARSE_SEARCH
    while True:
        value, alpha = objective.solve(weights)
        yield Answer(weights.copy(), alpha, objective.n_solves)
        direction = _direction(weights, objective.gradient(alpha))
        moved = _descend(objective, weights, value, direction, precision)
        if np.abs(moved - weights).max() < _NO_MOVE:
            precision /= 10.0
            if precision < _FINE_SEARCH:
                return
        weights = moved
