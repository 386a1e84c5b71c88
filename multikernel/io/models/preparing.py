"""A model as it goes into a file: slim, and made of what skops keeps to the bit.

The model itself is not modified: what has to change is copied, with every object that contains it, and all
else is shared with the model. What skops does not keep, or not to the bit, has a stand-in in the file. Each
class of these stands for one kind of object: its instances exist while a model is saved and hold the parts;
calling the class with these parts, as loading does, returns the object itself. The parts are checked, since
they may come from a file that somebody has made up.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, StrEnum
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.kernel_ridge import KernelRidge

from ...core.optim.loop import Status
from ...kernels import Kernel, Transform
from ...kernels._rows import Rows
from ...kernels.graphs import as_triple, is_foreign_graph
from ...kernels.networks import Network, NetworkKernel
from ...mkl.regularized.response_surface import SearchStatus
from ...rules.combined import CombinedKernel
from ...soft_labels.classifier import PosteriorSVC
from ...spectral.conformal import ConformalKernel
from ...transductive.classifier import TransductiveMKLClassifier
from ...views import MemoryEstimate
from .archive import ModelFileError, shown

_OURS_AND_THEIRS = ("multikernel.", "sklearn.")
_PLAIN = (str, bytes, int, float, complex, type(None), type, slice, range, np.generic, np.dtype)
_SCALARS = (str, int, float, bool, type(None))
# Columns of pandas that are saved as objects: numbers, logical values and texts that may be missing.
COLUMN_TYPES = frozenset(
    [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
    + ["Float32", "Float64", "boolean", "string", "str", "object"]
)

Parts = list[tuple[Any, str]]
Build = Callable[[list[Any]], Any]
Prepared = tuple[Parts, Build]


def prepare(model: Any) -> Any:
    """The model with stand-ins for what skops would lose, and without what predictions do not need."""
    return _Preparing().of(model, "the model")


class _Preparing:
    """One pass over all that a model holds; what occurs twice in the model does so in the result.

    Each kind of object has a function that returns the parts to be prepared first, with what messages call
    them, and a function from the prepared parts to what is saved.
    """

    def __init__(self) -> None:
        self._done: dict[int, tuple[Any, Any]] = {}  # the object is kept: its id stays its own
        self._open: dict[int, tuple[Any, Parts, Iterator[tuple[Any, str]], Build]] = {}

    def of(self, model: Any, path: str) -> Any:
        """What is saved for `model`, which is called `path` in messages.

        Without recursion: the objects that wait for their parts are in ``_open``, the inmost last.
        """
        self._begin(model, path)
        while self._open:
            key = next(reversed(self._open))
            value, parts, left, build = self._open[key]
            part = next(left, None)
            if part is not None:
                self._begin(*part)
                continue
            self._done[key] = (value, build([self._result(each) for each, _ in parts]))
            del self._open[key]
        return self._result(model)

    def _begin(self, value: Any, path: str) -> None:
        key = id(value)
        if _is_plain(value) or key in self._done:
            return
        if key in self._open:
            raise ModelFileError(
                f"{path} refers back to an object that holds it, which cannot be saved. Remove the reference."
            )
        parts, build = _kind(value)(value, path)
        self._open[key] = (value, parts, iter(parts), build)

    def _result(self, value: Any) -> Any:
        return value if _is_plain(value) else self._done[id(value)][1]


def _is_plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) and not isinstance(value, Enum)


# --- kinds of objects ---------------------------------------------------------------------------------------


def _kind(value: Any) -> Callable[[Any, str], Prepared]:
    for types, kind in (
        (Enum, _enum),
        (np.ma.MaskedArray, _as_it_is),
        (np.ndarray, _array),
        (dict, _dict),
        ((list, tuple), _items),
        ((set, frozenset), _set),
        ((pd.DataFrame, pd.Series, pd.Index), _table),
        (StandIn, _stand_in),
        ((FunctionType, BuiltinFunctionType), _function),
        (MethodType, _method),
        (partial, _partial),
    ):
        if isinstance(value, types):
            return kind
    if scipy.sparse.issparse(value):
        return _sparse
    if is_foreign_graph(value):
        return _graph
    return _object if _is_walked(value) else _as_it_is


def _as_it_is(value: Any, path: str) -> Prepared:
    return [], lambda _: value


def _enum(value: Any, path: str) -> Prepared:
    name = type(value).__name__
    if Member.enums.get(name) is not type(value):
        raise ModelFileError(f"{path} is the enumeration member {value!r}, which cannot be saved.")
    return [], lambda _: Member.holding(name, value.value)


def _array(value: Any, path: str) -> Prepared:
    if type(value) not in (np.ndarray, np.memmap):
        raise ModelFileError(f"{path} is a {type(value).__name__}, which cannot be saved. Make it an array.")
    array = np.asarray(value)  # a memory map is saved as what it maps
    if array.dtype == object:
        return _numbered(array.ravel(), path), lambda items: ObjectArray.holding(items, array.shape)
    axes = _memory_order(array)
    if axes == tuple(range(array.ndim)) and array.flags.writeable:
        return [], lambda _: array
    straight = np.ascontiguousarray(array.transpose(axes))
    order = tuple(np.argsort(axes).tolist())
    return [], lambda _: Layout.holding(straight, order, array.flags.writeable)


def _dict(value: dict[Any, Any], path: str) -> Prepared:
    if _is_json(value):
        return [], lambda _: Plain.holding(json.dumps(value))

    def build(items: list[Any]) -> Any:
        if all(new is old for new, old in zip(items, value.values(), strict=True)):
            return value
        changed = type(value)()
        changed.update(zip(value, items, strict=True))
        return changed

    parts = [(item, f"{path}[{name!r}]") for name, item in value.items()]
    if all(type(name) is str for name in value):
        return parts, build
    if type(value) is not dict:
        raise ModelFileError(
            f"{path} is a {type(value).__name__} with keys that are no strings, which cannot be saved. "
            "Make it a dict."
        )
    keys = [(name, f"a key of {path}") for name in value]
    return [*parts, *keys], lambda items: Items.holding(items[len(parts) :], items[: len(parts)])


def _items(value: Any, path: str) -> Prepared:
    if _is_json(value):
        return [], lambda _: Plain.holding(json.dumps(value))

    def build(items: list[Any]) -> Any:
        if isinstance(value, list):  # those with more to say, such as GeneSetViews, are lists in a file
            return items
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        # a named tuple takes its items one by one
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)

    return _numbered(value, path), build


def _numbered(items: Iterable[Any], path: str) -> Parts:
    return [(item, f"{path}[{position}]") for position, item in enumerate(items)]


def _set(value: Any, path: str) -> Prepared:
    parts = [(item, f"a member of {path}") for item in sorted(value, key=repr)]
    return parts, lambda items: Members.holding(items, isinstance(value, frozenset))


def _table(value: Any, path: str) -> Prepared:
    return [(take_apart(value, path), path)], lambda items: items[0]


def _stand_in(value: Any, path: str) -> Prepared:
    """A stand-in whose parts are prepared as well."""
    return [(part, path) for part in value.parts], lambda items: type(value).holding(*items)


def _sparse(value: Any, path: str) -> Prepared:
    kind = type(value).__name__
    if Sparse.kinds.get(kind) is not type(value):
        raise ModelFileError(
            f"{path} is a sparse {kind}, which cannot be saved. Give a csr_matrix or csc_matrix."
        )
    arrays = [np.array(part) for part in (value.data, value.indices, value.indptr)]
    return [], lambda _: Sparse.holding(kind, *arrays, value.shape)


def _graph(value: Any, path: str) -> Prepared:
    """Graphs of other libraries as plain lists, which kernels of graphs read alike."""
    return [(as_triple(value), path)], lambda items: items[0]


def _partial(value: Any, path: str) -> Prepared:
    return [(part, path) for part in (value.func, value.args, value.keywords)], lambda _: value


def _object(value: Any, path: str) -> Prepared:
    old, state = vars(value), slim(value, vars(value))

    def build(items: list[Any]) -> Any:
        changed = dict(zip(state, items, strict=True))
        if changed.keys() == old.keys() and all(changed[name] is old[name] for name in old):
            return value
        copied = object.__new__(type(value))
        copied.__dict__.update(changed)
        return copied

    return [(item, f"{path}.{name}") for name, item in state.items()], build


def _is_json(value: Any) -> bool:
    """Whether a list or dict is the same again after it has been JSON; subclasses are not."""
    if type(value) is list:
        return all(type(item) in _SCALARS or _is_json(item) for item in value)
    if type(value) is dict:
        return all(type(name) is str for name in value) and _is_json(list(value.values()))
    return False


def _is_walked(value: Any) -> bool:
    """Whether an object is its attributes: estimators, kernels, and what they are made of."""
    if not hasattr(value, "__dict__"):
        return False
    return isinstance(value, BaseEstimator | Kernel | Transform) or type(value).__module__.startswith(
        _OURS_AND_THEIRS
    )


def _memory_order(array: np.ndarray) -> tuple[int, ...]:
    """The axes from the slowest to the fastest in memory; axes of length 0 or 1 stay where they are."""
    if array.flags.c_contiguous:
        return tuple(range(array.ndim))
    return tuple(sorted(range(array.ndim), key=lambda axis: (-abs(array.strides[axis]), axis)))


def _function(value: Any, path: str) -> Prepared:
    """A function is saved as where it is found, so it must be found there."""
    module, name = getattr(value, "__module__", None), value.__name__
    if module is None or getattr(sys.modules.get(module), name, None) is not value:
        raise ModelFileError(
            f"{path} is the function {shown(getattr(value, '__qualname__', name))}, which no module holds "
            "under its name: lambdas and functions within functions cannot be saved. Define it at the top of "
            "a module, and import it from there."
        )
    return _as_it_is(value, path)


def _method(value: Any, path: str) -> Prepared:
    raise ModelFileError(
        f"{path} is a method of a {type(value.__self__).__name__} object, which cannot be saved. Use a "
        "function at the top of a module."
    )


# --- what predictions do not need ---------------------------------------------------------------------------


_OF_A_RUN = ("_skl_callbacks",)  # scikit-learn's callbacks, which follow fits in this process


def slim(value: Any, state: dict[str, Any]) -> dict[str, Any]:
    """The attributes of an object that are saved: `state` itself, unmodified, where nothing is left out."""
    if isinstance(value, Rows | Network | NetworkKernel):
        return value.__getstate__()  # the rest is computed again where it is needed
    if isinstance(value, KernelRidge):
        return _without_gram(value, state)
    spare = (*_spare(value), *_OF_A_RUN)
    if any(name in state for name in spare):
        state = {name: item for name, item in state.items() if name not in spare}
    if state.get("callback") is not None and type(value).__module__.startswith("multikernel."):
        return {**state, "callback": None}
    return state


def _spare(value: Any) -> tuple[str, ...]:
    """Names of attributes about the training samples that predictions do not read."""
    if isinstance(value, TransductiveMKLClassifier):
        # where the weights do not extend to new points, predictions compare them with the learned matrix
        return ("kernel_",) if getattr(value, "_extends", False) else ()
    if isinstance(value, ConformalKernel):
        return ("kernel_",)
    if isinstance(value, PosteriorSVC):
        return ("posteriors_",)
    if isinstance(value, MemoryEstimate):
        return ("available",)  # what the system had at the time: the same fit gives the same file
    if isinstance(value, CombinedKernel) and getattr(value, "_kept", None) is not None:
        return ("_bank",)
    return ()


def _without_gram(value: KernelRidge, state: dict[str, Any]) -> dict[str, Any]:
    """Of a precomputed kernel, ridge regression keeps the training Gram and reads how many rows it has."""
    if value.kernel != "precomputed" or "X_fit_" not in state:
        return state
    return {**state, "X_fit_": np.zeros((len(state["X_fit_"]), 1))}


# --- tables of pandas, taken apart into arrays --------------------------------------------------------------


def take_apart(table: pd.DataFrame | pd.Series | pd.Index, path: str) -> StandIn:
    """The stand-in of a table, series or index of pandas; `path` is what messages call it."""
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


# --- stand-ins ----------------------------------------------------------------------------------------------


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
    """

    def __new__(cls, array: Any, axes: Any, writeable: Any) -> Any:
        """`array` is in C order; its axes are permuted by `axes`."""
        require(np.ndarray, array)
        permuted = array.transpose(_numbers(axes))
        if not writeable:
            permuted.flags.writeable = False
        return permuted


