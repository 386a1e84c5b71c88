"""The joint machine of several classes as a quadratic program in its duals, by Clarabel.

With one variable α_v for each sample i and class l other than its own, T = e_{y_i} − e_l as the row of v, and
H_vw = K_ij T_v'T_w:  min ½ α'Hα − 2 Σα  subject to  T'α = 0 (one class left out: the rest implies it),
0 ≤ α ≤ C. The intercepts are the multipliers of the balance.
"""

from __future__ import annotations

from collections.abc import Callable

import clarabel
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.solvers.answer import JointAnswer

FloatArray = NDArray[np.float64]


def prepare(
    K: FloatArray, codes: NDArray[np.int64], n_classes: int, C: float, tol: float
) -> Callable[[], JointAnswer]:
    """The call that is timed: the program is stated, Clarabel builds its solver and solves."""
    n = codes.size
    rows, columns = np.nonzero(np.arange(n_classes) != codes[:, None])
    turns = np.zeros((rows.size, n_classes))
    turns[np.arange(rows.size), codes[rows]] = 1.0
    turns[np.arange(rows.size), columns] = -1.0
    H = sp.csc_matrix(np.triu(K[np.ix_(rows, rows)] * (turns @ turns.T)))
    identity = sp.identity(rows.size, format="csc")
    A = sp.vstack([sp.csc_matrix(turns[:, :-1].T), -identity, identity], format="csc")
    bounds = np.concatenate([np.zeros(n_classes - 1), np.zeros(rows.size), np.full(rows.size, C)])
    cones = [clarabel.ZeroConeT(n_classes - 1), clarabel.NonnegativeConeT(2 * rows.size)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    settings.direct_solve_method = "faer"
    settings.max_threads = 1

    def solve() -> JointAnswer:
        found = clarabel.DefaultSolver(H, np.full(rows.size, -2.0), A, bounds, cones, settings).solve()
        alpha = np.zeros((n, n_classes))
        alpha[rows, columns] = np.clip(found.x, 0.0, C)
        prices = np.append(found.z[: n_classes - 1], 0.0)
        return JointAnswer(balanced(alpha, codes, C), prices - prices.mean(), str(found.status))

    return solve


def balanced(alpha: FloatArray, codes: NDArray[np.int64], C: float) -> FloatArray:
    """Remove what an interior-point method leaves of the balance: a little of every dual off its bounds."""
    n_classes = alpha.shape[1]
    rows, columns = np.nonzero(np.arange(n_classes) != codes[:, None])
    values = alpha[rows, columns].copy()
    turns = np.zeros((rows.size, n_classes))
    turns[np.arange(rows.size), codes[rows]] = 1.0
    turns[np.arange(rows.size), columns] = -1.0
    for _ in range(3):
        room = np.minimum(values, C - values)
        scaled = turns * room[:, None]
        values -= room * (turns @ np.linalg.lstsq(turns.T @ scaled, turns.T @ values)[0])
        values = np.clip(values, 0.0, C)
    repaired = np.zeros_like(alpha)
    repaired[rows, columns] = values
    return repaired
