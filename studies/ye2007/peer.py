"""The same programs by a general solver of semidefinite programs: CVXOPT, where it is installed.

    min tr T   over η ≥ 0, Σ η_i = 1, T:   [ λI + Σ η_i A_i   H ]
                                           [ H'               T ]  ⪰ 0

with a full symmetric T for the exact form and a diagonal one for the approximate form (37); A_0 = I/n is one
more member, and λI is left out, when λ is learned. CVXOPT is no dependency of the library.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from multikernel.core.scatter import class_columns, separation_columns

ABSENT = "CVXOPT is not installed, so nothing was measured; pip install cvxopt"
TOLERANCE = 1e-7

Array = np.ndarray


def peer_version() -> str | None:
    """Return the version of CVXOPT; None where it is not installed."""
    try:
        return importlib.metadata.version("cvxopt")
    except importlib.metadata.PackageNotFoundError:
        return None


def solve_peer(Ks: Array, codes: Array, reg: float | None, formulation: str) -> dict[str, Any]:
    """Solve the program of discriminant kernel learning by CVXOPT.

    Parameters
    ----------
    Ks : ndarray of shape (m, n, n)
    codes : ndarray of shape (n,)
        Classes 0 … k−1.
    reg : float or None
        λ; None when it is learned.
    formulation : {"exact", "approximate"}

    Returns
    -------
    dict
        ``seconds`` of its solver alone, ``objective`` (λ tr T, tr T for a learned λ) and ``status``.
    """
    cvxopt = importlib.import_module("cvxopt")
    solvers = importlib.import_module("cvxopt.solvers")
    rows, constant, n_shares = _inequality(Ks, codes, reg, formulation)
    size, unknowns = rows.shape[1], rows.shape[0]
    cost = np.einsum("jrr->j", rows[:, -(size - Ks.shape[1]) :, -(size - Ks.shape[1]) :])
    cost[:n_shares] = 0.0
    nonnegative = np.eye(n_shares, unknowns)
    arguments = (
        cvxopt.matrix(cost),
        cvxopt.matrix(np.vstack([-nonnegative, -rows.reshape(unknowns, -1).T])),
        cvxopt.matrix(np.concatenate([np.zeros(n_shares), constant.ravel()])),
        {"l": n_shares, "q": [], "s": [size]},
        cvxopt.matrix(nonnegative.sum(axis=0)[None, :]),
        cvxopt.matrix(1.0),
    )
    limits = dict.fromkeys(("abstol", "reltol", "feastol"), TOLERANCE)
    with threadpool_limits(limits=1):  # its linear algebra was loaded just now, after the caller's limit
        start = time.process_time()
        solution = solvers.conelp(*arguments, options=limits | {"show_progress": False})
        seconds = time.process_time() - start
    value = float(solution["primal objective"])
    return {
        "seconds": seconds,
        "objective": value if reg is None else reg * value,
        "status": str(solution["status"]),
    }


def _inequality(Ks: Array, codes: Array, reg: float | None, formulation: str) -> tuple[Array, Array, int]:
    """Symmetric matrices R_j and R with Σ x_j R_j + R ⪰ 0, x = (η, T), and the number of shares."""
    n = len(codes)
    centred = Ks - Ks.mean(axis=1, keepdims=True)
    centred -= centred.mean(axis=2, keepdims=True)
    members = [K / np.trace(K) for K in centred]
    if reg is None:
        members.insert(0, np.eye(n) / n)
    H = separation_columns(codes) if formulation == "exact" else class_columns(codes)
    k = H.shape[1]
    places = [(i, j) for i in range(k) for j in range(i + 1) if i == j or formulation == "exact"]
    rows = np.zeros((len(members) + len(places), n + k, n + k))
    rows[: len(members), :n, :n] = members
    for row, (i, j) in zip(rows[len(members) :], places, strict=True):
        row[n + i, n + j] = row[n + j, n + i] = 1.0
    constant = np.zeros((n + k, n + k))
    # The constant part along 1 changes nothing, as the columns of H have sum zero, and helps the solver.
    constant[:n, :n] = 1.0 / n**2 + (0.0 if reg is None else reg) * np.eye(n)
    constant[:n, n:], constant[n:, :n] = H, H.T
    return rows, constant, len(members)
