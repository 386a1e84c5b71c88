"""Kernels of tables with categories: all columns categories (`Hamming`), or also numbers, gaps (`Mixed`)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multikernel._validation import RowError, as_list, check_choice, check_number
from multikernel._validation.missing import missing_in
from multikernel.kernels._columns import codes_of, columns_of, holds_numbers, names_of, numbers_of
from multikernel.kernels._rows import Pair, Rows, direct_distances, row_blocks, same_width
from multikernel.kernels.base import Kernel, checked

_SCALES = ("range", "std")
_MOST_ATOMS = 128  # values that stand for a column of numbers where one is missing


@dataclass(frozen=True, repr=False)
class Hamming(Kernel):
    """k(x, z) = (1 / d) Σ [x_j = z_j], the share of the d columns in which two rows are equal.

    With `gamma`, k(x, z) = exp(−gamma (1 − share)), which falls faster as rows differ in more columns. Both
    are positive semidefinite: [x_j = z_j] is the product of two indicators of categories, and the exponential
    of a kernel is one. Categories that no training row has are like any other.

    Parameters
    ----------
    gamma : float or None, default=None

    Examples
    --------
    >>> Hamming()([["a", "x"], ["a", "y"]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    >>> Hamming(gamma=2.0)([["a", "x"], ["a", "y"]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])

    Notes
    -----
    Columns may hold texts, objects that can be compared, whole numbers or logical values. Entries that are
    missing are refused: :class:`Mixed` reads them.
    """

    gamma: float | None = checked(None, check_number, above=0.0)
    _reads_numbers = False
    _reads_categories = True
    _reads_strings = True

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        left, right = pair.both(_entries)
        same_width((len(left), pair.left.label), (len(right), pair.right.label))
        known: list[dict[Hashable, int]] = [{} for _ in right]
        columns = _coded(right, known, pair.right)
        rows = columns if pair.symmetric else _coded(left, known, pair.left)
        direct_distances("hamming", rows, columns, out)
        for block in row_blocks(*out.shape):
            values = out[block]
            if self.gamma is None:
                np.subtract(1.0, values, out=values)
            else:
                values *= -self.gamma
                np.exp(values, out=values)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        entries = _entries(rows)
        _coded(entries, [{} for _ in entries], rows)
        return np.ones(len(entries[0]))


def _entries(rows: Rows) -> list[np.ndarray]:
    columns = columns_of(rows)
    for place, column in enumerate(columns):
        missing = missing_in(column)
        if missing.any():
            raise RowError(
                f"Hamming needs a category everywhere; column {place} of {rows.label} is missing at row",
                int(np.flatnonzero(missing)[0]),
                ". Use Mixed(), which reads gaps, or fill them with a category of their own.",
            )
    return columns


def _coded(columns: list[np.ndarray], known: list[dict[Hashable, int]], rows: Rows) -> np.ndarray:
    """Numbers for the categories, a table (n, d)."""
    coded = [
        codes_of(column.tolist(), names, f"column {place} of {rows.label}")
        for place, (column, names) in enumerate(zip(columns, known, strict=True))
    ]
    return np.ascontiguousarray(np.column_stack(coded))


@dataclass(frozen=True)
class MixedColumn:
    """What `Mixed` keeps of a column of the training rows: κ, and the mean of φ over them.

    Attributes
    ----------
    kind : {"range", "std", "category"}
        κ(x, z) = max(0, 1 − |x − z| / width), exp(−((x − z) / width)² / 2), or [x = z]; the first two are
        [x = z] where the width is 0.
    width : float
    categories : tuple
        In the order of their numbers; empty for a column of numbers.
    atoms : tuple of float
        Values of the training rows, or numbers of categories, evenly spaced in rank where there are many.
    shares : tuple of float
        How much of the mean each of them makes up; they sum to 1.
    """

    kind: str
    width: float
    categories: tuple[Any, ...]
    atoms: tuple[float, ...]
    shares: tuple[float, ...]

    def similarities(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """κ of all pairs, (n, n_z); NaN where a number is missing."""
        if self.kind == "category" or self.width == 0.0:
            return np.equal.outer(x, z).astype(np.float64)
        gaps = np.subtract.outer(x, z)
        np.abs(gaps, out=gaps)
        gaps /= self.width
        if self.kind == "range":
            np.subtract(1.0, gaps, out=gaps)
            return np.maximum(gaps, 0.0, out=gaps)
        gaps *= gaps
        gaps *= -0.5
        return np.asarray(np.exp(gaps, out=gaps))

    def to_missing(self, x: np.ndarray) -> np.ndarray:
        """κ of each value with a missing one: its mean over the training rows."""
        if self.kind == "category":
            shares = np.append(self.shares, 0.0)  # of a category that no training row has
            known = np.where(np.isnan(x), len(self.shares), np.minimum(x, len(self.shares)))
            return np.asarray(shares[known.astype(np.intp)])
        means = np.empty(len(x))
        for block in row_blocks(len(x), max(len(self.atoms), 1)):
            means[block] = (self.similarities(x[block], np.array(self.atoms)) * self.shares).sum(axis=1)
        return means

    @property
    def of_missing(self) -> float:
        """κ of a missing value with another."""
        atoms = np.array(self.atoms)
        return float((self.to_missing(atoms) * self.shares).sum()) if len(atoms) else 0.0


@dataclass(frozen=True, repr=False)
class Mixed(Kernel):
    """k(x, z) = (1 / d) Σ_j κ_j(x_j, z_j), for d columns of numbers, categories and logical values with gaps.

    κ_j of two numbers is max(0, 1 − |x − z| / range), or exp(−((x − z) / std)² / 2), with the range or the
    standard deviation of the column in the training rows; of two categories or logical values it is
    [x = z]. A missing value (NaN, None, NA) counts as the mean of the training rows in the feature space of
    its column: κ_j(missing, z) is the mean of κ_j(u, z) over them, κ_j(missing, missing) that of κ_j(u, v).

    It is positive semidefinite, gaps or not: each κ_j is ⟨φ_j(x), φ_j(z)⟩ on the values, a missing one is the
    fixed vector Σ_u φ_j(u) / n, and sums of kernels are kernels. (The mean over the columns that both rows
    have, as in Gower's similarity, is not.)

    Parameters
    ----------
    scale : {"range", "std"}, default="range"
        By what differences of numbers are measured. A column that is constant in the training rows is
        compared as a category.
    categorical : str, int, or sequence of either, default=None
        Columns of numbers that are categories, such as codes, by name or by their position among the columns
        of the kernel. Texts, objects, logical values and pandas' categories are categories always.

    Examples
    --------
    >>> import pandas as pd
    >>> patients = pd.DataFrame({"age": [40.0, 60.0, None], "sex": ["f", "m", "f"]})
    >>> Mixed().fit(patients)(patients).round(3)
    array([[1.  , 0.  , 0.75],
           [0.  , 1.  , 0.25],
           [0.75, 0.25, 0.75]])

    Notes
    -----
    The mean of a column with more than 128 different numbers is taken over 128 of them, evenly spaced in
    rank. Categories that no training row has are equal to themselves alone. A column of which nothing is
    known in the training rows adds nothing.

    References
    ----------
    Daemen & De Moor, "Development of a kernel function for clinical data", IEEE EMBC 2009 (without gaps).
    """

    scale: str = "range"
    categorical: Any = None
    _columns: tuple[MixedColumn, ...] | None = field(default=None, init=False, repr=False)
    _accepts_missing = True
    _reads_numbers = False
    _reads_categories = True
    _reads_strings = True

    def __post_init__(self) -> None:
        check_choice("Mixed scale", self.scale, _SCALES)
        given = self.categorical
        if given is None:
            return
        one = isinstance(given, (str, int, np.integer))
        listed = (given,) if one else tuple(as_list("Mixed categorical", given, "names or positions"))
        for entry in listed:
            if isinstance(entry, bool) or not isinstance(entry, (str, int, np.integer)):
                raise TypeError(f"Mixed categorical must hold names or positions of columns; got {entry!r}.")
        object.__setattr__(self, "categorical", listed)

    @property
    def is_fitted(self) -> bool:
        return self._columns is not None

    def _resolve(self, rows: Rows) -> Kernel:
        if self.is_fitted:
            return self
        columns = columns_of(rows)
        chosen = self._positions(rows, len(columns))
        learned = [
            _learn_category(column, _name(rows, place))
            if place in chosen or not holds_numbers(column, _name(rows, place))
            else _learn_number(column, self.scale, _name(rows, place))
            for place, column in enumerate(columns)
        ]
        fitted = Mixed(self.scale, self.categorical)
        object.__setattr__(fitted, "_columns", tuple(learned))
        return fitted

    def _positions(self, rows: Rows, d: int) -> set[int]:
        """Where the columns stand that are said to be categories."""
        names = names_of(rows) or []
        found = set()
        for entry in self.categorical or ():
            if entry in names:
                found.add(names.index(entry))
            elif isinstance(entry, (int, np.integer)) and -d <= entry < d:
                found.add(int(entry) % d)
            else:
                known = names if names else f"positions 0 to {d - 1}"
                raise ValueError(f"Mixed categorical names {entry!r}; {rows.label} has {known}.")
        return found

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        assert self._columns is not None
        known: list[dict[Hashable, int]] = [
            {entry: code for code, entry in enumerate(column.categories)} for column in self._columns
        ]
        left, right = pair.both(lambda rows: self._read(rows, known))
        means = [
            (column.to_missing(x), column.to_missing(z), column.of_missing)
            for column, x, z in zip(self._columns, left, right, strict=True)
        ]
        for block in row_blocks(*out.shape):
            total = np.zeros(out[block].shape)
            for column, x, z, (of_x, of_z, of_both) in zip(self._columns, left, right, means, strict=True):
                part = column.similarities(x[block], z)
                gone = np.isnan(x[block])
                part[gone] = of_z
                part[:, np.isnan(z)] = of_x[block, None]
                part[np.ix_(gone, np.isnan(z))] = of_both
                total += part
            out[block] = total / len(self._columns)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        assert self._columns is not None
        values = self._read(rows, [{} for _ in self._columns])
        parts = [
            np.where(np.isnan(x), column.of_missing, 1.0)
            for column, x in zip(self._columns, values, strict=True)
        ]
        return np.asarray(np.sum(parts, axis=0) / len(parts))

    def _read(self, rows: Rows, known: list[dict[Hashable, int]]) -> list[np.ndarray]:
        """Numbers and numbers of categories of each column, NaN where they are missing."""
        assert self._columns is not None
        columns = columns_of(rows)
        same_width((len(columns), rows.label), (len(self._columns), "the training table"))
        return [
            _codes(entries, names, _name(rows, place))
            if column.kind == "category"
            else numbers_of(entries, _name(rows, place))
            for place, (column, entries, names) in enumerate(zip(self._columns, columns, known, strict=True))
        ]


def _name(rows: Rows, place: int) -> str:
    names = names_of(rows)
    return f"column {place if names is None else repr(names[place])} of {rows.label}"


def _learn_number(column: np.ndarray, scale: str, label: str) -> MixedColumn:
    values = numbers_of(column, label)
    values = np.sort(values[~np.isnan(values)])
    if not len(values):
        return MixedColumn(scale, 0.0, (), (), ())
    width = float(np.ptp(values) if scale == "range" else np.std(values))
    atoms, counts = np.unique(values, return_counts=True)
    if len(atoms) > _MOST_ATOMS:  # the middle of each of so many parts of the sorted values
        middles = (np.arange(_MOST_ATOMS) + 0.5) * len(values) / _MOST_ATOMS
        atoms, counts = values[middles.astype(np.intp)], np.ones(_MOST_ATOMS, dtype=counts.dtype)
    shares = counts / counts.sum()
    return MixedColumn(scale, width, (), tuple(atoms.tolist()), tuple(shares.tolist()))


def _learn_category(column: np.ndarray, label: str) -> MixedColumn:
    known: dict[Hashable, int] = {}
    codes = _codes(column, known, label)
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(known))
    shares = counts / max(int(counts.sum()), 1)
    atoms = tuple(float(code) for code in range(len(known)))
    return MixedColumn("category", 0.0, tuple(known), atoms, tuple(shares.tolist()))


def _codes(column: np.ndarray, known: dict[Hashable, int], label: str) -> np.ndarray:
    missing = missing_in(column)
    codes = np.full(len(column), np.nan)
    codes[~missing] = codes_of(column[~missing].tolist(), known, label)
    return codes
