"""The picture of a response surface over one or two factors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def draw_curve(ax: Any, surface: Any, axes: Sequence[Array]) -> None:
    """The surface of one factor as a curve, with what was measured."""
    (line,) = axes
    ax.plot(line, surface.predict(line[:, None]), color="tab:blue", label="fitted surface")
    best = (surface.best_point_[surface.names[0]], surface.best_value_)
    _draw_points(ax, np.column_stack([surface.points_, surface.values_]), best)
    ax.set(xscale="log", xlabel=surface.names[0], ylabel="response")


def draw_contours(ax: Any, surface: Any, axes: Sequence[Array]) -> None:
    """The surface of two factors as filled contours, with the points that were measured."""
    grid = np.stack(np.meshgrid(*axes), axis=-1)
    heights = surface.predict(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    if np.ptp(heights) > 0.0:
        filled = ax.contourf(*axes, heights, levels=20, cmap="viridis")
        ax.figure.colorbar(filled, ax=ax, label="fitted response")
    _draw_points(ax, surface.points_, [surface.best_point_[name] for name in surface.names])
    ax.set(xscale="log", yscale="log", xlabel=surface.names[0], ylabel=surface.names[1])


def _draw_points(ax: Any, places: Array, best: Sequence[float]) -> None:
    ax.plot(*best, "*", color="tab:red", markersize=16, label="best measured", clip_on=False, zorder=3)
    ax.plot(*places.T, "o", color="black", markersize=4, label="measured, in order", clip_on=False, zorder=4)
    for number, place in enumerate(places, start=1):
        ax.annotate(str(number), place, xytext=(4, 4), textcoords="offset points", fontsize=8)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False)
