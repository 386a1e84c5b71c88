"""The projection of kernel mixtures by Clarabel without a modelling layer, to 1e-8.

Each of the two forms of ``projection_program.py`` comes as a pair: what is the same in all projections of a
fit and so is not timed (the kernels' factors), and the call that is timed. The duals are in units of √C: with
units of 1, or of C, Clarabel does not converge where C is large.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import clarabel
import numpy as np
import scipy.sparse

from judges.programs.answers import ProjectionAnswer
from judges.programs.projection_program import (
    FloatArray,
    answer_of,
    features_of,
    program_of,
    quadratic_of,
    weights_of,
)
from judges.programs.tasks import ProjectionTask

TOL = 1e-8


def _settings(method: str) -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.direct_solve_method = method
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOL
    return settings


def solve_stated(task: ProjectionTask, method: str) -> ProjectionAnswer:
    """The quadratic program in the duals, H dense."""
    program = program_of(task)
    unit = np.sqrt(task.C)
    P = scipy.sparse.csc_matrix(np.triu(unit * quadratic_of(task, program)))
    n, p = program.linear.size, len(program.balance)
    rows = [scipy.sparse.csr_array(program.balance), -scipy.sparse.eye_array(n), program.totals]
    b = np.concatenate([np.zeros(p + n), np.full(task.y.size, task.C / unit)])
    cones = [clarabel.ZeroConeT(p), clarabel.NonnegativeConeT(n + task.y.size)]
    A = scipy.sparse.csc_matrix(scipy.sparse.vstack(rows))
    solution = clarabel.DefaultSolver(P, -program.linear, A, b, cones, _settings(method)).solve()
    return answer_of(task, unit * np.array(solution.x), np.array(solution.z[:p]), str(solution.status))


def _solve_factored(task: ProjectionTask, features: list[FloatArray], method: str) -> ProjectionAnswer:
    program = program_of(task)
    unit = np.sqrt(task.C)
    weights = weights_of(program, [np.sqrt(unit) * part for part in features])
    n, p, rank = program.linear.size, len(program.balance), sum(len(part) for part in weights)
    P = scipy.sparse.csc_matrix(
        (np.ones(rank), (np.arange(n, n + rank), np.arange(n, n + rank))), shape=(n + rank, n + rank)
    )
    q = np.concatenate([-program.linear, np.zeros(rank)])
    rows = [
        [scipy.sparse.csr_array(program.balance), None],
        [scipy.sparse.csr_array(np.vstack(weights)), -scipy.sparse.eye_array(rank)],
        [-scipy.sparse.eye_array(n), None],
        [program.totals, None],
    ]
    A = scipy.sparse.csc_matrix(scipy.sparse.block_array(rows))
    b = np.concatenate([np.zeros(p + rank + n), np.full(task.y.size, task.C / unit)])
    cones = [clarabel.ZeroConeT(p + rank), clarabel.NonnegativeConeT(n + task.y.size)]
    solution = clarabel.DefaultSolver(P, q, A, b, cones, _settings(method)).solve()
    return answer_of(task, unit * np.array(solution.x[:n]), np.array(solution.z[:p]), str(solution.status))


def prepare_factored(task: ProjectionTask, method: str) -> Callable[[], ProjectionAnswer]:
    """The duals and the weights of the components as variables."""
    return partial(_solve_factored, task, [features_of(kernel) for kernel in task.kernels], method)


def prepare_stated(task: ProjectionTask, method: str) -> Callable[[], ProjectionAnswer]:
    """The quadratic program in the duals."""
    return partial(solve_stated, task, method)
