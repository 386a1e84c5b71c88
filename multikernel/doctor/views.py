"""The kernels of a set of views, computed one by one: what cannot be computed is a finding, not a crash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from multikernel._validation import is_frame
from multikernel.doctor.columns import Columns
from multikernel.doctor.diagnosis import Finding, named, percent
from multikernel.kernels import Chain, Cosine, FunctionKernel, Kernel, Kronecker, Pairwise
from multikernel.kernels._rows import Pair
from multikernel.views import MultiTable, View, as_views, distinct_views
from multikernel.views.columns import resolve_columns
from multikernel.views.scaling import scale_rows
from multikernel.views.view import place_views

_DOMINATION = 0.99  # of the variance of a view in one column: the others hardly count
_SCALE_FREE = (Cosine, FunctionKernel, Kronecker, Pairwise)


@dataclass
class ViewedTable:
    """A sample of the rows with its views."""

    views: list[View]  # those whose columns could be found
    positions: dict[str, list[int]]  # the columns of each view; empty for a list of objects
    grams: dict[str, np.ndarray] = field(default_factory=dict)  # of the kernels that could be computed
    refused: dict[int, str] = field(default_factory=dict)  # columns that are no numbers, and their view

    @property
    def used(self) -> set[int]:
        """The columns that some view reads."""
        return {position for positions in self.positions.values() for position in positions}

    @property
    def without_gaps(self) -> dict[str, list[int]]:
        """The columns of the views whose kernel reads no missing values."""
        return {
            view.name: self.positions[view.name] for view in self.views if not view.kernel._accepts_missing
        }


def find_views(kernels: Any, table: Any, d: int | None) -> tuple[ViewedTable, list[Finding]]:
    """The views of a ``kernels=`` argument whose columns the table has."""
    try:
        views = as_views(kernels)
    except (TypeError, ValueError) as error:
        return ViewedTable([], {}), [Finding("error", "kernels", str(error), "Correct kernels=.")]
    found = ViewedTable([], {})
    findings = []
    for view in views:
        subject = named("view", [view.name])
        try:
            positions = resolve_columns(table, view.columns, subject).positions
        except (TypeError, ValueError) as error:
            findings.append(Finding("error", subject, _without(subject, error), "Correct its columns."))
            continue
        found.views.append(view)
        found.positions[view.name] = list(range(d or 0)) if positions is None else list(positions)
    return found, findings


def flatten_tables(X: MultiTable, kernels: Any) -> tuple[pd.DataFrame, Any, list[Finding]]:
    """Several tables as one, with columns called ``table:column``, and the views that read them there."""
    frames, starts, start = [], {}, 0
    for name, table in X.tables.items():
        dense = table.toarray() if scipy.sparse.issparse(table) else table
        frame = pd.DataFrame(dense if is_frame(dense) else {0: dense} if isinstance(dense, list) else dense)
        frames.append(frame.set_axis([f"{name}:{column}" for column in frame.columns], axis=1))
        frames[-1].index = pd.RangeIndex(len(X))
        starts[name], start = start, start + frame.shape[1]
    flat = pd.concat(frames, axis=1)
    try:
        placed = place_views(as_views(kernels), X)
    except (TypeError, ValueError) as error:
        return flat, "auto", [Finding("error", "kernels", str(error), "Correct kernels=.")]
    views, findings = [], []
    for view in placed:
        subject = named("view", [view.name])
        try:
            positions = resolve_columns(X, view.columns, subject, view.table).positions
        except (TypeError, ValueError) as error:
            findings.append(Finding("error", subject, _without(subject, error), "Correct its columns."))
            continue
        width, start = frames[X.names.index(str(view.table))].shape[1], starts[str(view.table)]
        columns = [start + position for position in (range(width) if positions is None else positions)]
        views.append(replace(view, columns=columns, table=None))
    return flat, views or "auto", findings


def compute_grams(found: ViewedTable, sample: Any, filled: Any, text: set[int]) -> Iterator[Finding]:
    """Compute the kernel of each view on the rows of a table; `text` are the columns that are no numbers.

    `filled` is the table without gaps, for the kernels that cannot read them.
    """
    for view in found.views:
        subject = named("view", [view.name])
        table = sample if view.kernel._accepts_missing else filled
        try:
            found.grams[view.name] = _gram(view, table)
        except Exception as error:  # a kernel may be a function of the user, which may raise anything
            positions = found.positions[view.name]
            if not view.kernel._reads_numbers and _has_gaps(sample, positions):
                continue  # which is told with the missing values
            rest = [position for position in positions if position not in text]
            K = _gram_or_none(replace(view, columns=rest), table) if 0 < len(rest) < len(positions) else None
            if K is None and not (positions and not rest):
                yield Finding(
                    "error", subject, _without(subject, error), "Correct its columns or its kernel."
                )
                continue
            for position in positions:
                if position in text:
                    found.refused.setdefault(position, view.name)
            if K is not None:
                found.grams[view.name] = K


def _has_gaps(sample: Any, positions: list[int]) -> bool:
    """Whether something is missing in some columns of a table."""
    taken = sample.iloc[:, positions] if is_frame(sample) else np.asarray(sample)[:, positions]
    return bool(np.any(pd.isna(taken)))


def _gram(view: View, table: Any) -> np.ndarray:
    """The training Gram of a view after its transforms; a bank would refuse a bad one."""
    label = named("view", [view.name])
    selection = resolve_columns(table, view.columns, label)
    taken = selection.take(table, label)
    how = view.standardized
    rows, _ = scale_rows(taken, label, how, encode=view.encode, one_column=selection.scalar)
    K = np.empty((len(rows), len(rows)))
    view.kernel.fit(rows).evaluate(Pair(rows, rows), K)
    with np.errstate(all="ignore"):
        return Chain(view.steps).fit_train(K, overwrite=True)[1]


def _gram_or_none(view: View, table: Any) -> np.ndarray | None:
    try:
        return _gram(view, table)
    except Exception:  # the same
        return None


def _without(subject: str, error: Exception) -> str:
    """The message without the name that the finding bears already."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text.removeprefix(f"{subject}: ").removeprefix(f"{subject} ")


