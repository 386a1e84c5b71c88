"""What a model says of every point of a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .canvas import BLUE, COLOURS, LITERAL, VERMILION, add_colour_bar, add_legend, axes_for, plain, style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def decision_regions(
    model: Any, X: Any, y: Any = None, *, n_steps: int = 150, ax: Axes | None = None
) -> Axes:
    """What does it say where? The predictions of a model of two columns over their plane, and the samples.

    Classifiers: the region of each class, in the colour of its samples. Regressors: the predicted value, in
    the colours of the observed ones. Novelty detectors: the border, with the inside tinted.

    Parameters
    ----------
    model : estimator
        Fitted on two columns; a pipeline or a search too.
    X : array or DataFrame (n, 2)
        Samples to draw, and how far the plane reaches.
    y : array-like (n,), optional
        Their classes or values.
    n_steps : int, default=150
        Points along each side of the grid at which the model predicts.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    check_is_fitted(model)
    points = np.asarray(X, np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"X must have two columns, shape (n, 2), for a picture of the plane; got shape {points.shape}. "
            "Fit a model on two columns, or draw its weights."
        )
    targets = None if y is None else np.asarray(y)
    if targets is not None and targets.shape != (len(points),):
        raise ValueError(
            f"y must hold one target for each of the {len(points)} rows of X; got shape {targets.shape}."
        )
    ax = axes_for(ax, width=5.8, height=5.0)
    grid = _grid(points, n_steps)
    table = _table_like(X, np.column_stack([side.ravel() for side in grid]))
    if is_classifier(model):
        _draw_classes(ax, model, grid, table, points, targets)
    elif is_outlier_detector(model):
        _draw_border(ax, model, grid, table, points)
    else:
        _draw_values(ax, model, grid, table, points, targets)
    names = [str(name) for name in getattr(X, "columns", ["column 0", "column 1"])]
    ax.set_title("What does it say where?")
    ax.set_xlabel(plain(names[0]), **LITERAL)
    ax.set_ylabel(plain(names[1]), **LITERAL)
    return ax


def _grid(points: Array, n_steps: int) -> list[Array]:
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, 0.08 * (high - low), 1.0)
    sides = [np.linspace(low[k] - margin[k], high[k] + margin[k], n_steps) for k in range(2)]
    return list(np.meshgrid(*sides))


def _table_like(X: Any, rows: Array) -> Any:
    """Rows as a table of the kind that the model was fitted on: with names where X has them."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "columns") else rows


def _draw_classes(
    ax: Axes, model: Any, grid: list[Array], table: Any, points: Array, targets: Array | None
) -> None:
    for k, inside in enumerate(_margins(model, table)):
        _tint(ax, grid, inside.reshape(grid[0].shape), COLOURS[k % len(COLOURS)])
    if targets is None:
        ax.plot(*points.T, ".", color="0.3", markersize=4, linewidth=0)
        return
    entries = []
    for k, label in enumerate(model.classes_):
        own = points[targets == label]
        (marks,) = ax.plot(*own.T, markersize=5, markeredgecolor="white", linewidth=0, **style_of(k))
        entries.append((marks, plain(label, longest=24)))
    add_legend(ax, entries, loc="best", fontsize="small")


def _margins(model: Any, table: Any) -> Array:
    """How far each class is ahead of the others at each point, (n_classes, n); below zero where it is not.

    By the scores, for smooth borders, where these decide; else by the predictions alone.
    """
    classes = model.classes_
    scores = np.asarray(model.decision_function(table)) if hasattr(model, "decision_function") else None
    if scores is not None and scores.ndim == 1:
        return np.stack([-scores, scores])
    if scores is None or scores.shape[1] != len(classes):
        return np.where(np.asarray(model.predict(table)) == classes[:, None], 1.0, -1.0)
    ordered = np.sort(scores, axis=1)
    rivals = np.where(scores == ordered[:, -1:], ordered[:, -2:-1], ordered[:, -1:])
    return np.asarray((scores - rivals).T)


def _tint(ax: Axes, grid: list[Array], inside: Array, colour: str) -> None:
    """Tint where a score is above zero, with a line around it."""
    if inside.max() > 0.0:
        ax.contourf(*grid, inside, levels=[0.0, np.inf], colors=[colour], alpha=0.18)
    if inside.min() < 0.0 < inside.max():
        ax.contour(*grid, inside, levels=[0.0], colors=["0.3"], linewidths=1.0)


def _draw_border(ax: Axes, model: Any, grid: list[Array], table: Any, points: Array) -> None:
    _tint(ax, grid, np.asarray(model.decision_function(table)).reshape(grid[0].shape), BLUE)
    inside = np.asarray(model.predict(_table_like(table, points))) > 0
    (own,) = ax.plot(*points[inside].T, "o", color=BLUE, markersize=4, linewidth=0)
    (other,) = ax.plot(*points[~inside].T, "X", color=VERMILION, markersize=7, linewidth=0)
    add_legend(ax, [(own, "as the others"), (other, "outlier")], loc="best", fontsize="small")


def _draw_values(
    ax: Axes, model: Any, grid: list[Array], table: Any, points: Array, targets: Array | None
) -> None:
    values = np.asarray(model.predict(table), float).reshape(grid[0].shape)
    seen = values if targets is None else np.concatenate([values.ravel(), targets.astype(float)])
    low, high = float(seen.min()), float(seen.max())
    limits: dict[str, Any] = {"vmin": low, "vmax": high if high > low else low + 1.0}
    image = ax.pcolormesh(*grid, values, cmap="viridis", shading="nearest", rasterized=True, **limits)
    add_colour_bar(ax, image, "predicted; samples: observed")
    if targets is None:
        ax.plot(*points.T, "o", color="0.2", markeredgecolor="white", markersize=5, linewidth=0)
        return
    shade = targets.astype(float)
    ax.scatter(points[:, 0], points[:, 1], s=22, c=shade, cmap="viridis", edgecolors="white", **limits)
