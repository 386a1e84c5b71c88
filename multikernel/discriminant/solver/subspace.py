"""The objective of discriminant analysis on a subspace: a model that is never above it.

F(η) is the maximum over B of 2 tr B'H − tr B'M(η)B. Over the B in the span of orthonormal columns V it is

    F_V(η) = tr H'V (λI + Σ_i η_i V'A_iV)⁻¹ V'H ≤ F(η).

The span of B = M⁻¹H and of its derivatives −M⁻¹A_iB at a point η₀ holds B(η) near it to first order, and F_V
errs by the square of what it does not hold: F_V is right to third order where Newton's model is right to
second, and rational in η as F is. Its minimiser over the simplex costs nothing that grows with n.

What the span lacks at an η is M(η)⁻¹r, r the residual H − M(η)B of the best B in it. M(η₀)⁻¹r, for which
there is a factor already, is nearly that: one more column makes the model right to two more orders, and it
costs one product with each member, no factorisation.

The last point is certified without a factorisation of its own. From below by the best B of the enlarged span;
from above by what that B lacks,

    F(η) − F_V(η) = tr r'M(η)⁻¹r ≤ ‖L₀⁻¹r‖² / c   and   ≤ ‖r‖² / γ,     L₀L₀' = M(η₀),

with c = min(1, min_i η_i / η₀_i), since every A_i is positive semidefinite, and γ a lower bound of the
eigenvalues of M(η) (`Members.floor`). The shares are judged on a larger span than the one they are the
minimiser on: there their lower bound would be F_V itself, which says little about the shares.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgeqrf, dorgqr, dpotrf, dpotrs, dtrtrs

from ..._numba import compiled
from ..._typing import Array
from .problem import Members, Solved, relative_gap

_COLUMNS = 250  # kernels times columns that a basis may cost where n is small
_SHARE = 0.25  # of n, where it is large: then a basis costs about one factorisation
_ENTERING = 2  # kernels without weight that a model takes in


@dataclass(frozen=True)
class Lacking:
    """The best B in the span at shares, and what the span lacks there."""

    shares: Array
    B: Array
    q: Array  # tr B'A_iB of the members of the model
    value: float  # F_V(η)
    half_solved: Array  # L₀⁻¹r
    missing: float  # ‖L₀⁻¹r‖², about F(η) − F_V(η)
    excess: float  # not below F(η) − F_V(η)


class Subspace:
    """F over the shares of some members, on the span of B and its derivatives at a point, and of more.

    Attributes
    ----------
    chosen : array of int, the members
    rows : array (d, n), V'
    products : array (n_chosen, d, n), V'A_i
    forms : array (n_chosen, d, d), V'A_iV
    sides : array (d, q), V'H
    """

    def __init__(self, members: Members, H: Array, chosen: Array, origin: Array, solved: Solved) -> None:
        self.members, self.H, self.chosen = members, H, chosen
        self.origin, self.solved = origin, solved
        columns = np.concatenate([solved.B, solved.derivatives(chosen)], axis=1)
        self.rows = _orthonormal(columns)[:, : members.n - 1].T
        self.products = self.members.products(self.rows, chosen)
        self.forms = self._forms_of(self.products)
        self.sides = np.ascontiguousarray(self.rows @ H)

    def _forms_of(self, products: Array) -> Array:
        forms = products @ self.rows.T
        return np.ascontiguousarray(0.5 * (forms + forms.transpose(0, 2, 1)))

    def extend(self, columns: Array) -> None:
        """Add columns to the span, as many as the space has room for."""
        d, room = len(self.rows), self.members.n - 1 - len(self.rows)
        for _ in range(2):  # the second time for what rounding leaves of the first
            columns = _orthonormal(columns - self.rows.T @ (self.rows @ columns))[:, :room]
        new = columns.T
        self.rows = np.concatenate([self.rows, new])
        products = self.members.products(new, self.chosen)
        self.products = np.concatenate([self.products, products], axis=1)
        across = products @ self.rows.T
        forms = np.empty((self.chosen.size, len(self.rows), len(self.rows)))
        forms[:, :d, :d] = self.forms
        forms[:, d:] = across
        forms[:, :d, d:] = across[:, :, :d].transpose(0, 2, 1)
        self.forms, self.sides = forms, np.concatenate([self.sides, new @ self.H])

    def admit(self, entering: Array) -> None:
        """Take more members into the model."""
        products = self.members.products(self.rows, entering)
        self.chosen = np.concatenate([self.chosen, entering])
        self.products = np.concatenate([self.products, products])
        self.forms = np.concatenate([self.forms, self._forms_of(products)])

    def _keep(self, is_kept: Array) -> None:
        """Leave the other members out of the model."""
        kept = is_kept[self.chosen]
        if not kept.all():
            self.chosen, self.products = self.chosen[kept], self.products[kept]
            self.forms = self.forms[kept]

    def enlarge(self, lacking: Lacking) -> None:
        """Add M(η₀)⁻¹r, most of what the span lacks; members without a share leave the model."""
        self._keep(lacking.shares > 0.0)
        self.extend(self.solved.back(lacking.half_solved))

    def minimiser(self, shares: Array) -> Array:
        """The shares where F_V is least; those of other members are zero."""
        x = shares[self.chosen]
        found = np.zeros(shares.size)
        found[self.chosen] = minimise_reduced(self.forms, self.sides, self.members.ridge, x / x.sum())
        return found

    def coordinates(self, shares: Array) -> Array | None:
        """y (d, q) of the best B = Vy at shares of the members; None where it cannot be computed."""
        x = shares[self.chosen]
        M = (x @ self.forms.reshape(x.size, -1)).reshape(len(self.rows), -1)
        M.flat[:: len(M) + 1] += self.members.ridge
        R, failed = dpotrf(M, lower=0, clean=0)
        return None if failed else dpotrs(R, self.sides, lower=0)[0]

    def forms_at(self, y: Array) -> Array:
        """q_i = tr B'A_iB of the members, B = Vy."""
        return np.asarray(((self.forms @ y) * y).sum(axis=(1, 2)))

    def gap(self, shares: Array) -> float:
        """The relative gap of shares on the span, if only the members of the model count."""
        y = self.coordinates(shares)
        if y is None:
            return np.inf
        value = float((self.sides * y).sum())
        bound = self.members.lower_bound(value, float((y * y).sum()), self.forms_at(y))
        return relative_gap(value, bound)

    def lacking(self, shares: Array) -> Lacking | None:
        """What the span lacks at shares of the members; None where it is everything, or cannot be used."""
        y = self.coordinates(shares)
        if y is None or len(self.rows) >= self.members.n - 1:
            return None
        x, ridge, shape = shares[self.chosen], self.members.ridge, self.rows.shape
        B = self.rows.T @ y
        residual = self.H - ridge * B - (x @ self.products.reshape(x.size, -1)).reshape(shape).T @ y
        half_solved = dtrtrs(self.solved.L, residual, lower=1)[0]
        missing = float((half_solved * half_solved).sum())
        before = self.origin > 0.0
        least = min(1.0, float((shares[before] / self.origin[before]).min()))
        excess = float((residual * residual).sum()) / self.members.floor(shares)
        excess = min(excess, missing / least) if least > 0.0 else excess
        value = float((B * (self.H + residual)).sum())
        return Lacking(shares, B, self.forms_at(y), value, half_solved, missing, excess)


