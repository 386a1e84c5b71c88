"""Several tables of the same samples, each in a file of its own: read, encoded, and aligned by their ids.

A :class:`Source` says which files are meant, as the command line has them: one table, or several by name.
`read_source` reads either. Of several, the target is a column of one of them or of a file of its own; samples
are matched by the column that `id` names, and without one the rows must be the same samples in the same
order.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from multikernel._validation import check_choice
from multikernel.io.tables.censored import Censored
from multikernel.io.tables.data import (
    TableData,
    encode_columns,
    find_categories,
    require_column,
    some,
    views_in_names,
)
from multikernel.io.tables.reading import column_names, read_table
from multikernel.views import join_views
from multikernel.views.joining import HOW
from multikernel.views.tables import MultiTable

Prepare = Callable[[str, TableData], TableData]


@dataclass(frozen=True)
class Source:
    """Which files hold the samples, and how they are read.

    Attributes
    ----------
    file : path or None
        The only table; None where there are several.
    tables : dict of str to path
        Several tables by name.
    id : str or None
        The column of every table that distinguishes samples.
    target : str or None
        Of censored times, that of the time.
    censored : Censored or None
        The other columns of censored times, which are beside that of the time.
    target_table : str or None
        Which of the tables has the target, where several have such a column.
    target_file : path or None
        A file of ids and targets, where no table has the target.
    how : {"inner", "outer"} or None
        Whether samples that lack a table are left out, or kept. None leaves them out of a fit, and keeps them
        among new samples, so that each is predicted or refused.
    ignore, one_hot : tuple of str
        Columns to leave out, and columns of names; of several tables ``table:column`` means one of them.
    keep_na : bool
        As for `read_table`.
    """

    file: Path | None = None
    tables: dict[str, Path] = field(default_factory=dict)
    id: str | None = None
    target: str | None = None
    target_table: str | None = None
    target_file: Path | None = None
    how: str | None = None
    ignore: tuple[str, ...] = ()
    one_hot: tuple[str, ...] = ()
    keep_na: bool = False
    censored: Censored | None = None

    def __post_init__(self) -> None:
        if self.how is not None:
            check_choice("--join", self.how, HOW)
        if (self.file is None) == (not self.tables):
            given = "neither" if self.file is None else "both"
            raise ValueError(
                "give one table by its file, or several by --table, such as --table mrna=mrna.csv --table "
                f"clinical=clinical.csv; got {given}."
            )
        if self.censored is not None and self.target is None:
            raise ValueError("--event goes with the column of the times: name it by --time.")
        for name, value in (("--target-table", self.target_table), ("--target-file", self.target_file)):
            if value is not None and self.file is not None:
                raise ValueError(f"{name} is for several tables (--table NAME=FILE); got one table.")
        if self.target_table is not None and self.target_file is not None:
            raise ValueError(
                "the target is in one of the tables (--target-table) or in a file of its own "
                "(--target-file); got both."
            )

    @property
    def name(self) -> str:
        """The names of the files of the tables."""
        return ", ".join(path.name for path in self.paths) if self.file is None else self.file.name

    @property
    def paths(self) -> list[Path]:
        """The files of the tables."""
        return list(self.tables.values()) if self.file is None else [self.file]

    @property
    def label(self) -> str:
        """A name for what is written about them: the file without its suffix, or the tables."""
        return "-".join(self.tables) if self.file is None else self.file.name.split(".")[0]

    def sha256(self) -> str:
        """The checksum of the file; of several, that of their names and checksums."""
        if self.file is not None:
            return file_sha256(self.file)
        parts = [f"{name}={file_sha256(path)}" for name, path in sorted(self.tables.items())]
        parts += [] if self.target_file is None else [f"={file_sha256(self.target_file)}"]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def file_sha256(path: str | Path) -> str:
    """The checksum of a file.

    Parameters
    ----------
    path : path
    """
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parse_tables(texts: Iterable[str]) -> dict[str, Path]:
    """Tables from texts ``name=file``.

    Parameters
    ----------
    texts : iterable of str

    Returns
    -------
    dict of str to path

    Examples
    --------
    >>> list(parse_tables(["mrna=data/mrna.csv", "clinical=clinical.parquet"]))
    ['mrna', 'clinical']
    """
    found: dict[str, Path] = {}
    for text in texts:
        name, equals, file = (part.strip() for part in text.partition("="))
        if not (name and equals and file):
            guess = Path(text.strip()).name.partition(".")[0] or "mrna"
            raise ValueError(
                f"a table must be given as NAME=FILE, such as --table {guess}={text.strip() or 'mrna.csv'}; "
                f"got {text[:60]!r}."
            )
        if name in found:
            raise ValueError(
                f"every table must have a name of its own; {name!r} is given twice, for {found[name]} and "
                f"{file}. Rename one of them."
            )
        found[name] = Path(file)
    return found


def read_source(source: Source) -> TableData:
    """Read the table, or all tables aligned, with their columns of names as columns of 0 and 1.

    Parameters
    ----------
    source : Source

    Returns
    -------
    TableData
        With ``categories``; of several tables, ``kind`` is "tables", ``X`` a `MultiTable` and ``parts`` has
        the table of each name.
    """
    if source.file is None:
        return _read_several(source)
    names = [*source.one_hot, *([] if source.id is None else [source.id])]
    raw = read_table(
        source.file, source.target, ignore=source.ignore, names=names, keep_na=source.keep_na,
        censored=source.censored,
    )  # fmt: skip
    return _encoded(take_ids(raw, source.id), source.one_hot)


def _encoded(data: TableData, one_hot: Sequence[str]) -> TableData:
    categories = find_categories(data, one_hot)
    return replace(encode_columns(data, categories), categories=categories)


# --- the ids of one table ----------------------------------------------------------------------------------


def take_ids(data: TableData, column: str | None, *, alone: bool = False) -> TableData:
    """The table with the ids of its samples as its index, and their column out of the way.

    Parameters
    ----------
    data : TableData
        It is not modified.
    column : str or None
        None leaves the table as it is.
    alone : bool, default=False
        Whether nothing needs to be left beside the ids.
    """
    if column is None:
        return data
    if data.kind == "precomputed":
        raise ValueError(f"{data.name} holds precomputed kernels, which have no column of ids (--id).")
    _require_id_column(data, column)
    ids = [_id_text(value) for value in data.X[column].tolist()]
    _require_ids(data, column, ids)
    X = data.X.drop(columns=column)
    if not X.shape[1] and not alone:
        raise ValueError(
            f"{data.name} must hold features and the ids{'' if data.target is None else ' and the target'}"
            "; nothing is left. Give a file of ids and targets alone by --target-file."
        )
    X.index = pd.Index(ids, name=column, dtype=object)
    views = {view: [c for c in columns if c != column] for view, columns in data.view_columns.items()}
    views = {view: columns for view, columns in views.items() if columns}
    return replace(data, X=X, view_columns=views or views_in_names(list(X.columns)), ids=X.index)


def _require_id_column(data: TableData, column: str) -> None:
    if column == data.target:
        raise ValueError(f"column {column!r} of {data.name} cannot be both the ids and the target.")
    try:
        require_column(column, data.columns, data.name)
    except ValueError as error:
        nameless = any("has no name" in note for note in data.notes)
        more = f" Its first column has no name: write {column!r} into its header line." if nameless else ""
        raise ValueError(f"{error} --id names the column of ids, which every table has.{more}") from None


def _id_text(value: Any) -> str | None:
    """An id as text, so that 7 of one file is 7 of another; None where it is missing."""
    if value is None or value is pd.NA or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip() or None


def _require_ids(data: TableData, column: str, ids: Sequence[str | None]) -> None:
    first: dict[str, int] = {}
    for row, name in enumerate(ids):
        if name is None:
            raise ValueError(
                f"every row of {data.name} must have an id; {column!r} is empty in {data.place(row)}. Fill "
                "it in, or remove the row."
            )
        if name in first:
            raise ValueError(
                f"the ids of {data.name} must be unique; {name!r} is in {data.place(first[name])} and in "
                f"{data.place(row)}. Average or remove repeated samples."
            )
        first[name] = row


# --- several tables ----------------------------------------------------------------------------------------


def _read_several(source: Source) -> TableData:
    if source.how == "outer" and source.id is None:
        raise ValueError(
            "--join outer keeps samples that lack a table: name the column that distinguishes them (--id)."
        )
    known = {name: column_names(path) for name, path in source.tables.items()}
    owner = _owner(source, known)
    shares = {
        "ignore": _share_out("--ignore", source.ignore, known),
        "one_hot": _share_out("--one-hot", source.one_hot, known),
    }

    def read(name: str) -> TableData:
        left_out = list(shares["ignore"][name])
        taken = [] if name == owner else [column for column in _targets(source) if column in known[name]]
        left_out += taken
        more = [f"column {column!r} of table {name!r} is called as the target: left out." for column in taken]
        one_hot = [column for column in shares["one_hot"][name] if column not in left_out]
        raw = read_table(
            source.tables[name],
            source.target if name == owner else None,
            ignore=left_out,
            names=[*one_hot, *([] if source.id is None else [source.id])],
            keep_na=source.keep_na,
            censored=source.censored if name == owner else None,
        )
        return _encoded(replace(take_ids(raw, source.id), notes=[*raw.notes, *more]), one_hot)

    parts = {name: read(name) for name in source.tables}
    targets = parts[owner] if owner is not None else _read_targets(source)
    return join_parts(parts, targets, source.how or "inner", id_column=source.id, target=source.target)


def _targets(source: Source) -> list[str]:
    """What the columns of the target may be called."""
    named = [] if source.target is None else [source.target]
    if source.censored is not None:
        named += [*source.censored.written, *([source.censored.entry] if source.censored.entry else [])]
    return named


def _owner(source: Source, known: Mapping[str, Sequence[str]]) -> str | None:
    """The table that has the target; None where no table is to have it."""
    target, wanted = source.target, source.target_table
    if wanted is not None and target is None:
        raise ValueError("--target-table says which table has the target: name its column by --target.")
    if target is None or source.target_file is not None:
        return None
    holders = [name for name, columns in known.items() if target in columns]
    if wanted is not None:
        if wanted not in known:
            raise ValueError(f"--target-table must be one of {', '.join(known)}; got {wanted!r}.")
        require_column(target, known[wanted], f"table {wanted!r}")
        return wanted
    if len(holders) > 1:
        raise ValueError(
            f"the target {target!r} must be a column of one table; {' and '.join(map(repr, holders))} have "
            f"it. Say which one is meant (--target-table {holders[-1]}); the other is left out then."
        )
    if not holders:
        every = {column.casefold(): (column, name) for name, columns in known.items() for column in columns}
        near = [every[key] for key in difflib.get_close_matches(target.casefold(), every, 3, 0.6)]
        hint = f"Did you mean {' or '.join(f'{c!r} of {name!r}' for c, name in near)}? " if near else ""
        raise ValueError(
            f"none of the tables {', '.join(known)} has a column {target!r} for the target. {hint}Targets in "
            "a file of their own are given by --target-file."
        )
    return holders[0]


def _share_out(what: str, given: Sequence[str], known: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The columns that are meant of each table: everywhere by name, or of one table by ``table:column``."""
    found: dict[str, list[str]] = {name: [] for name in known}
    for column in given:
        holders = [name for name, columns in known.items() if column in columns]
        table, _, rest = column.partition(":")
        if not holders and rest in known.get(table, ()):
            holders, column = [table], rest
        if not holders:
            raise ValueError(f"{what}: none of the tables {', '.join(known)} has a column {column!r}.")
        for name in holders:
            found[name].append(column)
    return found


