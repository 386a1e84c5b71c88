"""Figures 5.14 to 5.18: classes in two dimensions, by PCA, LFDA and two local projections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.datasets.faces import SIDE, load_faces
from studies.compare import compare, comparison_row
from studies.gonen2010.localized.projecting import (
    load_columns,
    projections,
    reduced_machine,
)
from studies.gonen2010.localized.rows import Results, Rows, by_method, make_units
from studies.gonen2010.localized.setting import fit_quietly, machine_of, score
from studies.study import Quantity, Summary, Table, Unit

C = 100.0
PER_CLASS = 200
LABELS = {"pca": "PCA", "lfda": "LFDA", "lpk": "LPK (P = 2, R = 1)"}
METHODS = tuple(LABELS)
_SEED = 2010
_MARKERS = "os^"

Array = np.ndarray


@dataclass(frozen=True)
class Shown:
    """What a figure shows: the classes, as the data count them, their names, and which are +1."""

    title: str
    dataset: str
    classes: tuple[int, ...]
    names: tuple[str, ...]
    positive: tuple[int, ...]
    merged: str


SHOWN = {
    "5.14": Shown(
        "IRIS",
        "iris",
        (0, 1, 2),
        ("Setosa", "Versicolor", "Virginica"),
        (0, 2),
        "Setosa and Virginica against Versicolor",
    ),
    "5.15": Shown(
        "THYROID DISEASE",
        "new_thyroid",
        (0, 1, 2),
        ("normal", "hyper", "hypo"),
        (1, 2),
        "hypo- and hyperthyroidism against normal",
    ),
    "5.16": Shown("LETTER RECOGNITION", "letter", (0, 1, 2), ("A", "B", "C"), (0, 2), "A and C against B"),
    "5.17": Shown(
        "IMAGE SEGMENTATION",
        "image_segmentation",
        (0, 1, 2),
        ("Brickface", "Sky", "Foliage"),
        (0, 1),
        "Brickface and Sky against Foliage",
    ),
}


def load_shown(figure: str) -> tuple[Array, Array, Array]:
    """Return the points of a figure, their classes, and ±1 for the merged ones: the same each time.

    Of classes with more than `PER_CLASS` points so many are drawn.
    """
    if figure == "5.18":
        faces = load_faces()
        return faces.images.reshape(len(faces.images), -1), faces.subject, faces.y
    shown = SHOWN[figure]
    X, classes = load_columns(shown.dataset)
    rng = np.random.default_rng(_SEED)
    rows = np.concatenate([rng.permutation(np.flatnonzero(classes == c))[:PER_CLASS] for c in shown.classes])
    return X[rows], classes[rows], np.where(np.isin(classes[rows], shown.positive), 1, -1)


def fit_shown(figure: str, method: str) -> tuple[Any, Array]:
    """Return a model of all points of a figure, and the points in its two dimensions."""
    X, _, y = load_shown(figure)
    if method == "lpk":
        model = fit_quietly(projections(2, 1, C), X, y)
        return model, np.asarray(model.transform(X))
    model = fit_quietly(reduced_machine(method, 2, C, first=100 if figure == "5.18" else None), X, y)
    return model, np.asarray(model[:-1].transform(X))


def compute_shown(figure: str, method: str, split: int) -> dict[str, Any]:
    """Return how a linear machine in the two dimensions separates the points that both were learned from.

    Parameters
    ----------
    figure : str
    method : str
        A key of `LABELS`.
    split : int
        Only 0: all points are learned.

    Returns
    -------
    dict
        ``training`` accuracy in percent, the number of ``errors``, and ``support`` in percent.
    """
    X, _, y = load_shown(figure)
    model, _ = fit_shown(figure, method)
    accuracy = score(model, X, y)
    return {
        "training": accuracy,
        "errors": round(len(y) * (1.0 - accuracy / 100.0)),
        "support": 100.0 * len(machine_of(model).support_) / len(y),
    }


def _units(figure: str, splits: int) -> list[Unit]:
    dataset = "olivetti" if figure == "5.18" else SHOWN[figure].dataset
    methods = [method for method in METHODS if method != "lfda" or figure != "5.18"]
    return make_units(compute_shown, methods, splits, (dataset,), figure=figure)


def _rows(title: str, results: Results) -> Rows:
    return [
        comparison_row(
            title,
            {"method": LABELS[method]},
            {key: compare([result[key] for result in group]) for key in ("training", "errors", "support")},
        )
        for method, group in by_method(results).items()
    ]


def draw_classes(figure: str, summary: Summary, path: Path) -> None:
    """Draw the points in the two dimensions of each method, a colour for each class.

    Parameters
    ----------
    figure : str
        A key of `SHOWN`.
    summary : dict
        Of which nothing is needed.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    shown = SHOWN[figure]
    _, classes, _ = load_shown(figure)
    drawing = Figure(figsize=(4.6 * len(METHODS), 4.4), layout="constrained")
    for axes, method in zip(drawing.subplots(1, len(METHODS)), METHODS, strict=True):
        model, Z = fit_shown(figure, method)
        for number, (label, name) in enumerate(zip(shown.classes, shown.names, strict=True)):
            filled = label in shown.positive
            chosen = Z[classes == label]
            axes.scatter(
                chosen[:, 0],
                chosen[:, 1],
                s=22,
                marker=_MARKERS[number],
                facecolors=f"C{number}" if filled else "none",
                edgecolors=f"C{number}",
                linewidths=1.0,
                alpha=0.8,
                label=name,
            )
        draw_boundary(axes, Z, model, load_shown(figure)[0])
        axes.set_title(LABELS[method])
    drawing.axes[0].legend(fontsize="small")
    drawing.savefig(path, dpi=110)


