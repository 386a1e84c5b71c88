"""Frames of any library that narwhals reads (polars, pyarrow, modin, ...) as pandas frames, at the boundary.

Everything behind the boundary sees pandas frames, arrays and sparse matrices only, so that no kernel has to
know another library. Columns keep their names and order; missing entries become NaN in columns of numbers and
None elsewhere; categories stay categories. The frame that was passed is not changed.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd


def as_pandas(X: Any) -> Any:
    """`X` as a pandas DataFrame where it is a frame of another library, else as it is.

    Examples
    --------
    >>> import pyarrow
    >>> as_pandas(pyarrow.table({"a": [1, None], "b": ["x", "y"]}))
         a  b
    0  1.0  x
    1  NaN  y
    """
    if hasattr(X, "iloc") or isinstance(X, np.ndarray):
        return X
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(
            f"X must hold its rows; got a lazy frame of {type(X).__module__.split('.')[0]}. Call collect() "
            "on it first."
        )
    if not isinstance(frame, nw.DataFrame):
        return X
    if all(_is_plain(dtype) for dtype in frame.schema.values()) and frame.columns:
        return pd.DataFrame(_as_floats(frame), columns=frame.columns, copy=False)
    return pd.DataFrame({column.name: _as_array(column) for column in frame.iter_columns()})


def _is_plain(dtype: Any) -> bool:
    return bool(dtype.is_numeric()) and dtype not in (nw.Decimal, nw.Int128, nw.UInt128)


def _as_floats(frame: nw.DataFrame[Any]) -> np.ndarray:
    values = frame.to_numpy()
    return values if values.dtype.kind in "fiu" else values.astype(np.float64)


def _as_array(column: Any) -> Any:
    if _is_plain(column.dtype):
        return np.asarray(column.to_numpy(), dtype=np.float64)
    if column.dtype == nw.Boolean:
        return column.to_numpy() if not column.is_null().any() else np.array(column.to_list(), dtype=object)
    if column.dtype in (nw.Categorical, nw.Enum):
        known = column.cat.get_categories().to_list()
        return pd.Categorical(column.to_list(), categories=known)
    return np.array([*column.to_list(), None], dtype=object)[:-1]  # so that lists stay entries
