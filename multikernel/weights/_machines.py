"""Kernel machines on a precomputed kernel, and how well they predict samples that were held out."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.svm import SVC
from sklearn.utils import get_tags

from ._folds import splits_of_targets
from .targets import Targets

Array = np.ndarray[Any, np.dtype[Any]]
Split = tuple[Array, Array]


def default_machine(task: str) -> Any:
    """A support vector machine for classes, ridge regression for values."""
    return SVC(kernel="precomputed") if task == "classes" else KernelRidge(kernel="precomputed")


def use_precomputed(machine: Any) -> None:
    """Let a machine take the combined kernel as it is, or say why it cannot."""
    for name in ("kernel", "kernels"):
        params = machine.get_params(deep=False)
        if name in params and params[name] != "precomputed" and _is_default(machine, name):
            machine.set_params(**{name: "precomputed"})
    if not get_tags(machine).input_tags.pairwise:
        raise ValueError(
            "machine must take the combined kernel, such as SVC(kernel='precomputed'), or KernelRidge, "
            f"KernelKNNClassifier, KernelDiscriminantClassifier with theirs; got {machine!r}."
        )


def _is_default(machine: Any, name: str) -> bool:
    try:
        default = type(machine)().get_params(deep=False)[name]
    except TypeError:
        return False
    return bool(machine.get_params(deep=False)[name] == default)


def held_out_scores(Ks: Array, targets: Targets, machine: Any = None, cv: Any = 5) -> Array:
    """The cross-validated score of a machine on each kernel alone: accuracy for classes, R² for values.

    Each kernel is scaled to a mean diagonal of 1, as under the estimators, and predictions of all folds are
    scored together. Classes are 0 … k−1 to the machine, and the mean of the values is that of each training
    part.

    Parameters
    ----------
    Ks : array (n_kernels, n, n)
    targets : Targets, classes or values
    machine : classifier or regressor on a precomputed kernel, optional; see `default_machine`
    cv : int or splitter, see `splits_of_targets`

    Returns
    -------
    array (n_kernels,)
    """
    base = clone(default_machine(targets.task) if machine is None else machine)
    use_precomputed(base)
    splits = splits_of_targets(cv, targets)
    return np.array([_score(K, targets, base, splits) for K in Ks])


def _score(K: Array, targets: Targets, machine: Any, splits: Iterable[Split]) -> float:
    size = float(np.diagonal(K).mean(dtype=float))
    scale = 1.0 / size if size > 0.0 else 1.0
    truth, predicted = [], []
    for train, test in splits:
        seen, asked = (np.multiply(K[np.ix_(rows, train)], scale, dtype=float) for rows in (train, test))
        truth.append(_labels(targets, test))
        predicted.append(_predictions(clone(machine), seen, _labels(targets, train), asked))
    measure = accuracy_score if targets.task == "classes" else r2_score
    return float(measure(np.concatenate(truth), np.concatenate(predicted)))


def _labels(targets: Targets, rows: Array) -> Array:
    if targets.task == "classes":
        return targets.codes[rows]
    values = targets.values[rows]
    return values[:, 0] if values.shape[1] == 1 else values


def _predictions(machine: Any, seen: Array, y: Array, asked: Array) -> Array:
    if y.dtype.kind == "f":  # kernel ridge regression has no intercept of its own
        mean = y.mean(axis=0)
        return np.asarray(machine.fit(seen, y - mean).predict(asked)) + mean
    return np.asarray(machine.fit(seen, y).predict(asked))
