"""Columns that are no numbers where a kernel needs numbers, and values that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from multikernel.doctor.columns import FEW_ROWS, Columns, drop_line
from multikernel.doctor.diagnosis import Finding, named, percent

_NAMED_VIEWS = 3


def check_refused(
    columns: Columns, facts: list[dict[str, Any]], refused: dict[int, str]
) -> Iterator[Finding]:
    """Columns that some kernel cannot read: position to the name of its view."""
    for position, view in sorted(refused.items()):
        name, column = columns.names[position], columns.others[position].dropna()
        if column.empty:  # which is told with the missing values
            continue
        what, remedy = _describe(name, column, facts[position], columns.n)
        yield Finding(
            "error", named("column", [name]), f"{what} The kernel of view {view!r} needs numbers.", remedy
        )


def check_dates(
    columns: Columns, facts: list[dict[str, Any]], used: set[int], refused: dict[int, str]
) -> Iterator[Finding]:
    """Dates that kernels do read, as numbers that nobody had in mind."""
    for position, column in columns.others.items():
        if facts[position]["kind"] == "date" and position in used and position not in refused:
            name = columns.names[position]
            what, remedy = _describe(name, column.dropna(), facts[position], columns.n)
            yield Finding(
                "note", named("column", [name]), f"{what} Kernels read them as nanoseconds.", remedy
            )


def _describe(name: Any, filled: pd.Series, facts: dict[str, Any], n: int) -> tuple[str, str]:
    """What a column holds, and how it becomes numbers."""
    texts = filled.astype(str)
    shown = ", ".join(repr(text) for text in texts.unique()[:3])
    if facts["kind"] == "date":
        since = f"X[{name!r}]" if filled.dtype.kind == "m" else f"(X[{name!r}] - X[{name!r}].min())"
        remedy = f"X[{name!r}] = {since}.dt.total_seconds()"
        return f"it holds dates or times, such as {shown}.", remedy
    parsed = pd.to_numeric(texts, errors="coerce")
    if len(filled) and parsed.notna().mean() > 0.5:
        odd = texts[parsed.isna()].unique().tolist()
        rest = f", except {', '.join(map(repr, odd[:3]))}" if odd else ""
        return (
            f"it holds numbers written as text{rest}.",
            f'X[{name!r}] = pd.to_numeric(X[{name!r}], errors="coerce")',
        )
    if facts["distinct"] == len(filled) and n >= FEW_ROWS:
        what = (
            f"it holds {facts['kind']}, different in every row ({shown}, ...): names of rows, or sequences."
        )
        return what, f"{drop_line([name])}, or a kernel that reads it: View(name, kernel, {name!r})"
    more = ", ..." if facts["distinct"] > 3 else ""
    what = f"it holds {facts['kind']} of {facts['distinct']} kinds ({shown}{more})."
    return what, f"X = pd.get_dummies(X, columns=[{name!r}])"


def check_missing(columns: Columns, positions: dict[str, list[int]]) -> Iterator[Finding]:
    """Missing values in the columns of the views, given by the name of each view."""
    used = sorted({position for view in positions.values() for position in view})
    gaps = columns.missing()
    by_column = gaps.sum(axis=0)
    holed = sorted((position for position in used if by_column[position]), key=lambda p: -by_column[p])
    if not holed:
        return
    names = [columns.names[position] for position in holed]
    lost = int(gaps[:, used].any(axis=1).sum())
    most = f"{int(by_column[holed[0]])} in {names[0]!r} alone" if len(holed) > 1 else ""
    what = f"values are missing in {lost} of {columns.n} rows ({percent(lost, columns.n)})"
    what = "; ".join(part for part in (what, most, _losses(gaps, positions)) if part) + "."
    empty = [name for name, position in zip(names, holed, strict=True) if 2 * by_column[position] > columns.n]
    remedy = "Fill them within the folds: make_pipeline(SimpleImputer(), model); or X = X.dropna()."
    if empty:
        remedy = f"Leave out what is mostly empty: {drop_line(empty)}; fill the rest with SimpleImputer()."
    yield Finding("error", named("column", names), what, remedy)


def _losses(gaps: np.ndarray, positions: dict[str, list[int]]) -> str:
    """How many rows each view would lose, where views differ in their columns."""
    if len({tuple(view) for view in positions.values()}) < 2:
        return ""
    losses = {name: int(gaps[:, view].any(axis=1).sum()) for name, view in positions.items()}
    most = sorted((name for name, lost in losses.items() if lost), key=lambda name: -losses[name])
    told = [f"view {name!r} lacks {losses[name]} rows" for name in most[:_NAMED_VIEWS]]
    return ", ".join(told) + (", ..." if len(most) > _NAMED_VIEWS else "")
