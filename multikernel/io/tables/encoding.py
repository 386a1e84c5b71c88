"""Columns of names as columns of 0 and 1, one for each name, and the same again for new rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from multikernel.io.tables.data import TableData
from multikernel.io.tables.reading import require_column

_MOST = 100


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
        raise ValueError(f"{data.name} holds ready-made kernels, which have no columns to encode.")
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
                f"column {column!r} of {data.name} is empty, or says NA or the like, in "
                f"{data.place(int(missing[0]))}. Fill in what is missing; where NA is a name as others are, "
                "say so in the fit (--keep-na)."
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
    shown = ", ".join(map(repr, unknown[:3])) + (" …" if len(unknown) > 3 else "")
    if rows.size == texts.size:
        had = ", ".join(map(repr, known[:5])) + (" …" if len(known) > 5 else "")
        raise ValueError(
            f"column {column!r} of {data.name} must hold values that training had ({had}); it holds none of "
            f"them, but {shown}. Write them as in training."
        )
    places = ", ".join(data.place(int(row)) for row in rows[:5]) + (" …" if rows.size > 5 else "")
    return [
        f"column {column!r} of {data.name} holds values that training had not ({shown}) in {rows.size} of "
        f"{texts.size} rows: {places}. All its columns of 0 and 1 are 0 there."
    ]


def _renamed(columns: Sequence[str], categories: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns of a view after those of names were replaced."""
    listed: list[str] = []
    for column in columns:
        listed += [f"{column}={value}" for value in categories[column]] if column in categories else [column]
    return listed
