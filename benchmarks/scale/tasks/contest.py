"""One contestant on factors from a file, judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale.child import timed
from benchmarks.scale.contestants.group_lasso import fit_celer, fit_skglm
from benchmarks.scale.contestants.linear_svc import fit_linear_svc
from benchmarks.scale.contestants.sgd import sgd_passes
from benchmarks.scale.objective import Problem, blocks_of, complexity, judge
from benchmarks.scale.ours import solve
from benchmarks.store import Record

FloatArray = NDArray[np.float64]
Fit = Callable[[FloatArray, FloatArray], FloatArray]

_FEW = 500  # rows of a first call, which compiles what is compiled


def take(
    folder: str, contestant: str, problem: dict[str, Any], tol: float, goal: float, limit: float
) -> Record:
    """Fit once at `tol` and judge; SGD goes on until it reaches `goal` or has used its time."""
    Z, y = np.load(Path(folder) / "Z.npy"), np.load(Path(folder) / f"{problem['targets']}.npy")
    stated = Problem(
        blocks_of(Z), tuple(problem["offsets"]), y, problem["C"], problem["loss"], float(problem["norm"])
    )
    if contestant.startswith("sgd"):
        return _descend(Z, y, stated, contestant == "sgd averaged", goal, limit)
    fit = _contestant(contestant, stated, tol, problem.get("lam"))
    fit(Z[:_FEW], y[:_FEW])
    if contestant in ("celer", "skglm"):
        Z = np.asfortranarray(Z)
    times, w = timed(lambda: fit(Z, y))
    verdict = judge(stated, w, bound=stated.loss != "hinge" or contestant == "ours")
    return times | {"value": verdict.value, "gap": verdict.gap, "size": complexity(stated, w) ** 0.5}


def _contestant(name: str, stated: Problem, tol: float, lam: float | None) -> Fit:
    if name == "ours":
        return lambda Z, y: solve(Z, y, stated, tol).coefficients[0]
    if name == "linear_svc":
        return lambda Z, y: fit_linear_svc(Z, y, stated.C, stated.loss, tol)
    assert lam is not None
    peer = {"celer": fit_celer, "skglm": fit_skglm}[name]
    return lambda Z, y: peer(Z, y, lam, stated.offsets, tol)


def _descend(
    Z: FloatArray, y: FloatArray, stated: Problem, average: bool, goal: float, limit: float
) -> Record:
    """Pass after pass until the goal, or the limit of its own time; the judge's time is not counted."""
    passes = sgd_passes(Z, y, stated.C, stated.loss, average=average)
    wall = cpu = 0.0
    path = []
    while wall < limit:
        times, w = timed(lambda: next(passes))
        wall, cpu = wall + times["wall"], cpu + times["cpu"]
        path.append({"wall": wall, "cpu": cpu, "value": judge(stated, w, bound=False).value})
        if path[-1]["value"] <= goal:
            break
    return {"path": path}
