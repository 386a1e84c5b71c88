"""Kernels for discriminant analysis by CVXOPT without a modelling layer.

* `conelp` on the semidefinite program, in the two forms of ``discriminant_program.py``, with the Newton
  systems that it chooses for such problems (`qr`) and with `chol`.
* `cp` on the dual, which is no semidefinite program any more,

      min over b, s of  s − 2a'b + λ‖b‖²   with   b'A_ib ≤ s,   1'b = 0;

  the multipliers of the constraints are the shares η. Its Newton systems have n + 2 unknowns.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import cvxopt
import cvxopt.solvers
import numpy as np

from judges.programs.answers import DiscriminantAnswer
from judges.programs.discriminant_program import (
    Members,
    answer_of_shares,
    inequalities,
    members_of,
    shares_of_unknowns,
)
from judges.programs.tasks import DiscriminantTask

_OPTIONS = {"show_progress": False, "abstol": 1e-8, "reltol": 1e-8, "feastol": 1e-8}


def solve_sdp(task: DiscriminantTask, balanced: bool, kkt: str) -> DiscriminantAnswer:
    """The semidefinite program by conelp."""
    members = members_of(task)
    form = inequalities(members, balanced)
    unknowns, size = form.cost.size, len(form.constant)
    rows = np.vstack([form.signs, -form.linear.reshape(unknowns, -1).T])
    equation = () if form.total is None else (cvxopt.matrix(form.total[None, :]), cvxopt.matrix(1.0))
    solution = cvxopt.solvers.conelp(
        cvxopt.matrix(form.cost),
        cvxopt.matrix(rows),
        cvxopt.matrix(np.concatenate([form.limits, form.constant.ravel()])),
        {"l": form.limits.size, "q": [], "s": [size]},
        *equation,
        kktsolver=kkt,
        options=_OPTIONS,
    )
    shares = shares_of_unknowns(np.array(solution["x"]).ravel(), balanced)
    return answer_of_shares(members, task, shares, str(solution["status"]))


def _smooth_program(members: Members) -> Any:
    """CVXOPT's callback on x = (b, s): cost and constraints, their gradients, the weighted Hessian."""
    p, n, _ = members.matrices.shape
    matrices, contrast, ridge = n * members.matrices, np.sqrt(n) * members.contrast, n * members.ridge
    diagonal = np.arange(n)

    def values(x: cvxopt.matrix | None = None, z: cvxopt.matrix | None = None) -> Any:
        if x is None:
            return p, cvxopt.matrix(np.append(np.zeros(n), 1.0))
        b, s = np.array(x).ravel()[:n], float(x[n])
        gradient = np.empty((p + 1, n + 1))
        gradient[0] = np.append(2.0 * (ridge * b - contrast), 1.0)
        gradient[1:, :n] = 2.0 * (matrices.reshape(p * n, n) @ b).reshape(p, n)
        gradient[1:, n] = -1.0
        cost = s + float((ridge * b - 2.0 * contrast) @ b)
        f = np.append(cost, 0.5 * gradient[1:, :n] @ b - s)
        if z is None:
            return cvxopt.matrix(f), cvxopt.matrix(gradient)
        multipliers = np.array(z).ravel()
        hessian = np.zeros((n + 1, n + 1))
        hessian[:n, :n] = 2.0 * (multipliers[1:] @ matrices.reshape(p, -1)).reshape(n, n)
        hessian[:n, :n] += 2.0 / n  # along 1, where b has nothing: the equation says so
        hessian[diagonal, diagonal] += 2.0 * ridge * multipliers[0]
        return cvxopt.matrix(f), cvxopt.matrix(gradient), cvxopt.matrix(hessian)

    return values


def solve_dual(task: DiscriminantTask) -> DiscriminantAnswer:
    """The dual with smooth convex constraints by cp."""
    members = members_of(task)
    n = task.codes.size
    solution = cvxopt.solvers.cp(
        _smooth_program(members),
        A=cvxopt.matrix(np.append(np.ones(n), 0.0)[None, :]),
        b=cvxopt.matrix(0.0),
        options=_OPTIONS,
    )
    return answer_of_shares(members, task, np.array(solution["znl"]).ravel(), str(solution["status"]))


solve_stated = partial(solve_sdp, balanced=False, kkt="qr")
solve_balanced = partial(solve_sdp, balanced=True, kkt="qr")
solve_balanced_chol = partial(solve_sdp, balanced=True, kkt="chol")