def fill_gaps(table: Any, columns: Columns | None) -> Any:
    """The table with the median of the column where a number is missing, so that kernels can be computed."""
    filled: Any
    if scipy.sparse.issparse(table):
        filled = table.astype(np.float64)
        filled.data = np.where(np.isfinite(filled.data), filled.data, 0.0)
        return filled
    if columns is None or not np.isnan(columns.numbers).any():
        return table
    places = np.flatnonzero(np.isnan(columns.numbers).any(axis=0))
    filled = table.copy() if is_frame(table) else np.array(table, dtype=np.float64)
    for place in places:
        column, position = columns.numbers[:, place], columns.positions[place]
        present = column[~np.isnan(column)]
        whole = np.where(np.isnan(column), np.median(present) if len(present) else 0.0, column)
        if is_frame(filled):
            filled.isetitem(position, whole)
        else:
            filled[:, position] = whole
    return filled


# --- what can be said of views without their kernels -------------------------------------------------------


def check_same_views(views: list[View]) -> Iterator[Finding]:
    """Views that differ from another in nothing but their name."""
    distinct, sources = distinct_views(views)
    for view, source in zip(views, sources, strict=True):
        first = distinct[source].name
        if view.name != first:
            what = (
                f"the same kernel on the same columns as view {first!r}: their weights cannot be "
                f"distinguished."
            )
            yield Finding("warning", named("view", [view.name]), what, f"Leave {view.name!r} out.")


def check_scales(found: ViewedTable, columns: Columns) -> Iterator[Finding]:
    """Columns that are so much larger than the others of their view that they alone make its kernel."""
    place_of = {int(position): place for place, position in enumerate(columns.positions)}
    variances = _variances(columns.numbers)
    for view in found.views:
        places = [place_of[p] for p in found.positions[view.name] if p in place_of]
        if view.standardized or len(places) < 2 or not _sees_scales(view.kernel):
            continue
        shares = variances[places] / max(variances[places].sum(), 1e-300)
        if shares.max() > _DOMINATION and (variances[places] > 0.0).sum() > 1:
            name = columns.names[columns.positions[places[int(shares.argmax())]]]
            what = (
                f"column {name!r} has {percent(shares.max(), 1.0)} of the variance of its {len(places)} "
                "columns, so that the kernel almost ignores the others."
            )
            remedy = f"View({view.name!r}, kernel, columns, standardize=True)"
            command = "standardize = true in the file of views, or --kernels auto"
            yield Finding("warning", named("view", [view.name]), what, remedy, command)


def _variances(numbers: np.ndarray) -> np.ndarray:
    """Of each column, without what is missing; 0 for a column without anything."""
    present = ~np.isnan(numbers)
    counts = np.maximum(present.sum(axis=0), 1)
    means = np.where(present, numbers, 0.0).sum(axis=0) / counts
    rest = np.where(present, numbers - means, 0.0)
    with np.errstate(over="ignore"):
        return np.asarray((rest**2).sum(axis=0) / counts)


def _sees_scales(kernel: Kernel) -> bool:
    """Whether a column in larger units counts for more."""
    if not kernel._reads_numbers or isinstance(kernel, _SCALE_FREE):
        return False
    return all(_sees_scales(part) for part in getattr(kernel, "_parts", ()))
