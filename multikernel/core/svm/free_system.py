"""How the free dual variables answer to the kernel weights.

With the bounded β fixed, the free ones satisfy K_FF β_F + b1 = const. Differentiating in the weight of kernel
m gives dβ_F/dμ_m = −P F_m[F], where P is the inverse of K_FF on {Σ = 0} (the intercept's constraint), and the
Hessian of the optimal value J(μ) is H = F_W P F_W'. Few free variables: one Cholesky factorisation. Many:
conjugate gradients for all right-hand sides at once in single precision; a residual of 5 % is enough, since
the Hessian only shapes the step and the certificate does not depend on it.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, lapack

from ..._typing import Array
from ..stack.sums import WeightedStack

_CG_SIZE = 300
_CG_STEPS = 30
_CG_RESIDUAL = 0.05
_NEGATIVE = -1e-4  # single precision cannot tell less from zero


@dataclass(frozen=True)
class Sensitivity:
    """dβ_F/dμ = −projected; ``hessian`` is the second derivative of the optimal value.

    ``solution`` is K_FF⁻¹[1, F'] as computed, the start of the next one.
    """

    rows: Array
    projected: Array
    hessian: Array
    solution: Array | None = None

    @classmethod
    def from_solution(
        cls, rows: Array, inverse_ones: Array, solved: Array, right: Array, intercept: bool
    ) -> "Sensitivity":
        """From K⁻¹1, K⁻¹F' and F: project out the direction of the intercept."""
        if intercept:
            solved = solved - np.outer(inverse_ones, solved.sum(axis=0) / inverse_ones.sum())
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused with the solution
            hessian = right @ solved
        return cls(rows, solved, 0.5 * (hessian + hessian.T))

    def direction(self, change: Array) -> Array:
        """The first-order move of the free β for a change of the weights."""
        return -(self.projected @ change)


def solve_free_system(
    stack: WeightedStack, rows: Array, right: Array, guess: Sensitivity | None = None
) -> Sensitivity:
    """Sensitivity of the β of the given rows; ``right`` is F[kernels][:, rows], ``guess`` an earlier one."""
    if rows.size < 2:
        return Sensitivity(rows, np.zeros((rows.size, right.shape[0])), np.zeros((right.shape[0],) * 2))
    solution = None
    if rows.size > _CG_SIZE:
        solution = _conjugate_gradients(stack, rows, right, _carry_over(guess, rows, right.shape[0] + 1))
    if solution is None:
        solution = _cholesky(stack, rows, right)
    found = Sensitivity.from_solution(rows, solution[:, 0], solution[:, 1:], right, True)
    return replace(found, solution=solution)


def _carry_over(guess: Sensitivity | None, rows: Array, n_sides: int) -> Array | None:
    """An earlier solution on the present rows; None if it was for other kernels."""
    if guess is None or guess.solution is None or guess.solution.shape[1] != n_sides:
        return None
    start = np.zeros((rows.size, n_sides), np.float32)
    _, now, then = np.intersect1d(rows, guess.rows, assume_unique=True, return_indices=True)
    start[now] = guess.solution[then]
    return start


def _right_hand_sides(right: Array, dtype: Any) -> Array:
    sides = np.empty((right.shape[1], right.shape[0] + 1), dtype, order="F")
    sides[:, 0] = 1.0
    sides[:, 1:] = right.T
    return sides


def _conjugate_gradients(
    stack: WeightedStack, rows: Array, right: Array, start: Array | None
) -> Array | None:
    """Block of CG runs with the diagonal as preconditioner; None if they do not converge."""
    K = stack.block(rows, np.float32)
    # one row for each right-hand side: the products with the symmetric K are fastest so
    residual = np.ascontiguousarray(_right_hand_sides(right, np.float32).T)
    goal = _CG_RESIDUAL**2 * _row_products(residual, residual)
    solution = np.zeros_like(residual)
    if start is not None:
        solution = np.ascontiguousarray(start.T)
        residual -= solution @ K
        if (_row_products(residual, residual) <= goal).all():
            return solution.T.astype(float)
    diagonal = np.diagonal(K).copy()
    z = residual / diagonal
    direction = z.copy()
    rz = _row_products(residual, z)
    for _ in range(_CG_STEPS):
        product = direction @ K
        curvature = _row_products(direction, product)
        if not (curvature > 0).all():
            norm2 = _row_products(direction, direction) * diagonal.mean()
            stack.negative_curvature |= bool((curvature < _NEGATIVE * norm2).any())
            return None
        step = (rz / curvature)[:, None]
        solution += step * direction
        residual -= step * product
        if (_row_products(residual, residual) <= goal).all():
            return solution.T.astype(float)
        z = residual / diagonal
        rz, old = _row_products(residual, z), rz
        direction = z + (rz / old)[:, None] * direction
    return None


def _row_products(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->i", a, b)


def _cholesky(stack: WeightedStack, rows: Array, right: Array) -> Array:
    """Direct solution; a growing ridge makes a singular block definite."""
    ridge = 1e-10
    while True:
        K = stack.block(rows, np.float64)
        K.flat[:: rows.size + 1] += ridge * (float(np.abs(np.diagonal(K)).mean()) or 1.0)
        factor, info = lapack.dpotrf(K.T, lower=False, overwrite_a=True, clean=False)
        if info == 0:
            return cho_solve((factor, False), _right_hand_sides(right, np.float64), check_finite=False)
        ridge *= 100.0
        stack.negative_curvature |= ridge > 1e-5
