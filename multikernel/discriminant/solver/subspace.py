"""The objective of discriminant analysis on a subspace: a model that is never above it.

F(η) is the maximum over B of 2 tr B'H − tr B'M(η)B. Over the B in the span of orthonormal columns V it is

    F_V(η) = tr H'V (λI + Σ_i η_i V'A_iV)⁻¹ V'H ≤ F(η).

The span of B = M⁻¹H and of its derivatives −M⁻¹A_iB at a point holds B(η) near it to first order, and F_V
errs by the square of what it does not hold: F_V is right to third order where Newton's model is right to
second, and rational in η as F is. Its minimiser over the simplex costs nothing that grows with n.

An η near the point needs no factorisation of its own to be certified. Since every A_i is positive
semidefinite, M(η) ⪰ c M(η₀) with c = min(1, min_i η_i / η₀_i), and for any B with residual r = H − M(η)B

    F(η) = 2 tr B'H − tr B'M(η)B + tr r'M(η)⁻¹r ≤ tr B'H + tr B'r + ‖L₀⁻¹r‖² / c,    L₀L₀' = M(η₀).
"""

import numpy as np
from scipy.linalg.lapack import dgeqrf, dorgqr, dpotrf, dpotrs

from ..._numba import compiled
from ..._typing import Array
from .problem import Members, Solved

_COLUMNS = 250  # kernels times columns that a basis may cost where n is small
_SHARE = 0.25  # of n, where it is large: then a basis costs about one factorisation
_ENTERING = 2  # kernels without weight that a model takes in


class Subspace:
    """F over the shares of some members, on the span of B and its derivatives at a point."""

    def __init__(self, members: Members, H: Array, chosen: Array, solved: Solved) -> None:
        self.members, self.chosen = members, chosen
        self.basis = _orthonormal(solved.B, solved.derivatives(chosen))
        self.forms = members.forms(self.basis, chosen)
        self.sides = self.basis.T @ H

    def minimiser(self, shares: Array) -> Array:
        """The shares where F_V is least; those of other members are zero."""
        x = shares[self.chosen]
        found = np.zeros(shares.size)
        found[self.chosen] = minimise_reduced(self.forms, self.sides, self.members.ridge, x / x.sum())
        return found

    def best_in_span(self, shares: Array) -> Array | None:
        """The B in the span where 2 tr B'H − tr B'M(η)B is largest; None where it cannot be computed."""
        M = np.tensordot(shares[self.chosen], self.forms, 1)
        M.flat[:: len(M) + 1] += self.members.ridge
        R, failed = dpotrf(M, lower=0, clean=0)
        if failed:
            return None
        B = self.basis @ dpotrs(R, self.sides, lower=0)[0]
        return np.asarray(B - B.mean(axis=0))


def _orthonormal(B: Array, derivatives: Array) -> Array:
    """A basis of all columns (n, d), in Fortran's order.

    A column of ones comes first and is left out: where columns are alike, rounding chooses what they add, but
    of sum zero.
    """
    columns = np.empty((len(B), 1 + B.shape[1] + derivatives.shape[1]), order="F")
    columns[:, 0] = 1.0
    columns[:, 1 : 1 + B.shape[1]] = B
    columns[:, 1 + B.shape[1] :] = derivatives
    reflectors, tau, _, _ = dgeqrf(columns, overwrite_a=1)
    return np.asarray(dorgqr(reflectors[:, : len(B)], tau, overwrite_a=1)[0][:, 1:])


def chosen_members(members: Members, shares: Array, q: Array) -> Array:
    """Those with weight, and the steepest of the others."""
    rest = np.where((shares > 0.0) | ~members.usable, -np.inf, q)
    entering = np.argsort(-rest, kind="stable")[:_ENTERING]
    entering = entering[rest[entering] > float(shares @ q)]
    return np.sort(np.concatenate([np.flatnonzero(shares), entering]))


def is_cheap(n: int, n_chosen: int, n_columns: int) -> bool:
    """Whether the basis of so many members costs less than about one factorisation."""
    return n_chosen * (n_chosen + 1) * n_columns <= max(_COLUMNS, _SHARE * n)


# ---------------------------------------------------------------------- the small problem
_CENTRING = 0.05  # of the mean complementarity, from one step to the next
_TO_THE_WALL = 0.99
_STEPS, _SHORTENINGS = 60, 30
_DONE = 1e-14  # gap, relative to the value
_ALIKE = 1e-13  # relative curvature between kernels that are alike


