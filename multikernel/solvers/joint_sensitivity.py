"""How the free duals of the joint multiclass machine answer to the kernel weights.

With turns as in :mod:`.free_duals` and the bounded duals fixed, the free satisfy Hα + turns·b = const, where
H = K_ij (turn_i · turn_j), and Σ_i B_il = 0 keeps turns'α = const. Differentiating in the weight of kernel m
gives dα/dμ_m = −P r_m, where P is the inverse of H on {turns'δ = 0} and r_m the turned adjoint F_m; the
Hessian of the optimal value is r P r'. Few free duals: one Cholesky factorisation. Many: projected conjugate
gradients that never form H, as far as shaping a step needs; the certificate does not depend on it.
"""

from typing import Any

import numpy as np

from .free_duals import FreeDuals, invert_on_balanced
from .free_system import Sensitivity

Array = np.ndarray[Any, np.dtype[Any]]

_DENSE = 1200
_CG_STEPS = 60
_CG_RESIDUAL = 0.05


def solve_free_duals(K: Array, free: FreeDuals, right: Array) -> Sensitivity:
    """Sensitivity of the free duals.

    Parameters
    ----------
    K : array (n, n), the kernel at the present weights
    free : FreeDuals
    right : array (n_kernels, n_free), the turned adjoint of each kernel

    Returns
    -------
    Sensitivity
        Its ``rows`` count the free duals.
    """
    rows = np.arange(free.samples.size)
    if rows.size < 2:
        return Sensitivity(rows, np.zeros((rows.size, right.shape[0])), np.zeros((right.shape[0],) * 2))
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused with the solution
        if rows.size <= _DENSE:
            turns = free.turns
            H = K[np.ix_(free.samples, free.samples)] * (turns @ turns.T)
            solved = invert_on_balanced(H, right.T, turns)
            hessian = right @ solved
        else:
            solved, products = _conjugate_gradients(K, free, right)
            hessian = products @ solved.T  # X'HX cannot be indefinite, however far X is from the solution
            solved = solved.T
    return Sensitivity(rows, solved, 0.5 * (hessian + hessian.T))


class _Turned:
    """Products with H, and the projection on the balanced directions, for one row each."""

    def __init__(self, K: Array, free: FreeDuals) -> None:
        self.free, self.turns = free, free.turns
        used, self.place = np.unique(free.samples, return_inverse=True)
        self.own = np.empty(used.size, np.int64)
        self.own[self.place] = free.own
        self.K = np.asarray(K[np.ix_(used, used)], float)
        self.metric = np.linalg.pinv(self.turns.T @ self.turns)

    def project(self, rows: Array) -> Array:
        return np.asarray(rows - (rows @ self.turns) @ self.metric @ self.turns.T)

    def product(self, rows: Array) -> Array:
        n_classes = self.turns.shape[1]
        B = np.zeros((rows.shape[0], n_classes, self.own.size))
        B[:, self.free.others, self.place] = -rows
        B[:, self.own, np.arange(self.own.size)] = -B.sum(axis=1)
        F = (B.reshape(-1, self.own.size) @ self.K).reshape(B.shape)
        return np.asarray(F[:, self.free.own, self.place] - F[:, self.free.others, self.place])


def _conjugate_gradients(K: Array, free: FreeDuals, right: Array) -> tuple[Array, Array]:
    """X ≈ P right, row by row, and HX: as far as a few dozen steps come."""
    system = _Turned(K, free)
    residual = system.project(right)
    solution, products = np.zeros_like(residual), np.zeros_like(residual)
    goal = _CG_RESIDUAL**2 * _row_products(residual, residual)
    direction, rr = residual.copy(), _row_products(residual, residual)
    for _ in range(_CG_STEPS):
        product = system.product(direction)
        curvature = _row_products(direction, product)
        going = (rr > goal) & (curvature > 0.0)
        if not going.any():
            break
        step = np.where(going, rr / np.where(going, curvature, 1.0), 0.0)[:, None]
        solution += step * direction
        products += step * product
        residual -= step * system.project(product)
        rr, old = _row_products(residual, residual), rr
        direction = residual + (rr / np.where(old > 0.0, old, 1.0))[:, None] * direction
    return solution, products


def _row_products(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", a, b))
