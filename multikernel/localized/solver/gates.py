"""Gating models: how much each kernel counts at each sample, and what a change of the gate does.

    softmax    η_m(x) = exp(a_m) / Σ_h exp(a_h),           a_m = v_m'x + v_m0
    sigmoid    η_m(x) = 1 / (1 + exp(−a_m)),               a_m = v_m'x + v_m0
    gaussian   η_m(x) = exp(a_m) / Σ_h exp(a_h),           a_m = −‖x − μ_m‖² / σ_m²

    constant   η_m(x) = v_m0

``x`` are the gating features, parameters ``V`` have one row for each gate: v_m and the bias v_m0, or μ_m and
σ_m, the last column. For an objective J that depends on the gate through the locally combined kernel,
``c`` (n, P) holds c_im = −η_m(x_i) ∂J/∂η_m(x_i); the gradient with respect to V follows by the chain rule.
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import expit

from ..._typing import Array

START_SCALE = 0.01
LEAST_WIDTH = 1e-3
OPEN = 1e-3  # a gate above this counts as open; within this of 0 or 1 it is saturated
_SATURATED_SHARE = 0.95


class Gate(ABC):
    """What every gating model offers; parameters V (P, D + 1), features X (n, D)."""

    @abstractmethod
    def values(self, V: Array, X: Array) -> Array:
        """η, (n, P)."""

    @abstractmethod
    def gradient(self, V: Array, X: Array, eta: Array, c: Array) -> Array:
        """dJ/dV, (P, D + 1), from the contributions c (n, P)."""

    def draw(self, n_gates: int, X: Array, rng: np.random.Generator, scale: float = START_SCALE) -> Array:
        """A random start."""
        return rng.uniform(-scale, scale, size=(n_gates, X.shape[1] + 1))

    def project(self, V: Array) -> Array:
        """The nearest admissible parameters."""
        return V


class SoftmaxGate(Gate):
    """Kernels compete: η sums to one at every sample."""

    def values(self, V: Array, X: Array) -> Array:
        return _softmax(_activations(V, X))

    def gradient(self, V: Array, X: Array, eta: Array, c: Array) -> Array:
        return _pull(_competing(eta, c), X)


class SigmoidGate(Gate):
    """Each kernel is switched on and off by itself."""

    def values(self, V: Array, X: Array) -> Array:
        return np.asarray(expit(_activations(V, X)))

    def gradient(self, V: Array, X: Array, eta: Array, c: Array) -> Array:
        return _pull(c * (1.0 - eta), X)


class GaussianGate(Gate):
    """Kernels compete by their distance to the sample: μ_m is the centre of a kernel's region."""

    def values(self, V: Array, X: Array) -> Array:
        return _softmax(-self._distances(V, X) / V[:, -1] ** 2)

    def gradient(self, V: Array, X: Array, eta: Array, c: Array) -> Array:
        slopes = _competing(eta, c)
        centres, widths = V[:, :-1], V[:, -1]
        pulls = slopes.T @ X - slopes.sum(axis=0)[:, None] * centres
        to_widths = (slopes * self._distances(V, X)).sum(axis=0) / widths**3
        return -2.0 * np.column_stack([pulls / widths[:, None] ** 2, to_widths])

    def draw(self, n_gates: int, X: Array, rng: np.random.Generator, scale: float = START_SCALE) -> Array:
        """Centres at training samples, widths of the size of the cloud."""
        rows = rng.choice(len(X), n_gates, replace=len(X) < n_gates)
        return np.column_stack([X[rows], np.full(n_gates, np.sqrt(max(X.shape[1], 1)))])

    def project(self, V: Array) -> Array:
        """The sign of a width means nothing; it must stay away from zero."""
        V = V.copy()
        V[:, -1] = np.maximum(np.abs(V[:, -1]), LEAST_WIDTH)
        return V

    @staticmethod
    def _distances(V: Array, X: Array) -> Array:
        return np.asarray(cdist(X, V[:, :-1], "sqeuclidean")) if X.shape[1] else np.zeros((len(X), len(V)))


class ConstantGate(Gate):
    """The last column of V at every sample: learned weights, which no step moves."""

    def values(self, V: Array, X: Array) -> Array:
        return np.tile(V[:, -1], (len(X), 1))

    def gradient(self, V: Array, X: Array, eta: Array, c: Array) -> Array:
        return np.zeros(V.shape)


def _activations(V: Array, X: Array) -> Array:
    """a = [X, 1] V' of linear gates; each gate is contiguous in memory."""
    a = V[:, :-1] @ X.T
    a += V[:, -1:]
    return np.asarray(a.T)


def _pull(slopes: Array, X: Array) -> Array:
    """−slopes'[X, 1]."""
    return -np.column_stack([slopes.T @ X, slopes.sum(axis=0)])


def _softmax(a: Array) -> Array:
    """exp(a) / Σ exp(a) of each row, instead of ``a``; fast where columns are contiguous."""
    by_gate = a.T
    by_gate -= by_gate.max(axis=0)
    np.exp(by_gate, out=by_gate)
    by_gate /= by_gate.sum(axis=0)
    return a


def _competing(eta: Array, c: Array) -> Array:
    """−dJ/da of gates that sum to one."""
    return np.asarray(c - eta * c.sum(axis=1, keepdims=True))


GATES: dict[str, Gate] = {"softmax": SoftmaxGate(), "sigmoid": SigmoidGate(), "gaussian": GaussianGate()}
CONSTANT = "constant"  # what an infinite ridge leaves of a gate
ALL_GATES: dict[str, Gate] = {**GATES, CONSTANT: ConstantGate()}


def is_saturated(eta: Array) -> bool:
    """Whether nearly all gate values are 0 or 1, where the gradient vanishes and no learning is possible."""
    return eta.shape[1] > 1 and bool(_at_ends(eta).mean() > _SATURATED_SHARE)


def saturated_gates(eta: Array) -> Array:
    """Which gates are 0 or 1 at nearly every sample, (P,)."""
    if eta.shape[1] == 1 and (eta == 1.0).all():
        return np.zeros(1, bool)  # one competing gate is open by definition
    return np.asarray(_at_ends(eta).mean(axis=0) > _SATURATED_SHARE)


def _at_ends(eta: Array) -> Array:
    return (eta <= OPEN) | (eta >= 1.0 - OPEN)
