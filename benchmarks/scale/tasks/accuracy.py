"""Two halves of some rows, each the training set for the other: dense kernels against factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.scale.child import timed
from benchmarks.scale.problems import labelled_problem
from benchmarks.store import Record
from multikernel import KernelBank, MKLClassifier


def take(problem: str, replicate: int, n_train: int, ranks: list[int | str]) -> Record:
    """Share of right answers on each half, of each contestant, the CPU time of its fit, and its columns.

    Of a fit on working sets, these are the rows of its largest set.
    """
    X, y, views = labelled_problem(problem, 2 * n_train, seed=replicate)
    halves = np.array_split(np.random.default_rng(replicate).permutation(len(X)), 2)
    contestants: dict[str, dict[str, Any]] = {"dense": {"gram": "dense"}}
    contestants |= {f"rank {rank}": {"gram": "low_rank", "rank": rank} for rank in ranks}
    scores: dict[str, list[float]] = {name: [] for name in contestants}
    times: dict[str, list[float]] = {name: [] for name in contestants}
    sizes: dict[str, list[int]] = {name: [] for name in contestants}
    for train, test in (halves, halves[::-1]):
        _warm(X[train], y[train], views)
        for name, settings in contestants.items():
            model = MKLClassifier(KernelBank(views, **settings), random_state=replicate)
            spent, _ = timed(lambda model=model, train=train: model.fit(X[train], y[train]))
            scores[name].append(float(model.score(X[test], y[test])))
            times[name].append(spent["cpu"])
            sizes[name].append(_size(model, len(train)))
    return {"scores": scores, "times": times, "sizes": sizes, "n_train": len(X) // 2}


def _warm(X: Any, y: Any, views: Any) -> None:
    """Compiled loops are loaded by a small fit each, so that no contestant pays for it."""
    for settings in ({"gram": "dense"}, {"gram": "low_rank", "rank": 10}):
        MKLClassifier(KernelBank(views, **settings)).fit(X[:500], y[:500])


def _size(model: Any, n: int) -> int:
    """Rows of the largest working set, columns of the largest factor, or all rows."""
    if model.gram_ == "working_set":
        return int(model.working_sets_["rows"].max())
    return int(model.approximation_["rank"].max()) if model.gram_ == "low_rank" else n
