"""Rows as they were given, for kernels that read objects, categories or gaps, not a table of numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import RowError, is_frame
from multikernel._validation.missing import missing_in
from multikernel.kernels._rows import Rows


def objects_of(rows: Rows, reader: str) -> list[Any]:
    """The entries of the one column that a kernel of objects reads; `reader` is what messages call it."""
    raw = rows.raw
    if isinstance(raw, (list, tuple)):
        return list(raw)
    columns = columns_of(rows)
    if len(columns) != 1:
        raise ValueError(
            f"{reader} reads one column of objects; {rows.label} has {len(columns)} columns. Give each "
            "column a view of its own: (name, kernel, column)."
        )
    return list(columns[0])


def import_library(name: str, reader: str, extra: str) -> Any:
    """A library that a kernel needs, or an error that says how to install it."""
    try:
        return __import__(name)
    except ImportError:
        raise ImportError(
            f"{reader} needs the library {name}. Install it with pip install 'multikernel[{extra}]'."
        ) from None


def columns_of(rows: Rows) -> list[np.ndarray]:
    """Every column as a 1-D array, of objects where it holds anything but numbers."""
    raw = rows.raw
    if is_frame(raw):
        return [_plain(raw.iloc[:, place]) for place in range(raw.shape[1])]
    if hasattr(raw, "iloc"):
        return [_plain(raw)]
    table = raw.toarray() if scipy.sparse.issparse(raw) else _as_array(raw)
    if table.ndim == 1:
        return [table]
    if table.ndim != 2 or not table.shape[1]:
        raise ValueError(f"{rows.label} must be a table of shape (n, d); got shape {table.shape}.")
    return [table[:, place] for place in range(table.shape[1])]


def names_of(rows: Rows) -> list[Any] | None:
    """The names of the columns, where they have names."""
    if is_frame(rows.raw):
        return list(rows.raw.columns)
    return [rows.raw.name] if hasattr(rows.raw, "iloc") else None


def codes_of(entries: Iterable[Any], known: dict[Hashable, int], label: str) -> np.ndarray:
    """A whole number for each entry, equal where entries are; new entries are added to `known`."""
    codes = []
    for row, entry in enumerate(entries):
        try:
            codes.append(known.setdefault(entry, len(known)))
        except TypeError:
            raise RowError(
                f"{label} must hold categories, which can be compared; it holds an object of type "
                f"{type(entry).__name__} at row",
                row,
                ". Give texts or numbers, or a kernel that reads such objects.",
            ) from None
    return np.array(codes, dtype=np.float64)


def holds_numbers(column: np.ndarray, label: str) -> bool:
    """Whether what is there of a column is numbers, not logical values; dates are refused."""
    if column.dtype.kind in "mM":
        raise ValueError(f"{label} holds dates or times. Give them as numbers, such as days since the first.")
    if column.dtype.kind != "O":
        return column.dtype.kind in "fiu"
    present = column[~missing_in(column)].tolist()
    numbers = (int, float, np.integer, np.floating)
    return bool(present) and all(isinstance(x, numbers) and not isinstance(x, bool) for x in present)


def numbers_of(column: np.ndarray, label: str) -> np.ndarray:
    """A column of numbers, NaN where they are missing; infinite ones are refused."""
    missing = missing_in(column)
    values = np.full(len(column), np.nan)
    try:
        values[~missing] = column[~missing].astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{label} must hold numbers, as in the training rows; {error}. Correct it, or make the "
            "column a category in both, as by Mixed(categorical=...)."
        ) from error
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise RowError(f"{label} holds infinity at row", row, ". Numbers must be finite or missing.")
    return values


def _plain(column: Any) -> np.ndarray:
    """The values of a Series: of NumPy's own type where it has one, else objects."""
    if isinstance(column.dtype, np.dtype):
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_numpy(dtype=object))


def _as_array(raw: Any) -> np.ndarray:
    """An array of objects for a list: NumPy would make texts of the numbers beside them."""
    return raw if isinstance(raw, np.ndarray) else np.array(raw, dtype=object)
