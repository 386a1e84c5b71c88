"""Weighted sums of products of count tables, written into Gram matrices.

Counts are whole numbers, and so are all sums here: floating point holds them exactly up to 2^53, so that the
order of the additions does not matter and the matrices are symmetric bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._numba import compiled
from multikernel.kernels._rows import row_blocks
from multikernel.kernels._tiles import product_tiles

_BLOCK_ROWS = 128
_BLOCK_ELEMENTS = 1 << 20
_DENSE_SHARE = 0.04  # of products that are not zero, from which on BLAS is faster
_DENSE_ELEMENTS = 1 << 25  # entries that a table may have when it is written out

Term = tuple[float, scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]


def write_products(terms: Iterable[Term], out: np.ndarray, *, half: bool) -> None:
    """Write Σ weight · left rightᵀ into `out`; `half` where left and right are one table in every term."""
    exact = out if out.dtype == np.float64 else np.empty(out.shape)
    exact[...] = 0.0
    for weight, left, right in terms:
        add = _add_dense if _is_dense(left, right) else _add_sparse
        add(weight, left, right, exact, half)
    if half:
        _mirror(exact)
    if exact is not out:
        out[...] = exact


def _is_dense(left: Any, right: Any) -> bool:
    if max(left.shape[0], right.shape[0]) * left.shape[1] > _DENSE_ELEMENTS or not left.shape[1]:
        return False
    filled = left.nnz / max(1, np.prod(left.shape)) * right.nnz / max(1, np.prod(right.shape))
    return bool(filled > _DENSE_SHARE)


def _add_dense(weight: float, left: Any, right: Any, out: np.ndarray, half: bool) -> None:
    A = left.toarray()
    B = A if right is left else right.toarray()
    for rows, columns, products in product_tiles(A, B, half=half):
        out[rows, columns] += weight * products


def _add_sparse(weight: float, left: Any, right: Any, out: np.ndarray, half: bool) -> None:
    table = (left.indptr.astype(np.int64), left.indices.astype(np.int32, copy=False), left.data)
    others = _columns_of(right)
    n, width = out.shape
    height = max(1, min(_BLOCK_ROWS, _BLOCK_ELEMENTS // max(1, width)))
    buffer = np.empty((height, width))
    for first in range(0, n, height):
        rows = slice(first, min(first + height, n))
        begin = first if half else 0
        values = buffer[: rows.stop - first]
        values[:, begin:] = 0.0
        _accumulate(table, first, others, begin, values)
        out[rows, begin:] += weight * values[:, begin:]


def _columns_of(table: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Where the rows of each pattern begin and end, these rows, and their counts."""
    columns = table.tocsc()
    bounds = columns.indptr.astype(np.int64)
    return bounds[:-1].copy(), bounds[1:].copy(), columns.indices.astype(np.int32, copy=False), columns.data


@compiled
def _accumulate(
    table: tuple[np.ndarray, ...], first: int, others: tuple[np.ndarray, ...], least: int, values: np.ndarray
) -> None:
    """values[i, j] += Σ counts of row first + i times those of row j, for rows j of at least `least`.

    `others` is the other table by columns; their starts move on to `least`, which never goes back.
    """
    indptr, patterns, counts = table
    starts, ends, rows, row_counts = others
    for i in range(values.shape[0]):
        for place in range(indptr[first + i], indptr[first + i + 1]):
            pattern = patterns[place]
            count = counts[place]
            start = starts[pattern]
            end = ends[pattern]
            while start < end and rows[start] < least:
                start += 1
            starts[pattern] = start
            for other in range(start, end):
                values[i, rows[other]] += count * row_counts[other]


def _mirror(out: np.ndarray) -> None:
    """Copy what is right of the diagonal to the left of it, some rows at a time."""
    for rows in row_blocks(len(out), len(out), _BLOCK_ROWS * len(out)):
        corner = out[rows, rows]
        corner[...] = np.triu(corner) + np.triu(corner, 1).T
        out[rows.stop :, rows] = out[rows, rows.stop :].T
