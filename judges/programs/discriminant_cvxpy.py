"""The same semidefinite program, balanced, in cvxpy for Clarabel and SCS, within a time limit.

Neither is made for few unknowns and one large matrix inequality: Clarabel factors a system with a row for
each of the (n + 1)(n + 2) / 2 entries, SCS needs the eigenvectors of the matrix in each of many iterations.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np

from judges.programs.answers import DiscriminantAnswer
from judges.programs.discriminant_program import answer_of_shares, members_of
from judges.programs.tasks import DiscriminantTask

TIME_LIMIT = 60.0

_OPTIONS: dict[str, dict[str, Any]] = {
    "CLARABEL": {"time_limit": TIME_LIMIT},  # gap and feasibility 1e-8
    "SCS": {"eps_abs": 1e-6, "eps_rel": 1e-6, "max_iters": 1_000_000, "time_limit_secs": TIME_LIMIT},
}


def solve_cvxpy(task: DiscriminantTask, solver: str) -> DiscriminantAnswer | None:
    """Shares of the members, or None where the solver gives none."""
    members = members_of(task)
    p, n, _ = members.matrices.shape
    eta, t = cp.Variable(p, nonneg=True), cp.Variable((1, 1))
    M = n * (members.ridge * np.eye(n) + sum(eta[i] * members.matrices[i] for i in range(p)))
    border = np.sqrt(n) * members.contrast[:, None]
    bordered = cp.bmat([[M, border], [border.T, t]]) >> 0
    program = cp.Problem(cp.Minimize(cp.sum(t)), [cp.sum(eta) == 1, bordered])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # the judge says how much
        try:
            program.solve(solver=solver, **_OPTIONS[solver])
        except cp.SolverError:
            return None
    if eta.value is None:
        return None
    return answer_of_shares(members, task, np.asarray(eta.value), str(program.status))


solve_clarabel = partial(solve_cvxpy, solver="CLARABEL")
solve_scs = partial(solve_cvxpy, solver="SCS")
