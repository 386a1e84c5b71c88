"""What X may be: one table, or several tables of the same samples.

A table is a frame, an array, a sparse matrix or a list of objects. A :class:`MultiTable` holds a table for
each view, all with the same samples in the same rows. It has a shape and is indexed by rows, so that
estimators, scikit-learn's splitters and ``GridSearchCV`` treat it as any X. A sample that lacks a table has a
row without values there, which is what ``KernelBank(missing=...)`` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from multikernel._validation import is_frame
from multikernel._validation.missing import absent_rows
from multikernel.kernels.graphs import is_foreign_graph
from multikernel.rows.tables import count_rows, is_dask, join_rows, row_keys, take_rows
from multikernel.views.frames import as_pandas


def as_table(X: Any) -> Any:
    """`X` ready for taking columns: pandas frames and arrays as they are, CSR for sparse, arrays for lists.

    Frames of other libraries become pandas frames, dicts and lists of tables a `MultiTable`.
    """
    X = as_tables(X)
    if isinstance(X, MultiTable):
        return X
    if scipy.sparse.issparse(X):
        return X.tocsr()
    if hasattr(X, "iloc"):
        return X
    if hasattr(X, "__array__"):
        return np.asarray(X)
    if X is None or isinstance(X, (str, bytes)) or not isinstance(X, Sequence):
        raise TypeError(
            "X must be an array, a sparse matrix, a DataFrame, a dict of tables or a list of rows; got "
            f"{type(X).__name__}."
        )
    if len(X) and is_foreign_graph(X[0]):  # NumPy would look into it
        return list(X)
    try:
        values = np.asarray(X)
    except ValueError:  # rows of unequal length: objects for a kernel that understands them
        return list(X)
    if values.ndim != 2:
        return list(X)
    # NumPy makes texts of the numbers beside texts
    return np.array(X, dtype=object) if values.dtype.kind in "US" else values


def as_tables(X: Any) -> Any:
    """Frames of other libraries as pandas frames, several tables as one object; all else as it is."""
    if all(hasattr(X, part) for part in ("obs", "var", "obsm")):
        name = type(X).__name__
        raise TypeError(f"X is a {name}: make tables of it with from_{name.lower()}, of multikernel.views.")
    X = np.asarray(X) if isinstance(X, memoryview) else as_pandas(X)
    return MultiTable(X) if is_tables(X) and not isinstance(X, MultiTable) else X


def n_columns(X: Any) -> int | None:
    """Number of columns, or None where `X` is a list of objects."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return int(shape[1]) if len(shape) == 2 else None


def require_width(X: Any, expected: int | None, reader: str) -> None:
    """Refuse a table that has not as many columns as that of `fit`; None where that had none."""
    if expected is None:
        return
    if n_columns(X) is None:
        raise ValueError(
            f"X must be a table of {expected} columns, as in fit; got one dimension. Reshape your data with "
            "X.reshape(1, -1) if it is one sample, or X.reshape(-1, 1) if it is one feature."
        )
    if n_columns(X) != expected:
        raise ValueError(
            f"X has {n_columns(X)} features, but {reader} is expecting {expected} features as input."
        )


