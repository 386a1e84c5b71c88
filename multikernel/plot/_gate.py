"""Where a view counts, for models whose weights differ from sample to sample."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ._canvas import LITERAL, add_colour_bar, add_legend, axes_for, plain
from ._embedding import by_class, label_components, marker_of
from ._parts import part_of

_MOST_NAMED = 12  # classes in the legend


def gate(evaluation: Mapping[str, Any], view: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Where does a view count? The embedding of the samples, the brighter the more the view weighs there.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the parts ``gate`` and ``embedding``.
    view : str, optional
        Which view; that whose weight varies most if left out.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    part = part_of(evaluation, "gate")
    place = part_of(evaluation, "embedding")
    table = np.array([row["weights"] for row in part["rows"]], float)
    number = _number_of([str(name) for name in part["views"]], table, view)
    weights = {row["row"]: float(w) for row, w in zip(part["rows"], table[:, number], strict=True)}
    points = [point for point in place["points"] if point["row"] in weights]
    ax = axes_for(ax, width=6.4, height=5.2)
    top = max(max(weights.values(), default=0.0), 1e-12)
    entries = []
    for k, (label, own) in enumerate(by_class(points, evaluation["classes"]).items()):
        marks = ax.scatter(
            [point["x"] for point in own],
            [point["y"] for point in own],
            c=[weights[point["row"]] for point in own],
            marker=marker_of(k),
            cmap="viridis",
            vmin=0.0,
            vmax=top,
            s=24,
            edgecolors="0.3",
            linewidths=0.4,
        )
        if label:
            shape = Line2D([], [], marker=marker_of(k), color="0.4", linewidth=0)
            entries.append((shape, plain(label, longest=24)))
    if points:
        add_colour_bar(ax, marks, f"weight of {plain(part['views'][number])}")
    add_legend(ax, entries[:_MOST_NAMED], loc="best", fontsize="small")
    ax.set_title(f"Where does {plain(part['views'][number])} count?", **LITERAL)
    label_components(ax, place)
    return ax


def _number_of(names: list[str], table: np.ndarray[Any, np.dtype[Any]], view: str | None) -> int:
    if view is None:
        return int(np.argmax(table.std(axis=0)))
    if str(view) not in names:
        raise ValueError(f"view must be one of {names}; got {view!r}.")
    return names.index(str(view))
