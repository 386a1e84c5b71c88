"""What a regression leaves."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ._canvas import BLUE, GREY, VERMILION, add_legend, axes_for
from ._parts import part_of


def residuals(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """What is left unexplained? Observed minus predicted of held-out samples, against the prediction.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``held_out`` of a regressor.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    part = part_of(evaluation, "held_out", "residuals")
    observed, predicted = (np.array([p[key] for p in part["points"]]) for key in ("observed", "predicted"))
    ax = axes_for(ax)
    ax.axhline(0.0, color=GREY, linewidth=1.0)
    left = observed - predicted
    (points,) = ax.plot(predicted, left, "o", color=BLUE, alpha=0.6, markersize=4, linewidth=0)
    for side in (-1.0, 1.0):
        band = ax.axhline(side * part["rmse"], color=VERMILION, linestyle="--", linewidth=1.0)
    ax.set(title="What is left unexplained?", xlabel="predicted", ylabel="observed − predicted")
    entries = [
        (points, f"a held-out sample (R² = {part['r2']:.3f}, mean error {part['mae']:.3g})"),
        (band, f"± root mean squared error, {part['rmse']:.3g}"),
    ]
    add_legend(ax, entries, loc="best", fontsize="small")
    return ax
