"""Views written down in a TOML file: which columns belong together, and by which kernel they are compared.

.. code-block:: toml

    [[view]]
    name = "shape"
    columns = ["width", "height"]        # names, patterns such as "leg_*", or positions from 0
    kernel = "gaussian(scale=2)"         # or a list of kernels: one view each, called shape/gaussian, ...
    cost = 3.0                           # for methods that take costs
    approximation = "cholesky"           # nystroem, random_features or cholesky: factors for many rows
    rank = 0.01                          # their columns, or the largest trace error
    keep = true                          # its weight is never 0; or a share, such as 0.3

    [[gene_sets]]                        # one view for each set of a GMT file
    file = "hallmark.gmt"                # beside this file, or where the command is given
    table = "mrna"                       # of several tables, here and in [[view]]
    kernel = "gaussian"
    min_genes = 5                        # also max_genes, sets (names of those to take)
    rest = true                          # one more view of the columns in no set

A view is what `View` makes of these keys, with the same defaults: columns are standardised where the kernel
reads numbers of any sign, unless ``standardize = false``, and the kernel gets unit variance in feature space,
unless ``normalize = "none"``, "diagonal" or "trace". Without ``columns``, a view reads the columns that the
table itself has under its name, or else all of them. Of several tables, a view reads the one that ``table``
names, the one of its own name, or the only one that has its columns.
"""

from __future__ import annotations

import difflib
import fnmatch
import os
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multikernel._files import checked_path
from multikernel._validation import as_list
from multikernel.io.tables.data import TableData, some
from multikernel.kernels import Kernel
from multikernel.kernels.expressions import parse_kernel
from multikernel.views import View, as_views
from multikernel.views.gene_sets import GeneSetViews, views_from_gene_sets

_OF_VIEW = ("transforms", "standardize", "normalize", "approximation", "rank", "keep", "encode")
_KEYS = ("name", "columns", "kernel", "cost", "table", *_OF_VIEW)
_OF_SETS = ("min_genes", "max_genes", "rest", "sets", *_OF_VIEW)
_SET_KEYS = ("file", "table", "kernel", *_OF_SETS)


