"""Figures 2.2, 2.4 and 2.5: the toys of table 2.2, and what the costs d do to MKL on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.mkl.classifier import MKLClassifier
from multikernel.mkl.regularized.response_surface import koshal_design
from multikernel.views import View
from studies.compare import compare, comparison_row, group_results
from studies.gonen2010.measuring import Method, at_best, collect, fit_stack, fold_means
from studies.gonen2010.plane import draw_best
from studies.gonen2010.published import NUMBERS, cells_of
from studies.gonen2010.search import DELTA, best_point, run_search
from studies.gonen2010.setting import (
    GRID,
    N_TOY,
    THIRDS,
    Points,
    draw_folds,
    fold_stacks,
    load_toy,
    three_views,
)
from studies.plots import draw_rings, draw_surface
from studies.study import Quantity, Result, Summary, Table, Unit

SPLITS = 10
LEVELS = tuple(round(0.2 * i, 1) for i in range(-5, 6))  # of log₁₀ d
TOYS = {"2.2": ("GAUSS2", "GAUSS3", "GAUSS4", "GAUSS5"), "2.5": ("GAUSS4", "GAUSS5")}
_REGULARIZED = ("rmkl", "best", "emkl")
_LABELS = {
    "mkl": "MKL, d = 1",
    "grid": "best of the grid",
    "rmkl": "RMKL",
    "best": "RMKL, best point",
    "emkl": "EMKL",
}

Array = np.ndarray


def _views(points: Points) -> list[View]:
    return three_views(points, standardize=False)


def compute_surface(toy: str, split: int) -> dict[str, Any]:
    """Return the mean validation error over a grid of costs, and where the searches go.

    Parameters
    ----------
    toy : str
    split : int
        Which draw.

    Returns
    -------
    dict
        ``C``; ``errors`` in percent, by log₁₀ d of the quadratic (rows) and of the Gaussian kernel over
        `LEVELS`; ``mkl`` (see `at_best`), and ``rmkl``, ``best`` and ``emkl``: log₁₀ ``d`` and its ``error``,
        on the test third ``accuracy``, ``support``, ``eta`` of the folds, and of RMKL and EMKL the points
        ``measured``.
    """
    points = load_toy(toy, split)
    folds = draw_folds(points, split)
    stacks = [fold_stacks(_views(points), points.X, fold) for fold in folds]

    def fits(C: float, costs: Sequence[float] | None) -> list[dict[str, Any]]:
        method = Method(costs)
        return [
            fit_stack(stack, points.y, fold, C, method)[1] for stack, fold in zip(stacks, folds, strict=True)
        ]

    columns = [fits(C, None) for C in GRID]
    plain = at_best([list(row) for row in zip(*columns, strict=True)], GRID)
    C = plain["C"]
    errors = [[_error(fits(C, (1.0, 10.0**first, 10.0**second))) for second in LEVELS] for first in LEVELS]
    found: dict[str, Any] = {"C": C, "errors": errors, "mkl": plain}
    rmkl, emkl = (run_search(name, _views(points), points, folds, C) for name in ("rmkl", "emkl"))
    ends = {"rmkl": rmkl["end"], "best": best_point(rmkl["measured"])["at"], "emkl": emkl["end"]}
    for name, d in ends.items():
        entries = fits(C, d)
        found[name] = collect(entries) | {"d": np.log10(d).round(6).tolist(), "error": _error(entries)}
    found["rmkl"] |= {"measured": _logs(rmkl), "solves": rmkl["solves"]}
    found["emkl"] |= {"measured": _logs(emkl), "solves": emkl["solves"]}
    return found


def _logs(search: Mapping[str, Any]) -> list[list[float]]:
    return [np.log10(point["at"][1:]).round(4).tolist() for point in search["measured"]]


def _error(entries: Sequence[Mapping[str, Any]]) -> float:
    return round(100.0 - float(np.mean([entry["validation"] for entry in entries])), 4)


def _units(toys: Sequence[str], splits: int) -> list[Unit]:
    return [
        Unit(f"{toy}/draw={split:02d}", compute_surface, {"toy": toy, "split": split})
        for toy in toys
        for split in range(splits)
    ]


def _lowest(errors: Sequence[Sequence[float]]) -> list[float]:
    """log₁₀ d of the grid point of the least error; of equals the nearest to d = 1."""
    table = np.array(errors)
    equals = np.argwhere(table <= table.min() + 1e-9)
    first, second = min(equals.tolist(), key=lambda at: sum(LEVELS[i] ** 2 for i in at))
    return [LEVELS[first], LEVELS[second]]


def _rows(searches: Sequence[str], results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    rows = []
    for toy, group in group_results(results, itemgetter("toy")).items():
        middle = LEVELS.index(0.0)
        at_one = {
            "error": compare([result["errors"][middle][middle] for result in group]),
            **_learned(group, "mkl"),
        }
        rows.append(comparison_row(toy, {"method": _LABELS["mkl"]}, at_one))
        lowest = {
            "error": compare([float(np.min(result["errors"])) for result in group]),
            "d": compare([_lowest(result["errors"]) for result in group]),
            "errors": compare([np.ravel(result["errors"]) for result in group]),
        }
        rows.append(comparison_row(toy, {"method": _LABELS["grid"]}, lowest))
        for name in searches:
            values = {
                "error": compare([result[name]["error"] for result in group]),
                "d": compare([result[name]["d"][1:] for result in group]),
                **_learned(group, name),
            }
            if "solves" in group[0][name]:
                values["solves"] = compare([result[name]["solves"] for result in group])
            if name == "emkl":
                values["line"] = compare([np.ravel(result[name]["measured"]) for result in group])
            rows.append(comparison_row(toy, {"method": _LABELS[name]}, values))
    return rows


def _learned(group: Sequence[Result], name: str) -> dict[str, Any]:
    return {key: compare(fold_means(group, name, key)) for key in ("accuracy", "support")}


def draw_grids(toys: Sequence[str], summary: Summary, path: Path) -> None:
    """Draw the mean validation error over the grid, the design of the search and where it ends in the mean.

    Parameters
    ----------
    toys : sequence of str
    summary : dict
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    n_rows = (len(toys) + 1) // 2
    figure = Figure(figsize=(10.0, 4.6 * n_rows), layout="constrained")
    for axes, toy in zip(np.ravel(figure.subplots(n_rows, 2)), toys, strict=True):
        rows = {row["labels"]["method"]: row["values"] for row in summary["rows"] if row["section"] == toy}
        errors = np.array(rows[_LABELS["grid"]]["errors"]["mean"]).reshape(len(LEVELS), -1)
        picture = axes.contourf(LEVELS, LEVELS, errors.T, levels=14, cmap="viridis")
        figure.colorbar(picture, ax=axes, label="validation error, %")
        axes.plot(*(DELTA * koshal_design(2)).T, "o", markerfacecolor="none", color="white", markersize=9)
        axes.plot(0.0, 0.0, "o", color="black", markersize=6)
        axes.plot(*rows[_LABELS["rmkl"]]["d"]["mean"], "*", color="red", markersize=14)
        if _LABELS["emkl"] in rows:
            line = np.array(rows[_LABELS["emkl"]]["line"]["mean"]).reshape(-1, 2)
            axes.plot(*line.T, "^-", color="orange", markersize=5)
        axes.set(xlabel="log₁₀ d, quadratic kernel", ylabel="log₁₀ d, Gaussian kernel", title=toy)
        axes.set(xlim=(LEVELS[0], LEVELS[-1]), ylim=(LEVELS[0], LEVELS[-1]))
    figure.savefig(path, dpi=110)


