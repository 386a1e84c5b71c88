"""Errors of the log time beyond ε, where a censored time is only a lower bound.

    Σ_{i: event} C_i [|y_i − f_i − b| − ε]₊ + Σ_{i: censored} C_i [f_i + b − y_i − ε]₊,   y = −log time

so that the scores are risks: a sample censored at t has log T ≥ log t, and only a risk above −log t is an
error. In the dual, −C_i ≤ β_i ≤ C_i for events and −C_i ≤ β_i ≤ 0 for censored samples, with Σβ = 0: the box
is all that differs from support vector regression, so that the same solvers serve.
"""

from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from ...core.svm.losses import EpsilonInsensitive, _weighted_quantile


@dataclass(frozen=True)
class CensoredEpsilonInsensitive(EpsilonInsensitive):
    """See the module; ``target`` holds −log time, ``event`` where it is exact.

    Examples
    --------
    >>> loss = CensoredEpsilonInsensitive(np.array([0.0, -1.0]), 2.0, 0.1, np.array([True, False]))
    >>> loss.lower.tolist(), loss.upper.tolist()
    ([-2.0, -2.0], [2.0, 0.0])
    """

    event: Array | bool = True

    @property
    def _event(self) -> Array:
        return np.broadcast_to(np.asarray(self.event, bool), self.target.shape)

    @property
    def upper(self) -> Array:
        return np.where(self._event, self._C, 0.0)

    def risk(self, scores: Array) -> tuple[float, float]:
        residual, event = self.target - scores, self._event
        # in b, [residual − b − ε]₊ of events falls until residual − ε, [b − residual − ε]₊ rises beyond + ε
        points = np.concatenate([residual[event] - self.epsilon, residual + self.epsilon])
        prices = np.concatenate([self._C[event], self._C])
        b = _weighted_quantile(points, prices, float(self._C[event].sum()))
        above = np.maximum(residual[event] - b - self.epsilon, 0.0)
        below = np.maximum(b - residual - self.epsilon, 0.0)
        return float(self._C[event] @ above + self._C @ below), b

    def restrict(self, index: Array, factor: float) -> "CensoredEpsilonInsensitive":
        return CensoredEpsilonInsensitive(
            self.target[index], self._C[index] * factor, self.epsilon, self._event[index]
        )

    def rescaled(self, kernel_scale: float, target_scale: float) -> "CensoredEpsilonInsensitive":
        return CensoredEpsilonInsensitive(
            self.target / target_scale,
            self._C * (kernel_scale / target_scale),
            self.epsilon / target_scale,
            self._event,
        )
