"""Fit one stack from a file and print the resident set before it was read and at its peak, in bytes."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

import numpy as np

from benchmarks.children.tiny import fit_tiny
from benchmarks.sections.grid import TIGHT_TOL
from benchmarks.solvers.ours import fit_ours


def resident_bytes(field: str) -> int:
    """A field of /proc/self/status: VmRSS, what is resident now, or VmHWM, the most that ever was.

    The baseline is VmRSS, because a high-water mark would hide what compilation has given back. The peak is
    VmHWM and not getrusage's ru_maxrss, which a process inherits from the one that started it.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"{field} is not in /proc/self/status: peak memory is measured on Linux only")


def main() -> None:
    """Arguments: stack file, label file, C."""
    fit_tiny()
    gc.collect()
    baseline = resident_bytes("VmRSS")
    kernels, y = np.load(sys.argv[1]), np.load(sys.argv[2])
    fit_ours(kernels, y, float(sys.argv[3]), TIGHT_TOL)
    peak = resident_bytes("VmHWM")
    print(json.dumps({"baseline": baseline, "peak": peak}))


if __name__ == "__main__":
    main()
