"""``python -m benchmarks.tables.noise``: when does learning weights pay?

Views of noise are added to the real ones: each is a real view with its rows in random order, so that it has
the same columns and says nothing of the classes. Measured is the accuracy of learned weights, of the plain
sum of the kernels, and of an SVC on all columns. Rows go into the store of ``python -m benchmarks.tables``,
and to the same page.
"""

from __future__ import annotations

import argparse
import hashlib
from functools import lru_cache

import numpy as np

from benchmarks.measuring import restart_on_threads
from benchmarks.tables.__main__ import (
    common_options,
    finish,
    listed,
    measure_pending,
    open_store,
    refuse_unknown,
)
from benchmarks.tables.contestants import Contestant, Task
from benchmarks.tables.running import Work
from benchmarks.tables.sets import FOLDS, NOISE, DataSet, load, make_views
from benchmarks.tables.views import SVCOnColumns
from multikernel import MKLClassifier, MKLClassifierCV
from multikernel.kernels import Gaussian, Kernel, Linear

SETS = ("mfeat", "tcga_breast", "reuters_multilingual_1200")
COUNTS = (0, 2, 5, 10, 20, 40)
REPEATS = 2
TEXT = """Views of noise are added to the real ones: real views, in turn, with their rows in random order.
Each view has one kernel, a Gaussian of median width on standardized columns, for words a linear one.
`MKLClassifier` has its defaults (C = 1, norm 1); `MKLClassifierCV` chooses C and the norm; the plain sum has
equal weights and a tuned C; the SVC sees all columns beside each other, C and gamma tuned."""


# ---------------------------------------------------------------------- data
def noisy_name(name: str, count: int) -> str:
    """What a set with views of noise is called in the store."""
    return f"{name}+{count}"


@lru_cache(maxsize=2)
def load_noisy(name: str) -> DataSet:
    """A set of `noisy_name`."""
    base, count = name.split("+")
    return add_noise(load(base), int(count))


def add_noise(data: DataSet, count: int) -> DataSet:
    """The set with views of noise, and one kernel for each view."""
    tables = dict(data.X)
    real = list(tables)
    for k in range(count):
        digest = hashlib.sha256(f"{data.name}/noise/{k}".encode()).digest()
        order = np.random.default_rng(list(digest[:8])).permutation(len(data.y))
        tables[f"noise {k + 1}"] = tables[real[k % len(real)]][order]
    kernel: Kernel = Gaussian("median") if data.standardize else Linear()
    views = make_views(tables, {"kernel": kernel}, data.standardize)
    return DataSet(data.name, tables, data.y, *views, standardize=data.standardize)


# ---------------------------------------------------------------------- contestants
def _views(task: Task) -> list[object]:
    return list(task.data.views)


RIVALS: dict[str, Contestant] = {
    "mkl": Contestant(
        "MKLClassifier", lambda task: MKLClassifier(_views(task)), is_ours=True, calibrated=False
    ),
    "mkl_cv": Contestant(
        "MKLClassifierCV", lambda task: MKLClassifierCV(_views(task), random_state=task.seed), is_ours=True
    ),
    "sum": Contestant(
        "plain sum, tuned C",
        lambda task: MKLClassifierCV(_views(task), norms=[np.inf], random_state=task.seed),
        of_package=True,
    ),
    "svc_tuned": Contestant("SVC on all columns, tuned", SVCOnColumns),
}


# ---------------------------------------------------------------------- command
def plan_noise(sets: list[str], counts: list[int], repeats: int, contestants: list[str]) -> list[Work]:
    """Everything that is asked for, breadth first."""
    return [
        Work(NOISE, noisy_name(name, count), repetition, fold, contestant)
        for repetition in range(repeats)
        for name in sets
        for count in counts
        for fold in range(FOLDS)
        for contestant in RIVALS
        if not contestants or contestant in contestants
    ]


def parse_arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables.noise", description=__doc__)
    common_options(parser, REPEATS)
    parser.add_argument(
        "--counts", type=listed, default=list(map(str, COUNTS)), help="numbers of noise views"
    )
    asked = parser.parse_args(given)
    refuse_unknown("--only", asked.only, SETS)
    refuse_unknown("--contestants", asked.contestants, list(RIVALS))
    return asked


def main() -> None:
    """Measure, keep, and write the page."""
    asked = parse_arguments()
    restart_on_threads(1, "benchmarks.tables.noise")
    store = open_store(asked.store)
    if not asked.page:
        sets = asked.only or list(SETS)
        works = plan_noise(sets, [int(count) for count in asked.counts], asked.repeats, asked.contestants)
        measure_pending(works, store, asked)
    finish(store, asked.out)


if __name__ == "__main__":
    main()
