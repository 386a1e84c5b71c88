"""What a study is: a published source with its tables and figures, and the units of work that each needs.

A unit is a pure function of its arguments with a stable key. Its *fingerprint* is a hash of everything that
its result depends on (function, version of the protocol, arguments, content of the data sets), so that a
stored result is used again only where it would come out the same. The function is named without its module,
which may move.

To write a study:

- ``studies/<study>/published.py`` has every printed number as a `Published` with its digits, ±, place and
  doubts, and a test that recounts them with `count_and_sum`. A table lists its own in `Table.cells`.
- The units load data by `studies.data.load_data`, so that ``--data`` reaches them. `has_data` says whether
  the real files are at hand; `Study.data` lists which files a user can bring, and their format.
- ``rows`` makes a `comparison_row` of what `compare` says. One row for each published cell counts: a variant
  of ours has ``counts=False``. A row on other data than the published ones has ``stand_in="..."``; if a whole
  table is on such data, `Table.stand_in` says so. Quantities with ``difference=True`` are counted.
- What is ours alone is of the kind ``"own"`` and stands in `Study.own`, never under a number of the paper.
- `Study.claims` turns the summaries (by stem, ``"table1"``) into `Claim`: one for each claim of the paper.
- Finished units are kept in ``studies/<study>/results/<stem>.jsonl``, which is committed. Pages are written
  to ``docs/reproduce/<study>``: one for each table, and README.md for a study that has a `title`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from multikernel.core.store import Result
from studies.published import Published

Summary = dict[str, Any]
Kind = Literal["table", "figure", "own"]
KINDS: tuple[Kind, ...] = ("table", "figure", "own")
Verdict = Literal["reproduced", "not reproduced", "cannot be tested"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "not reproduced", "cannot be tested")


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
        depends_on = {
            "function": self.function.__qualname__,
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
        What the command line calls it: ``--table NAME``, ``--figure NAME`` or ``--own NAME``.
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
    kind : {"table", "figure", "own"}
        What it is in the publication; ``"own"`` is an experiment of ours.
    stand_in : str
        What stands in for which published data, and why, where this holds for the whole table: nothing of it
        counts as reproduced. Where it holds for some rows, they say so (`comparison_row`).
    cells : sequence of Published
        Every number that the publication prints under this name, compared here or not.
    shares : str
        The stem of another entry whose finished units this one shows, ``"table1"``: same units, same version.
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
    stand_in: str = ""
    cells: Sequence[Published] = ()
    shares: str = ""

    def __post_init__(self) -> None:
        if self.kind == "own" and self.cells:
            raise ValueError(f"experiment {self.name!r} is our own and must have no published cells.")
        if self.kind == "figure" and self.figure is None:
            raise ValueError(f"figure {self.name!r} must have a function that draws it.")

    @property
    def stem(self) -> str:
        """What the names of its files begin with, e.g. ``"table1"``; of an own experiment ``"own-name"``."""
        return f"own-{self.name}" if self.kind == "own" else f"{self.kind}{self.name}"

    @property
    def results_name(self) -> str:
        """The name of the file of its finished units."""
        return f"{self.shares or self.stem}.jsonl"


@dataclass(frozen=True)
class Claim:
    """What a paper claims, in one sentence, and what we found.

    Attributes
    ----------
    sentence : str
        The claim.
    verdict : {"reproduced", "not reproduced", "cannot be tested"}
        A stand-in never reproduces a claim.
    evidence : str
        The numbers, and the table they are in.
    """

    sentence: str
    verdict: Verdict
    evidence: str

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict must be one of {', '.join(VERDICTS)}; got {self.verdict!r}.")


@dataclass(frozen=True)
class DataFile:
    """A file that a user can bring: ``<name>.npz`` in the folder of ``--data``.

    Attributes
    ----------
    name : str
        By which the units load it.
    what : str
        The data that the publication used, and where they were published.
    arrays : mapping of str to str
        Name of an array in the file to its shape and meaning.
    """

    name: str
    what: str
    arrays: Mapping[str, str]


@dataclass(frozen=True)
class Study:
    """A published source, its tables and figures, and what stands beside them.

    Attributes
    ----------
    name : str
        On the command line.
    citation : str
    tables, figures : mapping of str to Table
        Under the numbers of the publication.
    own : mapping of str to Table
        Experiments of our own.
    title : str
        Authors and year, as the page of the study is called.
    notes : sequence of str
        What to know before reading.
    claims : callable or None
        Stem of a table (``"table1"``) to its summary, for all of the study, to the claims of the publication.
    data : sequence of DataFile
        What a user can bring.
    reasons : mapping of str to str
        Regular expression to why our mean differs, by more than two standard errors, from the numbers at the
        places that it fits; the first that fits counts. What none fits is unexplained.
    absent : mapping of str to str
        Regular expression to why the numbers at the places that it fits are not compared; the first that fits
        counts.
    judges_parts : bool
        Whether `claims` takes summaries of which some are missing, and leaves out what they are needed for:
        for a study some of whose tables need data that a user brings.
    """

    name: str
    citation: str
    tables: Mapping[str, Table] = field(default_factory=dict)
    figures: Mapping[str, Table] = field(default_factory=dict)
    own: Mapping[str, Table] = field(default_factory=dict)
    title: str = ""
    notes: Sequence[str] = ()
    claims: Callable[[Mapping[str, Summary]], Sequence[Claim]] | None = None
    data: Sequence[DataFile] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    judges_parts: bool = False

    def entries(self) -> list[Table]:
        """Return the tables, the figures and our own experiments, in this order."""
        return [*self.tables.values(), *self.figures.values(), *self.own.values()]

    def find(self, kind: Kind, name: str) -> Table:
        """Return what the publication has under a name, or say what there is."""
        entries = self._by_kind()[kind]
        if name not in entries:
            raise ValueError(f"study {self.name!r} has no {_WORDS[kind]} {name!r}; it has {self.contents()}.")
        return entries[name]

    def table(self, name: str) -> Table:
        """Return a table by its name, or say which there are."""
        return self.find("table", name)

    def figure(self, name: str) -> Table:
        """Return a figure by its name, or say which there are."""
        return self.find("figure", name)

    def contents(self) -> str:
        """Return the names of the tables, the figures and our own experiments, as a text.

        Examples
        --------
        >>> Study("author1999", "An Author (1999).").contents()
        'no tables and no figures'
        """
        parts = [_named(kind, entries) for kind, entries in self._by_kind().items() if kind != "own"]
        return " and ".join(parts + ([_named("own", self.own)] if self.own else []))

    def _by_kind(self) -> dict[Kind, Mapping[str, Table]]:
        return {"table": self.tables, "figure": self.figures, "own": self.own}


_WORDS: dict[Kind, str] = {"table": "table", "figure": "figure", "own": "experiment of our own"}
_PLURALS: dict[Kind, str] = {"table": "tables", "figure": "figures", "own": "experiments of our own"}


def _named(kind: Kind, entries: Mapping[str, Table]) -> str:
    return f"the {_PLURALS[kind]} {', '.join(entries)}" if entries else f"no {_PLURALS[kind]}"


def kind_of(summary: Mapping[str, Any]) -> Kind:
    """Return whether a summary is of a table, a figure or an experiment of our own."""
    return next(kind for kind in KINDS if kind in summary)
