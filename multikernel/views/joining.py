"""Tables whose samples differ, aligned by the ids of their samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import scipy.sparse

from multikernel._validation import check_choice, is_frame
from multikernel.views.frames import as_pandas
from multikernel.views.tables import MultiTable, named_tables

HOW = ("inner", "outer")


def join_views(tables: Any, y: Any = None, *, how: str = "inner", on: Any = None) -> Any:
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
    on : str or dict of name -> str, default=None
        Name of the id column of every frame, or of each by its name ("y" for the targets). None uses the
        index of each frame.

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
    if isinstance(tables, MultiTable):
        tables = _without_gaps(tables)
    frames = {
        name: _indexed(name, table, _id_column(on, name)) for name, table in named_tables(tables).items()
    }
    _require_ids(frames)
    if y is not None and not _has_ids(y):
        y = _targets_in_row_order(y, frames)
    targets = None if y is None else _indexed_targets(y, _id_column(on, "y"))
    ids = _ids_of(frames, how)
    if targets is not None:
        _require_known(targets, frames)
        ids = ids[ids.isin(targets.index)]
    if not len(ids):
        raise ValueError(_nothing_in_common(frames, targets))
    X = MultiTable({name: frame.reindex(ids) for name, frame in frames.items()}, ids=ids)
    X.note_join({name: frame.index for name, frame in frames.items()})
    return X if targets is None else (X, targets.reindex(ids))


def _id_column(on: Any, name: str) -> str | None:
    """The id column of one table."""
    column = on.get(name) if isinstance(on, Mapping) else on
    if column is not None and not isinstance(column, str):
        raise TypeError(f"on must be the name of a column, or a dict of them by table; got {on!r}.")
    return column


def _without_gaps(X: MultiTable) -> dict[str, Any]:
    """The tables of an earlier join, each with the samples that it has."""
    if X.ids is None:
        return dict(X.tables)
    has = X.present
    return {
        name: (table if is_frame(table) else pd.DataFrame(table)).set_axis(X.ids)[has[name].to_numpy()]
        for name, table in X.tables.items()
    }


def _require_ids(frames: Mapping[str, pd.DataFrame]) -> None:
    """Refuse tables whose index only counts rows: that says nothing of the samples."""
    for name, frame in frames.items():
        if isinstance(frame.index, pd.RangeIndex) and frame.index.name is None:
            common = [column for column in frame.columns if all(column in other for other in frames.values())]
            hint = f" Columns that all tables have: {common[:5]}." if common else ""
            raise ValueError(
                f"table {name!r} has no ids: its index only counts rows. Name the id column with on=, or set "
                f"it as the index.{hint} Tables whose rows agree go to fit as a dict, without a join."
            )


def _indexed(name: str, table: Any, on: str | None) -> pd.DataFrame:
    """A frame whose index are the ids of its samples, each once."""
    frame = _with_exact_ids(table, on)
    if isinstance(frame, pd.Series):
        frame = frame.to_frame()
    if not is_frame(frame):
        kind = "sparse matrix" if scipy.sparse.issparse(table) else type(table).__name__
        raise TypeError(
            f"table {name!r} must be a frame, whose index or column tells the samples apart; got {kind}. "
            "Make a DataFrame of it, or pass tables with the same rows as a dict to fit."
        )
    return _set_ids(frame, f"table {name!r}", on)


def _with_exact_ids(table: Any, on: str | None) -> Any:
    """`table` as pandas; of other libraries, numbers become floats, which cannot tell long ids apart."""
    frame = as_pandas(table)
    if on is None or frame is table or not is_frame(frame) or on not in frame.columns:
        return frame
    return frame.assign(**{on: nw.from_native(table, eager_only=True)[on].to_list()})


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
    if isinstance(index, pd.MultiIndex):
        raise ValueError(
            f"{label} has ids of {index.nlevels} levels, {list(index.names)}; an id must be one text or "
            "number. Join the levels: frame.set_axis(['/'.join(map(str, row)) for row in frame.index])."
        )
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
        frame = _set_ids(_with_exact_ids(y, on), "y", on)
        if frame.shape[1] != 1:
            raise ValueError(
                f"y must have one column of targets beside the ids; got {list(frame.columns)}. Choose one, "
                "or give the name of the id column as on=. For several targets, or an event and a time, join "
                "the tables alone, X = join_views(tables), and pass y.loc[X.ids] to fit."
            )
        return frame.iloc[:, 0]
    return _set_ids(y.to_frame(), "y", None).iloc[:, 0].rename(y.name)


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
