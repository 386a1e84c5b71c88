"""Pairs drawn from a matrix of interactions, and their splits for cross-validation.

All positives are taken, and a given number of negatives is drawn at random. Splits say which objects of a
test pair were seen in training (Park & Marcotte 2012): a random split of pairs tests on new pairs of known
objects. What is often wanted is more: predictions for a new drug, a new target, or both. Then all pairs of
some objects have to be held out together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import scipy.sparse

from .._typing import Array
from .._validation import (
    as_generator,
    check_choice,
    check_flag,
    check_number,
    check_positive_integer,
    check_seed,
    check_split,
    split_pairs,
)
from ..rows.tables import distinct_rows, join_rows

HOLD_OUTS = ("pairs", "left", "right", "both")
SYMMETRIC_HOLD_OUTS = ("pairs", "one", "both")


def sample_pairs(
    Y: Any, n_negative: int | float | None = 1.0, *, symmetric: bool = False, random_state: Any = 0
) -> tuple[Array, Array]:
    """Return the pairs that interact and a sample of those that do not, with their labels.

    Support vector machines need few pairs, and nearly all entries of an interaction matrix are zeros.

    Parameters
    ----------
    Y : array-like, DataFrame or sparse matrix of shape (n_left, n_right)
        1 where a left and a right object interact, 0 where they do not (of a sparse matrix, also what it does
        not store), NaN where it is not known: such pairs are never returned.
    n_negative : int, float or None, default=1.0
        Number of pairs of label 0 (int), number for each positive (float), or all (None). Where
        there are fewer, they are all returned.
    symmetric : bool, default=False
        Whether both objects are from one set: Y is then symmetric, each unordered pair i < j is one, and the
        diagonal is not read.
    random_state : int, numpy.random.Generator or None, default=0
        None draws others in each call.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2) of int
        Positions of the left and of the right object, in the order of the matrix.
    labels : ndarray of shape (n_pairs,) of int
        0 and 1.

    Examples
    --------
    >>> pairs, labels = sample_pairs([[1, 0, 0, 0], [0, 0, 1, 0]], n_negative=3)
    >>> pairs[labels == 1].tolist(), int((labels == 0).sum())
    ([[0, 0], [1, 2]], 3)
    """
    known, values = _cells(Y, symmetric)
    n_left, n_right = Y.shape if hasattr(Y, "shape") else np.shape(Y)
    total = n_left * (n_left - 1) // 2 if symmetric else n_left * n_right
    positive = known[values == 1.0]
    if not positive.size:
        raise ValueError("Y must hold at least one interaction, an entry of 1; got none.")
    taken = known[values != 0.0]  # neither what interacts nor what is not known is a negative
    n_free = total - taken.size
    n_drawn = min(_number(n_negative, positive.size), n_free) if n_negative is not None else n_free
    rng = as_generator(random_state)
    ranks = np.sort(rng.choice(n_free, n_drawn, replace=False)) if n_drawn < n_free else np.arange(n_free)
    # the r-th free cell is r plus the taken cells before it
    negative = ranks + np.searchsorted(taken - np.arange(taken.size), ranks, side="right")
    cells = np.concatenate([positive, negative])
    order = np.argsort(cells)
    labels = np.repeat([1, 0], [positive.size, negative.size])[order]
    return _places(cells[order], n_left, n_right, symmetric), labels


@dataclass
class PairSplit:
    """Folds of pairs by what is new in a test pair: the pair, its left object, its right object, or both.

    ========  =====================================  ====================================  ======
    hold_out  a test pair                            training pairs                        splits
    ========  =====================================  ====================================  ======
    "pairs"   is new; its objects may be known       all others                            k
    "left"    has a left object of the fold          those of other left objects           k
    "right"   has a right object of the fold         those of other right objects          k
    "both"    has both its objects in the two folds  those with neither object in them     k²
    "one"     has one object in the fold, not two    those with no object in it            k
    ========  =====================================  ====================================  ======

    with k = ``n_splits`` folds of pairs or of objects. "one" is for symmetric pairs, where it takes the place
    of "left" and "right"; their "both" has k (k + 1) / 2 splits. With "both" and "one", some pairs are in
    neither part. A split without test pairs or without training pairs is left out.

    Parameters
    ----------
    n_splits : int, default=5
        k, 2 at least.
    hold_out : {"pairs", "left", "right", "both", "one"}, default="pairs"
    symmetric : bool, default=False
        Whether both objects of a pair are from one set, so that (a, b) is the same pair as (b, a).
    columns : None, int or two lists of columns, default=None
        Which columns hold the left object, as ``split`` of :class:`~multikernel.kernels.Kronecker`. Objects
        are identified by the values of their columns: positions, names or features.
    random_state : int or None, default=None
        Shuffles pairs or objects; None is 0, so that every call gives the same folds.

    Examples
    --------
    >>> pairs = np.array([[drug, target] for drug in range(4) for target in range(3)])
    >>> train, test = next(PairSplit(2, hold_out="left").split(pairs))
    >>> set(pairs[train, 0]) & set(pairs[test, 0])
    set()
    >>> PairSplit(2, hold_out="both").get_n_splits(pairs)
    4
    """

    n_splits: int = 5
    hold_out: str = "pairs"
    symmetric: bool = False
    columns: Any = None
    random_state: Any = None

    def __post_init__(self) -> None:
        if check_positive_integer("n_splits", self.n_splits) < 2:
            raise ValueError(f"n_splits must be at least 2; got {self.n_splits}.")
        check_flag("symmetric", self.symmetric)
        choices = SYMMETRIC_HOLD_OUTS if self.symmetric else HOLD_OUTS
        check_choice(f"hold_out with symmetric={self.symmetric}", self.hold_out, choices)
        check_split(self.columns, "columns")
        check_seed("random_state", self.random_state)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield the positions of the training pairs and of the test pairs.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_pairs, 2), or more columns
        y, groups : ignored, default=None
        """
        left, right = self._objects(X)
        for is_train, is_test in self._parts(left, right):
            if is_train.any() and is_test.any():
                yield np.flatnonzero(is_train), np.flatnonzero(is_test)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of splits; without X, the number for pairs enough that no part is empty."""
        if X is not None:
            return sum(1 for _ in self.split(X))
        if self.hold_out != "both":
            return self.n_splits
        return self.n_splits * (self.n_splits + 1) // 2 if self.symmetric else self.n_splits**2

    def _objects(self, X: Any) -> tuple[Array, Array]:
        """The number of the left and of the right object of each pair."""
        left, right = split_pairs(X, check_split(self.columns, "columns"), "X")
        if not self.symmetric:
            return distinct_rows(left)[1], distinct_rows(right)[1]
        both = distinct_rows(join_rows([left, named_alike(left, right, "symmetric pairs need")]))[1]
        return both[: left.shape[0]], both[left.shape[0] :]

    def _parts(self, left: Array, right: Array) -> Iterator[tuple[Array, Array]]:
        """Which pairs are for training and which for the test, in each split."""
        rng = np.random.default_rng(check_seed("random_state", self.random_state))
        numbers = range(self.n_splits)
        if self.hold_out in ("pairs", "left", "right"):
            codes = {"pairs": self._pair_codes(left, right), "left": left, "right": right}[self.hold_out]
            what = "pairs" if self.hold_out == "pairs" else f"{self.hold_out} objects"
            folds = self._folds(codes, what, rng)
            yield from ((folds != i, folds == i) for i in numbers)
        elif not self.symmetric:
            a, b = self._folds(left, "left objects", rng), self._folds(right, "right objects", rng)
            yield from (((a != i) & (b != j), (a == i) & (b == j)) for i, j in product(numbers, repeat=2))
        else:
            a, b = np.split(self._folds(np.concatenate([left, right]), "objects", rng), 2)
            if self.hold_out == "one":
                yield from (((a != i) & (b != i), (a == i) ^ (b == i)) for i in numbers)
                return
            for i, j in combinations_with_replacement(numbers, 2):
                known = ~np.isin(a, (i, j)) & ~np.isin(b, (i, j))
                yield known, ((a == i) & (b == j)) | ((a == j) & (b == i))

    def _pair_codes(self, left: Array, right: Array) -> Array:
        """One number for each distinct pair."""
        if self.symmetric:
            left, right = np.minimum(left, right), np.maximum(left, right)
        return np.asarray(np.unique(left * (right.max() + 1) + right, return_inverse=True)[1])

    def _folds(self, codes: Array, what: str, rng: np.random.Generator) -> Array:
        """The fold of each entry; those of one code are in one fold."""
        n = int(codes.max()) + 1
        if n < self.n_splits:
            raise ValueError(f"n_splits={self.n_splits} folds need as many distinct {what}; X has {n}.")
        fold_of = np.empty(n, np.intp)
        fold_of[rng.permutation(n)] = np.arange(n) % self.n_splits
        return fold_of[codes]


def named_alike(left: Any, right: Any, who: str) -> Any:
    """The right objects, with the names of the left ones' columns."""
    if left.shape[1] != right.shape[1]:
        raise ValueError(
            f"{who} as many columns for the one object as for the other; got {left.shape[1]} and "
            f"{right.shape[1]}."
        )
    return right.set_axis(left.columns, axis=1) if hasattr(right, "iloc") else right


