"""How the columns of a view become numbers of one size: standardized, ranked, or encoded before.

`Scaling` brings columns to mean 0 and standard deviation 1, `RankScaling` to their ranks, between 0 and 1.
`Encoding` goes before either where a table has categories or gaps: a category becomes one indicator column
for each of its values, a gap in a column of numbers the mean of the column and a mark. All are fitted on
training rows and have one method, ``rows``, which new rows go through too.
"""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from multikernel._numba import kept_njit, read_only
from multikernel._validation import RowError, all_finite, is_frame
from multikernel._validation.missing import missing_in
from multikernel.kernels._columns import columns_of, holds_numbers, names_of, numbers_of
from multikernel.kernels._rows import Rows

# A column that spreads by less than this share of its largest entry holds rounding and nothing else.
_ROUNDING = 10.0 * float(np.finfo(np.float64).eps)


_KNOTS = 256  # of the ranks of a column: the values of a column with more are thinned
_RANK_INDICATOR = 0.25  # two categories are apart by half of the range of a ranked column
_MOST_CATEGORIES = 100  # of a column, the most frequent; others have no indicator column
_SORTED_ENTRIES = 1 << 18  # of columns that are sorted side by side


def scale_rows(
    taken: Any, label: str, how: bool | str, *, encode: bool = False, one_column: bool = False
) -> tuple[Rows, AnyScaling | None]:
    """Training rows as a kernel reads them, and the scaling that new rows go through.

    Parameters
    ----------
    taken : table, the columns of a view
    label : str, what messages call them
    how : True, False or "rank"
        Standardized, as they are, or by rank.
    encode : bool, default=False
        Whether categories and gaps are encoded, here and in new rows; not of sparse tables.
    one_column : bool, default=False
        Whether a 1-D array is one column.
    """
    rows = Rows(taken, label, one_column=one_column)
    if not how:
        return rows, None
    if encode and not scipy.sparse.issparse(taken):
        encoding = Encoding.fit(rows, how)
        return encoding.rows(rows), encoding
    scaling = RankScaling.fit(rows.values) if how == "rank" else Scaling.fit(rows.values)
    return scaling.rows(rows), scaling


# --- mean 0 and standard deviation 1 -----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scaling:
    """x_j ↦ (x_j − mean_j) / scale_j, column by column; zeros of a sparse training table stay zeros.

    Everything is kept relative to `unit`, a power of two near the largest entry of the column, so that
    columns of any size neither overflow nor underflow, and the division by it is exact.

    Examples
    --------
    >>> scaling = Scaling.fit(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> scaling.mean, scaling.scale
    (array([2., 5.]), array([1., 1.]))
    >>> scaling.apply(np.array([[4.0, 7.0]]), "X")
    array([[2., 2.]])
    """

    unit: np.ndarray
    unit_mean: np.ndarray | None  # means / unit; None where the training table was sparse: it is not centred
    unit_scale: np.ndarray  # standard deviations / unit; of constant columns 1 / unit

    @classmethod
    def fit(cls, table: Any, indicators: np.ndarray | None = None) -> Scaling:
        """Measure the columns of a finite float64 table (n, d): an ndarray or a canonical CSR matrix.

        Columns that are `indicators`, by a mask (d,), are centred and not divided: a rare category would
        become a large number.
        """
        is_sparse = scipy.sparse.issparse(table)
        low, high = _column_extremes(table)
        peak = np.maximum(-low, high)
        # not below the normal numbers, so that its inverse is finite
        unit = np.ldexp(1.0, np.where(peak > 0.0, np.maximum(np.frexp(peak)[1] - 1, -1022), 0))
        with np.errstate(under="ignore", over="ignore"):
            mean, deviation = _sparse_moments(table, unit) if is_sparse else _dense_moments(table, unit)
            # what varies by rounding only must not be blown up, nor stand out where its entries are large
            still = np.where(low == high, 1.0, np.maximum(unit, 1.0)) / unit
        scale = np.where((low < high) & (deviation > _ROUNDING), deviation, still)
        if indicators is not None:
            scale = np.where(indicators, 1.0 / unit, scale)
        return cls(unit, None if is_sparse else mean, scale)

    @property
    def mean(self) -> np.ndarray:
        """What is subtracted, shape (d,): the means of the training columns, zeros for a sparse table."""
        return np.zeros_like(self.unit) if self.unit_mean is None else self.unit_mean * self.unit

    @property
    def scale(self) -> np.ndarray:
        """What is divided by, shape (d,): standard deviations, 1 for constant columns."""
        with np.errstate(under="ignore", over="ignore"):
            return np.asarray(self.unit_scale * self.unit)

    def apply(self, table: Any, label: str) -> Any:
        """The scaled columns as a new table, dense unless `table` is sparse and nothing is subtracted."""
        if table.shape[1] != len(self.unit):
            raise ValueError(
                f"{label} has {table.shape[1]} columns, but its training rows have {len(self.unit)}."
            )
        with np.errstate(under="ignore", over="ignore"):
            if scipy.sparse.issparse(table) and self.unit_mean is None:
                result = table.copy()
                result.data = result.data / self.unit[result.indices] / self.unit_scale[result.indices]
                numbers = result.data
            else:
                result = (table.toarray() if scipy.sparse.issparse(table) else table) / self.unit
                if self.unit_mean is not None:
                    result -= self.unit_mean
                result /= self.unit_scale
                numbers = result
        if not all_finite(numbers):
            raise ValueError(
                f"{label} holds values so far from the training rows that they overflow when they are "
                "standardised. Look for a change of units, or remove these rows."
            )
        return result

    def rows(self, rows: Rows) -> Rows:
        """The scaled columns of rows, with their label."""
        return Rows(self.apply(rows.values, rows.label), rows.label)


