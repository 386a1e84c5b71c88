"""Splits and scores of models that are cross-validated here, with the wording of what cannot be used."""

from typing import Any

import numpy as np

from ..weights._folds import list_splits

__all__ = ["check_one_score", "check_score", "list_splits"]


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
