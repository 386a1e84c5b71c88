"""The model against plainer ones."""

import textwrap
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ._canvas import BLUE, GREEN, GREY, LITERAL, VERMILION, axes_for_rows, label_rows, plain
from ._parts import part_of

# Colour, marker and words by how the learned kernel did against the row.
_VERDICTS = {
    "better": (GREEN, "o", "learning is better"),
    "worse": (VERMILION, "X", "learning is worse"),
    "tie": (GREY, "s", "a tie"),
    None: (BLUE, "D", ""),
}


def baselines(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Did learning the kernel help? The score of the model, and of plainer ones on the same folds.

    A point with its standard deviation for each; the dashed line is at the score of the model; on the right
    stands how it did against each, by a paired test.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``baselines``.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    part = part_of(evaluation, "baselines")
    rows = part["rows"]
    ax = axes_for_rows(ax, [row["name"] for row in rows], extra=0.4)
    for place, row in enumerate(rows):
        colour, marker, _ = _VERDICTS[row["verdict"]]
        ax.errorbar(
            [row["score"]],
            [place],
            xerr=[row["sd"] or 0.0],
            fmt=marker,
            color=colour,
            ecolor=GREY,
            capsize=2.5,
            markersize=8,
        )
        if row["verdict"] is None:
            ax.axvline(row["score"], color=BLUE, linestyle="--", linewidth=1.0, zorder=0)
    label_rows(ax, [row["name"] for row in rows], [_verdict(row) for row in rows])
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.set_title(textwrap.fill(plain(part["answer"].split(":")[0], longest=200), 50), **LITERAL)
    ax.set_xlabel(f"{plain(part['metric'])}, mean ± standard deviation", **LITERAL)
    return ax


def _verdict(row: Mapping[str, Any]) -> str:
    words = _VERDICTS[row["verdict"]][2]
    return words if row["p"] is None or not words else f"{words}, p = {row['p']:.2g}"
