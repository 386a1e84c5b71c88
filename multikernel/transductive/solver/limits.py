"""Linear constraints on the weights of a family of kernel matrices, beside those of the family itself.

    lower ≤ Rμ ≤ upper     or, in the solvers' units,     Aw ≤ b,  Ew = e,     with w ≥ 0 or K(w) ⪰ 0

The set must have an interior for a method that stays inside. Inequalities that hold with equality everywhere,
such as budgets that add up to the whole trace, are found by a linear program and become equations. Where
weights may have any sign, a point with K(w) ≻ 0 is found by linear programs too: an eigenvector x of K(w)
with x'K(w)x < 0 cuts w off by Σ_i w_i x'K_ix ≥ 0. When no point is left, the linear program proves it.
Members whose weight the equations make zero do not count for the range on which K(w) is to be positive
definite.

Any p ≥ 0 and any θ bound a linear function over the set: w'q ≤ p'b + θ'e + max_w w'(q − A'p − E'θ), where the
maximum is over the weights of the family alone. That is how constraints enter the certificate.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.optimize import linprog

from ..._typing import Array
from ...core.optim.weight_sets import Spectrahedron
from .families import KernelFamily, StackFamily

_ROOM = 1e-7  # in units of rows of largest entry 1: less is no interior
_INFEASIBLE = 1e-9
_BOX = 1e6  # of weights of any sign, before cuts bound them
_MAX_CUTS, _CUTS_AT_ONCE = 300, 4
_DEEP = 0.1  # of the depth that the linear program allows
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class WeightLimits:
    """What a caller asks for, in the caller's units: lower ≤ rows @ μ ≤ upper, infinite where open."""

    rows: Array  # (n_rows, m)
    lower: Array  # (n_rows,)
    upper: Array  # (n_rows,)


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """Aw ≤ b and Ew = e in the solvers' units, and a point ``inside`` with Aw < b (and w > 0 or K(w) ≻ 0)."""

    A: Array  # (n_inequalities, n_members)
    b: Array
    E: Array  # (n_equations, n_members), r'w = 1 the first
    e: Array
    signed: Array  # (n_members,), whether w_i ≥ 0 is an inequality of the family that is not an equation
    inside: Array  # (n_members,)
    cone: Spectrahedron | None = None  # of the members' weights, where these may have any sign


@dataclass(frozen=True, eq=False)
class Held:
    """A polyhedron with multipliers of its rows."""

    limits: Polyhedron
    p: Array  # ≥ 0, of the inequalities
    theta: Array  # of the equations but the first

    def reduced(self, q: Array) -> tuple[Array, float]:
        """q − A'p − E'θ and p'b + θ'e of the module's docstring."""
        limits = self.limits
        return (
            q - limits.A.T @ self.p - limits.E[1:].T @ self.theta,
            float(limits.b @ self.p) + float(limits.e[1:] @ self.theta),
        )

    def cleaned(self, w: Array, n_free: int, drop: float) -> Array:
        """Weights below ``drop`` that may not be negative become zero, where the constraints allow it."""
        limits = self.limits
        w = w.copy()
        w[n_free:] = np.maximum(w[n_free:], 0.0)
        kept = np.ones(w.size, bool)
        kept[n_free:] = w[n_free:] > drop
        if kept.all() or not kept.any():
            return w
        E, e = limits.E, limits.e
        rounded = np.where(kept, w, 0.0)
        rounded[kept] += np.linalg.lstsq(E[:, kept], e - E @ rounded, rcond=None)[0]
        fits = np.abs(E @ rounded - e).max() <= _ROUNDING and (rounded[n_free:] >= 0.0).all()
        fits = fits and bool((limits.A @ rounded <= limits.b + _ROUNDING).all())
        return rounded if fits else w


def polyhedron(limits: WeightLimits, family: KernelFamily, unit: float, free: bool) -> Polyhedron | None:
    """The constraints in the solvers' units with a point inside, or None if they have none.

    ``free``: the members' weights may have any sign where their combination is positive semidefinite.
    """
    m, count = family.n_members, limits.rows.shape[1]
    rows = np.zeros((len(limits.rows), m))
    rows[:, :count] = limits.rows * (family.scales[:count] * unit)
    A, b, E, e = _one_sided(rows, limits.lower, limits.upper)
    empty = ~A.any(axis=1)
    if (e[~E.any(axis=1)] != 0.0).any() or (b[empty] < 0.0).any():
        return None
    signed = np.arange(m) >= (count if free else 0)
    found = _interior(A[~empty], b[~empty], np.vstack([family.traces, E]), np.append(1.0, e), signed)
    if found is None or not free:
        return found
    assert isinstance(family, StackFamily)
    taking_part = ~_zero_by_equations(found)[:count]
    cone = Spectrahedron(family.Ks, family.scales[:count], taking_part.astype(float))
    inside = _positive(found, taking_part)
    if inside is None:
        inside = _inside_cone(found, cone, taking_part)
    return None if inside is None else replace(found, cone=cone, inside=inside)


def _zero_by_equations(found: Polyhedron) -> Array:
    """Whether the equations alone make the weight of a member zero, (n_members,)."""
    E, identity = found.E, np.eye(found.inside.size)
    solved = np.linalg.lstsq(E.T, identity, rcond=None)[0]
    return np.asarray(
        (np.abs(E.T @ solved - identity).max(axis=0) < _ROOM) & (np.abs(found.e @ solved) < _ROOM)
    )


