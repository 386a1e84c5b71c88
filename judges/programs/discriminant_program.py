"""The λ-scaled semidefinite program of Ye et al. in arrays, for the solvers that are fed without a layer.

    min t   over η in the simplex:   [ M(η)  a ]
                                     [ a'    t ] ⪰ 0,    M(η) = λI + Σ_i η_i A_i,  A_i = G~_i / r_i,

with A_0 = I/n in the place of λI where λ is learned. Its value is F, the published one divided by a given λ.

Two forms of it, with the same optimum:

* `stated`: as it stands, the trace of M around one and Σ η = 1 an equation;
* `balanced`: the inequality multiplied by Diag(√n I, 1) from both sides, so that M and a are of the size of
  1, and the last η replaced by one minus the others. Interior point methods need a third fewer steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judges.programs.answers import DiscriminantAnswer, make_weights
from judges.programs.tasks import DiscriminantTask

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Members:
    """What the program combines.

    Attributes
    ----------
    matrices : array (p, n, n), the A_i, the identity first where λ is learned
    traces : array (m,), r_i of the kernels
    ridge : float, λ or 0
    contrast : array (n,), a
    """

    matrices: FloatArray
    traces: FloatArray
    ridge: float
    contrast: FloatArray


def members_of(task: DiscriminantTask) -> Members:
    """Centre the kernels and give each a trace of one."""
    n = task.codes.size
    rows = task.kernels - task.kernels.mean(axis=1, keepdims=True)
    matrices = rows - rows.mean(axis=2, keepdims=True)
    traces = np.trace(matrices, axis1=1, axis2=2)
    matrices /= traces[:, None, None]
    if task.reg is None:
        matrices = np.concatenate([np.eye(n)[None] / n, matrices])
    sizes = np.bincount(task.codes)
    return Members(matrices, traces, task.reg or 0.0, np.array([-1.0, 1.0])[task.codes] / sizes[task.codes])


@dataclass(frozen=True)
class Inequalities:
    """min c'x with Gx ≤ h in the nonnegative numbers, then in the semidefinite matrices, and perhaps Ex = 1.

    Attributes
    ----------
    cost : array (k,); t is the last unknown
    constant, linear : arrays (n + 1, n + 1), (k, n + 1, n + 1): constant + Σ_j x_j linear_j ⪰ 0
    signs, limits : arrays (p, k), (p,): signs x ≤ limits says that η ≥ 0
    total : array (k,) or None: total'x = 1
    """

    cost: FloatArray
    constant: FloatArray
    linear: FloatArray
    signs: FloatArray
    limits: FloatArray
    total: FloatArray | None


def inequalities(members: Members, balanced: bool) -> Inequalities:
    """The program in the form asked for."""
    p, n, _ = members.matrices.shape
    scale = float(n) if balanced else 1.0
    linear = np.zeros((p + 1, n + 1, n + 1))
    linear[:p, :n, :n] = scale * members.matrices
    linear[p, n, n] = 1.0
    constant = np.zeros((n + 1, n + 1))
    constant[:n, :n] = scale * members.ridge * np.eye(n)
    constant[n, :n] = constant[:n, n] = np.sqrt(scale) * members.contrast
    cost = np.append(np.zeros(p), 1.0)
    signs = -np.eye(p, p + 1)
    if not balanced:
        return Inequalities(cost, constant, linear, signs, np.zeros(p), np.append(np.ones(p), 0.0))
    last = linear[p - 1]
    linear[: p - 1] -= last
    signs[p - 1] = np.append(np.ones(p), 0.0)
    kept = np.delete(np.arange(p + 1), p - 1)
    limits = np.append(np.zeros(p - 1), 1.0)
    return Inequalities(cost[kept], constant + last, linear[kept], signs[:, kept], limits, None)


def answer_of_shares(
    members: Members, task: DiscriminantTask, shares: FloatArray, status: str
) -> DiscriminantAnswer:
    """θ and λ of shares that are in the simplex to the solver's tolerance, and moved into it."""
    eta = make_weights(shares)
    if task.reg is not None:
        return DiscriminantAnswer(eta / members.traces, task.reg, status)
    total = float(eta[1:].sum())
    return DiscriminantAnswer(
        eta[1:] / (members.traces * total), float(eta[0]) / task.codes.size / total, status
    )


def shares_of_unknowns(x: FloatArray, balanced: bool) -> FloatArray:
    """η of the unknowns of a form."""
    eta = x[:-1]
    return np.append(eta, 1.0 - float(eta.sum())) if balanced else eta
