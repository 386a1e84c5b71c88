"""Views written down in a TOML file: which columns belong together, and by which kernel they are compared.

.. code-block:: toml

    [[view]]
    name = "shape"
    columns = ["width", "height"]        # names, patterns such as "leg_*", or positions from 0
    kernel = "gaussian(scale=2)"         # or a list of kernels: one view each, called shape/gaussian, ...
    cost = 3.0                           # for methods that take costs
    approximation = "cholesky"           # nystroem, random_features or cholesky: factors for many rows
    rank = 0.01                          # their columns, or the largest trace error

A view is what `View` makes of these keys, with the same defaults: columns are standardised where the kernel
reads numbers of any sign, unless ``standardize = false``, and the kernel gets unit variance in feature space,
unless ``normalize = "none"``, "diagonal" or "trace". Without ``columns``, a view reads the columns that the
table itself has under its name, or else all of them.
"""

from __future__ import annotations

import difflib
import fnmatch
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multikernel.io.tables.data import TableData, some
from multikernel.kernels import Kernel
from multikernel.kernels.expressions import parse_kernel
from multikernel.views import View, as_views

_OF_VIEW = ("transforms", "standardize", "normalize", "approximation", "rank")
_KEYS = ("name", "columns", "kernel", "cost", *_OF_VIEW)


class ViewList(list[View]):
    """Views, with the costs of those that have one.

    Attributes
    ----------
    costs : dict of str to float
    """

    def __init__(self, views: Iterable[View] = (), costs: Mapping[str, float] | None = None) -> None:
        super().__init__(views)
        self.costs = dict(costs or {})


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
        ``cost``, and, as for `View`, ``transforms``, ``standardize``, ``normalize`` ("none" for None),
        ``approximation`` and ``rank``.
    table : TableData, optional
        Where the columns are looked up at once, so that one that is missing is refused here. Positions count
        its columns from 0, without the target.

    Returns
    -------
    ViewList
        A list of `View`, with ``costs`` by name.

    Raises
    ------
    ValueError
        With the view and the key that is not understood, and what there is.
    """
    place = Path(path)
    entries = _entries(place)
    views: list[View] = []
    costs: dict[str, float] = {}
    for number, entry in enumerate(entries, start=1):
        made = _views_of(entry, _Place(place.name, number, entry.get("name")), table)
        views += made
        if "cost" in entry:
            costs |= {view.name: _cost(entry["cost"], place.name, view.name) for view in made}
    names = [view.name for view in views]
    doubled = [name for name in names if names.count(name) > 1]
    if doubled:
        raise ValueError(f"the views of {place.name} must have distinct names; {doubled[0]!r} occurs twice.")
    return ViewList(views, costs)


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

    def __str__(self) -> str:
        shown = f" ({self.name!r})" if isinstance(self.name, str) else ""
        return f"{self.file}, view {self.number}{shown}"


def _entries(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise ValueError(f"views must be in a TOML file; {path} does not exist.")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} must be UTF-8 text; byte {error.start} is not.") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name} must be TOML: {error}.") from None
    entries = content.pop("view", None)
    if content:
        key = next(iter(content))
        raise ValueError(f"{path.name} has the unknown key {key!r}; it must hold [[view]] tables only.")
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(
            f"{path.name} must hold one [[view]] table (with two brackets) for each view; got "
            f"{'none' if entries is None else entries!r}."
        )
    return entries


def _views_of(entry: dict[str, Any], place: _Place, table: TableData | None) -> list[View]:
    _check_keys(entry, place)
    columns = _columns(entry, place, table)
    kernels = _kernels(entry["kernel"], place)
    names = [view.name for view in as_views([kernel for _, kernel in kernels])]
    views = []
    options = {key: entry[key] for key in _OF_VIEW if key in entry}
    if options.get("normalize") == "none":
        options["normalize"] = None
    for (text, kernel), kind in zip(kernels, names, strict=True):
        name = f"{place.name}/{kind}" if isinstance(entry["kernel"], list) else place.name
        try:
            views.append(View(name, kernel, columns, **options))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{place}, kernel {text!r}: {error}") from None
    return views


def _check_keys(entry: dict[str, Any], place: _Place) -> None:
    for key in entry:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It may have {', '.join(_KEYS)}."
            raise ValueError(f"{place}: unknown key {key!r}. {hint}")
    for key in ("name", "kernel"):
        if key not in entry:
            raise ValueError(f"{place}: every view must have a {key}.")
    if not isinstance(place.name, str) or not place.name.strip():
        raise ValueError(f"{place}: name must be a text that is not empty; got {place.name!r}.")
    if not isinstance(entry.get("standardize", True), bool):
        raise ValueError(f"{place}: standardize must be true or false; got {entry['standardize']!r}.")


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


def _columns(entry: dict[str, Any], place: _Place, table: TableData | None) -> Any:
    if "columns" not in entry:
        own = {} if table is None else table.view_columns
        return own.get(place.name)
    given = entry["columns"] if isinstance(entry["columns"], list) else [entry["columns"]]
    if not given:
        raise ValueError(f"{place}: columns must name one column at least; got an empty list.")
    for column in given:
        if isinstance(column, bool) or not isinstance(column, str | int):
            raise ValueError(f"{place}: a column is a name, a pattern or a position; got {column!r}.")
    if table is None:
        return Matching(tuple(given)) if any(map(_is_pattern, given)) else given
    if table.kind == "precomputed":
        raise ValueError(f"{place}: {table.name} holds precomputed kernels, which have no columns.")
    for column in given:
        _require_match(column, table, place)
    return [str(name) for name in Matching(tuple(given))(table.X)]


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
