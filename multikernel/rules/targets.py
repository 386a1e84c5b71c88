"""The targets that weights are learned from: labels, numbers, or none."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import check_array

from .._typing import Array
from .._validation import check_task, codes_of_classes, within_floats
from ..core.svm.losses import EpsilonInsensitive, Hinge, Loss, OneClass

TASKS = ("classification", "regression", "unsupervised")


@dataclass(frozen=True, eq=False)
class Targets:
    """The targets of n samples, in the forms that the learners ask for.

    Attributes
    ----------
    task : {"classification", "regression", "unsupervised"}
    n : int, the number of samples
    codes : array (n,) of 0 … k−1 for classes, else empty
    values : array (n, n_outputs) for values, else empty
    classes : array (k,), the labels that the codes stand for; 0 … k−1 if None

    Examples
    --------
    >>> targets = as_targets(["a", "b", "a", "c"], 4)
    >>> targets.n_classes, [signs.tolist() for signs in targets.signs][0]
    (3, [1.0, -1.0, 1.0, -1.0])
    >>> (targets.ideal @ targets.ideal.T).round(6).tolist()[0]
    [1.0, -0.5, 1.0, -0.5]
    """

    task: str
    n: int
    codes: Array
    values: Array
    classes: Array | None = None

    @property
    def labels(self) -> Array:
        """The label of each sample (n,), for machines and scorers that know the classes by name."""
        return self.codes if self.classes is None else np.asarray(self.classes.tolist())[self.codes]

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.codes.max()) + 1 if self.codes.size else 0

    @cached_property
    def signs(self) -> list[Array]:
        """±1 (n,) for each binary machine: +1 is the second of two classes, or one class against the rest."""
        if self.n_classes == 2:
            return [np.where(self.codes == 1, 1.0, -1.0)]
        return [np.where(self.codes == c, 1.0, -1.0) for c in range(self.n_classes)]

    @cached_property
    def ideal(self) -> Array:
        """T (n, k), such that TT' is the kernel to wish for.

        Classes: 1 between samples of one class, −1/(k−1) between others, which is yy' for two. Values: their
        products, after the mean is taken away.
        """
        if self.task == "regression":
            return self.values - self.values.mean(axis=0)
        if self.n_classes == 2:
            return self.signs[0][:, None]
        k = self.n_classes
        return np.sqrt(k / (k - 1.0)) * (np.eye(k)[self.codes] - 1.0 / k)

    def losses(self, C: float, *, epsilon: float = 0.1, nu: float = 0.5) -> list[Loss]:
        """One loss for each machine: hinge, ε-insensitive, or one-class with at most ν n outside."""
        if self.task == "classification":
            return [Hinge(signs, C) for signs in self.signs]
        if self.task == "regression":
            return [EpsilonInsensitive(output, C, epsilon) for output in self.values.T]
        return [OneClass(np.zeros(self.n), np.full(self.n, 1.0 / (nu * self.n)))]


def class_targets(codes: Array, classes: Array | None = None) -> Targets:
    """Targets of classes given as 0 … k−1, and the labels that these stand for."""
    return Targets("classification", codes.size, codes, np.empty((codes.size, 0)), classes)


def value_targets(values: Array) -> Targets:
    """Targets of values (n, n_outputs)."""
    return Targets("regression", len(values), np.empty(0, int), values)


def no_targets(n: int) -> Targets:
    """The kernels of n samples are all that there is."""
    return Targets("unsupervised", n, np.empty(0, int), np.empty((n, 0)))


def as_targets(y: Any, n: int, task: str = "auto", allowed: Sequence[str] = TASKS) -> Targets:
    """Targets from what a user calls y.

    Parameters
    ----------
    y : array-like (n,), or (n, n_outputs) for values; None for nothing
    n : int, the number of samples
    task : {"auto", "classification", "regression", "unsupervised"}
        "auto": unsupervised where y is None; regression where y holds fractions, has two dimensions (and the
        learner can), or where the learner is not for classification; else classification.
    allowed : tasks that the learner knows
    """
    check_task(task, ("auto", *TASKS))
    if task == "auto":
        task = _guess(y, allowed)
    if task == "unsupervised":
        return no_targets(n)
    if y is None:
        raise ValueError(f"{task} needs targets: y must be given; got None.")
    if task == "regression":
        values = _numbers(y)
        _require_length(values, n, "value")
        return value_targets(values.reshape(n, -1))
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(
            f"y must be a list of labels, shape ({n},); got shape {labels.shape}."
            + (" Use y.ravel()." if labels.size == n else "")
        )
    _require_length(labels, n, "label")
    classes, codes = codes_of_classes(labels, if_missing="Leave samples without a label out of the kernels.")
    if classes.size < 2:
        raise ValueError(f"y must hold two classes or more; got one: {classes.tolist()}.")
    return class_targets(codes, classes)


def _guess(y: Any, allowed: Sequence[str]) -> str:
    if y is None or tuple(allowed) == ("unsupervised",):
        return "unsupervised"
    if "classification" not in allowed:
        return "regression"
    given = np.asarray(y)
    if given.ndim != 1:
        return "regression" if "regression" in allowed else "classification"
    finite = given[np.isfinite(given)] if given.dtype.kind == "f" else np.empty(0)
    return "regression" if (finite != np.round(finite)).any() else "classification"


def _numbers(y: Any) -> Array:
    """Finite numbers (n,) or (n, n_outputs)."""
    try:
        with within_floats("y"):
            numbers = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"y must hold numbers for regression; {error}. Encode them as numbers, or use a learner for "
            f"classification."
        ) from error
    return np.asarray(check_array(numbers, ensure_2d=False, input_name="y"))


def _require_length(y: Array, n: int, what: str) -> None:
    if y.shape[0] != n:
        raise ValueError(f"y must hold one {what} for each of the {n} samples; got {y.shape[0]}.")


def require_different_values(targets: Targets) -> None:
    """Refuse values that are all the same."""
    if targets.task == "regression" and not np.ptp(targets.values, axis=0).max() > 0.0:
        raise ValueError("y must hold different values; all are the same. No kernel can be compared with it.")


def unit_ideal(targets: Targets) -> Array:
    """T (n, k) at the scale where TT' has trace n, as it has for classes."""
    require_different_values(targets)
    T = targets.ideal
    T = T / float(np.abs(T).max())
    return np.asarray(T * (np.sqrt(targets.n) / np.linalg.norm(T)))