def _read_targets(source: Source) -> TableData | None:
    if source.target_file is None:
        return None
    if source.target is None or source.id is None:
        raise ValueError("--target-file holds ids and targets: name both columns, by --id and --target.")
    data = read_table(
        source.target_file, source.target, names=[source.id], keep_na=source.keep_na, censored=source.censored
    )
    return take_ids(data, source.id, alone=True)


def join_parts(
    parts: Mapping[str, TableData],
    targets: TableData | None,
    how: str,
    *,
    id_column: str | None,
    target: str | None = None,
) -> TableData:
    """Tables that were read, aligned, as one.

    Parameters
    ----------
    parts : mapping of str to TableData
        With ids as the index of X, where `id_column` is given.
    targets : TableData or None
        The one that has the targets: one of the parts or another.
    how : {"inner", "outer"}
    id_column : str or None
        None for tables whose rows are the same samples in the same order.
    target : str or None
        Its name.
    """
    frames = {name: _as_numbers(part.X) for name, part in parts.items()}
    rows: Any = slice(None)
    if id_column is None:
        _require_same_length(parts)
        X = MultiTable({name: frame.reset_index(drop=True) for name, frame in frames.items()})
    elif targets is None or targets.y is None:
        X = join_views(frames, how=how)
    else:
        X, rows = join_views(frames, pd.Series(np.arange(targets.n_samples), targets.X.index), how=how)
        rows = rows.to_numpy()
    notes = [note for part in parts.values() for note in part.notes]
    if targets is not None and targets not in parts.values():
        notes += targets.notes
    y = None if targets is None or targets.y is None else targets.y[rows]
    labels = None if targets is None or targets.labels is None else targets.labels[rows]
    joined = {
        name: replace(part, X=X[name], y=None, labels=None, lines=None, ids=X.ids, notes=[])
        for name, part in parts.items()
    }
    return TableData(
        X, y, {}, "tables", ", ".join(part.name for part in parts.values()), target,
        notes=[*notes, *_on_samples(X, id_column)], labels=labels, ids=X.ids, parts=joined,
        censored=None if targets is None else targets.censored,
    )  # fmt: skip


