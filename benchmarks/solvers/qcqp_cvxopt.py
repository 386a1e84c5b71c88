"""The same QCQP handed to CVXOPT directly, without a modelling layer, in the two forms it takes.

`solve_cones` states it in second-order cones, ½ r² − sum alpha with ‖G_m' (y∘alpha)‖ ≤ r and K_m = G_m G_m',
for `coneqp`. `solve_smooth` states the constraints as they stand, ½ alpha' Y K_m Y alpha ≤ ½ t, for `cpl`,
whose Newton systems have n + 1 unknowns whatever m is: the cheaper form.
"""

from __future__ import annotations

from typing import Any

import cvxopt
import cvxopt.solvers
import numpy as np
from numpy.typing import NDArray

from benchmarks.objective import make_feasible, make_weights
from benchmarks.solvers.answer import Answer
from benchmarks.solvers.factors import gram_factor

FloatArray = NDArray[np.float64]

_OPTIONS = {"show_progress": False, "abstol": 1e-7, "reltol": 1e-7, "feastol": 1e-7, "maxiters": 100}


def _box(n: int, C: float) -> tuple[FloatArray, FloatArray]:
    """0 ≤ alpha ≤ C as rows on (alpha, bound)."""
    rows = np.zeros((2 * n, n + 1))
    rows[np.arange(n), np.arange(n)] = -1.0
    rows[n + np.arange(n), np.arange(n)] = 1.0
    return rows, np.concatenate([np.zeros(n), np.full(n, C)])


def _balance(y: FloatArray) -> tuple[cvxopt.matrix, cvxopt.matrix]:
    """The row y'alpha = 0 on (alpha, bound)."""
    return cvxopt.matrix(np.append(y, 0.0)[None, :]), cvxopt.matrix(0.0)


def solve_cones(kernels: FloatArray, y: FloatArray, C: float) -> Answer:
    """The QCQP in second-order cones by coneqp."""
    n = y.size
    rows, limits = _box(n, C)
    blocks, sizes = [rows], []
    for kernel in kernels:
        factor = gram_factor(kernel)
        cone = np.zeros((factor.shape[1] + 1, n + 1))
        cone[0, n] = -1.0
        cone[1:, :n] = -factor.T * y
        blocks.append(cone)
        sizes.append(cone.shape[0])
    stacked = np.vstack(blocks)
    square = np.zeros((n + 1, n + 1))
    square[n, n] = 1.0
    solution = cvxopt.solvers.coneqp(
        cvxopt.matrix(square),
        cvxopt.matrix(np.append(-np.ones(n), 0.0)),
        cvxopt.matrix(stacked),
        cvxopt.matrix(np.append(limits, np.zeros(stacked.shape[0] - 2 * n))),
        {"l": 2 * n, "q": sizes, "s": []},
        *_balance(y),
        options=_OPTIONS,
    )
    starts = 2 * n + np.cumsum([0, *sizes[:-1]])
    weights = make_weights(np.array(solution["z"]).ravel()[starts])
    return Answer(weights, make_feasible(np.array(solution["x"]).ravel()[:n], y, C))


def _smooth_constraints(signed: list[cvxopt.matrix], n: int, C: float) -> Any:
    """CVXOPT's callback: f_m = ½ alpha' Y K_m Y alpha − ½ t, its gradients and the weighted Hessian."""
    m = len(signed)

    def values(x: cvxopt.matrix | None = None, z: cvxopt.matrix | None = None) -> Any:
        if x is None:
            return m, cvxopt.matrix(np.append(np.full(n, 0.5 * min(C, 1.0)), 1.0))
        alpha = np.array(x).ravel()[:n]
        gradient = np.empty((m, n + 1))
        gradient[:, n] = -0.5
        for index, kernel in enumerate(signed):
            gradient[index, :n] = kernel @ alpha
        f = 0.5 * (gradient[:, :n] @ alpha - np.array(x).ravel()[n])
        if z is None:
            return cvxopt.matrix(f), cvxopt.matrix(gradient)
        hessian = np.zeros((n + 1, n + 1))
        hessian[:n, :n] = np.tensordot(np.array(z).ravel()[:m], signed, axes=1)
        return cvxopt.matrix(f), cvxopt.matrix(gradient), cvxopt.matrix(hessian)

    return values


def solve_smooth(kernels: FloatArray, y: FloatArray, C: float) -> Answer:
    """The QCQP with smooth convex constraints by cpl."""
    n = y.size
    signed = kernels * y[:, None] * y[None, :]
    rows, limits = _box(n, C)
    solution = cvxopt.solvers.cpl(
        cvxopt.matrix(np.append(-np.ones(n), 0.5)),
        _smooth_constraints(signed, n, C),
        cvxopt.matrix(rows),
        cvxopt.matrix(limits),
        {"l": 2 * n, "q": [], "s": []},
        *_balance(y),
        options=_OPTIONS,
    )
    weights = make_weights(np.array(solution["znl"]).ravel())
    return Answer(weights, make_feasible(np.array(solution["x"]).ravel()[:n], y, C))
