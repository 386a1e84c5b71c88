"""Figures 5.14 to 5.17: classes in two dimensions, by principal components and by learned projections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel.kernels import Linear
from multikernel.localized.estimators import LocalizedMKLClassifier
from multikernel.localized.projection import ProjectionKernelClassifier
from multikernel.views import View
from studies.compare import compare_each, comparison_row, group_results
from studies.data import load_data
from studies.gonen2010.protocol import fit_quietly, score
from studies.study import Quantity, Result, Summary, Table, Unit

SPLITS = 5
C = 1.0
METHODS = {
    "pca": "PCA, two components, + SVM",
    "gpk": "GPK, two components",
    "lpk": "LPK, two regions of one component",
}
_AXES = {
    "pca": ("first component", "second component"),
    "gpk": ("first projection", "second projection"),
    "lpk": ("gated projection, region 1", "gated projection, region 2"),
}
_SEED = 2010
_MARKERS = "osD^vPX"

Array = np.ndarray


@dataclass(frozen=True)
class Shown:
    """A data set of a figure: which of its classes, and how many points, evenly of each class (0: all)."""

    label: str
    dataset: str
    classes: tuple[int, ...]
    names: tuple[str, ...]
    per_class: int = 0


SHOWN = {
    "5.14": Shown("IRIS", "iris", (0, 1, 2), ("setosa", "versicolor", "virginica")),
    "5.15": Shown("THYROID", "new_thyroid", (0, 1, 2), ("normal", "hyper", "hypo")),
    "5.16": Shown("LETTER", "letter", (0, 1, 2, 3, 4), tuple("ABCDE"), 120),
    "5.17": Shown(
        "SEGMENT",
        "image_segmentation",
        tuple(range(7)),
        ("brickface", "sky", "foliage", "cement", "window", "path", "grass"),
        100,
    ),
}


def load_shown(figure: str) -> tuple[Array, Array]:
    """Return the points of a figure and their classes, the same ones each time."""
    shown = SHOWN[figure]
    data = load_data(shown.dataset)
    assert data.y is not None
    rng = np.random.default_rng(_SEED)
    rows = [rng.permutation(np.flatnonzero(data.y == c))[: shown.per_class or None] for c in shown.classes]
    chosen = np.concatenate(rows)
    return np.asarray(data.X[chosen], dtype=np.float64), data.y[chosen]


def make_model(method: str, seed: int = 0) -> Any:
    """Return the classifier of a method of `METHODS`, all classes in a single machine."""
    if method == "pca":
        machine = LocalizedMKLClassifier(
            [View("linear", Linear(), standardize=False, normalize=None)],
            C=C,
            gating_reg=0.0,
            multiclass="joint",
        )
        return make_pipeline(StandardScaler(), PCA(2), machine)
    regions, components = (1, 2) if method == "gpk" else (2, 1)
    return ProjectionKernelClassifier(
        n_regions=regions, n_components=components, C=C, multiclass="joint", random_state=seed
    )


def compute_accuracy(figure: str, method: str, split: int) -> dict[str, Any]:
    """Return the accuracy on the points learned from, two thirds, and on the others.

    Parameters
    ----------
    figure : str
        A key of `SHOWN`.
    method : str
        A key of `METHODS`.
    split : int

    Returns
    -------
    dict
        ``training`` and ``test``, in percent.
    """
    X, y = load_shown(figure)
    parts = train_test_split(X, y, test_size=1 / 3, random_state=split, stratify=y)
    model = fit_quietly(make_model(method, split), parts[0], parts[2])
    return {"training": score(model, parts[0], parts[2]), "test": score(model, parts[1], parts[3])}


def _units(figure: str, splits: int) -> list[Unit]:
    return [
        Unit(
            f"{method}/split={split:02d}",
            compute_accuracy,
            {"figure": figure, "method": method, "split": split},
            (SHOWN[figure].dataset,),
        )
        for method in METHODS
        for split in range(splits)
    ]


def _rows(figure: str, results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, itemgetter("method"))
    return [
        comparison_row(
            SHOWN[figure].label,
            {"method": METHODS[method]},
            compare_each(group),
        )
        for method, group in groups.items()
    ]


def project(method: str, X: Array, y: Array) -> Array:
    """Return the two dimensions that a method sees the points in, learned from all of them."""
    model = fit_quietly(make_model(method), X, y)
    return np.asarray((model[:-1] if method == "pca" else model).transform(X))


def draw_figure(figure: str, summary: Summary, path: Path) -> None:
    """Draw the points in the two dimensions of each method.

    Parameters
    ----------
    figure : str
        A key of `SHOWN`.
    summary : dict
        Of which nothing is needed: all points are learned.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    shown = SHOWN[figure]
    X, y = load_shown(figure)
    drawing = Figure(figsize=(13.0, 4.6), layout="constrained")
    for axes, method in zip(drawing.subplots(1, 3), METHODS, strict=True):
        Z = project(method, X, y)
        for number, (label, name) in enumerate(zip(shown.classes, shown.names, strict=True)):
            axes.scatter(
                *Z[y == label].T,
                s=16,
                color=f"C{number}",
                marker=_MARKERS[number],
                alpha=0.75,
                linewidths=0.0,
                label=name,
            )
        axes.set(title=METHODS[method], xlabel=_AXES[method][0], ylabel=_AXES[method][1])
    drawing.axes[0].legend(fontsize="small")
    drawing.savefig(path, dpi=110)


def _figure(name: str) -> Table:
    shown = SHOWN[name]
    points = f"{shown.per_class} of each, drawn at random" if shown.per_class else "all points"
    return Table(
        name=name,
        title=f"Gönen (2010), figure {name}: {shown.label} in two dimensions",
        version=1,
        splits=SPLITS,
        units=partial(_units, name),
        rows=partial(_rows, name),
        quantities=(
            Quantity("training", "training, %", 1, difference=False),
            Quantity("test", "test, %", 1, difference=False),
        ),
        protocol=(
            f"{shown.label}: the classes {', '.join(shown.names)}, {points}; standardised columns.",
            "Principal components know nothing of the classes; a linear machine of all classes is learned "
            "on two of them. The global projection kernel (GPK) learns two projections together with that "
            "machine, the local one (LPK) two regions with one projection each: its two dimensions are "
            f"η(x) w'x of either region, and the machine is linear in them. C = {C:g}, softmax gate, ten "
            "starts of which the descent goes on from the best.",
            "Accuracy on two thirds of the points, which are learned from, and on the others; the splits of "
            "the command are such thirds. The picture has all points, learned from all of them.",
        ),
        notes=(
            "Where one of the gates is closed, points lie on the axis of the other region.",
            "The thesis has no accuracies beside this picture that are at hand; which points and classes it "
            "shows is not known to us."
            if shown.per_class
            else "The thesis has no accuracies beside this picture that are at hand.",
        ),
        figure=partial(draw_figure, name),
        kind="figure",
    )


FIGURES = tuple(map(_figure, SHOWN))
