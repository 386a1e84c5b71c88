"""How the solver went on: the gap of each step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from .canvas import (
    BLUE,
    COLOURS,
    GREY,
    LINES,
    VERMILION,
    add_legend,
    add_legend_beside,
    axes_for,
    is_number,
    whole_ticks,
)
from .fitted import last_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMED = 6  # machines; more are drawn alike
_GAP = {"optimality": "relative gap to the best possible", "stationarity": "distance to a stationary point"}


def convergence(model: Any, *, ax: Axes | None = None) -> Axes:
    """Is it solved? The gap of each iteration on a logarithmic axis, with the gap that was asked for.

    Machines with weights of their own have a line each. A gap of zero has no logarithm: it stands at the foot
    of the picture, as a triangle. Of models without a gap the objective is drawn.

    Parameters
    ----------
    model : estimator, weight learner or mapping
        Fitted, with ``history_``; or a pipeline or a search that ends in one. A mapping has the steps under
        ``"history"``, and where they are known ``"tol"``, ``"certificate"`` and ``"machine_names"``, as
        ``multikernel.report.summarize(model)["convergence"]`` has them.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from matplotlib.figure import Figure
    >>> steps = [{"iteration": 1, "gap": 0.1}, {"iteration": 2, "gap": 1e-4}]
    >>> ax = convergence(SimpleNamespace(history_=steps, tol=1e-3), ax=Figure().subplots())
    >>> ax.lines[0].get_ydata().tolist()
    [0.1, 0.0001]
    """
    if isinstance(model, Mapping):
        named = {"machine_names_": model["machine_names"]} if "machine_names" in model else {}
        certificate = model.get("certificate", "optimality")
        model = SimpleNamespace(
            history_=model["history"], tol=model.get("tol"), certificate=certificate, **named
        )
    model, _ = last_of(model)
    key = "gap" if _has(model, "gap") else "objective"
    if not _has(model, key):
        raise ValueError(
            f"model must have a history of steps; {type(model).__name__} has none: it is not fitted, or "
            "solved in closed form. Call its fit, or draw its weights."
        )
    lines = _lines(model, key)
    ax = axes_for(ax, width=6.4 if len(lines) == 1 else 7.6)
    entries = _draw_gaps(ax, lines) if key == "gap" else _draw_objectives(ax, lines)
    names = _names(model, list(lines))
    legend = [(handle, name) for handle, name in zip(entries, names, strict=True) if name]
    if key == "gap":
        legend += _draw_tol(ax, model)
    if len(lines) == 1:
        add_legend(ax, legend, loc="upper right")
    else:
        add_legend_beside(ax, legend)
    certificate = str(getattr(model, "certificate", "optimality"))
    label = _GAP.get(certificate, "relative gap of the machines") if key == "gap" else "objective"
    ax.set(title="Is it solved?", xlabel="iteration", ylabel=label)
    whole_ticks(ax)
    return ax


def _has(model: Any, key: str) -> bool:
    return any(is_number(step.get(key)) for step in getattr(model, "history_", None) or [])


def _lines(model: Any, key: str) -> dict[int, tuple[list[float], list[float]]]:
    """Iterations and values of each machine; steps without a number, numbered from 1, are left out."""
    found: dict[int, tuple[list[float], list[float]]] = {}
    counted: dict[int, int] = {}
    for step in model.history_:
        machine = int(step.get("machine") or 0)
        counted[machine] = counted.get(machine, 0) + 1
        if is_number(step.get(key)):
            iterations, values = found.setdefault(machine, ([], []))
            given = step.get("iteration")
            iterations.append(float(counted[machine] if given is None else given))
            values.append(float(step[key]))
    return found


def _draw_gaps(ax: Axes, lines: dict[int, tuple[list[float], list[float]]]) -> list[Any]:
    positive = [gap for _, gaps in lines.values() for gap in gaps if gap > 0]
    foot = 10.0 ** (math.floor(math.log10(min(positive))) - 1) if positive else 1e-16
    handles = []
    for number, (iterations, gaps) in enumerate(lines.values()):
        heights = [gap if gap > 0 else foot for gap in gaps]
        handles += ax.plot(iterations, heights, marker="o", markersize=3.5, **_line_style(number, len(lines)))
        exact = [(i, foot) for i, gap in zip(iterations, gaps, strict=True) if gap <= 0]
        if exact:
            ax.plot(*zip(*exact, strict=True), "v", color=BLUE, markersize=9, linewidth=0)
            ax.annotate("0", exact[-1], (8, 0), textcoords="offset points", va="center")
    ax.set_yscale("log")
    return handles


def _draw_objectives(ax: Axes, lines: dict[int, tuple[list[float], list[float]]]) -> list[Any]:
    return [
        ax.plot(*line, marker="o", markersize=3.5, **_line_style(number, len(lines)))[0]
        for number, line in enumerate(lines.values())
    ]


def _line_style(number: int, n_lines: int) -> dict[str, Any]:
    if n_lines > _MOST_NAMED:
        return {"color": BLUE, "alpha": 0.35, "linewidth": 1.0}
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": LINES[number % len(LINES)]}


def _draw_tol(ax: Axes, model: Any) -> list[tuple[Any, str]]:
    """The gap that was asked for, unless ``tol`` speaks of something else."""
    tol = getattr(model, "tol", None)
    if tol is None or getattr(model, "certificate", "optimality") == "machine":
        return []
    line = ax.axhline(tol, color=VERMILION if tol > 0 else GREY, linestyle="--", linewidth=1.0)
    return [(line, f"tol = {tol:g}")]


def _names(model: Any, machines: Sequence[int]) -> list[str]:
    """The names of the lines for the legend; none for a single one."""
    if len(machines) == 1:
        return [""]
    if len(machines) > _MOST_NAMED:
        return [f"each of {len(machines)} machines", *[""] * (len(machines) - 1)]
    known = list(getattr(model, "machine_names_", []))
    return [str(known[m]) if len(known) > max(machines) else f"machine {m}" for m in machines]