def _orthonormal(columns: Array) -> Array:
    """A basis of the columns (n, d), in Fortran's order.

    A column of ones comes first and is left out: where columns are alike, rounding chooses what they add, but
    of sum zero.
    """
    beside = np.empty((len(columns), 1 + columns.shape[1]), order="F")
    beside[:, 0] = 1.0
    beside[:, 1:] = columns
    reflectors, tau, _, _ = dgeqrf(beside, overwrite_a=1)
    return np.asarray(dorgqr(reflectors[:, : len(columns)], tau, overwrite_a=1)[0][:, 1:])


def chosen_members(members: Members, shares: Array, q: Array) -> Array:
    """Those with weight, and the steepest of the others."""
    rest = np.where((shares > 0.0) | ~members.usable, -np.inf, q)
    return np.sort(np.concatenate([np.flatnonzero(shares), steepest(rest, float(shares @ q))]))


def steepest(q: Array, level: float) -> Array:
    """The places of the few largest entries above the level."""
    places = np.argsort(-q, kind="stable")[:_ENTERING]
    return np.asarray(places[q[places] > level])


def is_cheap(n: int, n_chosen: int, n_columns: int) -> bool:
    """Whether a basis of this many members costs less than about one factorisation."""
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
    """Cholesky factor instead of the lower triangle; False where M is not positive definite."""
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
