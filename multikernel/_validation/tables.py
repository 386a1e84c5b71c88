"""Checks of numbers, choices, feature tables, labels and pairs, and warnings that point at the caller.

Errors are ``ValueError`` or ``TypeError``; each names what was required, what was given and the remedy.
Nothing here modifies its input.
"""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
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


def check_flag(name: str, value: Any) -> bool:
    """Return `value` as a bool if it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


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
    with within_floats(name):
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


@contextmanager
def within_floats(name: str) -> Iterator[None]:
    """Let integers that no float can hold be refused in plain words."""
    try:
        yield
    except OverflowError as error:
        raise ValueError(
            f"{name} must hold numbers that a float can hold, up to 1.8e308; got a larger integer."
        ) from error


def check_positive_integer(name: str, value: Any) -> int:
    """Return `value` as an int of at least 1."""
    return _check_countable(name, _check_integer(f"{name} must be a positive integer", value, 1))


def check_count(name: str, value: Any) -> int:
    """Return `value` as an int of at least 0."""
    return _check_countable(name, _check_integer(f"{name} must be a whole number of at least 0", value, 0))


def _check_countable(name: str, value: int) -> int:
    if value > sys.maxsize:
        raise ValueError(f"{name} must be at most {sys.maxsize}; got a larger integer.")
    return value


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


def as_list(name: str, value: Any, what: str) -> list[Any]:
    """Return `value` as a list, else say what it must be a list of."""
    try:
        return list(value)
    except (TypeError, NotImplementedError) as error:  # the latter of a memoryview of two dimensions
        raise TypeError(f"{name} must be a list of {what}; got {type(value).__name__}.") from error


def check_n_jobs(value: Any) -> int | None:
    """Return `value` if it is a number of jobs as joblib counts them."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if value is not None and (not is_integer or value == 0):
        raise ValueError(
            f"n_jobs must be None, a positive number of processes or -1 for all processors; got {value!r}."
        )
    return value


def check_bank_rank(value: Any) -> int | float | str | None:
    """Return the rank of a bank: "auto", or what :func:`check_rank` takes."""
    return value if isinstance(value, str) and value == "auto" else check_rank("rank", value)


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
    "MKLRidge, MKLSurvival, MKLOneClass and the clusterings with KernelBank(kernels, missing='complete')."
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
    """Let an error about one of some rows name the row of the whole table.

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


def as_numbers(X: Any, label: str, remedy: str = "") -> Any:
    """Return `X` as numbers where its entries are of another type, else say which column holds none.

    Frames stay frames. Sparse matrices and complex numbers are returned as they are, for other checks.
    """
    if scipy.sparse.issparse(X) or (is_frame(X) and _is_plain(X)):
        return X
    if is_frame(X):
        values = _to_float(X, label, list(X.columns), remedy)
        return type(X)(values, index=X.index, columns=X.columns, copy=False)
    values = _as_array(X, label)
    return values if values.dtype.kind in "fiubc" else _to_float(values, label, None, remedy)


def _as_array(X: Any, label: str) -> np.ndarray:
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError(f"{label} must be a table with rows of equal length; NumPy says: {error}") from error


def _is_plain(frame: Any) -> bool:
    """Whether all columns are of NumPy's own numbers."""
    return all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in frame.dtypes)


def _to_float(X: Any, label: str, names: list[Any] | None, remedy: str = "") -> np.ndarray:
    if names is not None:
        if _is_plain(X):
            return np.array(X, dtype=np.float64, order="C")  # much faster than column by column
        columns = [
            _column_to_float(X.iloc[:, j], label, f"column {j} ({names[j]!r})", remedy)
            for j in range(len(names))
        ]
        return np.column_stack(columns) if columns else np.empty((len(X), 0))
    values = _as_array(X, label)
    if values.dtype.kind in "fiub":
        return values.astype(np.float64, copy=False)
    if values.dtype.kind != "O":
        remedy = remedy or "Encode its columns as numbers first."
        if values.dtype.kind == "c":
            remedy = "Complex data not supported: give real and imaginary parts as columns of their own."
        raise ValueError(f"{label} must be numeric; got dtype {values.dtype}. {remedy}")
    if values.ndim != 2:
        return _column_to_float(values, label, "its content", remedy)
    columns = [_column_to_float(values[:, j], label, f"column {j}", remedy) for j in range(values.shape[1])]
    return np.column_stack(columns) if columns else np.empty(values.shape)


