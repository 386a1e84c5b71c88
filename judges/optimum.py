"""The optimum of a convex program written in cvxpy, by Clarabel."""

import contextlib
import warnings

import cvxpy as cp


def conic_optimum(problem: cp.Problem, tol: float = 1e-10, enough: float = 1e-7) -> float:
    """The optimum to ``tol``, else to the next power of ten, but at least to ``enough``.

    How near floating point comes hangs on the last bits of the data, which differ between processors; and
    steps beyond the nearest lead away again. So each tolerance is a solution of its own.
    """
    while tol < 1.5 * enough:
        with warnings.catch_warnings(), contextlib.suppress(cp.SolverError):
            # short of the tolerance; norms of a power p are taken to 1e-15
            warnings.filterwarnings("ignore", message="Solution may be inaccurate|pnorm with p")
            problem.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
            if problem.status == cp.OPTIMAL:
                return float(problem.value)
        tol *= 10.0
    raise AssertionError(f"Clarabel found no optimum to {enough}: {problem.status}")
