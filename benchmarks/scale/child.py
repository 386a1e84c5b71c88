"""One measurement in a process of its own, so that peak memory and thread pools are its own.

``python -m benchmarks.scale.child TASK ARGUMENTS`` calls ``take(**ARGUMENTS)`` of a module of ``tasks`` and
prints what it returns, with the resident set before and at its peak, as one line of JSON.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.children import run_program
from benchmarks.measuring import check_threads, code_version, resident_bytes
from benchmarks.store import Record

N_THREADS = 2


def run_task(
    task: str, *, n_threads: int = N_THREADS, seconds: float | None = None, **arguments: Any
) -> Record:
    """Run a task; one that takes longer than `seconds` is ended, and its record says so."""
    given = json.dumps(arguments | {"n_threads": n_threads})
    try:
        record, _ = run_program("benchmarks.scale.child", task, given, n_threads=n_threads, seconds=seconds)
    except subprocess.TimeoutExpired:
        record = {"timed_out": seconds}
    return record | {"n_threads": n_threads, "code": code_version()}


def timed(call: Callable[[], Any], *, collect: bool = True) -> tuple[dict[str, float], Any]:
    """Wall-clock and CPU time (of all threads) of one call, and what it returned.

    A stage within a call that is timed itself has no collection of garbage of its own before it.
    """
    if collect:
        gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}, result


def main() -> None:
    """Run the task that the command line names."""
    task, arguments = sys.argv[1], json.loads(sys.argv[2])
    n_threads = arguments.pop("n_threads")
    module = import_module(f"benchmarks.scale.tasks.{task}")
    check_threads(n_threads)
    gc.collect()
    baseline = resident_bytes("VmRSS")
    record = module.take(**arguments)
    print(json.dumps(record | {"baseline": baseline, "peak": resident_bytes("VmHWM")}))


if __name__ == "__main__":
    main()
