"""A model as it goes into a file: slim, and made of what skops keeps to the bit.

The model itself is not modified: what has to change is copied, with everything on the way to it, and all
else is shared with the model.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import BaseEstimator

from ...kernels import Kernel, Transform
from ...kernels.graphs import as_triple, is_foreign_graph
from .errors import ModelFileError, shown
from .frames import take_apart
from .slimming import slim
from .stand_ins import Items, Layout, Member, Members, ObjectArray, Plain, Sparse, StandIn

_OURS_AND_THEIRS = ("multikernel.", "sklearn.")
_PLAIN = (str, bytes, int, float, complex, type(None), type, slice, range, np.generic, np.dtype)
_SCALARS = (str, int, float, bool, type(None))


def prepare(model: Any) -> Any:
    """The model with stand-ins for what skops would lose, and without what predictions do not need."""
    return _Preparing().of(model, "the model")


class _Preparing:
    """One pass over all that a model holds; what occurs twice in the model does so in the result."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[Any, Any]] = {}  # the object is kept: its id stays its own
        self._open: set[int] = set()

    def of(self, value: Any, path: str) -> Any:
        """What is saved for `value`, which is called `path` in messages."""
        if isinstance(value, _PLAIN) and not isinstance(value, Enum):
            return value
        key = id(value)
        if key in self._done:
            return self._done[key][1]
        if key in self._open:
            raise ModelFileError(
                f"{path} refers back to an object that holds it, which cannot be saved. Remove the reference."
            )
        self._open.add(key)
        result = self._kind(value)(value, path)
        self._open.remove(key)
        self._done[key] = (value, result)
        return result

    def _kind(self, value: Any) -> Callable[[Any, str], Any]:
        for types, method in (
            (Enum, self._enum),
            (np.ma.MaskedArray, _as_it_is),
            (np.ndarray, self._array),
            (dict, self._dict),
            ((list, tuple), self._items),
            ((set, frozenset), self._set),
            ((pd.DataFrame, pd.Series, pd.Index), self._table),
            ((FunctionType, BuiltinFunctionType), _function),
            (MethodType, _method),
            (partial, self._partial),
        ):
            if isinstance(value, types):
                return method
        if scipy.sparse.issparse(value):
            return self._sparse
        if is_foreign_graph(value):
            return self._graph
        return self._object if _is_walked(value) else _as_it_is

    # ------------------------------------------------------------------ kinds of objects
    def _enum(self, value: Any, path: str) -> Any:
        name = type(value).__name__
        if Member.enums.get(name) is not type(value):
            raise ModelFileError(f"{path} is the enumeration member {value!r}, which cannot be saved.")
        return Member.holding(name, value.value)

    def _array(self, value: Any, path: str) -> Any:
        if type(value) not in (np.ndarray, np.memmap):
            raise ModelFileError(
                f"{path} is a {type(value).__name__}, which cannot be saved. Make it an array."
            )
        array = np.asarray(value)  # a memory map is saved as what it maps
        if array.dtype == object:
            items = [self.of(item, f"{path}[{position}]") for position, item in enumerate(array.ravel())]
            return ObjectArray.holding(items, array.shape)
        axes = _memory_order(array)
        if axes == tuple(range(array.ndim)) and array.flags.writeable:
            return array
        straight = np.ascontiguousarray(array.transpose(axes))
        return Layout.holding(straight, tuple(np.argsort(axes).tolist()), array.flags.writeable)

    def _dict(self, value: dict[Any, Any], path: str) -> Any:
        if _is_json(value):
            return Plain.holding(json.dumps(value))
        values = [self.of(item, f"{path}[{name!r}]") for name, item in value.items()]
        if all(type(name) is str for name in value):
            if all(new is old for new, old in zip(values, value.values(), strict=True)):
                return value
            changed = type(value)()
            changed.update(zip(value, values, strict=True))
            return changed
        if type(value) is not dict:
            raise ModelFileError(
                f"{path} is a {type(value).__name__} with keys that are no strings, which cannot be saved. "
                "Make it a dict."
            )
        return Items.holding([self.of(name, f"a key of {path}") for name in value], values)

    def _items(self, value: Any, path: str) -> Any:
        if _is_json(value):
            return Plain.holding(json.dumps(value))
        items = [self.of(item, f"{path}[{position}]") for position, item in enumerate(value)]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        if hasattr(value, "_fields"):  # a named tuple takes its items one by one
            return type(value)(*items)
        return type(value)(items)

    def _set(self, value: Any, path: str) -> Any:
        items = [self.of(item, f"a member of {path}") for item in sorted(value, key=repr)]
        return Members.holding(items, isinstance(value, frozenset))

    def _table(self, value: Any, path: str) -> Any:
        return self._stand_in(take_apart(value, path), path)

    def _stand_in(self, value: Any, path: str) -> Any:
        """A stand-in whose parts are prepared as well."""
        parts = [
            self._stand_in(part, path) if isinstance(part, StandIn) else self._nested(part, path)
            for part in value.parts
        ]
        return type(value).holding(*parts)

    def _nested(self, part: Any, path: str) -> Any:
        if isinstance(part, list):
            return [self._stand_in(item, path) if isinstance(item, StandIn) else item for item in part]
        return self.of(part, path)

    def _sparse(self, value: Any, path: str) -> Any:
        kind = type(value).__name__
        if Sparse.kinds.get(kind) is not type(value):
            raise ModelFileError(
                f"{path} is a sparse {kind}, which cannot be saved. Give a csr_matrix or csc_matrix."
            )
        arrays = [np.array(part) for part in (value.data, value.indices, value.indptr)]
        return Sparse.holding(kind, *arrays, value.shape)

    def _graph(self, value: Any, path: str) -> Any:
        """Graphs of other libraries as plain lists, which kernels of graphs read alike."""
        return self.of(as_triple(value), path)

    def _partial(self, value: Any, path: str) -> Any:
        for part in (value.func, value.args, value.keywords):
            self.of(part, path)
        return value

    def _object(self, value: Any, path: str) -> Any:
        state = slim(value, vars(value))
        changed = {name: self.of(item, f"{path}.{name}") for name, item in state.items()}
        old = vars(value)
        if changed.keys() == old.keys() and all(changed[name] is old[name] for name in old):
            return value
        copied = object.__new__(type(value))
        copied.__dict__.update(changed)
        return copied


def _is_json(value: Any) -> bool:
    """Whether a list or dict is the same again after it has been JSON; subclasses are not."""
    if type(value) is list:
        return all(type(item) in _SCALARS or _is_json(item) for item in value)
    if type(value) is dict:
        return all(type(name) is str for name in value) and _is_json(list(value.values()))
    return False


def _as_it_is(value: Any, path: str) -> Any:
    return value


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


def _function(value: Any, path: str) -> Any:
    """A function is saved as where it is found, so it must be found there."""
    module, name = getattr(value, "__module__", None), value.__name__
    if module is None or getattr(sys.modules.get(module), name, None) is not value:
        raise ModelFileError(
            f"{path} is the function {shown(getattr(value, '__qualname__', name))}, which no module holds "
            "under its name: lambdas and functions within functions cannot be saved. Define it at the top of "
            "a module, and import it from there."
        )
    return value


def _method(value: Any, path: str) -> Any:
    raise ModelFileError(
        f"{path} is a method of a {type(value.__self__).__name__} object, which cannot be saved. Use a "
        "function at the top of a module."
    )