class ObjectArray(StandIn):
    """An array of objects, such as labels or strings."""

    def __new__(cls, items: Any, shape: Any) -> Any:
        """`items` in C order."""
        require(list, items)
        array = np.empty(len(items), dtype=object)
        for position, item in enumerate(items):
            array[position] = item
        return array.reshape(_numbers(shape))


class Plain(StandIn):
    """Lists and dicts of plain values, such as the history of a fit, as one JSON text."""

    def __new__(cls, text: Any) -> Any:
        require(str, text)
        return json.loads(text)


class Items(StandIn):
    """A dict with keys that are no strings."""

    def __new__(cls, keys: Any, values: Any) -> Any:
        require(list, keys, values)
        return dict(zip(keys, values, strict=True))


class Members(StandIn):
    """A set or frozenset, its members in an order that does not change from run to run."""

    def __new__(cls, items: Any, frozen: Any) -> Any:
        require(list, items)
        return frozenset(items) if frozen else set(items)


class Member(StandIn):
    """A member of one of the package's enumerations."""

    enums: ClassVar[dict[str, type[StrEnum]]] = {"Status": Status, "SearchStatus": SearchStatus}

    def __new__(cls, enum: Any, value: Any) -> Any:
        require(str, enum, value)
        return cls.enums[enum](value)


