"""Splits of the samples for cross-validation, with the wording of what cannot be used."""

from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.utils.validation import _num_samples

from .._validation import check_positive_integer
from .targets import Targets

Array = np.ndarray[Any, np.dtype[Any]]


def list_splits(cv: Any, X: Any, y: Any, *, classifier: bool = True) -> list[tuple[Array, Array]]:
    """The training and validation rows of each fold, as scikit-learn understands ``cv``."""
    try:
        folds = check_cv(cv, y, classifier=classifier)
    except ValueError as error:
        raise ValueError(_needed(cv)) from error
    if isinstance(folds, GroupsConsumerMixin):
        raise ValueError(
            f"cv={cv!r} needs the groups of the samples, which are not known here. Pass its splits instead: "
            "cv=list(cv.split(X, y, groups))."
        )
    rows = np.arange(_num_samples(X))  # splits may be masks too
    try:
        splits = [(rows[train], rows[test]) for train, test in folds.split(X, y)]
    except (TypeError, IndexError) as error:
        raise ValueError(f"{_needed(cv)} ({error})") from error
    if not splits:
        raise ValueError(f"cv must hold at least one split of the samples; got {cv!r}.")
    return splits


def _needed(cv: Any) -> str:
    return (
        "cv must be a number of folds, a splitter such as KFold(5), or a list of pairs of training and "
        f"validation rows; got {cv!r}."
    )


def splits_of_targets(cv: Any, targets: Targets) -> list[tuple[Array, Array]]:
    """The folds of a learner: a number of them, the same on every call, or what scikit-learn understands.

    Of classes a number means stratified folds, at most as many as the smallest class has samples; of values
    shuffled ones, at most as many as there are samples.
    """
    if isinstance(cv, (bool, int, np.integer)):
        cv = _folds(check_positive_integer("cv", cv), targets)
    y = targets.codes if targets.task == "classes" else targets.values[:, 0]
    splits = list_splits(cv, np.empty((targets.n, 0)), y, classifier=targets.task == "classes")
    for train, test in splits:
        if not train.size or not test.size:
            raise ValueError("every fold of cv must hold training and validation samples; one has none.")
        if targets.task == "classes" and np.ptp(targets.codes[train]) == 0:
            raise ValueError("a training part of cv holds one class only. Use stratified folds: cv=5.")
    return splits


def _folds(n_splits: int, targets: Targets) -> Any:
    if n_splits < 2:
        raise ValueError(f"cv must be at least 2 folds; got {n_splits}.")
    if targets.task != "classes":
        if targets.n < 2:
            raise ValueError(f"cross-validation needs two samples or more; got {targets.n}.")
        return KFold(min(n_splits, targets.n), shuffle=True, random_state=0)
    smallest = int(np.bincount(targets.codes).min())
    if smallest < 2:
        raise ValueError(
            "cross-validation needs two samples or more of each class; the smallest has "
            f"{smallest}. Add samples, leave the class out, or use AlignmentRule()."
        )
    return StratifiedKFold(min(n_splits, smallest))
