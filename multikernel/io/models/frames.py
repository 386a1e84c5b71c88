"""Tables of pandas, taken apart into arrays."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .errors import ModelFileError
from .stand_ins import COLUMN_TYPES, Categories, Column, Frame, Labels, NamedSeries, StandIn


def take_apart(table: pd.DataFrame | pd.Series | pd.Index, path: str) -> StandIn:
    """The stand-in of a table, series or index of pandas; `path` is what messages call it.

    Examples
    --------
    >>> take_apart(pd.Series([1.0, 2.0], name="x"), "rows").parts[2]
    'x'
    """
    if isinstance(table, pd.Index):
        return _index(table, path)
    if isinstance(table, pd.Series):
        return NamedSeries.holding(_column(table, path), _index(table.index, path), table.name)
    columns = [_column(table.iloc[:, position], path) for position in range(table.shape[1])]
    return Frame.holding(columns, _index(table.columns, path), _index(table.index, path))


def _index(index: pd.Index, path: str) -> StandIn:
    if isinstance(index, pd.RangeIndex):
        return Labels.holding((index.start, index.stop, index.step), None, index.name)
    if isinstance(index, pd.MultiIndex | pd.CategoricalIndex):
        raise ModelFileError(
            f"{path} is a table with a {type(index).__name__}, which cannot be saved. Give the table plain "
            "labels (reset_index, or columns.map('_'.join)) before fit."
        )
    values, dtype = _values(index, path)
    return Labels.holding(values, dtype, index.name)


def _column(column: pd.Series, path: str) -> StandIn:
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories = column.cat.categories
        return Categories.holding(column.cat.codes.to_numpy(), _index(categories, path), column.cat.ordered)
    return Column.holding(*_values(column, path))


def _values(column: pd.Series | pd.Index, path: str) -> tuple[np.ndarray, str | None]:
    """The values as an array, and the name of the type that they get again."""
    if isinstance(column.dtype, np.dtype) and column.dtype != object:
        return column.to_numpy(), None
    name = str(column.dtype)
    if name not in COLUMN_TYPES:
        raise ModelFileError(
            f"{path} is a table with a column of type {name}, which cannot be saved. Convert the column to "
            "numbers or strings before fit."
        )
    # what is missing is None in the file: pd.NA is no value that it knows
    values = column.to_numpy(dtype=object, na_value=None) if name != "object" else column.to_numpy()
    return values, name
