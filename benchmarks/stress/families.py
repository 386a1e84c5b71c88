"""``python -m benchmarks.stress.families``: every other method on the same problems, each within the limit.

The convex fits of ``python -m benchmarks.stress`` are judged; here every method of the registry that is none
of those must end: with a model that predicts numbers, or with a message that says what is wrong. A fit of the
methods takes turns with the categories: number k is method k of the registry, in category k, round and round.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import code_version, is_in_package, restart_on_threads
from benchmarks.running import say
from benchmarks.store import Record
from benchmarks.stress.fitting import LIMIT, ROOT, Worker, describe, limit_cpu
from benchmarks.stress.problems import CATEGORIES, Problem, make_problem
from multikernel import KernelBank, View
from multikernel.registry import Method, list_methods

JUDGED = {"mkl", "ridge", "multiclass", "pairs"}  # by the other command; pairs have no samples of their own
ATTACKED = tuple(name for name in CATEGORIES if name not in ("joint", "named"))
ONE_KERNEL = {"kdda", "knn", "spectral", "conformal"}
MOST = 1000  # samples
PAGE = ROOT / "docs" / "benchmarks" / "families.md"
OUTCOMES = ("fitted", "not optimal", "refused", "foreign", "NaN", "timeout")
FAULTS = ("foreign", "NaN", "timeout")


def methods() -> list[Method]:
    """All that are attacked here."""
    return [
        method for method in list_methods() if method.name not in JUDGED and method.tasks != ("survival",)
    ]


def drawn(seed: int, number: int, most: int = MOST) -> tuple[Method, Problem]:
    """The method and the problem of a number; the target is one that the method can learn from."""
    every = methods()
    method = every[number % len(every)]
    names = list(CATEGORIES)
    category = ATTACKED[(number // len(every) + number % len(every)) % len(ATTACKED)]
    problem = make_problem(seed, number * len(names) + names.index(category))
    rows = np.sort(np.random.default_rng([seed, number]).permutation(problem.n)[:most])
    problem = replace(problem, X=problem.X[rows], y=problem.y[rows])
    return method, problem if task_of(problem) in method.tasks else _for_task(problem, method.tasks[0])


def _for_task(problem: Problem, task: str) -> Problem:
    """The same kernels with a target that a method can learn from."""
    if task == "unsupervised":
        return replace(problem, loss="one_class")
    if task == "regression":
        return replace(problem, loss="ridge", y=problem.y.astype(float))
    return replace(problem, loss="hinge", y=(problem.y > np.median(problem.y)).astype(int))


def task_of(problem: Problem) -> str:
    """What is learned from, in the registry's words."""
    return {"epsilon": "regression", "ridge": "regression", "one_class": "unsupervised"}.get(
        problem.loss, "classification"
    )


def estimator(method: Method, problem: Problem) -> Any:
    """The method on the kernels of the problem, none of them standardized or normalized."""
    known = method.parameters(task_of(problem))
    given: dict[str, Any] = {"C": problem.C} if "C" in known and problem.loss != "one_class" else {}
    kernels = problem.kernels[:1] if method.name in ONE_KERNEL else problem.kernels
    views = [
        View(f"k{m}", of.kernel(), None if of.columns is None else list(of.columns))
        for m, of in enumerate(kernels)
    ]
    bank: Any = KernelBank(views, standardize=False, normalize=None)
    if method.name in ONE_KERNEL:
        bank = kernels[0].kernel()
    if problem.precomputed and method.name not in ONE_KERNEL and method.name != "projection":
        bank = "precomputed"
    elif method.name == "projection":
        bank = "auto"
    return method.make(task_of(problem), bank, **given)


def measure(method: Method, problem: Problem, limit: float | None = None) -> Record:
    """Fit, predict, and say what came of it; CPU time of both."""
    start = time.process_time()
    found: Record = {"said": "", "status": ""}
    try:
        model = estimator(method, problem)
        raw = problem.precomputed and model_takes_stacks(model)
        X = problem.samples() if raw else problem.X
        start = time.process_time()
        limit_cpu(limit)
        model.fit(X) if problem.loss == "one_class" else model.fit(X, problem.y)
        outputs = [getattr(model, name)(X) for name in OUTPUTS if hasattr(model, name)]
        found["status"] = str(getattr(model, "status_", "optimal"))
        outcome = "fitted" if found["status"] == "optimal" else "not optimal"
        numbers = [np.asarray(each) for each in (*outputs, getattr(model, "kernel_weights_", 0.0))]
        if any(each.dtype.kind == "f" and not np.isfinite(each).all() for each in numbers):
            outcome = "NaN"
    except Exception as error:  # whatever a fit raises is a finding
        last = traceback.extract_tb(error.__traceback__)[-1]
        ours = isinstance(error, ValueError | TypeError) and is_in_package(last.filename)
        outcome = "refused" if ours and (last.line or "").startswith("raise") else "foreign"
        place = f"{Path(last.filename).name}:{last.lineno}"
        found["said"] = f"{type(error).__name__}: {str(error)[:200]} [{place}]"
    finally:
        limit_cpu(None)
    return found | {"outcome": outcome, "seconds": time.process_time() - start}


