"""Two halves of 10 000 rows, each the training set for the other: dense kernels against factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.scale.child import timed
from benchmarks.scale.problems import labelled_problem
from benchmarks.store import Record
from multikernel import KernelBank, MKLClassifier


def take(problem: str, replicate: int, n_train: int, ranks: list[int]) -> Record:
    """Share of right answers on each half, of each contestant, and the time of its fit."""
    X, y, views = labelled_problem(problem, 2 * n_train, seed=replicate)
    halves = np.split(np.random.default_rng(replicate).permutation(2 * n_train), 2)
    contestants: dict[str, dict[str, Any]] = {"dense": {"gram": "dense"}}
    contestants |= {f"rank {rank}": {"gram": "low_rank", "rank": rank} for rank in ranks}
    scores: dict[str, list[float]] = {name: [] for name in contestants}
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for train, test in (halves, halves[::-1]):
        for name, settings in contestants.items():
            model = MKLClassifier(KernelBank(views, **settings), random_state=replicate)
            spent, _ = timed(lambda model=model, train=train: model.fit(X[train], y[train]))
            scores[name].append(float(model.score(X[test], y[test])))
            times[name].append(spent["wall"])
    return {"scores": scores, "times": times}
