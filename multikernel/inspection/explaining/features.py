"""Which features a model reads: the columns of its tables, the views that read them, groups of columns."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_choice, is_frame
from ..._validation.missing import absent_rows
from ...core.estimator import KernelEstimator
from ...rows import count_rows, is_dask
from ...views.columns import resolve_columns
from ...views.tables import MultiTable, as_table, n_columns
from ...views.view import place_views
from ..subject import Subject

ONE_TABLE = "X"  # what a single table is called
NO_VIEW = "no view"  # what columns are called that a model reads, but no view
VIEWS = "views"


@dataclass(frozen=True)
class Feature:
    """A column, or a whole table of objects that have no columns, such as sequences."""

    name: str
    table: str | None = None  # of several tables, the one that holds it
    position: int | None = None  # of the column; None for the whole table
    readers: tuple[str, ...] | None = None  # names of the views that read it; None where they are not known
    view: str = ""  # what the columns are called that the same views read


@dataclass(frozen=True)
class Group:
    """Features that are permuted together."""

    name: str
    view: str
    members: tuple[Feature, ...]

    @property
    def readers(self) -> set[str] | None:
        """The views that read some of them; None where they are not known."""
        known = [feature.readers for feature in self.members]
        return None if None in known else {name for names in known for name in names or ()}


@dataclass(frozen=True, eq=False)
class Data:
    """The samples as the model reads them, and their features."""

    table: Any
    features: list[Feature]

    @property
    def n(self) -> int:
        return count_rows(self.table)

    def part(self, feature: Feature) -> Any:
        """The table of a feature."""
        return self.table if feature.table is None else self.table[feature.table]

    def has(self, feature: Feature) -> Array:
        """Whether each sample has the columns that the same views read, (n,)."""
        part = self.part(feature)
        if feature.position is None:
            return ~absent_rows(part)
        same = (feature.table, feature.readers)
        chosen = [other.position for other in self.features if (other.table, other.readers) == same]
        return ~absent_rows(part.iloc[:, chosen] if is_frame(part) else part[:, chosen])


# ------------------------------------------------------------------ features of a model
def read_data(subject: Subject, X: Any) -> Data:
    """The tables as they reach the model, or the pipeline before it, and the columns that it reads."""
    if is_dask(X):
        raise TypeError(
            f"feature_importance needs rows in this process; got a dask {type(X).__name__}. Take some rows, "
            "or all that fit in memory, with compute()."
        )
    final = subject.final
    if subject.is_precomputed and not subject.steps:
        raise ValueError(
            f"the columns behind the kernels are needed; {type(final).__name__} was fitted to "
            "precomputed kernels, which have none. Fit it to tables with kernels on columns, or put a "
            "KernelBank before it in a pipeline; evaluate(model, X, y) says what each precomputed kernel is "
            "worth."
        )
    if subject.steps or not isinstance(final, KernelEstimator):
        table = as_table(X)
        return Data(table, _with_views(_listed(table, None)))
    table = as_table(final._validate_table(X, reset=False))
    names = getattr(final, "feature_names_in_", None)
    views = place_views(final._listed_views(), table)
    if not views:  # projections read the columns themselves
        return Data(table, _with_views(_listed(table, names)))
    readers: dict[tuple[str | None, int | None], dict[str, None]] = {}
    for view in views:
        part = table if view.table is None else table[view.table]
        width = n_columns(part)
        chosen: Iterable[int | None] = (None,)
        if width is not None:
            positions = resolve_columns(table, view.columns, f"view {view.name!r}", view.table).positions
            chosen = range(width) if positions is None else positions
        for position in chosen:
            readers.setdefault((view.table, position), {})[view.name] = None
    read = [
        replace(feature, readers=tuple(readers.get((feature.table, feature.position), ())))
        for feature in _listed(table, names)
    ]
    # the gate of a localized model may read columns that no view reads
    kept = [feature for feature in read if feature.readers or final._reads_columns]
    return Data(table, _with_views(kept))


def _listed(table: Any, names: Any) -> list[Feature]:
    """All features of one table or several."""
    if isinstance(table, MultiTable):
        return [f for name, part in table.tables.items() for f in _of_table(part, name, None)]
    return _of_table(table, None, names)


def _of_table(part: Any, table: str | None, names: Any) -> list[Feature]:
    width = n_columns(part)
    if width is None:
        return [Feature(table or ONE_TABLE, table)]
    if is_frame(part):
        names = part.columns
    elif names is None or len(names) != width:
        names = [f"x{position}" for position in range(width)]
    return [Feature(str(name), table, position) for position, name in enumerate(names)]


def _with_views(features: list[Feature]) -> list[Feature]:
    """Name the columns that the same views read: by their view, their table, or all their views."""
    blocks: dict[str | None, set[tuple[str, ...] | None]] = {}
    for feature in features:
        blocks.setdefault(feature.table, set()).add(feature.readers)

    def view_of(feature: Feature) -> str:
        if feature.readers == ():
            return NO_VIEW
        if feature.readers is not None and len(feature.readers) == 1:
            return feature.readers[0]
        if feature.readers is None or len(blocks[feature.table]) == 1:
            return feature.table or ONE_TABLE
        return " + ".join(feature.readers)

    return [replace(feature, view=view_of(feature)) for feature in features]


# ------------------------------------------------------------------ groups
def make_groups(data: Data, groups: Any) -> list[Group]:
    """What is permuted together: each column by itself, whole views, or groups that were given."""
    features = data.features
    if groups is None:
        return [Group(feature.name, feature.view, (feature,)) for feature in features]
    if isinstance(groups, str):
        check_choice("groups, as a text,", groups, (VIEWS,))
        names = dict.fromkeys(feature.view for feature in features if feature.readers != ())
        return [Group(name, name, tuple(f for f in features if f.view == name)) for name in names]
    if not isinstance(groups, Mapping):
        if not isinstance(groups, Sequence | np.ndarray) and not hasattr(groups, "tolist"):
            raise TypeError(
                "groups must be None, 'views', a list of columns or a dict of name -> columns; got "
                f"{type(groups).__name__}."
            )
        found = [_find(data, entry) for entry in groups]
        return [Group(feature.name, feature.view, (feature,)) for feature in _require_some(found, "groups")]
    made = []
    for name, entries in groups.items():
        listed = [entries] if isinstance(entries, str | int | tuple) else list(entries)
        members = tuple(dict.fromkeys(_find(data, entry) for entry in listed))
        views = dict.fromkeys(feature.view for feature in _require_some(members, f"group {name!r}"))
        made.append(Group(str(name), " + ".join(views), members))
    return list(_require_some(made, "groups"))


def _require_some(found: Sequence[Any], label: str) -> Sequence[Any]:
    if not found:
        raise ValueError(f"{label} must hold one column at least; got none.")
    return found


def _find(data: Data, entry: Any) -> Feature:
    """The feature that a name, a position or a pair (table, name) stands for."""
    table, column = entry if isinstance(entry, tuple) and len(entry) == 2 else (None, entry)
    among = [f for f in data.features if table is None or f.table == table]
    is_position = isinstance(column, int | np.integer) and not isinstance(column, bool)
    by_position = [f for f in among if is_position and f.position == column and not is_frame(data.part(f))]
    found = by_position or [f for f in among if f.name == str(column)]
    if len(found) == 1:
        return found[0]
    if found:
        pairs = ", ".join(repr((f.table, f.name)) for f in found)
        raise ValueError(f"groups: column {column!r} is in several tables. Name the table: {pairs}.")
    known = [f.name for f in among]
    close = difflib.get_close_matches(str(column), known, n=3)
    hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else f"It reads {known[:10]}."
    raise ValueError(f"groups: the model reads no column {entry!r}. {hint}")
