"""Kernel ridge regression on pairs, at fixed kernels.

    min_f  Σ_cells w (y − f)² + α ‖f‖²,   f = K_left B K_right in the cells

Its solution is (G + α W⁻¹) β = y with G = K_left ⊗ K_right on the observed cells. With β = W^½ γ the system
is (W^½ G W^½ + α) γ = W^½ y, and the squared length of its residual is the duality gap:

    primal(β) − dual(β) = ‖W^½ y − (W^½ G W^½ + α) γ‖²

Where all cells are observed with one weight, the eigenvectors of the two kernels solve it. Else conjugate
gradients do; where most cells are observed, the inverse for all of them, restricted to those observed, is the
preconditioner: all but as many of its eigenvalues as there are cells missing are exactly one.

Products are those of the observed cells of a matrix of pairs with kernels of its rows and columns,

    f(i, j) = Σ_cells (k, l) K_left(i, k) β(k, l) K_right(j, l) = (K_left B K_right)(i, j),

B the matrix of the β, zero where a pair was not observed. Nothing here is larger than B or a kernel: the Gram
matrix of the pairs, K_left ⊗ K_right, is never made.

Errors of pairs that were left out have closed forms for a complete matrix of pairs. With K_left = U Λ U',
K_right = V N V' and d_ab = α / (λ_a ν_b + α), the residual of the fit is U (D ∘ U'YV) V', and that of a pair,
had it been left out (Stock et al. 2018),

    pairs   (Y − F)_ij / ((U∘U) D (V∘V)')_ij
    left    all pairs of a left object at once: in the basis V the columns are apart,
            ((Y − F) V)_ib / ((U∘U) D)_ib, times V'
    right   the same of the transpose
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse

from ..._typing import Array
from ...core.optim.loop import Result, Status, is_over, reason_to_stop

_DENSE = 0.4  # from this share of observed cells on, the complete matrix is the better preconditioner
_RESTARTS = 5
_STALL = 0.5  # a restart has to reduce the gap below this part of it
_PICKING = 8  # a product of matrices is so many times faster for each entry than picking rows of both
_BLOCK_ENTRIES = 1 << 18


@dataclass(frozen=True)
class Cells:
    """Values y of some cells of an (n_left, n_right) matrix, each cell once."""

    rows: Array  # (n_cells,) of int
    columns: Array
    values: Array  # y (n_cells,)
    weights: Array  # (n_cells,), w > 0 of the squared errors
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


@dataclass(frozen=True)
class PairSolution(Result):
    """A solution, its fit and its certificate: ``gap`` is how much smaller the objective may be at most."""

    beta: Array  # (n_cells,), the dual variables
    fitted: Array  # (n_cells,), f in the observed cells


@dataclass(frozen=True)
class Side:
    """The kernel of the objects on one side of the pairs."""

    K: Array

    @cached_property
    def eigenpairs(self) -> tuple[Array, Array]:
        """Eigenvalues, none below zero, and eigenvectors of K."""
        values, vectors = scipy.linalg.eigh(self.K, driver="evd")
        return np.maximum(values, 0.0), vectors


class PairMachine:
    """The linear system of some cells and two kernels."""

    def __init__(self, cells: Cells, left: Side, right: Side, alpha: float) -> None:
        self.cells, self.left, self.right, self.alpha = cells, left, right, alpha
        self.root = np.sqrt(cells.weights)

    def product(self, beta: Array) -> Array:
        """G β in the observed cells."""
        return self.cells.product(self.left.K, self.right.K, beta)

    def apply(self, gamma: Array) -> Array:
        """(W^½ G W^½ + α) γ."""
        return self.root * self.product(self.root * gamma) + self.alpha * gamma

    @cached_property
    def rough_inverse(self) -> Callable[[Array], Array]:
        """An approximate inverse of `apply`: exact for complete cells."""
        if self.cells.density >= _DENSE:
            return self._restricted_inverse
        cells = self.cells
        diagonal = self.left.K.diagonal()[cells.rows] * self.right.K.diagonal()[cells.columns]
        scale = 1.0 / (cells.weights * diagonal + self.alpha)
        return lambda residual: scale * residual

    def _restricted_inverse(self, residual: Array) -> Array:
        (values, U), (others, V) = self.left.eigenpairs, self.right.eigenpairs
        weight = float(self.cells.weights.mean())
        spectrum = U.T @ self.cells.scatter(residual) @ V
        spectrum /= weight * np.multiply.outer(values, others) + self.alpha
        return self.cells.gather(U @ spectrum @ V.T)

    def solution(self, gamma: Array, n_iter: int, status: Status) -> PairSolution:
        """What γ stands for, with its certificate."""
        cells, beta = self.cells, self.root * gamma
        fitted = self.product(beta)
        residual = self.root * (cells.values - fitted) - self.alpha * gamma
        primal = float(cells.weights @ (cells.values - fitted) ** 2 + self.alpha * (beta @ fitted))
        gap = float(residual @ residual)
        return PairSolution(beta, fitted, objective=primal, gap=gap, n_iter=n_iter, status=status)


def solve_pairs(
    machine: PairMachine, tol: float, max_iter: int = 1000, start: Array | None = None
) -> PairSolution:
    """Solve the system of a machine until gap / objective is at most `tol`, from β = `start` on.

    `max_iter` counts products with the kernels.
    """
    target = machine.root * machine.cells.values
    if machine.cells.is_complete:
        return machine.solution(machine.rough_inverse(target), 1, Status.OPTIMAL)

    def is_done(gamma: Array, residual: Array) -> bool:
        gap = float(residual @ residual)  # the dual value is α (β'y + β'r), the primal one the gap above it
        return gap <= tol * abs(machine.alpha * float(gamma @ (target + residual)) + gap)

    gamma = np.zeros(machine.root.size) if start is None else start / machine.root
    found, used = machine.solution(gamma, 0, Status.MAX_ITER), 0
    for _ in range(_RESTARTS):  # the residual that the recurrence carries along is not quite the true one
        if found.gap <= tol * abs(found.objective):
            break
        gamma, steps = conjugate_gradients(machine, target, gamma, is_done, max_iter - used)
        used += steps
        before, found = found.gap, machine.solution(gamma, used, Status.MAX_ITER)
        if used >= max_iter or found.gap > _STALL * before or is_over():
            break
    status = reason_to_stop() or (Status.MAX_ITER if used >= max_iter else Status.STALLED)
    status = Status.OPTIMAL if found.gap <= tol * abs(found.objective) else status
    return replace(found, n_iter=max(used, 1), status=status)


def conjugate_gradients(
    machine: PairMachine, target: Array, gamma: Array, is_done: Callable[[Array, Array], bool], max_iter: int
) -> tuple[Array, int]:
    """Solve (W^½ G W^½ + α) γ = target from γ on until `is_done(γ, residual)`; γ and the products used."""
    residual = target - machine.apply(gamma)
    step = machine.rough_inverse(residual)
    direction, slope = step.copy(), float(residual @ step)
    gamma = gamma.copy()
    for used in range(1, max_iter + 1):
        image = machine.apply(direction)
        curvature = float(direction @ image)
        if not curvature > 0.0:
            return gamma, used
        length = slope / curvature
        gamma += length * direction
        residual -= length * image
        if is_done(gamma, residual) or is_over():
            return gamma, used
        step = machine.rough_inverse(residual)
        slope, before = float(residual @ step), slope
        direction = step + (slope / before) * direction
    return gamma, max_iter


def left_out_residuals(machine: PairMachine, hold_out: str) -> Array:
    """y − f of each cell, f learned without its pair, its left object or its right object ("pairs", "left" or
    "right"), for complete cells.
    """
    cells, alpha = machine.cells, machine.alpha
    (values, U), (others, V) = machine.left.eigenpairs, machine.right.eigenpairs
    shrunk = alpha / (float(cells.weights[0]) * np.multiply.outer(values, others) + alpha)
    spectrum = shrunk * (U.T @ cells.scatter(cells.values) @ V)
    if hold_out == "pairs":
        residuals = (U @ spectrum @ V.T) / ((U * U) @ shrunk @ (V * V).T)
    elif hold_out == "left":
        residuals = ((U @ spectrum) / ((U * U) @ shrunk)) @ V.T
    else:
        residuals = U @ ((spectrum @ V.T) / (shrunk @ (V * V).T))
    return cells.gather(residuals)


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
    step = max(1, _BLOCK_ENTRIES // max(1, P.shape[1]))
    for start in range(0, rows.size, step):
        block = slice(start, start + step)
        np.einsum("ij,ij->i", P[rows[block]], Q[columns[block]], out=found[block])
    return found
