"""The columns of a feature table: what they hold, and what of it a kernel of numbers cannot use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from multikernel._validation import is_frame
from multikernel.doctor.diagnosis import Finding, Recipes, named, option, percent
from multikernel.doctor.target import Target
from multikernel.rows.tables import count_rows, take_rows
from multikernel.views.tables import n_columns

_LARGEST_TABLE = 20_000_000  # entries; of a larger table a sample of rows is examined
FEW_ROWS = 20  # with fewer rows, distinct whole numbers are no sign of an identifier
_SHARED_ENTRIES = 5  # equal columns that differ from their usual value in fewer rows may be equal by chance
_EXTREME = 0.01  # how far out the others are beside the farthest entry
_MOST_COMPARED = 500_000_000  # entries, in the search for copies among columns with gaps
_ID_NAMES = ("id", "index", "row", "rowid", "unnamed: 0", "nr", "no")
_NAMED_VIEWS = 3
_READS_GAPS = "View(name, Mixed(), columns)"
_LACK_VIEWS = (
    "Take samples that lack a view as they are: "
    'model = model.set_params(kernels=KernelBank(model.kernels, missing="complete"))'
)
_DATE = r"\s*(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})(?:[ T]\d{1,2}:\d\d.*)?\s*$"


@dataclass
class Columns:
    """The columns of a table, numbers apart from the rest."""

    names: list[Any]  # of all columns: those of a DataFrame, else positions
    positions: np.ndarray  # of the columns of numbers in the table
    numbers: np.ndarray  # (n, n_numbers), NaN where a value is missing or infinite
    others: dict[int, pd.Series]  # the columns that are no numbers, by position
    infinite: np.ndarray  # (n, n_numbers)
    rows: np.ndarray  # which rows of the table these are
    recipes: Recipes  # how remedies are written for this table

    @property
    def n(self) -> int:
        """How many rows were read."""
        return len(self.rows)

    def missing(self) -> np.ndarray:
        """Which entries are missing; shape (n, n_columns)."""
        found = np.zeros((self.n, len(self.names)), dtype=bool)
        found[:, self.positions] = np.isnan(self.numbers) & ~self.infinite
        for position, column in self.others.items():
            found[:, position] = column.isna().to_numpy()
        return found


def read_columns(table: Any, rng: np.random.Generator, recipes: Recipes) -> Columns | None:
    """The columns of what `as_table` returned; None for a list of objects."""
    d, n = n_columns(table), count_rows(table)
    if d is None or n == 0 or d == 0:
        return None
    rows = np.arange(n)
    if n * d > _LARGEST_TABLE:
        rows = np.sort(rng.choice(n, max(100, _LARGEST_TABLE // d), replace=False))
        table = take_rows(table, rows)
    names = list(table.columns) if is_frame(table) else list(range(d))
    numbers, positions, others = _split(table, d)
    infinite = np.isinf(numbers)
    if infinite.any():
        numbers = np.where(infinite, np.nan, numbers)
    return Columns(names, positions, numbers, others, infinite, rows, recipes)


def _split(table: Any, d: int) -> tuple[np.ndarray, np.ndarray, dict[int, pd.Series]]:
    if scipy.sparse.issparse(table):
        table = table.toarray()
    if not is_frame(table) and table.dtype.kind in "fiub":
        return table.astype(np.float64), np.arange(d), {}
    frame = table if is_frame(table) else pd.DataFrame(table).infer_objects()
    columns = [frame.iloc[:, j] for j in range(d)]
    numeric = [pd.api.types.is_numeric_dtype(c.dtype) and c.dtype.kind != "c" for c in columns]
    others = {j: column for j, column in enumerate(columns) if not numeric[j]}
    kept = [j for j in range(d) if j not in others]
    if not kept:
        return np.empty((len(frame), 0)), np.array([], dtype=int), others
    # the columns of one type together: a frame of ten thousand columns is read at once
    numbers = frame.iloc[:, kept].to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers, np.array(kept), others


# --- what they hold ----------------------------------------------------------------------------------------


def describe_columns(columns: Columns) -> list[dict[str, Any]]:
    """One dictionary for each column: name, kind, missing, distinct, low, high."""
    ordered = np.sort(columns.numbers, axis=0)  # missing values come last
    with np.errstate(invalid="ignore"):
        distinct = (np.diff(ordered, axis=0) > 0.0).sum(axis=0) + 1
    gaps, absent = columns.missing().sum(axis=0), np.isnan(columns.numbers).sum(axis=0)
    described: list[dict[str, Any]] = [{}] * len(columns.names)
    for place, position in enumerate(columns.positions):
        present = columns.n - int(absent[place])
        described[position] = {
            "kind": "number",
            "distinct": int(distinct[place]) if present else 0,
            "low": float(ordered[0, place]) if present else None,
            "high": float(ordered[present - 1, place]) if present else None,
        }
    for position, column in columns.others.items():
        filled = column.dropna()
        described[position] = {
            "kind": _kind(filled),
            "distinct": int(filled.astype(str).nunique()),
            "low": None,
            "high": None,
        }
    return [
        {"name": str(name), "missing": int(gap), "alone": None} | facts
        for name, gap, facts in zip(columns.names, gaps, described, strict=True)
    ]


def _kind(filled: pd.Series) -> str:
    if filled.dtype.kind in "mM":
        return "date"
    return "text" if filled.empty or filled.map(lambda entry: isinstance(entry, str)).all() else "objects"


# --- what is wrong with them -------------------------------------------------------------------------------


def check_columns(columns: Columns, facts: list[dict[str, Any]], used: set[int]) -> Iterator[Finding]:
    """Findings on the columns at the positions `used`, apart from those that are no numbers."""
    yield from _check_infinite(columns, used)
    # with gaps it is told with them: they may tell something
    alike = [p for p in columns.positions if facts[p]["distinct"] == 1 and not facts[p]["missing"]]
    flat = [columns.names[p] for p in alike if p in used]
    if flat:
        what = f"{'it holds' if len(flat) == 1 else 'each holds'} one value only and tells nothing."
        yield drop_finding("note", columns, flat, what)
    yield from _check_extremes(columns, used)
    for place, position in enumerate(columns.positions):
        if position in used and _counts_rows(
            columns.numbers[:, place], columns.names[position], facts[position]
        ):
            what = f"whole numbers, different in all {columns.n} rows: it seems to count or name the rows."
            yield drop_finding("warning", columns, [columns.names[position]], what)
    yield from _check_equal(columns, used)


def drop_finding(level: str, columns: Columns, names: list[Any], what: str, before: str = "") -> Finding:
    """A finding on columns that are to be left out; `before` begins its remedy."""
    line, options = columns.recipes.drop(names), option("--ignore", names)
    return Finding(level, named("column", names), what, f"{before}{line}", f"{before}{options}")


def _check_infinite(columns: Columns, used: set[int]) -> Iterator[Finding]:
    counts = columns.infinite.sum(axis=0)
    places = [p for p, position in enumerate(columns.positions) if counts[p] and position in used]
    if places:
        what = f"{int(counts[places].sum())} entries are infinite."
        names = [columns.names[columns.positions[p]] for p in places]
        recipes = columns.recipes
        remedy = (
            f"Fill them as missing: {recipes.infinite_to_missing()}; {recipes.fill(bool(columns.others))}"
        )
        command = f"Correct them in the file, or {option('--ignore', names)}"
        yield Finding("error", named("column", names), what, remedy, command)


def _check_extremes(columns: Columns, used: set[int]) -> Iterator[Finding]:
    """A few entries so far out that beside them all others are one and the same, standardised or not."""
    if columns.n < FEW_ROWS:
        return
    for place, position in enumerate(columns.positions):
        column = columns.numbers[:, place]
        values = column[~np.isnan(column)]
        rest = _without_extremes(values) if position in used and len(values) >= FEW_ROWS else values
        if len(rest) == len(values):
            continue
        low, high, name = float(rest.min()), float(rest.max()), columns.names[position]
        row = int(np.nanargmax(np.maximum(column - high, low - column)))
        what = (
            f"{column[row]:.6g} in row {int(columns.rows[row])} is more than {1.0 / _EXTREME:.0f} times as "
            f"far out as {percent(len(rest), len(values))} of the entries ({low:.4g} to {high:.4g}), "
            f"which a kernel cannot distinguish next to it, standardized or not."
        )
        cut = columns.recipes.clip(name, low, high)
        remedy = f"Correct it if it is a mistake, or take logarithms, or cut it off: {cut}"
        command = f"Correct it in the file, or {option('--ignore', [name])}"
        yield Finding("warning", named("column", [name]), what, remedy, command)


def _without_extremes(values: np.ndarray) -> np.ndarray:
    """The values without the farthest ones, one in twenty at most; all of them if none is extreme."""
    far = np.abs(values / 2.0 - np.median(values) / 2.0)  # halves do not overflow
    most = max(1, len(values) // 20)
    bound = _EXTREME * float(far.max())
    # where half of the column is one value it is one of counts, or an indicator
    extreme = float(np.partition(far, -most - 1)[-most - 1]) < bound and np.median(far) > 0.0
    return values[far < bound] if extreme else values


def _counts_rows(numbers: np.ndarray, name: Any, facts: dict[str, Any]) -> bool:
    """Whole numbers, all different, that rise with the rows, fill a range, or are called an identifier."""
    n = len(numbers)
    if facts["distinct"] < n or n < FEW_ROWS or not (numbers == np.round(numbers)).all():
        return False
    text = str(name).strip().lower()
    called = text in _ID_NAMES or text.endswith(("_id", " id"))
    return bool(called or numbers.max() - numbers.min() == n - 1 or (np.diff(numbers) > 0.0).all())


def _check_equal(columns: Columns, used: set[int]) -> Iterator[Finding]:
    places = [p for p, position in enumerate(columns.positions) if position in used]
    numbers = columns.numbers[:, places] + 0.0  # −0 becomes 0
    present = ~np.isnan(numbers)
    places = [p for p, column in enumerate(numbers.T) if _n_unusual(column[present[:, p]]) >= _SHARED_ENTRIES]
    names = [columns.names[position] for position in columns.positions if position in used]
    first: dict[bytes, int] = {}
    copies = {}
    for place in places:
        source = first.setdefault(np.ascontiguousarray(numbers[:, place]).tobytes(), place)
        if source != place:
            copies[place] = source
    copies |= _copies_with_gaps(numbers, present, list(first.values()))
    if copies:
        extra = [names[place] for place in sorted(copies)]
        source = names[copies[min(copies)]]
        what = f"equal to another in every row that has both: {extra[0]!r} to {source!r}."
        yield drop_finding("note", columns, extra, what)


def _copies_with_gaps(numbers: np.ndarray, present: np.ndarray, places: list[int]) -> dict[int, int]:
    """Columns with gaps, and another with fewer of them that has the same in at least half of the rows."""
    counts = present.sum(axis=0)
    copies: dict[int, int] = {}
    holed = [place for place in places if counts[place] < len(numbers)]
    for place in holed[: max(1, _MOST_COMPARED // max(numbers.size, 1))]:
        shared = present & present[:, [place]]
        same = ((numbers == numbers[:, [place]]) | ~shared).all(axis=0) & (
            2 * shared.sum(axis=0) > len(numbers)
        )
        others = [
            o for o in places if same[o] and o not in copies and (-counts[o], o) < (-counts[place], place)
        ]
        unusual = [o for o in others if _n_unusual(numbers[shared[:, o], place]) >= _SHARED_ENTRIES]
        if unusual:
            copies[place] = unusual[0]
    return copies


def _n_unusual(column: np.ndarray) -> int:
    return int((column != usual_value(column)).sum()) if len(column) else 0


def usual_value(column: np.ndarray) -> float:
    """The value in the middle, which is the usual one of a column of counts."""
    return float(np.partition(column, len(column) // 2)[len(column) // 2])


def check_rows(columns: Columns, target: Target, used: set[int]) -> Iterator[Finding]:
    """Rows that occur several times, and those of them that contradict one another in the target.

    Rows that agree in the columns but not in a value to be learned are measurements, not copies.
    """
    hashes = _row_hashes(columns, used)
    y = target.values[columns.rows]
    if target.task in ("regression", "survival"):
        hashes = hashes * 31 + np.array([hash(value) for value in y.tolist()])
    _, groups, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    again = int((counts - 1).sum())
    if not again:
        return
    repeated = counts[groups] > 1
    example = np.flatnonzero(groups == groups[int(np.flatnonzero(repeated)[0])])[:2]
    at = [int(columns.rows[row]) for row in example]
    once = columns.recipes.distinct_rows(sorted(used), len(columns.names), target.task == "regression")
    once = "" if target.task == "survival" else f" Or keep one of each: {once}"
    yield Finding(
        "note",
        "rows",
        f"{again} of {columns.n} ({percent(again, columns.n)}) repeat an earlier one, for example rows "
        f"{at[0]} and {at[1]}; where one trains and the other tests, the score flatters.",
        f"Keep copies in one fold with GroupKFold.{once}",
        "Keep one of each in the file.",
    )
    if target.task == "classification" and target.known.all():
        yield from _check_contradictions(groups, y, columns.n)


def _check_contradictions(groups: np.ndarray, target: np.ndarray, n: int) -> Iterator[Finding]:
    pairs = pd.DataFrame({"group": groups, "target": target}).value_counts().reset_index()
    by_group = pairs.groupby("group")["count"].agg(["size", "sum", "max"])
    by_group = by_group[by_group["size"] > 1]
    mixed, lost = int(by_group["sum"].sum()), int((by_group["sum"] - by_group["max"]).sum())
    if mixed:
        level = "warning" if lost > 0.01 * n else "note"
        what = (
            f"{mixed} rows equal another of a different target; no model can be right on {lost} of them "
            f"({percent(lost, n)} of all)."
        )
        yield Finding(level, "rows", what, "Look for lost columns or mistaken labels in these rows.")


def _row_hashes(columns: Columns, used: set[int]) -> np.ndarray:
    kept = [place for place, position in enumerate(columns.positions) if position in used]
    numbers = np.ascontiguousarray(columns.numbers[:, kept] + 0.0)  # −0 becomes 0
    hashes = np.array([hash(row.tobytes()) for row in numbers])
    for position, column in columns.others.items():
        if position in used:
            texts = column.astype(str)
            hashes = hashes * 31 + np.array([hash(text) for text in texts])
    return hashes


# --- columns that are no numbers, and values that are missing -----------------------------------------------


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
    """Dates that kernels do read, as numbers, which is rarely intended."""
    for position, column in columns.others.items():
        if facts[position]["kind"] == "date" and position in used and position not in refused:
            name = columns.names[position]
            what, remedy, command = _describe(name, column.dropna(), facts[position], columns)
            what = f"{what} Kernels read them as days."
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


def check_absent(columns: Columns, positions: dict[str, list[int]]) -> list[Finding] | None:
    """That samples lack tables after a join, which a fit takes; None where more than that is missing."""
    gaps = columns.missing()
    if not _are_whole(gaps, positions):
        return None
    used = sorted({position for view in positions.values() for position in view})
    lost = int(gaps[:, used].any(axis=1).sum())
    what = f"{lost} of {columns.n} samples ({percent(lost, columns.n)}) lack a table."
    remedy = 'A fit scales the views that they have; or choose: KernelBank(kernels, missing="complete")'
    command = "A fit scales the views that they have; or choose, --set missing=complete, or --join inner"
    return [Finding("note", "tables", what, remedy, command)]


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
