"""Programs that a section runs in a process of their own; each prints one line of JSON, its last."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from benchmarks.measuring import thread_environment


def run_child(module: str, *arguments: str, **environment: str) -> tuple[dict[str, Any], list[str]]:
    """Run ``benchmarks.children.<module>`` on one thread: its JSON, and every other line it wrote."""
    return run_program(f"benchmarks.children.{module}", *arguments, **environment)


def run_program(
    module: str, *arguments: str, n_threads: int = 1, seconds: float | None = None, **environment: str
) -> tuple[dict[str, Any], list[str]]:
    """Run a module in a process of its own: its JSON, and every other line it wrote.

    One that takes longer than `seconds` is ended, with subprocess.TimeoutExpired.
    """
    finished = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=os.environ | thread_environment(n_threads) | environment,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    if finished.returncode != 0:
        raise RuntimeError(f"{module} failed:\n{finished.stderr[-2000:]}")
    *said, last = finished.stdout.splitlines()
    return json.loads(last), said + finished.stderr.splitlines()
