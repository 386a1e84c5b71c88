"""The free-sign program in cvxpy, for Clarabel and SCS, in the two forms of ``lmi_cvxopt.py``."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np

from judges.programs.answers import MatrixAnswer
from judges.programs.kernel_matrix_published import matrix_inequality
from judges.programs.tasks import TransductiveProblem

#: SCS is a first-order method: what it is asked for is what it reaches in about the time of the others.
OPTIONS: dict[str, dict[str, Any]] = {
    "CLARABEL": {},  # gap and feasibility 1e-8
    "SCS": {"eps_abs": 1e-5, "eps_rel": 1e-5, "max_iters": 100_000},
}


def solve_lmi_cvxpy(problem: TransductiveProblem, merged: bool, solver: str) -> MatrixAnswer | None:
    """Weights and duals, or None where the solver gives none."""
    stated = matrix_inequality(problem.kernels, problem.y, "SM1", problem.C, problem.trace, merged=merged)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # the judge says how much
        try:
            stated.program.solve(solver=solver, **OPTIONS[solver])
        except cp.SolverError:
            return None
    multiplier, N = stated.bordered.dual_value, problem.y.size
    if stated.mu.value is None or multiplier is None:
        return None
    alpha = -multiplier[-1, :N] / multiplier[-1, -1] * (problem.y if merged else 1.0)
    return MatrixAnswer(np.asarray(stated.mu.value), alpha, str(stated.program.status))


clarabel_printed = partial(solve_lmi_cvxpy, merged=False, solver="CLARABEL")
clarabel_merged = partial(solve_lmi_cvxpy, merged=True, solver="CLARABEL")
scs_printed = partial(solve_lmi_cvxpy, merged=False, solver="SCS")
scs_merged = partial(solve_lmi_cvxpy, merged=True, solver="SCS")
