"""What pictures of the studies have in common: a decision surface, and a map of weights over the plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_STEPS = 200
_MARGIN = 0.08
# Of a class: the colour of its points, that of its region, and its marker.
_CLASSES = (("#1f5f9e", "#bcd7ee", "o"), ("#b5421a", "#f3c9b5", "s"), ("#3c7d2b", "#cfe8c5", "^"))

Array = np.ndarray


def plane(X: Array) -> tuple[Array, Array, Array]:
    """Return a grid over the points: its two axes, and its points as rows.

    Parameters
    ----------
    X : ndarray of shape (n, 2)

    Returns
    -------
    first, second : ndarray of shape (n_steps,)
    points : ndarray of shape (n_steps ** 2, 2)
        The first feature changes fastest.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    margin = _MARGIN * (high - low)
    first, second = (np.linspace(low[i] - margin[i], high[i] + margin[i], _STEPS) for i in (0, 1))
    across, up = np.meshgrid(first, second)
    return first, second, np.column_stack([across.ravel(), up.ravel()])


def draw_surface(axes: Any, decide: Callable[[Array], Array], X: Array, y: Array) -> None:
    """Draw which class is decided where, the boundary, and the points.

    Parameters
    ----------
    axes : matplotlib Axes
    decide : callable
        Points (n, 2) to scores (n,), positive for one class.
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
    """
    first, second, points = plane(X)
    scores = np.asarray(decide(points)).reshape(len(second), len(first))
    axes.contourf(first, second, np.sign(scores), levels=[-2.0, 0.0, 2.0], colors=["#f3c9b5", "#bcd7ee"])
    if scores.min() < 0.0 < scores.max():
        axes.contour(first, second, scores, levels=[0.0], colors="black", linewidths=1.2)
    draw_points(axes, X, y)


def draw_map(axes: Any, weight: Callable[[Array], Array], X: Array, y: Array) -> Any:
    """Draw a weight between 0 and 1 over the plane, and the points; return what a colour bar needs.

    Parameters
    ----------
    axes : matplotlib Axes
    weight : callable
        Points (n, 2) to weights (n,).
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)

    Returns
    -------
    matplotlib mappable
    """
    first, second, points = plane(X)
    values = np.asarray(weight(points)).reshape(len(second), len(first))
    picture = axes.pcolormesh(first, second, values, cmap="viridis", vmin=0.0, vmax=1.0, shading="nearest")
    draw_points(axes, X, y)
    return picture


def draw_points(axes: Any, X: Array, y: Array) -> None:
    """Draw the points of both classes."""
    for label, colour, marker in ((1, "#1f5f9e", "o"), (-1, "#b5421a", "s")):
        chosen = X[y == label]
        axes.scatter(chosen[:, 0], chosen[:, 1], s=14, c=colour, marker=marker, linewidths=0.0)


def draw_classes(axes: Any, decide: Callable[[Array], Array], X: Array, y: Array) -> None:
    """Draw which of up to three classes is decided where, the boundaries between them, and the points.

    Parameters
    ----------
    axes : matplotlib Axes
    decide : callable
        Points (n, 2) to scores (n, n_classes), the largest for the class decided.
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        Classes as integers from 0.
    """
    first, second, points = plane(X)
    scores = np.asarray(decide(points))
    for label, (dark, light, marker) in zip(range(scores.shape[1]), _CLASSES, strict=False):
        lead = scores[:, label] - np.delete(scores, label, axis=1).max(axis=1)
        heights = lead.reshape(len(second), len(first))
        if heights.max() > 0.0:
            axes.contourf(first, second, heights, levels=[0.0, np.inf], colors=[light])
        if heights.min() < 0.0 < heights.max():
            axes.contour(first, second, heights, levels=[0.0], colors="black", linewidths=1.0)
        axes.scatter(*X[y == label].T, s=14, c=dark, marker=marker, linewidths=0.0)


def draw_rings(axes: Any, X: Array, colour: str = "black") -> None:
    """Draw a ring around each of the points, which are the support vectors, say."""
    axes.scatter(X[:, 0], X[:, 1], s=55, facecolors="none", edgecolors=colour, linewidths=0.9)
