"""Checks of numbers, choices and feature tables, with their wording, and warnings that point at the caller.

Errors are ``ValueError`` or ``TypeError``; each names what was required, what was given and the remedy.
Nothing here modifies its input.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

_PACKAGE = __name__.split(".")[0]


# --- scalars and choices -------------------------------------------------------------------------


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return `value` if it is one of `choices`, else say which there are."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")
    return value


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
) -> float:
    """Return `value` as a finite float, optionally bounded."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number:
        raise TypeError(f"{name} must be a number; got {value!r}.")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite; got {value!r}.")
    if above is not None and not number > above:
        raise ValueError(f"{name} must be greater than {above:g}; got {value!r}.")
    if at_least is not None and not number >= at_least:
        raise ValueError(f"{name} must be at least {at_least:g}; got {value!r}.")
    if below is not None and not number < below:
        raise ValueError(f"{name} must be less than {below:g}; got {value!r}.")
    return number


def check_positive_integer(name: str, value: Any) -> int:
    """Return `value` as an int of at least 1."""
    return _check_integer(f"{name} must be a positive integer", value, 1)


def check_count(name: str, value: Any) -> int:
    """Return `value` as an int of at least 0."""
    return _check_integer(f"{name} must be a whole number of at least 0", value, 0)


def check_seed(name: str, value: Any) -> int:
    """Return `value` as an int of at least 0; None is 0."""
    requirement = f"{name} must be a whole number of at least 0, or None"
    return 0 if value is None else _check_integer(requirement, value, 0)


def _check_integer(requirement: str, value: Any, least: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{requirement}; got {value!r}.")
    if value < least:
        raise ValueError(f"{requirement}; got {value!r}.")
    return int(value)


def check_rank(name: str, value: Any) -> int | float | None:
    """Return a rank: None, a number of columns (int ≥ 1), or a trace error (float) between 0 and 1."""
    requirement = (
        f"{name} must be a number of columns (a whole number of at least 1), a largest relative trace error "
        "(between 0 and 1), or None"
    )
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{requirement}; got {value!r}.")
    if isinstance(value, (int, np.integer)) and value >= 1:
        return int(value)
    if isinstance(value, (float, np.floating)):
        if 0.0 < value < 1.0:
            return float(value)
        if value >= 1.0 and float(value).is_integer():
            raise ValueError(f"{requirement}; got {value!r}. Write {int(value)} for that many columns.")
    raise ValueError(f"{requirement}; got {value!r}.")


def check_float_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype if it is float32 or float64."""
    try:
        resolved = np.dtype(dtype)
    except TypeError as error:
        raise TypeError(f"dtype must be 'float64' or 'float32'; got {dtype!r}.") from error
    if dtype is None or resolved not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be 'float64' or 'float32'; got {dtype!r}.")
    return resolved


# --- feature tables ------------------------------------------------------------------------------


WHOLE_VIEWS = (
    "Samples that lack a view as a whole, all of its columns, are accepted by MKLClassifier, MKLRegressor, "
    "MKLRidge and MKLOneClass with missing='complete'."
)


class RowError(ValueError):
    """An error about one row of what was checked: the words before its number, it, and the words after it.

    Who checks a part of a table can say where that row stands in the whole.

    Examples
    --------
    >>> print(RowError("y must not be negative; entry", 3, " is -1.").in_row(1003))
    y must not be negative; entry 1003 is -1.
    """

    def __init__(self, found: str, row: int, rest: str) -> None:
        super().__init__(found, row, rest)
        self.found, self.row, self.rest = found, row, rest

    def __str__(self) -> str:
        return f"{self.found} {self.row}{self.rest}"

    def in_row(self, row: int, place: str = "") -> Self:
        """The same of another row; `place` is put before the message."""
        return type(self)(place + self.found, row, self.rest)


class NotFiniteError(RowError):
    """A table holds NaN or infinity: what, in which row of what was checked, and the rest of the message."""

    def __str__(self) -> str:
        return f"{self.found} at row {self.row}, {self.rest}"


@contextmanager
def naming(label: str) -> Iterator[None]:
    """Let an error raised inside name the view or kernel it is about."""
    try:
        yield
    except ValueError as error:
        if label in str(error):
            raise
        if isinstance(error, RowError):  # whoever reads a part of a table says which row of the whole it is
            raise error.in_row(error.row, f"{label}: ") from error
        raise ValueError(f"{label}: {error}") from error


@contextmanager
def naming_rows(rows: np.ndarray | int | None) -> Iterator[None]:
    """Let an error about one of some rows speak of the row of the whole table.

    `rows` are their positions in it, or the position of the first where they are neighbours; None: these are
    all rows.
    """
    try:
        yield
    except RowError as error:
        if rows is None:
            raise
        row = rows + error.row if isinstance(rows, int) else int(rows[error.row])
        raise error.in_row(row) from error


def is_frame(X: Any) -> bool:
    """Whether `X` is a pandas DataFrame (told by its methods, so that pandas need not be imported)."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def check_numeric_table(X: Any, label: str = "X", *, one_column: bool = False) -> Any:
    """Return `X` as a finite float64 table: a C-contiguous array or a canonical CSR matrix.

    Without a copy where it is such a table already. Where `one_column`, a 1-D `X` is one column.
    """
    if scipy.sparse.issparse(X):
        return _check_sparse(X, label)
    names = list(X.columns) if is_frame(X) else None
    values = _to_float(X, label, names)
    if values.ndim == 1 and one_column:
        values = values.reshape(-1, 1)
    _check_table_shape(values.shape, label)
    if not all_finite(values):
        row, column = np.argwhere(~np.isfinite(values))[0]
        _raise_not_finite(label, values[row, column], int(row), int(column), names)
    return np.ascontiguousarray(values)


def _to_float(X: Any, label: str, names: list[Any] | None) -> np.ndarray:
    if names is not None:
        if all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in X.dtypes):
            return np.array(X, dtype=np.float64, order="C")  # much faster than column by column
        columns = [
            _column_to_float(X.iloc[:, j], label, f"column {j} ({names[j]!r})") for j in range(len(names))
        ]
        return np.column_stack(columns) if columns else np.empty((len(X), 0))
    try:
        values = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"{label} must be a table with rows of equal length; NumPy says: {error}") from error
    if values.dtype.kind in "fiub":
        return values.astype(np.float64, copy=False)
    if values.dtype.kind != "O":
        raise ValueError(
            f"{label} must be numeric; got dtype {values.dtype}. Encode its columns as numbers first."
        )
    if values.ndim != 2:
        return _column_to_float(values, label, "its values")
    columns = [_column_to_float(values[:, j], label, f"column {j}") for j in range(values.shape[1])]
    return np.column_stack(columns) if columns else np.empty(values.shape)


