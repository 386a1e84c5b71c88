"""Rounds of map-reduce over the rows, and how many bytes they move."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
S = TypeVar("S")


class Rows(Protocol):
    """What the solver asks of :class:`multikernel.rows.RowBlocks`."""

    n_rows: int
    n_blocks: int

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any: ...
    def derive(self, function: Callable[..., Any], *arguments: Any) -> Any: ...


def n_bytes(thing: Any) -> int:
    """The bytes of the arrays that an object is made of; a number counts as eight."""
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes)
    if isinstance(thing, tuple | list):
        return sum(n_bytes(part) for part in thing)
    return n_bytes(tuple(vars(thing).values())) if hasattr(thing, "__dict__") else 8


class Rounds:
    """Rows that count what is asked of them.

    Attributes
    ----------
    rows : the rows
    rounds : int, map-reduces until now
    bytes_moved : int, what went to the blocks and what came back, over all blocks and rounds
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.rounds = 0
        self.bytes_moved = 0

    def sum(self, function: Callable[..., S], *arguments: Any) -> S:
        """Σ over the blocks of ``function(block, *arguments)``: one round."""
        result: S = self.rows.sum(function, *arguments)
        self.rounds += 1
        self.bytes_moved += self.rows.n_blocks * (n_bytes(arguments) + n_bytes(result))
        return result

    def part(self, function: Callable[..., Any], *arguments: Any) -> "Rounds":
        """The rows that ``function`` makes of these; what they count is added to these by :meth:`add`."""
        return Rounds(self.rows.derive(function, *arguments))

    def add(self, other: "Rounds") -> None:
        self.rounds += other.rounds
        self.bytes_moved += other.bytes_moved
