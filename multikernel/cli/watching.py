"""A fit while it runs: how far the gap has fallen, on standard error, with the time left."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich import progress
from rich.console import Console
from rich.markup import escape


@contextmanager
def watch_fit(label: str, tol: float | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show a bar until the block ends, and give the function that is told of each iteration.

    Parameters
    ----------
    label : str
        What is fitted.
    tol : float or None
        The gap that ends the fit: the bar is full when it is reached.
    """
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn("{task.fields[told]}"),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(elapsed_when_finished=False),
    )
    console = Console(stderr=True, soft_wrap=True)
    first: dict[str, float] = {}
    with progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(escape(label), total=None, told="")

        def step(entry: dict[str, Any]) -> None:
            gap = entry.get("gap")
            if gap is None or tol is None:
                told = ", ".join(f"{key} {_short(entry[key])}" for key in _SHOWN if key in entry)
                bar.update(task, told=escape(told))
                return
            if entry.get("iteration", 1) <= 1 or "gap" not in first:
                first["gap"] = gap  # each machine of several begins anew
            done = _fraction(first["gap"], gap, tol)
            bar.update(
                task,
                completed=done,
                total=1.0,
                told=f"iteration {entry.get('iteration', 0):.0f}, gap {gap:.1e}",
            )

        yield step


_SHOWN = ("iteration", "evaluation", "objective", "score", "best_score")


def _fraction(start: float, gap: float, tol: float) -> float:
    """How much of the way from the first gap to the last has been gone, counted in digits."""
    if not (start > tol > 0 and gap > 0 and math.isfinite(start) and math.isfinite(gap)):
        return 0.0
    return min(1.0, max(0.0, math.log(start / gap) / math.log(start / tol)))


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)
