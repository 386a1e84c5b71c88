"""What stands in a model file for objects that skops does not keep, or not to the bit.

Each class stands for one kind of object: its instances exist while a model is saved and hold the parts;
calling the class with these parts, as loading does, returns the object itself. The parts are checked, since
they may come from a file that somebody has made up.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse

from ...core.optim.loop import Status
from ...mkl.regularized.response_surface import SearchStatus

# Columns of pandas that are saved as objects: numbers, logical values and texts that may be missing.
COLUMN_TYPES = frozenset(
    [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
    + ["Float32", "Float64", "boolean", "string", "str", "object"]
)


class StandIn:
    """An object to be saved by its parts; ``type(self)(*parts)`` is the object again."""

    parts: tuple[Any, ...]

    @classmethod
    def holding(cls, *parts: Any) -> StandIn:
        """The stand-in of the object that `cls(*parts)` returns."""
        instance = object.__new__(cls)
        instance.parts = parts
        return instance

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.parts


class Layout(StandIn):
    """An array whose axes lie in memory in another order, or that is read-only.

    Sums over an array depend in their last bits on the order in memory, and so would predictions.

    Examples
    --------
    >>> Layout(np.arange(6).reshape(1, 2, 3), (0, 2, 1), True).strides
    (48, 8, 24)
    """

    def __new__(cls, array: Any, axes: Any, writeable: Any) -> Any:
        """`array` is in C order; its axes are permuted by `axes`."""
        require(array, np.ndarray)
        permuted = array.transpose(_numbers(axes))
        if not writeable:
            permuted.flags.writeable = False
        return permuted


class ObjectArray(StandIn):
    """An array of objects, such as labels or strings."""

    def __new__(cls, items: Any, shape: Any) -> Any:
        """`items` in C order."""
        require(items, list)
        array = np.empty(len(items), dtype=object)
        for position, item in enumerate(items):
            array[position] = item
        return array.reshape(_numbers(shape))


class Plain(StandIn):
    """Lists and dicts of plain values, such as the history of a fit, as one JSON text.

    Examples
    --------
    >>> Plain('[{"gap": NaN, "step": 1}]')
    [{'gap': nan, 'step': 1}]
    """

    def __new__(cls, text: Any) -> Any:
        """The text."""
        require(text, str)
        return json.loads(text)


class Items(StandIn):
    """A dict with keys that are no strings."""

    def __new__(cls, keys: Any, values: Any) -> Any:
        """Keys and values in order."""
        require(keys, list)
        require(values, list)
        return dict(zip(keys, values, strict=True))


class Members(StandIn):
    """A set or frozenset, its members in an order that does not change from run to run."""

    def __new__(cls, items: Any, frozen: Any) -> Any:
        """Its members."""
        require(items, list)
        return frozenset(items) if frozen else set(items)


class Member(StandIn):
    """A member of one of the package's enumerations."""

    enums: ClassVar[dict[str, type[StrEnum]]] = {"Status": Status, "SearchStatus": SearchStatus}

    def __new__(cls, enum: Any, value: Any) -> Any:
        """By the name of the enumeration and the value."""
        require(enum, str)
        require(value, str)
        return cls.enums[enum](value)


class Sparse(StandIn):
    """A compressed sparse matrix or array, its indices checked.

    Examples
    --------
    >>> Sparse("csr_matrix", np.ones(1), np.array([1]), np.array([0, 1]), (1, 2)).toarray()
    array([[0., 1.]])
    """

    kinds: ClassVar[dict[str, Any]] = {
        "csr_matrix": scipy.sparse.csr_matrix,
        "csc_matrix": scipy.sparse.csc_matrix,
        "csr_array": scipy.sparse.csr_array,
        "csc_array": scipy.sparse.csc_array,
    }

    def __new__(cls, kind: Any, data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
        """The three arrays of the compressed form."""
        require(kind, str)
        for part in (data, indices, indptr):
            require(part, np.ndarray)
        matrix = cls.kinds[kind]((data, indices, indptr), shape=_numbers(shape))
        matrix.check_format(full_check=True)
        return matrix


class Labels(StandIn):
    """A pandas Index of numbers, strings or other plain labels."""

    def __new__(cls, values: Any, dtype: Any, name: Any) -> Any:
        """`values` is an array of a pandas or NumPy type, or (start, stop, step) of a range."""
        if isinstance(values, tuple):
            return pd.RangeIndex(*_numbers(values), name=name)
        return pd.Index(values, dtype=_column_type(values, dtype), name=name, tupleize_cols=False)


class Column(StandIn):
    """The values of a pandas Series with a type of pandas or of NumPy."""

    def __new__(cls, values: Any, dtype: Any) -> Any:
        """`values` is an array of objects where `dtype` names a type of pandas."""
        return pd.Series(values, dtype=_column_type(values, dtype), copy=False)


class Categories(StandIn):
    """The values of a categorical Series."""

    def __new__(cls, codes: Any, categories: Any, ordered: Any) -> Any:
        """`codes` are positions in `categories`, −1 where missing."""
        require(codes, np.ndarray)
        require(categories, pd.Index)
        return pd.Series(pd.Categorical.from_codes(codes, categories=categories, ordered=bool(ordered)))


class NamedSeries(StandIn):
    """A pandas Series."""

    def __new__(cls, column: Any, index: Any, name: Any) -> Any:
        """What `Column` or `Categories` gave, with its index and name."""
        require(column, pd.Series)
        require(index, pd.Index)
        series = column.set_axis(index)
        series.name = name  # rename would call a function
        return series


class Frame(StandIn):
    """A DataFrame, column by column.

    Examples
    --------
    >>> columns = [Column(np.array([1.0, 2.0]), None), Column(np.array(["a", None], object), "string")]
    >>> names = Labels(np.array(["x", "y"], object), "object", None)
    >>> Frame(columns, names, Labels((5, 7, 1), None, None)).loc[5].tolist()[1]
    'a'
    """

    def __new__(cls, columns: Any, names: Any, index: Any) -> Any:
        """What `Column` and `Categories` gave, the names of the columns, and the index."""
        require(columns, list)
        for column in columns:
            require(column, pd.Series)
        require(names, pd.Index)
        require(index, pd.Index)
        indexed = {position: column.set_axis(index) for position, column in enumerate(columns)}
        frame = pd.DataFrame(indexed, index=index, copy=False)
        frame.columns = names
        return frame


def require(part: Any, kind: type) -> None:
    """Only what `save_model` puts there: other objects could answer with a function, or without end."""
    if not isinstance(part, kind):
        raise TypeError(f"a part must be of type {kind.__name__}; got {type(part).__name__}.")


def _numbers(values: Any) -> tuple[int, ...]:
    """A shape, an order of axes, or the limits of a range."""
    if not isinstance(values, list | tuple) or not all(type(value) is int for value in values):
        raise TypeError("a part must be a tuple of whole numbers.")
    return tuple(values)


def _column_type(values: Any, dtype: Any) -> Any:
    require(values, np.ndarray)
    if dtype is None:
        return values.dtype
    require(dtype, str)
    if dtype not in COLUMN_TYPES:
        raise ValueError(f"a column cannot be of type {dtype!r}.")
    return dtype
