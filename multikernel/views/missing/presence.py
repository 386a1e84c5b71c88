"""Which samples have which view, and where the similarities of those that have it stand among all."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import RowError
from multikernel.kernels._columns import as_objects, missing_in


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


def rows_that_have(taken: Any) -> np.ndarray | None:
    """Positions of the rows that have the view; None where all have it."""
    absent = absent_rows(taken)
    return np.flatnonzero(~absent) if absent.any() else None


def among(present: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the chosen positions, those in `present`: where they stand in it, and where among the chosen.

    Examples
    --------
    >>> among(np.array([1, 4, 6]), np.array([6, 2, 1]))
    (array([2, 0]), array([0, 2]))
    """
    place = {int(position): index for index, position in enumerate(present)}
    found = [index for index, position in enumerate(chosen) if int(position) in place]
    inside = np.array([place[int(chosen[index])] for index in found], dtype=np.intp)
    return inside, np.array(found, dtype=np.intp)


def spread_into(
    out: np.ndarray, K: np.ndarray, rows: np.ndarray | None, columns: np.ndarray | None
) -> np.ndarray:
    """`out` with K at some rows and columns (None: all) and 0 elsewhere."""
    out[...] = 0.0
    rows = np.arange(out.shape[0]) if rows is None else rows
    columns = np.arange(out.shape[1]) if columns is None else columns
    if K.size:
        out[np.ix_(rows, columns)] = K
    return out


def absent_from_gram(K: np.ndarray, label: str) -> np.ndarray:
    """Whether each sample lacks a ready-made kernel, (n,): its row and its column of K (n, n) are NaN."""
    absent = np.isnan(K.diagonal())
    for sample in np.flatnonzero(absent):
        for line, entries in (("row", K[sample]), ("column", K[:, sample])):
            known = np.flatnonzero(~np.isnan(entries))
            if known.size:
                raise ValueError(
                    f"{label} has NaN at ({sample}, {sample}), but a number in {line} {sample} at "
                    f"{known[0]}. A sample lacks a kernel where its whole row and column are NaN."
                )
    if absent.all():
        raise ValueError(
            f"{label} is missing from every training sample, so that nothing can be learned about it. Leave "
            "the kernel out."
        )
    return absent


def absent_from_rows(K_test: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
    """Whether each row of ready-made similarities is NaN throughout the columns (None: all), (n_test,)."""
    columns = np.arange(K_test.shape[1]) if columns is None else columns
    absent = np.isnan(K_test[:, columns[0]])
    candidates = np.flatnonzero(absent)
    absent[candidates] = np.isnan(K_test[np.ix_(candidates, columns)]).all(axis=1)
    return absent


def require_some_view(has: np.ndarray) -> None:
    """Refuse samples that lack every view; `has` (n, m) says which they have."""
    empty = np.flatnonzero(~has.any(axis=1))
    if empty.size:
        more = f" and in {empty.size - 1} more" if empty.size > 1 else ""
        raise RowError(
            "a sample must have at least one view; all views are missing in row",
            int(empty[0]),
            f"{more}. Drop such samples: nothing is known about them.",
        )


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
