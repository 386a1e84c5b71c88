"""Whether probabilities keep their word."""

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ._canvas import BLUE, GREY, LITERAL, add_legend, axes_for, plain
from ._parts import part_of


def calibration(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Do the probabilities keep their word? What was observed against what was predicted.

    A point for each bin of held-out predictions, the larger the more samples are in it; on the dashed line
    they keep it. The Brier score is the mean squared error of the probabilities.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``held_out`` of a classifier.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    part = part_of(evaluation, "held_out", "calibration")
    bins = [row for row in part["bins"] if row["n"]]
    sizes = np.array([row["n"] for row in bins], float)
    predicted, observed = ([row[key] for row in bins] for key in ("predicted", "observed"))
    ax = axes_for(ax, width=5.2, height=5.2)
    (line,) = ax.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linestyle="--", linewidth=1.0)
    ax.plot(predicted, observed, color=BLUE, linewidth=1.0, alpha=0.6)
    areas = 20.0 + 180.0 * sizes / sizes.max(initial=1.0)
    points = ax.scatter(predicted, observed, s=areas, color=BLUE, zorder=3)
    for row in bins:
        place = (row["predicted"], row["observed"])
        ax.annotate(str(row["n"]), place, (7, -9), textcoords="offset points", fontsize="x-small")
    ax.set(title="Do the probabilities keep their word?", ylabel="observed part", aspect="equal")
    how = textwrap.fill(plain(part["how"], longest=200), 60)
    ax.set_xlabel(f"predicted probability\n{how}", **LITERAL)
    entries = [(points, f"samples in a bin; Brier score {part['brier']:.3g}"), (line, "as predicted")]
    add_legend(ax, entries, loc="lower right", fontsize="small")
    return ax
