"""Figures 5.1 to 5.6: what regularizing does to kernels, accuracies and the number of iterations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from studies.compare import compare, comparison_row, group_results
from studies.gonen2010.measuring import fold_means, tested_text
from studies.gonen2010.published import NUMBERS, cells_of
from studies.gonen2010.search import (
    KERNELS,
    LABELS,
    SEARCH_PROTOCOL,
    SIGNS,
    SPLITS_OF,
    TITLES,
    VERSIONS,
    centered,
    search_units,
    tasks_of,
)
from studies.gonen2010.setting import PROTOCOL, THIRDS, draw_folds, fold_stacks
from studies.study import Quantity, Result, Summary, Table, Unit

_SUBJECTS = {"5.2": "5.4", "5.3": "5.6", "5.4": "5.8", "5.5": "5.9"}
_SHOWN = ("mkl", "rmkl", "emkl", "rwkl")


def _bar_rows(table: str, results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    tasks = tasks_of(table)
    rows = []
    for key, group in group_results(results, itemgetter("task")).items():
        base = fold_means(group, "mkl", "accuracy")
        for method in _SHOWN:
            values = {
                "gain": compare(fold_means(group, method, "accuracy") - base),
                "active": compare(fold_means(group, method, "active")),
                "support": compare(fold_means(group, method, "support")),
            }
            text = "" if method == "mkl" else tested_text(group, method, "mkl", SIGNS)
            rows.append(
                comparison_row(
                    tasks[key].name,
                    {"method": LABELS[method]},
                    values,
                    f"F test: {text}" if text else "",
                    stand_in=tasks[key].stand_in,
                )
            )
    return rows


def draw_bars(summary: Summary, path: Path) -> None:
    """Draw the gain in accuracy over MKL and the number of kernels in use, as bars for each task.

    Parameters
    ----------
    summary : dict
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    tasks = list(dict.fromkeys(row["section"] for row in summary["rows"]))
    figure = Figure(figsize=(max(6.0, 0.9 * len(tasks)), 5.6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    width = 0.8 / len(_SHOWN)
    for i, method in enumerate(_SHOWN):
        rows = [row for row in summary["rows"] if row["labels"]["method"] == LABELS[method]]
        places = np.arange(len(rows)) + (i - 0.5 * (len(_SHOWN) - 1)) * width
        for axes, key in ((upper, "gain"), (lower, "active")):
            axes.bar(
                places,
                [row["values"][key]["mean"] for row in rows],
                width,
                yerr=[row["values"][key]["se"] or 0.0 for row in rows],
                label=LABELS[method],
            )
    upper.axhline(0.0, color="black", linewidth=0.8)
    upper.set_ylabel("accuracy over MKL, points")
    lower.set_ylabel("kernels in use")
    lower.set_xticks(range(len(tasks)), [task.split()[0] for task in tasks])
    upper.legend(ncols=len(_SHOWN), fontsize="small")
    figure.savefig(path, dpi=110)


def _bar_figure(name: str) -> Table:
    table = _SUBJECTS[name]
    return Table(
        name=name,
        title=f"Gönen (2010), figure {name}: {TITLES[table]}, four ways to regularize",
        version=VERSIONS[table],
        splits=SPLITS_OF[table],
        units=partial(search_units, table, None),
        rows=partial(_bar_rows, table),
        quantities=(
            Quantity("gain", "accuracy over MKL, points", 2, difference=False),
            Quantity("active", "kernels in use", 1, difference=False),
            Quantity("support", "support vectors, %", 2, difference=False),
        ),
        protocol=(
            KERNELS[table],
            *PROTOCOL,
            *SEARCH_PROTOCOL,
            "EMKL tries γ = 0, 0.1, …, 1 in d = (e/e₁)^γ, e the number of eigenvalues above ½ of a kernel on "
            "the two thirds, and takes the best. RWKL searches log₁₀ of the ratios of the weights as RMKL "
            "does d; the weights are then not learned.",
        ),
        notes=("The bars of the thesis carry no numbers.",),
        figure=draw_bars,
        kind="figure",
        shares=f"table{table}",
    )


def _variance_rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    group = [result for _, result in results]
    ones = np.ones(np.shape(group[0]["mkl"]["eta"]))
    rows = []
    for name, method in (("SUM", ""), ("MKL", "mkl"), ("RMKL", "rmkl")):
        shares = [float(np.mean(result["variance"][name])) for result in group]
        weights = [np.mean(result[method]["eta"] if method else ones, axis=0) for result in group]
        cell = NUMBERS["figure5.1"][f"figure 5.1, {name}, variance"]
        values = {"variance": compare(shares, cell, THIRDS), "eta": compare(weights)}
        rows.append(comparison_row("EO", {"kernel": name}, values))
    return rows


def draw_components(summary: Summary, path: Path) -> None:
    """Draw the first two kernel principal components of the training points of one fold, by the mean weights.

    Parameters
    ----------
    summary : dict
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    task = tasks_of("5.6")["EO"]
    points = task.load(0)
    fold = draw_folds(points, 0)[0]
    stack = fold_stacks(task.views(points), points.X, fold).training
    y = points.y[fold.training]
    figure = Figure(figsize=(12.0, 4.2), layout="constrained")
    for axes, row in zip(figure.subplots(1, 3), summary["rows"], strict=True):
        values, vectors = np.linalg.eigh(centered(stack @ np.asarray(row["values"]["eta"]["mean"])))
        projected = vectors[:, :-3:-1] * np.sqrt(values[:-3:-1])
        for label, color, marker in ((1, "#1f5f9e", "o"), (-1, "#b5421a", "s")):
            axes.scatter(*projected[y == label].T, s=9, c=color, marker=marker, linewidths=0.0)
        axes.set_title(f"{row['labels']['kernel']}: {row['values']['variance']['mean']:.2f}%")
        axes.set(xlabel="first component", ylabel="second component")
    figure.savefig(path, dpi=110)


_COMPONENTS = Table(
    name="5.1",
    title="Gönen (2010), figure 5.1: kernel principal components of MULTIFEAT-EO",
    version=VERSIONS["5.6"],
    splits=SPLITS_OF["5.6"],
    units=partial(search_units, "5.6", ("EO",)),
    rows=_variance_rows,
    quantities=(
        Quantity("variance", "variance of two components, %", 2),
        Quantity("eta", "η", 2, difference=False),
    ),
    protocol=(
        "The six linear kernels of table 5.6 in an unweighted sum (SUM), with the weights of MKL and with "
        "those of RMKL; the share of the first two principal components, centered in the feature space, of "
        "the training points, a mean over the ten folds.",
        *PROTOCOL,
    ),
    notes=(
        "Which points the thesis projects is not printed; the share hardly depends on it.",
        "The picture has the training points of one fold, by the mean weights; even digits are round.",
    ),
    figure=draw_components,
    kind="figure",
    cells=cells_of("figure5.1"),
    shares="table5.6",
)


def _step_rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    (stand_in,) = {task.stand_in for task in tasks_of("5.8").values()}
    rows = []
    for method in ("rmkl", "rwkl"):
        group = [result for _, result in results]
        steps = [result[method]["steps"] for result in group]
        for name, value in (("fewest", min(steps)), ("most", max(steps))):
            cell = NUMBERS["figure5.6"].get(f"figure 5.6, {LABELS[method]}, {name} steps after the design")
            values = {"steps": compare([value], cell)}
            rows.append(
                comparison_row(
                    "After the design", {"method": LABELS[method], "of": name}, values, stand_in=stand_in
                )
            )
    return rows + [
        comparison_row(
            "Each task",
            {"task": unit.arguments["task"]},
            {
                f"{m}_{key}": compare([result[m][key]])
                for m in ("rmkl", "rwkl")
                for key in ("solves", "steps")
            },
            stand_in=stand_in,
        )
        for unit, result in results
    ]


def draw_steps(summary: Summary, path: Path) -> None:
    """Draw how many points RMKL and RWKL asked for in each task, and how many of them are the design.

    Parameters
    ----------
    summary : dict
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    rows = [row for row in summary["rows"] if row["section"] == "Each task"]
    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    axes = figure.subplots()
    for i, method in enumerate(("rmkl", "rwkl")):
        solves = [row["values"][f"{method}_solves"]["mean"] for row in rows]
        axes.bar(np.arange(len(rows)) + 0.4 * i - 0.2, solves, 0.4, label=LABELS[method])
    first = rows[0]["values"]
    axes.axhline(first["rmkl_solves"]["mean"] - first["rmkl_steps"]["mean"], color="black", linestyle="--")
    axes.set_xticks(range(len(rows)), [row["labels"]["task"] for row in rows])
    axes.set(xlabel="task", ylabel="iterations")
    axes.legend()
    figure.savefig(path, dpi=110)


_STEPS = Table(
    name="5.6",
    title="Gönen (2010), figure 5.6: iterations of RMKL and RWKL",
    version=VERSIONS["5.8"],
    splits=SPLITS_OF["5.8"],
    units=partial(search_units, "5.8", None),
    rows=_step_rows,
    quantities=(
        Quantity("steps", "points after the design", 0),
        *(
            Quantity(f"{method}_{key}", f"{LABELS[method]}, {label}", 0, difference=False)
            for method in ("rmkl", "rwkl")
            for key, label in (("solves", "points"), ("steps", "after the design"))
        ),
    ),
    protocol=(
        "The searches of table 5.8: a point is one learning of the weights (RMKL) or one solution with given "
        "ones (RWKL) on all ten folds. The dashed line is the size of the design.",
        *SEARCH_PROTOCOL,
    ),
    notes=("The whole counts of the thesis, 15 to 35, are of five and of six kernels.",),
    figure=draw_steps,
    kind="figure",
    cells=cells_of("figure5.6"),
    shares="table5.8",
)

FIGURES = (_COMPONENTS, *map(_bar_figure, _SUBJECTS), _STEPS)
