"""The same QCQP handed to CVXOPT directly, without a modelling layer, in the three forms it takes.

* `solve_linear_cones`, the textbook form, for `conelp`: linear cost ½ t − sum alpha, and each quadratic bound
  t as the cone ‖(2 G_m' (y∘alpha), t − 1)‖ ≤ t + 1, with K_m = G_m G_m'.
* `solve_cones`, for `coneqp`: the norm is bounded and the square is left to the cost, ½ r² − sum alpha with
  ‖G_m' (y∘alpha)‖ ≤ r.
* `solve_smooth`, for `cpl`: the constraints as they stand, ½ alpha' Y K_m Y alpha ≤ ½ t. Its Newton systems
  have n + 1 unknowns whatever m is, which makes it the cheapest.
"""

from __future__ import annotations

from typing import Any

import cvxopt
import cvxopt.solvers
import numpy as np
from numpy.typing import NDArray

from judges.programs.answers import Answer, make_feasible, make_weights
from judges.programs.factors import gram_factor

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


def _cone_rows(factors: list[FloatArray], y: FloatArray, head: FloatArray, scale: float) -> list[FloatArray]:
    """Rows of G, one block a kernel: `head` on the bound first, then −scale · G_m' Y on alpha."""
    blocks = []
    for factor in factors:
        cone = np.zeros((factor.shape[1] + head.size, y.size + 1))
        cone[: head.size, -1] = head
        cone[head.size :, :-1] = -scale * factor.T * y
        blocks.append(cone)
    return blocks


def solve_linear_cones(kernels: FloatArray, y: FloatArray, C: float) -> Answer:
    """The QCQP in rotated cones with a linear cost by conelp."""
    n = y.size
    rows, limits = _box(n, C)
    blocks = _cone_rows([gram_factor(kernel) for kernel in kernels], y, np.array([-1.0, -1.0]), 2.0)
    sizes = [len(block) for block in blocks]
    sides = [np.concatenate([[1.0, -1.0], np.zeros(size - 2)]) for size in sizes]
    solution = cvxopt.solvers.conelp(
        cvxopt.matrix(np.append(-np.ones(n), 0.5)),
        cvxopt.matrix(np.vstack([rows, *blocks])),
        cvxopt.matrix(np.concatenate([limits, *sides])),
        {"l": 2 * n, "q": sizes, "s": []},
        *_balance(y),
        options=_OPTIONS,
    )
    starts = 2 * n + np.cumsum([0, *sizes[:-1]])
    multipliers = np.array(solution["z"]).ravel()
    weights = make_weights(multipliers[starts] + multipliers[starts + 1])
    return Answer(weights, make_feasible(np.array(solution["x"]).ravel()[:n], y, C))


def solve_cones(kernels: FloatArray, y: FloatArray, C: float) -> Answer:
    """The QCQP in second-order cones with a quadratic cost by coneqp."""
    n = y.size
    rows, limits = _box(n, C)
    blocks = _cone_rows([gram_factor(kernel) for kernel in kernels], y, np.array([-1.0]), 1.0)
    sizes = [len(block) for block in blocks]
    square = np.zeros((n + 1, n + 1))
    square[n, n] = 1.0
    solution = cvxopt.solvers.coneqp(
        cvxopt.matrix(square),
        cvxopt.matrix(np.append(-np.ones(n), 0.0)),
        cvxopt.matrix(np.vstack([rows, *blocks])),
        cvxopt.matrix(np.append(limits, np.zeros(sum(sizes)))),
        {"l": 2 * n, "q": sizes, "s": []},
        *_balance(y),
        options=_OPTIONS,
    )
    starts = 2 * n + np.cumsum([0, *sizes[:-1]])
    weights = make_weights(np.array(solution["z"]).ravel()[starts])
    return Answer(weights, make_feasible(np.array(solution["x"]).ravel()[:n], y, C))


def _smooth_constraints(signed: FloatArray, n: int, C: float) -> Any:
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
