"""What rows in blocks can do, wherever they live, and the one order in which their sums are taken."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from multikernel.rows.tables import count_rows, join_rows, take_rows

# How many partial sums are added at once: few enough that they fit beside each other in a worker's memory.
_FAN_IN = 4


class Block(NamedTuple):
    """A run of neighbouring rows, as it is handed to a function."""

    number: int  # of the block, from 0
    start: int  # number of its first row in the whole
    parts: tuple[Any, ...]  # e.g. features, targets and sample weights; None for no such part

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return next(count_rows(part) for part in self.parts if part is not None)


class RowBlocks(ABC):
    """Rows in blocks: functions are sent to the blocks, and small results come back.

    A function is called with a `Block` and further arguments. It must be deterministic, must not change the
    parts, and must be importable (defined in a module), so that it can be sent to where the rows live.

    Attributes
    ----------
    lengths : tuple of int
        Rows of each block; none is empty.
    n_rows, n_blocks : int
    """

    def __init__(self, lengths: Sequence[int]) -> None:
        self.lengths = tuple(int(length) for length in lengths)
        self._starts = np.concatenate([[0], np.cumsum(self.lengths, dtype=np.intp)]).astype(np.intp)
        self.n_rows = int(self._starts[-1])
        self.n_blocks = len(self.lengths)

    @abstractmethod
    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """``function(block, *arguments)`` of each block, in their order."""

    @abstractmethod
    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The sum of ``function(block, *arguments)`` over the blocks, added where the blocks live.

        The results must have a ``+``; they are added in the order of `tree_sum`, which depends on the number
        of blocks alone, so that the same blocks give the same sum to the last bit, wherever they live.
        """

    @abstractmethod
    def derive(self, function: Callable[..., Any], *arguments: Any, keep: bool = True) -> RowBlocks:
        """New rows, whose parts are the tuple ``function(block, *arguments)``, in the same blocks.

        With `keep` the new parts are computed once, now, and kept where the block lives. If not, they are
        computed anew each time the new rows are used, and need no more memory than the blocks in hand.
        """

    @abstractmethod
    def select(self, *numbers: int) -> RowBlocks:
        """The same rows with some of their parts only, by number, in that order."""

    @abstractmethod
    def _take_parts(self, wanted: list[tuple[int, np.ndarray]]) -> list[tuple[Any, ...]]:
        """For each (index of a block, rows within it): those rows of each part."""

    def take(self, rows: Any) -> tuple[Any, ...]:
        """The parts of some rows, by their number in the whole and in the order asked for."""
        rows = _check_row_numbers(rows, self.n_rows)
        order = np.argsort(rows, kind="stable")
        owners = np.searchsorted(self._starts, rows[order], side="right") - 1
        wanted = [
            (int(owner), rows[order[owners == owner]] - self._starts[owner]) for owner in np.unique(owners)
        ]
        pieces = self._take_parts(wanted or [(0, rows)])
        places = np.empty_like(order)
        places[order] = np.arange(order.size)
        joined = [None if part[0] is None else join_rows(part) for part in zip(*pieces, strict=True)]
        in_order = bool(np.all(places[:-1] < places[1:]))
        return tuple(part if part is None or in_order else take_rows(part, places) for part in joined)


def tree_sum(values: Iterable[Any], add_all: Callable[[list[Any]], Any] | None = None) -> Any:
    """The sum of values, added by fours of neighbours, then by fours of those sums, and so on.

    The order depends on the number of values alone. Values may come one by one: only a few partial sums are
    held at a time. `add_all` is the sum of a list of two to four of them; by default from left to right.

    Examples
    --------
    >>> tree_sum("abcdef", lambda group: "(" + "".join(group) + ")")
    '((abcd)(ef))'
    """
    levels: list[_Group] = []
    for value in values:
        for level in levels:
            level.append(value)
            if level.count < _FAN_IN:
                break
            value = level.take()
        else:
            levels.append(_Group(value, add_all))
    rest: Any = None
    for level in levels:
        if level.count and rest is not None:
            level.append(rest)
        rest = level.take() if level.count else rest
    return rest


class _Group:
    """Values that are added up: as they come, or all at once by a function that adds a list of them."""

    def __init__(self, first: Any, add_all: Callable[[list[Any]], Any] | None) -> None:
        self._values = [first]
        self._add_all = add_all
        self.count = 1

    def append(self, value: Any) -> None:
        self.count += 1
        self._values.append(value)
        if self._add_all is None:  # large values are not kept beside each other
            self._values = [add_in_order(self._values)]

    def take(self) -> Any:
        """The sum, after which the group is empty."""
        values, self._values, self.count = self._values, [], 0
        return values[0] if len(values) == 1 or self._add_all is None else self._add_all(values)


def add_in_order(values: Sequence[Any]) -> Any:
    """The sum from left to right."""
    return reduce(add, values)


def check_summand(value: Any) -> Any:
    """Return what a function gave for a sum, unless ``+`` would join it instead of adding it."""
    kinds = (tuple, list, str)
    if any(isinstance(value, kind) and type(value).__add__ is kind.__add__ for kind in kinds):
        raise TypeError(
            f"a function that is summed over blocks must return what can be added; got a "
            f"{type(value).__name__}, which + would join. Return an array, or an object with __add__."
        )
    return value


def check_derived(parts: Any, n_rows: int) -> tuple[Any, ...]:
    """Return the derived parts of a block, if they are a tuple of tables with its number of rows."""
    if not isinstance(parts, tuple) or all(part is None for part in parts):
        raise TypeError(f"a function that derives rows must return a tuple of parts; got {type(parts)}.")
    for number, part in enumerate(parts):
        if part is not None and count_rows(part) != n_rows:
            raise ValueError(
                f"derived parts must have the {n_rows} rows of their block; part {number} has "
                f"{count_rows(part)}."
            )
    return parts


def _check_row_numbers(rows: Any, n_rows: int) -> np.ndarray:
    numbers = np.asarray(rows)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise TypeError(
            f"rows must be a sequence of whole numbers; got {numbers.ndim}-D {numbers.dtype}. "
            "Turn a mask into numbers with np.flatnonzero."
        )
    outside = (numbers < 0) | (numbers >= n_rows)
    if outside.any():
        raise IndexError(f"rows must lie from 0 to {n_rows - 1}; got {numbers[outside][0]}.")
    return numbers.astype(np.intp)
