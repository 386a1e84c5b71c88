"""From a table of pairs to the distinct objects of each side, and the cells that a solver sees."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import RowError, split_pairs
from ..rows.tables import count_rows, distinct_rows, join_rows, take_rows
from ..solvers.pairs import Cells

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Objects:
    """The distinct objects of one side, and the row of X in which each comes first."""

    table: Any
    rows: Array
    side: str

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Errors about an object speak of its row in the caller's table."""
        try:
            yield
        except RowError as error:
            raise error.in_row(int(self.rows[error.row]), f"{self.side} objects: ") from None


@dataclass(frozen=True)
class Pairs:
    """Pairs as positions of their objects.

    Attributes
    ----------
    left, right : Objects
        One and the same where both objects are from one set.
    rows, columns : array (n_pairs,) of int, the left and the right object of each pair
    """

    left: Objects
    right: Objects
    rows: Array
    columns: Array


def pairs_of(X: Any, split: Any, *, one_set: bool, same_columns: bool = False) -> Pairs:
    """Find the distinct objects of a table of pairs.

    ``one_set``: whether both sides are one set of objects; their columns then have the names of the left
    ones, as with ``same_columns``.
    """
    left, right = split_pairs(X, split, "X")
    n = count_rows(left)
    if (one_set or same_columns) and left.shape[1] != right.shape[1]:
        raise ValueError(
            'form="symmetric" needs as many columns for the one object as for the other; got '
            f"{left.shape[1]} and {right.shape[1]}."
        )
    if (one_set or same_columns) and hasattr(right, "iloc"):
        right = right.set_axis(left.columns, axis=1)
    if not one_set:
        first, rows = distinct_rows(left)
        second, columns = distinct_rows(right)
        sides = (
            Objects(take_rows(left, first), first, "left"),
            Objects(take_rows(right, second), second, "right"),
        )
        return Pairs(*sides, rows, columns)
    both = join_rows([left, right])
    first, codes = distinct_rows(both)
    objects = Objects(take_rows(both, first), first % n, "all")
    return Pairs(objects, objects, codes[:n], codes[n:])


def cells_of(pairs: Pairs, y: Array, weights: Array, *, one_set: bool) -> tuple[Cells, float]:
    """The cells of the pairs, repeated pairs merged, and the squared errors that no prediction can avoid.

    Equal pairs are one with the sum of their weights and the mean of their values. Where both objects are
    from one set, the problem with κ(a, c) κ(b, d) + κ(a, d) κ(b, c) is half of the one with the product of
    both sides on each pair in both orders, a pair of an object with itself counted twice.
    """
    shape = count_rows(pairs.left.table), count_rows(pairs.right.table)
    rows, columns = pairs.rows, pairs.columns
    if one_set:
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    codes, merged = np.unique(rows.astype(np.int64) * shape[1] + columns, return_inverse=True)
    sums = np.bincount(merged, weights)
    means = np.bincount(merged, weights * y) / sums
    lost = float(weights @ (y - means[merged]) ** 2)
    rows, columns = np.divmod(codes, shape[1])
    if one_set:
        other = np.flatnonzero(rows != columns)
        doubled = np.where(rows == columns, 2.0, 1.0) * sums
        rows, columns = np.append(rows, columns[other]), np.append(columns, rows[other])
        means, sums = np.append(means, means[other]), np.append(doubled, doubled[other])
    return Cells(rows, columns, means, sums, shape), lost