def _column_extremes(table: Any) -> tuple[np.ndarray, np.ndarray]:
    if scipy.sparse.issparse(table):
        return table.min(axis=0).toarray().ravel(), table.max(axis=0).toarray().ravel()
    return table.min(axis=0), table.max(axis=0)


def _dense_moments(table: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column of table / unit."""
    work = table / unit
    mean = work.mean(axis=0)
    work -= mean
    rest = work.mean(axis=0)  # rounding of the first mean, which a column far from 0 would show
    work -= rest
    return mean + rest, np.sqrt(np.einsum("ij,ij->j", work, work) / len(work))


def _sparse_moments(table: Any, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same for a CSR matrix; its zeros count."""
    n, d = table.shape
    columns = table.indices
    entries = table.data / unit[columns]
    mean = np.bincount(columns, entries, minlength=d) / n
    squares = np.bincount(columns, (entries - mean[columns]) ** 2, minlength=d)
    n_zeros = n - np.bincount(columns, minlength=d)
    return mean, np.sqrt((squares + n_zeros * mean**2) / n)


# --- ranks -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RankScaling:
    """x_j ↦ the share of the training rows below x_j, those with the same value counted half.

    Between two values of the training rows ranks are interpolated, beyond them they are those of the ends. Of
    a column with more than 256 different values, 256 that are evenly spaced in rank are kept. Sparse columns
    are moved so that zeros stay zeros: distances do not change.

    Examples
    --------
    >>> scaling = RankScaling.fit(np.array([[1.0], [10.0], [10.0], [1000.0]]))
    >>> scaling.apply(np.array([[1.0], [10.0], [505.0], [1e6]]), "X").ravel()
    array([0.125 , 0.5   , 0.6875, 0.875 ])
    """

    starts: np.ndarray  # where the values of each column begin among `points` and `ranks`; (d + 1,)
    points: np.ndarray
    ranks: np.ndarray
    indicators: np.ndarray | None = None  # mask of the columns that are multiplied instead
    keeps_zeros: bool = False  # where the training table was sparse

    @classmethod
    def fit(cls, table: Any, indicators: np.ndarray | None = None) -> RankScaling:
        """Measure the columns of a finite float64 table (n, d): an ndarray or a canonical CSR matrix."""
        is_sparse = scipy.sparse.issparse(table)
        found = _sparse_ranks(table) if is_sparse else _dense_ranks(table)
        points, ranks = [], []
        for j, (values, middle) in enumerate(found):
            if indicators is not None and indicators[j]:
                values = middle = np.empty(0)
            elif values.size > _KNOTS:
                kept = np.unique(np.searchsorted(middle, np.linspace(middle[0], middle[-1], _KNOTS)))
                values, middle = values[kept], middle[kept]
            points.append(values)
            ranks.append(middle)
        starts = np.concatenate([[0], np.cumsum([len(p) for p in points])]).astype(np.intp)
        return cls(starts, np.concatenate(points), np.concatenate(ranks), indicators, is_sparse)

    def apply(self, table: Any, label: str) -> Any:
        """The ranks as a new table, dense unless `table` is sparse and zeros stay zeros."""
        if table.shape[1] != len(self.starts) - 1:
            raise ValueError(
                f"{label} has {table.shape[1]} columns, but its training rows have {len(self.starts) - 1}."
            )
        if scipy.sparse.issparse(table) and not self.keeps_zeros:
            table = table.toarray()
        if scipy.sparse.issparse(table):
            columns = table.tocsc(copy=True)
            for j in range(table.shape[1]):
                own = slice(columns.indptr[j], columns.indptr[j + 1])
                columns.data[own] = self._of_column(j, columns.data[own])
            result = columns.tocsr()
            result.eliminate_zeros()
            result.sort_indices()
            return result
        result = np.empty(table.shape)
        _interpolate(read_only(table), self.starts, self.points, self.ranks, result)
        if self.indicators is not None:
            result[:, self.indicators] = _RANK_INDICATOR * table[:, self.indicators]
        return result

    def _of_column(self, j: int, values: np.ndarray) -> np.ndarray:
        if self.indicators is not None and self.indicators[j]:
            return _RANK_INDICATOR * values
        own = slice(self.starts[j], self.starts[j + 1])
        return np.interp(values, self.points[own], self.ranks[own])

    def rows(self, rows: Rows) -> Rows:
        """The ranks of rows, with their label."""
        return Rows(self.apply(rows.values, rows.label), rows.label)


def _dense_ranks(table: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The different values of each column in rising order, and their ranks."""
    n, d = table.shape
    step = max(1, _SORTED_ENTRIES // n)
    for begin in range(0, d, step):
        columns = np.sort(np.ascontiguousarray(table[:, begin : begin + step].T), axis=1)
        is_first = np.ones(columns.shape, dtype=bool)
        np.not_equal(columns[:, 1:], columns[:, :-1], out=is_first[:, 1:])
        firsts = np.flatnonzero(is_first)
        counts = np.diff(firsts, append=columns.size)
        middles = (firsts % n + counts - 0.5 * counts) / n
        values = columns.ravel()[firsts]
        ends = np.searchsorted(firsts, n * np.arange(len(columns) + 1))
        for first, last in itertools.pairwise(ends.tolist()):
            yield values[first:last], middles[first:last]


def _sparse_ranks(table: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The same of a CSR matrix, the rank of zero being 0."""
    n, d = table.shape
    columns = table.tocsc()
    for j in range(d):
        stored = columns.data[columns.indptr[j] : columns.indptr[j + 1]]
        values, counts = np.unique(stored, return_counts=True)
        values, counts = _with_zeros(values, counts, n - stored.size)
        middle = (np.cumsum(counts) - 0.5 * counts) / n
        yield values, middle - np.interp(0.0, values, middle)


@kept_njit(error_model="numpy", nogil=True)
def _interpolate(table, starts, points, ranks, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Ranks of the entries of each column, as numpy.interp has them; columns without values are left out."""
    n, d = table.shape
    for begin in range(0, d, 8):  # neighbors share the cache lines of a row
        for j in range(begin, min(begin + 8, d)):
            first, last = starts[j], starts[j + 1] - 1
            if last < first:
                continue
            for i in range(n):
                x = table[i, j]
                low, size = first, last + 1 - first
                while size > 1:  # the last value that is not above x
                    half = size >> 1
                    low += half * (points[low + half] <= x)
                    size -= half
                if low == last or x <= points[low]:
                    out[i, j] = ranks[low]
                    continue
                slope = (ranks[low + 1] - ranks[low]) / (points[low + 1] - points[low])
                value = slope * (x - points[low]) + ranks[low]
                if np.isnan(value):  # x − points[low] overflows
                    value = slope * (x - points[low + 1]) + ranks[low + 1]
                out[i, j] = value


def _with_zeros(values: np.ndarray, counts: np.ndarray, n_zeros: int) -> tuple[np.ndarray, np.ndarray]:
    """Values in rising order and how often they are there, with zeros that are not stored."""
    if n_zeros == 0:
        return values, counts
    place = int(np.searchsorted(values, 0.0))
    if place < values.size and values[place] == 0.0:
        counts = counts.copy()
        counts[place] += n_zeros
        return values, counts
    return np.insert(values, place, 0.0), np.insert(counts, place, n_zeros)


# --- categories and gaps -----------------------------------------------------------------------


@dataclass(frozen=True)
class EncodedColumn:
    """How a column is encoded: a number with a mark for gaps, or an indicator for each category.

    Attributes
    ----------
    fill : float or None
        The mean, which takes the place of gaps; None for a column of categories.
    has_gaps : bool
        Whether training rows have gaps in a column of numbers, so that two columns mark them.
    categories : tuple
        Those with an indicator column; None among them is a missing one.
    """

    fill: float | None
    has_gaps: bool = False
    categories: tuple[Any, ...] = ()

    @property
    def width(self) -> int:
        """How many columns it becomes."""
        return len(self.categories) if self.fill is None else 1 + 2 * self.has_gaps

    def encode(self, column: np.ndarray, label: str) -> np.ndarray:
        """The columns that it becomes, (n, width)."""
        out = np.zeros((len(column), self.width))
        missing = missing_in(column)
        if self.fill is not None:
            values = numbers_of(column, label)
            out[:, 0] = np.where(missing, self.fill, values)
            if self.has_gaps:
                out[:, 1], out[:, 2] = missing, ~missing
            return out
        places = {category: place for place, category in enumerate(self.categories)}
        for row, category in enumerate(_hashable(column, missing, label)):
            if category in places:
                out[row, places[category]] = 1.0
        return out


@dataclass(frozen=True, eq=False)
class Encoding:
    """Columns of numbers, categories and gaps as columns of numbers, which are scaled.

    Two categories are as far apart as two typical numbers: the indicator columns are not divided by their
    standard deviations.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [40.0, None, 60.0, 50.0], "sex": ["f", "m", "f", "m"]})
    >>> encoding = Encoding.fit(Rows(frame), "rank")
    >>> encoding.rows(Rows(frame)).values.round(2)
    array([[0.12, 0.  , 0.25, 0.25, 0.  ],
           [0.5 , 0.25, 0.  , 0.  , 0.25],
           [0.88, 0.  , 0.25, 0.25, 0.  ],
           [0.5 , 0.  , 0.25, 0.  , 0.25]])
    """

    columns: tuple[EncodedColumn, ...]
    scaling: Scaling | RankScaling

    @property
    def is_plain(self) -> bool:
        """Whether the training rows have numbers alone, without gaps."""
        return all(column.fill is not None and not column.has_gaps for column in self.columns)

    @classmethod
    def fit(cls, rows: Rows, how: bool | str) -> Encoding:
        """Measure the columns of training rows; `how` is True or "rank", as for `scale_rows`."""
        kind = RankScaling if how == "rank" else Scaling
        if not _needs_encoding(rows.raw):
            means = rows.values.mean(axis=0).tolist()
            return cls(tuple(EncodedColumn(mean) for mean in means), kind.fit(rows.values))
        given = zip(columns_of(rows), _labels(rows), strict=True)
        columns = tuple(_learn_column(column, label) for column, label in given)
        if sum(column.width for column in columns) == 0:
            raise ValueError(
                f"{rows.label} has no column with a number, or with a category that occurs twice, in the "
                "training rows. Check the columns of X: identifiers tell nothing about other samples, and "
                "numbers of other types are to be converted by astype(float)."
            )
        indicators = np.concatenate(
            [np.arange(column.width) >= (0 if column.fill is None else 1) for column in columns]
        )
        return cls(columns, kind.fit(_encoded(rows, columns), indicators))

    def rows(self, rows: Rows) -> Rows:
        """The encoded and scaled columns of rows, with their label."""
        if self.is_plain and not _needs_encoding(rows.raw):
            return self.scaling.rows(rows)
        return Rows(self.scaling.apply(_encoded(rows, self.columns), rows.label), rows.label)


AnyScaling = Scaling | RankScaling | Encoding


def _needs_encoding(taken: Any) -> bool:
    """Whether a frame has columns of anything but numbers, or a table gaps."""
    if scipy.sparse.issparse(taken):
        return False
    if is_frame(taken):
        plain = all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in taken.dtypes)
        return not plain or bool(np.isnan(taken.to_numpy(np.float64)).any())
    if hasattr(taken, "iloc"):  # one column of a frame
        return _needs_encoding(taken.to_frame())
    values = taken if isinstance(taken, np.ndarray) else np.asarray(taken)
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


def _labels(rows: Rows) -> list[str]:
    names = names_of(rows) or range(len(columns_of(rows)))
    return [f"column {name!r} of {rows.label}" for name in names]


def _encoded(rows: Rows, columns: tuple[EncodedColumn, ...]) -> np.ndarray:
    given = columns_of(rows)
    if len(given) != len(columns):
        raise ValueError(f"{rows.label} has {len(given)} columns, but its training rows have {len(columns)}.")
    parts = [
        column.encode(_as_stored(entries), label)
        for column, entries, label in zip(columns, given, _labels(rows), strict=True)
    ]
    return np.ascontiguousarray(np.column_stack(parts))


def _learn_column(column: np.ndarray, label: str) -> EncodedColumn:
    column = _as_stored(column)
    missing = missing_in(column)
    if missing.all():
        return EncodedColumn(None)
    if holds_numbers(column, label):
        values = numbers_of(column, label)[~missing]
        return EncodedColumn(float(values.mean()), bool(missing.any()))
    counts = Counter(_hashable(column, missing, label))
    if len(counts) == 1:  # nothing to tell apart
        return EncodedColumn(None)
    # what occurs once says nothing of other rows; the order of the rows must not matter
    frequent = sorted(
        (name for name, count in counts.items() if count > 1), key=lambda name: (-counts[name], str(name))
    )
    return EncodedColumn(None, categories=tuple(frequent[:_MOST_CATEGORIES]))


def _as_stored(column: np.ndarray) -> np.ndarray:
    """Logical values as 0 and 1, dates and times as numbers of days, all else as it is."""
    if column.dtype.kind == "O":
        column = _as_dates(column)
    if column.dtype.kind not in "mM":
        return column.astype(np.float64) if column.dtype.kind == "b" else column
    missing = np.isnat(column)
    unit = np.timedelta64(1, "s")
    since = column - np.datetime64(0, "s") if column.dtype.kind == "M" else column
    return np.where(missing, np.nan, (since / unit) / 86400.0)


def _as_dates(column: np.ndarray) -> np.ndarray:
    """Objects that are all dates, such as those with a time zone, as NumPy's dates; others as they are."""
    present = column[~missing_in(column)]
    if not present.size or not all(isinstance(entry, datetime.date) for entry in present):
        return column
    return np.asarray(pd.to_datetime(pd.Series(column), utc=True).dt.tz_localize(None), "datetime64[ns]")


def _hashable(column: np.ndarray, missing: np.ndarray, label: str) -> list[Any]:
    """The entries as categories, None where they are missing; what is no text or number as a text."""
    entries = [None if gone else entry for entry, gone in zip(column.tolist(), missing, strict=True)]
    for row, entry in enumerate(entries):
        try:
            hash(entry)
        except TypeError:
            raise RowError(
                f"{label} must hold numbers or categories, which can be compared; it holds an object of type "
                f"{type(entry).__name__} at row",
                row,
                ". Give texts or numbers, or a view with a kernel that reads such objects.",
            ) from None
    plain = (str, int, float, type(None))
    return [entry if isinstance(entry, plain) else str(entry) for entry in entries]
