"""Gram matrices written tile by tile, from products of which a matrix need not exist.

Entries below the diagonal of a training Gram are mirror images. Written row by row, each would touch a page
of its own; written by tiles, some hundred of them share one, which is what a matrix in a file needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

_TILE = (128, 256)
_TILE_ELEMENTS = 128 * 256

Tile = tuple[slice, slice, np.ndarray]


class TileBuffers:
    """Scratch arrays for a tile, allocated once: fresh ones for each tile cost page faults."""

    def __init__(self, count: int) -> None:
        self._memory = np.empty((count, _TILE_ELEMENTS))

    def shaped(self, shape: tuple[int, ...]) -> list[np.ndarray]:
        """The arrays, each of the shape of a tile."""
        size = shape[0] * shape[1]
        if size > self._memory.shape[1]:
            self._memory = np.empty((len(self._memory), size))
        return [memory[:size].reshape(shape) for memory in self._memory]


def product_tiles(
    left: Any, right: Any, whole: np.ndarray | None = None, *, half: bool = False
) -> Iterator[Tile]:
    """Rows, columns and products x_i · z_j of tiles that fit in the cache.

    Products that are there already, as `whole`, come in whole rows, in which memory is read fastest. Others
    are computed for some rows at a time. `half`: of a table with itself, what is right of the diagonal.
    """
    n_rows, n_columns = left.shape[0], right.shape[0]
    height, width = (max(1, _TILE_ELEMENTS // n_columns), n_columns) if whole is not None else _TILE
    transposed = None if whole is not None else _transposed(left, right)
    for start in range(0, n_rows, height):
        rows = slice(start, min(start + height, n_rows))
        first = start if half else 0
        if whole is not None:
            products = whole[rows, first:]
        else:
            products = _products(left[rows], transposed, first)
            if half:
                _mirror(products[:, : len(products)])
        for begin in range(first, n_columns, width):
            columns = slice(begin, min(begin + width, n_columns))
            yield rows, columns, products[:, columns.start - first : columns.stop - first]


def _transposed(left: Any, right: Any) -> Any:
    if scipy.sparse.issparse(right):
        return right.T.tocsr()
    return np.ascontiguousarray(right.T) if scipy.sparse.issparse(left) else right.T


def _products(left: Any, transposed: Any, first: int) -> np.ndarray:
    """With the columns from `first` on."""
    if isinstance(left, np.ndarray) and isinstance(transposed, np.ndarray):
        return left @ transposed[:, first:]
    product = left @ transposed  # columns of a sparse matrix are slow to take
    return np.asarray(product.toarray() if scipy.sparse.issparse(product) else product)[:, first:]


def _mirror(corner: np.ndarray) -> None:
    """The upper half of a square decides: BLAS may round x · z and z · x differently."""
    corner[...] = np.triu(corner) + np.triu(corner, 1).T


def write_tile(out: np.ndarray, rows: slice, columns: slice, values: np.ndarray, half: bool) -> None:
    """Write a tile into `out`; with `half` its mirror image below the diagonal too."""
    out[rows, columns] = values
    below = slice(max(columns.start, rows.stop), columns.stop)
    if half and below.start < below.stop:
        out[below, rows] = values[:, below.start - columns.start :].T