class MultiTable:
    """Several tables of the same samples, in the same order.

    Parameters
    ----------
    tables : dict of name -> table, or list of tables
        Each table is a frame, an array of shape (n_samples, n_features) or a sparse matrix; a list is named
        "table-0", "table-1", and so on.
    ids : array-like of shape (n_samples,), default=None
        Names of the samples. None takes the index of the frames, if they all have the same one that is not
        just a row count.

    Attributes
    ----------
    tables : dict of name -> table
    ids : pandas.Index or None
    shape : tuple of int
        Number of samples and number of columns of all tables.
    counts : DataFrame or None
        After :func:`join_views`, for each table the number of its samples, those of them that are here, and
        those that it lacks.

    Examples
    --------
    >>> X = MultiTable({"genes": np.eye(3), "clinic": pd.DataFrame({"age": [60, 71, 55]})})
    >>> X.shape, X[[0, 2]]["clinic"]["age"].tolist()
    ((3, 4), [60, 55])
    """

    def __init__(self, tables: Any, ids: Any = None) -> None:
        self.tables = _checked_tables(tables)
        self._sizes: pd.Series | None = None  # of the tables before a join
        self.has_gaps = False  # whether a join left samples that lack a table
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
    def counts(self) -> pd.DataFrame | None:
        """What a join says of each table: its samples, those that are here, and those that it lacks."""
        if self._sizes is None:
            return None
        kept = self.present.sum()
        return pd.DataFrame({"samples": self._sizes, "kept": kept, "lacks": len(self) - kept})

    @property
    def ndim(self) -> int:
        """Two: samples and columns."""
        return 2

    def note_join(self, ids_of: Mapping[str, pd.Index]) -> None:
        """Keep what a join says of the tables, from the ids that each had before."""
        assert self.ids is not None
        self._sizes = pd.Series({name: len(ids) for name, ids in ids_of.items()})
        self.has_gaps = any(not self.ids.isin(ids).all() for ids in ids_of.values())

    def with_tables(self, tables: Mapping[str, Any]) -> MultiTable:
        """Other tables of the same samples, by names among the present ones."""
        other = MultiTable(tables, ids=self.ids)
        other._sizes = None if self._sizes is None else self._sizes[list(tables)]
        other.has_gaps = self.has_gaps
        return other

    def __len__(self) -> int:
        return self.shape[0]

    def __contains__(self, name: Any) -> bool:
        return name in self.tables

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

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        """Refused, with the remedy: steps before a model ask for it."""
        raise ValueError(
            f"a MultiTable holds several tables, {self.names}, and is no array: only models that read tables "
            f"take it. Treat each table, such as X[{self.names[0]!r}], before join_views."
        )

    def take_rows(self, positions: Any) -> MultiTable:
        """The samples at some positions, or where a boolean mask is true (a Series by its ids)."""
        if not isinstance(positions, slice):
            positions = self._positions(positions)
        part = object.__new__(MultiTable)
        part.tables = {name: take_rows(table, positions) for name, table in self.tables.items()}
        part._sizes, part.has_gaps = self._sizes, self.has_gaps
        part.ids = None if self.ids is None else self.ids[positions]
        n = len(range(len(self))[positions]) if isinstance(positions, slice) else len(positions)
        part.shape = (n, self.shape[1])
        return part

    def _positions(self, rows: Any) -> np.ndarray:
        """Positions of rows that are given by positions or by a mask."""
        values = np.asarray(rows)
        if values.size == 0:
            return np.zeros(0, np.intp)
        if values.ndim != 1 or values.dtype.kind not in "biu":
            raise TypeError(
                "rows of a MultiTable are taken by their positions or by a boolean mask; got "
                f"{values.dtype} of shape {values.shape}. For ids, use X[X.ids.get_indexer(ids)]; for a "
                "table, its name."
            )
        if values.dtype != bool:
            wrong = values[(values < -len(self)) | (values >= len(self))]
            if wrong.size:
                raise IndexError(f"row {wrong[0]} is out of bounds for {len(self)} samples.")
            return values
        if isinstance(rows, pd.Series) and self.ids is not None and not isinstance(rows.index, pd.RangeIndex):
            if not rows.index.is_unique or not self.ids.isin(rows.index).all():
                raise ValueError("a mask with an index must name each of the samples once.")
            values = rows.reindex(self.ids).to_numpy(bool)
        if len(values) != len(self):
            raise ValueError(
                f"a mask must have one entry for each of the {len(self)} samples; got {len(values)}."
            )
        return np.flatnonzero(values)

    def join_rows(self, others: Sequence[MultiTable]) -> MultiTable:
        """These samples, and below them those of other objects with the same tables."""
        parts = [self, *others]
        joined = object.__new__(MultiTable)
        joined.tables = {name: join_rows([part.tables[name] for part in parts]) for name in self.tables}
        joined._sizes, joined.has_gaps = self._sizes, any(part.has_gaps for part in parts)
        joined.ids = None if self.ids is None else self.ids.append([part.ids for part in others])
        joined.shape = (sum(map(len, parts)), self.shape[1])
        return joined

    def distinct_codes(self) -> np.ndarray | None:
        """Which rows are equal in each table, (n, n_tables): equal numbers for equal rows.

        None where a table holds other things than numbers, whose rows count as distinct.
        """
        codes = []
        for table in self.tables.values():
            keys = None if isinstance(table, list) else row_keys(table)
            if keys is None:
                return None
            codes.append(np.unique(keys, return_inverse=True)[1])
        return np.column_stack(codes)

    def __repr__(self) -> str:
        lines = [f"MultiTable of {len(self)} samples:"]
        for name, table in self.tables.items():
            lines.append(f"  {name}: {n_columns(table) or 1} columns{self._said_of(name)}")
        return "\n".join(lines)

    def _said_of(self, name: str) -> str:
        counts = self.counts
        if counts is None:
            return ""
        row = counts.loc[name]
        dropped = row["samples"] - row["kept"]
        said = f"; {row['kept']} of its {row['samples']} samples"
        said += f", {dropped} left out" if dropped else ""
        return said + (f", lacks {row['lacks']}" if row["lacks"] else "")