# ------------------------------------------------------------------ cells of a matrix of interactions
def _number(n_negative: Any, n_positive: int) -> int:
    number = check_number("n_negative, where it is not None,", n_negative, at_least=0.0)
    return int(number) if isinstance(n_negative, (int, np.integer)) else round(number * n_positive)


def _cells(Y: Any, symmetric: bool) -> tuple[Array, Array]:
    """The numbers of the cells that are not zero, rising, and their values."""
    matrix = scipy.sparse.coo_matrix(Y if scipy.sparse.issparse(Y) else _numbers(Y), dtype=np.float64)
    matrix.sum_duplicates()
    n_left, n_right = matrix.shape
    row, column, values = matrix.row.astype(np.int64), matrix.col.astype(np.int64), matrix.data
    wrong = np.flatnonzero(~((values == 0.0) | (values == 1.0) | np.isnan(values)))
    if wrong.size:
        i = wrong[0]
        raise ValueError(
            f"Y must hold 0, 1, or NaN where nothing is known; ({row[i]}, {column[i]}) holds {values[i]:g}. "
            "Give a boolean array, such as Y >= 1."
        )
    if symmetric:
        _require_symmetric(matrix)
        above = row < column
        row, column, values = row[above], column[above], values[above]
        cells = _row_starts(n_left)[row] + column - row - 1
    else:
        cells = row * n_right + column
    order = np.argsort(cells)
    order = order[values[order] != 0.0]
    return cells[order], values[order]


