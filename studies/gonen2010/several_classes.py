"""Figures 1.4 and 1.5: three classes in one machine, and what soft labels do to its outliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.kernels import Kernel, Linear, Polynomial
from multikernel.mkl.classifier import MKLClassifier
from multikernel.soft_labels.classifier import PosteriorSVC
from multikernel.views import View
from studies.compare import compare, compare_each, comparison_row, group_results
from studies.gonen2010.protocol import fit_quietly, score
from studies.gonen2010.published import NUMBERS, cells_of
from studies.gonen2010.setting import THIRDS
from studies.plots import draw_classes, draw_rings
from studies.study import Quantity, Result, Summary, Table, Unit

SPLITS = 20
PER_CLASS, N_TEST = 50, 5000
C = 10.0
CENTRES = np.array([[-2.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
SPREAD = 0.6
OUTLIERS = np.array([0, 1])
_SEED = 2010
_TOY = "A toy of our own stands in for that of the thesis, whose points are not printed."

Array = np.ndarray


@dataclass(frozen=True)
class Setting:
    """A figure: its kernel, how many outliers it has, its methods by label, and what is printed."""

    kernel: Kernel
    outliers: int
    methods: dict[str, str]
    printed: dict[str, str]


SETTINGS = {
    "1.4": Setting(Linear(), 0, {"plain": "MCSVM"}, {}),
    "1.5": Setting(
        Polynomial(2),
        2,
        {"plain": "MCSVM", "knn": "MCPPSVM, neighbors", "parzen": "MCPPSVM, Parzen windows"},
        {"plain": "MCSVM", "knn": "MCPPSVM"},
    ),
}


def draw_toy(split: int, n: int, part: int = 0) -> tuple[Array, Array]:
    """Return round clouds about the centers of the classes, which take turns, and the classes from 0 on."""
    rng = np.random.default_rng([_SEED, len(CENTRES), split, part])
    y = np.arange(n) % len(CENTRES)
    return CENTRES[y] + SPREAD * rng.standard_normal((n, 2)), y


def training_toy(figure: str, split: int) -> tuple[Array, Array]:
    """Return a draw to learn from: the outliers have the label of the next class."""
    X, y = draw_toy(split, len(CENTRES) * PER_CLASS)
    wrong = OUTLIERS[: SETTINGS[figure].outliers]
    y[wrong] = (y[wrong] + 1) % len(CENTRES)
    return X, y


def make_model(figure: str, method: str) -> Any:
    """Return the classifier of a method: of the labels, or of posteriors by neighbors or Parzen windows."""
    kernels = [View("kernel", SETTINGS[figure].kernel, standardize=False, normalize=None)]
    if method == "plain":
        return MKLClassifier(kernels, C=C, multiclass="joint")
    return PosteriorSVC(kernels, C=C, posterior=method)


def compute_toy(figure: str, method: str, split: int) -> dict[str, Any]:
    """Return what a classifier keeps of a toy, and how it does on new points without outliers.

    Parameters
    ----------
    figure : str
        A key of `SETTINGS`.
    method : str
        One of the setting's methods.
    split : int

    Returns
    -------
    dict
        ``support``, the number of support vectors, ``test``, the accuracy in percent, and where there are
        any ``outliers``, how many of them are support vectors.
    """
    X, y = training_toy(figure, split)
    model = fit_quietly(make_model(figure, method), X, y)
    found = {
        "support": float(len(model.support_)),
        "test": score(model, *draw_toy(split, N_TEST, part=1)),
    }
    wrong = OUTLIERS[: SETTINGS[figure].outliers]
    return found | ({"outliers": float(np.isin(wrong, model.support_).sum())} if len(wrong) else {})


def _units(figure: str, splits: int) -> list[Unit]:
    return [
        Unit(f"{method}/split={split:02d}", compute_toy, {"figure": figure, "method": method, "split": split})
        for method in SETTINGS[figure].methods
        for split in range(splits)
    ]


def _rows(figure: str, results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    setting = SETTINGS[figure]
    rows = []
    for method, group in group_results(results, itemgetter("method")).items():
        values = compare_each(group)
        if method in setting.printed:
            cell = NUMBERS["figure1.5"][f"figure 1.5, {setting.printed[method]}, support vectors"]
            values["support"] = compare([result["support"] for result in group], cell, THIRDS)
        labels = {"method": setting.methods[method]}
        rows.append(comparison_row("Three classes", labels, values, stand_in=_TOY))
    return rows


def draw_figure(figure: str, summary: Summary, path: Path) -> None:
    """Draw what is decided where, the points, and rings around the support vectors.

    Parameters
    ----------
    figure : str
        A key of `SETTINGS`.
    summary : dict
        Of which nothing is needed: the first draw is learned again.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    setting = SETTINGS[figure]
    X, y = training_toy(figure, 0)
    shown = list(setting.methods)[:2]
    drawing = Figure(figsize=(5.2 * len(shown), 4.8), layout="constrained")
    for axes, method in zip(np.ravel(drawing.subplots(1, len(shown))), shown, strict=True):
        model = fit_quietly(make_model(figure, method), X, y)
        draw_classes(axes, model.decision_function, X, y)
        draw_rings(axes, X[model.support_])
        axes.plot(*X[OUTLIERS[: setting.outliers]].T, "x", color="black", markersize=9)
        axes.set_title(f"{setting.methods[method]}: {len(model.support_)} support vectors")
    drawing.savefig(path, dpi=110)


def _figure(name: str, title: str, protocol: Sequence[str], notes: Sequence[str]) -> Table:
    return Table(
        name=name,
        title=f"Gönen (2010), figure {name}: {title}",
        version=2,
        splits=SPLITS,
        units=partial(_units, name),
        rows=partial(_rows, name),
        quantities=(
            Quantity("support", "support vectors", 1),
            Quantity("outliers", "outliers among them", 2, difference=False),
            Quantity("test", "test, %", 2, difference=False),
        ),
        protocol=(
            f"Three round clouds of {PER_CLASS} points, standard deviation {SPREAD:g}; {N_TEST} new points "
            f"are the test. C = {C:g}. The splits of the command are draws. MCSVM is the machine (1.9) for "
            "all classes at once.",
            *protocol,
        ),
        notes=notes,
        figure=partial(draw_figure, name),
        kind="figure",
        cells=cells_of(f"figure{name}"),
    )


FIGURES = (
    _figure(
        "1.4",
        "one machine for three classes, linear kernel",
        ("Linear kernel. The picture has the first draw: support vectors are ringed.",),
        ("The thesis prints no number with this picture.",),
    ),
    _figure(
        "1.5",
        "three classes with outliers, hard and soft labels",
        (
            "Quadratic kernel (x'z + 1)². Two points have the label of another class; the test points have "
            "true labels.",
            "MCPPSVM takes the posterior probabilities of the classes at the training points: the shares "
            "among the nine nearest points, the point itself included, or in Parzen windows of the mean "
            "distance to the nearest other point. A point counts as one of its most probable class; the "
            "thesis keeps its given label there.",
            "The picture has the first draw: support vectors are ringed, outliers are crossed.",
        ),
        (
            "Windows as narrow as the distance to the nearest other point leave an outlier half of its own "
            "label in the mean, and many keep it; nine neighbors leave an eighth. Which posteriors the "
            "figure of the thesis has is not printed.",
        ),
    ),
)
