"""What two sets of answers say: which numbers differ, and which cases have become slower.

An answer is what a runner gives for one case (see ``runner.py``); a case has one answer for each repeat.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import geometric_mean, median
from typing import Any

MOST_MEAN, MOST_CASE = 1.05, 1.15  # times the other revision's CPU time
SHORT = 0.02  # seconds: shorter cases count in the mean only

Answer = dict[str, Any]


@dataclass
class Row:
    """One case of the comparison.

    Attributes
    ----------
    name : str
    differences : list of str, what must be equal and is not
    notes : list of str, what may differ and does
    before, after : float or None, medians of CPU time at the revision and in the work tree
    """

    name: str
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    before: float | None = None
    after: float | None = None

    @property
    def ratio(self) -> float | None:
        """The time in the work tree over that at the revision."""
        return None if self.before is None or self.after is None else self.after / self.before

    @property
    def is_slow(self) -> bool:
        """Whether it is slower than a single case may be."""
        if self.before is None or self.ratio is None:
            return False
        return self.before >= SHORT and self.ratio > MOST_CASE


@dataclass
class Comparison:
    """All cases, and the mean of their ratios."""

    rows: list[Row]

    @property
    def mean_ratio(self) -> float | None:
        """The geometric mean over all the cases that were timed."""
        ratios = [row.ratio for row in self.rows if row.ratio is not None]
        return geometric_mean(ratios) if ratios else None

    @property
    def is_slow(self) -> bool:
        """Whether the mean, or any case, is slower than it may be."""
        mean = self.mean_ratio
        return any(row.is_slow for row in self.rows) or (mean is not None and mean > MOST_MEAN)

    @property
    def passed(self) -> bool:
        """Whether everything is equal and nothing is slower."""
        return not self.is_slow and not any(row.differences for row in self.rows)


def compare(before: Mapping[str, list[Answer]], after: Mapping[str, list[Answer]]) -> Comparison:
    """The answers at the revision against those in the work tree, case by case.

    Times are compared where both have answered more than once: the first answer is the warm-up.
    """
    return Comparison([_row(name, before[name], after[name]) for name in after])


def _row(name: str, before: list[Answer], after: list[Answer]) -> Row:
    row = Row(name)
    first, second = before[0], after[0]
    if "error" in first or "error" in second:
        _compare_errors(row, first, second)
        return row
    row.differences += _differences(first["numbers"], second["numbers"])
    row.notes += _differences(first["notes"], second["notes"])
    row.notes += [f"new: {key}" for key in second["numbers"] if key not in first["numbers"]]
    for where, answers in (("at the revision", before), ("in the work tree", after)):
        changing = {
            key for other in answers[1:] for key in _differing(answers[0]["numbers"], other["numbers"])
        }
        if changing:
            row.differences.append(f"{', '.join(sorted(changing))}: not the same in every repeat {where}")
    if len(before) > 1 and len(after) > 1:
        row.before, row.after = (median(a["seconds"] for a in answers[1:]) for answers in (before, after))
    return row


def _compare_errors(row: Row, first: Answer, second: Answer) -> None:
    if first.get("unknown") and "error" not in second:
        row.notes.append("new: the revision does not know it")
    elif second.get("unknown") and "error" not in first:
        row.differences.append("gone: the work tree does not know it")
    else:
        row.differences.append(f"{first.get('error', 'no error')} → {second.get('error', 'no error')}")


def _differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """The names whose values are not equal, those that are gone included."""
    parts = ("dtype", "shape", "sha256")
    return [
        key
        for key, value in first.items()
        if key not in second or any(value[part] != second[key][part] for part in parts)
    ]


def _differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    return [
        f"{key} is gone" if key not in second else f"{key}: {_describe(first[key], second[key])}"
        for key in _differing(first, second)
    ]


def _describe(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """In which way two arrays differ."""
    texts = all(value["dtype"][1] == "U" for value in (first, second))
    if first["shape"] != second["shape"] or (first["dtype"] != second["dtype"] and not texts):
        kinds = (f"{value['dtype'][1:]}{tuple(value['shape'])}" for value in (first, second))
        return " → ".join(kinds)
    pairs = list(zip(first["values"], second["values"], strict=True))
    unlike = [(a, b) for a, b in pairs if a != b and not (a != a and b != b)]
    if not unlike:
        return f"equal in the first {len(pairs)} values, not in all"
    if len(pairs) == 1:
        return f"{unlike[0][0]!r} → {unlike[0][1]!r}"
    counted = f"{len(unlike)} of {len(pairs)} values"
    if not all(isinstance(value, int | float) for pair in unlike for value in pair):
        return counted
    size = max(abs(value) for pair in pairs for value in pair if math.isfinite(value))
    far = max(abs(a - b) for a, b in unlike)
    return f"{counted}, by at most {far / size if size else far:.1e} of the largest"


# ---------------------------------------------------------------------- tables
def summary(found: Comparison) -> str:
    """One paragraph."""
    differing = [row for row in found.rows if row.differences]
    lines = [f"{len(found.rows) - len(differing)} of {len(found.rows)} cases are equal bit for bit."]
    if found.mean_ratio is not None:
        timed = [row for row in found.rows if row.ratio is not None]
        slow = [row.name for row in timed if row.is_slow]
        long = [row for row in timed if row.before is not None and row.before >= SHORT]
        lines.append(
            f"CPU time of {len(timed)} cases, after / before: geometric mean {found.mean_ratio:.3f} (at most "
            f"{MOST_MEAN}); more than {MOST_CASE} in: {', '.join(slow) or 'none'}."
        )
        if long:
            worst = max(long, key=lambda row: row.ratio or 0.0)
            lines.append(f"The largest of {SHORT * 1e3:g} ms and more is {worst.ratio:.3f}, {worst.name}.")
    return " ".join(lines)


def markdown(found: Comparison, everything: bool = True) -> str:
    """A table of all cases, or of those with something to say."""
    lines = ["| case | numbers | before | after | ratio | notes |", "|---|---|---|---|---|---|"]
    for row in found.rows:
        if not (everything or row.differences or row.notes or row.ratio is not None):
            continue
        times = ["–"] * 3
        if row.ratio is not None and row.before is not None and row.after is not None:
            mark = " **slow**" if row.is_slow else ""
            times = [f"{row.before * 1e3:.1f} ms", f"{row.after * 1e3:.1f} ms", f"{row.ratio:.3f}{mark}"]
        numbers = "; ".join(row.differences) or "equal"
        lines.append("| " + " | ".join([row.name, numbers, *times, "; ".join(row.notes)]) + " |")
    return "\n".join(lines)
