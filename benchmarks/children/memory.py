"""Fit one stack from a file and print the resident set before it was read and at its peak, in bytes."""

from __future__ import annotations

import gc
import json
import sys

import numpy as np

from benchmarks.children.tiny import fit_tiny
from benchmarks.measuring import resident_bytes
from benchmarks.sections.grid import TIGHT_TOL
from benchmarks.solvers.ours import fit_ours


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
