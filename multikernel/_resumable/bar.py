"""How far a run has come, as a bar on standard error: results stay clean when they are piped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich import progress
from rich.console import Console

from .running import Progress


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """Show a bar until the block ends, and give the function that moves it.

    Parameters
    ----------
    label : str
        What is run.

    Yields
    ------
    callable
        To be called with (works done, works in all).
    """
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(elapsed_when_finished=False),
    )
    console = Console(stderr=True, soft_wrap=True)
    with progress.Progress(*columns, console=console, speed_estimate_period=600.0) as bar:
        task = bar.add_task(label, total=None)

        def move(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield move
