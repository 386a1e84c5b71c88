"""Where the time goes in one fit: the answer that a missed figure owes."""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.datasets import kernel_bank
from benchmarks.plan import Case
from benchmarks.sections.grid import TIGHT_TOL
from benchmarks.solvers.ours import fit_ours
from benchmarks.store import Record

SHOWN = 12


def _place(file: str, line: int, function: str) -> str:
    """Name of a function without the machine's paths."""
    path = Path(file)
    if not path.suffix:
        return function
    return f"{path.parent.name}/{path.name}:{line} {function}"


def profile_call(call: Callable[[], Any]) -> Record:
    """The functions with the largest own CPU time in one call, in seconds, and the total."""
    profiler = cProfile.Profile(time.process_time)
    profiler.runcall(call)
    stats = pstats.Stats(profiler)
    rows = [
        (own, calls, _place(*function))
        for function, (_, calls, own, _, _) in stats.stats.items()  # type: ignore[attr-defined]
    ]
    rows.sort(reverse=True)
    return {"total": stats.total_tt, "functions": rows[:SHOWN]}  # type: ignore[attr-defined]


def profile_case(case: Case) -> Record:
    """The profile of one fit to 1e-6."""
    kernels, y = kernel_bank(case.dataset, case.n, case.m)
    return profile_call(lambda: fit_ours(kernels, y, case.C, TIGHT_TOL))