def _numbers(Y: Any) -> Array:
    values = np.asarray(Y)
    if values.ndim != 2 or 0 in values.shape or values.dtype.kind not in "fiub":
        raise ValueError(
            "Y must be a matrix of numbers, left objects by right objects; got "
            f"{values.dtype} of shape {values.shape}."
        )
    return values


def _require_symmetric(matrix: Any) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"symmetric=True needs a square Y; got shape {matrix.shape}.")
    known = scipy.sparse.csr_matrix(
        (np.nan_to_num(matrix.data, nan=-1.0), (matrix.row, matrix.col)), matrix.shape
    )
    difference = (known - known.T).tocoo()
    differs = np.flatnonzero(difference.data)
    if differs.size:
        i, j = difference.row[differs[0]], difference.col[differs[0]]
        raise ValueError(
            f"symmetric=True needs Y to be its own transpose; they differ at ({i}, {j}). "
            "Use numpy.maximum(Y, Y.T) if an interaction in one direction is one in both."
        )


def _row_starts(n: int) -> Array:
    """The number of the first cell of each row above the diagonal, and the number of all cells at the end."""
    return np.concatenate([[0], np.cumsum(np.arange(n - 1, -1, -1, dtype=np.int64))])


def _places(cells: Array, n_left: int, n_right: int, symmetric: bool) -> Array:
    if not symmetric:
        return np.column_stack(np.divmod(cells, n_right))
    starts = _row_starts(n_left)
    row = np.searchsorted(starts, cells, side="right") - 1
    return np.column_stack([row, cells - starts[row] + row + 1])