def _column_to_float(column: Any, label: str, place: str, remedy: str = "") -> np.ndarray:
    remedy = remedy or "Encode it as numbers, or give the view a kernel that understands it."
    if getattr(getattr(column, "dtype", None), "kind", "O") in "fiub" and not hasattr(column, "to_numpy"):
        return np.asarray(column, dtype=np.float64)
    try:
        if np.iscomplexobj(column):  # NumPy would discard half of it with a warning
            raise ValueError("it is complex")
        if getattr(getattr(column, "dtype", None), "kind", "O") in "mM":
            raise ValueError("it holds dates or durations")
        if hasattr(column, "to_numpy"):
            # pandas' missing values become NaN, which the finiteness check then reports with its place
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(column, dtype=np.float64)
    except OverflowError:
        with within_floats(label):
            raise
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{label} must be numeric, but {place} is not ({error}). {remedy}") from error


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
        raise ValueError(
            f"{label} must hold at least one feature; got 0 feature(s) (shape={shape}) while a minimum of 1 "
            "is required."
        )


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


# --- labels and targets --------------------------------------------------------------------------


def signs_of_two_classes(labels: np.ndarray, *, if_missing: str, if_more: str) -> np.ndarray:
    """±1 for a 1-D array of labels: +1 is the second class in sorted order.

    `if_missing` and `if_more` are the remedies for missing labels, and for a number of classes other than 2.
    """
    classes, codes = codes_of_classes(labels, if_missing=if_missing)
    if classes.size != 2:
        raise ValueError(f"y must hold two classes; got {classes.size}: {classes[:5].tolist()}. {if_more}")
    return np.where(codes == 1, 1.0, -1.0)


def codes_of_classes(labels: np.ndarray, *, if_missing: str) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes of a 1-D array of labels, and the place of each label among them."""
    missing = _missing_places(labels)
    if len(missing):
        first = int(missing[0])
        raise RowError("y must not hold missing labels; entry", first, f" is {labels[first]}. {if_missing}")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y must hold labels of one kind, all numbers or all text; {error}.") from error
    return classes, codes


def _missing_places(labels: np.ndarray) -> Sequence[int] | np.ndarray:
    """Where labels are missing; those of NumPy's own kinds are looked at all at once."""
    if type(labels) is np.ndarray and labels.dtype.kind in "biu":
        return []
    if type(labels) is np.ndarray and labels.dtype in (np.float32, np.float64):
        return np.flatnonzero(np.isnan(labels))
    return [place for place, label in enumerate(labels.tolist()) if is_missing(label)]


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or what pandas has in their place, told without importing it."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def check_values(values: Any, label: str = "y", *, at_least: float | None = None) -> np.ndarray:
    """Return targets or weights of a block as finite float64 numbers, else name the row."""
    try:
        with within_floats(label):
            numbers = np.asarray(values).astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{label} must hold numbers ({error}).") from error
    if not all_finite(numbers):
        rows = np.atleast_1d(numbers)
        row = int(np.argwhere(~np.isfinite(rows))[0][0])
        what = "NaN" if np.isnan(rows[row]).any() else "infinity"
        raise NotFiniteError(f"{label} holds {what}", row, "but must be finite: leave such rows out.")
    if at_least is not None and numbers.size and numbers.min() < at_least:
        row = int(np.argwhere(numbers < at_least)[0][0])
        raise RowError(f"{label} must be at least {at_least:g}; entry", row, f" is {numbers[row]:g}.")
    return numbers


def join_labels(found: Sequence[np.ndarray], chunks: Sequence[int]) -> np.ndarray:
    """The sorted union of the labels of several chunks, whose numbers errors name."""
    texts = [any(isinstance(label, str) for label in labels.tolist()) for labels in found]
    if len(set(texts)) > 1:  # NumPy would make text of the numbers
        number = texts.index(not texts[0])
        raise ValueError(
            f"y must hold labels of one kind, all numbers or all text; chunk {chunks[0]} holds "
            f"{found[0][0]!r}, chunk {chunks[number]} holds {found[number][0]!r}."
        )
    classes, _ = codes_of_classes(np.concatenate(found), if_missing="")
    return classes


