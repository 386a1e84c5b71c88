"""What travels to the chunks of a dask collection and runs there, and how it is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from multikernel._validation import RowError, is_frame
from multikernel.rows.base import Block, check_derived
from multikernel.rows.tables import import_dask

Calls = list[tuple[Callable[..., Any], tuple[Any, ...]]]


class Program:
    """Functions with their arguments; all but the last derive the parts that the next is given.

    A class of its own, since dask would look for collections in every entry of a tuple, list or dataclass.

    Examples
    --------
    >>> double = Program([(lambda block: (2 * block.parts[0],), ())])
    >>> total = Program([(lambda block, power: (block.parts[0] ** power).sum(), (2,))])
    >>> print(double.then(total).run(Block(0, 0, (np.ones(3),)), 3))
    12.0
    """

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def then(self, other: Program) -> Program:
        """These functions, then those of the other."""
        return Program(self.calls + other.calls)

    def run(self, block: Block, n_rows: int) -> Any:
        """What the last function returns for a block of so many rows."""
        for function, arguments in self.calls[:-1]:
            block = block._replace(parts=check_derived(function(block, *arguments), n_rows))
        function, arguments = self.calls[-1]
        return function(block, *arguments)


class Place:
    """Where a block stands in the collection, so that errors can say it.

    `start` is None where the lengths of the caller's chunks before it are unknown.

    Examples
    --------
    >>> Place(2, 2000, 1000, 3).name(ValueError("no such column"))
    ValueError('chunk 3 (rows 2 000 to 2 999): no such column')
    """

    def __init__(self, number: int, start: int | None, n_rows: int, chunk: int) -> None:
        self.number, self.start, self.n_rows, self.chunk = number, start, n_rows, chunk

    def name(self, error: Exception) -> Exception:
        """The error, of the same type where that can be built, with the chunk and its rows named."""
        start = self.start or 0
        place = f"chunk {self.chunk} (its {_spaced(self.n_rows)} rows counted from 0): "
        if self.start is not None:
            place = f"chunk {self.chunk} (rows {_spaced(start)} to {_spaced(start + self.n_rows - 1)}): "
        if isinstance(error, RowError):
            return error.in_row(start + error.row, place)
        try:
            return type(error)(f"{place}{error}")
        except Exception:
            return RuntimeError(f"{place}{type(error).__name__}: {error}")


class KeptParts(tuple[Any, ...]):
    """The derived parts of a block, as one object on a worker."""


def run_in_place(place: Place, program: Program, *pieces: Any) -> Any:
    """Run a program on the parts of a block; an error names the place."""
    parts = tuple(pieces[0]) if isinstance(pieces[0], KeptParts) else tuple(map(_as_array, pieces))
    try:
        return program.run(Block(place.number, place.start or 0, parts), place.n_rows)
    except Exception as error:
        raise place.name(error) from error


def _as_array(piece: Any) -> Any:
    """A series as an array: the targets of a dataframe look like those of an array."""
    is_series = hasattr(piece, "iloc") and not is_frame(piece)
    return np.asarray(piece) if is_series else piece


def _spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")


# The caller's own data were sent, and a large graph was warned of, when the chunks were looked at: what comes
# later is large by the arguments of the functions, which are in the graph once.
_QUIETLY = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}


def compute_all(nodes: Iterable[Any]) -> list[Any]:
    """The values of delayed objects."""
    with import_dask().config.set(_QUIETLY):
        return list(import_dask().compute(*nodes))


def persist_all(nodes: Iterable[Any]) -> list[Any]:
    """Delayed objects whose values stay where they are computed."""
    with import_dask().config.set(_QUIETLY):
        return list(import_dask().persist(*nodes))
