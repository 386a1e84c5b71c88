"""Clarabel's standard form, and symmetric matrices as its vectors.

    min ½ x'Px + q'x,    Ax + s = b,   s ∈ cones,    with multipliers z ∈ dual cones: Px + q + A'z = 0

A semidefinite cone holds the upper triangle column by column, off-diagonal entries times √2, so that inner
products of vectors are those of matrices.
"""

from typing import Any, NamedTuple

import clarabel
import numpy as np
import scipy.sparse

Array = np.ndarray[Any, np.dtype[Any]]

_TIGHT = 1e-10
_MAX_ITER = 100
USUAL = 1e-8
SLIGHT = 1e-10


class Block(NamedTuple):
    """Rows of A and b that share a cone."""

    A: Array | scipy.sparse.spmatrix
    b: Array
    cone: Any


class Answer(NamedTuple):
    """Variables, the multipliers of each block, and Clarabel's word for how it ended."""

    x: Array
    multipliers: list[Array]
    status: str


def vectorise(matrices: Array) -> Array:
    """The last two axes (k, k) of symmetric matrices as one of k(k+1)/2."""
    column, row = np.tril_indices(matrices.shape[-1])
    return matrices[..., row, column] * np.where(row == column, 1.0, np.sqrt(2.0))


def as_matrix(vector: Array) -> Array:
    """The inverse of ``vectorise`` for one matrix."""
    k = int((np.sqrt(8.0 * vector.size + 1.0) - 1.0) / 2.0 + 0.5)
    column, row = np.tril_indices(k)
    matrix = np.empty((k, k))
    matrix[row, column] = vector / np.where(row == column, 1.0, np.sqrt(2.0))
    matrix[column, row] = matrix[row, column]
    return matrix


def _settings(regularisation: float) -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = _MAX_ITER
    settings.max_threads = 1  # the same answer on every machine
    settings.direct_solve_method = "qdldl"
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TIGHT
    settings.static_regularization_constant = regularisation
    settings.chordal_decomposition_enable = False  # the matrices are dense
    return settings


def minimise(P: Array | None, q: Array, blocks: list[Block], regularisation: float = USUAL) -> Answer | None:
    """Solve as tightly as Clarabel can; None if there is nothing finite to return.

    ``regularisation`` is what Clarabel adds to its systems. Its usual value costs digits in semidefinite
    programs of kernels with small eigenvalues; a slighter one costs digits elsewhere.

    Clarabel may stop short of its tolerances. What it returns is then used all the same: the callers bound
    the optimum by what they can verify, never by a status.
    """
    quadratic = (
        scipy.sparse.csc_matrix((q.size, q.size)) if P is None else scipy.sparse.csc_matrix(np.triu(P))
    )
    blocks = [block for block in blocks if block.b.size]
    A = scipy.sparse.csc_matrix(scipy.sparse.vstack([scipy.sparse.csr_matrix(block.A) for block in blocks]))
    b = np.concatenate([block.b for block in blocks])
    cones = [block.cone for block in blocks]
    solution = clarabel.DefaultSolver(quadratic, q, A, b, cones, _settings(regularisation)).solve()
    x, z = np.asarray(solution.x), np.asarray(solution.z)
    if not (np.isfinite(x).all() and np.isfinite(z).all()) or "Infeasible" in str(solution.status):
        return None
    ends = np.cumsum([block.b.size for block in blocks])[:-1]
    return Answer(x, np.split(z, ends), str(solution.status))
