"""The free duals of the joint multiclass machine: which classes they turn samples to, and their system.

A free α_il turns sample i from class l to its own: its turn is e_{y_i} − e_l. Directions of free duals keep
Σ_i B_il = 0 where turns'δ = 0.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...._typing import Array
from ..free_system import Sensitivity


class FreeDuals(NamedTuple):
    """The free α: their samples, other classes and own classes; each (n_free,)."""

    samples: Array
    others: Array
    own: Array

    @property
    def turns(self) -> Array:
        """The classes that each gives to and takes from, (n_free, n_classes at least)."""
        n_classes = int(max(self.others.max(initial=0), self.own.max(initial=0))) + 1
        turns = np.zeros((self.samples.size, n_classes))
        each = np.arange(self.samples.size)
        turns[each, self.own] = 1.0
        turns[each, self.others] = -1.0
        return turns

    def turned(self, F: Array) -> Array:
        """F[…, own class, sample] − F[…, other class, sample], the derivative in each free α."""
        return np.asarray(F[..., self.own, self.samples] - F[..., self.others, self.samples])


def invert_on_balanced(H: Array, right: Array, turns: Array) -> Array:
    """P right, P the inverse of H on {turns'δ = 0}; a slight ridge makes a singular H definite."""
    ridge = 1e-10 * (float(np.abs(np.diagonal(H)).mean()) or 1.0)
    while True:
        ridged = H + ridge * np.eye(H.shape[0])
        try:
            factor = cho_factor(ridged, check_finite=False, overwrite_a=True)
            break
        except LinAlgError:
            ridge *= 100.0
    n_sides = right.shape[1]
    solved = cho_solve(factor, np.column_stack([right, turns]), check_finite=False)
    multipliers = np.linalg.lstsq(turns.T @ solved[:, n_sides:], turns.T @ solved[:, :n_sides])[0]
    balanced = solved[:, :n_sides] - solved[:, n_sides:] @ multipliers
    return np.asarray(balanced - turns @ np.linalg.lstsq(turns, balanced)[0])


# -----------------------------------------------------------------------------
# How the free duals of the joint multiclass machine answer to the kernel weights.
#
# With turns as in :mod:`.free_duals` and the bounded duals fixed, the free satisfy Hα + turns·b = const,
# where H = K_ij (turn_i · turn_j), and Σ_i B_il = 0 keeps turns'α = const. Differentiating in the weight of
# kernel m gives dα/dμ_m = −P r_m, where P is the inverse of H on {turns'δ = 0} and r_m the turned adjoint
# F_m; the Hessian of the optimal value is r P r'. Few free duals: one Cholesky factorisation. Many: projected
# conjugate gradients that never form H, as far as shaping a step needs; the certificate does not depend on
# it.


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
