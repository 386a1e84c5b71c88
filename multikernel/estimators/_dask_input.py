"""Dask collections at the door of an estimator: as blocks of rows for a fit, refused, or answered lazily."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .._validation import is_frame
from ..rows import DaskRows, features_in_chunks, is_dask


def dask_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> DaskRows:
    """The rows of dask collections; the estimator takes note of their columns, or compares them."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    rows = DaskRows(X, y, sample_weight)
    n_dimensions = sample_weight.ndim if is_dask(sample_weight) else np.ndim(sample_weight)
    if n_dimensions > 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {n_dimensions}D array. Expected either a scalar "
            f"value or a 1D array of length {rows.n_rows}."
        )
    check_columns(estimator, X, reset=reset)
    return rows


def check_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """The number of columns, and their names in a dataframe: noted by a fit, compared by a prediction."""
    X = features_in_chunks(X)
    table = X._meta if is_frame(X) else np.empty((0, X.shape[1]))
    validate_data(estimator, table, reset=reset, skip_check_array=True)


def refuse_dask(estimator: Any, X: Any) -> None:
    """Refuse a dask collection where all rows are needed in this process."""
    if is_dask(X):
        raise TypeError(
            f"{type(estimator).__name__} needs all rows of X in this process; got a dask {type(X).__name__}. "
            "Load it with X.compute(); MKLClassifier, MKLRegressor and MKLRidge learn from dask collections."
        )
