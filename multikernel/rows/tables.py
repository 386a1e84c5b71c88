"""Rows of anything that has rows: arrays, sparse matrices, DataFrames, Series, lists."""

from __future__ import annotations

import sys
from collections.abc import Sequence, Sized
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse


def count_rows(table: Any) -> int:
    """Number of rows."""
    shape = getattr(table, "shape", None)
    if shape is None:
        if not isinstance(table, Sized):
            raise TypeError(f"X must be a table or a list of rows; got {type(table).__name__}.")
        return len(table)
    if len(shape) == 0:
        raise ValueError("X must hold rows; got a single number.")
    return int(shape[0])


def take_rows(raw: Any, positions: Any) -> Any:
    """Rows of an array, sparse matrix, DataFrame, Series or list, by position."""
    if hasattr(raw, "iloc"):
        return raw.iloc[positions]
    if hasattr(raw, "take_rows"):  # several tables
        return raw.take_rows(positions)
    if scipy.sparse.issparse(raw):
        return raw.tocsr()[positions]
    if isinstance(raw, np.ndarray) or isinstance(positions, slice):
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
    """Tables of one kind, one below the other."""
    first = tables[0]
    if len(tables) == 1:
        return first
    if hasattr(first, "iloc"):
        import pandas

        return pandas.concat(tables)
    if hasattr(first, "join_rows"):  # several tables
        return first.join_rows(tables[1:])
    if scipy.sparse.issparse(first):
        return scipy.sparse.vstack(tables, format="csr")
    if isinstance(first, np.ndarray):
        return np.concatenate(tables)
    return [row for table in tables for row in table]


def is_dask(table: Any) -> bool:
    """Whether a table is a dask collection (without importing dask: who has one has imported it)."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(table))


def import_dask() -> Any:
    """The dask package, or an error that says how to install it."""
    try:
        import dask
    except ImportError as error:
        raise ImportError(
            "rows in dask collections need dask, which is not installed: pip install multikernel[distributed]"
        ) from error
    return dask


def row_keys(table: Any) -> np.ndarray | None:
    """One sortable key for each row of a table of numbers, dense or sparse alike; None for other tables.

    Examples
    --------
    >>> keys = row_keys(np.array([[1, 2], [0, 2], [1, 2]]))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    if scipy.sparse.issparse(table):
        return _sparse_keys(scipy.sparse.csr_matrix(table, dtype=np.float64, copy=True))
    values = table.to_numpy() if hasattr(table, "iloc") else np.asarray(table)
    if values.dtype.kind not in "fiub" or not values.size:
        return None
    numbers = np.ascontiguousarray(values.reshape(len(values), -1).astype(np.float64) + 0.0)  # −0 is 0
    numbers[np.isnan(numbers)] = np.nan  # whatever its bits
    return numbers.view(np.dtype((np.void, numbers.itemsize * numbers.shape[1])))[:, 0]


def _sparse_keys(table: Any) -> np.ndarray:
    """Bytes that sort the rows as the bytes of the dense rows do: a solver sees them in the same order.

    Of two rows that differ first in column j, the one with a zero there comes first: its next entry, if it
    has one, is in a later column, and later columns have smaller keys.
    """
    table.sum_duplicates()
    table.eliminate_zeros()
    entries = np.empty(table.nnz, [("place", ">u8"), ("value", np.float64)])
    entries["place"] = table.shape[1] - table.indices
    entries["value"] = table.data
    keys = np.empty(table.shape[0], dtype=object)
    keys[:] = [entries[a:b].tobytes() for a, b in pairwise(table.indptr)]
    return keys


def distinct_rows(table: Any) -> tuple[np.ndarray, np.ndarray]:
    """The first position of each distinct row, and which of them each row is.

    Rows of numbers are in an order that depends on their values alone, others in the order given.

    Examples
    --------
    >>> first, codes = distinct_rows(["b", "a", "b"])
    >>> first.tolist(), codes.tolist()
    ([0, 1], [0, 1, 0])
    """
    keys = row_keys(table)
    if keys is not None:
        _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
        return first, codes
    seen: dict[Any, int] = {}
    values = table.to_numpy(dtype=object) if hasattr(table, "iloc") else np.asarray(table, dtype=object)
    rows = [tuple(row) for row in values.reshape(len(values), -1)]
    try:
        codes = np.array([seen.setdefault(row, len(seen)) for row in rows], dtype=np.intp)
    except TypeError as error:
        raise TypeError(
            f"objects must be hashable, such as numbers or strings; {error}. Give positions."
        ) from None
    return np.unique(codes, return_index=True)[1], codes
