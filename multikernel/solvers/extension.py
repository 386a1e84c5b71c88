"""New points beside a learned kernel matrix.

A combination of kernels with negative weights is positive semidefinite on the points that it was learned on,
and need not be so with another point x. Bordered by k = K(x, ·) and κ = K(x, x), its smallest eigenvalue is
the root of

    κ − λ − Σ_l (v_l'k)² / (λ_l − λ) = 0     below the smallest λ_l,

with (λ_l, v_l) the eigenpairs of the learned matrix: one decomposition serves all new points. The
eigenvectors of a kernel reach new points through it (Nyström): v_l(x) = Σ_j K(x, x_j) v_jl / λ_l.
"""

from typing import Any

import numpy as np
import scipy.linalg

Array = np.ndarray[Any, np.dtype[Any]]

_HALVINGS = 60
_RANGE_TOLERANCE = 1e-10


def leading_eigenvectors(K: Array, n_components: int | None = None) -> tuple[Array, Array]:
    """The largest eigenvalues of a kernel matrix, descending, and their eigenvectors in columns.

    Parameters
    ----------
    K : array (n, n), symmetric
    n_components : int, optional
        By default all that are above 1e-10 of the largest; never more than those.

    Examples
    --------
    >>> values, vectors = leading_eigenvectors(np.diag([1.0, 3.0, 0.0]))
    >>> values.tolist(), np.abs(vectors).tolist()
    ([3.0, 1.0], [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    """
    values, vectors = scipy.linalg.eigh(K, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = int(np.count_nonzero(values > _RANGE_TOLERANCE * values[0]))
    kept = kept if n_components is None else min(kept, n_components)
    return values[:kept].copy(), np.ascontiguousarray(vectors[:, :kept])


class Bordered:
    """A symmetric matrix that new points are added to, one at a time.

    Parameters
    ----------
    K : array (n, n), symmetric

    Examples
    --------
    >>> Bordered(np.eye(2)).smallest(np.array([[3.0, 4.0]]), np.array([1.0])).round(6).tolist()
    [-4.0]
    """

    def __init__(self, K: Array) -> None:
        self.values, self._vectors = scipy.linalg.eigh(K, check_finite=False)

    def smallest(self, rows: Array, diagonal: Array) -> Array:
        """The smallest eigenvalue with each new point added, (n_new,).

        Parameters
        ----------
        rows : array (n_new, n), the new points' similarities to the old
        diagonal : array (n_new,), their similarities to themselves
        """
        squares = (rows @ self._vectors) ** 2
        high = np.minimum(self.values[0], diagonal)
        low = high - np.sqrt(squares.sum(axis=1))
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = np.where(squares > 0.0, squares / (self.values - middle[:, None]), 0.0)
            below = diagonal - middle - terms.sum(axis=1) >= 0.0
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low
