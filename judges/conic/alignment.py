"""Alignment weights by Clarabel: the second opinion beside nonnegative least squares and the interior point.

In coordinates x of orthonormal combinations, v = Bx with B'SB = I and g = B't, the problem is

    min ½x'x − g'x,     v ≥ 0   or   U'K(v)U ⪰ 0,

where the columns of U span the directions in which K(v) was found negative so far: with fewer than all of
them the program is a relaxation, and grows until K(v) ⪰ 0 but for rounding. The multiplier X of the last
condition gives Z = UXU', which is a dual point of the whole problem whatever U.
"""

from typing import Any

import clarabel
import numpy as np
import scipy.linalg

from multikernel.core.alignment import (
    DEPENDENT,
    Aligned,
    AlignmentResult,
    align_stack,
    independent_directions,
    measured,
)
from multikernel.core.optim.loop import Status
from multikernel.core.optim.weight_sets import Spectrahedron

from .growth import pull_inside
from .program import Block, as_matrix, minimise, vectorise

Array = np.ndarray[Any, np.dtype[Any]]

_WHOLE_BELOW = 40
_DEPENDENT = 1e-9


def learn_alignment_conic(
    Ks: Array, y: Array, weights: str = "nonnegative", *, tol: float = 1e-8, max_iter: int = 100
) -> AlignmentResult:
    """Weights of best alignment by Clarabel; parameters and result as those of ``learn_alignment``.

    Examples
    --------
    >>> y = np.array([1.0, 1.0, -1.0])
    >>> Ks = np.stack([np.outer(y, y) + np.eye(3), np.eye(3)])
    >>> learn_alignment_conic(Ks, y, "free").weights.round(4).tolist()
    [0.3333, -0.3333]
    """
    table = align_stack(Ks, y)
    basis = independent_directions(table.pairs, DEPENDENT)
    if weights == "nonnegative":
        found = align_nonnegative(table.pairs, table.target, basis.shape[1])
    else:
        cone = Spectrahedron(Ks, 1.0 / table.norms)
        found = align_free(cone, basis, table.target, tol=tol, max_iter=max_iter)
    return measured(Ks, y, table, found, signed=weights == "free", tol=tol)


def align_nonnegative(pairs: Array, target: Array, rank: int) -> Aligned:
    """Nonnegative weights; ``pairs`` and ``target`` hold the cosines of the kernels and with the labels."""
    m = target.size
    answer = minimise(pairs, -target, [Block(-np.eye(m), np.zeros(m), clarabel.NonnegativeConeT(m))])
    v = np.maximum(answer.x, 0.0) if answer is not None else (target == target.max()).astype(float)
    # Sv ≥ t in every entry makes v a dual point; a factor just above 1 takes away what rounding leaves.
    Sv = pairs @ v
    wanted = target > 0.0
    factor = float((target[wanted] / Sv[wanted]).max())
    slack = np.maximum(factor * Sv - target, 0.0)
    return Aligned(v, factor * float(np.sqrt(v @ Sv)), slack, None, 1, Status.OPTIMAL, rank)


def align_free(cone: Spectrahedron, basis: Array, target: Array, *, tol: float, max_iter: int) -> Aligned:
    """Weights of any sign.

    Parameters
    ----------
    cone : Spectrahedron, of the kernels scaled to Frobenius norm one
    basis : array (m, r), B of the module's docstring
    target : array (m,), cosines of the kernels with the labels
    """
    g = basis.T @ target
    middle = np.full(cone.n_members, 1.0 / cone.n_members)
    U = np.eye(cone.size) if cone.size <= _WHOLE_BELOW else np.empty((cone.size, 0))
    best, value, upper = middle, -np.inf, np.inf
    Z = np.zeros((cone.size, cone.size))
    status, rounds = Status.MAX_ITER, 0
    while rounds < max_iter:
        rounds += 1
        found = _relaxed(cone, basis, g, U)
        if found is None:
            status = Status.STALLED
            break
        v, multiplier = found
        bound = float(np.linalg.norm(basis.T @ (target + cone.traces(multiplier))))
        if bound < upper:
            upper, Z = bound, multiplier
        pulled, met = pull_inside(cone, v, middle * max(float(v.sum()), float(np.abs(v).max())))
        attained = float(target @ pulled) / float(np.linalg.norm(cone.combine(pulled)))
        if attained > value:
            best, value = pulled, attained
        if upper - value <= tol * upper:
            status = Status.OPTIMAL
            break
        grown = _orthonormal(np.column_stack([U, met]))
        if grown.shape[1] == U.shape[1]:
            status = Status.STALLED
            break
        U = grown
    slack = cone.traces(Z)
    full = Z if cone.basis is None else cone.basis @ Z @ cone.basis.T
    return Aligned(best, upper, slack, full, rounds, status, basis.shape[1])


def _relaxed(cone: Spectrahedron, basis: Array, g: Array, U: Array) -> tuple[Array, Array] | None:
    """Weights of the relaxation, and its multiplier Z ⪰ 0."""
    if not U.shape[1]:
        return basis @ g, np.zeros((cone.size, cone.size))
    small = np.array([U.T @ K @ U for K in cone.Ks])
    rows = vectorise(0.5 * (small + small.transpose(0, 2, 1))).T @ basis
    block = Block(-rows, np.zeros(len(rows)), clarabel.PSDTriangleConeT(U.shape[1]))
    answer = minimise(np.eye(g.size), -g, [block])
    if answer is None:
        return None
    values, vectors = scipy.linalg.eigh(as_matrix(answer.multipliers[0]))
    lifted = U @ vectors
    return basis @ answer.x, (lifted * np.maximum(values, 0.0)) @ lifted.T


def _orthonormal(columns: Array) -> Array:
    Q, R, _ = scipy.linalg.qr(columns, mode="economic", pivoting=True)
    size = np.abs(np.diagonal(R))
    return Q[:, size > _DEPENDENT * size[0]]
