"""Read a table with its target from a file: CSV, TSV, Parquet or npz.

Text files have commas, semicolons or tabs between columns, one header line, UTF-8, and may be compressed by
gzip. Of .npz files no pickles are read; their arrays are

=================  ===========================================================================
``X`` (n, d)       one table; ``feature_names`` (d,) names its columns
``view_NAME``      one table for each view; ``names_NAME`` names its columns
``K``              precomputed kernels (n, n, n_kernels); ``kernel_names`` names them
``kernel_NAME``    one precomputed kernel (n, n) each
``y``              the targets; where ``class_names`` is there, whole numbers from 0 stand for these
=================  ===========================================================================

For prediction, kernels are those between the new rows and the training rows, (n_new, n_train).
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from multikernel._files import checked_path
from multikernel.io.tables.censored import Censored, censored_times
from multikernel.io.tables.data import TableData, is_number, require_column, views_in_names
from multikernel.views import NamedStack, stack_kernels

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
Arrays = dict[str, np.ndarray]

_VIEW, _KERNEL = "view_", "kernel_"


def _require_names(parameter: str, given: Any) -> None:
    """Refuse what is no name, or no list of names, of columns."""
    is_list = isinstance(given, Collection) and not isinstance(given, str | bytes | memoryview)
    for name in given if is_list else [given]:
        if not is_list or not isinstance(name, str):
            raise TypeError(f"{parameter} must be named by strings, columns of the table; got {name!r:.60}.")


def read_table(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    ignore: Sequence[str] = (),
    names: Sequence[str] = (),
    keep_na: bool = False,
    censored: Censored | None = None,
) -> TableData:
    """Read a table, its views or its precomputed kernels, and the target.

    Parameters
    ----------
    path : path
        A .csv or .tsv file (also .csv.gz) with a header line, a .parquet file (which needs pyarrow:
        ``pip install 'multikernel[parquet]'``), or an .npz file with ``X``, ``view_NAME``, ``K`` or
        ``kernel_NAME`` arrays.
    target : str, default=None
        The column, or the array, that holds the labels or values to learn.
    ignore : sequence of str, default=()
        Columns to leave out, such as row numbers or names of the samples.
    names : sequence of str, default=()
        Columns whose values are names, whatever they look like: in a text file, 01 stays another than 1.
    keep_na : bool, default=False
        Whether NA, None, null and the like are names in the target and in the columns of `names` of a text
        file; only an empty cell is missing then.
    censored : Censored, default=None
        The column of the event, where `target` holds censored times.

    Returns
    -------
    TableData

    Raises
    ------
    ValueError
        If the file is not such a table; the message names the file, and the column and line where there is
        one.
    """
    _require_names("target", [] if target is None else [target])
    _require_names("ignore", ignore)
    _require_names("names", names)
    place = checked_path(path)
    kind = _kind(place)
    _require_file(place)
    if kind == "npz":
        return _without(read_npz(place, target, censored), ignore)
    wanted = Wanted(target, censored, tuple(ignore), keep_na)
    if kind == "parquet":
        return _split(place.name, TextTable(_read_parquet(place), None, {}, []), wanted)
    written = [] if censored is None else censored.written
    return _split(place.name, read_text(place, [*names, *written, *wanted.targets]), wanted)


@dataclass(frozen=True)
class Wanted:
    """What is made of the columns of a table that are no features."""

    target: str | None
    censored: Censored | None
    ignore: tuple[str, ...]
    keep_na: bool

    @property
    def targets(self) -> list[str]:
        return [] if self.target is None else [self.target]


def column_names(path: str | os.PathLike[str]) -> list[str]:
    """The names of the columns of a table in a file, without reading its rows; not of .npz files."""
    place = checked_path(path)
    kind = _kind(place)
    if kind == "npz":
        raise ValueError(
            f"one of several tables must be a .csv, .tsv or .parquet file with named columns; got "
            f"{place.name!r}. Save it as such, or give the .npz file alone."
        )
    _require_file(place)
    if kind == "parquet":
        return [str(name) for name in _parquet_schema(place).names]
    with _plain_errors(place):
        separator, _ = _separator(place)
        with _opened(place) as file:
            return [name.strip() for name in next(csv.reader(file, delimiter=separator), [])]


def _require_file(place: Path) -> None:
    if not place.is_file():
        what = "is a folder" if place.is_dir() else "does not exist"
        raise ValueError(f"a table must be a file; {place} {what}.")


def _kind(path: Path) -> str:
    name = path.name.lower()
    if name.endswith(SUFFIXES):
        return "text"
    if name.endswith((".parquet", ".npz")):
        return name.rpartition(".")[2]
    known = ", ".join((*SUFFIXES, ".parquet", ".npz"))
    raise ValueError(f"the name of a table must end with one of {known}; got {path.name!r}.")


def _parquet_schema(path: Path) -> Any:
    """The schema of a Parquet file."""
    pyarrow = _pyarrow(path)
    try:
        return pyarrow.parquet.read_schema(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path.name} must be a whole Parquet file: {error}") from None


def _pyarrow(path: Path) -> Any:
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError:
        raise ValueError(
            f"{path.name} needs pyarrow to be read. Install it by `pip install 'multikernel[parquet]'`, or "
            "save the table as .csv."
        ) from None
    return pyarrow


def _read_parquet(path: Path) -> pd.DataFrame:
    pyarrow = _pyarrow(path)
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


def _split(name: str, table: TextTable, wanted: Wanted) -> TableData:
    columns = [str(column) for column in table.frame.columns]
    target, keep_na = wanted.target, wanted.keep_na
    for column in (*wanted.ignore, *wanted.targets):
        require_column(column, columns, name)
    targets = wanted.targets + ([] if wanted.censored is None else wanted.censored.columns(columns, name))
    _require_one_role(name, targets, wanted.ignore)
    kept = [column for column in columns if column not in targets and column not in wanted.ignore]
    if not kept:
        raise ValueError(f"{name} must hold features and a target; nothing is left of {columns}.")
    X = table.frame.loc[:, kept].reset_index(drop=True)
    for column in (column for column in table.cells if column in kept):
        cells, gaps = table.cells[column], _gaps(table, column, keep_na)
        named = [None if gap else cell for cell, gap in zip(cells, gaps, strict=True)]
        X[column] = pd.Series(named, dtype=object, index=X.index)
    notes = list(table.notes)
    bare = TableData(X, None, views_in_names(kept), "table", name, target, notes=notes, lines=table.lines)
    if target is None:
        return bare
    for column in targets:
        gaps = _gaps(table, column, keep_na)
        _require_targets(replace(bare, target=column), gaps, table.cells.get(column))
    if wanted.censored is not None:
        frame = {column: table.frame[column] for column in columns}
        y = censored_times(wanted.censored, target, frame, table.cells, bare.place, name)
        return replace(bare, y=y, censored=wanted.censored)
    y, labels = _target_values(table.frame[target], table.cells.get(target), notes)
    return replace(bare, y=y, labels=labels)


def _require_one_role(name: str, targets: Sequence[str], ignore: Sequence[str]) -> None:
    """Refuse a column that is to be two of the target, its event, its entry time, and left out."""
    for place, column in enumerate(targets):
        if column in ignore:
            raise ValueError(f"column {column!r} of {name} cannot be both the target and left out.")
        if column in targets[:place]:
            raise ValueError(
                f"column {column!r} of {name} cannot be two of time, event and entry time. Name another."
            )


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
    hint = f" If {word!r} is the name of a class, use --keep-na." if word else ""
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
        notes.append(f"the target is written in several ways, such as {told}, which are read as one.")
        return None
    return np.asarray(cells)


def _without(data: TableData, ignore: Sequence[str]) -> TableData:
    if not ignore:
        return data
    if data.kind == "precomputed":
        raise ValueError(f"{data.name} holds precomputed kernels, which have no columns to leave out.")
    for column in ignore:
        require_column(column, data.columns, data.name)
    kept: list[Any] = [column for column in data.columns if column not in ignore]
    views = {view: [c for c in columns if c not in ignore] for view, columns in data.view_columns.items()}
    views = {view: columns for view, columns in views.items() if columns}
    if not kept:
        raise ValueError(f"{data.name} must hold features; all columns are left out.")
    return replace(data, X=data.X.loc[:, kept], view_columns=views)


# --- text files ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TextTable:
    """A table as a text file has it."""

    frame: pd.DataFrame  # every column, in the order of the file
    lines: np.ndarray | None  # of each row; None of files without lines
    cells: dict[str, list[str]]  # what is written in the columns asked for, without the blanks around it
    notes: list[str]


def read_text(path: Path, written: Sequence[str] = ()) -> TextTable:
    """Read a text table, with the cells of some columns as they are written: 01 is another name than 1."""
    with _plain_errors(path):
        separator, notes = _separator(path)
        with _opened(path) as file:
            header, lines, cells = _scan(path, csv.reader(file, delimiter=separator), written)
        with _opened(path) as file:
            frame = _parse(file, separator, header, ".")
        if separator == ";" and _n_texts(frame):
            with _opened(path) as file:  # where columns end with semicolons, numbers often have commas
                other = _parse(file, separator, header, ",")
            frame = other if _n_texts(other) < _n_texts(frame) else frame
    if header[0] == "":
        frame = frame.iloc[:, 1:]
        notes.append(f"the first column of {path.name} has no name; it is read as row numbers and left out.")
    for column, texts in cells.items():
        bare = [text.strip() for text in texts]
        if bare != texts:
            notes.append(f"blanks around what column {column!r} of {path.name} holds are removed.")
        cells[column] = bare
    return TextTable(frame, lines, cells, notes)


def _parse(file: IO[str], separator: str, header: list[str], decimal: str) -> pd.DataFrame:
    return pd.read_csv(
        file, sep=separator, decimal=decimal, header=0, names=header, index_col=False, low_memory=False
    )


def _n_texts(frame: pd.DataFrame) -> int:
    return sum(not pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes)


def _opened(path: Path) -> IO[str]:
    opener: Callable[..., Any] = gzip.open if path.name.lower().endswith(".gz") else open
    file: IO[str] = opener(path, "rt", encoding="utf-8-sig", newline="")
    return file


def _separator(path: Path) -> tuple[str, list[str]]:
    if ".tsv" in path.name.lower()[-7:]:
        return "\t", []
    with _opened(path) as file:
        first = re.sub(r'"[^"]*"', "", file.readline())  # a name in quotes may hold either
    if "," in first or ";" not in first:
        return ",", []
    return ";", [f"{path.name} has semicolons between its columns."]


def _scan(
    path: Path, rows: Any, written: Sequence[str]
) -> tuple[list[str], np.ndarray, dict[str, list[str]]]:
    """The header, the line of each row, and some cells; refuses rows shorter or longer than the header."""
    header = [name.strip() for name in next(rows, [])]
    if not any(header):
        raise ValueError(f"{path.name} must begin with a line of column names; the file is empty.")
    _check_header(path, header)
    lines = []
    cells: dict[str, list[str]] = {name: [] for name in written if name in header}
    places = {name: header.index(name) for name in cells}
    for row in rows:
        if not row:  # a blank line, which pandas skips too
            continue
        if len(row) != len(header):
            raise ValueError(
                f"every line of {path.name} must have {len(header)} values, one for each column of its "
                f"header; line {rows.line_num} has {len(row)}. Put values that hold a separator in quotes."
            )
        lines.append(rows.line_num)
        for name, place in places.items():
            cells[name].append(row[place])
    if not lines:
        raise ValueError(f"{path.name} must hold rows below its header; it has none.")
    return header, np.array(lines), cells


def _check_header(path: Path, header: list[str]) -> None:
    if all(map(is_number, header)):
        raise ValueError(
            f"{path.name} must begin with a line of column names; its first line holds numbers only "
            f"({', '.join(header[:3])} …). Add a header line."
        )
    empty = [place for place, name in enumerate(header) if not name and place > 0]
    if empty:
        raise ValueError(f"every column of {path.name} must have a name; column {empty[0] + 1} has none.")
    require_distinct(path.name, header)


def require_distinct(name: str, columns: list[str]) -> None:
    """Refuse a table with two columns of the same name."""
    column, times = Counter(columns).most_common(1)[0]
    if times > 1:
        raise ValueError(
            f"the columns of {name} must have distinct names; {column!r} occurs {times} times. Rename or "
            "remove one of them."
        )


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """What is wrong with a file, in our words."""
    try:
        yield
    except UnicodeDecodeError as error:
        guess = "utf16" if error.start == 0 else "latin1"
        raise ValueError(
            f"{path.name} must be UTF-8 text; byte {error.start} is not. Save it as UTF-8, for example by "
            f"`iconv -f {guess} -t utf8`."
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path.name} must be compressed by gzip, and whole; {error}.") from None
    except (csv.Error, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"{path.name} cannot be read as a table: {error}.") from None


# --- npz files ----------------------------------------------------------------------------------------------


def read_npz(path: Path, target: str | None, censored: Censored | None = None) -> TableData:
    """Read a table, views or kernels from an .npz file, and the targets where their array is named."""
    arrays = _arrays(path)
    own = {target} if censored is None else {target, *censored.columns(list(arrays), path.name)}
    y = None if target is None else _target_of(path, arrays, target, censored)
    arrays = {key: array for key, array in arrays.items() if key not in own}  # no feature of itself
    kernels = _kernels(path, arrays)
    if kernels is not None:
        X, names = kernels
        data = TableData(X, y, {}, "precomputed", path.name, target, kernel_names=names)
    else:
        frame, views, notes = _table(path, arrays)
        data = TableData(frame, y, views, "table", path.name, target, notes=notes)
    data = replace(data, censored=censored)
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


def _target_of(path: Path, arrays: Arrays, target: str, censored: Censored | None) -> np.ndarray:
    if censored is None:
        return _target(path, arrays, target)
    names = [target, *censored.columns(list(arrays), path.name)]
    found = {name: _target(path, arrays, name) for name in names}
    lengths = {name: len(array) for name, array in found.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {n}" for name, n in lengths.items())
        raise ValueError(f"times and events of {path.name} must be equally many; they are: {told}.")
    return censored_times(censored, target, arrays | found, {}, _counted_row, path.name)


def _counted_row(row: int) -> str:
    return f"row {row} (counted from 0)"


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
    named = [key for key in arrays if key.startswith(_KERNEL) and key not in (_KERNEL, "kernel_names")]
    single = {key.removeprefix(_KERNEL): arrays[key] for key in named}
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
    names = _names(path, arrays, "kernel_names", "kernel-", stack.shape[2])
    return NamedStack(stack, names), names


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
