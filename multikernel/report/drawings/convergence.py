"""The convergence plot as numbers: where its line, ticks and labels stand, for the page to draw in SVG."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

WIDTH, HEIGHT = 380, 270
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 14, 44
_MOST_TICKS = 8


def convergence_plot(history: Sequence[Mapping[str, Any]], tol: float | None) -> dict[str, Any] | None:
    """Place the relative duality gap of each step on a plot with a logarithmic vertical axis.

    Machines that learn weights of their own have a line each.

    A gap of zero has no logarithm: it is drawn at the foot of the plot, and its label says what it is.

    Parameters
    ----------
    history : sequence of mappings
        With the keys ``machine``, ``iteration`` and ``gap``; steps whose gap is None are left out.
    tol : float or None
        The gap asked for, drawn as a horizontal line.

    Returns
    -------
    dict or None
        ``points`` (x, y, machine, iteration, gap), ``lines`` (the points of each machine as SVG wants
        them), ``x_ticks``, ``y_ticks`` (position, label), ``tol_y``, ``size`` and ``frame``.
        None without any gap to draw.

    Examples
    --------
    >>> plot = convergence_plot([{"machine": 0, "iteration": 1, "gap": 0.1}], tol=0.01)
    >>> [(tick["label"], tick["y"]) for tick in plot["y_ticks"]]
    [('0.1', 14.0), ('0.01', 226.0)]
    """
    steps = [step for step in history if step["gap"] is not None]
    if not steps:
        return None
    levels = [step["gap"] for step in steps if step["gap"] > 0]
    levels += [tol] if tol is not None and tol > 0 else []
    foot, head = _decades(levels)
    first = min(step["iteration"] for step in steps)
    last = max(first + 1, *(step["iteration"] for step in steps))

    def place_y(gap: float) -> float:
        exponent = math.log10(gap) if gap > 0 else foot
        return round(TOP + (head - exponent) / (head - foot) * (HEIGHT - TOP - BOTTOM), 1)

    def place_x(iteration: float) -> float:
        return round(LEFT + (iteration - first) / (last - first) * (WIDTH - LEFT - RIGHT), 1)

    points = [
        {key: step[key] for key in ("machine", "iteration", "gap")}
        | {"x": place_x(step["iteration"]), "y": place_y(step["gap"])}
        for step in steps
    ]
    machines = {point["machine"]: None for point in points}
    return {
        "points": points,
        "lines": [_line([point for point in points if point["machine"] == machine]) for machine in machines],
        "x_ticks": [
            {"x": place_x(i), "label": str(i)} for i in _whole_ticks(math.ceil(first), math.floor(last))
        ],
        "y_ticks": [
            {"y": place_y(10.0**exponent), "label": f"{10.0**exponent:g}"}
            for exponent in reversed(_whole_ticks(foot, head))
        ],
        "tol_y": place_y(tol) if tol is not None and tol > 0 else None,
        "size": {"width": WIDTH, "height": HEIGHT},
        "frame": {"left": LEFT, "right": WIDTH - RIGHT, "top": TOP, "bottom": HEIGHT - BOTTOM},
    }


def _line(points: Sequence[Mapping[str, Any]]) -> str:
    return " ".join(f"{point['x']},{point['y']}" for point in points)


def _decades(levels: Sequence[float]) -> tuple[int, int]:
    """Return the whole powers of ten that hold all levels, at least one apart."""
    if not levels:
        return -1, 0
    foot = math.floor(math.log10(min(levels)))
    return foot, max(math.ceil(math.log10(max(levels))), foot + 1)


def _whole_ticks(first: int, last: int) -> list[int]:
    step = max(1, math.ceil((last - first) / _MOST_TICKS))
    return list(range(first, last + 1, step))
