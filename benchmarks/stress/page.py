"""The tables of a run: by category, by C, by size, and the fits that failed."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.store import Record
from benchmarks.stress.fitting import ALLOWED, LIMIT
from benchmarks.stress.problems import CATEGORIES, TOL

SIZES = ((50, 199), (200, 499), (500, 999), (1000, 2000))
MOST_RATIO = 30.0  # of the time of a fit to the median of its size
MAX_FAILED = 60
# Share certified before there was an interior-point method: the package of commit 189be80, 89 fits of seed 0
# with at most 800 samples. 7 of them took more than 60 s.
BEFORE = {
    "raw linear": 100, "raw polynomial 2": 22, "raw polynomial 3": 40, "raw mixed": 78, "scales apart": 100,
    "rank one": 80, "duplicates": 100, "imbalance": 86, "near singular": 100, "C extremes": 100, "joint": 88,
    "named": 0, "**all**": 72,
}  # fmt: skip
_CELLS = (
    "fits | certified | stalled | max_iter | timeout | exception | other "
    "| median s | largest s | largest ratio"
)


def size_class(n: int) -> tuple[int, int]:
    """The class of sizes that n lies in."""
    return next(size for size in SIZES if n <= size[1])


def medians(records: Sequence[Record]) -> dict[tuple[int, int], float]:
    """The median time of a fit in each class of sizes."""
    by_size: dict[tuple[int, int], list[float]] = {}
    for record in records:
        by_size.setdefault(size_class(record["n"]), []).append(record["seconds"])
    return {size: statistics.median(times) for size, times in by_size.items()}


def ratio(record: Record, middle: Mapping[tuple[int, int], float]) -> float:
    """The time of a fit over the median of its size."""
    return float(record["seconds"] / max(middle[size_class(record["n"])], 1e-9))


def cells(records: Sequence[Record], middle: Mapping[tuple[int, int], float]) -> list[str]:
    """The cells of a line of a table."""
    outcomes = [record["outcome"] for record in records]
    counts = [outcomes.count(name) for name in ("stalled", "max_iter", "timeout", "exception")]
    uncertified = sum(record["outcome"] == "optimal" and not record["certified"] for record in records)
    others = len(outcomes) - outcomes.count("optimal") - sum(counts) + uncertified
    times = [record["seconds"] for record in records]
    share = sum(record["certified"] for record in records) / len(records)
    return [
        str(len(records)),
        f"{100.0 * share:.1f} %",
        *map(str, counts),
        str(others),
        f"{statistics.median(times):.2f}",
        f"{max(times):.1f}",
        f"{max(ratio(record, middle) for record in records):.0f}",
    ]


def table(title: str, groups: Mapping[str, Sequence[Record]], middle: Mapping[tuple[int, int], float]) -> str:
    """A table with a line for each group that has records."""
    lines = [f"| {title} | {_CELLS} |", "|---|" + "--:|" * (_CELLS.count("|") + 1)]
    for name, records in groups.items():
        if records:
            lines.append(f"| {name} | " + " | ".join(cells(records, middle)) + " |")
    return "\n".join(lines)


def grouped(records: Sequence[Record], key: Callable[[Record], Any], names: Sequence[Any]) -> dict[str, Any]:
    """Records by a key, in the order of the names."""
    return {str(name): [record for record in records if key(record) == name] for name in names}


def before_table(by_category: Mapping[str, Sequence[Record]]) -> str:
    """The share certified in each category, before and now."""
    lines = ["| category | before | now |", "|---|--:|--:|"]
    for name, records in by_category.items():
        if records:
            share = sum(record["certified"] for record in records) / len(records)
            lines.append(f"| {name} | {BEFORE[name]} % | {100.0 * share:.1f} % |")
    return "\n".join(lines)


def failed_table(records: Sequence[Record], middle: Mapping[tuple[int, int], float]) -> str:
    """The fits that were not certified, or took too long; each can be repeated by its number."""
    failed = [r for r in records if not r["certified"] or ratio(r, middle) > MOST_RATIO]
    if not failed:
        return "None."
    lines = [
        "| number | category | n | m | loss | C | norm | outcome | its gap | judged gap | s |",
        "|--:|---|--:|--:|---|--:|--:|---|--:|--:|--:|",
    ]
    for r in failed[:MAX_FAILED]:
        gaps = ["" if r[key] is None else f"{r[key]:.1e}" for key in ("gap", "judged")]
        name = r["category"] + (f": {r['name']}" if r["name"] else "")
        values = [r["number"], name, r["n"], r["m"], r["loss"], f"{r['C']:g}", r["norm"], r["outcome"], *gaps]
        lines.append("| " + " | ".join(map(str, [*values, f"{r['seconds']:.1f}"])) + " |")
    if len(failed) > MAX_FAILED:
        lines.append(f"\nand {len(failed) - MAX_FAILED} more.")
    return "\n".join(lines)


def tables(records: Sequence[Record]) -> str:
    """All tables."""
    middle = medians(records)
    by_category = grouped(records, lambda r: r["category"], list(CATEGORIES)) | {"**all**": records}
    priced = [record for record in records if record["loss"] != "one_class"]
    prices = sorted({record["C"] for record in priced})
    by_C = {f"{C:g}": [record for record in priced if record["C"] == C] for C in prices}
    losses = sorted({record["loss"] for record in records})
    by_size = {
        f"{low} to {high}": [record for record in records if size_class(record["n"]) == (low, high)]
        for low, high in SIZES
    }
    return f"""## By category

{table("category", by_category, middle)}

## Before and now

Share of fits that are certified. **before**: at commit 189be80, which had no interior-point method, 89 fits
of seed 0 with at most 800 samples.

{before_table(by_category)}

## By C

One-class machines have no C.

{table("C", by_C, middle)}

## By loss

{table("loss", grouped(records, lambda r: r["loss"], losses), middle)}

## By size

{table("n", by_size, middle)}

## Failed

Not certified, or more than {MOST_RATIO:g} times the median of its size.

{failed_table(records, middle)}"""


def page(records: Sequence[Record], about: Mapping[str, str], limit: float = LIMIT) -> str:
    """The page of the documentation."""
    facts = "; ".join(f"{name} {value}" for name, value in about.items())
    return f"""---
orphan: true
---

# Random fits, each judged

{len(records)} random convex fits of `MKLClassifier`, `MKLRegressor`, `MKLRidge` and `MKLOneClass` on raw and
ill-scaled kernels, none of them standardized or normalized by the package; tol is {TOL:g}. A fit is
**certified** if its status is "optimal" and its duality gap, computed by `judges.margin_gap` from the kernels
and the coefficients alone, is at most {ALLOWED:g} times tol. Each fit has {limit:g} s of CPU time on one
thread; compilation is not counted. **other**: "optimal" but not certified by the judge, or another status.
**largest ratio**: of the time of a fit to the median of all fits of its size (the table by size).

{tables(records)}

Measured by: {facts}.
"""
