"""Figures 3.2 and 3.3: boundary and gate on GAUSS4, with two different kernels and with three equal ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.datasets import gauss_bayes, gauss_log_odds, make_gauss
from multikernel.localized.estimators import LocalizedMKLClassifier
from multikernel.mkl.classifier import MKLClassifier
from studies.compare import compare_each, comparison_row, group_results
from studies.gonen2010.benchmarks import SEED, plane_views
from studies.gonen2010.protocol import fit_quietly, score
from studies.plots import draw_map, draw_points, draw_surface, plane
from studies.study import Quantity, Result, Summary, Table, Unit

SPLITS = 10
N_TRAIN, N_TEST = 400, 20_000
C = 10.0
SCALINGS = {True: "standardised columns", False: "columns as they are"}
_STARTS_DRAWN = 5
_REGIONS = ("#4c78a8", "#f2a541", "#58a55c")

Array = np.ndarray


@dataclass(frozen=True)
class Setting:
    """The kernels of a figure ("both" or "copies" of `plane_views`), and its rows: label by method."""

    kinds: str
    methods: dict[str, str]


SETTINGS = {
    "3.2": Setting(
        "both",
        {
            "linear": "SVM, linear",
            "quadratic": "SVM, quadratic",
            "mkl": "l1 MKL, linear and quadratic",
            "lmkl": "LMKL, linear and quadratic",
            "bayes": "best rule",
        },
    ),
    "3.3": Setting("copies", {"linear": "SVM, linear", "lmkl": "LMKL, three linear", "bayes": "best rule"}),
}


def compute_draw(figure: str, standardize: bool, method: str, split: int) -> dict[str, Any]:
    """Return how well a method that learned one draw classifies it and another, larger one.

    Parameters
    ----------
    figure : str
        A key of `SETTINGS`.
    standardize : bool
    method : str
        One of the setting's methods.
    split : int

    Returns
    -------
    dict
        ``training`` and ``test``, accuracies in percent; of what is learned ``support``, in percent, and of
        localized MKL ``solves``.
    """
    X, y = _draw(split, N_TRAIN)
    X_test, y_test = _draw(split, N_TEST, part=1)
    if method == "bayes":
        shares = [
            100.0 * float(np.mean(gauss_bayes("GAUSS4", a) == b)) for a, b in ((X, y), (X_test, y_test))
        ]
        return {"training": shares[0], "test": shares[1]}
    model = fit_plane(figure, standardize, method, X, y, random_state=split)
    found = {
        "training": score(model, X, y),
        "test": score(model, X_test, y_test),
        "support": 100.0 * len(model.support_) / len(X),
    }
    return found | ({"solves": float(model.n_solves_)} if method == "lmkl" else {})


def fit_plane(figure: str, standardize: bool, method: str, X: Array, y: Array, **starts: Any) -> Any:
    """Fit a method of a figure at `C`; `starts` are the n_init and the random_state of localized MKL."""
    if method == "lmkl":
        views = plane_views(SETTINGS[figure].kinds, standardize)
        return fit_quietly(LocalizedMKLClassifier(views, C=C, gating_reg=0.0, **starts), X, y)
    kinds = "both" if method == "mkl" else method
    return fit_quietly(MKLClassifier(plane_views(kinds, standardize), C=C), X, y)


def _draw(split: int, n: int, part: int = 0) -> tuple[Array, Array]:
    return make_gauss("GAUSS4", n, random_state=np.random.default_rng([SEED, split, part]))


def _units(figure: str, splits: int) -> list[Unit]:
    return [
        Unit(
            f"{'standardised' if standardize else 'raw'}/{method}/split={split:02d}",
            compute_draw,
            {"figure": figure, "standardize": standardize, "method": method, "split": split},
        )
        for standardize in SCALINGS
        for method in SETTINGS[figure].methods
        for split in range(splits)
    ]


def _rows(figure: str, results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, itemgetter("standardize", "method"))
    return [
        comparison_row(
            SCALINGS[standardize],
            {"method": SETTINGS[figure].methods[method]},
            compare_each(group),
        )
        for (standardize, method), group in groups.items()
    ]


def draw_two_kernels(summary: Summary, path: Path) -> None:
    """Draw the boundaries of l1 MKL and of localized MKL, and the gate of the linear kernel.

    Parameters
    ----------
    summary : dict
        Of which nothing is needed: the first draw is learned again.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    X, y = _draw(0, N_TRAIN)
    figure = Figure(figsize=(13.0, 7.6), layout="constrained")
    panels = figure.subplots(2, 3, sharex=True, sharey=True)
    for row, (standardize, label) in zip(panels, SCALINGS.items(), strict=True):
        models = {
            method: fit_plane("3.2", standardize, method, X, y, n_init=_STARTS_DRAWN)
            for method in ("mkl", "lmkl")
        }
        for axes, (method, model) in zip(row[:2], models.items(), strict=True):
            draw_surface(axes, model.decision_function, X, y)
            draw_best(axes, X)
            axes.set_title(SETTINGS["3.2"].methods[method])
        picture = draw_map(row[2], partial(_gate_of, models["lmkl"], 0), X, y)
        draw_best(row[2], X)
        row[2].set_title("gate of the linear kernel")
        row[0].set_ylabel(label)
    figure.colorbar(picture, ax=panels, label="gate", shrink=0.6)
    figure.savefig(path, dpi=110)