class ViewList(list[View]):
    """Views, with the costs of those that have one.

    Attributes
    ----------
    costs : dict of str to float
    notes : list of str
        What was found of gene sets.
    """

    def __init__(
        self,
        views: Iterable[View] = (),
        costs: Mapping[str, float] | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        super().__init__(as_list("views", views, "View"))
        if costs is not None and not isinstance(costs, Mapping):
            raise TypeError(f"costs must be a dict of numbers by view; got {type(costs).__name__}.")
        self.costs = dict(costs or {})
        self.notes = as_list("notes", notes, "texts")


@dataclass(frozen=True)
class Matching:
    """Columns by names, patterns with ``*`` or ``?`` and positions, looked up in a table; for `View`."""

    patterns: tuple[str | int, ...]

    def __call__(self, X: Any) -> list[str | int]:
        """The columns of a DataFrame that match, each once, in the order of the patterns."""
        known = [str(column) for column in X.columns]
        found: list[str | int] = []
        for pattern in self.patterns:
            found += [column for column in _matches(pattern, known) if column not in found]
        return found


def read_views(path: str | os.PathLike[str], table: TableData | None = None) -> ViewList:
    """Read views from a TOML file.

    Parameters
    ----------
    path : path
        With one ``[[view]]`` for each view: ``name``, ``columns`` (a name, a pattern, or a list of names,
        patterns and positions; all columns without), ``kernel`` (as for `parse_kernel`, or a list),
        ``cost``, ``table``, and, as for `View`, ``transforms``, ``standardize``, ``normalize`` ("none" for
        None), ``approximation``, ``rank`` and ``keep``. With ``[[gene_sets]]``, one view for each set of a
        GMT ``file``, as `views_from_gene_sets` makes them.
    table : TableData, default=None
        Where the columns are looked up at once, so that one that is missing is refused here. Positions count
        its columns from 0, without the target. Gene sets need it.

    Returns
    -------
    ViewList
        A list of `View`, with ``costs`` by name.

    Raises
    ------
    ValueError
        With the view and the key that is not understood, and what there is.
    """
    place = checked_path(path)
    entries, gene_sets = _entries(place)
    views: list[View] = []
    costs: dict[str, float] = {}
    notes: list[str] = []
    for number, entry in enumerate(entries, start=1):
        made = _views_of(entry, _Place(place.name, number, entry.get("name")), table)
        views += made
        if "cost" in entry:
            costs |= {view.name: _cost(entry["cost"], place.name, view.name) for view in made}
    for number, entry in enumerate(gene_sets, start=1):
        found = _sets_of(
            entry, _Place(place.name, number, entry.get("file"), "gene_sets"), table, place.parent
        )
        views += found
        notes.append(f"{entry['file']}: {found.summary}")
    name, times = Counter(view.name for view in views).most_common(1)[0]
    if times > 1:
        often = "twice" if times == 2 else f"{times} times"
        raise ValueError(f"the views of {place.name} must have distinct names; {name!r} occurs {often}.")
    return ViewList(views, costs, notes)


def views_of_kernels(kernels: Sequence[Kernel]) -> ViewList:
    """One view of all columns for each kernel, as `View` makes it.

    Parameters
    ----------
    kernels : sequence of Kernel

    Returns
    -------
    ViewList

    Examples
    --------
    >>> from multikernel.kernels import Linear
    >>> views_of_kernels([Linear()])
    [View(name='linear', kernel=Linear())]
    """
    return ViewList(as_views(list(kernels)))


@dataclass(frozen=True)
class _Place:
    """Which view of which file the messages speak of."""

    file: str
    number: int
    name: Any
    what: str = "view"

    def __str__(self) -> str:
        shown = f" ({self.name!r})" if isinstance(self.name, str) else ""
        return f"{self.file}, {self.what} {self.number}{shown}"


def _entries(path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The [[view]] and the [[gene_sets]] of a file."""
    if not path.is_file():
        raise ValueError(f"views must be in a TOML file; {path} does not exist.")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} must be UTF-8 text; byte {error.start} is not.") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name} must be TOML: {error}.") from None
    views, gene_sets = (content.pop(key, None) for key in ("view", "gene_sets"))
    if content:
        key = next(iter(content))
        raise ValueError(
            f"{path.name} has the unknown key {key!r}; it must hold [[view]] and [[gene_sets]] tables only."
        )
    if views is None and gene_sets is None:
        raise ValueError(
            f"{path.name} must hold one [[view]] table (with two brackets) for each view; got none."
        )
    for key, entries in (("view", views), ("gene_sets", gene_sets)):
        listed = isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries)
        if entries is not None and not listed:
            raise ValueError(
                f"{path.name} must hold one [[{key}]] table (with two brackets) for each "
                f"{'view' if key == 'view' else 'file of them'}; got {entries!r}."
            )
    return views or [], gene_sets or []


def _views_of(entry: dict[str, Any], place: _Place, table: TableData | None) -> list[View]:
    _check_keys(entry, place)
    columns, owner = _columns(entry, place, table)
    kernels = _kernels(entry["kernel"], place)
    names = [view.name for view in as_views([kernel for _, kernel in kernels])]
    views = []
    options = _options(entry, _OF_VIEW)
    for (text, kernel), kind in zip(kernels, names, strict=True):
        name = f"{place.name}/{kind}" if isinstance(entry["kernel"], list) else place.name
        try:
            views.append(View(name, kernel, columns, table=owner, **options))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{place}, kernel {text!r}: {error}") from None
    return views


def _check_keys(entry: dict[str, Any], place: _Place) -> None:
    _require_known_keys(entry, _KEYS, place)
    for key in ("name", "kernel"):
        if key not in entry:
            raise ValueError(f"{place}: every view must have a {key}.")
    if not isinstance(place.name, str) or not place.name.strip():
        raise ValueError(f"{place}: name must be a text that is not empty; got {place.name!r}.")
    _require_truth("standardize", entry, place, "rank")
    _require_truth("encode", entry, place)


def _require_known_keys(entry: Mapping[str, Any], known: Sequence[str], place: _Place) -> None:
    for key in entry:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It may have {', '.join(known)}."
            raise ValueError(f"{place}: unknown key {key!r}. {hint}")


def _require_truth(key: str, entry: Mapping[str, Any], place: _Place, *others: str) -> None:
    value = entry.get(key, True)
    if not isinstance(value, bool) and value not in others:
        choices = ", ".join(["true", *map(repr, others)])
        raise ValueError(f"{place}: {key} must be {choices} or false; got {value!r}.")


def _kernels(given: Any, place: _Place) -> list[tuple[str, Kernel]]:
    texts = given if isinstance(given, list) else [given]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError(
            f"{place}: kernel must be a text such as 'gaussian(scale=2)', or a list; got {given!r}."
        )
    try:
        return [(text, parse_kernel(text)) for text in texts]
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _cost(cost: Any, file: str, view: str) -> float:
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 < cost < float("inf"):
        raise ValueError(f"{file}, view {view!r}: cost must be a number greater than 0; got {cost!r}.")
    return float(cost)


def _options(entry: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """What an entry says under some keys; normalize = "none" is None, which TOML has not."""
    options = {key: entry[key] for key in keys if key in entry}
    if options.get("normalize") == "none":
        options["normalize"] = None
    return options


def _columns(entry: dict[str, Any], place: _Place, table: TableData | None) -> tuple[Any, str | None]:
    """The columns of a view, and which of several tables has them."""
    given = _listed_columns(entry, place)
    owner = _table_name(entry, place, table)
    if table is not None and table.kind == "tables":
        owner = _owner(given, owner, place, table)
        table = table.parts[owner]
    if given is None:
        own = {} if table is None or owner is not None else table.view_columns
        return own.get(place.name), owner
    if table is None:
        return (Matching(tuple(given)) if any(map(_is_pattern, given)) else given), owner
    if table.kind == "precomputed":
        raise ValueError(f"{place}: {table.name} holds precomputed kernels, which have no columns.")
    for column in given:
        _require_match(column, table, place)
    return [str(name) for name in Matching(tuple(given))(table.X)], owner


def _listed_columns(entry: dict[str, Any], place: _Place) -> list[str | int] | None:
    if "columns" not in entry:
        return None
    given = entry["columns"] if isinstance(entry["columns"], list) else [entry["columns"]]
    if not given:
        raise ValueError(f"{place}: columns must name one column at least; got an empty list.")
    for column in given:
        if isinstance(column, bool) or not isinstance(column, str | int):
            raise ValueError(f"{place}: a column is a name, a pattern or a position; got {column!r}.")
    return given


# --- several tables, and gene sets -------------------------------------------------------------------------


def _table_name(entry: Mapping[str, Any], place: _Place, table: TableData | None) -> str | None:
    """The table that an entry names, if there is one of this name."""
    name = entry.get("table")
    if name is None:
        return None
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"{place}: table must be the name of a table; got {name!r}.")
    if table is not None and table.kind != "tables":
        raise ValueError(
            f"{place}: {table.name} is one table. Leave table out, or give several by --table {name}=FILE."
        )
    if table is not None and name not in table.parts:
        near = difflib.get_close_matches(name, table.parts, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(table.parts)}."
        raise ValueError(f"{place}: there is no table {name!r}. {hint}")
    return name


def _owner(given: list[str | int] | None, named: str | None, place: _Place, data: TableData) -> str:
    """The table of a view: the one it names, that of its own name, or the only one with all its columns."""
    if named is not None:
        return named
    if given is None:
        found = [place.name] if place.name in data.parts else []
    else:
        found = [
            name
            for name, part in data.parts.items()
            if all(isinstance(c, str) and _matches(c, part.columns) for c in given)
        ]
    if len(found) == 1:
        return found[0]
    what = "no table has all its columns" if given is not None else "it names no columns"
    what = f"{' and '.join(map(repr, found))} have its columns" if found else what
    raise ValueError(f"{place}: {what}. Name its table: table = {next(iter(data.parts))!r}, for example.")


def _sets_of(entry: dict[str, Any], place: _Place, table: TableData | None, folder: Path) -> GeneSetViews:
    """The views of the gene sets of a file."""
    _require_known_keys(entry, _SET_KEYS, place)
    if not isinstance(entry.get("file"), str) or not entry["file"].strip():
        raise ValueError(f"{place}: gene sets must have a file, such as file = 'hallmark.gmt'.")
    _require_truth("standardize", entry, place, "rank")
    _require_truth("encode", entry, place)
    owner = _table_name(entry, place, table)
    if table is None or table.kind == "precomputed":
        raise ValueError(f"{place}: gene sets are looked for among the columns of a table; there is none.")
    if table.kind == "tables":
        if owner is None:
            raise ValueError(f"{place}: name the table of the genes: table = {next(iter(table.parts))!r}.")
        table = table.parts[owner]
    ((_, kernel),) = _one(_kernels(entry.get("kernel", "gaussian"), place), place)
    path = folder / entry["file"]
    more = _options(entry, _OF_SETS)
    try:
        return views_from_gene_sets(
            table.columns, path if path.exists() else Path(entry["file"]), kernel, table=owner, **more
        )
    except (TypeError, ValueError, OSError) as error:
        raise ValueError(f"{place}: {error}") from None


def _one(kernels: list[tuple[str, Kernel]], place: _Place) -> list[tuple[str, Kernel]]:
    if len(kernels) != 1:
        raise ValueError(f"{place}: gene sets take one kernel; got {len(kernels)}. Write one entry for each.")
    return kernels


def _require_match(column: str | int, table: TableData, place: _Place) -> None:
    known = table.columns
    if _matches(column, known):
        return
    if isinstance(column, int):
        hint = f"Positions run from 0 to {len(known) - 1}, without the target."
    elif column == table.target:
        hint = "It is the target, which no view may read."
    else:
        near = difflib.get_close_matches(column, known, 3)
        hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"It has {some(known, 12)}."
    raise ValueError(f"{place}: {table.name} has no column {column!r}. {hint}")


def _is_pattern(column: str | int) -> bool:
    return isinstance(column, str) and ("*" in column or "?" in column)


def _matches(pattern: str | int, known: Sequence[str]) -> list[str]:
    """The columns that a name, a pattern or a position stands for; brackets are plain characters."""
    if isinstance(pattern, int):
        return [known[pattern]] if 0 <= pattern < len(known) else []
    if pattern in known or not _is_pattern(pattern):
        return [pattern] if pattern in known else []
    return [column for column in known if fnmatch.fnmatchcase(column, pattern.replace("[", "[[]"))]
