"""What each kernel by itself is worth: predictions of samples that its machine has not seen, and shares."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone

from ..._typing import Array
from ..._validation import warn_caller
from ...core.folds import Split, list_splits, make_folds
from ..machines import machine_for
from ..targets import Targets


class HeldOut:
    """Cross-validated predictions and scores of a machine on one kernel after the other.

    Parameters
    ----------
    machine : classifier or regressor on a precomputed kernel, or None for the default; fitted copies only
    cv : int, or as :func:`multikernel.core.folds.list_splits` takes it
    targets : Targets

    Attributes
    ----------
    truth : array (n_held_out,) of labels, or (n_held_out, n_outputs) of values; fold after fold
    """

    def __init__(self, machine: Any, cv: Any, targets: Targets) -> None:
        self.machine, self.is_class = machine_for(targets.task, machine), targets.task == "classes"
        self._y = targets.labels if self.is_class else targets.values
        self._splits = _splits(cv, targets)
        self.truth = self._y[np.concatenate([test for _, test in self._splits])]

    def predict(self, K: Array, scale: float) -> Array:
        """Predictions from K / scale, of the shape of ``truth``."""
        found = [model.predict(rows) for model, rows, _ in self._folds(K, scale)]
        return np.concatenate(found).reshape(self.truth.shape)

    def score(self, K: Array, scale: float, scorer: Callable[..., float]) -> float:
        """The mean over the folds of scorer(machine, held-out rows of K / scale, their truth)."""
        return float(np.mean([scorer(*fold) for fold in self._folds(K, scale)]))

    def _folds(self, K: Array, scale: float) -> Iterator[tuple[Any, Array, Array]]:
        """Of each fold the fitted machine, the held-out rows of the kernel (n_test, n_train), their truth."""
        y = self._y[:, 0] if self._y.ndim == 2 and self._y.shape[1] == 1 else self._y
        for train, test in self._splits:
            model = clone(self.machine) if self.is_class else _AroundMean(clone(self.machine))
            model.fit(K[np.ix_(train, train)] / np.float64(scale), y[train])
            yield model, K[np.ix_(test, train)] / np.float64(scale), y[test]


def _splits(cv: Any, targets: Targets) -> list[Split]:
    """The folds of a learner, the same on every call."""
    is_class = targets.task == "classes"
    y = targets.labels if is_class else targets.values[:, 0]
    if isinstance(cv, bool | int | np.integer):
        # values are shuffled: where they ascend, folds in their order would leave out a range each
        remedy = "Add samples, leave the class out, or use AlignmentRule()."
        splits = make_folds(y, cv, classifier=is_class, shuffle=not is_class, remedy=remedy)
    else:
        splits = list_splits(cv, np.empty((targets.n, 0)), y, classifier=is_class)
    for train, test in splits:
        if not train.size or not test.size:
            raise ValueError("every fold of cv must hold training and validation samples; one has none.")
        if is_class and np.ptp(targets.codes[train]) == 0:
            raise ValueError("a training part of cv holds one class only. Use stratified folds: cv=5.")
    return splits


class _AroundMean(RegressorMixin, BaseEstimator):
    """A machine on values less their mean: kernel ridge regression has no intercept of its own."""

    def __init__(self, machine: Any) -> None:
        self.machine = machine

    def fit(self, K: Array, y: Array) -> "_AroundMean":
        self.mean_ = y.mean(axis=0)
        self.machine.fit(K, y - self.mean_)
        return self

    def predict(self, K: Array) -> Array:
        return np.asarray(self.machine.predict(K)) + self.mean_


def shares_of(scores: Array, what: str) -> Array:
    """Scores cut at zero, scaled to sum 1; equal shares, with a warning, where none is positive."""
    kept = np.maximum(scores, 0.0)
    if kept.sum() > 0.0:
        return np.asarray(kept / kept.sum())
    warn_caller(f"no kernel by itself {what}: all get the same weight. Look at the kernels, or the machine.")
    return np.full(scores.size, 1.0 / scores.size)
