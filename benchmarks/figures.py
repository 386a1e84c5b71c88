"""What a section says: a figure with its requirement, and a table of what was measured."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.plan import Case

NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Figure:
    """One row of the table of figures.

    `reached` is None where the figure is stated for the record; `case` is where it is worst, for the profile.
    """

    what: str
    required: str
    measured: str
    reached: bool | None
    repeats: str
    case: Case | None = None

    @property
    def outcome(self) -> str:
        """What the table says of the figure."""
        if self.measured == NOT_MEASURED:
            return "–"
        return {True: "reached", False: "**missed**", None: "for the record"}[self.reached]


@dataclass(frozen=True)
class Table:
    """A Markdown table with a title and a sentence on what it holds."""

    title: str
    text: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """The table, title and sentence first."""
        lines = [f"### {self.title}", "", self.text, "", markdown_row(self.header)]
        lines.append(markdown_row(["---"] * len(self.header)))
        lines += [markdown_row(row) for row in self.rows]
        return "\n".join(lines) + "\n"


def markdown_row(cells: Sequence[str]) -> str:
    """One row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def seconds(value: float) -> str:
    """A time in ms below a second, in s above."""
    return f"{1e3 * value:.3g} ms" if value < 1.0 else f"{value:.3g} s"


def bounds_text(limit: float, middle: float, *, at_most: bool) -> str:
    """The requirement on the worst case and on the median."""
    sign = "≤" if at_most else "≥"
    return f"worst {sign} {limit:g}, median {sign} {middle:g}"


def worst_ratio(
    measured: Sequence[tuple[Case, float]], limit: float, *, at_most: bool, middle_limit: float | None = None
) -> tuple[str, bool, Case]:
    """The text "worst …, median …, within in k of N cases", whether all are within, and the worst case.

    With `middle_limit` the median must be within that, too.
    """
    ordered = sorted(measured, key=lambda pair: pair[1], reverse=at_most)
    case, worst = ordered[0]
    within: Callable[[float], bool] = (lambda v: v <= limit) if at_most else (lambda v: v >= limit)
    count = sum(within(value) for _, value in measured)
    middle = statistics.median(value for _, value in measured)
    text = f"worst {worst:.3g} ({case}), median {middle:.3g}; within in {count} of {len(measured)} cases"
    reached = count == len(measured)
    if middle_limit is not None:
        reached &= middle <= middle_limit if at_most else middle >= middle_limit
    return text, reached, case


def not_measured(what: str, required: str) -> Figure:
    """The row of a figure that no run has taken yet."""
    return Figure(what, required, NOT_MEASURED, None, "0")
