"""Predicted over observed values as numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from multikernel.report.drawings.axes import Plane, extent, room_for_labels


def residuals_plot(points: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Place what was predicted over what was observed, both axes on one scale.

    Parameters
    ----------
    points : sequence of mappings
        With ``observed`` and ``predicted``.

    Returns
    -------
    dict or None
        ``points`` (x, y), ``diagonal`` and the axes. None without any point.

    Examples
    --------
    >>> plot = residuals_plot([{"observed": 0.0, "predicted": 0.0}, {"observed": 1.0, "predicted": 1.0}])
    >>> len(plot["points"])
    2
    """
    known = [point for point in points if None not in (point["observed"], point["predicted"])]
    if not known:
        return None
    ends = extent([point[key] for point in known for key in ("observed", "predicted")], margin=0.04)
    plane = Plane(ends, ends, left=room_for_labels(ends))
    places = [
        {"x": plane.place_x(point["observed"]), "y": plane.place_y(point["predicted"])} for point in known
    ]
    return plane.describe() | {"points": places, "diagonal": plane.line(ends, ends)}
