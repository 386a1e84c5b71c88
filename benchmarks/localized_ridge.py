"""Gates over a ridge regression: time against support vector machines, and what the kept factors save.

``python -m benchmarks.localized_ridge`` prints each fit and writes docs/benchmarks/localized_ridge.md.
Problems are GAUSS4 with three copies of a linear kernel, and scikit-learn's digits, ten classes with one gate
over a linear and a quadratic kernel, 1200 to train and 597 to test. "Factored anew" is the same ridge
classifier, but every kernel on the way is factored. Times are CPU seconds of one thread, the median of three
fits.
"""

from __future__ import annotations

import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.measuring import check_threads, describe_machine, restart_on_threads
from multikernel import LocalizedMKLClassifier, View
from multikernel._files import write_whole
from multikernel.core.stack.sums import GatedStack
from multikernel.datasets import make_gauss
from multikernel.kernels import Linear, Polynomial
from multikernel.localized import LocalizedRidgeClassifier
from multikernel.localized.solver.least_squares import RidgeMachines
from multikernel.localized.solver.machines import Kernel, Solved

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "localized_ridge.md"
SIZES = (1000, 2000, 3000)
REPEATS = 3
ALPHA = 0.1
HEAD = """---
orphan: true
---

# A gate over a ridge regression

Written by `python -m benchmarks.localized_ridge` ({processor}). CPU seconds of one thread, the median of
{repeats} fits. `LocalizedRidgeClassifier(alpha={alpha})` keeps a Cholesky factor along the descent; "factored
anew" is the same with a factor of every kernel on the way; `LocalizedMKLClassifier(C={C:g})` is the support
vector machine, with one gate (`shared_gate=True`) for the ten digits. Kernels of low rank are solved by their
features, with no factor of the size n × n. All have the same kernels, the same
start of the gate and the same `tol`.

| problem | classifier | seconds | solutions | factorizations | test accuracy |
|---|---|---|---|---|---|
"""


class FactoredAnew(RidgeMachines):
    """Every kernel is factored."""

    def solve(self, kernel: Kernel, ceiling: float = np.inf) -> Solved:
        self._inverse = None
        return super().solve(kernel.whole() if isinstance(kernel, GatedStack) else kernel, ceiling)


def problems() -> list[tuple[str, list[View], Any, Any]]:
    """Name, kernels, training and test samples."""
    lines = [View(f"line {k}", Linear(), transforms="unit_diagonal", standardize=True) for k in (1, 2, 3)]
    test = make_gauss("GAUSS4", n_samples=20_000, random_state=1)
    found = [
        (f"GAUSS4, n = {n}", lines, make_gauss("GAUSS4", n_samples=n, random_state=0), test) for n in SIZES
    ]
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, new = order[:1200], order[1200:]
    both = [
        View("linear", Linear(), transforms="unit_diagonal", standardize=True),
        View("quadratic", Polynomial(2), transforms="unit_diagonal", standardize=True),
    ]
    return [*found, ("digits, n = 1200", both, (X[train], y[train]), (X[new], y[new]))]


def contestants(views: list[View]) -> dict[str, Any]:
    ridge = {"alpha": ALPHA, "gating_reg": 0.0}
    return {
        "ridge": LocalizedRidgeClassifier(views, **ridge),
        "ridge, factored anew": LocalizedRidgeClassifier(views, **ridge),
        "support vector machine": LocalizedMKLClassifier(
            views, C=1.0 / ALPHA, gating_reg=0.0, shared_gate=True
        ),
    }


def fit_timed(name: str, model: Any, train: Any) -> float:
    from multikernel.localized import least_squares

    least_squares.RidgeMachines = FactoredAnew if "anew" in name else RidgeMachines  # type: ignore[misc]
    try:
        start = time.process_time()
        model.fit(*train)
        return time.process_time() - start
    finally:
        least_squares.RidgeMachines = RidgeMachines  # type: ignore[misc]


def main() -> None:
    restart_on_threads(1, "benchmarks.localized_ridge")
    check_threads(1)
    warnings.simplefilter("ignore")
    rows = []
    for problem, views, train, test in problems():
        models = contestants(views)
        seconds: dict[str, list[float]] = {name: [] for name in models}
        for _ in range(REPEATS):
            for name, model in models.items():
                seconds[name].append(fit_timed(name, model, train))
        for name, model in models.items():
            counts = f"{model.n_solves_} | {getattr(model, 'n_factorizations_', '–')}"
            accuracy = model.score(*test)
            rows.append(
                f"| {problem} | {name} | {statistics.median(seconds[name]):.2f} | {counts} | {accuracy:.3f} |"
            )
            print(rows[-1], flush=True)
    head = HEAD.format(
        processor=describe_machine(())["processor"], repeats=REPEATS, alpha=ALPHA, C=1.0 / ALPHA
    )
    write_whole(PAGE, (head + "\n".join(rows) + "\n").encode())


if __name__ == "__main__":
    main()
