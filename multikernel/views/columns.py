"""Which columns a view reads: names, positions, slices, masks or a function of the table."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import is_frame
from multikernel.views.tables import MultiTable, as_table, n_columns, n_rows, require_width  # noqa: F401


@dataclass(frozen=True)
class Selection:
    """Columns resolved on the training table.

    Attributes
    ----------
    positions : tuple of int or None
        None for the whole table.
    names : tuple or None
        Their names, where the training table was a DataFrame with distinct names.
    scalar : bool
        Whether one column was asked for by itself: it is then taken as 1-D.
    table : str or None
        Of several tables, the one that holds the columns.
    """

    positions: tuple[int, ...] | None
    names: tuple[Any, ...] | None
    scalar: bool = False
    table: str | None = None

    def take(self, X: Any, label: str) -> Any:
        """These columns of `X`; by name where both tables have names."""
        if self.table is not None:
            X = X[self.table]
        if is_frame(X) and self.names is not None:
            if list(X.columns) == list(self.names):
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
    """Resolve a column specification on the training table `X`, or on one of several tables.

    Parameters
    ----------
    X : what `as_table` returned
    columns : None, str, int, list of either, slice, boolean mask or callable
        As in scikit-learn's ColumnTransformer; None is all columns. A name with ``*``, ``?`` or ``[...]``
        that no column has is a pattern: all columns whose names match.
    label : str
        For messages, e.g. ``"view 'tap'"``.
    table : str, optional
        Which of several tables.
    """
    if table is not None:
        return replace(resolve_columns(X[table], columns, label), table=table)
    if callable(columns):
        columns = columns(X)
    names = tuple(X.columns) if is_frame(X) and len(set(X.columns)) == X.shape[1] else None
    if columns is None:
        return Selection(None, names)
    width = n_columns(X)
    if width is None:
        raise ValueError(f"{label} asks for columns {columns!r}, but X is not a table with columns.")
    positions = _positions(X, columns, width, label)
    scalar = isinstance(columns, (str, int, np.integer)) and not isinstance(columns, bool)
    scalar = scalar and not _matches(columns, X)
    if not positions:
        raise ValueError(f"{label} selects no column with columns={columns!r}; X has {width} columns.")
    return Selection(tuple(positions), None if names is None else tuple(names[p] for p in positions), scalar)


def _positions(X: Any, columns: Any, width: int, label: str) -> list[int]:
    if isinstance(columns, str):
        return _matches(columns, X) or [_position_of(columns, X, label)]
    if isinstance(columns, slice):
        return _slice_positions(X, columns, width, label)
    if isinstance(columns, (int, np.integer)) and not isinstance(columns, bool):
        return [_in_range(int(columns), width, label)]
    if not isinstance(columns, (Sequence, np.ndarray)) and not hasattr(columns, "tolist"):
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
