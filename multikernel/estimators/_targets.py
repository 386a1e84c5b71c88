"""Checks of regression targets and of labels."""

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .._validation import codes_of_classes

Array = np.ndarray[Any, np.dtype[Any]]


def check_targets(estimator: Any, X: Any, y: Any, *, multi_output: bool) -> Array:
    """Finite real targets as (n, n_outputs), as many rows as X has samples."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    if not multi_output:
        y = column_or_1d(y, warn=True)
    values = check_array(y, ensure_2d=False, dtype="numeric", input_name="y").astype(np.float64)
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    if values.ndim > 2:
        raise ValueError(f"y must have shape (n,) or (n, n_outputs); got shape {values.shape}.")
    if values.shape[0] != n_samples:
        raise ValueError(
            f"X and y must have the same number of samples; got {n_samples} and {values.shape[0]}."
        )
    return values[:, None] if values.ndim == 1 else values


def encode_labels(estimator: Any, X: Any, y: Any) -> tuple[Array, Array]:
    """The sorted classes, and the code 0, 1, … of each sample."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind != "O":
        assert_all_finite(y, input_name="y")
    classes, codes = codes_of_classes(y, if_missing="Leave samples without a label out.")
    check_classification_targets(y)
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    if y.shape[0] != n_samples:
        raise ValueError(f"X and y must have the same number of samples; got {n_samples} and {y.shape[0]}.")
    return classes, codes


def require_two_classes(classes: Array, codes: Array) -> None:
    """At least two classes, each with a sample that counts."""
    if classes.size < 2:
        got = f"1 class: {classes.tolist()[0]!r}" if classes.size else "no sample"
        raise ValueError(f"a classifier needs samples of at least 2 classes; got {got}.")
    missing = np.setdiff1d(np.arange(classes.size), codes)
    if missing.size:
        raise ValueError(f"class {classes.tolist()[missing[0]]!r} has no sample with a positive weight.")