def draw_boundary(axes: Any, Z: Array, model: Any, X: Array) -> None:
    """Draw where the scores of a model, which are linear in the dimensions, are zero."""
    table = np.column_stack([Z, np.ones(len(Z))])
    weights = np.linalg.lstsq(table, np.asarray(model.decision_function(X)), rcond=None)[0]
    margin = 0.05 * np.ptp(Z, axis=0)
    low, high = Z.min(axis=0) - margin, Z.max(axis=0) + margin
    across, up = np.meshgrid(np.linspace(low[0], high[0], 100), np.linspace(low[1], high[1], 100))
    values = weights[0] * across + weights[1] * up + weights[2]
    if values.min() < 0.0 < values.max():
        axes.contour(across, up, values, levels=[0.0], colors="black", linewidths=1.0)


def draw_faces(summary: Summary, path: Path) -> None:
    """Draw the faces in two dimensions of PCA and of LPK, with what these look at as pictures (figure 5.18).

    Parameters
    ----------
    summary : dict
        Of which nothing is needed.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    X, _, y = load_shown("5.18")
    drawing = Figure(figsize=(13.0, 8.8), layout="constrained")
    grid = drawing.add_gridspec(2, 4, height_ratios=(2.0, 1.0))
    images: list[tuple[str, Array]] = []
    for number, method in enumerate(("pca", "lpk")):
        model, Z = fit_shown("5.18", method)
        axes = drawing.add_subplot(grid[0, 2 * number : 2 * number + 2])
        for label, name, colour in ((-1, "men", "#b5421a"), (1, "women", "#1f5f9e")):
            axes.scatter(
                Z[y == label, 0], Z[y == label, 1], s=14, color=colour, alpha=0.7, linewidths=0.0, label=name
            )
        wrong = np.asarray(model.predict(X)) != y
        if method == "lpk":
            axes.scatter(Z[wrong, 0], Z[wrong, 1], s=120, marker="*", color="black", label="misclassified")
            images += [(f"W{'₁₂'[m]}", model.projections_[m, :, 0]) for m in (0, 1)]
            images += [("gate, v₁ − v₂", model.gating_[0, :-1] - model.gating_[1, :-1])]
        else:
            components = model.named_steps["pca"].components_
            images += [(f"eigenface {k + 1}", components[k]) for k in (0, 1)]
        draw_boundary(axes, Z, model, X)
        axes.set_title(f"{LABELS[method]}: {int(wrong.sum())} misclassified")
        axes.legend(fontsize="small")
    below = grid[1, :].subgridspec(1, len(images))
    for k, (title, image) in enumerate(images):
        axes = drawing.add_subplot(below[0, k])
        axes.imshow(image.reshape(SIDE, SIDE), cmap="gray")
        axes.set_title(title, fontsize="medium")
        axes.set_axis_off()
    drawing.savefig(path, dpi=100)


_QUANTITIES = (
    Quantity("training", "training, %", 2, difference=False),
    Quantity("errors", "misclassified", 0, difference=False),
    Quantity("support", "support vectors, %", 1, difference=False),
)
_DIMENSIONS = (
    "PCA: the first two principal directions, and a linear machine on them. LPK: two regions with "
    "one projection each, softmax gate, linear kernel; its dimensions are η_m(x) W_m'x, in which its machine "
    f"is linear. C = {C:g}, the only C that section 5.4 prints. Standardised columns; all points are learned "
    "and shown. The line is the boundary."
)


def _figure(name: str) -> Table:
    shown = SHOWN[name]
    return Table(
        name=name,
        title=f"Gönen (2010), figure {name}: {shown.title} in two dimensions",
        version=2,
        splits=1,
        units=partial(_units, name),
        rows=partial(_rows, shown.title),
        quantities=_QUANTITIES,
        protocol=(
            f"{shown.title}: {shown.merged} (section 5.4.1), filled and hollow; at most {PER_CLASS} "
            "points of "
            "each class, drawn at random (the thesis does not say how many).",
            _DIMENSIONS,
        ),
        notes=("The figure prints no numbers.",),
        figure=partial(draw_classes, name),
        kind="figure",
    )


FIGURES = (
    *map(_figure, SHOWN),
    Table(
        name="5.18",
        title="Gönen (2010), figure 5.18: OLIVETTI in two dimensions",
        version=2,
        splits=1,
        units=partial(_units, "5.18"),
        rows=partial(_rows, "OLIVETTI"),
        quantities=_QUANTITIES,
        protocol=("OLIVETTI: 400 faces, 36 men against four women (section 5.4.2).", _DIMENSIONS),
        notes=(
            "The thesis has one image misclassified by LPK; that is what its picture marks, and no printed "
            "number.",
            "Pictures below: the two eigenfaces; the projections W₁ and W₂, and the difference of the two "
            "vectors of the gate, which is what a softmax gate of two regions depends on.",
        ),
        figure=draw_faces,
        kind="figure",
    ),
)
