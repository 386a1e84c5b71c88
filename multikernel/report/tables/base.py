"""What all tables of a report share: how they are made, and the columns that several have."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from multikernel.report.words import format_cell, format_difference

Table = dict[str, Any]
# The head of a column, and what it tells of a row.
Columns = dict[str, Callable[[Any], Any]]

MOST = 10  # rows of the samples that were missed most


def make_table(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: int = 1,
    given: Sequence[str] = (),
    note: str = "",
) -> Table:
    """Return a table whose first `words` columns are words and whose others are numbers.

    Names of further columns that come from the data are `given`; the `note` says how the figures were made.
    """
    heads = [{"name": name, "number": i >= words, "given": False} for i, name in enumerate(columns)]
    heads += [{"name": str(name), "number": True, "given": True} for name in given]
    cells = [list(map(str, row)) for row in rows]
    return {"caption": caption, "columns": heads, "rows": cells, "note": note, "marked": []}


def tell(caption: str, columns: Columns, rows: Sequence[Any], **more: Any) -> Table:
    """A table that tells the same of each row."""
    cells = [[cell_of(row) for cell_of in columns.values()] for row in rows]
    return make_table(caption, list(columns), cells, **more)


def its_sd(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """The spread of the differences, where it is known, fold by fold; the model itself has none."""
    if all(row.get("difference_sd") is None for row in rows):
        return {}
    return {"Its SD": lambda row: spread(row.get("difference_sd") if row.get("verdict", "tie") else None)}


def its_interval(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """The interval of each difference, where it is known."""
    if all(row.get("low") is None for row in rows):
        return {}
    return {
        "95% interval": lambda row: (
            "–"
            if row.get("low") is None
            else f"{format_difference(row['low'])} to {format_difference(row['high'])}"
        )
    }


def spread(sd: float | None) -> str:
    return "–" if sd is None else f"±{format_cell(sd)}"


def have_ids(samples: Sequence[Mapping[str, Any]]) -> bool:
    return bool(samples) and all(sample.get("id") is not None for sample in samples)


def which_sample(samples: Sequence[Mapping[str, Any]]) -> Columns:
    """The column that says which sample it is: by its id where all have one, else by its row."""
    return {"Sample": itemgetter("id")} if have_ids(samples) else {"Row": itemgetter("row")}


def three_decimals(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def sentence(text: str) -> str:
    """End a phrase with one full stop."""
    return f"{text.rstrip('.')}."