def is_tables(X: Any) -> bool:
    """Whether X is several tables: a dict of them, a list of frames or of 2-D arrays, or a MultiTable."""
    if scipy.sparse.issparse(X):  # some of them are dicts
        return False
    if isinstance(X, (MultiTable, Mapping)):
        return True
    if not isinstance(X, (list, tuple)) or not any(map(_is_table, X)):
        return False
    return all(entry is None or _is_table(entry) for entry in X)  # None is refused in the words of tables


def _is_table(entry: Any) -> bool:
    return not isinstance(entry, (list, tuple)) and len(getattr(entry, "shape", ())) == 2


def named_tables(tables: Any) -> dict[str, Any]:
    """Tables by name, as they were given; those of a list are called "table-0", "table-1", and so on."""
    if isinstance(tables, MultiTable):
        return tables.tables
    if isinstance(tables, Mapping):
        named = dict(tables)
    elif isinstance(tables, Sequence) and not isinstance(tables, (str, bytes, memoryview)):
        named = {f"table-{position}": table for position, table in enumerate(tables)}
    else:
        raise TypeError(f"tables must be a dict or a list of tables; got {type(tables).__name__}.")
    if not named:
        raise ValueError("tables must hold at least one table; got none.")
    for name, table in named.items():
        if not isinstance(name, str) or not name:
            raise TypeError(
                f"the name of a table must be a non-empty string; got {name!r}. Use str() on the names."
            )
        if table is None:
            raise TypeError(
                f"table {name!r} is None. Leave it out of a dict of tables. Where only some samples lack it, "
                'join_views(tables, how="outer") marks them; KernelBank(kernels, missing="renormalize") fits '
                "them, and predicts without tables that are left out."
            )
    return named


def require_distinct_columns(table: Any, label: str) -> None:
    """Refuse a frame with several columns of one name."""
    if is_frame(table) and not table.columns.is_unique:
        twice = list(dict.fromkeys(table.columns[table.columns.duplicated()]))
        shown = ", ".join(map(repr, twice[:3])) + (" ..." if len(twice) > 3 else "")
        raise ValueError(
            f"{label} has several columns of one name, such as {shown}; make the names distinct."
        )


