"""From a matrix of interactions to pairs and labels: all positives, and so many negatives drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .._validation import as_generator, check_number

Array = np.ndarray[Any, np.dtype[Any]]


def sample_pairs(
    Y: Any, n_negative: int | float | None = 1.0, *, symmetric: bool = False, random_state: Any = 0
) -> tuple[Array, Array]:
    """Return the pairs that interact and a sample of those that do not, with their labels.

    Support vector machines want few pairs: of a matrix of interactions, nearly all entries are zeros.

    Parameters
    ----------
    Y : array-like, DataFrame or sparse matrix (n_left, n_right)
        1 where a left and a right object interact, 0 where they do not (of a sparse matrix, also what it does
        not store), NaN where it is not known: such pairs are never returned.
    n_negative : int, float or None, default=1.0
        How many pairs of label 0: so many (int), so many for each positive (float), or all (None). Where
        there are fewer, they are all returned.
    symmetric : bool, default=False
        Whether both objects are from one set: Y is then symmetric, each unordered pair i < j is one, and the
        diagonal is not read.
    random_state : int, numpy.random.Generator or None, default=0
        None draws others in each call.

    Returns
    -------
    pairs : ndarray (n_pairs, 2) of int
        Positions of the left and of the right object, in the order of the matrix.
    labels : ndarray (n_pairs,) of int
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
            "Say from which value on a pair interacts, such as Y >= 1."
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
