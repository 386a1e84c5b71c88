"""What an evaluation is given, checked before anything is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from multikernel.evaluation._contest import METRICS, n_samples
from multikernel.evaluation._subject import Subject
from multikernel.evaluation.learned import require_samples_of_fit
from multikernel.rows import is_dask
from multikernel.stats._protocol import _check_seed

_SHOWN = 6  # labels in a message


def check_data(subject: Subject, X: Any, y: Any) -> Any:
    """The targets, a single column as a vector, if they go with the samples and the model.

    Raises
    ------
    ValueError
        If there are not as many as samples, or labels that the model does not know.
    """
    if is_dask(X) or is_dask(y):
        raise TypeError(
            "evaluate fits copies of the model to parts of the samples in this process; got a dask "
            f"{type(X if is_dask(X) else y).__name__}. Take some rows, or all that fit in memory, with "
            "compute()."
        )
    n = n_samples(X)
    require_samples_of_fit(subject.final, n)
    if y is None:
        return None
    targets = np.asarray(y)
    if targets.ndim == 2 and targets.shape[1] == 1:
        y = targets = targets[:, 0]
    if targets.ndim == 0 or len(targets) != n:
        got = "one value" if targets.ndim == 0 else f"{len(targets)}"
        raise ValueError(f"y must have one label or value for each of the {n} samples of X; got {got}.")
    if subject.task == "classes" and subject.why_not_refitted() is None and targets.ndim == 1:
        _check_labels(subject.model, targets)
    return y


def _check_labels(model: Any, y: Any) -> None:
    known, given = _labels(getattr(model, "classes_", ())), _labels(y)
    if known and set(known) != set(given):
        raise ValueError(
            f"y must hold the labels that the model was fitted to, {_listed(known)}; got {_listed(given)}."
        )


def _labels(values: Any) -> list[Any]:
    return list(dict.fromkeys(np.asarray(values).tolist()))


def _listed(labels: Sequence[Any]) -> str:
    shown = ", ".join(sorted(map(repr, labels))[:_SHOWN])
    return f"{shown} …" if len(labels) > _SHOWN else shown


def check_settings(random_state: Any, cv: Any = 5, max_points: Any = 400) -> int:
    """The seed; refuses folds and numbers of points that cannot be."""
    for name, value, what in (("cv", cv, "folds"), ("max_points", max_points, "samples to show")):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 2:
            raise ValueError(f"{name} must be a whole number of {what}, 2 at least; got {value!r}.")
    return _check_seed(random_state)


def needs_target(subject: Subject, y: Any) -> None:
    """Refuse a model of labels or values without them."""
    if subject.task in METRICS and y is None:
        raise TypeError("y must hold the labels or values that the model was fitted to; got None.")
