"""A model as it goes into a file: slim, and made of what skops keeps to the bit.

The model itself is not modified: what has to change is copied, with everything on the way to it, and all
else is shared with the model.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.kernel_ridge import KernelRidge

from ...kernels import Kernel, Transform
from ...kernels._rows import Rows
from ...kernels.graphs import as_triple, is_foreign_graph
from ...kernels.networks import Network, NetworkKernel
from ...rules.combined import CombinedKernel
from ...soft_labels.classifier import PosteriorSVC
from ...spectral.conformal import ConformalKernel
from ...transductive.classifier import TransductiveMKLClassifier
from .archive import ModelFileError, shown
from .stand_ins import (
    COLUMN_TYPES,
    Categories,
    Column,
    Frame,
    Items,
    Labels,
    Layout,
    Member,
    Members,
    NamedSeries,
    ObjectArray,
    Plain,
    Sparse,
    StandIn,
)

_OURS_AND_THEIRS = ("multikernel.", "sklearn.")
_PLAIN = (str, bytes, int, float, complex, type(None), type, slice, range, np.generic, np.dtype)
_SCALARS = (str, int, float, bool, type(None))

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


def slim(value: Any, state: dict[str, Any]) -> dict[str, Any]:
    """The attributes of an object that are saved.

    Parameters
    ----------
    value : object
    state : dict
        All its attributes; never modified.

    Returns
    -------
    dict
        `state` itself where nothing is left out.
    """
    if isinstance(value, Rows | Network | NetworkKernel):
        return value.__getstate__()  # the rest is computed again where it is needed
    if isinstance(value, KernelRidge):
        return _without_gram(value, state)
    state = _without(state, _spare(value))
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
    if isinstance(value, CombinedKernel) and getattr(value, "_kept", None) is not None:
        return ("_bank",)
    return ()


def _without(state: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    if not any(name in state for name in names):
        return state
    return {name: item for name, item in state.items() if name not in names}


def _without_gram(value: KernelRidge, state: dict[str, Any]) -> dict[str, Any]:
    """Of a precomputed kernel, ridge regression keeps the training Gram and reads how many rows it has."""
    if value.kernel != "precomputed" or "X_fit_" not in state:
        return state
    return {**state, "X_fit_": np.zeros((len(state["X_fit_"]), 1))}


# --- tables of pandas, taken apart into arrays --------------------------------------------------------------


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
