"""Rows from what the caller has: tables in this process, or dask collections."""

from __future__ import annotations

from typing import Any

from multikernel.rows.base import RowBlocks
from multikernel.rows.cluster import is_dask
from multikernel.rows.dask_rows import DaskRows
from multikernel.rows.local import LocalRows


def as_rows(
    X: Any, y: Any = None, sample_weight: Any = None, *, block_rows: int = 8192, on_disk: bool = False
) -> RowBlocks:
    """Blocks of rows with three parts: features, targets and sample weights.

    Parameters
    ----------
    X : table, dask array or dask dataframe
    y, sample_weight : array-like, optional
        Dask collections only where X is one.
    block_rows, on_disk
        Of `LocalRows`; the blocks of a dask collection are its chunks.

    Examples
    --------
    >>> as_rows([[1.0], [2.0], [3.0]], block_rows=2).lengths
    (2, 1)
    """
    if is_dask(X):
        return DaskRows(X, y, sample_weight)
    for name, target in (("y", y), ("sample_weight", sample_weight)):
        if is_dask(target):
            raise TypeError(
                f"{name} is a dask collection, but X is a {type(X).__name__} in this process. Give X as a "
                f"dask array too (dask.array.from_array), or bring {name} here with {name}.compute()."
            )
    return LocalRows((X, y, sample_weight), block_rows, on_disk=on_disk)