class Sparse(StandIn):
    """A compressed sparse matrix or array, its indices checked."""

    kinds: ClassVar[dict[str, Any]] = {
        "csr_matrix": scipy.sparse.csr_matrix,
        "csc_matrix": scipy.sparse.csc_matrix,
        "csr_array": scipy.sparse.csr_array,
        "csc_array": scipy.sparse.csc_array,
    }

    def __new__(cls, kind: Any, data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
        require(str, kind)
        require(np.ndarray, data, indices, indptr)
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
        require(np.ndarray, codes)
        require(pd.Index, categories)
        return pd.Series(pd.Categorical.from_codes(codes, categories=categories, ordered=bool(ordered)))


class NamedSeries(StandIn):
    """A pandas Series."""

    def __new__(cls, column: Any, index: Any, name: Any) -> Any:
        """What `Column` or `Categories` gave, with its index and name."""
        require(pd.Series, column)
        require(pd.Index, index)
        series = column.set_axis(index)
        series.name = name  # rename would call a function
        return series


class Frame(StandIn):
    """A DataFrame, column by column."""

    def __new__(cls, columns: Any, names: Any, index: Any) -> Any:
        """What `Column` and `Categories` gave, the names of the columns, and the index."""
        require(list, columns)
        require(pd.Series, *columns)
        require(pd.Index, names, index)
        indexed = {position: column.set_axis(index) for position, column in enumerate(columns)}
        frame = pd.DataFrame(indexed, index=index, copy=False)
        frame.columns = names
        return frame


def require(kind: type, *parts: Any) -> None:
    """Only what `save_model` puts there: other objects could answer with a function, or without end."""
    for part in parts:
        if not isinstance(part, kind):
            raise TypeError(f"a part must be of type {kind.__name__}; got {type(part).__name__}.")


def _numbers(values: Any) -> tuple[int, ...]:
    """A shape, an order of axes, or the limits of a range."""
    if not isinstance(values, list | tuple) or not all(type(value) is int for value in values):
        raise TypeError("a part must be a tuple of whole numbers.")
    return tuple(values)


def _column_type(values: Any, dtype: Any) -> Any:
    require(np.ndarray, values)
    if dtype is None:
        return values.dtype
    require(str, dtype)
    if dtype not in COLUMN_TYPES:
        raise ValueError(f"a column cannot be of type {dtype!r}.")
    return dtype


# By the name in a file; called on loading, with parts that they check.
STAND_INS: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        Categories, Column, Frame, Items, Labels, Layout, Member, Members, NamedSeries, ObjectArray,
        Plain, Sparse,
    )
}  # fmt: skip
