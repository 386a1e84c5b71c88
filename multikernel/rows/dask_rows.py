"""Rows in dask collections: functions run where a chunk lives, and only their small results travel."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Any
from uuid import uuid4

import numpy as np

from multikernel.rows.base import Block, RowBlocks, add_in_order, check_summand, tree_sum
from multikernel.rows.dask_chunks import feature_pieces, features_in_chunks, known_lengths, open_chunks
from multikernel.rows.dask_program import (
    Calls,
    KeptParts,
    Place,
    Program,
    compute_all,
    persist_all,
    run_in_place,
)
from multikernel.rows.tables import count_rows, import_dask, take_rows


class DaskRows(RowBlocks):
    """Rows of a dask array or dataframe, one block a chunk.

    Everything goes through ``dask.compute`` and ``dask.persist``: by the caller's ``distributed.Client`` if
    one is active, else by dask's threads. The blocks have three parts: features, targets and sample weights.
    The chunks are looked at once to learn their lengths and to check their columns; empty ones are left out.
    An error in a chunk names its number, from 0, and its rows. When a worker is lost, dask computes again
    what it held, with the same result.

    Columns in several chunks are brought into one. Targets and weights are dask arrays, dask series or local
    arrays with one entry a row; one number is the weight of every row. They are brought to the chunks of X
    where the sizes of the chunks are known, else their chunks must have the lengths of those of X. `chunks`
    says which of the chunks of X each block is.

    Examples
    --------
    >>> import dask.array
    >>> X = dask.array.arange(10.0, chunks=10).reshape(5, 2).rechunk((2, 1))
    >>> rows = DaskRows(X, y=[1, 1, 2, 2, 2])
    >>> rows.lengths
    (2, 2, 1)
    >>> rows.sum(lambda block: block.parts[0].sum(axis=0))
    array([20., 25.])
    >>> rows.take([4, 0])
    (array([[8., 9.], [0., 1.]]), array([2, 1]), None)
    """

    def __init__(self, X: Any, y: Any = None, sample_weight: Any = None) -> None:
        import_dask()
        chunks = open_chunks(X, {"y": y, "sample_weight": sample_weight})
        super().__init__(chunks.lengths)
        self._places = [
            Place(index, int(self._starts[index]), length, chunks.numbers[index])
            for index, length in enumerate(self.lengths)
        ]
        self.chunks = chunks.numbers
        self._pieces = chunks.pieces
        self._steps: Any = None

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """``function(block, *arguments)`` of each block, in their order."""
        return compute_all(self._calls([(function, arguments)]))

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The sum of ``function(block, *arguments)`` over the blocks, in the order of `tree_sum`."""
        add = import_dask().delayed(_add, pure=False)
        total = tree_sum(self._calls([(function, arguments)]), lambda group: add(*group))
        return check_summand(compute_all([total])[0])

    def derive(self, function: Callable[..., Any], *arguments: Any, keep: bool = True) -> DaskRows:
        """New rows, whose parts are the tuple ``function(block, *arguments)``; see `RowBlocks.derive`.

        Kept parts stay on the workers (which write them to disk when their memory ends), and errors are
        raised now. What is not kept raises its errors when it is used.
        """
        call = (function, arguments)
        if not keep:
            return self._same_blocks(self._pieces, persist_all([self._program([call])])[0])
        kept = persist_all(self._calls([call, (_as_one, ())]))
        arrived = import_dask().delayed(_arrived, pure=False)
        compute_all(arrived(piece) for piece in kept)
        return self._same_blocks([(piece,) for piece in kept], None)

    def select(self, *numbers: int) -> DaskRows:
        """The same rows with some of their parts only, by number, in that order."""
        if self._steps is None and len(self._pieces[0]) > 1:  # what is not selected need not be loaded
            pieces = [tuple(parts[number] for number in numbers) for parts in self._pieces]
            return self._same_blocks(pieces, None)
        return self.derive(_selected, numbers, keep=False)

    def _take_parts(self, wanted: list[tuple[int, np.ndarray]]) -> list[tuple[Any, ...]]:
        rows = dict(wanted)
        return compute_all(self._calls([(_rows_of_block, (rows,))], rows))

    def _same_blocks(self, pieces: list[tuple[Any, ...]], steps: Any) -> DaskRows:
        rows = copy.copy(self)
        rows._pieces, rows._steps = pieces, steps
        return rows

    def _program(self, calls: Calls) -> Any:
        """The steps of these rows, then the calls: one node of the graph for all blocks."""
        delayed = import_dask().delayed
        last = delayed(Program(calls), pure=False, traverse=False)
        return last if self._steps is None else delayed(Program.then, pure=False)(self._steps, last)

    def _calls(self, calls: Calls, indices: Iterable[int] | None = None) -> list[Any]:
        """One node for each block."""
        dask = import_dask()
        program, run = self._program(calls), dask.delayed(run_in_place, pure=False)
        name = f"{dask.utils.funcname(calls[0][0])}-{uuid4().hex}"
        return [
            run(self._places[index], program, *self._pieces[index], dask_key_name=f"{name}-{index}")
            for index in (range(self.n_blocks) if indices is None else indices)
        ]


def _add(*values: Any) -> Any:
    return add_in_order(values)


def _as_one(block: Block) -> KeptParts:
    return KeptParts(block.parts)


def _arrived(parts: Any) -> None:
    """Nothing: it is there, or its error is raised."""


def _selected(block: Block, numbers: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(block.parts[number] for number in numbers)


def _rows_of_block(block: Block, rows: dict[int, np.ndarray]) -> tuple[Any, ...]:
    return tuple(None if part is None else take_rows(part, rows[block.number]) for part in block.parts)


# --- a dask array computed lazily from the chunks of another collection ------------------------


def map_chunks(
    X: Any, function: Callable[..., Any], *arguments: Any, dtype: Any, n_columns: int | None = None
) -> Any:
    """A dask array with the row chunks of `X`, whose chunks are ``function(block, *arguments)``.

    Nothing is computed now. The block has one part, the features of the chunk; the function returns an array
    with as many rows, 1-D or with `n_columns`, and is not called for empty chunks. Its arguments are one node
    of the graph for all chunks.

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
    import dask.array

    delayed = import_dask().delayed
    X = features_in_chunks(X)
    pieces, lengths = feature_pieces(X), known_lengths(X)
    starts: list[int | None] = [None] * len(pieces) if lengths is None else [0, *accumulate(lengths[:-1])]
    program = delayed(Program([(function, arguments)]), pure=False, traverse=False)
    run = delayed(_rows_of_chunk, pure=False)
    shape = () if n_columns is None else (n_columns,)
    empty = np.empty((0, *shape), dtype=dtype)
    chunks = [
        dask.array.from_delayed(
            run(number, start, empty, program, piece),
            shape=(np.nan if lengths is None else lengths[number], *shape),
            meta=empty,
        )
        for number, (start, piece) in enumerate(zip(starts, pieces, strict=True))
    ]
    return dask.array.concatenate(chunks, allow_unknown_chunksizes=True)


def _rows_of_chunk(number: int, start: int | None, empty: np.ndarray, program: Program, piece: Any) -> Any:
    n_rows = count_rows(piece)
    if n_rows == 0:
        return empty
    values = np.asarray(run_in_place(Place(number, start, n_rows, number), program, piece))
    wanted = (n_rows, *empty.shape[1:])
    if values.shape != wanted:
        raise ValueError(f"chunk {number}: the function must return shape {wanted}; got {values.shape}.")
    return values.astype(empty.dtype, copy=False)
