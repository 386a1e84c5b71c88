"""Rows in this process: blocks are slices of tables in memory or in memory-mapped files.

Several blocks are worked on at a time: one thread for each block, and one thread for its linear algebra.
Libraries of linear algebra split every small product over their own threads, which then wait for each other;
blocks have nothing to wait for. And what one thread computes does not depend on how many there are.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import numpy as np
import scipy.sparse

from multikernel._threads import one_thread, thread_limit
from multikernel._validation import check_positive_integer, naming_rows
from multikernel.rows.base import Block, RowBlocks, check_derived, check_summand, tree_sum
from multikernel.rows.memory import allocate_array
from multikernel.rows.tables import count_rows, take_rows

T = TypeVar("T")

_MOST_THREADS = 8  # each has partial sums of its own, the largest of which are Hessians


class LocalRows(RowBlocks):
    """Rows of tables in this process, blocks of nearly equal size, several of them at a time.

    Parts are arrays, memory maps, sparse matrices, DataFrames, Series or lists with equally many rows, or
    None. Nothing is copied: a block of at most `block_rows` rows holds slices of the tables. (A sparse matrix
    that is not CSR is converted.) With `on_disk`, arrays that `derive` keeps go to temporary memory-mapped
    files, which go when the rows go. `n_threads` blocks are worked on at a time: as many as the linear
    algebra had threads when the rows were made. It has one thread in each of them.

    Examples
    --------
    >>> rows = LocalRows((np.arange(10.0).reshape(5, 2), ["a", "b", "c", "d", "e"]), block_rows=2)
    >>> rows.lengths
    (2, 2, 1)
    >>> rows.sum(lambda block: block.parts[0].sum(axis=0))
    array([20., 25.])
    >>> squares = rows.derive(lambda block: (block.parts[0] ** 2, block.parts[1]))
    >>> squares.take([4, 0])
    (array([[64., 81.], [ 0.,  1.]]), ['e', 'a'])
    """

    def __init__(self, parts: Sequence[Any], block_rows: int = 8192, *, on_disk: bool = False) -> None:
        n_rows = _check_parts(parts)
        n_blocks = -(-n_rows // check_positive_integer("block_rows", block_rows))
        least, longer = divmod(n_rows, n_blocks)
        super().__init__([least + 1] * longer + [least] * (n_blocks - longer))
        self.on_disk = on_disk
        self.n_threads = block_threads()
        tables = tuple(part.tocsr() if scipy.sparse.issparse(part) else part for part in parts)
        self._read: Callable[[int], tuple[Any, ...]] = partial(_slices, tables, self._starts)

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """``function(block, *arguments)`` of each block, in their order."""
        return list(self._each(partial(self._call, function, arguments)))

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The sum of ``function(block, *arguments)`` over the blocks, in the order of `tree_sum`."""
        results = self._each(partial(self._call, function, arguments))
        return tree_sum(check_summand(result) for result in results)

    def derive(self, function: Callable[..., Any], *arguments: Any, keep: bool = True) -> LocalRows:
        """New rows, whose parts are the tuple ``function(block, *arguments)``; see `RowBlocks.derive`."""
        compute = partial(self._derived, function, arguments)
        if not keep:
            return self._same_blocks(compute)
        if self.on_disk:
            return self._same_blocks(self._written(compute).__getitem__)
        return self._same_blocks(list(self._each(compute)).__getitem__)

    def select(self, *numbers: int) -> LocalRows:
        """The same rows with some of their parts only, by number, in that order."""
        return self._same_blocks(partial(_selected, self._read, numbers))

    def _take_parts(self, wanted: list[tuple[int, np.ndarray]]) -> list[tuple[Any, ...]]:
        return [
            tuple(None if part is None else take_rows(part, rows) for part in self._read(index))
            for index, rows in wanted
        ]

    def _same_blocks(self, read: Callable[[int], tuple[Any, ...]]) -> LocalRows:
        rows = copy.copy(self)
        rows._read = read
        return rows

    def _each(self, compute: Callable[[int], Any]) -> Iterator[Any]:
        return each_in_order(compute, self.n_blocks, self.n_threads)

    def _call(self, function: Callable[..., Any], arguments: tuple[Any, ...], index: int) -> Any:
        block = Block(index, int(self._starts[index]), self._read(index))
        with naming_rows(block.start):
            return function(block, *arguments)

    def _derived(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], index: int
    ) -> tuple[Any, ...]:
        return check_derived(self._call(function, arguments, index), self.lengths[index])

    def _written(self, compute: Callable[[int], tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """The derived parts of all blocks, arrays as slices of memory-mapped files."""
        blocks: list[tuple[Any, ...]] = []
        files: dict[int, np.ndarray] = {}
        for index, computed in enumerate(self._each(compute)):
            place = slice(self._starts[index], self._starts[index + 1])
            parts = list(computed)
            for number, part in enumerate(parts):
                if isinstance(part, np.ndarray) and part.dtype != object:
                    if number not in files:
                        shape = (self.n_rows, *part.shape[1:])
                        files[number] = allocate_array(shape, part.dtype, on_disk=True)
                    parts[number] = _write(part, files[number], place, number)
            blocks.append(tuple(parts))
        return blocks


def _check_parts(parts: Sequence[Any]) -> int:
    counts = {number: count_rows(part) for number, part in enumerate(parts) if part is not None}
    if not counts:
        raise ValueError("rows need at least one part that is not None.")
    first, n_rows = next(iter(counts.items()))
    for number, count in counts.items():
        if count != n_rows:
            raise ValueError(
                f"the parts of rows must have equally many rows; part {first} has {n_rows}, part {number} "
                f"has {count}."
            )
    if n_rows == 0:
        raise ValueError("rows must hold at least one row; got 0.")
    return n_rows


def _slices(tables: tuple[Any, ...], starts: np.ndarray, index: int) -> tuple[Any, ...]:
    place = slice(int(starts[index]), int(starts[index + 1]))
    return tuple(None if table is None else take_rows(table, place) for table in tables)


def _selected(
    read: Callable[[int], tuple[Any, ...]], numbers: tuple[int, ...], index: int
) -> tuple[Any, ...]:
    parts = read(index)
    return tuple(parts[number] for number in numbers)


def _write(part: np.ndarray, file: np.ndarray, place: slice, number: int) -> np.ndarray:
    if part.shape[1:] != file.shape[1:] or part.dtype != file.dtype:
        raise ValueError(
            f"derived arrays must be alike in all blocks; part {number} of rows {place.start} to "
            f"{place.stop - 1} is {part.dtype} of shape {part.shape}, but the first block gave {file.dtype} "
            f"with rows of shape {file.shape[1:]}."
        )
    file[place] = part
    return file[place]


# --- threads -----------------------------------------------------------------------------------


def block_threads() -> int:
    """How many threads may work on blocks: as many as the linear algebra may have now, and 8 at most."""
    return min(thread_limit(), _MOST_THREADS)


def each_in_order(function: Callable[[int], T], n: int, n_threads: int) -> Iterator[T]:
    """``function(0)``, ``function(1)``, … up to n − 1, by several threads.

    Results wait until their turn, not more of them than there are threads. The first error in the order of
    the calls is raised, and calls that have not begun by then never begin.

    Examples
    --------
    >>> list(each_in_order(lambda i: i * i, 5, n_threads=2))
    [0, 1, 4, 9, 16]
    """
    if min(n, n_threads) < 2:
        yield from map(function, range(n))
        return
    waiting: deque[Future[T]] = deque()
    with one_thread(), ThreadPoolExecutor(n_threads) as pool:
        try:
            for i in range(n):
                waiting.append(pool.submit(function, i))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