def _positive(found: Polyhedron, taking_part: Array) -> Array | None:
    """A point inside at which all members that take part have positive weights, if there is one."""
    signed = found.signed.copy()
    signed[: taking_part.size] = taking_part
    positive = _interior(found.A, found.b, found.E, found.e, signed)
    return positive.inside if positive is not None and len(positive.e) == len(found.e) else None


def _one_sided(rows: Array, lower: Array, upper: Array) -> tuple[Array, Array, Array, Array]:
    """Aw ≤ b and Ew = e, each row of largest entry 1."""
    sizes = np.abs(rows).max(axis=1, initial=0.0)
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    rows, lower, upper = rows / sizes[:, None], lower / sizes, upper / sizes
    equal = lower == upper
    above, below = np.isfinite(upper) & ~equal, np.isfinite(lower) & ~equal
    A = np.vstack([rows[above], -rows[below]])
    return A, np.concatenate([upper[above], -lower[below]]), rows[equal], upper[equal]


def _interior(A: Array, b: Array, E: Array, e: Array, signed: Array) -> Polyhedron | None:
    """The set without inequalities that are equations, and the point farthest inside; None if it is empty."""
    G, h = np.vstack([A, -np.eye(signed.size)[signed]]), np.append(b, np.zeros(int(signed.sum())))
    widest = _farthest(G, h, E, e)
    if widest is None or widest[1] < -_INFEASIBLE:
        return None
    if widest[1] > _ROOM:
        return Polyhedron(A, b, E, e, signed, widest[0])
    tight = _tight(G, h, E, e)
    E, e = np.vstack([E, G[tight]]), np.append(e, h[tight])
    widest = _farthest(G[~tight], h[~tight], E, e)
    if widest is None or widest[1] <= 0.0:
        return None
    still = signed.copy()
    still[signed] = ~tight[len(b) :]
    loose = ~tight[: len(b)]
    return Polyhedron(A[loose], b[loose], E, e, still, widest[0])


def _farthest(G: Array, h: Array, E: Array, e: Array) -> tuple[Array, float] | None:
    """The point with Ew = e and the largest d ≤ 1 for which Gw + d ≤ h, and d."""
    m = E.shape[1]
    objective = np.append(np.zeros(m), -1.0)
    answer = linprog(
        objective,
        A_ub=np.column_stack([G, np.ones(len(G))]) if len(G) else None,
        b_ub=h if len(G) else None,
        A_eq=np.column_stack([E, np.zeros(len(E))]),
        b_eq=e,
        bounds=[(-_BOX, _BOX)] * m + [(None, 1.0)],
    )
    return (answer.x[:m], float(answer.x[m])) if answer.status == 0 else None


def _tight(G: Array, h: Array, E: Array, e: Array) -> Array:
    """Which of the inequalities hold with equality on the whole set {Gw ≤ h, Ew = e}.

    In multiples (s w, s) of its points every other one can have a slack of 1, all at the same time.
    """
    k, m = G.shape
    wanted = np.concatenate([np.zeros(m + 1), -np.ones(k)])
    answer = linprog(
        wanted,
        A_ub=np.column_stack([G, -h, np.eye(k)]),
        b_ub=np.zeros(k),
        A_eq=np.column_stack([E, -e, np.zeros((len(E), k))]),
        b_eq=np.zeros(len(E)),
        bounds=[(None, None)] * m + [(1.0, None)] + [(0.0, 1.0)] * k,
    )
    return np.asarray(answer.x[m + 1 :] < 0.5) if answer.status == 0 else np.ones(k, bool)


def _inside_cone(found: Polyhedron, cone: Spectrahedron, taking_part: Array) -> Array | None:
    """Weights inside the polyhedron whose matrix is positive definite on the range of the cone, or None."""
    k, m = cone.n_members, found.inside.size
    L = np.linalg.cholesky(cone.combine(taking_part / taking_part.sum()))
    white = np.stack([_whitened(K, L) for K in cone.Ks])
    G = np.vstack([found.A, -np.eye(m)[found.signed]])
    h = np.append(found.b, np.zeros(int(found.signed.sum())))
    for _ in range(_MAX_CUTS):
        farthest = _farthest(G, h, found.E, found.e)
        if farthest is None or farthest[1] <= _INFEASIBLE:
            return None
        w, depth = farthest
        values, vectors = scipy.linalg.eigh(
            np.tensordot(w[:k], white, 1), subset_by_index=(0, min(_CUTS_AT_ONCE, cone.size) - 1)
        )
        if values[0] >= _DEEP * depth:
            return w
        cuts = np.zeros((vectors.shape[1], m))
        cuts[:, :k] = -np.einsum("as,iab,bs->si", vectors, white, vectors)
        sizes = np.maximum(np.abs(cuts).max(axis=1), 1.0)
        G, h = np.vstack([G, cuts / sizes[:, None]]), np.append(h, np.zeros(len(cuts)))
    return None


def _whitened(K: Array, L: Array) -> Array:
    """L⁻¹KL⁻'."""
    half = scipy.linalg.solve_triangular(L, K, lower=True, check_finite=False)
    return np.asarray(scipy.linalg.solve_triangular(L, half.T, lower=True, check_finite=False))
