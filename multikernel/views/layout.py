"""The columns that a model was fitted on, and new tables brought to them.

Columns are found by name, as in scikit-learn's ColumnTransformer: at prediction they may stand in another
order, among others, and those that no view reads may be absent. Where all columns are read, scikit-learn's
own check of feature names applies. A layout is a plain dict, so that it is saved with the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from multikernel._validation import is_frame
from multikernel.views.columns import resolve_columns
from multikernel.views.tables import MultiTable, as_table, n_columns, require_distinct_columns
from multikernel.views.view import View, as_views, place_views

Layout = dict[str, Any]


def layout_of(X: Any, views: Sequence[View]) -> Layout | None:
    """Names, or number, of the columns of each table, and which of them the views read.

    Returns
    -------
    dict or None
        ``columns`` and ``read`` of a frame, a list of names each; ``tables`` of several tables, a dict of
        them. None where nothing is to be aligned: an array, or a frame of which all columns are read.
    """
    views = place_views(list(views), X)
    if isinstance(X, MultiTable):
        read = {view.table for view in views}
        return {
            "tables": {
                name: _of_table(table, [view for view in views if view.table == name])
                for name, table in X.tables.items()
                if name in read
            }
        }
    found = _of_table(X, views)
    return found if found["columns"] is not None and found["read"] is not None else None


def _of_table(table: Any, views: Sequence[View]) -> Layout:
    named = is_frame(table) and table.columns.is_unique
    layout = {"columns": list(table.columns) if named else None, "width": n_columns(table), "read": None}
    if not named:
        return layout
    positions: set[int] = set()
    for view in views:
        chosen = resolve_columns(table, view.columns, f"view {view.name!r}").positions
        if chosen is None:
            return layout
        positions |= set(chosen)
    if len(positions) < table.shape[1]:
        layout["read"] = [table.columns[position] for position in sorted(positions)]
    return layout


def align(X: Any, layout: Layout | None, reader: str, *, may_lack_tables: bool = False) -> Any:
    """`X` with the columns, or the tables, of the layout, in its order; others are left out.

    Parameters
    ----------
    X : frame, array, sparse matrix or MultiTable
    layout : as `layout_of` gave it at fit
    reader : str
        What the messages call the model.
    may_lack_tables : bool
        Whether a table may be absent: all its entries are then missing.
    """
    if layout is None or "tables" not in layout:
        if isinstance(X, MultiTable):
            raise ValueError(f"{reader} was fitted on one table; got several: {X.names}.")
        return X if layout is None else _align_frame(X, layout, "X", reader)
    if not isinstance(X, MultiTable):
        raise ValueError(
            f"{reader} was fitted on the tables {list(layout['tables'])}; got {type(X).__name__}. Pass a "
            "dict of tables, or what join_views returns."
        )
    _require_names(X.names, list(layout["tables"]), reader)
    tables = {}
    for name, part in layout["tables"].items():
        if name in X.tables:
            tables[name] = _align_table(X[name], part, f"table {name!r}", reader)
        elif may_lack_tables:
            tables[name] = _empty_table(part, len(X))
        else:
            raise ValueError(
                f"{reader} was fitted with the table {name!r}, which is not there at prediction; the tables "
                f"are {X.names}. Pass it by this name, or fit with KernelBank(..., missing='renormalize'), "
                "which predicts from the tables that there are."
            )
    return MultiTable(tables, ids=X.ids)


def _require_names(given: list[str], expected: list[str], reader: str) -> None:
    """Refuse tables none of which has a name of fit: a list instead of a dict, or the other way."""
    if not set(given).isdisjoint(expected):
        return
    if _are_numbered(given):
        raise ValueError(
            f"{reader} was fitted on a dict of the tables {expected}; got a list of {len(given)} tables, "
            "which have no names. Pass a dict with the names of fit: "
            f"{{{', '.join(f'{name!r}: ...' for name in expected[:3])}{', ...' * (len(expected) > 3)}}}."
        )
    if _are_numbered(expected):
        raise ValueError(
            f"{reader} was fitted on a list of tables; got a dict of the tables {given}. Pass a list, in the "
            "order of fit."
        )
    raise ValueError(
        f"{reader} was fitted on the tables {expected}; none of them is among {given}. Pass a dict with the "
        "names of fit."
    )


def _are_numbered(names: list[str]) -> bool:
    """Whether tables were given as a list, which has no names."""
    return all(re.fullmatch(r"table-\d+", name) for name in names)


def _align_table(table: Any, layout: Layout, label: str, reader: str) -> Any:
    """One of several tables: by names where both have them, else by the number of columns."""
    if layout["columns"] is not None and is_frame(table):
        return _align_frame(table, layout, label, reader)
    if n_columns(table) != layout["width"]:
        raise ValueError(
            f"{label} has {n_columns(table)} columns, but {reader} is expecting {layout['width']} columns "
            "there."
        )
    return table


def _align_frame(frame: Any, layout: Layout, label: str, reader: str) -> Any:
    columns = layout["columns"]
    if not is_frame(frame) or list(frame.columns) == columns:
        return frame
    needed = columns if layout["read"] is None else layout["read"]
    known = set(frame.columns)
    lacks = [name for name in needed if name not in known]
    if lacks:
        raise ValueError(
            f"{label} lacks {len(lacks)} columns that {reader} was fitted on, such as {lacks[:3]}; it has "
            f"{list(map(str, frame.columns[:5]))}. Pass the columns of fit, in any order."
        )
    require_distinct_columns(frame, label)
    return frame.reindex(columns=columns)


def _empty_table(layout: Layout, n: int) -> Any:
    if layout["columns"] is not None:
        return pd.DataFrame(np.full((n, len(layout["columns"])), np.nan), columns=layout["columns"])
    return np.full((n, layout["width"] or 1), np.nan)


def view_tables(X: Any, kernels: Any) -> dict[str, Any]:
    """What each view reads of X, by the name of the view.

    Parameters
    ----------
    X : frame, array, sparse matrix, dict of tables or MultiTable
    kernels : as for an estimator
        Views that read the same columns are one, named by the first of them; a view of all columns of a table
        is named as the table.

    Returns
    -------
    dict of str -> table
        As :func:`multikernel.viz.data_overview` takes it.

    Examples
    --------
    >>> from multikernel.kernels import Gaussian
    >>> X = np.array([[1.0, 2.0, np.nan], [3.0, 4.0, 5.0]])
    >>> found = view_tables(X, [("size", Gaussian(), [0, 1]), ("weight", Gaussian(), [2])])
    >>> {name: table.shape for name, table in found.items()}
    {'size': (2, 2), 'weight': (2, 1)}
    """
    table = as_table(X)
    seen: dict[Any, str] = {}
    found: dict[str, Any] = {}
    for view in place_views(as_views(kernels), table):
        selection = resolve_columns(table, view.columns, f"view {view.name!r}", view.table)
        key = (selection.table, selection.positions)
        if key not in seen:
            whole = selection.positions is None and view.table is not None
            seen[key] = str(view.table) if whole else view.name
            found[seen[key]] = selection.take(table, f"view {view.name!r}")
    return found
