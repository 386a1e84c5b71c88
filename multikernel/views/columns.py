"""Which columns a view reads, and which rows have them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import RowError, is_frame
from multikernel.views.tables import absent_rows, n_columns


@dataclass(frozen=True)
class Selection:
    """Columns resolved on the training table."""

    positions: tuple[int, ...] | None  # None for the whole table
    names: tuple[Any, ...] | None  # where the training table was a DataFrame with distinct names
    scalar: bool = False  # whether one column was asked for by itself: it is then taken as 1-D
    table: str | None = None  # of several tables, the one that holds the columns

    def take(self, X: Any, label: str) -> Any:
        """These columns of `X`; by name where both tables have names."""
        if self.table is not None:
            names = getattr(X, "names", None)
            if not isinstance(names, list) or self.table not in names:
                got = f"the tables {names}" if isinstance(names, list) else f"{type(X).__name__}"
                raise ValueError(
                    f"{label} reads the table {self.table!r}; got {got}. Pass a dict with the tables of fit."
                )
            X = X[self.table]
        if is_frame(X) and self.names is not None:
            if len(X.columns) == len(self.names) and list(X.columns) == list(self.names):
                return X.iloc[:, 0] if self.scalar else X
            positions: tuple[int, ...] | None = tuple(_position_of(name, X, label) for name in self.names)
        else:
            positions = self.positions
        if positions is None:
            return X
        chosen = list(positions)
        if is_frame(X):
            return X.iloc[:, chosen[0]] if self.scalar else X.iloc[:, chosen]
        if scipy.sparse.issparse(X):
            return X[:, chosen]
        return X[:, chosen[0]] if self.scalar else X[:, chosen]


def resolve_columns(X: Any, columns: Any, label: str, table: str | None = None) -> Selection:
    """Resolve a column specification, as that of a `View`, on the training table that `as_table` returned.

    A name with ``*``, ``?`` or ``[...]`` that no column has is a pattern: all columns whose names match.
    """
    if table is not None:
        return replace(resolve_columns(X[table], columns, label), table=table)
    if callable(columns):
        columns = columns(X)
    named = is_frame(X) and X.columns.is_unique
    if columns is None:
        return Selection(None, tuple(X.columns) if named else None)
    width = n_columns(X)
    if width is None:
        raise ValueError(f"{label} asks for columns {columns!r}, but X is not a table with columns.")
    positions = _positions(X, columns, width, label)
    scalar = isinstance(columns, (str, int, np.integer)) and not isinstance(columns, bool)
    scalar = scalar and not _matches(columns, X)
    if not positions:
        raise ValueError(f"{label} selects no column with columns={columns!r}; X has {width} columns.")
    return Selection(tuple(positions), tuple(X.columns[positions]) if named else None, scalar)


def _positions(X: Any, columns: Any, width: int, label: str) -> list[int]:
    if isinstance(columns, str) and (found := _matches(columns, X)):
        return found
    if isinstance(columns, slice):
        return _slice_positions(X, columns, width, label)
    if isinstance(columns, (str, int, np.integer)) and not isinstance(columns, bool):
        return [_one_position(X, columns, width, label)]
    is_list = isinstance(columns, (Sequence, np.ndarray)) or hasattr(columns, "tolist")
    if not is_list or getattr(columns, "ndim", 1) == 0:
        raise TypeError(
            f"{label}: columns must be a name, a position, a list of either, a slice, a boolean mask or a "
            f"function of X; got {columns!r}."
        )
    listed = list(columns.tolist() if hasattr(columns, "tolist") else columns)
    if listed and all(isinstance(entry, (bool, np.bool_)) for entry in listed):
        if len(listed) != width:
            raise ValueError(f"{label}: a column mask must have length {width}; got length {len(listed)}.")
        return [position for position, chosen in enumerate(listed) if chosen]
    return [p for entry in listed for p in _matches(entry, X) or [_one_position(X, entry, width, label)]]


def _matches(pattern: Any, X: Any) -> list[int]:
    """Positions of the columns whose names match a pattern; none where it is no pattern, or a name itself."""
    if not isinstance(pattern, str) or not is_frame(X) or not any(sign in pattern for sign in "*?["):
        return []
    if pattern in X.columns:
        return []
    return [p for p, name in enumerate(X.columns) if isinstance(name, str) and fnmatchcase(name, pattern)]


def _one_position(X: Any, entry: Any, width: int, label: str) -> int:
    if isinstance(entry, str):
        return _position_of(entry, X, label)
    if isinstance(entry, (int, np.integer)) and not isinstance(entry, (bool, np.bool_)):
        return _in_range(int(entry), width, label)
    raise TypeError(f"{label}: a column must be a name or a position; got {entry!r}.")


def _slice_positions(X: Any, columns: slice, width: int, label: str) -> list[int]:
    bounds = [bound for bound in (columns.start, columns.stop) if bound is not None]
    if not any(isinstance(bound, str) for bound in bounds):
        return list(range(width))[columns]
    start = 0 if columns.start is None else _position_of(columns.start, X, label)
    # names are included at both ends, as in pandas
    stop = width if columns.stop is None else _position_of(columns.stop, X, label) + 1
    return list(range(start, stop, columns.step or 1))


def _in_range(position: int, width: int, label: str) -> int:
    if not -width <= position < width:
        raise ValueError(f"{label} asks for column {position}, but X has {width} columns (0 to {width - 1}).")
    return position % width


def _position_of(name: Any, X: Any, label: str) -> int:
    if not is_frame(X):
        raise ValueError(
            f"{label} asks for column {name!r} by name, but X is no DataFrame. "
            "Give a DataFrame, or positions instead of names."
        )
    try:
        place = X.columns.get_loc(name)  # by hash: views may name thousands of columns
    except (KeyError, TypeError):
        place = None
    if isinstance(place, int):
        return place
    found = [position for position, column in enumerate(X.columns) if column == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(
            f"{label} asks for column {name!r}, which X holds {len(found)} times. Make names distinct."
        )
    known = [str(column) for column in X.columns]
    close = difflib.get_close_matches(str(name), known, n=3)
    hint = f"Did you mean {' or '.join(repr(match) for match in close)}?" if close else f"X has {known[:10]}."
    raise ValueError(f"{label} asks for the unknown column {name!r}. {hint}")


def check_positions(name: str, positions: Any, size: int) -> np.ndarray:
    """Integer positions below `size`."""
    values = np.asarray(positions)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
        raise TypeError(f"{name} must be a 1-D array of integer positions; got {positions!r}.")
    if values.size and not (values.min() >= 0 and values.max() < size):
        raise ValueError(
            f"{name} must hold positions from 0 to {size - 1}; got {values.min()} to {values.max()}."
        )
    return values.astype(np.intp)


# --- samples that lack views: where the similarities of those that have one stand among all -------


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
    """Whether each sample lacks a precomputed kernel, (n,): its row and its column of K (n, n) are NaN."""
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
    """Whether each row of precomputed similarities is NaN throughout the columns (None: all), (n_test,)."""
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
