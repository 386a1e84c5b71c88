"""Fit one table of features in a process that has fitted none; print CPU times in seconds.

Arguments: n, seed, and "loaded" or "cold": whether the compiled loops are loaded before, by a tiny problem.
"""

from __future__ import annotations

import json
import sys

from benchmarks.children.tiny import fit_tiny
from benchmarks.datasets.features import feature_table
from benchmarks.measuring import cpu_seconds
from benchmarks.solvers.features import fit_features, fit_svc


def first_fits(n: int, seed: int, *, loaded: bool) -> dict[str, float]:
    """The first SVC of this process beyond a tiny one, and ours."""
    X, y = feature_table(n, seed)
    fit_svc(*feature_table(40, seed))
    if loaded:
        fit_tiny()
    svc, _ = cpu_seconds(lambda: fit_svc(X, y))
    ours, _ = cpu_seconds(lambda: fit_features(X, y))
    return {"svc": svc, "ours": ours}


def main() -> None:
    """Arguments: n, seed, loaded or cold."""
    print(json.dumps(first_fits(int(sys.argv[1]), int(sys.argv[2]), loaded=sys.argv[3] == "loaded")))


if __name__ == "__main__":
    main()