def draw_three_lines(summary: Summary, path: Path) -> None:
    """Draw the boundary of three linear kernels, and where which of them has the largest gate.

    Parameters
    ----------
    summary : dict
        Of which nothing is needed: the first draw is learned again.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    X, y = _draw(0, N_TRAIN)
    figure = Figure(figsize=(10.0, 7.6), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for row, (standardize, label) in zip(panels, SCALINGS.items(), strict=True):
        model = fit_plane("3.3", standardize, "lmkl", X, y, n_init=_STARTS_DRAWN)
        draw_surface(row[0], model.decision_function, X, y)
        first, second, points = plane(X)
        largest = model.sample_kernel_weights(points).argmax(axis=1).reshape(len(second), len(first))
        row[1].contourf(first, second, largest, levels=[-0.5, 0.5, 1.5, 2.5], colors=_REGIONS, alpha=0.6)
        draw_points(row[1], X, y)
        for axes in row:
            draw_best(axes, X)
        row[0].set(title=SETTINGS["3.3"].methods["lmkl"], ylabel=label)
        row[1].set_title("kernel of the largest gate")
    figure.savefig(path, dpi=110)


def _gate_of(model: LocalizedMKLClassifier, kernel: int, points: Array) -> Array:
    return np.asarray(model.sample_kernel_weights(points)[:, kernel])


def draw_best(axes: Any, X: Array, toy: str = "GAUSS4") -> None:
    """Draw the best boundary of a toy of `make_gauss` over the points, dotted."""
    first, second, points = plane(X)
    odds = gauss_log_odds(toy, points).reshape(len(second), len(first))
    axes.contour(first, second, odds, levels=[0.0], colors="black", linewidths=1.0, linestyles="dotted")


_DRAWINGS = {"3.2": draw_two_kernels, "3.3": draw_three_lines}


def _figure(name: str, title: str, notes: tuple[str, ...]) -> Table:
    return Table(
        name=name,
        title=f"Gönen (2010), figure {name}: {title}",
        version=1,
        splits=SPLITS,
        units=partial(_units, name),
        rows=partial(_rows, name),
        quantities=(
            Quantity("training", "training, %", 1, difference=False),
            Quantity("test", "test, %", 2, difference=False),
            Quantity("support", "support vectors, %", 1, difference=False),
            Quantity("solves", "machines solved", 0, difference=False),
        ),
        protocol=(
            f"GAUSS4 (`multikernel.datasets.make_gauss`): {N_TRAIN} points to learn from and {N_TEST} new "
            f"ones; C = {C:g}; kernels of unit diagonal, on standardised columns and on the columns as they "
            "are. The splits of the command are draws.",
            f"The picture has the first draw, localized MKL from {_STARTS_DRAWN} starts of which that of the "
            "least objective is kept (the numbers below are from one start); the dotted line is the best "
            "boundary, which is right on 89.71% of all points.",
        ),
        notes=(*notes, "The thesis prints no figures beside this picture that are at hand."),
        figure=_DRAWINGS[name],
        kind="figure",
    )


FIGURES = (
    _figure(
        "3.2",
        "a linear and a quadratic kernel on GAUSS4",
        (
            "The gate hands one part of the plane to the linear and one to the quadratic kernel. Its gain is "
            "large with standardised columns; on the columns as they are the sum of both kernels, with "
            "common weights, does nearly as well.",
        ),
    ),
    _figure(
        "3.3",
        "three linear kernels on GAUSS4",
        (
            "Copies of one kernel become different through their gates alone: the boundary is a line in each "
            "region, with one intercept for all of them.",
            "From one start some descents end with fewer lines than the boundary has bends, which is most of "
            "the spread.",
        ),
    ),
)
