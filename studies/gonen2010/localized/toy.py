"""Figures 4.3 and 4.4: four clusters of two classes, which two local projections separate."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.localized.projection import ProjectionKernelClassifier
from studies.compare import compare, comparison_row
from studies.gonen2010.localized.projecting import projections
from studies.gonen2010.localized.rows import Results, Rows, by_method, make_units
from studies.gonen2010.localized.setting import fit_quietly, score
from studies.plots import draw_map, draw_points, draw_surface, plane
from studies.study import Quantity, Summary, Table, Unit

SPLITS = 5
PER_CLUSTER, N_TEST = 50, 2000
C, SPREAD = 10.0, 0.6
# Class and centre of each cluster.
CLUSTERS = ((1, (-2.0, -2.0)), (-1, (-2.0, 2.0)), (1, (2.0, 2.0)), (-1, (2.0, -2.0)))
METHODS = {"gpk": "GPK (R = 1)", "lpk": "LPK (P = 2, R = 1)"}

Array = np.ndarray


def draw_clusters(split: int, per_cluster: int, part: int = 0) -> tuple[Array, Array]:
    """Return a draw of the four clusters.

    Parameters
    ----------
    split : int
    per_cluster : int
    part : int, default=0
        Another part is another draw.

    Returns
    -------
    X : ndarray of shape (4 * per_cluster, 2)
    y : ndarray of shape (4 * per_cluster,)
    """
    rng = np.random.default_rng([2010, split, part])
    X = np.concatenate([rng.normal(centre, SPREAD, size=(per_cluster, 2)) for _, centre in CLUSTERS])
    return X, np.repeat([label for label, _ in CLUSTERS], per_cluster)


def fit_toy(method: str, split: int) -> ProjectionKernelClassifier:
    """Fit one global projection, or two local ones, to a draw."""
    X, y = draw_clusters(split, PER_CLUSTER)
    model: ProjectionKernelClassifier = fit_quietly(projections(1 if method == "gpk" else 2, 1, C), X, y)
    return model


def compute_clusters(method: str, split: int) -> dict[str, Any]:
    """Return accuracies in percent on the points learned from and on new ones, and the support vectors."""
    model = fit_toy(method, split)
    X, y = draw_clusters(split, PER_CLUSTER)
    new = draw_clusters(split, N_TEST // 4, part=1)
    return {
        "training": score(model, X, y),
        "test": score(model, *new),
        "support": 100.0 * len(model.support_) / len(y),
    }


def _units(methods: tuple[str, ...], splits: int) -> list[Unit]:
    return make_units(compute_clusters, methods, splits, ())


def _rows(results: Results) -> Rows:
    return [
        comparison_row(
            "Four clusters",
            {"method": METHODS[method]},
            {key: compare([result[key] for result in group]) for key in ("training", "test", "support")},
        )
        for method, group in by_method(results).items()
    ]


def draw_spaces(summary: Summary, path: Path) -> None:
    """Draw boundary, regions and directions over the points, and the points in the projected space.

    Parameters
    ----------
    summary : dict
        Of which nothing is needed: the first draw is learned again.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    model = fit_toy("lpk", 0)
    X, y = draw_clusters(0, PER_CLUSTER)
    figure = Figure(figsize=(11.0, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_surface(left, model.decision_function, X, y)
    first, second, points = plane(X)
    gate = model.sample_kernel_weights(points)[:, 0].reshape(len(second), len(first))
    left.contour(first, second, gate, levels=[0.5], colors="black", linewidths=3.0, linestyles="dashed")
    _draw_arrows(left, model, X)
    left.set_title("(a) points, boundary, regions (dashed), W₁ and W₂")
    Z = np.asarray(model.transform(X))
    draw_points(right, Z, y)
    _draw_line(right, Z, np.asarray(model.decision_function(X)))
    right.set(xlabel="region 1", ylabel="region 2", title="(b) projected space")
    figure.savefig(path, dpi=110)


def _draw_arrows(axes: Any, model: ProjectionKernelClassifier, X: Array) -> None:
    """The direction of each projection, from the mean of the points in its region."""
    region = model.sample_kernel_weights(X).argmax(axis=1)
    for m in range(2):
        start = X[region == m].mean(axis=0)
        direction = model.projections_[m, :, 0] / model.scale_
        end = start + 1.6 * direction / np.linalg.norm(direction)
        axes.annotate("", end, start, arrowprops=dict(arrowstyle="-|>", color="black", linewidth=2.2))
        axes.annotate(f"W{'₁₂'[m]}", end, xytext=(5, 5), textcoords="offset points", fontsize="large")


def _draw_line(axes: Any, Z: Array, scores: Array) -> None:
    """The boundary in the projected space, in which the scores are linear."""
    table = np.column_stack([Z, np.ones(len(Z))])
    weights = np.linalg.lstsq(table, scores, rcond=None)[0]
    margin = 0.05 * np.ptp(Z, axis=0)
    low, high = Z.min(axis=0) - margin, Z.max(axis=0) + margin
    across, up = np.meshgrid(np.linspace(low[0], high[0], 100), np.linspace(low[1], high[1], 100))
    values = weights[0] * across + weights[1] * up + weights[2]
    axes.contour(across, up, values, levels=[0.0], colors="black", linewidths=1.4)


def draw_gate(summary: Summary, path: Path) -> None:
    """Draw the output of the gate for the first projection, with the points.

    Parameters
    ----------
    summary : dict
        Of which nothing is needed: the first draw is learned again.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    model = fit_toy("lpk", 0)
    X, y = draw_clusters(0, PER_CLUSTER)
    figure = Figure(figsize=(6.2, 5.2), layout="constrained")
    axes = figure.subplots()
    picture = draw_map(axes, lambda points: model.sample_kernel_weights(points)[:, 0], X, y)
    figure.colorbar(picture, ax=axes, label="η₁(x)")
    figure.savefig(path, dpi=110)


def _figure(name: str, title: str, methods: tuple[str, ...], picture: str, draw: Any) -> Table:
    return Table(
        name=name,
        title=f"Gönen (2010), figure {name}: {title}",
        version=2,
        splits=SPLITS,
        units=partial(_units, methods),
        rows=_rows,
        quantities=(
            Quantity("training", "training, %", 1, difference=False),
            Quantity("test", "test, %", 1, difference=False),
            Quantity("support", "support vectors, %", 1, difference=False),
        ),
        protocol=(
            "A toy of four clusters, two of each class (section 4.2). The thesis prints neither its "
            "means nor "
            f"its spread; ours has centres at (±2, ±2), opposite corners of one class, a standard deviation "
            f"of {SPREAD:g} and {PER_CLUSTER} points each. Linear kernel, C = {C:g} (not printed either).",
            picture,
        ),
        notes=("The figure prints no numbers.",),
        figure=draw,
        kind="figure",
        stand_in="A toy of our own stands in for that of the thesis, whose points are not printed.",
    )


FIGURES = (
    _figure(
        "4.3",
        "two local projections of four clusters",
        ("gpk", "lpk"),
        "Picture, the first draw: the gate is one half at the thick dashed line; (b) has η_m(x) W_m'x of "
        "either region, in which the boundary is a line.",
        draw_spaces,
    ),
    _figure("4.4", "the gate of the first projection", ("lpk",), "Picture: the first draw.", draw_gate),
)
