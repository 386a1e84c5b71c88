"""The QCQP of ``qcqp_clarabel.py`` handed to Clarabel's own interface, without a modelling layer.

    minimise ½ r² − sum alpha   subject to  ‖G_m' (y∘alpha)‖ ≤ r,  0 ≤ alpha ≤ C,  y'alpha = 0,

with K_m = G_m G_m' in one of two ways: by eigenvectors, or by Cholesky, whose triangles have half the entries
and make Clarabel's sparse factor cheaper. A kernel without full rank has no Cholesky factor; 1e-12 of its
mean diagonal is added to every kernel, a change of the value that no figure shows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import clarabel
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from judges.programs.answers import Answer, make_feasible, make_weights
from judges.programs.factors import gram_factor

FloatArray = NDArray[np.float64]

_RIDGE = 1e-12


def cholesky_factor(kernel: FloatArray) -> FloatArray:
    """Lower triangular G with G G' = kernel + 1e-12 of its mean diagonal."""
    ridge = _RIDGE * np.mean(np.diag(kernel)) * np.eye(len(kernel))
    return np.asarray(np.linalg.cholesky(kernel + ridge), dtype=np.float64)


def solve_qcqp_clarabel_direct(
    kernels: FloatArray, y: FloatArray, C: float, factor: Callable[[FloatArray], FloatArray]
) -> Answer | None:
    """Weights and duals, or None if Clarabel finds none."""
    n = y.size
    eye, nothing = sp.eye(n), sp.csr_matrix((n, 1))
    rows = [sp.csr_matrix(np.append(y, 0.0)[None, :]), sp.hstack([-eye, nothing]), sp.hstack([eye, nothing])]
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    for kernel in kernels:
        scaled = factor(kernel).T * y
        cone = np.zeros((len(scaled) + 1, n + 1))
        cone[0, n] = -1.0
        cone[1:, :n] = -scaled
        rows.append(sp.csr_matrix(cone))
        cones.append(clarabel.SecondOrderConeT(len(cone)))
    matrix = sp.vstack(rows, format="csc")
    side = np.zeros(matrix.shape[0])
    side[1 + n : 1 + 2 * n] = C
    square = sp.csc_matrix((np.ones(1), ([n], [n])), shape=(n + 1, n + 1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cost = np.append(-np.ones(n), 0.0)
    solution = clarabel.DefaultSolver(square, cost, matrix, side, cones, settings).solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        return None
    sizes = [row.shape[0] for row in rows[3:]]
    starts = 1 + 2 * n + np.cumsum([0, *sizes[:-1]])
    multipliers = np.array(solution.z)[starts]
    return Answer(make_weights(multipliers), make_feasible(np.array(solution.x)[:n], y, C))


solve_by_eigenvectors = partial(solve_qcqp_clarabel_direct, factor=gram_factor)
solve_by_cholesky = partial(solve_qcqp_clarabel_direct, factor=cholesky_factor)
