"""The weights of each sample over the embedding as numbers."""

from collections.abc import Mapping
from typing import Any

from multikernel.report.drawings.embedding import describe_sample, place_points
from multikernel.report.drawings.marks import level


def gate_plot(gate: Mapping[str, Any], embedding: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Place the samples of the embedding, with the step on the colour scale of every view's weight.

    All views are on one scale, so that pictures of two views can be compared.

    Parameters
    ----------
    gate : mapping
        With ``views`` and ``rows`` (row, weights).
    embedding : mapping or None
        With ``points`` (row, x, y).

    Returns
    -------
    dict or None
        ``points`` (x, y, levels: one digit for each view, says), ``first`` (the position of the view with
        the largest mean weight), ``scale`` (low, high) and the axes. None where no sample has both weights
        and a place.

    Examples
    --------
    >>> gate = {"views": ["a", "b"], "rows": [{"row": 5, "weights": [0.0, 1.0]}]}
    >>> plot = gate_plot(gate, {"points": [{"row": 5, "x": 0.0, "y": 0.0}]})
    >>> plot["points"][0]["levels"], plot["first"]
    ([0, 6], 1)
    """
    points = [] if embedding is None else embedding["points"]
    points = [point for point in points if None not in (point["x"], point["y"])]
    weights = {row["row"]: row["weights"] for row in gate["rows"]}
    shared = [point for point in points if point["row"] in weights]
    if not shared or not gate["views"]:
        return None
    plane = place_points(points)
    known = [weight for row in weights.values() for weight in row if weight is not None]
    low, high = min([0.0, *known]), max(known, default=1.0)
    sums = [sum(row[m] or 0.0 for row in weights.values()) for m in range(len(gate["views"]))]
    drawn = [
        {
            "x": plane.place_x(point["x"]),
            "y": plane.place_y(point["y"]),
            "levels": [level(weight, low, high) for weight in weights[point["row"]]],
            "says": describe_sample(point),
        }
        for point in shared
    ]
    return plane.describe() | {
        "points": drawn,
        "first": sums.index(max(sums)),
        "scale": {"low": low, "high": high},
    }
