"""The price of a grid: `MKLClassifierCV` in single fits, and beside GridSearchCV over the same grid."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmarks.datasets.features import feature_table, many_kernels
from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.measuring import code_version, cpu_seconds, median
from benchmarks.plan import Plan, Size
from benchmarks.store import Record, Store
from multikernel import MKLClassifier, MKLClassifierCV

GRID: dict[str, list[float]] = {"C": [10.0**k for k in range(-2, 6)], "norm": [1.0, 1.5, 2.0, np.inf]}
FOLDS = 5
SEEDS = (0, 1, 2)
MOST_FITS, AIM_FITS, LEAST_SPEEDUP = 10.0, 6.0, 15.0
REQUIRED_SIZE: Size = (1000, 20)


def _key(size: Size, seed: int) -> str:
    return f"tuned/n{size[0]}/m{size[1]}/seed{seed}"


def measure_table(size: Size, seed: int, repeats: int) -> Record:
    """One table: single fits and searches in turn, GridSearchCV once, and the judge's scores."""
    X, y = feature_table(size[0], seed)
    views, folds = many_kernels(size[1]), StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    times: dict[str, list[float]] = {"single": [], "cv": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of narrow kernels, and of fits at the largest C
        MKLClassifier(views, C=1.0).fit(X, y)
        for _ in range(repeats):
            times["single"].append(cpu_seconds(lambda: MKLClassifier(views, C=1.0).fit(X, y))[0])
            search = MKLClassifierCV(views, Cs=GRID["C"], norms=GRID["norm"], cv=folds, random_state=seed)
            times["cv"].append(cpu_seconds(partial(search.fit, X, y))[0])
        grid = GridSearchCV(MKLClassifier(views), GRID, cv=folds)
        spent = cpu_seconds(lambda: grid.fit(X, y))[0]
        by_hand = score_by_hand(search.best_params_, views, folds, X, y)
    return times | {
        "code": code_version(),
        "grid": spent,
        "chosen": search.best_params_,
        "grid_chosen": grid.best_params_,
        "cv_score": search.best_score_,
        "grid_score": float(grid.best_score_),
        "by_hand": by_hand,
    }


def score_by_hand(
    params: dict[str, Any], views: list[Any], folds: Any, X: NDArray[Any], y: NDArray[Any]
) -> float:
    """The judge: mean accuracy of a candidate on the folds, each fit from its own training rows."""
    scores = []
    for train, test in folds.split(X, y):
        model = MKLClassifier(views, **params).fit(X[train], y[train])
        scores.append(float(np.mean(model.predict(X[test]) == y[test])))
    return float(np.mean(scores))


def measure(store: Store, plan: Plan) -> None:
    """Take every table."""
    for seed in SEEDS:
        store.measure(_key(plan.tuned, seed), partial(measure_table, plan.tuned, seed, plan.repeats))


def _records(store: Store, plan: Plan) -> list[Record]:
    found = (store.get(_key(plan.tuned, seed)) for seed in SEEDS)
    return [record for record in found if record is not None]


def _fits(record: Record) -> float:
    return median(record["cv"]) / median(record["single"])


def _speedup(record: Record) -> float:
    return float(record["grid"]) / median(record["cv"])


def figures(store: Store, plan: Plan) -> list[Figure]:
    """Price, speed-up, and what the search gives away against the whole grid."""
    n, m = plan.tuned
    what = f"grid of {len(GRID['C'])} C × {len(GRID['norm'])} norms × {FOLDS} folds, n = {n}, m = {m}: "
    names = ["in single fits", "in single fits, aim", "speed-up over GridSearchCV"]
    names.append("accuracy of the choice by hand, behind the best of the grid")
    required = [f"≤ {MOST_FITS:g}", f"aim {AIM_FITS:g}", f"≥ {LEAST_SPEEDUP:g}", "–"]
    records = _records(store, plan)
    if not records:
        return [not_measured(what + name, text) for name, text in zip(names, required, strict=True)]
    fits, speedups = [_fits(r) for r in records], [_speedup(r) for r in records]
    behind = [100.0 * (r["grid_score"] - r["by_hand"]) for r in records]
    measured = [f"worst {max(fits):.2f}, median {median(fits):.2f}"]
    measured += [f"median {median(fits):.2f}", f"worst {min(speedups):.1f}, median {median(speedups):.1f}"]
    measured.append(f"worst {max(behind):.2f}, median {median(behind):.2f} points")
    judged = plan.tuned == REQUIRED_SIZE
    reached = [max(fits) <= MOST_FITS, None, min(speedups) >= LEAST_SPEEDUP, None]
    repeats = f"{len(records)} tables"
    return [
        Figure(what + name, text, found, is_reached if judged else None, repeats)
        for name, text, found, is_reached in zip(names, required, measured, reached, strict=True)
    ]


def tables(store: Store, plan: Plan) -> list[Table]:
    """One line for each table."""
    rows = []
    for seed in SEEDS:
        record = store.get(_key(plan.tuned, seed))
        if record is not None:
            times = [median(record["single"]), median(record["cv"]), record["grid"]]
            scores = [f"{100.0 * record[name]:.2f}" for name in ("cv_score", "by_hand", "grid_score")]
            chosen = [_params(record[name]) for name in ("chosen", "grid_chosen")]
            ratios = [f"{_fits(record):.2f}", f"{_speedup(record):.1f}"]
            rows.append([str(seed), *map(seconds, times), *ratios, *chosen, *scores])
    header = ["table", "one fit, C = 1", "MKLClassifierCV", "GridSearchCV", "in fits", "speed-up"]
    header += ["chosen", "chosen by GridSearchCV", "its score, %", "by hand, %", "best of the grid, %"]
    n, m = plan.tuned
    text = (
        f"Medians of CPU time on {n} rows of `make_classification` with {m} kernels from features; "
        "GridSearchCV around `MKLClassifier` is timed once, and both have the same folds and refit. "
        "**by hand**: mean accuracy of what MKLClassifierCV chose on these folds, each fit from its own "
        "training rows, as GridSearchCV has it; its own score is of rough fits, kernels scaled by all rows."
    )
    return [Table("The price of a grid", text, header, rows)]


def _params(params: dict[str, Any]) -> str:
    return f"C = {params['C']:g}, norm {params['norm']:g}"
