"""The free-sign program in cvxpy, for Clarabel and SCS, in the two forms of ``lmi_cvxopt.py``."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np

from judges.programs.answers import MatrixAnswer
from judges.programs.tasks import TransductiveProblem

#: SCS is a first-order method: what it is asked for is what it reaches in about the time of the others.
OPTIONS: dict[str, dict[str, Any]] = {
    "CLARABEL": {},  # gap and feasibility 1e-8
    "SCS": {"eps_abs": 1e-5, "eps_rel": 1e-5, "max_iters": 100_000},
}


def _column(parts: list[Any], size: int) -> Any:
    return cp.reshape(cp.hstack(parts), (size, 1), order="F")


def lmi_program(problem: TransductiveProblem, merged: bool) -> tuple[cp.Problem, cp.Variable, Any]:
    """The program, its weights, and its bordered inequality."""
    kernels, y = problem.kernels, problem.y
    m, n, N = len(kernels), kernels.shape[1], y.size
    mu, t, lam = cp.Variable(m), cp.Variable(), cp.Variable()
    nu, delta = cp.Variable(N, nonneg=True), cp.Variable(N, nonneg=True)
    v = 1.0 + nu - delta + lam * y
    corner = cp.reshape(t - 2.0 * problem.C * cp.sum(delta), (1, 1), order="F")
    learned = sum(mu[i] * kernels[i] for i in range(m))
    constraints = [problem.traces @ mu == problem.trace]
    if merged:
        block, border = learned, _column([cp.multiply(y, v), cp.Variable(n - N)], n)
    else:
        constraints.append(learned >> 0)
        signed = kernels[:, :N, :N] * np.outer(y, y)
        block, border = sum(mu[i] * signed[i] for i in range(m)), _column([v], N)
    bordered = cp.bmat([[block, border], [border.T, corner]]) >> 0
    return cp.Problem(cp.Minimize(t), [*constraints, bordered]), mu, bordered


def solve_lmi_cvxpy(problem: TransductiveProblem, merged: bool, solver: str) -> MatrixAnswer | None:
    """Weights and duals, or None where the solver gives none."""
    program, mu, bordered = lmi_program(problem, merged)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # the judge says how much
        try:
            program.solve(solver=solver, **OPTIONS[solver])
        except cp.SolverError:
            return None
    if mu.value is None or bordered.dual_value is None:
        return None
    multiplier, N = bordered.dual_value, problem.y.size
    alpha = -multiplier[-1, :N] / multiplier[-1, -1] * (problem.y if merged else 1.0)
    return MatrixAnswer(np.asarray(mu.value), alpha, str(program.status))


clarabel_printed = partial(solve_lmi_cvxpy, merged=False, solver="CLARABEL")
clarabel_merged = partial(solve_lmi_cvxpy, merged=True, solver="CLARABEL")
scs_printed = partial(solve_lmi_cvxpy, merged=False, solver="SCS")
scs_merged = partial(solve_lmi_cvxpy, merged=True, solver="SCS")
