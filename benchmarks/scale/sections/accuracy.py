"""Whether factors cost accuracy where dense kernels still fit."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.scale.child import run_task
from benchmarks.scale.plan import ScalePlan
from benchmarks.scale.problems import available
from benchmarks.scale.words import grouped, provenance
from benchmarks.store import Record, Store
from multikernel.inspection import f_test_5x2cv

MOST_ERRORS = 2.0  # standard errors by which factors may be worse


def _key(problem: str, replicate: int) -> str:
    return f"accuracy/{problem}/{replicate}"


def measure(store: Store, plan: ScalePlan) -> None:
    """Five times two halves of each problem that can be had, one after the other on one thread."""
    for problem in filter(available, plan.accuracy_problems):
        for replicate in range(plan.accuracy_replicates):
            store.measure(_key(problem, replicate), partial(_take, plan, problem, replicate))


def _take(plan: ScalePlan, problem: str, replicate: int) -> Record:
    ranks = list(plan.accuracy_ranks)
    given = {"problem": problem, "replicate": replicate, "n_train": plan.accuracy_rows, "ranks": ranks}
    return run_task("accuracy", n_threads=1, **given)


def _records(store: Store, plan: ScalePlan, problem: str) -> list[Record]:
    found = [store.get(_key(problem, replicate)) for replicate in range(plan.accuracy_replicates)]
    # records of earlier versions have other contestants and wall-clock times
    return [record for record in found if record is not None and "sizes" in record]


def _scores(records: list[Record], contestant: str) -> np.ndarray:
    return 100.0 * np.array([record["scores"][contestant] for record in records])


def _compared(records: list[Record], contestant: str) -> tuple[float, float, float]:
    """Mean difference to the dense kernels, its standard error, and the p-value of the 5 × 2 cv F test."""
    ours, dense = _scores(records, contestant), _scores(records, "dense")
    differences = ours - dense
    error = float(differences.std(ddof=1) / np.sqrt(differences.size))
    return float(differences.mean()), error, f_test_5x2cv(ours, dense).pvalue


def figures(store: Store, plan: ScalePlan) -> list[Figure]:
    """The difference of each rank on each problem."""
    rows = []
    for problem in plan.accuracy_problems:
        records = _records(store, plan, problem)
        for rank in plan.accuracy_ranks:
            what = f"accuracy of rank {rank} less dense, {problem}, {_rows(records, plan)} training rows"
            # fixed ranks are known to lose a little: it is rank="auto" that must not
            required = f"≥ −{MOST_ERRORS:g} standard errors" if rank == "auto" else "–"
            if len(records) < plan.accuracy_replicates:
                rows.append(not_measured(what, required))
                continue
            mean, error, pvalue = _compared(records, f"rank {rank}")
            text = f"{mean:+.2f} ± {error:.2f} points (5 × 2 cv F test: p = {pvalue:.2f})"
            reached = mean >= -MOST_ERRORS * error if rank == "auto" else None
            rows.append(Figure(what, required, text, reached, "5 × 2"))
    return rows


def tables(store: Store, plan: ScalePlan) -> list[Table]:
    """Accuracies and times."""
    rows, seen = [], []
    for problem in plan.accuracy_problems:
        records = _records(store, plan, problem)
        seen += records
        for contestant in records[0]["scores"] if records else ():
            scores = _scores(records, contestant)
            times = [t for record in records for t in record["times"][contestant]]
            sizes = [size for record in records for size in record["sizes"][contestant]]
            less = (
                "–" if contestant == "dense" else "{:+.2f} ± {:.2f}".format(*_compared(records, contestant))
            )
            cells = [problem, _rows(records, plan), contestant, f"{scores.mean():.2f} %", less]
            rows.append([*cells, grouped(int(np.median(sizes))), seconds(float(np.median(times)))])
    text = (
        "Right answers on the other half, mean over the halves, what that is less than those of dense "
        "kernels, in points with its standard error, and the median CPU time of a fit on one thread; as many "
        "test rows as training rows, hinge, C = 1, weights of norm 1. Generated rows are fresh in each of "
        "five repetitions, those of a data set are drawn from it. The size is the rows of the Gram matrices, "
        "or the columns of a factor; with rank auto it is the rows of the working set. Working sets were "
        "tuned on the first three problems, the others confirm it." + provenance(seen)
    )
    header = ["problem", "rows", "kernels", "right", "less dense", "size", "CPU time of a fit"]
    return [Table("Accuracy", text, header, rows)]


def _rows(records: list[Record], plan: ScalePlan) -> str:
    """Training rows: of small data sets half of them."""
    return grouped(records[0]["n_train"] if records else plan.accuracy_rows)