# ---------------------------------------------------------------------- figure 2.4
def _boundary_rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    group = [result for _, result in results]
    rows = []
    for name, printed in (("mkl", "MKL"), ("rmkl", "RMKL"), ("best", "")):
        start = f"figure 2.4, {printed}, "
        cells = {place.removeprefix(start): cell for place, cell in NUMBERS["figure2.4"].items()}
        eta = [cells[f"eta{i}"] for i in (1, 2, 3)] if printed else None
        values = {"eta": compare(fold_means(group, name, "eta"), eta, THIRDS), **_learned(group, name)}
        if name != "mkl":
            costs = [cells[f"d{i}"] for i in (2, 3)] if printed else None
            values["d"] = compare([np.power(10.0, result[name]["d"][1:]) for result in group], costs, THIRDS)
        if name == "rmkl":
            solves = [result[name]["solves"] for result in group]
            values["solves"] = compare(solves, cells["points"], THIRDS)
        labels = {"method": _LABELS[name]}
        rows.append(comparison_row("GAUSS3", labels, values, counts=bool(printed)))
    return rows


def draw_boundaries(summary: Summary, path: Path) -> None:
    """Draw the boundaries of MKL and of RMKL on one fold of the first draw, support vectors ringed.

    Parameters
    ----------
    summary : dict
        Of which nothing is needed: the first draw is computed again.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    points = load_toy("GAUSS3", 0)
    folds = draw_folds(points, 0)
    stacks = [fold_stacks(_views(points), points.X, fold) for fold in folds]
    columns = [
        [fit_stack(stack, points.y, fold, C, Method())[1] for C in GRID]
        for stack, fold in zip(stacks, folds, strict=True)
    ]
    C = at_best(columns, GRID)["C"]
    d = run_search("rmkl", _views(points), points, folds, C)["end"]
    X, y = points.X[folds[0].training], points.y[folds[0].training]
    figure = Figure(figsize=(11.0, 4.8), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, (label, costs) in zip(panels, (("MKL", None), ("RMKL", d)), strict=True):
        model = MKLClassifier(_views(points), C=C, costs=costs).fit(X, y)
        draw_surface(axes, model.decision_function, X, y)
        draw_best(axes, X, "GAUSS3")
        draw_rings(axes, X[model.support_])
        weights = ", ".join(f"{weight:.2f}" for weight in model.kernel_weights_)
        axes.set_title(f"{label}: η = {weights}; {100 * len(model.support_) / len(X):.0f}% support vectors")
    figure.savefig(path, dpi=110)


# ---------------------------------------------------------------------- pages
_PROTOCOL = (
    f"{N_TOY} points of table 2.2 (`multikernel.datasets.make_gauss`); a linear, a quadratic and a Gaussian "
    "kernel, in this order, of unit diagonal and of the columns as they are, the width of the Gaussian by "
    "(2.10). The splits of the command are draws; the thesis has one.",
    "A random third of the draw is for the test, the rest is halved five times over. C, which is not "
    "printed, is that of 0.01, 0.1, 1, 10 and 100 with the best mean validation accuracy at d = 1. The error "
    "is the mean over the ten validation sets.",
    "RMKL: second-order Koshal design with Δ = 0.3 about d = 1, quadratic response surfaces, and a new point "
    "where the surface is lowest until it stays where it is, which is the answer; between 0.1 and 10.",
)
_QUANTITIES = (
    Quantity("error", "validation error, %", 2, difference=False),
    Quantity("d", "log₁₀ d, quadratic and Gaussian", 2, difference=False),
    Quantity("accuracy", "test, %", 2, difference=False),
    Quantity("support", "support vectors, %", 1, difference=False),
    Quantity("solves", "points", 1, difference=False),
)
_GRID_NOTE = (
    f"The grid has log₁₀ d from {LEVELS[0]:g} to {LEVELS[-1]:g} in steps of 0.2; that of the thesis is not "
    "printed."
)


def _grid_figure(name: str, title: str, searches: Sequence[str], notes: Sequence[str]) -> Table:
    return Table(
        name=name,
        title=f"Gönen (2010), figure {name}: {title}",
        version=2,
        splits=SPLITS,
        units=partial(_units, TOYS[name]),
        rows=partial(_rows, searches),
        quantities=_QUANTITIES,
        protocol=_PROTOCOL,
        notes=(_GRID_NOTE, *notes),
        figure=partial(draw_grids, TOYS[name]),
        kind="figure",
        shares="" if name == "2.2" else "figure2.2",
    )


FIGURES = (
    _grid_figure(
        "2.2",
        "the validation error over costs d on four toys",
        ("rmkl", "best"),
        (
            "The picture has means over the draws: d = 1 is filled, the design of the search is circles, its "
            "end the star.",
        ),
    ),
    Table(
        name="2.4",
        title="Gönen (2010), figure 2.4: the boundaries of MKL and of RMKL on GAUSS3",
        version=2,
        splits=SPLITS,
        units=partial(_units, ("GAUSS3",)),
        rows=_boundary_rows,
        quantities=(
            Quantity("eta", "η", 2),
            Quantity("d", "d, quadratic and Gaussian", 2),
            Quantity("solves", "points", 1),
            Quantity("accuracy", "test, %", 2, difference=False),
            Quantity("support", "support vectors, %", 1, difference=False),
        ),
        protocol=_PROTOCOL,
        notes=(
            "The picture has one fold of the first draw; the dotted line is the best boundary.",
            "The thesis's numbers are of one draw, and its C is not printed.",
        ),
        figure=draw_boundaries,
        kind="figure",
        cells=cells_of("figure2.4"),
        shares="figure2.2",
    ),
    _grid_figure(
        "2.5",
        "the search by eigenvalues and that by a response surface",
        _REGULARIZED,
        (
            "EMKL tries γ = 0, 0.1, …, 1 in d = (e/e₁)^γ, e the number of eigenvalues above ½ of a kernel on "
            "the two thirds: the triangles.",
        ),
    ),
)
