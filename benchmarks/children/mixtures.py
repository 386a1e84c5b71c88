"""Fit one stack by NonstationaryClassifier; print times, the resident set and how the fit ended."""

from __future__ import annotations

import gc
import json
import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.children.memory import resident_bytes
from benchmarks.children.tiny import tiny_problem
from multikernel.nonstationary.classifier import NonstationaryClassifier

C = 10.0


def fit(stack_file: str, label_file: str) -> dict[str, Any]:
    """What there is to tell of one fit."""
    warnings.simplefilter("ignore")  # a fit that does not converge says so in its status
    stack, y = tiny_problem()
    NonstationaryClassifier("precomputed", C=C).fit(np.moveaxis(stack, 0, -1), y)
    gc.collect()
    baseline = resident_bytes("VmRSS")
    kernels, y = np.load(stack_file), np.load(label_file)
    wall, cpu = time.perf_counter(), time.process_time()
    model = NonstationaryClassifier("precomputed", C=C).fit(np.moveaxis(kernels, 0, -1), y)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {
        "cpu": cpu,
        "wall": wall,
        "baseline": baseline,
        "peak": resident_bytes("VmHWM"),
        "n_iter": int(np.max(model.n_iter_)),
        "status": str(model.status_),
        "objective": float(model.objective_),
        "gap": float(model.dual_gap_),
    }


def main() -> None:
    """Arguments: stack file, label file."""
    print(json.dumps(fit(sys.argv[1], sys.argv[2])))


if __name__ == "__main__":
    main()
