"""The QCQP of Lanckriet et al. written in cvxpy and solved by Clarabel.

    minimise ½ r² − sum alpha   subject to  ‖G_m' (y∘alpha)‖ ≤ r,  0 ≤ alpha ≤ C,  y'alpha = 0,

with K_m = G_m G_m'. The bound is stated on the norm and squared in the objective, because the cones of the
squared form, (t + 1, t − 1, 2 G_m'(y∘alpha)), lose half the digits and Clarabel then stops short. The
multipliers of the cones, divided by r, are the kernel weights.
"""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from judges.programs.answers import Answer, make_feasible, make_weights
from judges.programs.factors import gram_factor


def solve_qcqp_clarabel(
    kernels: NDArray[np.float64], y: NDArray[np.float64], C: float, time_limit: float | None = None
) -> Answer | None:
    """Weights and duals, or None if the time limit (seconds) came first."""
    alpha, radius = cp.Variable(y.size), cp.Variable()
    cones = [cp.SOC(radius, (gram_factor(kernel).T * y) @ alpha) for kernel in kernels]
    linear = [alpha >= 0, alpha <= C, y @ alpha == 0]
    problem = cp.Problem(cp.Minimize(0.5 * cp.square(radius) - cp.sum(alpha)), [*cones, *linear])
    options = {} if time_limit is None else {"time_limit": time_limit}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # the judge says how much
        try:
            problem.solve(solver=cp.CLARABEL, **options)
        except cp.SolverError:
            return None
    if problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE) or alpha.value is None:
        return None
    multipliers = np.array([float(np.ravel(cone.dual_value[0])[0]) for cone in cones])
    return Answer(make_weights(multipliers), make_feasible(alpha.value, y, C))
