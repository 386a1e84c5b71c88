"""Columns that are no numbers where a kernel needs numbers, and values that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from multikernel.doctor.columns import FEW_ROWS, Columns
from multikernel.doctor.diagnosis import Finding, named, percent
from multikernel.doctor.remedies import Recipes, option

_NAMED_VIEWS = 3
_READS_GAPS = "View(name, Mixed(), columns)"
_LACK_VIEWS = 'Take samples that lack a view as they are: model = model.set_params(missing="complete")'
_DATE = r"\s*(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})(?:[ T]\d{1,2}:\d\d.*)?\s*$"


def check_refused(
    columns: Columns, facts: list[dict[str, Any]], refused: dict[int, str]
) -> Iterator[Finding]:
    """Columns that some kernel cannot read: position to the name of its view."""
    for position, view in sorted(refused.items()):
        name, column = columns.names[position], columns.others[position].dropna()
        if column.empty:  # which is told with the missing values
            continue
        what, remedy, command = _describe(name, column, facts[position], columns)
        what = f"{what} The kernel of view {view!r} needs numbers."
        yield Finding("error", named("column", [name]), what, remedy, command)


def check_dates(
    columns: Columns, facts: list[dict[str, Any]], used: set[int], refused: dict[int, str]
) -> Iterator[Finding]:
    """Dates that kernels do read, as numbers that nobody had in mind."""
    for position, column in columns.others.items():
        if facts[position]["kind"] == "date" and position in used and position not in refused:
            name = columns.names[position]
            what, remedy, command = _describe(name, column.dropna(), facts[position], columns)
            what = f"{what} Kernels read them as nanoseconds."
            yield Finding("note", named("column", [name]), what, remedy, command)


def _describe(name: Any, filled: pd.Series, facts: dict[str, Any], columns: Columns) -> tuple[str, str, str]:
    """What a column holds, how it becomes numbers in Python, and what to do on the command line."""
    texts, recipes = filled.astype(str), columns.recipes
    shown = ", ".join(repr(text) for text in texts.unique()[:3])
    leave_out = option("--ignore", [name])
    if facts["kind"] == "date" or _are_dates(texts):
        remedy = _dates_to_numbers(name, filled.dtype.kind, texts, recipes)
        command = f"{leave_out}, or write it in the file as a number, such as days since the first."
        return f"it holds dates or times, such as {shown}.", remedy, command
    parsed = pd.to_numeric(texts, errors="coerce")
    if len(filled) and parsed.notna().mean() > 0.5:
        odd = texts[parsed.isna()].unique().tolist()
        rest = f", except {', '.join(map(repr, odd[:3]))}" if odd else ""
        frame, column = recipes.column(name)
        remedy = f'{frame}{column} = pd.to_numeric({column}, errors="coerce")'
        return f"it holds numbers written as text{rest}.", remedy, f"Correct it in the file, or {leave_out}"
    if facts["distinct"] == len(filled) and columns.n >= FEW_ROWS:
        what = (
            f"it holds {facts['kind']}, different in every row ({shown}, ...): names of rows, or sequences."
        )
        remedy = f"Give it a kernel that reads it, View(name, kernel, {name!r}). Or leave it out: "
        return what, remedy + recipes.drop([name]), leave_out
    more = ", ..." if facts["distinct"] > 3 else ""
    what = f"it holds {facts['kind']} of {facts['distinct']} kinds ({shown}{more})."
    remedy = recipes.one_hot(name)
    if recipes.kind == "frame":
        remedy = f"Give it to a kernel that reads categories: {_READS_GAPS}. Or {remedy}"
    return what, remedy, f"{option('--one-hot', [name])}, or {leave_out}"


def _are_dates(texts: pd.Series) -> bool:
    """Whether texts are dates: as good as all begin with a year, a month and a day, or end with the year."""
    return len(texts) > 0 and bool(texts.str.match(_DATE).mean() > 0.9)


def _dates_to_numbers(name: Any, dtype: str, texts: pd.Series, recipes: Recipes) -> str:
    """The line that makes seconds of dates, since the first of them, or of lengths of time."""
    frame, column = recipes.column(name)
    if dtype == "m":
        return f"{frame}{column} = {column}.dt.total_seconds()"
    if dtype == "M":
        return f"{frame}{column} = ({column} - {column}.min()).dt.total_seconds()"
    first = pd.to_numeric(texts.str.extract(r"^(\d+)", expand=False), errors="coerce")
    order = ", dayfirst=True" if 12 < first.max() < 32 else ""
    parsed = f'pd.to_datetime({column}, errors="coerce", format="mixed"{order}, utc=True)'
    return f"{frame}day = {parsed}; {column} = (day - day.min()).dt.total_seconds()"


def check_missing(columns: Columns, positions: dict[str, list[int]]) -> Iterator[Finding]:
    """Missing values in the columns of the views that cannot read them, given by the name of each view."""
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
    recipes, left_out = columns.recipes, option("--ignore", empty or names)
    fill = f"ill them within the folds: {recipes.fill(bool(columns.others))}"
    rows = f"Or leave the rows out: {recipes.known_rows(holed, len(columns.names))}"
    rows += f". Or give them to a kernel that reads gaps: {_READS_GAPS}"
    remedy, command = f"F{fill}. {rows}", f"Fill them in the file or take these rows out, or {left_out}"
    if _are_whole(gaps, positions):
        is_text = any(position in columns.others for position in holed)  # sequences, say, are not imputed
        remedy = f"{_LACK_VIEWS}. {rows}" if is_text else f"{_LACK_VIEWS}. Or f{fill}. {rows}"
        instead = command[0].lower() + command[1:]
        command = f"Samples lack whole views: fit with --set missing=complete. Or {instead}"
    elif empty:
        remedy = f"Leave out what is mostly empty: {recipes.drop(empty)}. Or f{fill}"
        remedy += f". Or give the rest to a kernel that reads gaps: {_READS_GAPS}"
        command = f"Leave out what is mostly empty, {left_out}, and fill the rest in the file."
    yield Finding("error", named("column", names), what, remedy, command)


def _are_whole(gaps: np.ndarray, positions: dict[str, list[int]]) -> bool:
    """Whether rows lack views as a whole, and each of them has some other view."""
    lacked = np.array([gaps[:, view].all(axis=1) for view in positions.values()])
    partly = np.array([gaps[:, view].any(axis=1) for view in positions.values()]) & ~lacked
    return bool(not partly.any() and not lacked.all(axis=0).any())


def _losses(gaps: np.ndarray, positions: dict[str, list[int]]) -> str:
    """How many rows each view would lose, where views differ in their columns."""
    if len({tuple(view) for view in positions.values()}) < 2:
        return ""
    losses = {name: int(gaps[:, view].any(axis=1).sum()) for name, view in positions.items()}
    most = sorted((name for name, lost in losses.items() if lost), key=lambda name: -losses[name])
    told = [f"view {name!r} lacks {losses[name]} rows" for name in most[:_NAMED_VIEWS]]
    return ", ".join(told) + (", ..." if len(most) > _NAMED_VIEWS else "")
