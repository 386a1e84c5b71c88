"""How well the scores rank the samples."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from ._canvas import COLOURS, GREY, LINES, add_legend, axes_for, plain
from ._parts import part_of

_MOST_NAMED = 10


def roc(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """How well do the scores rank? True against false positives of held-out samples, class by class.

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
    curves = part_of(evaluation, "held_out", "roc")["curves"]
    ax = axes_for(ax, width=5.2, height=5.2)
    entries = []
    for number, curve in enumerate(curves):
        style: dict[str, Any] = {
            "color": COLOURS[number % len(COLOURS)],
            "linestyle": LINES[(number + number // len(COLOURS)) % len(LINES)],
        }
        (line,) = ax.plot(curve["false_positive"], curve["true_positive"], linewidth=1.8, **style)
        entries.append((line, f"{plain(curve['label'], longest=24)}: area {curve['auc']:.3f}"))
    (chance,) = ax.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linestyle=":", linewidth=1.0)
    ax.set(
        title="How well do the scores rank?",
        xlabel="false positives, part of the other classes",
        ylabel="true positives, part of the class",
        aspect="equal",
    )
    more = len(entries) - _MOST_NAMED
    unnamed = f"; {more} more classes are not named" if more > 0 else ""
    entries = [*entries[:_MOST_NAMED], (chance, f"chance: area 0.5{unnamed}")]
    add_legend(ax, entries, loc="lower right", fontsize="small")
    return ax
