"""What a study is: a published source with its tables and figures, and the units of work that each needs.

A unit is a pure function of its arguments with a stable key. Its *fingerprint* is a hash of everything that
its result depends on (function, version of the protocol, arguments, content of the data sets), so that a
stored result is used again only where it would come out the same. The function is named without its module,
which may move.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from multikernel.core.store import Result

Summary = dict[str, Any]
Kind = Literal["table", "figure"]


@dataclass(frozen=True)
class Unit:
    """One piece of work: ``function(**arguments)`` gives a dictionary that JSON can hold.

    Attributes
    ----------
    key : str
        Names the unit within its table, e.g. ``"heart/split=03/soft1"``.
    function : callable
        A function of a module (workers of other processes must find it).
    arguments : mapping
        What JSON can hold; the result depends on nothing else.
    datasets : tuple of str
        The data sets that the function loads.
    """

    key: str
    function: Callable[..., Result]
    arguments: Mapping[str, Any]
    datasets: tuple[str, ...] = ()

    def fingerprint(self, version: int, checksums: Mapping[str, str]) -> str:
        """Return the hash of everything that the result depends on.

        Parameters
        ----------
        version : int
            Of the table's protocol.
        checksums : mapping of str to str
            What identifies the content of each data set.

        Returns
        -------
        str
            16 hexadecimal digits.
        """
        return self._hash(self.function.__qualname__, version, checksums)

    def earlier_fingerprint(self, version: int, checksums: Mapping[str, str]) -> str:
        """Return the hash that stores have which were begun when the studies were in the package."""
        module = self.function.__module__.removeprefix("studies.")
        name = f"multikernel.reproduce.{module}.{self.function.__qualname__}"
        return self._hash(name, version, checksums)

    def _hash(self, function: str, version: int, checksums: Mapping[str, str]) -> str:
        depends_on = {
            "function": function,
            "version": version,
            "arguments": self.arguments,
            "datasets": {name: checksums[name] for name in self.datasets},
        }
        text = json.dumps(depends_on, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Quantity:
    """One thing that is compared: its key in the results, its label, and how many digits are shown.

    `difference` says whether the difference to the published figure has a column of its own.
    """

    key: str
    label: str
    digits: int
    difference: bool = True


@dataclass(frozen=True)
class Table:
    """One published table, figure or experiment: its units, and how their results become a summary.

    Attributes
    ----------
    name : str
        What the command line calls it: ``--table NAME``, or ``--figure NAME``.
    title : str
    version : int
        Raised whenever the meaning of a unit changes: results of older versions are not used again.
    splits : int
        How many random splits the published protocol has.
    units : callable
        Number of splits to the units of work, in a fixed order.
    rows : callable
        Results, in the order of the units, to the rows of the comparison (see `comparison_row`).
    quantities : sequence of Quantity
    protocol, notes : sequence of str
        Sentences for the page: how it was done; what to know when reading it.
    figure : callable or None
        Summary and path of a PNG file to draw; a figure must have it.
    kind : {"table", "figure"}
        What it is in the publication.
    """

    name: str
    title: str
    version: int
    splits: int
    units: Callable[[int], Sequence[Unit]]
    rows: Callable[[Sequence[tuple[Unit, Result]]], list[dict[str, Any]]]
    quantities: Sequence[Quantity]
    protocol: Sequence[str] = ()
    notes: Sequence[str] = ()
    figure: Callable[[Summary, Path], None] | None = None
    kind: Kind = "table"

    def __post_init__(self) -> None:
        if self.kind == "figure" and self.figure is None:
            raise ValueError(f"figure {self.name!r} must have a function that draws it.")

    @property
    def stem(self) -> str:
        """What the names of its files begin with, e.g. ``"table1"``."""
        return f"{self.kind}{self.name}"


@dataclass(frozen=True)
class Study:
    """A published source: its name on the command line, its citation, its tables and its figures."""

    name: str
    citation: str
    tables: Mapping[str, Table] = field(default_factory=dict)
    figures: Mapping[str, Table] = field(default_factory=dict)

    def table(self, name: str) -> Table:
        """Return a table by its name, or say which there are."""
        return self._find(self.tables, "table", name)

    def figure(self, name: str) -> Table:
        """Return a figure by its name, or say which there are."""
        return self._find(self.figures, "figure", name)

    def contents(self) -> str:
        """Return the names of the tables and figures, as a text.

        Examples
        --------
        >>> Study("author1999", "An Author (1999).").contents()
        'no tables and no figures'
        """
        return f"{_named('table', self.tables)} and {_named('figure', self.figures)}"

    def _find(self, entries: Mapping[str, Table], kind: Kind, name: str) -> Table:
        if name not in entries:
            raise ValueError(f"study {self.name!r} has no {kind} {name!r}; it has {self.contents()}.")
        return entries[name]


def _named(kind: Kind, entries: Mapping[str, Table]) -> str:
    return f"the {kind}s {', '.join(entries)}" if entries else f"no {kind}s"
