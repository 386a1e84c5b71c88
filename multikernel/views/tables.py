"""Several tables of the same samples: one object that slices by rows, and the join that makes it.

A :class:`MultiTable` holds a table for each view (frame, array or sparse matrix), all with the same samples
in the same rows. It has a shape and is indexed by rows, so that estimators, scikit-learn's splitters and
``GridSearchCV`` treat it as any X. :func:`join_views` makes one from tables whose samples differ, by their
index or an id column. A view that lacks a sample has a row without values there, which is what
``KernelBank(missing=...)`` reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from multikernel._validation import check_choice, is_frame
from multikernel.rows.tables import count_rows, distinct_rows, take_rows
from multikernel.views.columns import as_table, n_columns
from multikernel.views.frames import as_pandas
from multikernel.views.missing.presence import absent_rows

HOW = ("inner", "outer")


class MultiTable:
    """Several tables of the same samples, in the same order.

    Parameters
    ----------
    tables : dict of name -> table, or list of tables
        Each table is a frame, an array of shape (n, d) or a sparse matrix; a list is named "table-0",
        "table-1", and so on.
    ids : array-like of shape (n,), default=None
        Names of the samples. None takes the index of the frames, if they all have the same one that is not
        just a row count.

    Attributes
    ----------
    tables : dict of name -> table
    ids : pandas.Index or None
    shape : tuple of int
        Number of samples and number of columns of all tables.
    counts : DataFrame or None
        After :func:`join_views`, for each table the number of its samples, those kept, and those of the
        result that it lacks.

    Examples
    --------
    >>> X = MultiTable({"genes": np.eye(3), "clinic": pd.DataFrame({"age": [60, 71, 55]})})
    >>> X.shape, X[[0, 2]]["clinic"]["age"].tolist()
    ((3, 4), [60, 55])
    """

    def __init__(self, tables: Any, ids: Any = None) -> None:
        self.tables = _checked_tables(tables)
        self.counts: pd.DataFrame | None = None
        n = _common_length(self.tables)
        self.ids: pd.Index | None = _common_ids(self.tables) if ids is None else pd.Index(ids)
        if self.ids is not None and len(self.ids) != n:
            raise ValueError(f"ids must name each of the {n} samples once; got {len(self.ids)} ids.")
        self.shape = (n, sum(n_columns(table) or 1 for table in self.tables.values()))

    @property
    def names(self) -> list[str]:
        """Names of the tables."""
        return list(self.tables)

    @property
    def present(self) -> pd.DataFrame:
        """Whether each sample has each table, as a frame of shape (n, n_tables)."""
        has = {name: ~absent_rows(table) for name, table in self.tables.items()}
        return pd.DataFrame(has, index=self.ids)

    @property
    def ndim(self) -> int:
        """Two: samples and columns."""
        return 2

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """A table by its name, or the rows `key` (positions, slice or boolean mask) of all tables."""
        if isinstance(key, str):
            if key not in self.tables:
                raise KeyError(f"there is no table {key!r}; the tables are {self.names}.")
            return self.tables[key]
        if isinstance(key, tuple):  # as scikit-learn indexes arrays: X[rows, ...]
            rows, *rest = key
            if not all(entry is Ellipsis or entry == slice(None) for entry in rest):
                raise TypeError("a MultiTable is indexed by rows or by the name of a table; got columns.")
            key = rows
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            key = [int(key)]
        return self.take_rows(key)

    def take_rows(self, positions: Any) -> MultiTable:
        """The samples at some positions, or where a boolean mask is true."""
        if not isinstance(positions, slice):
            positions = np.asarray(positions)
            if positions.dtype == bool:
                positions = np.flatnonzero(positions)
        part = object.__new__(MultiTable)
        part.tables = {name: take_rows(table, positions) for name, table in self.tables.items()}
        part.counts = self.counts
        part.ids = None if self.ids is None else self.ids[positions]
        n = len(range(len(self))[positions]) if isinstance(positions, slice) else len(positions)
        part.shape = (n, self.shape[1])
        return part

    def distinct_codes(self) -> np.ndarray:
        """Which rows are equal in each table, (n, n_tables): equal numbers for equal rows."""
        return np.column_stack([distinct_rows(table)[1] for table in self.tables.values()])

    def __repr__(self) -> str:
        lines = [f"MultiTable of {len(self)} samples:"]
        for name, table in self.tables.items():
            lines.append(f"  {name}: {n_columns(table) or 1} columns{self._said_of(name)}")
        return "\n".join(lines)

    def _said_of(self, name: str) -> str:
        if self.counts is None:
            return ""
        row = self.counts.loc[name]
        dropped = row["samples"] - row["kept"]
        said = f"; {row['kept']} of its {row['samples']} samples"
        said += f", {dropped} left out" if dropped else ""
        return said + (f", lacks {row['lacks']}" if row["lacks"] else "")


def is_tables(X: Any) -> bool:
    """Whether X is several tables: a dict of them, a list of frames or of 2-D arrays, or a MultiTable."""
    if isinstance(X, (MultiTable, Mapping)):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(map(_is_table, X))


def as_tables(X: Any) -> MultiTable:
    """Several tables as one object."""
    return X if isinstance(X, MultiTable) else MultiTable(X)


def _is_table(entry: Any) -> bool:
    return not isinstance(entry, (list, tuple)) and len(getattr(entry, "shape", ())) == 2


def _checked_tables(tables: Any) -> dict[str, Any]:
    """Tables by name, each as the kernels read it."""
    if isinstance(tables, Mapping):
        named = dict(tables)
    elif isinstance(tables, Iterable) and not isinstance(tables, (str, bytes)) and not _is_table(tables):
        named = {f"table-{position}": table for position, table in enumerate(tables)}
    else:
        raise TypeError(f"tables must be a dict or a list of tables; got {type(tables).__name__}.")
    if not named:
        raise ValueError("tables must hold at least one table; got none.")
    checked: dict[str, Any] = {}
    for name, table in named.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"the name of a table must be a non-empty string; got {name!r}.")
        if isinstance(table, pd.Series):
            table = table.to_frame()
        if np.isscalar(table) or table is None or len(getattr(table, "shape", (0, 0))) > 2:
            raise TypeError(
                f"table {name!r} must be a frame, an array of shape (n, d), a sparse matrix or a list of "
                f"samples; got {type(table).__name__}."
            )
        checked[name] = as_table(as_pandas(table))
    return checked


def _common_length(tables: Mapping[str, Any]) -> int:
    lengths = {name: count_rows(table) for name, table in tables.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            "all tables must have the same samples in the same rows; "
            + ", ".join(f"{name!r} has {n} rows" for name, n in lengths.items())
            + ". Align them with join_views(tables, y)."
        )
    return next(iter(lengths.values()))


def _common_ids(tables: Mapping[str, Any]) -> pd.Index | None:
    """The index that the frames share; None where they only count rows. Others are misaligned."""
    labelled = {
        name: table.index
        for name, table in tables.items()
        if is_frame(table) and not isinstance(table.index, pd.RangeIndex)
    }
    first: tuple[str, pd.Index] | None = None
    for name, index in labelled.items():
        if first is None:
            first = (name, index)
        elif not index.equals(first[1]):
            place = (
                int(np.flatnonzero(np.asarray(index != first[1]))[0]) if len(index) == len(first[1]) else 0
            )
            raise ValueError(
                f"tables {first[0]!r} and {name!r} have other samples in the same rows: row {place} is "
                f"{first[1][place]!r} in one and {index[place]!r} in the other. Align them with "
                "join_views(tables, y), or drop the index (reset_index(drop=True)) if the rows agree."
            )
    return None if first is None else first[1]


# --- join ------------------------------------------------------------------------------------------------


def join_views(tables: Any, y: Any = None, *, how: str = "inner", on: str | None = None) -> Any:
    """Align tables, and targets, by the ids of their samples.

    Parameters
    ----------
    tables : dict of name -> frame, or list of frames
        Tables of pandas, polars, pyarrow or any library that narwhals reads.
    y : Series, frame of one column beside the ids, dict of id -> target, or array, default=None
        Targets of the samples. A Series is aligned by its index, a frame by the column `on` (or its index);
        an array needs tables that all have the same ids in the same order. Every id of `y` must occur in a
        table.
    how : {"inner", "outer"}, default="inner"
        Which samples to keep:

        - "inner": those that every table has, and `y`;
        - "outer": those that some table has (and `y`, if given); a table that lacks a sample has missing
          values in its row.
    on : str, default=None
        Name of the id column of every frame. None uses the index of each frame.

    Returns
    -------
    X : MultiTable
        Samples in the order of the first table, those that only later tables have after them. ``X.ids`` are
        their ids, ``X.counts`` says how many samples each table had, gave and lacks.
    y : Series
        Only if `y` is given: the targets, in the same order.

    Examples
    --------
    >>> genes = pd.DataFrame({"tp53": [0.1, 0.7, 0.4]}, index=["ann", "bob", "cyd"])
    >>> clinic = pd.DataFrame({"patient": ["cyd", "ann"], "age": [60, 71]}).set_index("patient")
    >>> X, y = join_views({"genes": genes, "clinic": clinic}, pd.Series({"ann": 1, "cyd": 0}))
    >>> X
    MultiTable of 2 samples:
      genes: 1 columns; 2 of its 3 samples, 1 left out
      clinic: 1 columns; 2 of its 2 samples
    >>> list(X.ids), y.tolist()
    (['ann', 'cyd'], [1, 0])
    """
    check_choice("how", how, HOW)
    frames = {name: _indexed(name, table, on) for name, table in _named(tables).items()}
    if y is not None and not _has_ids(y):
        y = _targets_in_row_order(y, frames)
    targets = None if y is None else _indexed_targets(y, on)
    ids = _ids_of(frames, how)
    if targets is not None:
        _require_known(targets, frames)
        ids = ids[ids.isin(targets.index)]
    if not len(ids):
        raise ValueError(_nothing_in_common(frames, targets))
    X = MultiTable({name: frame.reindex(ids) for name, frame in frames.items()}, ids=ids)
    X.counts = pd.DataFrame(
        {
            "samples": [len(frame) for frame in frames.values()],
            "kept": [int(frame.index.isin(ids).sum()) for frame in frames.values()],
            "lacks": [int((~ids.isin(frame.index)).sum()) for frame in frames.values()],
        },
        index=list(frames),
    )
    return X if targets is None else (X, targets.reindex(ids))


def _named(tables: Any) -> dict[str, Any]:
    if isinstance(tables, MultiTable):
        return tables.tables
    if isinstance(tables, Mapping):
        return {str(name): table for name, table in tables.items()}
    if isinstance(tables, Sequence) and not isinstance(tables, (str, bytes)):
        return {f"table-{position}": table for position, table in enumerate(tables)}
    raise TypeError(f"tables must be a dict or a list of frames; got {type(tables).__name__}.")


def _indexed(name: str, table: Any, on: str | None) -> pd.DataFrame:
    """A frame whose index are the ids of its samples, each once."""
    frame = as_pandas(table)
    if isinstance(frame, pd.Series):
        frame = frame.to_frame()
    if not is_frame(frame):
        kind = "sparse matrix" if scipy.sparse.issparse(table) else type(table).__name__
        raise TypeError(
            f"table {name!r} must be a frame, whose index or column tells the samples apart; got {kind}. "
            "Make a DataFrame of it, or pass tables with the same rows as a dict to fit."
        )
    return _set_ids(frame, f"table {name!r}", on)


def _set_ids(frame: pd.DataFrame, label: str, on: str | None) -> pd.DataFrame:
    if on is not None:
        if on not in frame.columns:
            if frame.index.name != on:
                raise ValueError(
                    f"{label} has no column {on!r}; its first columns are {list(frame.columns[:8])}."
                )
        else:
            frame = frame.set_index(on)
    index = frame.index
    if index.hasnans:
        raise ValueError(f"{label} has a missing id in row {int(np.flatnonzero(index.isna())[0])}.")
    if not index.is_unique:
        twice = index[index.duplicated()][0]
        raise ValueError(
            f"{label} has the id {twice!r} {int((index == twice).sum())} times; ids must be unique. Average "
            "or drop repeated samples before the join."
        )
    return frame


def _has_ids(y: Any) -> bool:
    return isinstance(y, (pd.Series, Mapping)) or is_frame(as_pandas(y))


def _targets_in_row_order(y: Any, frames: Mapping[str, pd.DataFrame]) -> pd.Series:
    """Targets without ids, for tables that all have the same ids in the same order."""
    first = next(iter(frames.values())).index
    values = np.asarray(y)
    same = all(frame.index.equals(first) for frame in frames.values())
    if not same or values.ndim != 1 or len(values) != len(first):
        raise ValueError(
            "y has no ids, and the tables do not all have the same samples in the same order: nothing tells "
            "which sample a target belongs to. Give a Series with the ids as its index."
        )
    return pd.Series(values, index=first)


def _indexed_targets(y: Any, on: str | None) -> pd.Series:
    if isinstance(y, Mapping):
        y = pd.Series(dict(y))
    if not isinstance(y, pd.Series):
        frame = _set_ids(as_pandas(y), "y", on)
        if frame.shape[1] != 1:
            raise ValueError(
                f"y must have one column of targets beside the ids; got {list(frame.columns)}. Choose one, "
                "or give the name of the id column as on=."
            )
        return frame.iloc[:, 0]
    return _set_ids(y.to_frame(), "y", None).iloc[:, 0]


def _ids_of(frames: Mapping[str, pd.DataFrame], how: str) -> pd.Index:
    """Ids to keep, in the order of the first table that has them."""
    each: Iterator[pd.Index] = (frame.index for frame in frames.values())
    ids = next(each)
    for other in each:
        ids = ids[ids.isin(other)] if how == "inner" else ids.append(other[~other.isin(ids)])
    return ids


def _require_known(targets: pd.Series, frames: Mapping[str, pd.DataFrame]) -> None:
    everywhere = _ids_of(frames, "outer")
    unknown = targets.index[~targets.index.isin(everywhere)]
    if len(unknown):
        shown = ", ".join(map(repr, unknown[:3]))
        raise ValueError(
            f"y names {len(unknown)} samples that no table has, such as {shown}; the tables have ids such as "
            f"{', '.join(map(repr, everywhere[:3]))}. Check that y and the tables use the same ids, and drop "
            "targets without data."
        )


def _nothing_in_common(frames: Mapping[str, pd.DataFrame], targets: pd.Series | None) -> str:
    shown = {name: list(frame.index[:3]) for name, frame in frames.items()}
    if targets is not None:
        shown["y"] = list(targets.index[:3])
    return (
        "the tables have no sample in common; their first ids are "
        + "; ".join(f"{name}: {ids}" for name, ids in shown.items())
        + ". Check that ids are written alike in all of them (case, prefixes, numbers or texts)."
    )
