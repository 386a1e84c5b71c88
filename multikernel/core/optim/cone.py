"""The entry point for Clarabel: one thread, one set of tolerances, one translation of its statuses.

min ½ x'Px + q'x,    Ax + s = b,   s ∈ cones,    with multipliers z ∈ dual cones: Px + q + A'z = 0
"""

from typing import Any, NamedTuple

import clarabel
import numpy as np
from scipy import sparse

from ..._typing import Array
from .loop import Status, time_left

_TOL = 1e-10  # of the gap, relative and absolute, and of the constraints
_MAX_ITER = 200
_REGULARIZATION = 1e-8
_STATUS = {
    "Solved": Status.OPTIMAL,
    "AlmostSolved": Status.STALLED,
    "InsufficientProgress": Status.STALLED,
    "NumericalError": Status.STALLED,
    "MaxIterations": Status.MAX_ITER,
    "PrimalInfeasible": Status.INFEASIBLE,
    "DualInfeasible": Status.INFEASIBLE,
    "AlmostPrimalInfeasible": Status.INFEASIBLE,
    "AlmostDualInfeasible": Status.INFEASIBLE,
}


class Block(NamedTuple):
    """Rows of A and b that share a cone, which is one of Clarabel's."""

    A: Any
    b: Array
    cone: Any


class Answer(NamedTuple):
    """Variables, the multipliers of each block that has rows, and how Clarabel ended.

    Clarabel may stop short of its tolerances, and return numbers that are not finite. Callers bound the
    optimum by what they can verify, never by the status.
    """

    x: Array
    multipliers: list[Array]
    status: Status

    @property
    def is_finite(self) -> bool:
        """Whether all variables and multipliers are finite."""
        return bool(np.isfinite(self.x).all() and all(np.isfinite(z).all() for z in self.multipliers))


def nonnegative(n: int) -> Any:
    """The cone s ≥ 0 of n rows."""
    return clarabel.NonnegativeConeT(n)


def zero(n: int) -> Any:
    """The cone s = 0 of n rows: equations."""
    return clarabel.ZeroConeT(n)


def minimize(
    P: Any,
    q: Array,
    blocks: list[Block],
    *,
    tol_gap_rel: float = _TOL,
    tol_gap_abs: float = _TOL,
    tol_feas: float = _TOL,
    max_iter: int = _MAX_ITER,
    regularization: float = _REGULARIZATION,
    method: str = "auto",
) -> Answer:
    """Solve a conic program; P is None for a linear objective, and blocks without rows are left out.

    Tolerances, ``regularization`` (what is added to the diagonal of the systems) and ``method``, of
    factorization ("auto", "qdldl" or "faer"), are Clarabel's.

    Examples
    --------
    The point of the simplex nearest to (1, 0.5):

    >>> answer = minimize(
    ...     np.eye(2),
    ...     -np.array([1.0, 0.5]),
    ...     [Block(np.ones((1, 2)), np.ones(1), zero(1)), Block(-np.eye(2), np.zeros(2), nonnegative(2))],
    ... )
    >>> answer.x.round(6).tolist(), str(answer.status)
    ([0.75, 0.25], 'optimal')
    """
    blocks = [block for block in blocks if block.b.size]
    A = sparse.csc_matrix(sparse.vstack([sparse.csr_matrix(block.A) for block in blocks]))
    b = np.concatenate([block.b for block in blocks])
    if P is None:
        upper = sparse.csc_matrix((q.size, q.size))
    else:
        upper = sparse.triu(sparse.csc_matrix(P), format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1  # the same answer on every computer
    settings.tol_gap_rel, settings.tol_gap_abs, settings.tol_feas = tol_gap_rel, tol_gap_abs, tol_feas
    settings.max_iter = max_iter
    settings.time_limit = time_left()
    settings.static_regularization_constant = regularization
    settings.direct_solve_method = method
    settings.chordal_decomposition_enable = False  # semidefinite blocks are dense here
    solution = clarabel.DefaultSolver(upper, q, A, b, [block.cone for block in blocks], settings).solve()
    ends = np.cumsum([block.b.size for block in blocks])[:-1]
    status = _STATUS.get(str(solution.status), Status.STALLED)
    return Answer(np.array(solution.x), np.split(np.array(solution.z), ends), status)
