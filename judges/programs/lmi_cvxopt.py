"""The free-sign program of Lanckriet et al. handed to CVXOPT's `conelp` directly, without a modelling layer.

    min t   over μ, t, λ, ν ≥ 0, δ ≥ 0:   Σ_i μ_i r_i = c,   K(μ) ⪰ 0 over all n points,

    [ G(K(μ))       v        ]
    [ v'       t − 2C e'δ    ]  ⪰ 0,        v = e + ν − δ + λy,   over the N labelled ones.

Two forms of it, with the same optimum:

* `printed`: the two matrix inequalities as they stand;
* `merged`: one inequality of size n + 1 with K(μ), the column (y∘v, u) and the same corner. Its part u at the
  unlabelled points is free, and minimising over it leaves v'G(K(μ))⁻¹v ≤ t − 2C e'δ. One matrix less makes it
  the cheaper form for every general solver.

Two ways of CVXOPT's to solve its Newton systems: `qr`, its own choice for such problems, and `chol`, which is
faster but loses so many digits near the optimum that it does not declare convergence to 1e-8: it is asked for
1e-7.
"""

from __future__ import annotations

from functools import partial

import cvxopt
import cvxopt.solvers
import numpy as np
from numpy.typing import NDArray

from judges.programs.answers import MatrixAnswer
from judges.programs.tasks import TransductiveProblem

FloatArray = NDArray[np.float64]

TOLERANCES = {"qr": 1e-8, "chol": 1e-7}


def _border(size: int, columns: int, first: int, entries: FloatArray) -> FloatArray:
    """Columns of symmetric matrices of the given size that hold `entries` in the last row and column.

    Entry j of `entries` stands in column first + j of the answer, at place j of the border.
    """
    rows = np.zeros((size, size, columns))
    place = np.arange(entries.size)
    rows[-1, place, first + place] = entries
    rows[place, -1, first + place] = entries
    return rows


def _corner_inequality(problem: TransductiveProblem, merged: bool) -> tuple[FloatArray, FloatArray]:
    """M(x) = constant + Σ_k x_k rows[:, :, k] of the bordered matrix, x = (μ, t, λ, ν, δ[, u])."""
    kernels, y, C = problem.kernels, problem.y, problem.C
    m, n, N = len(kernels), kernels.shape[1], y.size
    signs = y if merged else np.ones(N)
    inner = n if merged else N
    unknowns = m + 2 + 2 * N + (n - N if merged else 0)
    rows = _border(inner + 1, unknowns, m + 2, signs)
    rows += _border(inner + 1, unknowns, m + 2 + N, -signs)
    rows[:inner, :inner, :m] = np.moveaxis(kernels if merged else kernels[:, :N, :N] * np.outer(y, y), 0, -1)
    rows[-1, -1, m] = 1.0
    rows[-1, -1, m + 2 + N : m + 2 + 2 * N] = -2.0 * C
    rows[-1, :N, m + 1] = rows[:N, -1, m + 1] = signs * y
    if merged:
        free = np.arange(n - N)
        rows[-1, N + free, m + 2 + 2 * N + free] = rows[N + free, -1, m + 2 + 2 * N + free] = 1.0
    constant = np.zeros((inner + 1, inner + 1))
    constant[-1, :N] = constant[:N, -1] = signs
    return rows, constant


def solve_lmi_cvxopt(problem: TransductiveProblem, merged: bool, kkt: str) -> MatrixAnswer:
    """Weights and duals; the duals are the border of the multiplier of the bordered inequality."""
    kernels, y = problem.kernels, problem.y
    m, n, N = len(kernels), kernels.shape[1], y.size
    rows, constant = _corner_inequality(problem, merged)
    size, _, unknowns = rows.shape
    cost = np.zeros(unknowns)
    cost[m] = 1.0
    blocks, sides = [-rows.reshape(size * size, unknowns)], [constant.ravel()]
    if not merged:
        whole = np.zeros((n * n, unknowns))
        whole[:, :m] = -kernels.reshape(m, -1).T
        blocks, sides = [whole, *blocks], [np.zeros(n * n), *sides]
    positive = np.zeros((2 * N, unknowns))
    positive[np.arange(2 * N), m + 2 + np.arange(2 * N)] = -1.0
    tolerance = TOLERANCES[kkt]
    solution = cvxopt.solvers.conelp(
        cvxopt.matrix(cost),
        cvxopt.matrix(np.vstack([positive, *blocks])),
        cvxopt.matrix(np.concatenate([np.zeros(2 * N), *sides])),
        {"l": 2 * N, "q": [], "s": [size] if merged else [n, size]},
        cvxopt.matrix(np.concatenate([problem.traces, np.zeros(unknowns - m)])[None, :]),
        cvxopt.matrix(problem.trace),
        kktsolver=kkt,
        options={
            "show_progress": False, "abstol": tolerance, "reltol": tolerance, "feastol": tolerance,
        },
    )  # fmt: skip
    multiplier = np.array(solution["z"]).ravel()[-size * size :].reshape(size, size).T  # lower triangle
    alpha = -multiplier[-1, :N] / multiplier[-1, -1] * (y if merged else 1.0)
    return MatrixAnswer(np.array(solution["x"]).ravel()[:m], alpha, str(solution["status"]))


solve_printed = partial(solve_lmi_cvxopt, merged=False, kkt="qr")
solve_merged = partial(solve_lmi_cvxopt, merged=True, kkt="qr")
solve_merged_chol = partial(solve_lmi_cvxopt, merged=True, kkt="chol")
