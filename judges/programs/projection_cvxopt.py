"""The projection of kernel mixtures by CVXOPT's coneqp without a modelling layer, to 1e-8."""

from __future__ import annotations

import cvxopt
import cvxopt.solvers
import numpy as np
import scipy.sparse

from judges.programs.answers import ProjectionAnswer
from judges.programs.projection_program import answer_of, program_of, quadratic_of
from judges.programs.tasks import ProjectionTask

_OPTIONS = {"show_progress": False, "abstol": 1e-8, "reltol": 1e-8, "feastol": 1e-8}


def solve_coneqp(task: ProjectionTask) -> ProjectionAnswer:
    """The quadratic program in the duals, H dense; Newton systems by the factor of H + G'DG (`chol2`)."""
    program = program_of(task)
    n = program.linear.size
    G = scipy.sparse.coo_array(scipy.sparse.vstack([-scipy.sparse.eye_array(n), program.totals]))
    solution = cvxopt.solvers.coneqp(
        cvxopt.matrix(quadratic_of(task, program)),
        cvxopt.matrix(-program.linear),
        cvxopt.spmatrix(G.data, G.coords[0].tolist(), G.coords[1].tolist(), G.shape),
        cvxopt.matrix(np.concatenate([np.zeros(n), np.full(task.y.size, task.C)])),
        A=cvxopt.matrix(program.balance),
        b=cvxopt.matrix(np.zeros(len(program.balance))),
        options=_OPTIONS,
    )
    u, y = np.array(solution["x"]).ravel(), np.array(solution["y"]).ravel()
    return answer_of(task, u, y, str(solution["status"]))
