"""Arrays in .npz files: a table X, views, or ready-made kernels, with y; no pickles are read.

=================  ===========================================================================
``X`` (n, d)       one table; ``feature_names`` (d,) names its columns
``view_NAME``      one table for each view; ``names_NAME`` names its columns
``K``              ready-made kernels (n, n, n_kernels); ``kernel_names`` names them
``kernel_NAME``    one ready-made kernel (n, n) each
``y``              the targets; where ``class_names`` is there, whole numbers from 0 stand for these
=================  ===========================================================================

For prediction, kernels are those between the new rows and the training rows, (n_new, n_train).
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from multikernel.io.tables.data import TableData
from multikernel.io.tables.text import require_distinct
from multikernel.views import stack_kernels

Arrays = dict[str, np.ndarray]

_VIEW, _KERNEL = "view_", "kernel_"


def read_npz(path: Path, target: str | None) -> TableData:
    """Read a table, views or kernels from an .npz file.

    Parameters
    ----------
    path : Path
    target : str or None
        The name of the array of targets; without it, they are not read.

    Returns
    -------
    TableData
    """
    arrays = _arrays(path)
    y = None if target is None else _target(path, arrays, target)
    arrays = {key: array for key, array in arrays.items() if key != target}  # no feature of itself
    kernels = _kernels(path, arrays)
    if kernels is not None:
        X, names = kernels
        data = TableData(X, y, {}, "precomputed", path.name, target, kernel_names=names)
    else:
        frame, views, notes = _table(path, arrays)
        data = TableData(frame, y, views, "table", path.name, target, notes=notes)
    if y is not None and len(y) != data.n_samples:
        raise ValueError(
            f"{path.name}: {target!r} must hold one target for each of the {data.n_samples} rows; "
            f"got {len(y)}."
        )
    return data


def _arrays(path: Path) -> Arrays:
    wanted = f"{path.name} must be an .npz file of plain arrays"
    remedy = "Save it with numpy.savez_compressed, without arrays of objects."
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{wanted}; it is no archive of NumPy, or not whole. {remedy}")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except (ValueError, OSError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{wanted}: {error} {remedy}") from None
    for key, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{wanted}; {key!r} is none. {remedy}")
    return arrays


def _target(path: Path, arrays: Arrays, target: str) -> np.ndarray:
    if target not in arrays:
        raise ValueError(
            f"{path.name} has no array {target!r} for the target; it has {', '.join(sorted(arrays))}."
        )
    y = arrays[target]
    y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
    if y.ndim not in (1, 2) or not y.size:
        raise ValueError(f"{path.name}: {target!r} must be a list of targets (n,); got shape {y.shape}.")
    missing = np.argwhere(np.isnan(y)) if y.dtype.kind == "f" else np.empty((0, 1), int)
    if len(missing):
        raise ValueError(
            f"the target {target!r} of {path.name} must be known in every row; it is NaN in row "
            f"{missing[0][0]} (counted from 0). Remove such rows, or predict them later."
        )
    names = arrays.get("class_names")
    if target != "y" or names is None or names.ndim != 1 or y.ndim != 1 or y.dtype.kind not in "iu":
        return y
    return names[y] if y.min() >= 0 and y.max() < len(names) else y


def _kernels(path: Path, arrays: Arrays) -> tuple[np.ndarray, list[str]] | None:
    single = {key.removeprefix(_KERNEL): K for key, K in arrays.items() if _is_kernel(key)}
    if "K" in arrays and single:
        raise ValueError(f"{path.name} must hold its kernels in K or in kernel_NAME arrays, not in both.")
    if single:
        try:
            return stack_kernels(single), list(single)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path.name}: {error}") from None
    if "K" not in arrays:
        return None
    stack = arrays["K"]
    stack = stack[:, :, None] if stack.ndim == 2 else stack
    if stack.ndim != 3 or 0 in stack.shape or stack.dtype.kind not in "fiub":
        raise ValueError(
            f"{path.name}: K must hold kernels in the shape (n, n_train, n_kernels); got {stack.dtype} of "
            f"shape {arrays['K'].shape}."
        )
    return stack, _names(path, arrays, "kernel_names", "kernel-", stack.shape[2])


def _is_kernel(key: str) -> bool:
    return key.startswith(_KERNEL) and key not in (_KERNEL, "kernel_names")


def _names(path: Path, arrays: Arrays, key: str, prefix: str, count: int) -> list[str]:
    if key not in arrays:
        return [f"{prefix}{place}" for place in range(count)]
    names = [str(name) for name in arrays[key].ravel()]
    if len(names) != count:
        raise ValueError(f"{path.name}: {key} must hold {count} names; got {len(names)}.")
    require_distinct(f"{path.name} ({key})", names)
    return names


def _table(path: Path, arrays: Arrays) -> tuple[pd.DataFrame, dict[str, list[str]], list[str]]:
    tables = {key.removeprefix(_VIEW): array for key, array in arrays.items() if key.startswith(_VIEW)}
    for key, array in [("X", arrays.get("X")), *((_VIEW + name, table) for name, table in tables.items())]:
        if array is not None and (array.ndim != 2 or 0 in array.shape):
            raise ValueError(f"{path.name}: {key} must be a table (n, d); got shape {array.shape}.")
    if tables:
        notes = [f"{path.name} has views, so its X is left out."] if "X" in arrays else []
        return (*_joined(path, arrays, tables), notes)
    if "X" not in arrays:
        raise ValueError(
            f"{path.name} must hold a table X, views view_NAME, or kernels K or kernel_NAME, beside its "
            "target; it has "
            f"{', '.join(sorted(arrays)) or 'nothing'}."
        )
    X = arrays["X"]
    return _frame(X, _names(path, arrays, "feature_names", "x", X.shape[1])), {}, []


def _joined(path: Path, arrays: Arrays, tables: Arrays) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    lengths = {name: len(table) for name, table in tables.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {n}" for name, n in lengths.items())
        raise ValueError(f"the views of {path.name} must have equally many rows; they have: {told}.")
    views = {
        name: [f"{name}:{column}" for column in _names(path, arrays, f"names_{name}", "", table.shape[1])]
        for name, table in tables.items()
    }
    frames = [_frame(table, views[name]) for name, table in tables.items()]
    return pd.concat(frames, axis=1), views


def _frame(table: np.ndarray, columns: list[str]) -> Any:
    return pd.DataFrame(table, columns=pd.Index(columns, dtype=object))