OUTPUTS = ("predict", "decision_function", "predict_proba")


def model_takes_stacks(model: Any) -> bool:
    """Whether the estimator was made for precomputed kernels."""
    return isinstance(getattr(model, "kernels", None), str) and model.kernels == "precomputed"


def serve(seed: int, limit: float, most: int) -> None:
    """Answer numbers with records, until the input ends; a method's first fit is small, and compiles."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("ready", flush=True)
    known = set()
    for line in sys.stdin:
        number = int(line)
        method, problem = drawn(seed, number, most)
        if (method.name, problem.loss) not in known:
            known.add((method.name, problem.loss))
            measure(*drawn(seed, number, 60))
        print(json.dumps(measure(method, problem, limit)), flush=True)


class FamilyWorker(Worker):
    """The process that fits methods, on so many samples at most."""

    def __init__(self, seed: int, limit: float, most: int) -> None:
        super().__init__(seed, limit)
        self.command = ("-m", "benchmarks.stress.families", "--max-n", str(most))


def table(title: str, records: Sequence[Record], key: str) -> str:
    """A line for each value of a key."""
    lines = [f"| {title} | fits | {' | '.join(OUTCOMES)} | median s | longest s |", "|---|" + "--:|" * 9]
    for name in [*dict.fromkeys(record[key] for record in records), "**all**"]:
        those = [record for record in records if name in (record[key], "**all**")]
        counts, times = Counter(r["outcome"] for r in those), [r["seconds"] for r in those]
        cells = [len(those), *(counts[outcome] for outcome in OUTCOMES)]
        times_text = f"{statistics.median(times):.2f} | {max(times):.1f}"
        lines.append(f"| {name} | " + " | ".join(map(str, cells)) + f" | {times_text} |")
    return "\n".join(lines)


def page(records: Sequence[Record], about: str, most: int = MOST, limit: float = LIMIT) -> str:
    """The page of the documentation."""
    faults = [record for record in records if record["outcome"] in FAULTS]
    lines = []
    for r in faults:
        where = f"{r['method']}, {r['category']}, n = {r['n']}, C = {r['C']:g}"
        lines.append(f"- {r['number']}: {where}: {r['outcome']}. {r['said']}")
    listed = "\n".join(lines)
    return f"""---
orphan: true
---

# Every method on raw kernels

{len(records)} fits of the methods that are not judged in [random fits](stress.md), on the same kinds of raw
and ill-scaled kernels, at most {most} samples, {limit:g} s of CPU time each on one thread, compilation left
out. **not optimal**: a model with the status "stalled" or "max_iter", which says so in a warning.
**refused**: a message that says what is wrong. **foreign**: an exception of another kind. **NaN**: in the
weights or in a prediction.

## By method

{table("method", sorted(records, key=lambda r: str(r["method"])), "method")}

## By category

{table("category", records, "category")}

## Faults

{listed or "None."}

Measured by: {about}.
"""


def parse_arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stress.families", description=__doc__)
    parser.add_argument("--fits", type=int, default=700, help="numbers of fits")
    parser.add_argument("--first", type=int, default=0, help="the first number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-n", type=int, default=MOST, help="at most so many samples")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of CPU time of each fit")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes")
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page is written")
    parser.add_argument("--serve", type=float, metavar="SECONDS", help=argparse.SUPPRESS)
    return parser.parse_args(given)


def main() -> int:
    """Fit all; the exit status is 1 if there is a fault."""
    asked = parse_arguments()
    restart_on_threads(1, module="benchmarks.stress.families")
    if asked.serve is not None:
        serve(asked.seed, asked.serve, asked.max_n)
        return 0
    end = time.monotonic() + 60.0 * asked.minutes if asked.minutes else float("inf")
    worker, records = FamilyWorker(asked.seed, asked.limit, asked.max_n), []
    try:
        for number in range(asked.first, asked.first + asked.fits):
            if time.monotonic() > end:
                break
            method, problem = drawn(asked.seed, number, asked.max_n)
            found = worker.fit(number)
            records.append({"number": number, "method": method.name, **describe(problem), **found})
            if found["outcome"] in FAULTS or found["seconds"] > 0.5 * asked.limit:
                say(json.dumps(records[-1]))
            if len(records) % 50 == 0:
                say(f"{len(records)} fits")
    finally:
        worker.close()
    choices = f"--fits {len(records)} --seed {asked.seed} --max-n {asked.max_n} --limit {asked.limit:g}"
    about = f"`python -m benchmarks.stress.families {choices}`; code {code_version() or 'unknown'}"
    asked.out.write_text(page(records, about, asked.max_n, asked.limit), encoding="utf-8")
    print(table("category", records, "category"))
    return int(any(record["outcome"] in FAULTS for record in records))


if __name__ == "__main__":
    sys.exit(main())
