"""Nonnegative weights: the quadratically constrained program of the duals.

    max_{β,s}  2y'β − τβ'β − s²     ‖F_i'β‖ ≤ s for every member K_i = F_iF_i',   0 ≤ y∘β ≤ C,  Σβ = 0

The bound is stated on the norm and squared in the objective: cones of the squares would lose half the digits.
The multipliers of the cones, divided by 2s, are the weights. A rank-one member is two linear inequalities.
With β = Wx the same program asks for duals in the range of W only: small, hence sharp, and exact as soon as
the optimal duals are in that range.
"""

from typing import Any

import clarabel
import numpy as np
import scipy.sparse

from multikernel.transductive.solver.families import RankOneFamily

from .machine import Problem
from .program import Block, minimise
from .relaxation import whiten

Array = np.ndarray[Any, np.dtype[Any]]

_NULL = 1e-13


def factor_of(K: Array) -> Array:
    """F with K = FF', null directions left out."""
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    kept = values > _NULL * max(float(values[-1]), 0.0)
    return vectors[:, kept] * np.sqrt(values[kept])


def _member_factors(problem: Problem, W: Array | None) -> list[Array]:
    """W'F_i of every member, the identity included."""
    family = problem.family
    last = []
    if family.has_identity:
        last = [np.sqrt(family.size) * (np.eye(problem.y.size) if W is None else factor_of(W.T @ W))]
    if isinstance(family, RankOneFamily):
        columns = family.labelled if W is None else W.T @ family.labelled
        return [column[:, None] for column in columns.T] + last
    count = family.n_members - family.has_identity
    if W is None:
        unit = np.eye(family.n_members)
        return [factor_of(family.combined(unit[i])) for i in range(count)] + last
    forms = np.empty((count, W.shape[1], W.shape[1]))
    for i, column in enumerate(W.T):
        forms[:, :, i] = family.products(column)[:, :count].T @ W
    return [factor_of(form) for form in forms] + last


def bounded_by_s(F: Array) -> Block:
    """‖F'x‖ ≤ s, rows for (x, s)."""
    N, k = F.shape
    if k == 1:
        A = np.column_stack([np.vstack([F.T, -F.T]), [-1.0, -1.0]])
        return Block(A, np.zeros(2), clarabel.NonnegativeConeT(2))
    A = np.zeros((k + 1, N + 1))
    A[0, N] = -1.0
    A[1:, :N] = -F.T
    return Block(A, np.zeros(k + 1), clarabel.SecondOrderConeT(k + 1))


def weight_of(block: Block, multiplier: Array) -> float:
    """What the multiplier of ``bounded_by_s`` says of the member's weight."""
    return float(multiplier.sum() if block.b.size == 2 else multiplier[0])


def _box(problem: Problem, W: Array | None, size: float) -> list[Block]:
    """0 ≤ y∘β ≤ C and Σβ = 0, rows for (x, s); the balance is in W where there is one."""
    y, N = problem.y, problem.y.size
    blocks = []
    used = np.ones(N, bool) if W is None else W.any(axis=1)
    signs = scipy.sparse.diags(y) if W is None else scipy.sparse.csr_matrix((y[:, None] * W)[used])
    signs = scipy.sparse.hstack([signs, scipy.sparse.csr_matrix((signs.shape[0], 1))])
    blocks.append(Block(-signs, np.zeros(signs.shape[0]), clarabel.NonnegativeConeT(signs.shape[0])))
    if W is None:
        blocks.append(Block(np.append(np.ones(N), 0.0)[None], np.zeros(1), clarabel.ZeroConeT(1)))
    if problem.boxed:
        blocks.append(Block(signs, problem.C[used] / size, clarabel.NonnegativeConeT(signs.shape[0])))
    return blocks


def solve_nonnegative(
    problem: Problem, size: float, regularisation: float, W: Array | None = None
) -> tuple[Array, Array] | None:
    """Weights (n_members,) and duals (N,), or None if Clarabel finds none.

    Parameters
    ----------
    problem : Problem
    size : float
        About the size of the largest dual.
    regularisation : float
        Clarabel's.
    W : array (N, l), optional
        Columns of sum zero; by default all duals are allowed.
    """
    if W is not None:
        middle = np.full(problem.family.n_members, 1.0 / problem.family.n_members)
        W = np.column_stack(whiten(W, problem.quadratic(middle)))
    members = [bounded_by_s(F) for F in _member_factors(problem, W)]
    shift = np.diag(problem.shift) if W is None else W.T @ (problem.shift[:, None] * W)
    k = len(shift)
    P = np.zeros((k + 1, k + 1))
    P[:k, :k] = 2.0 * size * shift
    P[k, k] = 2.0 * size
    reward = problem.y if W is None else W.T @ problem.y
    q = np.append(-2.0 * reward, 0.0)
    answer = minimise(P, q, members + _box(problem, W, size), regularisation)
    if answer is None:
        return None
    weights = np.array([weight_of(*pair) for pair in zip(members, answer.multipliers, strict=False)])
    weights = np.maximum(weights, 0.0)
    if not weights.sum() > 0.0:
        return None
    x = size * answer.x[:k]
    return weights / weights.sum(), x if W is None else W @ x
