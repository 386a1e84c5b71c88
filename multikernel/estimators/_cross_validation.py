"""Splits and scores of models that are cross-validated here, with the wording of what cannot be used."""

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.utils.validation import _num_samples

Array = np.ndarray[Any, np.dtype[Any]]


def list_splits(cv: Any, X: Any, y: Any, *, classifier: bool = True) -> list[tuple[Array, Array]]:
    """The training and validation rows of each fold, as scikit-learn understands ``cv``."""
    folds = check_cv(cv, y, classifier=classifier)
    if isinstance(folds, GroupsConsumerMixin):
        raise ValueError(
            f"cv={cv!r} needs the groups of the samples, which are not known here. Pass its splits instead: "
            "cv=list(cv.split(X, y, groups))."
        )
    rows = np.arange(_num_samples(X))  # splits may be masks too
    splits = [(rows[train], rows[test]) for train, test in folds.split(X, y)]
    if not splits:
        raise ValueError(f"cv must hold at least one split of the samples; got {cv!r}.")
    return splits


def check_one_score(scoring: Any) -> None:
    """Where one model is chosen, or one curve drawn, one score has to say what is good."""
    if isinstance(scoring, list | tuple | set | dict):
        raise TypeError(f"scoring must be one score, a name or a function; got {scoring!r}.")


def check_score(score: Any) -> float:
    """What a scorer said of a fold: one finite number."""
    try:
        value = float(score)
    except (TypeError, ValueError) as error:
        raise TypeError(f"scoring must give one number; got {score!r}.") from error
    if not np.isfinite(value):
        raise ValueError(
            f"scoring must give a finite score for every fold; got {value}. Use folds with samples of all "
            "classes, or a score that is defined without."
        )
    return value
