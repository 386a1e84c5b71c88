"""Cutting planes: the safeguards of the weight learner where the optimal value is not smooth.

Every feasible β of a machine gives a plane below its optimal value: J(μ) ≥ S − ½ μ'q. Two uses, both rare:
a *null step* refines a Newton step that made things worse with the planes seen so far, and the *level
method* (Lemaréchal, Nemirovskii & Nesterov, 1995) takes over where the free variables say nothing about the
curvature (hardly any, or a singular block); it always converges. The small programs go to Clarabel and HiGHS.

Not the level method of :mod:`.level`: that one knows its set by cuts only, keeps to its boundary, has a
quadratic term and a bound from multipliers; this one is over the simplex, with each plane in its own units.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linprog

from ..core.optim import cone

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Planes:
    """Planes S_k − ½ μ'q_k below the optimal value, each with the duals that gave it."""

    rewards: list[float] = field(default_factory=list)
    q: list[Array] = field(default_factory=list)
    duals: list[Array] = field(default_factory=list)

    def add(self, reward: float, q: Array, duals: Array) -> None:
        """Keep one more plane."""
        self.rewards.append(reward)
        self.q.append(q)
        self.duals.append(duals)

    def matrices(self, kernels: Array) -> tuple[Array, Array]:
        """Constants and slopes over the given kernels."""
        return np.array(self.rewards), -0.5 * np.array(self.q)[:, kernels]


def _solve(P: Array, c: Array, equality: Array, inequality: Array, bound: Array) -> Array:
    """min ½x'Px + c'x subject to equality'x = 1 and inequality x ≤ bound."""
    blocks = [
        cone.Block(equality[None], np.ones(1), cone.zero(1)),
        cone.Block(inequality, bound, cone.nonnegative(len(bound))),
    ]
    return cone.minimize(P, c, blocks, tol_gap_rel=1e-9, tol_feas=1e-8).x


def _magnitude(constants: Array, slopes: Array) -> float:
    """What to divide by, so that the small program is of order one."""
    return max(float(np.abs(constants).max()), float(np.abs(slopes).max()), 1e-300)


def _onto_simplex(x: Array, otherwise: Array) -> Array:
    """Remove the rounding of the conic solver; where it failed, ``otherwise``."""
    x = np.where(x < 1e-8, 0.0, x)
    return x / x.sum() if np.isfinite(x).all() and x.sum() > 0.5 else otherwise


def null_step(H: Array, center: Array, constants: Array, slopes: Array) -> tuple[Array, float]:
    """min over the simplex of max_k(constant_k + slope_k'x) + ½(x − center)'H(x − center); x and the max."""
    m, k = center.size, constants.size
    scale = _magnitude(constants, slopes)
    P = np.zeros((m + 1, m + 1))
    P[:m, :m] = H / scale
    c = np.append(-H @ center / scale, 1.0)
    inequality = np.vstack(
        [np.hstack([-np.eye(m), np.zeros((m, 1))]), np.hstack([slopes / scale, -np.ones((k, 1))])]
    )
    x = _solve(
        P, c, np.append(np.ones(m), 0.0), inequality, np.concatenate([np.zeros(m), -constants / scale])
    )
    return _onto_simplex(x[:m], center), float(x[m]) * scale


def lower_bound(constants: Array, slopes: Array) -> tuple[float, Array]:
    """The least of max_k(constant_k + slope_k'x) over the simplex, and the multipliers of the planes."""
    k, m = slopes.shape
    scale = _magnitude(constants, slopes)
    solution = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.hstack([slopes / scale, -np.ones((k, 1))]),
        b_ub=-constants / scale,
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs",
    )
    if solution.status != 0:
        return -np.inf, np.full(k, 1.0 / k)
    multipliers = np.maximum(-solution.ineqlin.marginals, 0.0)
    return float(solution.fun) * scale, multipliers / multipliers.sum()


def level_step(constants: Array, slopes: Array, center: Array, low: float, high: float) -> Array:
    """The point nearest to ``center`` where the planes lie below a level between the two bounds."""
    m = center.size
    room = 0.9 * low + 0.1 * high - constants
    # each plane by its own size: one may be steeper than another by many digits
    scales = np.maximum(np.maximum(np.abs(slopes).max(axis=1), np.abs(room)), 1e-300)
    inequality = np.vstack([-np.eye(m), slopes / scales[:, None]])
    bound = np.concatenate([np.zeros(m), room / scales])
    return _onto_simplex(_solve(np.eye(m), -center, np.ones(m), inequality, bound), center)
