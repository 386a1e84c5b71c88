"""The programs of the paper by a general solver of semidefinite programs: CVXOPT, where it is installed.

As they are printed, with M = I + Σ θ_i G~_i / λ and Σ θ_i r_i = 1 for a given λ, and with M = Σ_i θ_i G~_i,
G~_0 = I, and tr M = 1 for a learned one:

=============  ==================================================================
"each class"   min Σ_j t_j,  [M h_j; h_j' t_j] ⪰ 0 for every class j: (34), exact
"diagonal"     min 1't,      [M H; H' Diag(t)] ⪰ 0: (37), the approximation
"full"         min tr T,     [M H; H' T] ⪰ 0, T symmetric: exact, with one inequality
=============  ==================================================================

Or in the scaling by λ, which solvers cope with better: M times λ for a given λ, kernels of trace 1. The
direction of ones, in which all kernels are zero and the columns of H have nothing, is left out. CVXOPT is no
dependency of the library.
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


def solve_peer(
    Ks: Array, codes: Array, reg: float | None, form: str, *, printed: bool = False
) -> dict[str, Any]:
    """Solve a program of discriminant kernel learning by CVXOPT.

    Parameters
    ----------
    Ks : ndarray of shape (m, n, n)
    codes : ndarray of shape (n,)
        Classes 0 … k−1.
    reg : float or None
        λ; None when it is learned.
    form : {"each class", "diagonal", "full"}
    printed : bool, default=False
        Whether M is scaled as it is printed.

    Returns
    -------
    dict
        ``seconds`` of one processor for its solver alone, ``iterations``, ``objective`` as published,
        ``status``, and the learned kernel and λ: ``weights`` θ with θ'r = 1 and ``reg``.
    """
    cvxopt = importlib.import_module("cvxopt")
    solvers = importlib.import_module("cvxopt.solvers")
    n = len(codes)
    scales, members, H = _members(Ks, codes, reg, form)
    by_lambda = 1.0 if reg is None or printed else reg  # what M and the value are multiplied by, and divided
    unit = 1.0 if reg is None else by_lambda / reg
    traces = np.array([n if reg is None and not i else s for i, s in enumerate(scales)])
    if not printed:
        members, traces = members / traces[:, None, None], np.ones(len(traces))
    ridge = 0.0 if reg is None else by_lambda
    corners = _corners(H.shape[1], form == "full")
    blocks = [[j] for j in range(H.shape[1])] if form == "each class" else [list(range(H.shape[1]))]
    inequalities = [
        _inequality(unit * members, ridge, H[:, block], corners[:, block][:, :, block]) for block in blocks
    ]
    p, unknowns = len(members), len(members) + len(corners)
    arguments = {
        "c": cvxopt.matrix(np.append(np.zeros(p), np.trace(corners, axis1=1, axis2=2))),
        "Gl": cvxopt.matrix(-np.eye(p, unknowns)),
        "hl": cvxopt.matrix(np.zeros(p)),
        "Gs": [cvxopt.matrix(-linear) for linear, _ in inequalities],
        "hs": [cvxopt.matrix(constant) for _, constant in inequalities],
        "A": cvxopt.matrix(np.append(traces, np.zeros(len(corners)))[None, :]),
        "b": cvxopt.matrix(1.0),
    }
    limits = dict.fromkeys(("abstol", "reltol", "feastol"), TOLERANCE)
    with threadpool_limits(limits=1):  # its linear algebra was loaded just now, after the caller's limit
        start = time.process_time()
        solution = solvers.sdp(**arguments, options=limits | {"show_progress": False})
        seconds = time.process_time() - start
    shares = np.maximum(np.ravel(solution["x"])[:p], 0.0) * traces
    shares /= shares.sum()
    first, kernels = (float(shares[0]), shares[1:]) if reg is None else (0.0, shares)
    total = float(kernels.sum())
    return {
        "seconds": seconds,
        "iterations": int(solution["iterations"]),
        "objective": by_lambda * float(solution["primal objective"]),
        "status": str(solution["status"]),
        "weights": (kernels / total / scales[-len(kernels) :]).tolist(),
        "reg": first / n / total if reg is None else reg,
    }


def _members(Ks: Array, codes: Array, reg: float | None, form: str) -> tuple[Array, Array, Array]:
    """The traces of the centred kernels, the kernels and H, both without the direction of ones."""
    n = len(codes)
    basis = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, : n - 1]]))[0][:, 1:]
    members = basis.T @ Ks @ basis
    if reg is None:
        members = np.concatenate([np.eye(n - 1)[None], members])
    H = separation_columns(codes) if form == "full" else class_columns(codes)
    return np.trace(members, axis1=1, axis2=2), members, basis.T @ H


def _corners(k: int, full: bool) -> Array:
    """The symmetric matrices (k, k) that T is made of: units of the diagonal, then those of pairs."""
    places = [(i, i) for i in range(k)] + [(i, j) for i in range(k) for j in range(i) if full]
    corners = np.zeros((len(places), k, k))
    for corner, (i, j) in zip(corners, places, strict=True):
        corner[i, j] = corner[j, i] = 1.0
    return corners


def _inequality(members: Array, ridge: float, H: Array, corners: Array) -> tuple[Array, Array]:
    """The columns of [Σ θ_i members_i, 0; 0, Σ t_j corners_j], and the constant [ridge I, H; H', 0]."""
    p, (n, k) = len(members), H.shape
    linear = np.zeros((p + len(corners), n + k, n + k))
    linear[:p, :n, :n], linear[p:, n:, n:] = members, corners
    constant = np.block([[ridge * np.eye(n), H], [H.T, np.zeros((k, k))]])
    return linear.reshape(len(linear), -1).T, constant
