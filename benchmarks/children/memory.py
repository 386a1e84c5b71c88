"""Fit one stack from a file and print the resident set before it was read and at its peak, in bytes."""

from __future__ import annotations

import gc
import json
import resource
import sys
from pathlib import Path

import numpy as np

from benchmarks.children.tiny import fit_tiny
from benchmarks.sections.grid import TIGHT_TOL
from benchmarks.solvers.ours import fit_ours


def resident_bytes() -> int:
    """What is resident now; the high-water mark so far would hide what compilation has given back."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main() -> None:
    """Arguments: stack file, label file, C."""
    fit_tiny()
    gc.collect()
    baseline = resident_bytes()
    kernels, y = np.load(sys.argv[1]), np.load(sys.argv[2])
    fit_ours(kernels, y, float(sys.argv[3]), TIGHT_TOL)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"baseline": baseline, "peak": peak}))


if __name__ == "__main__":
    main()
