"""Tables in text files: commas, semicolons or tabs, one header line, UTF-8, perhaps compressed by gzip."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


@dataclass(frozen=True, eq=False)
class TextTable:
    """A table as a text file has it.

    Attributes
    ----------
    frame : DataFrame
        Every column, in the order of the file.
    lines : ndarray of int
        The line of each row; None of files without lines.
    cells : dict of str to list of str
        What is written in the columns asked for, without the blanks around it.
    notes : list of str
    """

    frame: pd.DataFrame
    lines: np.ndarray | None
    cells: dict[str, list[str]]
    notes: list[str]


def read_text(path: Path, written: Sequence[str] = ()) -> TextTable:
    """Read a text table.

    Parameters
    ----------
    path : Path
    written : sequence of str
        Columns of which the cells are wanted as they are written: 01 is another name than 1.

    Returns
    -------
    TextTable
    """
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
        notes.append(f"the first column of {path.name} has no name and is taken for row numbers: left out.")
    for column, texts in cells.items():
        bare = [text.strip() for text in texts]
        if bare != texts:
            notes.append(f"blanks around what column {column!r} of {path.name} holds are taken away.")
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
    if all(_is_number(name) for name in header):
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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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
