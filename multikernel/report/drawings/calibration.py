"""The reliability of predicted probabilities as numbers."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from multikernel.report.drawings.axes import Plane


def calibration_plot(bins: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Place how often a class was observed over how probable it was said to be.

    Parameters
    ----------
    bins : sequence of mappings
        With ``predicted``, ``observed`` and ``n``; those that are empty are left out.

    Returns
    -------
    dict or None
        ``points`` (x, y, r, predicted, observed, n), larger where there are more samples, ``line``,
        ``diagonal`` and the axes. None without any sample.

    Examples
    --------
    >>> plot = calibration_plot([{"predicted": 0.5, "observed": 1.0, "n": 4}])
    >>> [(point["x"], point["y"]) for point in plot["points"]]
    [(188.0, 12.0)]
    """
    filled = [row for row in bins if row["n"] and None not in (row["predicted"], row["observed"])]
    if not filled:
        return None
    plane = Plane((0.0, 1.0), (0.0, 1.0))
    most = max(row["n"] for row in filled)
    points = [
        {key: row[key] for key in ("predicted", "observed", "n")}
        | {
            "x": plane.place_x(row["predicted"]),
            "y": plane.place_y(row["observed"]),
            "r": round(2.5 + 4.5 * math.sqrt(row["n"] / most), 1),
        }
        for row in filled
    ]
    line = plane.line([row["predicted"] for row in filled], [row["observed"] for row in filled])
    return plane.describe() | {"points": points, "line": line, "diagonal": plane.line([0, 1], [0, 1])}
