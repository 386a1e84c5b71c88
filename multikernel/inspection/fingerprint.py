"""A hash of what a result depends on: estimators with their parameters, data, scorers.

Equal content gives equal hashes in every process. An estimator is its class and its parameters, fitted or
not; a function is its name and its compiled code with what it closes over, and, unless it is of an installed
package, the constants and functions of its module that it reads, with what these read in turn; an array is
its type, shape and bytes; anything else is what pickle would take of it. The code of a class is not
looked at.
"""

from __future__ import annotations

import copyreg
import dis
import hashlib
import sysconfig
import types
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from ..kernels import Kernel

_INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
# What counts of the globals that a function reads; a lock, a file or a generator of numbers does not.
_NUMBERS_AND_TEXTS = (type(None), int, float, complex, str, bytes, np.generic)
_COLLECTIONS = (np.ndarray, list, tuple, Mapping, Set, pd.DataFrame, pd.Series, pd.Index)
_CONSTANTS = (*_NUMBERS_AND_TEXTS, *_COLLECTIONS, type, types.ModuleType, Kernel)


def fingerprint(*values: Any) -> str:
    """Return 32 hexadecimal digits that depend on the content of the values.

    They are estimators, arrays, frames, functions, numbers, texts and containers of them; a TypeError refuses
    what has no content that could be told, e.g. an open file.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> fingerprint(SVC(C=2.0)) == fingerprint(SVC().set_params(C=2.0)) != fingerprint(SVC())
    True
    """
    return _digest(values, ()).hex()[:32]


@dataclass(frozen=True)
class _Content:
    """What is hashed of a value: a label, raw bytes, and further values, in order or in any order."""

    label: str
    raw: Any = b""
    children: list[Any] = field(default_factory=list)
    unordered: bool = False


def _digest(value: Any, above: tuple[int, ...]) -> bytes:
    if id(value) in above:
        return hashlib.sha256(f"cycle {above[::-1].index(id(value))}".encode()).digest()
    content = _content(value)
    inside = (*above, id(value))
    parts = [_digest(child, inside) for child in content.children]
    hashed = hashlib.sha256(f"{content.label}\0{len(parts)}\0".encode())
    for chunk in content.raw if isinstance(content.raw, list) else [content.raw]:
        hashed.update(chunk)
    for part in sorted(parts) if content.unordered else parts:
        hashed.update(part)
    return hashed.digest()


@singledispatch
def _content(value: Any) -> _Content:
    if scipy.sparse.issparse(value):
        table = value.tocsr()
        return _Content("sparse", children=[table.shape, table.data, table.indices, table.indptr])
    if hasattr(value, "py_func"):  # of numba, whose own state has a name drawn at random
        return _Content("compiled", children=[value.py_func])
    if hasattr(value, "get_params"):
        return _Content(_name(type(value)), children=[value.get_params(deep=False)])
    reduced = _reduced(value)
    if isinstance(reduced, str):
        return _Content(f"{getattr(value, '__module__', None)}.{reduced}")
    made_by, arguments, state, *items = (*reduced, None)[: max(len(reduced), 3)]
    return _Content("object", children=[made_by, arguments, state, *(list(each) for each in items if each)])


def _reduced(value: Any) -> Any:
    """What pickle would take of an object: a name, or what makes it, with which arguments and state."""
    registered = copyreg.dispatch_table.get(type(value))
    try:
        return value.__reduce_ex__(4) if registered is None else registered(value)
    except Exception as error:
        raise TypeError(f"a {_name(type(value))} has no content that could be hashed ({error}).") from error


@_content.register
def _(value: int | float | complex | str | bytes | None) -> _Content:
    return _Content(type(value).__name__, repr(value).encode("utf-8", "surrogatepass"))


@_content.register
def _(value: np.generic) -> _Content:
    plain = value.item()
    return _Content("number", repr(value).encode()) if isinstance(plain, np.generic) else _content(plain)


@_content.register
def _(value: np.random.RandomState) -> _Content:
    # NumPy's global generator, which scipy's distributions hold on to, has another state in every process
    shared = value is np.random.mtrand._rand
    return _Content("generator", children=[] if shared else [value.get_state(legacy=False)])


@_content.register
def _(value: np.ndarray) -> _Content:
    label = f"array {value.dtype.str} {value.shape}"
    if value.dtype.hasobject:
        return _Content(label, children=value.ravel().tolist())
    if value.flags.c_contiguous:
        return _Content(label, value.reshape(-1).view(np.uint8).data)
    return _Content(label, [np.ascontiguousarray(row).tobytes() for row in value])


@_content.register
def _(value: list | tuple) -> _Content:
    return _Content(type(value).__name__, children=list(value))


@_content.register
def _(value: Mapping) -> _Content:
    return _Content("mapping", children=list(value.items()), unordered=True)


@_content.register
def _(value: Set) -> _Content:
    return _Content("set", children=list(value), unordered=True)


@_content.register
def _(value: pd.DataFrame) -> _Content:
    columns = [value.iloc[:, j] for j in range(value.shape[1])]
    return _Content("frame", children=[value.index, *columns])


@_content.register
def _(value: pd.Series | pd.Index) -> _Content:
    return _Content("column", children=[value.name, repr(value.dtype), value.to_numpy()])


@_content.register
def _(value: type | types.ModuleType) -> _Content:
    return _Content(value.__name__ if isinstance(value, types.ModuleType) else _name(value))


@_content.register
def _(value: types.FunctionType) -> _Content:
    return _Content(_name(value), children=[*_body(value), _read_globals(value)])


def _body(function: types.FunctionType) -> list[Any]:
    enclosed = [cell.cell_contents for cell in function.__closure__ or ()]
    return [function.__code__, function.__defaults__, function.__kwdefaults__, enclosed]


def _read_globals(function: types.FunctionType) -> dict[str, Any]:
    """The constants, and the bodies of the functions, that a function and those it calls read by name."""
    found: dict[str, Any] = {}
    waiting = [function]
    while waiting:
        reader = waiting.pop()
        names = set() if _is_installed(reader) else _global_names(reader.__code__)
        for name in names & reader.__globals__.keys():
            place, value = f"{reader.__module__}.{name}", reader.__globals__[name]
            value = getattr(value, "py_func", value)
            if place in found:
                continue
            if isinstance(value, types.FunctionType):
                found[place] = [_name(value), *_body(value)]
                waiting.append(value)
            elif isinstance(value, _CONSTANTS) or hasattr(value, "get_params"):
                found[place] = value
    return found


def _is_installed(function: types.FunctionType) -> bool:
    """Whether a function is of a package whose version says what its code is."""
    of_package = str(function.__module__).partition(".")[0] == __name__.partition(".")[0]
    return of_package or function.__code__.co_filename.startswith(_INSTALLED)


def _global_names(code: types.CodeType) -> set[str]:
    own = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    return own.union(*(_global_names(c) for c in code.co_consts if isinstance(c, types.CodeType)))


@_content.register
def _(value: types.CodeType) -> _Content:
    return _Content("code", value.co_code, [value.co_names, value.co_varnames, value.co_consts])


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"
