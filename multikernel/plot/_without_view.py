"""What is lost without a view."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from .._validation import check_positive_integer
from ._canvas import GREY, LITERAL, axes_for_rows, bar_style, label_rows, plain
from ._parts import part_of


def without_view(evaluation: Mapping[str, Any], *, most: int = 30, ax: Axes | None = None) -> Axes:
    """What is lost without a view? A bar for the score of all views minus the score without this one.

    To the right: the view helps. To the left, hatched: the model is better without it. The line at the end of
    a bar is the standard deviation of this difference over the folds, where the evaluation tells it; on the
    right stands the p-value.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``without_view``.
    most : int, default=30
        The most views to draw, those of largest effect.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    part = part_of(evaluation, "without_view")
    rows = sorted(part["rows"], key=lambda row: -abs(row["effect"]))[: check_positive_integer("most", most)]
    rows.sort(key=lambda row: -row["effect"])
    ax = axes_for_rows(ax, [row["view"] for row in rows])
    for place, row in enumerate(rows):
        ax.barh(place, row["effect"], height=0.6, **bar_style(row["effect"]))
        if row.get("difference_sd") is not None:
            ax.errorbar(
                [row["effect"]], [place], xerr=[row["difference_sd"]], fmt="none", ecolor=GREY, capsize=2.5
            )
    notes = ["" if row["p"] is None else f"p = {row['p']:.2g}" for row in rows]
    label_rows(ax, [row["view"] for row in rows], notes)
    spread = "" if part["sd"] is None else f" ± {part['sd']:.2g}"
    ax.set_title("What is lost without a view?")
    paired = any(row.get("difference_sd") is not None for row in rows)
    words = ", ± standard deviation of the loss over the folds" if paired else ""
    ax.set_xlabel(
        f"loss of {plain(part['metric'])}{words}\nwith all views it is {part['score']:.3g}{spread}", **LITERAL
    )
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    return ax
