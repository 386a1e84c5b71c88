"""Checks of regression targets."""

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

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
