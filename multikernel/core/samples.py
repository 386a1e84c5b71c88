"""Distinct samples in a canonical order: what the solvers see of a feature table.

Equal samples (same features, same target) are one sample with the sum of their weights: the problem is the
same, and smaller. Samples of weight zero are left out. The rest is put in an order that depends on the values
alone. So a weight of two is exactly a repeated row, and the order of the rows changes nothing in a model.
What kernels take from the data (widths, means, deviations) they take from the distinct samples, each once.
Ready-made Gram matrices, and tables with columns that are not numbers, keep all rows in the order given.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from pandas.api.types import is_complex_dtype, is_numeric_dtype
from sklearn.utils import _safe_indexing

from .._typing import Array
from .._validation import is_frame
from ..rows.tables import row_keys
from ..views.columns import as_table


@dataclass(frozen=True)
class Samples:
    """How the samples of the caller map to those of the solver.

    Attributes
    ----------
    rows : array (n_distinct,), a row of the caller's table for each distinct sample
    weights : array (n_distinct,), the sum of the weights of its repetitions
    group : array (n,), the distinct sample of each row, −1 for rows of weight zero
    share : array (n,), the part of its sample's weight that each row has
    """

    rows: Array
    weights: Array
    group: Array
    share: Array

    def take(self, X: Any) -> Any:
        """The distinct rows of the table."""
        identity = self.rows.size == self.group.size and (self.rows == np.arange(self.rows.size)).all()
        return X if identity else _safe_indexing(X, self.rows)

    def spread(self, duals: Array) -> Array:
        """Dual variables of the distinct samples, shared out to all the rows (n_machines, n)."""
        return np.where(self.group >= 0, duals[:, self.group] * self.share, 0.0)


def distinct_samples(X: Any, targets: Array, weights: Array) -> Samples:
    """Merge equal rows of a feature table that have equal targets (n, n_targets)."""
    used = np.flatnonzero(weights > 0)
    keys = _row_keys(X, targets)
    if keys is None:
        return all_samples(weights)
    _, first, inverse = np.unique(keys[used], return_index=True, return_inverse=True)
    merged = np.bincount(inverse, weights[used], first.size)
    group = np.full(weights.size, -1)
    group[used] = inverse
    share = np.zeros(weights.size)
    share[used] = weights[used] / merged[inverse]
    return Samples(used[first], merged, group, share)


def all_samples(weights: Array) -> Samples:
    """Every row of positive weight is a sample of its own, in the order given."""
    rows = np.flatnonzero(weights > 0)
    group = np.full(weights.size, -1)
    group[rows] = np.arange(rows.size)
    return Samples(rows, weights[rows], group, (weights > 0).astype(float))


def _row_keys(X: Any, targets: Array) -> Array | None:
    """One sortable key for each row and its targets; None where the rows cannot be compared."""
    if scipy.sparse.issparse(X):
        return row_keys(scipy.sparse.hstack([X, scipy.sparse.csr_matrix(targets)], "csr", np.float64))
    table = as_table(X)
    if isinstance(table, list):
        return None
    values = _frame_values(table) if is_frame(table) else table
    return row_keys(np.column_stack([values, targets])) if values.dtype.kind in "fiub" else None


def _frame_values(X: Any) -> Array:
    """The entries of a frame; columns of pandas' own numbers as the plain numbers that they hold."""
    if all(is_numeric_dtype(dtype) and not is_complex_dtype(dtype) for dtype in X.dtypes):
        with suppress(TypeError, ValueError):  # a missing one, which the kernels refuse by its place
            return np.asarray(X.to_numpy(dtype=np.float64))
    return np.asarray(X.to_numpy())
