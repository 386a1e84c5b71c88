"""From the results of `run_method` to units and rows of tables and of curves, and the picture of curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from studies.compare import compare, comparison_row, group_results
from studies.gonen2010.localized.setting import (
    GAIN,
    Pair,
    Problem,
    beside,
    pair_values,
    score_values,
    settings_remark,
)
from studies.gonen2010.published_localized import NUMBERS
from studies.study import Quantity, Result, Summary, Unit

Results = Sequence[tuple[Unit, Result]]
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Section:
    """What a part of a table is about.

    Attributes
    ----------
    title : str
    problem : Problem
    score : {"accuracy", "mse"}
    stem : str
        Of the entry whose printed numbers stand beside ours.
    stand_in : str
        See `comparison_row`.
    """

    title: str
    problem: Problem
    score: str
    stem: str
    stand_in: str = ""


def make_units(
    function: Callable[..., Result],
    methods: Sequence[str],
    splits: int,
    datasets: tuple[str, ...],
    **more: Any,
) -> list[Unit]:
    """Return a unit for each method and split; `more` are further arguments of all of them."""
    return [
        Unit(f"{method}/split={split:02d}", function, {"method": method, "split": split} | more, datasets)
        for method in methods
        for split in range(splits)
    ]


def by_method(results: Results) -> dict[str, list[Result]]:
    """Return the results over the splits of each method."""
    return group_results(results, lambda given: str(given["method"]))


def score_rows(section: Section, found: Mapping[str, Sequence[Result]]) -> Rows:
    """Return a row with score and support vectors for each method."""
    printed = NUMBERS.get(section.stem, {})
    return [
        comparison_row(
            section.title,
            {"method": section.problem.methods[method].label},
            score_values(group, printed.get(method, {}), section.score),
            settings_remark(group),
            stand_in=section.stand_in,
        )
        for method, group in found.items()
    ]


def weight_rows(
    section: Section, found: Mapping[str, Sequence[Result]], kernels: Sequence[str] | None
) -> Rows:
    """Return a row with the mean weight of each kernel, and how many are active, for each method.

    ``kernels`` are the keys of the printed weights, in the order of ours; None where they are other kernels.
    """
    printed = NUMBERS.get(section.stem, {})
    rows = []
    for method, group in found.items():
        cells = printed.get(method) if kernels else None
        weights = None if cells is None else [cells[key] for key in kernels or ()]
        values = {
            "weights": beside([result["weights"] for result in group], weights),
            "active": beside(
                [result["active"] for result in group], None if cells is None else cells["active"]
            ),
        }
        labels = {"method": section.problem.methods[method].label}
        rows.append(comparison_row(section.title, labels, values, stand_in=section.stand_in))
    return rows


def pair_rows(
    title: str, pairs: Sequence[Pair], labels: Mapping[str, str], found: Mapping[str, Sequence[Result]]
) -> Rows:
    """Return a row for each comparison that the text makes, of methods that were run."""
    rows = []
    for pair in pairs:
        if pair.ours not in found or pair.rival not in found:
            continue
        names = {"test": "score", "support": "support vectors"}
        said, values, remark = pair_values(pair, found)
        heads = {"method": labels[pair.ours], "rival": labels[pair.rival], "of": names[pair.quantity]} | said
        rows.append(comparison_row(title, heads, values, remark))
    return rows


PAIR_QUANTITIES = GAIN


def curve_rows(section: Section, found: Mapping[str, Sequence[Result]], numbers: Mapping[str, int]) -> Rows:
    """Return a row for each number of kernels: `score_rows` with that number as the label."""
    rows = []
    for method, group in found.items():
        labels = {"kernels": str(numbers[method])}
        values = score_values(group, {}, section.score)
        rows.append(
            comparison_row(section.title, labels, values, settings_remark(group), stand_in=section.stand_in)
        )
    return rows


CURVE_QUANTITIES = (Quantity("active", "active kernels", 2, difference=False),)


def draw_curves(score: str, label: str, summary: Summary, path: Path) -> None:
    """Draw score and support vectors against the number of kernels, with one standard deviation over folds.

    Parameters
    ----------
    score, label : str
        The key of the score, and what its axis says.
    summary : dict
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    rows = [row for row in summary["rows"] if "kernels" in row["labels"]]
    numbers = [int(row["labels"]["kernels"]) for row in rows]
    figure = Figure(figsize=(10.0, 4.0), layout="constrained")
    for axes, key, name in zip(
        figure.subplots(1, 2), (score, "support"), (label, "support vectors, %"), strict=True
    ):
        means = [row["values"][key]["mean"] for row in rows]
        spreads = [row["values"][f"{key}_sd"]["mean"] for row in rows]
        axes.errorbar(numbers, means, spreads, fmt="o-", color="#1f5f9e", capsize=3, markersize=4)
        axes.set(xlabel="number of kernels P", ylabel=name, xticks=numbers)
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


def fold_mean(group: Sequence[Result], key: str) -> dict[str, Any]:
    """Return the estimate over the splits of a mean over the folds."""
    return compare([float(np.mean(result[key])) for result in group])
