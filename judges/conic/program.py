"""Clarabel's standard form, and symmetric matrices as its vectors.

    min ½ x'Px + q'x,    Ax + s = b,   s ∈ cones,    with multipliers z ∈ dual cones: Px + q + A'z = 0

A semidefinite cone holds the upper triangle column by column, off-diagonal entries times √2, so that inner
products of vectors are those of matrices.
"""

from typing import Any

import numpy as np

from multikernel.core.optim.cone import Answer, Block, minimize
from multikernel.core.optim.loop import Status

Array = np.ndarray[Any, np.dtype[Any]]

__all__ = ["SLIGHT", "USUAL", "Answer", "Block", "as_matrix", "minimise", "vectorise"]

_MAX_ITER = 100
USUAL = 1e-8
SLIGHT = 1e-10


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


def minimise(P: Array | None, q: Array, blocks: list[Block], regularisation: float = USUAL) -> Answer | None:
    """Solve as tightly as Clarabel can; None if there is nothing finite to return.

    ``regularisation`` is what Clarabel adds to its systems. Its usual value costs digits in semidefinite
    programs of kernels with small eigenvalues; a slighter one costs digits elsewhere.

    Clarabel may stop short of its tolerances. What it returns is then used all the same: the callers bound
    the optimum by what they can verify, never by a status.
    """
    answer = minimize(P, q, blocks, max_iter=_MAX_ITER, regularization=regularisation, method="qdldl")
    return None if answer.status == Status.INFEASIBLE or not answer.is_finite else answer
