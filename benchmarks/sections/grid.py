"""Ours, its solver alone, scikit-learn's SVC, our SMO and one pass over the stack, in turn, on one problem.

Several sections read the same problems (the floor, the passes, the growth, the SMO); each is measured once
in a run.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import kernel_bank
from benchmarks.measuring import interleaved, one_pass
from benchmarks.objective import judge
from benchmarks.plan import Case
from benchmarks.solvers.ours import answer_of, fit_ours, learn_ours
from benchmarks.solvers.smo import solve_smo
from benchmarks.solvers.svc import duals_of, solve_svc
from benchmarks.store import Record, Store

TIGHT_TOL = 1e-6
LOOSE_TOL = 1e-3
SVC_TOL = 1e-3


def grid_key(case: Case) -> str:
    """Name of the case's record in the store."""
    return f"grid/{case.key}"


def _single_verdict(
    kernel: NDArray[np.float64], y: NDArray[np.float64], C: float, alpha: NDArray[np.float64]
) -> dict[str, float]:
    """Dual value and gap of an SVM at one kernel, by the judge."""
    verdict = judge(kernel[None], y, C, np.ones(1), alpha)
    return {"dual": verdict.dual, "gap": verdict.gap}


def measure_grid(case: Case, repeats: int) -> Record:
    """Times of the contestants and the judge's word on what they found."""
    kernels, y = kernel_bank(case.dataset, case.n, case.m)
    C = case.C
    answer = answer_of(fit_ours(kernels, y, C, TIGHT_TOL), y)
    final_kernel = np.tensordot(answer.weights, kernels, axes=1)
    times = interleaved(
        {
            "ours": lambda: fit_ours(kernels, y, C, TIGHT_TOL),
            "solver": lambda: learn_ours(kernels, y, C, TIGHT_TOL),
            "svc": lambda: solve_svc(final_kernel, y, C, SVC_TOL),
            "smo": lambda: solve_smo(final_kernel, y, C, SVC_TOL),
            "pass": lambda: one_pass(kernels, y),
        },
        repeats,
    )
    verdict = judge(kernels, y, C, answer.weights, answer.alpha)
    svc_alpha = duals_of(solve_svc(final_kernel, y, C, SVC_TOL), y)
    found: dict[str, Any] = {
        "objective": verdict.primal,
        "lower": verdict.lower,
        "gap": verdict.gap,
        "n_solves": answer.n_solves,
        "n_active": int(np.count_nonzero(answer.weights)),
        "n_support": int(np.count_nonzero(answer.alpha)),
        "svc": _single_verdict(final_kernel, y, C, svc_alpha),
        "smo": _single_verdict(final_kernel, y, C, solve_smo(final_kernel, y, C, SVC_TOL)),
    }
    return {"times": times, "found": found}


def take_grid(store: Store, cases: list[Case], repeats: int) -> None:
    """Measure every case that is not in the store yet."""
    for case in cases:
        store.measure(grid_key(case), partial(measure_grid, case, repeats))


def grid_records(store: Store, cases: list[Case]) -> list[tuple[Case, Record]]:
    """The cases that have been measured, with their records."""
    found = ((case, store.get(grid_key(case))) for case in cases)
    return [(case, record) for case, record in found if record is not None]
