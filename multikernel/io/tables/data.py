"""What a file holds: features, or precomputed kernels, with the targets beside them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

_MOST = 100


@dataclass(frozen=True, eq=False)
class TableData:
    """A table, several tables, or precomputed kernels, as read from files.

    Attributes
    ----------
    X : DataFrame of shape (n_samples, n_features)
        MultiTable, or ndarray of shape (n_samples, n_train, n_kernels).
        The features by name, without the target; or the kernels.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs), or None
        The target, where one was asked for; of censored times with the fields ``event`` and ``time``.
    view_columns : dict of str to list of str
        The columns of each view, where the file names views: ``view_NAME`` arrays of an .npz file, or columns
        that are all called ``view:column``. Empty otherwise.
    kind : {"table", "tables", "precomputed"}
    name : str
        The name of the file; of several, their names.
    target : str or None
        The name of the target; of censored times that of the time.
    censored : Censored or None
        The other columns of censored times.
    kernel_names : list of str
        Of precomputed kernels.
    notes : list of str
        What was left out, or assumed, in reading.
    lines : ndarray of int, or None
        The line of each row in a text file.
    labels : ndarray of str, or None
        The target as it is written, where a number would not tell it: 001, TRUE.
    ids : Index or None
        The names of the samples, where a column of ids was named; they are the index of X, too.
    categories : dict of str to list of str
        The values of the columns that were replaced by columns of 0 and 1.
    parts : dict of str to TableData
        Of several tables, each by its name, with the samples of X.
    """

    X: Any
    y: np.ndarray | None
    view_columns: dict[str, list[str]]
    kind: str
    name: str
    target: str | None = None
    kernel_names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lines: np.ndarray | None = None
    labels: np.ndarray | None = None
    ids: pd.Index | None = None
    categories: dict[str, list[str]] = field(default_factory=dict)
    parts: dict[str, TableData] = field(default_factory=dict)
    censored: Any = None

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def columns(self) -> list[str]:
        """The names of the features, ``table:column`` of several tables; none of precomputed kernels."""
        if self.kind == "tables":
            return [f"{name}:{column}" for name, part in self.parts.items() for column in part.columns]
        return [] if self.kind == "precomputed" else [str(name) for name in self.X.columns]

    def target_as(self, task: str) -> np.ndarray | None:
        """The target as a task wants it: classes by their names, values as numbers, nothing as None."""
        if task == "unsupervised" or self.y is None:
            return None
        if self.y.dtype.names:  # censored times
            return self.y
        if task == "regression":
            return np.asarray(self.y, dtype=np.float64)
        return self.y if self.labels is None else self.labels

    def place(self, row: int) -> str:
        """Where a row, counted from 0, stands in the file; or which sample it is."""
        if self.lines is None and self.ids is not None:
            return f"sample {self.ids[row]!r}"
        return f"row {row} (counted from 0)" if self.lines is None else f"line {self.lines[row]}"


def some(names: Sequence[Any], most: int = 5) -> str:
    """The first of some names, quoted, and how many more there are."""
    return ", ".join(map(repr, names[:most])) + (
        f" and {len(names) - most} more" if len(names) > most else ""
    )


def is_number(text: object) -> bool:
    """Whether a text is that of a number."""
    try:
        float(str(text))
    except ValueError:
        return False
    return True


def require_column(column: str, known: Sequence[str], name: str) -> None:
    """Refuse a column that a table does not have."""
    if column in known:
        return
    folded = {name.casefold().strip(): name for name in known}
    near = [folded[name] for name in difflib.get_close_matches(column.casefold().strip(), folded, 3, 0.5)]
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"It has {some(known, 12)}."
    raise ValueError(f"{name} has no column {column!r}. {hint}")


def views_in_names(columns: list[str]) -> dict[str, list[str]]:
    """The views that column names tell of, where all of them are ``view:column`` with two views or more."""
    views: dict[str, list[str]] = {}
    for column in columns:
        view, colon, rest = column.partition(":")
        if not (view.strip() and colon and rest):
            return {}
        views.setdefault(view.strip(), []).append(column)
    return views if len(views) > 1 else {}


# --- columns of names as columns of 0 and 1, and the same again for new rows --------------------------------


def find_categories(data: TableData, columns: Sequence[str]) -> dict[str, list[str]]:
    """The values of some columns, in order.

    Parameters
    ----------
    data : TableData
    columns : sequence of str

    Returns
    -------
    dict of str to list of str
    """
    if columns and data.kind == "precomputed":
        raise ValueError(f"{data.name} holds precomputed kernels, which have no columns to encode.")
    found = {}
    for column in columns:
        require_column(column, data.columns, data.name)
        values = sorted({str(value) for value in data.X[column].dropna().tolist()})
        if len(values) > _MOST:
            raise ValueError(
                f"column {column!r} of {data.name} holds {len(values)} different values, too many for one "
                f"column each ({_MOST} at most). Leave it out if it names the samples (--ignore {column})."
            )
        found[column] = values
    _require_new_names(data, found)
    return found


def _require_new_names(data: TableData, categories: Mapping[str, Sequence[str]]) -> None:
    """Refuse columns of 0 and 1 that would be called as others are."""
    taken = {column: "there already" for column in data.columns if column not in categories}
    for column, values in categories.items():
        for value in values:
            name = f"{column}={value}"
            if name in taken:
                raise ValueError(
                    f"--one-hot {column} makes a column {name!r} of {data.name}, which is {taken[name]}. "
                    "Rename one of them."
                )
            taken[name] = "made of another column too"


def encode_columns(data: TableData, categories: Mapping[str, Sequence[str]]) -> TableData:
    """Replace columns of names by columns of 0 and 1, called ``column=value``.

    Parameters
    ----------
    data : TableData
        It is not modified.
    categories : mapping of str to sequence of str
        The values of each column, from `find_categories` on the training rows. A value that is not among
        them has 0 in all columns, and a note says so; a column of nothing but such values is refused.

    Returns
    -------
    TableData
    """
    if not categories:
        return data
    parts, notes = [], list(data.notes)
    for column in data.columns:
        if column not in categories:
            parts.append(data.X[[column]])
            continue
        names = data.X[column].astype(object)
        missing = np.flatnonzero(names.isna().to_numpy())
        if missing.size:
            raise ValueError(
                f"column {column!r} of {data.name} is empty or NA in "
                f"{data.place(int(missing[0]))}. Fill in what is missing; if NA is a name, fit with "
                f"--keep-na."
            )
        texts = np.array([str(name) for name in names.tolist()])
        notes += _unknown(data, column, texts, categories[column])
        coded = {f"{column}={value}": (texts == value).astype(float) for value in categories[column]}
        parts.append(pd.DataFrame(coded, index=data.X.index))
    views = {view: _renamed(columns, categories) for view, columns in data.view_columns.items()}
    return replace(data, X=pd.concat(parts, axis=1), view_columns=views, notes=notes)


def _unknown(data: TableData, column: str, texts: np.ndarray, known: Sequence[str]) -> list[str]:
    """What to say of values that training had not; refuses a column that has no others."""
    rows = np.flatnonzero(~np.isin(texts, list(known)))
    if not rows.size:
        return []
    unknown = sorted(set(texts[rows].tolist()))
    if rows.size == texts.size:
        raise ValueError(
            f"column {column!r} of {data.name} must hold values that training had ({some(known)}); it holds "
            f"none of them, but {some(unknown, 3)}. Write them as in training."
        )
    places = ", ".join(data.place(int(row)) for row in rows[:5]) + (" …" if rows.size > 5 else "")
    return [
        f"column {column!r} of {data.name} holds values that training had not ({some(unknown, 3)}) in "
        f"{rows.size} of {texts.size} rows: {places}. All its columns of 0 and 1 are 0 there."
    ]


def _renamed(columns: Sequence[str], categories: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns of a view after those of names were replaced."""
    listed: list[str] = []
    for column in columns:
        listed += [f"{column}={value}" for value in categories[column]] if column in categories else [column]
    return listed
