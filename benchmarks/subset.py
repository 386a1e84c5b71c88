"""``python -m benchmarks.subset``: at most k kernels: how long the search for the best subset takes.

`learn_subset_weights` on problems with m Gaussian kernels of three random columns each, hinge loss, C = 10,
tol 1e-3, one minute of CPU time for each search. Beside it, what is done without a search: the k heaviest
kernels of the solution with all kernels, and greedy forward selection; their values are compared with the
value of the search. Writes docs/benchmarks/subset.md; a search takes at most its minute, the whole run about
20 minutes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from benchmarks.measuring import code_version, restart_on_threads
from multikernel._files import write_whole
from multikernel.core.optim.loop import Options, limited
from multikernel.core.svm.losses import Hinge
from multikernel.core.weights.learn import learn_weights
from multikernel.core.weights.subset import Allowed, learn_subset_weights
from multikernel.datasets import load_dataset
from multikernel.datasets.catalogue import MissingDataset

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "subset.md"
SIZES = ((20, 3, 300), (20, 5, 300), (30, 3, 300), (50, 5, 300), (50, 10, 300), (50, 5, 500), (50, 10, 500))
SECONDS, C, TOL, NODES = 60.0, 10.0, 1e-3, 100


def tables() -> dict[str, tuple[Any, Any]]:
    """Columns and labels of ±1."""
    cancer, digits = load_breast_cancer(), load_digits()
    found = {
        "breast cancer": (cancer.data, cancer.target == 1),
        "digits, odd or even": (digits.data, digits.target % 2 == 1),
    }
    try:
        waveform = load_dataset("waveform")
    except MissingDataset:
        return found
    found["waveform, class 0"] = (np.asarray(waveform.X), np.asarray(waveform.y) == np.unique(waveform.y)[0])
    return found


def problem(X: Any, y: Any, m: int, n: int, seed: int) -> tuple[Any, Any]:
    """Kernels (m, n, n) and labels of n samples."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(y))[:n]
    X = np.asarray(X, float)[rows]
    varying = np.flatnonzero(X.std(axis=0) > 0.1 * np.median(X.std(axis=0)))
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    Ks = np.empty((m, n, n))
    for K in Ks:
        part = X[:, rng.choice(varying, 3, replace=False)]
        squares = (part * part).sum(axis=1)
        distances = np.maximum(squares[:, None] + squares - 2.0 * part @ part.T, 0.0)
        K[:] = np.exp(-distances / distances.mean())
    return Ks, np.where(y[rows], 1.0, -1.0)


def value(Ks: Any, subset: Any, losses: Any) -> Any:
    """The learned weights of a subset."""
    return learn_weights(np.ascontiguousarray(Ks[np.sort(subset)]), losses, options=Options(tol=0.1 * TOL))


def greedy(Ks: Any, k: int, losses: Any) -> float:
    """The value of greedy forward selection."""
    chosen: list[int] = []
    for _ in range(k):
        values = {m: value(Ks, [*chosen, m], losses).upper_bound for m in range(len(Ks)) if m not in chosen}
        chosen.append(min(values, key=lambda m: values[m]))
    return float(values[chosen[-1]])


def measure(name: str, X: Any, y: Any, m: int, k: int, n: int) -> dict[str, Any]:
    """One search and what is done without one."""
    Ks, labels = problem(X, y, m, n, seed=m + k + n)
    losses = [Hinge(labels, np.full(n, C))]
    gaps: list[float] = []

    def note(entry: dict[str, Any]) -> bool:
        gaps.append(entry["gap"])
        return time.process_time() - start > SECONDS

    start = time.process_time()
    with limited(10.0 * SECONDS):  # of the clock
        found = learn_subset_weights(
            Ks, losses, Allowed(k, np.zeros(m), np.inf), options=Options(tol=TOL, callback=note)
        )
    seconds = time.process_time() - start
    everything = value(Ks, np.arange(m), losses)
    heaviest = value(Ks, np.argsort(-everything.weights)[:k], losses).upper_bound
    start = time.process_time()
    forward = greedy(Ks, k, losses)
    best = found.upper_bound
    return {
        "data": name, "m": m, "k": k, "n": n, "seconds": seconds, "nodes": found.n_iter,
        "fits": found.history[-1]["fits"], "gap": found.gap, "gap_100": gaps[min(NODES, len(gaps)) - 1],
        "relaxed": everything.lower_bound / best, "heaviest": heaviest / best - 1.0,
        "forward": forward / best - 1.0, "forward_seconds": time.process_time() - start,
    }  # fmt: skip


def row_of(row: dict[str, Any]) -> str:
    """The row of one search."""
    cells = [
        row["data"],
        *(row[key] for key in ("m", "k", "n")),
        f"{row['seconds']:.1f}",
        row["nodes"],
        row["fits"],
        f"{100 * row['gap']:.2f} %",
        f"{100 * row['gap_100']:.1f} %",
        f"{100 * row['relaxed']:.0f} %",
        f"{100 * row['heaviest']:+.1f} %",
        f"{100 * row['forward']:+.1f} %",
        f"{row['forward_seconds']:.1f}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def page(rows: list[dict[str, Any]]) -> str:
    """The page."""
    done = [row for row in rows if row["gap"] <= TOL]

    def missed(key: str) -> str:
        above = [row[key] for row in rows if row[key] > TOL]
        worst = (
            f", by {100 * np.median(above):.1f} % in the median and at most {100 * max(above):.1f} %"
            if above
            else ""
        )
        return f"{len(above)} of {len(rows)}{worst}"

    heads = [
        *("data", "m", "k", "n", "CPU s", "nodes", "fits", "gap at the end", "gap after 100 nodes"),
        *("value of all m kernels", "k heaviest kernels", "greedy forward", "CPU s, greedy"),
    ]
    lines = [
        "---",
        "orphan: true",
        "---",
        "",
        "# At most k kernels",
        "",
        "`MKLClassifier(kernels, max_kernels=k)` finds the best subset of k of m kernels by branch and "
        f"bound. Gaussian kernels of three random columns each, hinge loss, C = {C:g}, tol = {TOL:g}; a "
        f"search ends after {SECONDS:g} s of CPU time. By `python -m benchmarks.subset`.",
        "",
        f"| {' | '.join(heads)} |",
        "|---|" + "--:|" * (len(heads) - 1),
        *(row_of(row) for row in rows),
        "",
        f"- Proved optimal within {SECONDS:g} s: {len(done)} of {len(rows)}.",
        f"- Gap after {NODES} nodes at most 5 %: {sum(r['gap_100'] <= 0.05 for r in rows)} of {len(rows)}.",
        "- The k heaviest kernels of the solution with all kernels miss the best subset found in "
        f"{missed('heaviest')}.",
        f"- Greedy forward selection misses it in {missed('forward')}.",
        "- **value of all m kernels**: the lower bound at the start, in percent of the best value found. "
        "Where it is far below, the search is long.",
        "",
        f"Measured at {code_version()}.",
        "",
    ]
    return "\n".join(lines)


def main(given: list[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.subset", description=__doc__)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    asked = parser.parse_args(given)
    restart_on_threads(1, "benchmarks.subset")
    rows = []
    for name, (X, y) in tables().items():
        for m, k, n in SIZES:
            rows.append(measure(name, X, y, m, k, n))
            print(rows[-1], flush=True)
    write_whole(asked.out, page(rows).encode())


if __name__ == "__main__":
    main()
