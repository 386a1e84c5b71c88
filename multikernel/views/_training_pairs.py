"""Training rows against themselves, view by view: views of the same columns share their rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from multikernel.kernels._rows import Pair, Rows
from multikernel.rows.tables import take_rows
from multikernel.views.columns import Selection, resolve_columns
from multikernel.views.missing.presence import absent_rows, naming_rows
from multikernel.views.scaling import Scaling
from multikernel.views.view import View


class TrainPair(Pair):
    """Training rows against themselves, with the columns they were taken from and how these were scaled.

    `present`: positions of the rows in the training table; None where they are all rows of it.
    """

    def __init__(
        self,
        rows: Rows,
        selection: Selection,
        scaling: Scaling | None,
        present: np.ndarray | None,
        keep: bool,
    ) -> None:
        super().__init__(rows, rows, keep)
        self.selection = selection
        self.scaling = scaling
        self.present = present

    def naming_rows(self) -> AbstractContextManager[None]:
        """Let an error raised inside speak of the rows of the training table."""
        return naming_rows(self.present)


def pairs_by_columns(
    views: list[View], table: Any, *, keep: bool, allow_absent: bool
) -> Iterator[tuple[int, View, TrainPair]]:
    """Views in groups with equal columns and scaling: a group shares its rows, and products if `keep`.

    With `allow_absent`, of a table whose rows lack views in part, each group has the rows that have it.
    """
    groups: dict[tuple[Selection, bool], list[int]] = {}
    for position, view in enumerate(views):
        selection = resolve_columns(table, view.columns, f"view {view.name!r}")
        groups.setdefault((selection, bool(view.standardize)), []).append(position)
    for (selection, standardize), members in groups.items():
        label = f"view {views[members[0]].name!r}"
        taken = selection.take(table, label)
        present = _present(taken, label) if allow_absent else None
        if present is not None:
            taken = take_rows(taken, present)
        rows = Rows(taken, label, one_column=selection.scalar)
        scaling = None
        if standardize:
            with naming_rows(present):
                scaling = Scaling.fit(rows.values)
                rows = Rows(scaling.apply(rows.values, label), label)
        pair = TrainPair(rows, selection, scaling, present, keep=keep and len(members) > 1)
        for position in members:
            yield position, views[position], pair


def _present(taken: Any, label: str) -> np.ndarray | None:
    """Positions of the rows that have the view; None where all have it."""
    absent = absent_rows(taken)
    if absent.all():
        raise ValueError(
            f"{label} is missing from every training sample, so that nothing can be learned about it. Leave "
            "the view out, or look for what went wrong where its columns were read."
        )
    return np.flatnonzero(~absent) if absent.any() else None
