"""How firm the weights are."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from .._validation import check_positive_integer
from ._canvas import BLUE, GREY, SKY, VERMILION, add_legend_below, axes_for_rows, label_rows
from ._parts import part_of


def stability(evaluation: Mapping[str, Any], *, most: int = 30, ax: Axes | None = None) -> Axes:
    """How firm are the weights? The share of each view over several fits, those of most weight first.

    A point for each fit, a thin line from the smallest to the largest, a thick one of a standard deviation to
    both sides of the mean, and a diamond for the share in the model itself. Behind them stands in how many of
    the fits the view had any weight.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``stability``.
    most : int, default=30
        The most views to draw.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    part = part_of(evaluation, "stability")
    rows = sorted(part["rows"], key=lambda row: -abs(row["mean"]))[: check_positive_integer("most", most)]
    ax = axes_for_rows(ax, [row["view"] for row in rows], extra=0.4)
    entries: list[tuple[Any, str]] = []
    for place, row in enumerate(rows):
        entries = _draw_row(ax, place, row)
    notes = [f"used in {row['used']:.0%} of fits" for row in rows]
    label_rows(ax, [row["view"] for row in rows], notes)
    ax.set(title="How firm are the weights?", xlabel="share of the weight, %")
    add_legend_below(ax, entries)
    return ax


def _draw_row(ax: Axes, place: int, row: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """One view; what is drawn, with its name."""
    values = [100.0 * value for value in row["values"]]
    mean, sd = 100.0 * row["mean"], 100.0 * (row["sd"] or 0.0)
    (whole,) = ax.plot([100.0 * row["low"], 100.0 * row["high"]], [place, place], color=GREY, linewidth=1.0)
    (thick,) = ax.plot(
        [mean - sd, mean + sd], [place, place], color=SKY, linewidth=6.0, solid_capstyle="butt"
    )
    (fits,) = ax.plot(values, [place] * len(values), "o", color=BLUE, alpha=0.5, markersize=4, linewidth=0)
    entries = [(fits, "a fit"), (thick, "mean ± sd"), (whole, "lowest to highest")]
    if row["share"] is not None:
        (own,) = ax.plot(
            [100.0 * row["share"]],
            [place],
            "D",
            color=VERMILION,
            markeredgecolor="white",
            markersize=7,
            linewidth=0,
        )
        entries.append((own, "the model"))
    return entries
