"""Time and memory with the number of targets: n = 1000, five kernels, 100 sets of weights, 8 alphas."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

N, N_VIEWS, N_COLUMNS = 1000, 5, 20
COUNTS = (2500, 5000, 10_000)


def measure(n_targets: int, dtype: str) -> dict[str, Any]:
    """CPU time and peak memory of a fit, in a process of its own."""
    run = f"from benchmarks.targets.scale import fit; fit({n_targets}, {dtype!r})"
    done = subprocess.run([sys.executable, "-c", run], check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def fit(n_targets: int, dtype: str) -> None:
    """Fit made-up targets, and print what it took."""
    from multikernel import KernelBank, MKLRidgeCV
    from multikernel.kernels import Gaussian

    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, N_VIEWS * N_COLUMNS))
    shares = rng.dirichlet(np.full(N_VIEWS, 0.3), size=n_targets)
    Y = rng.normal(size=(N, n_targets))
    for m in range(N_VIEWS):
        part = X[:, m * N_COLUMNS : (m + 1) * N_COLUMNS] @ rng.normal(size=(N_COLUMNS, n_targets))
        Y += np.sqrt(shares[:, m] / N_COLUMNS) * part
    views = [(f"v{m}", Gaussian(), list(range(m * N_COLUMNS, (m + 1) * N_COLUMNS))) for m in range(N_VIEWS)]
    MKLRidgeCV(views, targets="each", candidates=2).fit(X[:50], Y[:50, :2])  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    began = time.process_time()
    model = MKLRidgeCV(KernelBank(views, dtype=dtype), targets="each").fit(X, Y)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    parts = model.score_by_view(X, Y).iloc[:, :N_VIEWS].to_numpy()
    right = float(np.mean(parts.argmax(axis=1) == shares.argmax(axis=1)))
    print(
        json.dumps(
            {
                "n_targets": n_targets, "dtype": dtype, "seconds": seconds, "peak_gib": peak,
                "before_gib": before, "dominant_view_found": right,
            }
        )
    )  # fmt: skip
