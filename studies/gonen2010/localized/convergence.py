"""Figures 5.23 and 5.24: objective, accuracies and support vectors of LPK by iteration."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from studies.compare import compare, comparison_row
from studies.gonen2010.localized.dimensions import load_part
from studies.gonen2010.localized.faces import draw_faces
from studies.gonen2010.localized.projecting import projections
from studies.gonen2010.localized.rows import Results, Rows, make_units
from studies.gonen2010.localized.setting import beside, draw_halves, fit_quietly, score
from studies.gonen2010.published_localized import NUMBERS, cells_of
from studies.study import Quantity, Summary, Table, Unit

SPLITS = 5
ITERATIONS = 25
C = 100.0
TAUS = {"0.01": "s", "0.001": "o"}  # and their marks: a square and a circle
_NEVER = 1e-12
# Figure to its title, that of the figure of `dimensions` whose points it has, and its data set.
SETTINGS = {"5.23": ("WAVEFORM", "5.19", "waveform"), "5.24": ("OLIVETTI", "5.22", "olivetti")}
_CURVES = {
    "objective": "objective J",
    "training": "training accuracy, %",
    "test": "test accuracy, %",
    "support": "support vectors, %",
}


def compute_convergence(figure: str, method: str, split: int) -> dict[str, Any]:
    """Return how LPK is after each iteration, learned on the first fold of a split.

    Parameters
    ----------
    figure : str
        A key of `SETTINGS`.
    method : str
        Only ``"lpk"``.
    split : int

    Returns
    -------
    dict
        Lists over the iterations: ``objective``, ``training`` and ``test`` accuracies in percent, ``support``
        in percent of the training points.
    """
    _, points, dataset = SETTINGS[figure]
    sample = load_part(points)
    fold = (draw_faces if dataset == "olivetti" else draw_halves)(sample, split)[0]
    X, y = sample.X[fold.training], sample.y[fold.training]
    curves: dict[str, list[float]] = {key: [] for key in _CURVES}
    for count in range(1, ITERATIONS + 1):
        model = projections(
            2, 1, C, alternate=True, n_screen=1, tol=_NEVER, max_iter=count, random_state=split
        )
        fit_quietly(model, X, y)
        curves["objective"].append(float(model.objective_))
        curves["training"].append(score(model, X, y))
        curves["test"].append(score(model, sample.X[fold.test], sample.y[fold.test]))
        curves["support"].append(100.0 * len(model.support_) / len(y))
    return curves


def stopped_at(objective: Sequence[float], tau: float) -> int:
    """Return the first iteration whose objective is not below (1 − τ) times the one before (section 5.1).

    Examples
    --------
    >>> stopped_at([8.0, 4.0, 3.9, 3.899], 0.01)
    4
    """
    for k in range(1, len(objective)):
        if objective[k] >= (1.0 - tau) * objective[k - 1]:
            return k + 1
    return len(objective)


def _units(figure: str, splits: int) -> list[Unit]:
    return make_units(compute_convergence, ("lpk",), splits, (SETTINGS[figure][2],), figure=figure)


def _rows(figure: str, results: Results) -> Rows:
    title = SETTINGS[figure][0]
    curves = {key: np.array([result[key] for _, result in results]) for key in _CURVES}
    rows = []
    for number in range(1, ITERATIONS + 1):
        values = {key: compare(curve[:, number - 1]) for key, curve in curves.items()}
        rows.append(comparison_row(title, {"iteration": str(number)}, values))
    for tau in TAUS:
        cell = NUMBERS.get(f"figure{figure}", {}).get(tau, {}).get("iterations")
        stops = [stopped_at(result["objective"], float(tau)) for _, result in results]
        values = {"iterations": beside(stops, cell)}
        rows.append(comparison_row("Where τ stops the descent", {"τ": tau}, values))
    return rows


def draw_convergence(summary: Summary, path: Path) -> None:
    """Draw the curves by iteration, the means over the splits, with a square and a circle where τ stops them.

    Parameters
    ----------
    summary : dict
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    rows = [row for row in summary["rows"] if "iteration" in row["labels"]]
    stops = {
        row["labels"]["τ"]: row["values"]["iterations"] for row in summary["rows"] if "τ" in row["labels"]
    }
    numbers = np.arange(1, len(rows) + 1)
    figure = Figure(figsize=(14.0, 3.8), layout="constrained")
    panels = (("objective",), ("training", "test"), ("support",))
    for axes, keys in zip(figure.subplots(1, 3), panels, strict=True):
        for colour, key in zip(("C0", "C3"), keys, strict=False):
            means = np.array([row["values"][key]["mean"] for row in rows])
            axes.plot(numbers, means, color=colour, label=_CURVES[key])
            for tau, marker in TAUS.items():
                at = round(stops[tau]["mean"])
                axes.plot(
                    at,
                    means[at - 1],
                    marker,
                    color=colour,
                    markersize=9,
                    fillstyle="none",
                    markeredgewidth=1.8,
                )
        axes.set(xlabel="iteration", ylabel=_CURVES[keys[0]] if len(keys) == 1 else "accuracy, %")
        axes.grid(alpha=0.3)
    figure.axes[0].set_yscale("log")
    figure.axes[1].legend(fontsize="small")
    figure.savefig(path, dpi=110)


def _figure(name: str) -> Table:
    title, _, dataset = SETTINGS[name]
    points = "1500 of the 5000 points" if dataset == "waveform" else "the folds of table 5.21"
    return Table(
        name=name,
        title=f"Gönen (2010), figure {name}: convergence of LPK on {title}",
        version=2,
        splits=SPLITS,
        units=partial(_units, name),
        rows=partial(_rows, name),
        quantities=(
            *(Quantity(key, label, 3, difference=False) for key, label in _CURVES.items()),
            Quantity("iterations", "iterations", 1),
        ),
        protocol=(
            f"Section 5.4.4: LPK with P = 2, R = 1, C = {C:g} and the linear kernel, {ITERATIONS} iterations "
            "from a random start; an iteration moves the projections and then the gate (figure 4.2). "
            f"{title}: {points}, the first fold of each split.",
            "A split of the command is another split of the data and another start; the printed iterations "
            "are of one run, and are taken to vary as ours do. Picture: the means over the splits, with a "
            "square (τ = 0.01) and a circle (0.001) where the rule of section 5.1 stops the descent, the "
            "rounded mean. A step has at most unit length here; how the thesis's line search begins is not "
            "said.",
        ),
        notes=(
            "Printed in words: WAVEFORM “converges after five iterations”, and on OLIVETTI even τ = 0.01 is "
            "“too conservative”; LPK does not overfit within the 25 iterations.",
        ),
        figure=draw_convergence,
        kind="figure",
        cells=cells_of(f"figure{name}"),
    )


FIGURES = tuple(map(_figure, SETTINGS))
