"""Labelled and unlabelled points put together, the labelled first."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from .._validation import is_frame


def validate_unlabelled(estimator: Any, X: Any, y: Any, X_unlabeled: Any) -> Any:
    """The unlabelled points, checked by the estimator beside its table X; None if there are none."""
    if X_unlabeled is None:
        return None
    _require_points(X, y, X_unlabeled)
    if _n_rows(X_unlabeled) == 0:
        return None
    try:
        return estimator._validate_table(X_unlabeled, reset=False)
    except ValueError as error:
        raise ValueError(f"X_unlabeled does not go with X: {error}") from error


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _require_points(X: Any, y: Any, X_unlabeled: Any) -> None:
    """Refuse tables of another kind, and labels of unlabelled points: as more labels, or for the points."""
    dimensions = X_unlabeled.ndim if hasattr(X_unlabeled, "ndim") else np.ndim(X_unlabeled)
    if dimensions < 2:
        raise ValueError(
            "X_unlabeled must hold the unlabelled points themselves, in rows like those of X; got an array "
            f"of {dimensions} dimension(s). Labels of these points are not needed: they are predicted."
        )
    if is_frame(X) != is_frame(X_unlabeled):
        raise TypeError(
            "X and X_unlabeled must be both DataFrames or both arrays; got "
            f"{type(X).__name__} and {type(X_unlabeled).__name__}."
        )
    labelled, unlabelled = _n_rows(X), _n_rows(X_unlabeled)
    if y is not None and np.ndim(y) >= 1 and unlabelled > 0 and len(y) == labelled + unlabelled:
        raise ValueError(
            f"y must hold the labels of the {labelled} rows of X only; got {len(y)}, one for each row of "
            f"X_unlabeled too. Labels of unlabelled points are what is predicted: pass y[:{labelled}]."
        )


def join_rows(X: Any, X_unlabeled: Any, precomputed: bool) -> Any:
    """All points in one table, or one stack (n, n, n_kernels)."""
    if X_unlabeled is None:
        return X
    if precomputed:
        return _join_stacks(X, X_unlabeled)
    if is_frame(X):
        return pd.concat([X, X_unlabeled[X.columns]], ignore_index=True)
    if scipy.sparse.issparse(X) or scipy.sparse.issparse(X_unlabeled):
        return scipy.sparse.vstack([X, X_unlabeled], format="csr")
    return np.concatenate([np.asarray(X), np.asarray(X_unlabeled)])


def _join_stacks(X: Any, X_unlabeled: Any) -> Any:
    first, second = np.asarray(X), np.asarray(X_unlabeled)
    n = len(first) + len(second)
    more = ", n_kernels" if first.ndim == 3 else ""
    if first.ndim != second.ndim or first.shape[1:] != second.shape[1:] or first.shape[1] != n:
        raise ValueError(
            "precomputed rows must carry the similarities to all points, labelled and unlabelled: X of shape "
            f"({len(first)}, {n}{more}) and X_unlabeled of shape ({len(second)}, {n}{more}); got "
            f"{first.shape} and {second.shape}."
        )
    if first.ndim == 2:
        return np.concatenate([first, second])
    # kernels first in memory, as the solvers read it
    return np.moveaxis(np.concatenate([np.moveaxis(part, 2, 0) for part in (first, second)], axis=1), 0, 2)


@contextmanager
def rows_explained(n_labelled: int, X_unlabeled: Any) -> Iterator[None]:
    """Errors that count rows over both tables say which rows are whose."""
    try:
        yield
    except ValueError as error:
        if X_unlabeled is None or not re.search(r"\brows? \d", str(error)):
            raise
        raise ValueError(f"{error} Rows from {n_labelled} on are those of X_unlabeled.") from error