def _column_to_float(column: Any, label: str, place: str) -> np.ndarray:
    remedy = "Encode it as numbers, or give the view a kernel that understands it."
    if getattr(getattr(column, "dtype", None), "kind", "O") in "fiub" and not hasattr(column, "to_numpy"):
        return np.asarray(column, dtype=np.float64)
    try:
        if np.iscomplexobj(column):  # NumPy would discard half of it with a warning
            raise TypeError("it is complex")
        if hasattr(column, "to_numpy"):
            # pandas' missing values become NaN, which the finiteness check then reports with its place
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{label} must be numeric, but {place} is not ({error}). {remedy}") from error
    return values


def _check_sparse(X: Any, label: str) -> scipy.sparse.csr_matrix:
    if X.ndim == 2:
        _check_table_shape(X.shape, label)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"{label} must be a numeric 2-D sparse matrix; got {X.ndim}-D {X.dtype}.")
    table = scipy.sparse.csr_matrix(X, dtype=np.float64)
    if not table.has_canonical_format:
        table = table.copy()  # the arrays may be the caller's
        table.sum_duplicates()
    if not all_finite(table.data):
        entries = table.tocoo()
        first = int(np.flatnonzero(~np.isfinite(entries.data))[0])
        _raise_not_finite(label, entries.data[first], int(entries.row[first]), int(entries.col[first]), None)
    return table


def _check_table_shape(shape: tuple[int, ...], label: str) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"{label} must be a table of shape (n_samples, n_features); got shape {shape}. "
            "Reshape a single feature with X.reshape(-1, 1)."
        )
    if shape[0] < 1:
        raise ValueError(f"{label} must hold at least one sample; got 0 sample(s) (shape={shape}).")
    if shape[1] < 1:
        raise ValueError(f"{label} must hold at least one feature; got 0 feature(s) (shape={shape}).")


def all_finite(values: np.ndarray) -> bool:
    """Whether every entry is finite: min and max carry NaN and infinity without a temporary array."""
    return values.size == 0 or bool(np.isfinite(values.min()) and np.isfinite(values.max()))


def _raise_not_finite(label: str, value: Any, row: int, column: int, names: list[Any] | None) -> None:
    what = "NaN" if np.isnan(value) else "infinity"
    name = f" ({names[column]!r})" if names is not None else ""
    remedy = "Features must be finite: impute or drop what is missing"
    remedy += f", or use a kernel that reads gaps (Mixed). {WHOLE_VIEWS}" if what == "NaN" else "."
    raise NotFiniteError(f"{label} holds {what}", row, f"column {column}{name}. {remedy}")


def as_generator(random_state: Any) -> np.random.Generator:
    """The generator of a seed, or the one given."""
    if isinstance(random_state, np.random.Generator) or random_state is None:
        return np.random.default_rng(random_state)
    if isinstance(random_state, bool) or not isinstance(random_state, (int, np.integer)) or random_state < 0:
        raise ValueError(
            "random_state must be a nonnegative integer, a numpy.random.Generator, or None for a new seed "
            f"each time; got {random_state!r}."
        )
    return np.random.default_rng(int(random_state))


# --- warnings ----------------------------------------------------------------------------------


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
