"""Rows of anything that has rows: arrays, sparse matrices, DataFrames, Series and lists of objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse


def count_rows(table: Any) -> int:
    """Number of rows.

    Examples
    --------
    >>> count_rows(np.zeros((3, 2))), count_rows(["a", "b"])
    (3, 2)
    """
    shape = getattr(table, "shape", None)
    return int(shape[0]) if shape else len(table)


def take_rows(raw: Any, positions: Any) -> Any:
    """Rows of an array, sparse matrix, DataFrame, Series or list, by position.

    Examples
    --------
    >>> take_rows(["a", "b", "c"], [2, 0])
    ['c', 'a']
    """
    if hasattr(raw, "iloc"):
        return raw.iloc[positions]
    if scipy.sparse.issparse(raw):
        return raw.tocsr()[positions]
    if isinstance(raw, np.ndarray):
        return raw[positions]
    if isinstance(positions, slice):
        return raw[positions]
    return [raw[int(position)] for position in positions]


def rows_unlike(raw: Any, one: Any) -> np.ndarray:
    """Positions of the rows that differ from the only row of `one`, a table of the same kind.

    Examples
    --------
    >>> rows_unlike(np.array([[1, 2], [1, 3], [1, 2]]), np.array([[1, 2]]))
    array([1])
    """
    if scipy.sparse.issparse(raw):
        repeated = scipy.sparse.csr_matrix(np.ones((raw.shape[0], 1))) @ one.tocsr()
        return np.flatnonzero((raw.tocsr() != repeated).getnnz(axis=1))
    if hasattr(raw, "iloc"):
        raw, one = raw.to_numpy(), one.to_numpy()
    if isinstance(raw, np.ndarray):
        differs = raw != one
        return np.flatnonzero(differs.reshape(len(raw), -1).any(axis=1))
    return np.flatnonzero([bool(np.any(row != one[0])) for row in raw])


def join_rows(tables: Sequence[Any]) -> Any:
    """Tables of one kind, one below the other.

    Examples
    --------
    >>> join_rows([np.array([1, 2]), np.array([3])])
    array([1, 2, 3])
    """
    first = tables[0]
    if len(tables) == 1:
        return first
    if hasattr(first, "iloc"):
        import pandas

        return pandas.concat(tables)
    if scipy.sparse.issparse(first):
        return scipy.sparse.vstack(tables, format="csr")
    if isinstance(first, np.ndarray):
        return np.concatenate(tables)
    return [row for table in tables for row in table]