def _as_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """True and false as 1 and 0: a sample that lacks the table could not have either."""
    truths = [column for column in frame.columns if frame[column].dtype == bool]
    return frame.astype(dict.fromkeys(truths, float)) if truths else frame


def _require_same_length(parts: Mapping[str, TableData]) -> None:
    lengths = {name: part.n_samples for name, part in parts.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {n} rows" for name, n in lengths.items())
        raise ValueError(
            "without --id, the rows of all tables must be the same samples in the same order; "
            f"{told}. Name the column that distinguishes samples (--id sample)."
        )


def _on_samples(X: MultiTable, id_column: str | None) -> list[str]:
    """What the alignment did to the samples of each table."""
    if X.counts is None:
        said = "no --id: assuming that the tables have the same samples in the same order."
        return [said] if id_column is None and len(X.names) > 1 else []
    notes = []
    for name, row in X.counts.iterrows():
        left, lacks = int(row["samples"] - row["kept"]), int(row["lacks"])
        told = [f"{left} of its {row['samples']} samples are left out"] if left else []
        told += [f"{lacks} of the {len(X)} samples are not in it"] if lacks else []
        notes += [f"table {name!r}: {', '.join(told)}."] if told else []
    return notes


# --- several tables for a model that was fitted to them ----------------------------------------------------


def read_for_model(source: Source, record: Mapping[str, Any], prepare: Prepare) -> TableData:
    """Read the tables that a model was fitted to, of new samples or of the same.

    Parameters
    ----------
    source : Source
        Its ``how`` decides on samples that lack a table.
    record : mapping
        ``record["data"]`` of `make_record`, of several tables.
    prepare : callable
        From the name of a table and what was read of it to the columns of training.
    """
    known = record["tables"]
    given = {name: path for name, path in source.tables.items() if name in known}
    _require_tables(source, given, record)
    parts = {}
    owner = record.get("target_table") if source.target is not None and source.target_file is None else None
    for name, path in given.items():
        ids = [] if source.id is None else [source.id]
        names = [*known[name]["one_hot"], *ids]
        mine = name == owner
        raw = read_table(
            path, source.target if mine else None, names=names, keep_na=source.keep_na,
            censored=source.censored if mine else None,
        )  # fmt: skip
        parts[name] = prepare(name, take_ids(raw, source.id))
    targets = _read_targets(source) if source.target_file is not None else parts.get(owner or "")
    data = join_parts(parts, targets, source.how or "outer", id_column=source.id, target=source.target)
    _require_whole(data, record)
    others = [name for name in source.tables if name not in known]
    lacking = [name for name in known if name not in given]
    notes = [f"table {name!r} is not used: the model was not fitted to it." for name in others]
    notes += [f"table {name!r} is not given: predictions are made without it." for name in lacking]
    return replace(data, notes=[*data.notes, *notes])


def _require_tables(source: Source, given: Mapping[str, Path], record: Mapping[str, Any]) -> None:
    missing = [name for name in record["tables"] if name not in given]
    if not missing or (given and _may_lack(record)):
        return
    needed = " ".join(f"--table {name}=FILE" for name in missing)
    unknown = [name for name in source.tables if name not in record["tables"]]
    also = f" (there is no table {unknown[0]!r} in it)" if unknown else ""
    raise ValueError(
        f"the model was fitted to the tables {', '.join(record['tables'])}{also}; {some(missing)} "
        f"{'is' if len(missing) == 1 else 'are'} not given. Give {needed}, or fit with --set "
        "missing=renormalize, which predicts from the tables that there are."
    )


def _require_whole(data: TableData, record: Mapping[str, Any]) -> None:
    """Refuse samples that lack a table, where the model cannot do without."""
    if data.X.counts is None or _may_lack(record) or not data.X.has_gaps:
        return
    counts = data.X.counts
    name = str(counts["lacks"].idxmax())
    frame = data.X[name]
    absent = data.X.ids[frame.isna().all(axis=1).to_numpy()]
    raise ValueError(
        f"the model needs every table of a sample; {int(counts.loc[name, 'lacks'])} of {len(data.X)} samples "
        f"are not in table {name!r}, such as {some(list(absent), 3)}. Add them, leave such samples out "
        "(--join inner), or fit with --set missing=renormalize."
    )


def _may_lack(record: Mapping[str, Any]) -> bool:
    return record.get("missing", "error") != "error"