def _checked_tables(tables: Any) -> dict[str, Any]:
    """Tables by name, each as the kernels read it."""
    checked: dict[str, Any] = {}
    for name, table in named_tables(tables).items():
        if isinstance(table, pd.Series):
            table = table.to_frame()
        if is_dask(table):
            raise TypeError(
                f"table {name!r} is a dask {type(table).__name__}; several tables must be in this process. "
                "Load each with compute(), or join their columns to one dask dataframe, whose views name "
                "their columns."
            )
        if np.isscalar(table) or len(getattr(table, "shape", (0, 0))) > 2:
            raise TypeError(
                f"table {name!r} must be a frame, an array of shape (n, d), a sparse matrix or a list of "
                f"samples; got {type(table).__name__}."
            )
        checked[name] = as_table(table)
        require_distinct_columns(checked[name], f"table {name!r}")
        if n_columns(checked[name]) == 0:
            raise ValueError(f"table {name!r} has no columns. Leave it out, or give it one at least.")
    return checked


def _common_length(tables: Mapping[str, Any]) -> int:
    lengths = {name: count_rows(table) for name, table in tables.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            "all tables must have the same samples in the same rows; "
            + ", ".join(f"{name!r} has {n} rows" for name, n in lengths.items())
            + ". Align them with join_views(tables, y), which keeps the samples that all tables have; with "
            "how='outer' it also keeps samples that lack a table."
        )
    return next(iter(lengths.values()))


def _common_ids(tables: Mapping[str, Any]) -> pd.Index | None:
    """The index that the frames share; None where they only count rows. Others are misaligned."""
    indices = {name: table.index for name, table in tables.items() if is_frame(table)}
    counted = {name: index for name, index in indices.items() if isinstance(index, pd.RangeIndex)}
    _require_same(counted, tables)
    return _require_same({name: indices[name] for name in indices if name not in counted}, tables)


def _require_same(indices: Mapping[str, pd.Index], tables: Mapping[str, Any]) -> pd.Index | None:
    """The index that all have; refuse others. None of none."""
    first: tuple[str, pd.Index] | None = None
    for name, index in indices.items():
        if first is None:
            first = (name, index)
        elif not index.equals(first[1]):
            place = (
                int(np.flatnonzero(np.asarray(index != first[1]))[0]) if len(index) == len(first[1]) else 0
            )
            remedy = (
                "Align them with join_views(tables, y), or drop the index (reset_index(drop=True)) if the "
                "rows agree."
            )
            if is_gram_frame(tables[first[0]]) and is_gram_frame(tables[name]):
                remedy = (
                    "Of Gram matrices, reorder rows and columns by the same ids, as by K.loc[ids, ids], and "
                    'use kernels="precomputed".'
                )
            raise ValueError(
                f"tables {first[0]!r} and {name!r} have other samples in the same rows: row {place} is "
                f"{first[1][place]!r} in one and {index[place]!r} in the other. {remedy}"
            )
    return None if first is None else first[1]


def is_gram_frame(frame: pd.DataFrame) -> bool:
    """Whether the rows and the columns of a frame have the same labels, as those of a Gram matrix."""
    return frame.shape[0] == frame.shape[1] and bool(frame.columns.isin(frame.index).all())


def as_array(X: Any) -> Any:
    """A list of objects, such as graphs, as an array of them: scikit-learn would count parts of the first."""
    if not isinstance(X, list) or not isinstance(as_table(X), list):
        return X
    objects = np.empty(len(X), dtype=object)
    for place, entry in enumerate(X):
        objects[place] = entry
    return objects


def sample_ids(X: Any) -> list[str] | None:
    """The names of the samples: the ids of a MultiTable, or an index that is not just a row count."""
    ids = getattr(X, "ids", None)
    if ids is None:
        index = getattr(X, "index", None)
        ids = index if isinstance(index, pd.Index) else None
    if ids is None or isinstance(ids, pd.RangeIndex):
        return None
    if ids.dtype.kind in "iu" and np.array_equal(ids, np.arange(len(ids))):
        return None
    return [str(name) for name in ids]
