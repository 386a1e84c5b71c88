"""Tables of pairs, two objects side by side in each row: which columns hold the one and which the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from .tables import check_positive_integer, is_frame

_REQUIREMENT = (
    "must be None (halves), the number of columns of the left objects, or two lists of columns, the left and "
    "the right objects'"
)


def check_split(split: Any, label: str) -> Any:
    """Return `split` as None, a positive integer, or two tuples of positions or names."""
    if split is None:
        return None
    if isinstance(split, (int, np.integer)):
        return check_positive_integer(label, split)
    if isinstance(split, str) or not isinstance(split, (list, tuple)) or len(split) != 2:
        raise TypeError(f"{label} {_REQUIREMENT}; got {split!r}.")
    sides = tuple(_check_side(side, label, split) for side in split)
    if set(sides[0]) & set(sides[1]):
        raise ValueError(f"{label} gives column {min(set(sides[0]) & set(sides[1]))!r} to both objects.")
    return sides


def _check_side(side: Any, label: str, split: Any) -> tuple[Any, ...]:
    columns = [side] if isinstance(side, (str, int, np.integer)) else side
    if not isinstance(columns, (list, tuple, np.ndarray)) or not len(columns):
        raise TypeError(f"{label} {_REQUIREMENT}; got {split!r}.")
    plain = tuple(int(column) if isinstance(column, np.integer) else column for column in columns)
    kinds = {type(column) for column in plain}
    if kinds not in ({int}, {str}) or len(set(plain)) != len(plain):
        raise ValueError(f"{label} needs distinct positions or names for each object; got {split!r}.")
    return plain


def pair_table(X: Any, label: str) -> Any:
    """A table of pairs ready for taking columns: a frame, CSR, or an array of two dimensions."""
    table: Any = X if is_frame(X) or scipy.sparse.issparse(X) else np.asarray(X)
    table = table.tocsr() if scipy.sparse.issparse(table) else table
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(
            f"{label} must hold two objects side by side in each row, two columns at least; it has shape "
            f"{tuple(table.shape)}{', 1 feature(s)' if table.ndim == 2 and table.shape[1] == 1 else ''}."
        )
    return table


def split_pairs(X: Any, split: Any, label: str) -> tuple[Any, Any]:
    """The columns of the left and of the right objects, by a split that `check_split` returned."""
    table = pair_table(X, label)
    width = int(table.shape[1])
    if isinstance(split, tuple):
        sides = [[_place(column, table, width, label) for column in side] for side in split]
    else:
        sides = _cut(split, width, label)
    return _take(table, sides[0]), _take(table, sides[1])


def _cut(split: int | None, width: int, label: str) -> list[list[int]]:
    if split is None and width % 2:
        raise ValueError(
            f"{label} must hold two objects side by side, an even number of columns; it has {width}. Say "
            "with split how many of them are the left objects'."
        )
    first = width // 2 if split is None else split
    if first >= width:
        raise ValueError(f"split={split} leaves no column to the right objects; {label} has {width} columns.")
    return [list(range(first)), list(range(first, width))]


def _place(column: Any, table: Any, width: int, label: str) -> int:
    if isinstance(column, str):
        names: Sequence[Any] = list(table.columns) if is_frame(table) else []
        if names.count(column) != 1:
            known = f"has the columns {names[:10]}" if names else "is no DataFrame"
            raise ValueError(f"split names the column {column!r}, but {label} {known}.")
        return names.index(column)
    if not 0 <= column < width:
        raise ValueError(f"split asks for column {column}, but {label} has {width} columns.")
    return int(column)


def _take(table: Any, columns: list[int]) -> Any:
    return table.iloc[:, columns] if is_frame(table) else table[:, columns]
