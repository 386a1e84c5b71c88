"""The joint machine of several classes as a quadratic program in its duals, by Clarabel.

With one variable α_v for each sample i and class l other than its own, T = e_{y_i} − e_l as the row of v, and
H_vw = K_ij T_v'T_w:  min ½ α'Hα − 2 Σα  subject to  T'α = 0 (one class left out: the rest implies it),
0 ≤ α ≤ C. The intercepts are the multipliers of the balance.

Factored, K = GG', the program is  min ½ ‖W‖² − 2 Σα  with W_l = Σ_v T_vl α_v G_i  for every class l as
variables too: sparse, and small where K has a low rank.

Where the weights of several kernels are learned, the squares are bounded instead: min ½ r² − 2 Σα subject to
‖G_m'B‖ ≤ r for every kernel, whose weights are the multipliers of the bounds divided by r.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from judges.programs.answers import JointAnswer, JointWeightsAnswer, make_weights
from judges.programs.factors import gram_factor
from judges.programs.qcqp_clarabel_direct import cholesky_factor

FloatArray = NDArray[np.float64]
Codes = NDArray[np.int64]


def prepare(K: FloatArray, codes: Codes, n_classes: int, C: float, tol: float) -> Callable[[], JointAnswer]:
    """The call that is timed: the program is stated, Clarabel builds its solver and solves."""
    rows, columns, turns = _turns(codes, n_classes)
    H = sp.csc_matrix(np.triu(K[np.ix_(rows, rows)] * (turns @ turns.T)))
    A, bounds, cones = _feasible_set(turns, 0, C)
    settings = _settings(tol)

    def solve() -> JointAnswer:
        found = clarabel.DefaultSolver(H, np.full(rows.size, -2.0), A, bounds, cones, settings).solve()
        return _machine(found, rows, columns, codes, n_classes, C)

    return solve


def prepare_factored(
    K: FloatArray, codes: Codes, n_classes: int, C: float, tol: float
) -> Callable[[], JointAnswer]:
    """The same with the kernel factored, the factor not timed."""
    rows, columns, turns = _turns(codes, n_classes)
    image = _image(gram_factor(K), rows, turns)
    n_duals, size = rows.size, image.shape[0]
    A, bounds, cones = _feasible_set(turns, size, C)
    A = sp.vstack([A, sp.hstack([image, -sp.identity(size)])], format="csc")
    bounds = np.append(bounds, np.zeros(size))
    cones.append(clarabel.ZeroConeT(size))
    P = sp.block_diag([sp.csc_matrix((n_duals, n_duals)), sp.identity(size)], format="csc")
    q = np.append(np.full(n_duals, -2.0), np.zeros(size))
    settings = _settings(tol)

    def solve() -> JointAnswer:
        found = clarabel.DefaultSolver(P, q, A, bounds, cones, settings).solve()
        return _machine(found, rows, columns, codes, n_classes, C)

    return solve


def prepare_weights(
    kernels: FloatArray, codes: Codes, n_classes: int, C: float, tol: float
) -> Callable[[], JointWeightsAnswer]:
    """The program of learned weights, the kernels' factors not timed."""
    rows, columns, turns = _turns(codes, n_classes)
    A, bounds, cones = _feasible_set(turns, 1, C)
    blocks, starts = [A], []
    for K in kernels:
        image = _image(cholesky_factor(K), rows, turns)
        starts.append(sum(block.shape[0] for block in blocks))
        blocks.append(sp.block_array([[None, sp.csc_matrix([[-1.0]])], [-image, None]]))
        cones.append(clarabel.SecondOrderConeT(1 + image.shape[0]))
    A = sp.vstack(blocks, format="csc")
    bounds = np.append(bounds, np.zeros(A.shape[0] - bounds.size))
    n_duals = rows.size
    P = sp.csc_matrix(([1.0], ([n_duals], [n_duals])), shape=(n_duals + 1, n_duals + 1))
    q = np.append(np.full(n_duals, -2.0), 0.0)
    settings = _settings(tol)

    def solve() -> JointWeightsAnswer:
        found = clarabel.DefaultSolver(P, q, A, bounds, cones, settings).solve()
        machine = _machine(found, rows, columns, codes, n_classes, C)
        weights = make_weights(np.asarray(found.z)[starts])
        return JointWeightsAnswer(weights, machine.alpha, machine.intercepts, machine.status)

    return solve


# ---------------------------------------------------------------------- what the programs share
def _turns(codes: Codes, n_classes: int) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray]:
    """Sample and class of every variable, and T (n_duals, n_classes)."""
    rows, columns = np.nonzero(np.arange(n_classes) != codes[:, None])
    turns = np.zeros((rows.size, n_classes))
    turns[np.arange(rows.size), codes[rows]] = 1.0
    turns[np.arange(rows.size), columns] = -1.0
    return rows, columns, turns


def _feasible_set(turns: FloatArray, n_others: int, C: float) -> tuple[Any, FloatArray, list[Any]]:
    """The balance, the bounds of the duals, and no more for the ``n_others`` variables after them."""
    n_duals, n_classes = turns.shape
    identity = sp.identity(n_duals, format="csc")
    A = sp.vstack([sp.csc_matrix(turns[:, :-1].T), -identity, identity])
    A = sp.hstack([A, sp.csc_matrix((A.shape[0], n_others))], format="csc")
    bounds = np.concatenate([np.zeros(n_classes - 1 + n_duals), np.full(n_duals, C)])
    return A, bounds, [clarabel.ZeroConeT(n_classes - 1), clarabel.NonnegativeConeT(2 * n_duals)]


def _image(G: FloatArray, rows: NDArray[np.intp], turns: FloatArray) -> Any:
    """α ↦ G'B, class by class (n_classes · rank, n_duals)."""
    transposed, places = sp.csc_matrix(G.T), np.arange(rows.size)
    maps = (sp.csc_matrix((turn, (rows, places)), shape=(len(G), rows.size)) for turn in turns.T)
    return sp.vstack([transposed @ each for each in maps])


def _settings(tol: float) -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    settings.direct_solve_method = "faer"
    settings.max_threads = 1
    return settings


def _machine(
    found: Any, rows: NDArray[np.intp], columns: NDArray[np.intp], codes: Codes, n_classes: int, C: float
) -> JointAnswer:
    alpha = np.zeros((codes.size, n_classes))
    alpha[rows, columns] = np.clip(np.asarray(found.x)[: rows.size], 0.0, C)
    prices = np.append(found.z[: n_classes - 1], 0.0)
    return JointAnswer(balanced(alpha, codes, C), prices - prices.mean(), str(found.status))


def balanced(alpha: FloatArray, codes: Codes, C: float) -> FloatArray:
    """Remove what an interior-point method leaves of the balance: a little of every dual off its bounds."""
    rows, columns, turns = _turns(codes, alpha.shape[1])
    values = alpha[rows, columns].copy()
    for _ in range(3):
        room = np.minimum(values, C - values)
        scaled = turns * room[:, None]
        values -= room * (turns @ np.linalg.lstsq(turns.T @ scaled, turns.T @ values)[0])
        values = np.clip(values, 0.0, C)
    repaired = np.zeros_like(alpha)
    repaired[rows, columns] = values
    return repaired