@compiled
def minimise_reduced(forms: Array, sides: Array, ridge: float, start: Array) -> Array:
    """The x in the simplex where tr S'(ridge I + Σ x_i G_i)⁻¹S is least, by a primal-dual barrier method.

    ``forms``: the G_i (s, d, d), positive semidefinite; ``sides``: S (d, q). Shares that vanish are zero.
    """
    s = start.size
    x = 0.9 * start + 0.1 / s
    slopes, W = np.empty(s), np.empty((s, sides.size))
    value = _separation(forms, sides, ridge, x, slopes, W)
    if value < 0.0:
        return start
    mu = 0.1 * value / s
    z = mu / x
    for _ in range(_STEPS):
        if slopes @ x - slopes.min() <= _DONE * value * s:
            break
        mu = _CENTRING * (x @ z) / s
        dx = _newton_step(W, slopes, x, z, mu)
        dz = mu / x - z - z / x * dx
        step, dual_step = _longest(x, dx), _longest(z, dz)
        level = value - mu * np.log(x).sum()
        fall = (slopes - mu / x) @ dx
        for _ in range(_SHORTENINGS):
            new = x + step * dx
            new_value = _separation(forms, sides, ridge, new, slopes, W)
            most = level + 1e-4 * step * fall + 1e-13 * abs(level)
            if new_value >= 0.0 and new_value - mu * np.log(new).sum() <= most:
                break
            step *= 0.5
        if new_value < 0.0:
            break
        x, value = new, new_value
        z = z + dual_step * dz
    x = np.where(x * value > z, x, 0.0)
    return x / x.sum()


@compiled
def _longest(x: Array, dx: Array) -> float:
    """How far to go along dx, so that x stays positive."""
    step = 1.0
    for i in range(x.size):
        if x[i] + step * dx[i] <= 0.0:
            step = -_TO_THE_WALL * x[i] / dx[i]
    return step


@compiled
def _newton_step(W: Array, slopes: Array, x: Array, z: Array, mu: float) -> Array:
    """The step of sum zero towards the centre of weight mu; W of the Hessian 2WW'."""
    s = x.size
    K = np.empty((s, s))
    sides = np.ones((s, 2))
    ridge = _ALIKE * 2.0 * (W * W).sum() / s
    for i in range(s):
        sides[i, 0] = mu / x[i] - slopes[i]
        for j in range(i + 1):
            K[i, j] = 2.0 * (W[i] * W[j]).sum()
        K[i, i] += z[i] / x[i] + ridge
    _factor(K)
    _solve_lower(K, sides)
    _solve_upper(K, sides)
    return sides[:, 0] - sides[:, 0].sum() / sides[:, 1].sum() * sides[:, 1]


@compiled
def _separation(forms: Array, sides: Array, ridge: float, x: Array, slopes: Array, W: Array) -> float:
    """The value, negative where it cannot be computed; slopes and W_i = L⁻¹G_ib, with the Hessian 2WW'."""
    s, d, q = forms.shape[0], forms.shape[1], sides.shape[1]
    M = np.zeros((d, d))
    for i in range(s):
        for a in range(d):
            for b in range(a + 1):
                M[a, b] += x[i] * forms[i, a, b]
    for a in range(d):
        M[a, a] += ridge
    if not _factor(M):
        return -1.0
    solved = sides.copy()
    _solve_lower(M, solved)
    value = (solved * solved).sum()
    _solve_upper(M, solved)
    product = np.empty((d, q))
    for i in range(s):
        slope = 0.0
        for a in range(d):
            for c in range(q):
                total = 0.0
                for b in range(d):
                    total += forms[i, a, b] * solved[b, c]
                product[a, c] = total
                slope += total * solved[a, c]
        slopes[i] = -slope
        _solve_lower(M, product)
        W[i] = product.copy().reshape(d * q)
    return value


@compiled
def _factor(M: Array) -> bool:
    """Cholesky factor in the place of the lower triangle; False where M is not positive definite."""
    for a in range(len(M)):
        for b in range(a):
            total = M[a, b]
            for c in range(b):
                total -= M[a, c] * M[b, c]
            M[a, b] = total / M[b, b]
        pivot = M[a, a]
        for c in range(a):
            pivot -= M[a, c] * M[a, c]
        if not pivot > 0.0:
            return False
        M[a, a] = np.sqrt(pivot)
    return True


@compiled
def _solve_lower(L: Array, sides: Array) -> None:
    for a in range(len(L)):
        for c in range(sides.shape[1]):
            total = sides[a, c]
            for b in range(a):
                total -= L[a, b] * sides[b, c]
            sides[a, c] = total / L[a, a]


@compiled
def _solve_upper(L: Array, sides: Array) -> None:
    for a in range(len(L) - 1, -1, -1):
        for c in range(sides.shape[1]):
            total = sides[a, c]
            for b in range(a + 1, len(L)):
                total -= L[b, a] * sides[b, c]
            sides[a, c] = total / L[a, a]
