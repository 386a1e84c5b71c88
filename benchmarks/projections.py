"""Which solver of the projection is needed where: time to one gap by size, kernels, C and posteriors.

Every solver of the projection of kernel mixtures (interior point, SMO with Newton's steps, Clarabel) gets the
same problem and the same tolerance; whole fits compare the two that the package has. CPU time of one thread,
medians, one table of Markdown on standard output:

    python -m benchmarks.projections

The problems are those of the section "nonstationary" (``datasets/mixtures.py``) and variations of them: other
sizes, values of C, kernels of low and of full rank, posteriors at the start and at the end of a fit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.datasets.mixtures import ProjectionTask, converged, kernels_of, randomized, uniform_task
from benchmarks.figures import seconds
from benchmarks.measuring import check_threads, cpu_seconds, median, restart_on_threads
from judges.conic.nonstationary import project_conic
from multikernel.core.optim.loop import Options
from multikernel.nonstationary.solver.learn import learn_mixtures
from multikernel.nonstationary.solver.mixtures import Mixtures
from multikernel.nonstationary.solver.projection import Projected, Projection
from multikernel.nonstationary.solver.smo import project_smo
from multikernel.nonstationary.solver.working_set import project_interior

TOL, FIT_TOL = 1e-6, 1e-3
REPEATS, SLOW, SLOW_REPEATS = 5, 2.0, 1  # a run beyond SLOW seconds is not repeated
CONIC_VARIABLES = 900  # Clarabel takes some ten seconds beyond
SOLVERS: dict[str, Callable[..., Projected]] = {
    "interior point": project_interior,
    "SMO + Newton": project_smo,
    "Clarabel": project_conic,
}


@dataclass(frozen=True)
class Case:
    """One projection; ``kernels`` chooses from those of the data set, and may name one twice."""

    dataset: str
    n: int
    C: float
    posteriors: str
    kernels: tuple[int, ...]
    mode: str = "qp"

    def task(self) -> ProjectionTask:
        """The problem, its posteriors included."""
        Ks, y = kernels_of(self.dataset, self.n)
        task = uniform_task(np.ascontiguousarray(Ks[list(self.kernels)]), y, self.C)
        if self.posteriors == "converged":
            return converged(task)
        if self.posteriors == "random":
            return randomized(task)
        return task

    def __str__(self) -> str:
        return f"{self.dataset} | {NAMES[self.dataset, self.kernels]} | {self.n} | {self.C:g}"


NAMES = {
    ("mc", (0, 1, 2)): "linear, quadratic, Gaussian",
    ("mc", (0,)): "linear",
    ("mc", (2,)): "Gaussian",
    ("mc", (0, 1)): "linear, quadratic",
    ("mc", (0, 1, 2, 0, 1, 2)): "each of the three twice",
    ("piecewise", (0, 1)): "linear, quadratic, raw",
}


def cases() -> Iterator[Case]:
    """What is measured."""
    three, two = (0, 1, 2), (0, 1)
    for posteriors in ("uniform", "random", "converged"):
        for n in (100, 300, 500, 1000):
            yield Case("mc", n, 10.0, posteriors, three)
        for n in (100, 300, 500, 1000):
            yield Case("piecewise", n, 1e4, posteriors, two)
    for C in (0.1, 1.0, 100.0, 1e4):
        for posteriors in ("uniform", "converged"):
            yield Case("mc", 300, C, posteriors, three)
    for C in (1.0, 100.0):
        for posteriors in ("uniform", "converged"):
            yield Case("piecewise", 300, C, posteriors, two)
    for kernels in ((0,), (2,), two, (0, 1, 2, 0, 1, 2)):
        yield Case("mc", 300, 10.0, "random", kernels)


def fits() -> Iterator[Case]:
    """Whole fits from uniform posteriors."""
    for mode in ("qp", "hard"):
        for n, C in ((200, 10.0), (500, 0.1), (500, 10.0), (500, 1e4), (1000, 10.0)):
            yield Case("mc", n, C, "uniform", (0, 1, 2), mode)
        for n, C in ((200, 1e4), (500, 1.0), (500, 1e4), (1000, 1e4)):
            yield Case("piecewise", n, C, "uniform", (0, 1), mode)


def timed(call: Callable[[], object]) -> tuple[float, object]:
    """The median of several runs, of one where it takes long, and what the last returned."""
    spent, result = cpu_seconds(call)
    times = [spent]
    while len(times) < (REPEATS if times[0] < SLOW else SLOW_REPEATS):
        spent, result = cpu_seconds(call)
        times.append(spent)
    return median(times), result


def _fresh(solve: Callable[..., Projected], projection: Projection) -> Projected:
    """Solve a copy that remembers nothing of earlier runs."""
    return solve(Projection(projection.mixtures, projection.posteriors), tol=TOL)


def projection_row(case: Case) -> str:
    """Times of every solver, and the largest relative difference of their values."""
    task = case.task()
    cells, values = [], []
    for name, solve in SOLVERS.items():
        if name == "Clarabel" and case.n * len(case.kernels) > CONIC_VARIABLES:
            cells.append("–")
            continue
        spent, found = timed(partial(_fresh, solve, task.projection))
        reached = found.status == "optimal"
        cells.append(seconds(spent) if reached else f"{found.status}, gap {found.gap:.0e}, {seconds(spent)}")
        values += [found.dual] if reached else []
    apart = (max(values) - min(values)) / max(1.0, abs(values[0])) if values else np.nan
    return f"| {case} | {case.posteriors} | {' | '.join(cells)} | {apart:.0e} |"


def fit_row(case: Case) -> str:
    """Times of a whole fit by the two solvers, turns, fall-backs and objectives."""
    task = case.task()
    margins = np.full(case.n, task.margin if case.mode == "qp" else 1.0)
    every = np.arange(len(task.kernels))
    mixtures = Mixtures(task.kernels, (every, every), task.rows, np.full(case.n, case.C), margins, case.mode)
    cells, objectives = [], []
    for solver in ("ipm", "smo"):
        options = Options(tol=FIT_TOL, max_iter=100)
        spent, found = timed(
            partial(learn_mixtures, mixtures, [task.posteriors], solver=solver, options=options)
        )
        cells += [seconds(spent), f"{found.n_iter}"]
        objectives.append(f"{found.objective:.6g}")
    cells += [str(found.n_fallbacks), *objectives]
    return f"| {case} | {case.mode} | {' | '.join(cells)} |"


def main() -> None:
    """Print both tables."""
    restart_on_threads(1, "benchmarks.projections")
    check_threads()
    small = Case("mc", 40, 10.0, "uniform", (0, 1, 2)).task()
    for solve in SOLVERS.values():
        solve(small.projection)
    print(f"Projections to a gap of {TOL:g}\n")
    print("| data | kernels | T | C | posteriors | " + " | ".join(SOLVERS) + " | values differ by |")
    print("|" + "---|" * (6 + len(SOLVERS)))
    for case in cases():
        print(projection_row(case))
        sys.stdout.flush()
    print(f"\nWhole fits to a gap of {FIT_TOL:g}\n")
    print(
        "| data | kernels | T | C | mode | interior point | turns | SMO + Newton | turns | left to the "
        "interior point | objective, interior point | objective, SMO |"
    )
    print("|" + "---|" * 12)
    for case in fits():
        print(fit_row(case))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
