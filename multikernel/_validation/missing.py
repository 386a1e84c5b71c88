"""What is missing: single entries, and samples that lack a view as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse


def missing_in(entries: np.ndarray) -> np.ndarray:
    """Which entries are missing: NaN, None, pandas' NA and NaT; an array of the same shape."""
    if entries.dtype.kind in "fc":
        return np.isnan(entries)
    if entries.dtype.kind in "iubSU":
        return np.zeros(entries.shape, dtype=bool)
    import pandas as pd

    return np.asarray(pd.isna(entries), dtype=bool)


def as_objects(entries: Sequence[Any]) -> np.ndarray:
    """A 1-D array of any objects, none of them converted."""
    objects = np.empty(len(entries), dtype=object)
    for position, entry in enumerate(entries):
        objects[position] = entry
    return objects


def absent_rows(taken: Any) -> np.ndarray:
    """Whether each row lacks a view, of which `taken` are the columns: whether they are all missing, (n,).

    Missing are NaN, and in columns of objects also None, NaT and pandas.NA.

    Examples
    --------
    >>> absent_rows(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    array([False,  True])
    >>> absent_rows(["ACGT", None])
    array([False,  True])
    """
    if scipy.sparse.issparse(taken):
        return _absent_in_sparse(taken)
    if hasattr(taken, "isna"):
        missing = np.asarray(taken.isna())
    else:
        missing = missing_in(taken if isinstance(taken, np.ndarray) else as_objects(taken))
    return np.asarray(missing if missing.ndim == 1 else missing.all(axis=tuple(range(1, missing.ndim))))


def _absent_in_sparse(table: Any) -> np.ndarray:
    """Entries that are not stored are zeros, hence not missing."""
    table = table.tocsr()
    if table.dtype.kind != "f":
        return np.zeros(table.shape[0], dtype=bool)
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    counts = np.add.reduceat(
        np.append(np.isnan(table.data), False).astype(int), table.indptr[:-1], dtype=int
    ) * (np.diff(table.indptr) > 0)
    return np.asarray(counts == table.shape[1])
