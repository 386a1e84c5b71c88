"""A dask array computed lazily from the chunks of another collection, e.g. predictions from features."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from multikernel.rows.cluster import import_dask
from multikernel.rows.dask_door import feature_pieces, features_in_chunks, known_lengths
from multikernel.rows.dask_program import Place, Program, run_in_place
from multikernel.rows.tables import count_rows


def map_chunks(
    X: Any, function: Callable[..., Any], *arguments: Any, dtype: Any, n_columns: int | None = None
) -> Any:
    """A dask array with the row chunks of `X`, whose chunks are ``function(block, *arguments)``.

    Nothing is computed now. The block has one part, the features of the chunk. The function is not called for
    empty chunks.

    Parameters
    ----------
    X : dask array (n, d) or dask dataframe
    function : callable
        Returns an array with as many rows as the block.
    *arguments : object
        One node of the graph for all chunks.
    dtype : dtype of the array
    n_columns : int, optional
        Columns of the array; without it, the array is 1-D.

    Examples
    --------
    >>> import dask.array
    >>> X = dask.array.ones((5, 2), chunks=(2, 2))
    >>> sums = map_chunks(X, lambda block: block.parts[0].sum(axis=1), dtype="float64")
    >>> sums.chunks
    ((2, 2, 1),)
    >>> sums.compute()
    array([2., 2., 2., 2., 2.])
    """
    delayed, array = import_dask().delayed, _dask_array()
    X = features_in_chunks(X)
    pieces, lengths = feature_pieces(X), known_lengths(X)
    starts: list[int | None] = [None] * len(pieces) if lengths is None else [0, *accumulate(lengths[:-1])]
    program = delayed(Program([(function, arguments)]), pure=False, traverse=False)
    run = delayed(_rows_of_chunk, pure=False)
    shape = () if n_columns is None else (n_columns,)
    empty = np.empty((0, *shape), dtype=dtype)
    chunks = [
        array.from_delayed(
            run(number, start, empty, program, piece),
            shape=(np.nan if lengths is None else lengths[number], *shape),
            meta=empty,
        )
        for number, (start, piece) in enumerate(zip(starts, pieces, strict=True))
    ]
    return array.concatenate(chunks, allow_unknown_chunksizes=True)


def _dask_array() -> Any:
    import dask.array

    return dask.array


def _rows_of_chunk(number: int, start: int | None, empty: np.ndarray, program: Program, piece: Any) -> Any:
    n_rows = count_rows(piece)
    if n_rows == 0:
        return empty
    values = np.asarray(run_in_place(Place(number, start, n_rows, number), program, piece))
    wanted = (n_rows, *empty.shape[1:])
    if values.shape != wanted:
        raise ValueError(f"chunk {number}: the function must return shape {wanted}; got {values.shape}.")
    return values.astype(empty.dtype, copy=False)
