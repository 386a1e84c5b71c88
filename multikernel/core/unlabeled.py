"""Labelled and unlabelled points in one table, the labelled first, and new points beside a learned kernel.

A combination of kernels with negative weights is positive semidefinite on the points that it was learned
on, and need not be so with another point x. Bordered by k = K(x, ·) and κ = K(x, x), its smallest
eigenvalue is the root of

    κ − λ − Σ_l (v_l'k)² / (λ_l − λ) = 0     below the smallest λ_l,

with (λ_l, v_l) the eigenpairs of the learned matrix: one decomposition serves all new points. The
eigenvectors of a kernel reach new points through it (Nyström): v_l(x) = Σ_j K(x, x_j) v_jl / λ_l.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import scipy.linalg
import scipy.sparse

from .._typing import Array
from .._validation import is_frame
from ..rows import count_rows
from ..views.stacks import NamedStack, as_stack, match_stack, names_of

_HALVINGS = 60
_RANGE_TOLERANCE = 1e-10


# ---------------------------------------------------------------------- labelled and unlabelled points
def validate_unlabelled(estimator: Any, X: Any, y: Any, X_unlabeled: Any) -> Any:
    """The unlabelled points, checked by the estimator beside its table X; None if there are none."""
    if X_unlabeled is None:
        return None
    shown = as_stack(X_unlabeled) if estimator._precomputed else X_unlabeled
    _require_points(X, y, shown)
    if count_rows(shown) == 0:
        return None
    try:
        return estimator._validate_table(X_unlabeled, reset=False)
    except ValueError as error:
        raise ValueError(f"X_unlabeled does not go with X: {error}") from error


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
    labelled, unlabelled = count_rows(X), count_rows(X_unlabeled)
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
    names = names_of(X)
    first, second = np.asarray(X), np.asarray(match_stack(X_unlabeled, names))
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
    Ks = np.concatenate([np.moveaxis(part, 2, 0) for part in (first, second)], axis=1)
    joined = np.moveaxis(Ks, 0, 2)
    return joined if names is None else NamedStack(joined, names)


@contextmanager
def rows_explained(n_labelled: int, X_unlabeled: Any) -> Iterator[None]:
    """Errors that count rows over both tables say which rows are whose."""
    try:
        yield
    except ValueError as error:
        if X_unlabeled is None or not re.search(r"\brows? \d", str(error)):
            raise
        raise ValueError(f"{error} Rows from {n_labelled} on are those of X_unlabeled.") from error


# ---------------------------------------------------------------------- new points beside a learned kernel
def leading_eigenvectors(K: Array, n_components: int | None = None) -> tuple[Array, Array]:
    """The largest eigenvalues of a kernel matrix, descending, and their eigenvectors in columns.

    By default all that are above 1e-10 of the largest; never more than those.

    Examples
    --------
    >>> values, vectors = leading_eigenvectors(np.diag([1.0, 3.0, 0.0]))
    >>> values.tolist(), np.abs(vectors).tolist()
    ([3.0, 1.0], [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    """
    values, vectors = scipy.linalg.eigh(K, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = int(np.count_nonzero(values > _RANGE_TOLERANCE * values[0]))
    kept = kept if n_components is None else min(kept, n_components)
    return values[:kept].copy(), np.ascontiguousarray(vectors[:, :kept])


class Bordered:
    """A symmetric matrix (n, n) that new points are added to, one at a time.

    Examples
    --------
    >>> Bordered(np.eye(2)).smallest(np.array([[3.0, 4.0]]), np.array([1.0])).round(6).tolist()
    [-4.0]
    """

    def __init__(self, K: Array) -> None:
        self.values, self._vectors = scipy.linalg.eigh(K, check_finite=False)

    def smallest(self, rows: Array, diagonal: Array) -> Array:
        """The smallest eigenvalue with each new point added, (n_new,).

        ``rows`` (n_new, n) are the new points' similarities to the old, ``diagonal`` those to themselves.
        """
        squares = (rows @ self._vectors) ** 2
        high = np.minimum(self.values[0], diagonal)
        low = high - np.sqrt(squares.sum(axis=1))
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = np.where(squares > 0.0, squares / (self.values - middle[:, None]), 0.0)
            below = diagonal - middle - terms.sum(axis=1) >= 0.0
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low
