"""The same descent around scikit-learn's SVC: what one writes with NumPy and a support vector machine.

Start, gate, line search and stopping rule are ours. Every value solves an SVC on the combined kernel from
nothing, with its default tolerance and a cache that holds the whole kernel. Copies of a kernel are combined
in one product (K ∘ EE', E the gates of the copies); values and gradients read the support rows alone, by
BLAS, and a gradient is computed only where a step was accepted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.svm import SVC

from benchmarks.datasets.localized import FloatArray, LocalizedTask
from judges.programs.answers import LocalizedAnswer

SVC_TOL = 1e-3
_CACHE_MB = 2000
_TOL, _MOST_STEPS, _HALVINGS, _SUFFICIENT, _FLAT = 1e-3, 100, 15, 1e-4, 1e-10


@dataclass(frozen=True)
class Point:
    """A gate with its machine."""

    V: FloatArray
    eta: FloatArray
    support: np.ndarray
    beta: FloatArray
    intercept: float
    value: float


class Descent:
    """Steps of at most unit length against the gradient, with Armijo's rule."""

    def __init__(self, task: LocalizedTask) -> None:
        self.task = task
        self.columns = np.column_stack([task.features, np.ones(task.y.size)])
        self.n_solves = 0

    def gate(self, V: FloatArray) -> FloatArray:
        """η (n, P)."""
        activations = self.columns @ V.T
        if self.task.gating == "sigmoid":
            return np.asarray(0.5 * (1.0 + np.tanh(0.5 * activations)))
        activations -= activations.max(axis=1, keepdims=True)
        np.exp(activations, out=activations)
        activations /= activations.sum(axis=1, keepdims=True)
        return activations

    def combine(self, eta: FloatArray) -> FloatArray:
        """K_η."""
        total = None
        for source, kernel in enumerate(self.task.kernels):
            gates = eta[:, self.task.sources == source]
            part = gates @ gates.T
            part *= kernel
            if total is None:
                total = part
            else:
                total += part
        assert total is not None
        return total

    def solve(self, V: FloatArray) -> Point:
        """The machine at a gate."""
        eta = self.gate(V)
        K = self.combine(eta)
        model = SVC(kernel="precomputed", C=self.task.C, tol=SVC_TOL, cache_size=_CACHE_MB)
        model.fit(K, self.task.y)
        self.n_solves += 1
        support, beta = model.support_, model.dual_coef_[0]
        value = float(np.abs(beta).sum() - 0.5 * beta @ (K[np.ix_(support, support)] @ beta))
        return Point(V, eta, support, beta, float(model.intercept_[0]), value)

    def gradient(self, point: Point) -> FloatArray:
        """dJ/dV."""
        eta = point.eta[point.support]
        U = eta * point.beta[:, None]
        c = np.empty_like(U)
        for source, kernel in enumerate(self.task.kernels):
            own = self.task.sources == source
            c[:, own] = U[:, own] * (kernel[np.ix_(point.support, point.support)] @ U[:, own])
        softmax = self.task.gating == "softmax"
        slopes = c - eta * c.sum(axis=1, keepdims=True) if softmax else c * (1.0 - eta)
        return np.asarray(-slopes.T @ self.columns[point.support])

    def run(self, V: FloatArray) -> LocalizedAnswer:
        """Descend from V."""
        point = self.solve(V)
        first, longest, steps, status = point.value, 1.0, 0, "max_iter"
        while steps < _MOST_STEPS:
            gradient = self.gradient(point)
            norm = float(np.linalg.norm(gradient))
            if norm <= _FLAT * max(1.0, abs(point.value)):
                status = "optimal"
                break
            found, length = self._search(point, gradient / norm, norm, longest)
            if found is None:
                status = "stalled"
                break
            gained, point = point.value - found.value, found
            longest, steps = min(1.0, 2.0 * length), steps + 1
            if gained <= _TOL * (point.value + gained):
                status = "optimal"
                break
        beta = np.zeros(self.task.y.size)
        beta[point.support] = point.beta
        return LocalizedAnswer(point.V, beta, point.intercept, self.n_solves, steps, first, status)

    def _search(
        self, point: Point, direction: FloatArray, norm: float, length: float
    ) -> tuple[Point | None, float]:
        for _ in range(_HALVINGS):
            found = self.solve(point.V - length * direction)
            if found.value <= point.value - _SUFFICIENT * length * norm:
                return found, length
            length *= 0.5
        return None, 0.0


def descend_svc(task: LocalizedTask, seed: int) -> LocalizedAnswer:
    """The descent alone, on ready kernels, from the start of a seed."""
    return Descent(task).run(task.start(seed))


def fit_svc(task: LocalizedTask, seed: int) -> LocalizedAnswer:
    """Features, kernels and the descent: a fit from points, without any check of the input."""
    features, kernels = task.build(task.points)
    return descend_svc(replace(task, features=features, kernels=kernels), seed)
