"""Our own: SMO alone, with Newton steps in between as printed, and with Newton steps to the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from judges.interleaved_smo import ascend_by_steps
from multikernel.kernels import Gaussian, Linear, Polynomial, unit_diagonal
from multikernel.nonstationary.solver.mixtures import Mixtures
from multikernel.nonstationary.solver.projection import Projection
from multikernel.nonstationary.solver.smo import project_smo
from multikernel.nonstationary.solver.working_set import project_interior
from studies.compare import compare, comparison_row, group_results
from studies.lewis2006.curve import draw_points
from studies.study import Quantity, Result, Table, Unit

DRAWS = 3
KINDS = {"curve": "the curve of section 4.1, two raw kernels", "clouds": "overlapping clouds, three kernels"}
PENALTIES = (0.1, 10.0, 1e4)
POSTERIORS = {"uniform": "uniform", "settled": "settled"}
N = 100
SOLVED, EXACT, TURNS = 1e-6, 1e-9, 8
_SEED = 2006


def _steps(projection: Projection, **options: Any) -> tuple[float, int]:
    found = ascend_by_steps(projection, **options)
    return found.value, found.n_rounds


def _ours(projection: Projection) -> tuple[float, int]:
    found = project_smo(projection, tol=SOLVED)
    return found.dual, found.n_iter


SOLVERS: dict[str, tuple[str, Callable[[Projection], tuple[float, int]]]] = {
    "alone": ("SMO alone (3.1, 3.2)", lambda projection: _steps(projection, newton=False)),
    "between": ("a Newton step after each sweep (3.3)", lambda projection: _steps(projection, newton=True)),
    "five": (
        "a Newton step after five sweeps",
        lambda projection: _steps(projection, newton=True, n_sweeps=5),
    ),
    "end": ("two sweeps, then Newton steps to the end (the package)", _ours),
}


def compute_ascents(kind: str, posteriors: str, C: float, draw: int) -> dict[str, Any]:
    """Return how near each order of steps comes to the optimum of one projection.

    Parameters
    ----------
    kind, posteriors : str
        Keys of `KINDS` and `POSTERIORS`.
    C : float
    draw : int

    Returns
    -------
    dict
        By solver ``short`` (what is missing to the optimum, relative to 1 + |optimum|), ``rounds`` and
        ``seconds`` of the processor.
    """
    projection = make_projection(kind, posteriors, C, draw)
    optimum = project_interior(projection, tol=EXACT).dual
    for _, solve in SOLVERS.values():  # compiled code is loaded before a clock runs
        solve(make_projection("curve", "uniform", 1.0, 0, n=12))
    found = {}
    for key, (_, solve) in SOLVERS.items():
        start = time.process_time()
        value, rounds = solve(Projection(projection.mixtures, projection.posteriors))
        seconds = time.process_time() - start
        short = (optimum - value) / (1.0 + abs(optimum))
        found[key] = {"short": float(short), "rounds": rounds, "seconds": seconds}
    return found


def make_projection(kind: str, posteriors: str, C: float, draw: int, n: int = N) -> Projection:
    """Return the convex problem of one draw, with posteriors as at the start or near the end of a fit."""
    generator = np.random.default_rng([_SEED, draw])
    if kind == "curve":
        X, y = draw_points(n, generator)
        Ks = np.stack([Linear()(X), Polynomial(degree=2)(X)])
    else:
        X, y = generator.normal(size=(n, 4)), np.where(np.arange(n) % 2 == 0, 1, -1)
        X[:, 0] += 0.8 * y
        Ks = np.stack([unit_diagonal(Linear()(X)), unit_diagonal(Polynomial(degree=2)(X)), Gaussian(0.5)(X)])
    each, rows = np.arange(len(Ks)), (np.flatnonzero(y > 0), np.flatnonzero(y < 0))
    margins = np.full(n, 1.0 + np.log(len(Ks)))
    mixtures = Mixtures(Ks, (each, each), rows, np.full(n, C), margins)
    uniform = [np.full((part.size, len(Ks)), 1.0 / len(Ks)) for part in rows]
    projection = Projection(mixtures, (uniform[0], uniform[1]))
    for _ in range(TURNS if posteriors == "settled" else 0):
        found = mixtures.posteriors(project_interior(projection, tol=SOLVED).point)
        first, second = ((q + 1e-8) / (q + 1e-8).sum(axis=1, keepdims=True) for q in found)
        projection = Projection(mixtures, (first, second))
    return projection


def _units(draws: int) -> list[Unit]:
    return [
        Unit(
            f"{kind}/{posteriors}/C={C:g}/draw={draw}",
            compute_ascents,
            {"kind": kind, "posteriors": posteriors, "C": C, "draw": draw},
        )
        for kind in KINDS
        for posteriors in POSTERIORS
        for C in PENALTIES
        for draw in range(draws)
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, itemgetter("kind", "posteriors"))
    return [
        _row(f"{KINDS[kind]}, {POSTERIORS[posteriors]} posteriors", key, group)
        for (kind, posteriors), group in groups.items()
        for key in SOLVERS
    ]


def _row(section: str, key: str, group: Sequence[Result]) -> dict[str, Any]:
    shorts = [result[key]["short"] for result in group]
    faster = [result[key]["seconds"] < result["end"]["seconds"] for result in group]
    solved = [short <= SOLVED for short in shorts]
    values = {
        "solved": compare([100.0 * float(np.mean(solved))]),
        "worst": compare([max(shorts)]),
        "rounds": compare([result[key]["rounds"] for result in group]),
        "wins": compare([float(sum(a and b for a, b in zip(solved, faster, strict=True)))]),
    }
    return comparison_row(section, {"order": SOLVERS[key][0]}, values)


EXPERIMENT = Table(
    name="interleaving",
    title="the order of SMO and Newton steps",
    version=1,
    splits=DRAWS,
    units=_units,
    rows=_rows,
    quantities=(
        Quantity("solved", "problems solved, %", 0, difference=False),
        Quantity("worst", "largest distance to the optimum", 6, difference=False),
        Quantity("rounds", "rounds", 0, difference=False),
        Quantity("wins", "solved faster than by the package", 0, difference=False),
    ),
    protocol=(
        f"One projection with {N} points, C = {', '.join(f'{C:g}' for C in PENALTIES)}, {DRAWS} draws each. "
        f"A problem is solved if its dual value is within {SOLVED:g} of the optimum, relative to 1 + "
        "|optimum|; the optimum is that of the interior point method. Steps end when a round gains nothing.",
        "Settled posteriors are those after some turns of a fit. Rounds are sweeps, with the Newton step "
        "where there is one; those of the package are Newton steps after two sweeps. Times are of one "
        "processor.",
    ),
    notes=(
        "The publication says that a second-order step is interleaved occasionally, over a larger set of "
        "axes, and no more; a Newton step on the duals that are not zero, after one sweep or five, is our "
        "reading.",
    ),
    kind="own",
)
