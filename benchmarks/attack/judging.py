"""What came of a call: a result, a refusal of ours, or a fault; and whether data of the caller changed."""

from __future__ import annotations

import hashlib
import linecache
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars
import scipy.sparse
from sklearn.base import BaseEstimator

from benchmarks.attack.values import Rng
from benchmarks.measuring import is_in_package
from multikernel.kernels import Kernel
from multikernel.views import MultiTable

Verdict = Literal["result", "refused", "unhelpful", "foreign", "NaN", "changed", "memory"]


class RefusedError(Exception):
    """A call was refused in a way of its own: a command by its exit code."""


class WrongError(Exception):
    """A call gave a result that is none: a status nobody knows, a model that changed in its file."""


class Call:
    """The arguments of one call, kept to see afterwards whether any of them was changed."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.said: list[str] = []
        self._given: list[tuple[str, Any, str]] = []

    def give(self, name: str, value: Any) -> Any:
        """A value, noted."""
        self.said.append(f"{name}={_short(value)}")
        self._given.append((name, value, fingerprint(value)))
        return value

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def either(self, name: str, sensible: Callable[[], Any], hostile: Callable[[], Any], p: float) -> Any:
        """A sensible value, or with this probability a hostile one."""
        return self.give(name, hostile() if self.chance(p) else sensible())

    def changed(self) -> list[str]:
        """The names of the arguments that are not what they were."""
        return [name for name, value, before in self._given if fingerprint(value) != before]


def _short(value: Any) -> str:
    kind = type(value).__name__
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{kind}{shape}{getattr(value, 'dtype', '')}"
    if isinstance(value, int) and abs(value) > 2**80:
        return "10**400" if value > 0 else "-10**400"
    try:
        return f"{value!r}"[:60]
    except Exception:
        return kind


def fingerprint(value: Any) -> str:
    """A text that differs where the content does; empty for what cannot be changed or cannot be read."""
    if isinstance(value, np.ma.MaskedArray):
        return fingerprint(value.data) + fingerprint(np.asarray(value.mask))
    if isinstance(value, np.ndarray):
        content = repr(value.tolist()).encode() if value.dtype.hasobject else np.asarray(value).tobytes()
        return f"{value.shape}{value.dtype}{hashlib.sha1(content).hexdigest()}"
    if scipy.sparse.issparse(value):
        return fingerprint(value.tocoo().toarray())
    if isinstance(value, pd.DataFrame | pd.Series):
        return repr(value.to_dict()) + str(value.index.tolist())
    if isinstance(value, memoryview):
        return fingerprint(np.asarray(value))
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}{[fingerprint(item) for item in value]}"
    if isinstance(value, dict):
        return str([(str(key), fingerprint(item)) for key, item in value.items()])
    if isinstance(value, MultiTable):
        return fingerprint({name: value[name] for name in value.names}) + str(value.ids)
    if isinstance(value, polars.DataFrame):
        return repr(value.to_dict(as_series=False))
    if isinstance(value, BaseEstimator | Kernel):
        return repr(value)
    return ""


def judge(outputs: Mapping[str, Any]) -> tuple[Verdict, str]:
    bad = [name for name, value in outputs.items() if holds_nan(value)]
    return ("NaN", f"in {', '.join(bad)}") if bad else ("result", "")


def holds_nan(value: Any, depth: int = 0) -> bool:
    """Whether there is a NaN in an array, a table, or what holds such."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    if isinstance(value, pd.DataFrame | pd.Series):
        value = value.to_numpy()
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return bool(np.isnan(value).any())
    if scipy.sparse.issparse(value):
        return holds_nan(value.tocoo().data)
    if isinstance(value, Mapping) and depth < 5:
        return any(holds_nan(item, depth + 1) for item in value.values())
    if isinstance(value, list | tuple) and depth < 5:
        return any(holds_nan(item, depth + 1) for item in value)
    return False


def judge_error(error: Exception) -> tuple[Verdict, str]:
    if isinstance(error, RefusedError):
        return "refused", str(error)[:200]
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = "/".join(Path(last.filename).parts[-3:]) + f":{last.lineno}"
    told = f"{type(error).__name__}: {str(error)[:200]} [{place}]"
    if isinstance(error, MemoryError):
        return "memory", told
    if not isinstance(error, ValueError | TypeError | ImportError | OSError):
        return "foreign", told
    ours = is_in_package(last.filename) or "/sklearn/" in last.filename
    is_raised = linecache.getline(last.filename, last.lineno or 0).strip().startswith("raise")
    return ("refused" if ours and is_raised and str(error) else "unhelpful"), told


def close_figures() -> None:
    import matplotlib.pyplot as plt

    plt.close("all")
