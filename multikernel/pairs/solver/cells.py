"""The observed cells of a matrix of pairs, and products with kernels of its rows and columns.

    f(i, j) = Σ_cells (k, l) K_left(i, k) β(k, l) K_right(j, l) = (K_left B K_right)(i, j)

B is the matrix of the β, zero where a pair was not observed. Nothing here is larger than B or a kernel: the
Gram matrix of the pairs, K_left ⊗ K_right, is never made.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from ..._typing import Array

# A product of matrices is so many times faster for each entry than picking rows of both.
_PICKING = 8
_BLOCK_ENTRIES = 1 << 18


@dataclass(frozen=True)
class Cells:
    """Values y of some cells of an (n_left, n_right) matrix, each cell once.

    Attributes
    ----------
    rows, columns : array (n_cells,) of int
    values : array (n_cells,), y
    weights : array (n_cells,), w > 0 of the squared errors
    shape : (n_left, n_right)
    """

    rows: Array
    columns: Array
    values: Array
    weights: Array
    shape: tuple[int, int]

    @property
    def density(self) -> float:
        """The share of the cells that were observed."""
        return self.rows.size / (self.shape[0] * self.shape[1])

    @property
    def is_complete(self) -> bool:
        """Whether all cells were observed, with one weight: then there is a closed form."""
        return self.density == 1.0 and bool((self.weights == self.weights[0]).all())

    def scatter(self, beta: Array) -> Array:
        """The matrix with `beta` in the observed cells and zero elsewhere."""
        B = np.zeros(self.shape)
        B[self.rows, self.columns] = beta
        return B

    def gather(self, matrix: Array) -> Array:
        """The entries of the observed cells."""
        return np.asarray(matrix[self.rows, self.columns])

    def product(self, K_left: Array, K_right: Array, beta: Array) -> Array:
        """(K_left B K_right) in the observed cells: n_cells (n_left + n_right) operations at most."""
        if self.density * _PICKING >= 1.0:
            return self.gather(K_left @ self.scatter(beta) @ K_right)
        B = scipy.sparse.csr_matrix((beta, (self.rows, self.columns)), self.shape)
        return entries_of_product(K_left, np.ascontiguousarray((B @ K_right).T), self.rows, self.columns)


def entries_of_product(P: Array, Q: Array, rows: Array, columns: Array) -> Array:
    """The entries (rows, columns) of P Qᵀ; the product is made where most of it is asked for.

    Examples
    --------
    >>> P, Q = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> entries_of_product(P, Q, np.array([0, 1]), np.array([2, 1]))
    array([2., 7.])
    """
    if rows.size * _PICKING >= len(P) * len(Q):
        return np.asarray((P @ Q.T)[rows, columns])
    found = np.empty(rows.size)
    for block in _blocks(rows.size, P.shape[1]):
        np.einsum("ij,ij->i", P[rows[block]], Q[columns[block]], out=found[block])
    return found


def _blocks(n: int, width: int) -> Iterator[slice]:
    step = max(1, _BLOCK_ENTRIES // max(1, width))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