# --- pairs: two objects side by side in each row -------------------------------------------------


_SPLIT = (
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
        raise TypeError(f"{label} {_SPLIT}; got {split!r}.")
    sides = tuple(_check_side(side, label, split) for side in split)
    if set(sides[0]) & set(sides[1]):
        raise ValueError(f"{label} gives column {min(set(sides[0]) & set(sides[1]))!r} to both objects.")
    return sides


def _check_side(side: Any, label: str, split: Any) -> tuple[Any, ...]:
    columns = [side] if isinstance(side, (str, int, np.integer)) else side
    if not isinstance(columns, (list, tuple, np.ndarray)) or not len(columns):
        raise TypeError(f"{label} {_SPLIT}; got {split!r}.")
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
        sides = [[_column_place(column, table, width, label) for column in side] for side in split]
    else:
        sides = _cut(split, width, label)
    return _take_columns(table, sides[0]), _take_columns(table, sides[1])


def _cut(split: int | None, width: int, label: str) -> list[list[int]]:
    if split is None and width % 2:
        raise ValueError(
            f"{label} must hold two objects side by side, an even number of columns; it has {width}. Set "
            f"split to the number of columns of the left objects."
        )
    first = width // 2 if split is None else split
    if first >= width:
        raise ValueError(f"split={split} leaves no column to the right objects; {label} has {width} columns.")
    return [list(range(first)), list(range(first, width))]


def _column_place(column: Any, table: Any, width: int, label: str) -> int:
    if isinstance(column, str):
        names: Sequence[Any] = list(table.columns) if is_frame(table) else []
        if names.count(column) != 1:
            known = f"has the columns {names[:10]}" if names else "is no DataFrame"
            raise ValueError(f"split names the column {column!r}, but {label} {known}.")
        return names.index(column)
    if not 0 <= column < width:
        raise ValueError(f"split names column {column}, but {label} has {width} columns.")
    return int(column)


def _take_columns(table: Any, columns: list[int]) -> Any:
    return table.iloc[:, columns] if is_frame(table) else table[:, columns]


# --- warnings ----------------------------------------------------------------------------------


_CALLERS = ("sklearn", "joblib")  # they call a fit for a user, in searches and pipelines
_ISSUED: set[tuple[str, type[Warning], str, int]] = set()  # what Python's registry knew before a reset


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside of this package; at that of a search or a pipeline, if one calls it.

    Scikit-learn resets Python's registry of warnings for each fit of a search, so that Python would show one
    text in every fold. Such a text is issued once for each line, unless a filter says "always" or "error".
    """
    level, frame = _first_outside(1, sys._getframe(), (_PACKAGE,))
    if _package_of(frame) in _CALLERS:
        caller_level, caller = _first_outside(level, frame, (_PACKAGE, *_CALLERS))
        if _package_of(caller) not in sys.stdlib_module_names:  # else it is the loop of a worker
            level, frame = caller_level, caller
        place = (message, category, frame.f_code.co_filename, frame.f_lineno)
        if place in _ISSUED and _is_shown_once(message, category, frame):
            return
        _ISSUED.add(place)
    warnings.warn(message, category, stacklevel=level)


def _first_outside(level: int, frame: FrameType, packages: Sequence[str]) -> tuple[int, FrameType]:
    """The first frame outside of the packages, with its stack level."""
    while frame.f_back is not None and _package_of(frame) in packages:
        level, frame = level + 1, frame.f_back
    return level, frame


def _package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).split(".")[0]


def _is_shown_once(message: str, category: type[Warning], frame: FrameType) -> bool:
    """Whether the first filter that matches, or Python's default, shows a warning once for each line."""
    module = str(frame.f_globals.get("__name__", ""))
    for action, text, kind, where, line in warnings.filters:
        matches = re.match(text or "", message) and re.match(where or "", module)
        if matches and issubclass(category, kind) and line in (0, frame.f_lineno):
            return action not in ("always", "error")
    return True
