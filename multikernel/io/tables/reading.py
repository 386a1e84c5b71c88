"""Read a table with its target from a file: CSV, TSV, Parquet or npz."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from multikernel.io.tables.data import TableData, views_in_names
from multikernel.io.tables.npz import read_npz
from multikernel.io.tables.text import SUFFIXES, TextTable, read_text, require_distinct


def read_table(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    ignore: Sequence[str] = (),
    names: Sequence[str] = (),
    keep_na: bool = False,
) -> TableData:
    """Read a table, its views or its ready-made kernels, and the target.

    Parameters
    ----------
    path : path
        A .csv or .tsv file (also .csv.gz) with a header line, a .parquet file (which needs pyarrow:
        ``pip install 'multikernel[parquet]'``), or an .npz file with ``X``, ``view_NAME``, ``K`` or
        ``kernel_NAME`` arrays.
    target : str, optional
        The column, or the array, that holds the labels or values to learn.
    ignore : sequence of str, default=()
        Columns to leave out, such as row numbers or names of the samples.
    names : sequence of str, default=()
        Columns whose values are names, whatever they look like: in a text file, 01 stays another than 1.
    keep_na : bool, default=False
        Whether NA, None, null and the like are names in the target and in the columns of `names` of a text
        file; only an empty cell is missing then.

    Returns
    -------
    TableData

    Raises
    ------
    ValueError
        If the file is not such a table; the message names the file, and the column and line where there is
        one.
    """
    place = Path(path)
    kind = _kind(place)
    if not place.is_file():
        what = "is a folder" if place.is_dir() else "does not exist"
        raise ValueError(f"a table must be a file; {place} {what}.")
    if kind == "npz":
        return _without(read_npz(place, target), ignore)
    if kind == "parquet":
        return _split(place.name, TextTable(_read_parquet(place), None, {}, []), target, ignore, keep_na)
    text = read_text(place, [*names, *([] if target is None else [target])])
    return _split(place.name, text, target, ignore, keep_na)


def _kind(path: Path) -> str:
    name = path.name.lower()
    if name.endswith(SUFFIXES):
        return "text"
    if name.endswith((".parquet", ".npz")):
        return name.rpartition(".")[2]
    known = ", ".join((*SUFFIXES, ".parquet", ".npz"))
    raise ValueError(f"the name of a table must end with one of {known}; got {path.name!r}.")


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError:
        raise ValueError(
            f"{path.name} needs pyarrow to be read. Install it by `pip install 'multikernel[parquet]'`, or "
            "save the table as .csv."
        ) from None
    try:
        frame: pd.DataFrame = pyarrow.parquet.read_table(path).to_pandas(ignore_metadata=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path.name} must be a whole Parquet file: {error}") from None
    kept = frame.loc[:, [name for name in frame.columns if not str(name).startswith("__index_level_")]]
    if not len(kept) or not kept.shape[1]:
        raise ValueError(f"{path.name} must hold rows and columns; it has shape {kept.shape}.")
    kept.columns = pd.Index([str(name) for name in kept.columns], dtype=object)
    require_distinct(path.name, list(kept.columns))
    return kept


def _split(
    name: str, table: TextTable, target: str | None, ignore: Sequence[str], keep_na: bool
) -> TableData:
    columns = [str(column) for column in table.frame.columns]
    for column in (*ignore, *([] if target is None else [target])):
        require_column(column, columns, name)
    if target is not None and target in ignore:
        raise ValueError(f"column {target!r} of {name} cannot be both the target and left out.")
    kept = [column for column in columns if column != target and column not in ignore]
    if not kept:
        raise ValueError(f"{name} must hold features beside its target; nothing is left of {columns}.")
    X = table.frame.loc[:, kept].reset_index(drop=True)
    for column in (column for column in table.cells if column in kept):
        cells, gaps = table.cells[column], _gaps(table, column, keep_na)
        named = [None if gap else cell for cell, gap in zip(cells, gaps, strict=True)]
        X[column] = pd.Series(named, dtype=object, index=X.index)
    notes = list(table.notes)
    bare = TableData(X, None, views_in_names(kept), "table", name, target, notes=notes, lines=table.lines)
    if target is None:
        return bare
    _require_targets(bare, _gaps(table, target, keep_na), table.cells.get(target))
    y, labels = _target_values(table.frame[target], table.cells.get(target), notes)
    return replace(bare, y=y, labels=labels)


def _gaps(table: TextTable, column: str, keep_na: bool) -> np.ndarray:
    """Where a column of names, or the target, is missing."""
    if keep_na and column in table.cells:
        return np.array([not cell for cell in table.cells[column]])
    return np.asarray(table.frame[column].isna().to_numpy())


def _require_targets(data: TableData, gaps: np.ndarray, cells: list[str] | None) -> None:
    missing = np.flatnonzero(gaps)
    if not missing.size:
        return
    more = f", and {missing.size - 1} more" if missing.size > 1 else ""
    word = "" if cells is None else cells[missing[0]]
    hint = f" If {word!r} is the name of a class, say so (--keep-na)." if word else ""
    raise ValueError(
        f"the target {data.target!r} of {data.name} must be known in every row; it is missing in "
        f"{data.place(int(missing[0]))}{more}. Remove these rows, or predict them later.{hint}"
    )


def _target_values(
    column: pd.Series, cells: list[str] | None, notes: list[str]
) -> tuple[np.ndarray, np.ndarray | None]:
    """The target, and how it is written where numbers would not tell that."""
    if pd.api.types.is_numeric_dtype(column.dtype) and not column.isna().any():
        plain = isinstance(column.dtype, np.dtype)
        y = column.to_numpy() if plain else column.to_numpy(dtype=column.dtype.numpy_dtype)
        return y, None if cells is None else _spelled(y, cells, notes)
    return np.asarray([str(label).strip() for label in column.tolist()] if cells is None else cells), None


def _spelled(y: np.ndarray, cells: list[str], notes: list[str]) -> np.ndarray | None:
    """Labels as they are written, where a number would be written otherwise; None of fractions."""
    if y.dtype.kind == "f" and (y != np.round(y)).any():
        return None
    spellings: dict[Any, set[str]] = {}
    for value, cell in zip(y.tolist(), cells, strict=True):
        spellings.setdefault(value, set()).add(cell.removeprefix("+"))
    if all(written == {str(value)} for value, written in spellings.items()):
        return None
    doubled = [sorted(written) for written in spellings.values() if len(written) > 1]
    if doubled:
        told = " and ".join(map(repr, doubled[0][:3]))
        notes.append(f"the target is written in several ways, such as {told}, which are taken for one.")
        return None
    return np.asarray(cells)


def require_column(column: str, known: Sequence[str], name: str) -> None:
    """Refuse a column that a table does not have."""
    if column in known:
        return
    folded = {name.casefold().strip(): name for name in known}
    near = [folded[name] for name in difflib.get_close_matches(column.casefold().strip(), folded, 3, 0.5)]
    listed = ", ".join(known[:12]) + (f" … ({len(known)} in all)" if len(known) > 12 else "")
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"It has {listed}."
    raise ValueError(f"{name} has no column {column!r}. {hint}")


def _without(data: TableData, ignore: Sequence[str]) -> TableData:
    if not ignore:
        return data
    if data.kind == "precomputed":
        raise ValueError(f"{data.name} holds ready-made kernels, which have no columns to leave out.")
    for column in ignore:
        require_column(column, data.columns, data.name)
    kept: list[Any] = [column for column in data.columns if column not in ignore]
    views = {view: [c for c in columns if c not in ignore] for view, columns in data.view_columns.items()}
    views = {view: columns for view, columns in views.items() if columns}
    if not kept:
        raise ValueError(f"{data.name} must hold features; all columns are left out.")
    return TableData(data.X.loc[:, kept], data.y, views, data.kind, data.name, data.target, notes=data.notes)
