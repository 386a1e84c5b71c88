"""The samples as the learned kernel sees them, in two dimensions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ._canvas import MARKERS, add_colour_bar, add_legend_beside, axes_for, plain, style_of
from ._parts import part_of

_MOST_NAMED = 12  # classes in the legend


def embedding(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """How do the samples lie? Each by its class or its value, along two components of the learned kernel.

    Samples whose held-out prediction is another class have a ring around them.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``embedding``.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    part = part_of(evaluation, "embedding")
    points = part["points"]
    ax = axes_for(ax, width=7.6, height=5.2)
    if points and points[0].get("value") is not None:
        _draw_values(ax, points)
    else:
        _draw_classes(ax, points, evaluation["classes"])
    ax.set_title("How do the samples lie?")
    label_components(ax, part)
    return ax


def label_components(ax: Axes, part: Mapping[str, Any]) -> None:
    """The axes by number and by what they explain."""
    shares = [f" ({share:.0%} of the variance)" if share is not None else "" for share in part["explained"]]
    ax.set(xlabel=f"component 1{shares[0]}", ylabel=f"component 2{shares[1]}")


def by_class(
    points: Sequence[Mapping[str, Any]], classes: Sequence[str]
) -> dict[str, list[Mapping[str, Any]]]:
    """The points of each class, in the order of the classes; all under "" where they have none."""
    groups: dict[str, list[Mapping[str, Any]]] = {str(label): [] for label in classes}
    for point in points:
        label = point.get("label")
        groups.setdefault("" if label is None else str(label), []).append(point)
    return groups


def _draw_values(ax: Axes, points: Sequence[Mapping[str, Any]]) -> None:
    x, y, values = (np.array([point[key] for point in points], float) for key in ("x", "y", "value"))
    marks = ax.scatter(x, y, c=values, cmap="viridis", s=18)
    add_colour_bar(ax, marks, "target")


def _draw_classes(ax: Axes, points: Sequence[Mapping[str, Any]], classes: Sequence[str]) -> None:
    entries = []
    for number, (label, own) in enumerate(by_class(points, classes).items()):
        x, y = [point["x"] for point in own], [point["y"] for point in own]
        (marks,) = ax.plot(x, y, markersize=5, alpha=0.75, linewidth=0, **style_of(number))
        if label:
            entries.append((marks, plain(label, longest=24)))
    more = len(entries) - _MOST_NAMED
    entries = entries[:_MOST_NAMED] + ([(entries[-1][0], f"… {more} more classes")] if more > 0 else [])
    wrong = [point for point in points if _is_wrong(point)]
    if wrong:
        x, y = [point["x"] for point in wrong], [point["y"] for point in wrong]
        (rings,) = ax.plot(
            x, y, "o", markersize=11, markerfacecolor="none", markeredgecolor="black", alpha=0.7, linewidth=0
        )
        entries.append((rings, f"wrong when held out ({len(wrong)})"))
    add_legend_beside(ax, entries)


def _is_wrong(point: Mapping[str, Any]) -> bool:
    predicted, label = point.get("predicted"), point.get("label")
    return predicted is not None and label is not None and str(predicted) != str(label)


def marker_of(number: int) -> str:
    """The marker of the class of that number."""
    return MARKERS[number % len(MARKERS)]
