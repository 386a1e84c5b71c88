"""What each kernel by itself is worth: predictions of samples that its machine has not seen, and shares."""

from typing import Any

import numpy as np
from sklearn.base import clone

from ..._validation import warn_caller
from .._folds import splits_of_targets
from .._machines import use_precomputed
from .._scales import kernel_scales as mean_diagonals
from ..targets import Targets

Array = np.ndarray[Any, np.dtype[Any]]

__all__ = ["HeldOut", "mean_diagonals", "shares_of"]


class HeldOut:
    """Cross-validated predictions of a machine on one kernel after the other.

    Parameters
    ----------
    machine : classifier or regressor on a precomputed kernel; fitted copies only
    cv : as :func:`multikernel.weights._folds.splits_of_targets` takes it
    targets : Targets

    Attributes
    ----------
    truth : array (n_held_out,) of codes, or (n_held_out, n_outputs) of values; fold after fold
    """

    def __init__(self, machine: Any, cv: Any, targets: Targets) -> None:
        self.machine, self.is_class = clone(machine), targets.task == "classes"
        use_precomputed(self.machine)
        self._y = targets.codes if self.is_class else targets.values
        self._splits = splits_of_targets(cv, targets)
        self.truth = self._y[np.concatenate([test for _, test in self._splits])]

    def predict(self, K: Array, scale: float) -> Array:
        """Predictions from K / scale, of the shape of ``truth``."""
        return np.concatenate([self._fold(K, scale, train, test) for train, test in self._splits])

    def _fold(self, K: Array, scale: float, train: Array, test: Array) -> Array:
        y = self._y[train]
        inner = K[np.ix_(train, train)] / np.float64(scale)
        outer = K[np.ix_(test, train)] / np.float64(scale)
        if self.is_class:
            return np.asarray(clone(self.machine).fit(inner, y).predict(outer))
        middle = y.mean(axis=0)  # kernel ridge regression has no intercept of its own
        targets = (y - middle)[:, 0] if y.shape[1] == 1 else y - middle
        found = np.asarray(clone(self.machine).fit(inner, targets).predict(outer))
        return found.reshape(test.size, -1) + middle


def shares_of(scores: Array, what: str) -> Array:
    """Scores cut at zero, scaled to sum 1; equal shares, with a warning, where none is positive."""
    kept = np.maximum(scores, 0.0)
    if kept.sum() > 0.0:
        return np.asarray(kept / kept.sum())
    warn_caller(f"no kernel by itself {what}: all get the same weight. Look at the kernels, or the machine.")
    return np.full(scores.size, 1.0 / scores.size)
