"""Nonnegative weights: the quadratically constrained program of the duals.

    max_{β,s}  2y'β − τβ'β − s²     ‖F_i'β‖ ≤ s for every member K_i = F_iF_i',   0 ≤ y∘β ≤ C,  Σβ = 0

The bound is stated on the norm and squared in the objective: cones of the squares would lose half the digits.
The multipliers of the cones, divided by 2s, are the weights. A rank-one member is two linear inequalities.
"""

from typing import Any

import clarabel
import numpy as np
import scipy.sparse

from ...combine.families import KernelFamily, RankOneFamily
from .machine import Problem
from .program import Block, minimise

Array = np.ndarray[Any, np.dtype[Any]]

_NULL = 1e-13


def _factor(K: Array) -> Array:
    """F with K = FF', null directions left out."""
    values, vectors = np.linalg.eigh(K)
    kept = values > _NULL * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def _member_factors(family: KernelFamily) -> list[Array]:
    """F_i of every member but the identity."""
    if isinstance(family, RankOneFamily):
        return [column[:, None] for column in family.labelled.T]
    unit = np.eye(family.n_members)
    return [_factor(family.combined(unit[i])) for i in range(family.n_members - family.has_identity)]


def _bounded_by_s(F: Array) -> Block:
    """‖F'β‖ ≤ s, rows for (β, s)."""
    N, k = F.shape
    if k == 1:
        A = np.column_stack([np.vstack([F.T, -F.T]), [-1.0, -1.0]])
        return Block(A, np.zeros(2), clarabel.NonnegativeConeT(2))
    A = np.zeros((k + 1, N + 1))
    A[0, N] = -1.0
    A[1:, :N] = -F.T
    return Block(A, np.zeros(k + 1), clarabel.SecondOrderConeT(k + 1))


def _weight(block: Block, multiplier: Array) -> float:
    """What the multiplier of ``_bounded_by_s`` says of the member's weight."""
    return float(multiplier.sum() if block.b.size == 2 else multiplier[0])


def solve_nonnegative(problem: Problem, size: float, regularisation: float) -> tuple[Array, Array] | None:
    """Weights (n_members,) and duals (N,); ``size`` is about the size of the largest dual.

    ``regularisation`` is Clarabel's.
    """
    y, N = problem.y, problem.y.size
    factors = _member_factors(problem.family)
    if problem.family.has_identity:
        factors.append(np.sqrt(problem.family.size) * np.eye(N))
    members = [_bounded_by_s(F) for F in factors]
    signs = scipy.sparse.hstack([scipy.sparse.diags(y), scipy.sparse.csr_matrix((N, 1))])
    blocks = [
        *members,
        Block(np.append(np.ones(N), 0.0)[None], np.zeros(1), clarabel.ZeroConeT(1)),
        Block(-signs, np.zeros(N), clarabel.NonnegativeConeT(N)),
    ]
    if problem.boxed:
        blocks.append(Block(signs, problem.C / size, clarabel.NonnegativeConeT(N)))
    P = np.diag(np.append(problem.shift, 1.0)) * 2.0 * size
    answer = minimise(P, np.append(-2.0 * y, 0.0), blocks, regularisation)
    if answer is None:
        return None
    weights = np.array([_weight(*pair) for pair in zip(members, answer.multipliers, strict=False)])
    weights = np.maximum(weights, 0.0)
    return weights / weights.sum(), size * answer.x[:N]
