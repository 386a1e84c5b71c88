"""The small problem in R dimensions that each step solves: a quadratic loss and the norm over blocks.

    min over μ in M_p and w:   Σ_t [½ w_t'H_t w_t − c_t'w_t] + ½ Σ_m ‖w_m‖²/μ_m,   ‖w_m‖² = Σ_t ‖w_tm‖²

For fixed μ, with D = diag(μ_m) over the columns of block m: w = D v, v = (I + H D)⁻¹ c, and the least value
J(μ) = −½ Σ_t c'w is convex in μ with

    ∂J/∂μ_m = −½ q_m,   q_m = ‖v_m‖²,    ∂²J/∂μ_m∂μ_n = Σ_t v_m' [H − H S (I + S H S)⁻¹ S H]_mn v_n,   S = √D.

Newton's steps in μ over the simplex find it; the columns of blocks without weight do not enter the Cholesky
factor. What is left to gain is at most ½ (support(q) − q'μ).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular

from ...._typing import Array
from ...optim.loop import backtrack
from ...optim.simplex import NO_CURVATURE, minimize_model
from ...optim.weight_sets import LpBall

_MOST_STEPS = 60
_SHORTENINGS = 12
_NEGLIGIBLE = 1e-10  # a share of the simplex that counts as none
_ROUNDING = 1e-14
_LEAST_JITTER = 1e-16


class BlockNorm:
    """Ω(w) = ½ min over μ in M_p of Σ_m ‖w_m‖²/μ_m = ½ (Σ_m ‖w_m‖^r)^(2/r), r = 2p/(p + 1).

    Examples
    --------
    >>> import numpy as np
    >>> norm = BlockNorm(LpBall(1.0), np.array([0, 2, 3]))
    >>> norm.value(np.array([[3.0, 4.0, 1.0]])), norm.weights(np.array([[3.0, 4.0, 1.0]])).round(3).tolist()
    (18.0, [0.833, 0.167])
    """

    def __init__(self, weight_set: LpBall, offsets: Array) -> None:
        self.weight_set = weight_set
        self.offsets = np.asarray(offsets)
        self.widths = np.diff(self.offsets)
        self.n_blocks = self.widths.size

    def squares(self, w: Array) -> Array:
        """‖w_m‖² over tasks and columns: (n_blocks,)."""
        return np.asarray(np.add.reduceat((w * w).sum(axis=0), self.offsets[:-1]))

    def weights(self, w: Array) -> Array:
        """The μ at which the minimum is attained; equal weights for w = 0."""
        p, squares = self.weight_set.p, self.squares(w)
        if not squares.any():
            return self.weight_set.center(self.n_blocks)
        if np.isinf(p):
            return np.ones(self.n_blocks)
        shares = (squares / squares.max()) ** (1.0 / (p + 1.0))
        return np.asarray(shares / float((shares**p).sum()) ** (1.0 / p))

    def value(self, w: Array) -> float:
        squares = self.squares(w)
        top = float(squares.max())
        if top == 0.0:
            return 0.0
        if np.isinf(self.weight_set.p):
            return 0.5 * float(squares.sum())
        half = self.weight_set.p / (self.weight_set.p + 1.0)
        return 0.5 * top * float(((squares / top) ** half).sum()) ** (1.0 / half)

    def conjugate(self, adjoint: Array) -> float:
        """Ω*: half the support function of the weight set at q_m = ‖adjoint_m‖²."""
        return 0.5 * self.weight_set.support(self.squares(adjoint))

    def columns(self, mu: Array) -> Array:
        """One number for each column of one for each block."""
        return np.repeat(mu, self.widths)


@dataclass(frozen=True)
class Minimum:
    """The least value of the model at fixed weights."""

    mu: Array  # (m,)
    # w, v: (T, R)
    w: Array
    v: Array
    value: float  # J(μ)
    q: Array  # (m,)
    gap: float  # what other weights can gain at most
    factors: list[Any]  # the Cholesky factors of I + SHS, one for each Hessian; none once they have been used


class QuadraticModel:
    """See the module; ``hessian`` is (h, R, R) with h = 1 where the tasks share it, ``c`` (T, R)."""

    def __init__(self, hessian: Array, c: Array, norm: BlockNorm) -> None:
        self.hessian, self.c, self.norm = hessian, c, norm
        self.jitter = 0.0

    def at(self, mu: Array) -> Minimum:
        """The minimum over w for given weights."""
        roots = np.sqrt(self.norm.columns(mu))
        active = np.flatnonzero(roots)
        s = roots[active]
        w, v, factors = np.zeros_like(self.c), np.empty_like(self.c), []
        for h, hessian in enumerate(self.hessian):
            tasks = slice(None) if len(self.hessian) == 1 else slice(h, h + 1)
            factor = self._factor(hessian, active, s)
            z = cho_solve(factor, (self.c[tasks][:, active] * s).T).T
            w[tasks, active] = z * s
            v[tasks] = self.c[tasks] - w[tasks] @ hessian
            v[tasks, active] = z / s
            factors.append(factor)
        q = self.norm.squares(v)
        gap = 0.5 * (self.norm.weight_set.support(q) - float(q @ mu))
        return Minimum(mu, w, v, -0.5 * float(np.vdot(self.c, w)), q, gap, factors)

    def _factor(self, hessian: Array, active: Array, s: Array) -> Any:
        """The Cholesky factor of I + SHS; rounding may have cost H its definiteness."""
        while True:
            system = self._system(hessian, active, s)
            try:  # in its place: LAPACK takes the transposed, which is the same
                return cho_factor(system.T, lower=True, overwrite_a=True, check_finite=False)
            except LinAlgError:
                self.jitter = max(10.0 * self.jitter, _LEAST_JITTER)
                if not self.jitter < 1.0:
                    raise

    def _system(self, hessian: Array, active: Array, s: Array) -> Array:
        """I + SHS, with something more on its diagonal where rounding wants it."""
        whole = active.size == hessian.shape[0]
        system = hessian.copy() if whole else hessian[np.ix_(active, active)]
        system *= s[:, None]
        system *= s
        size = float(system.diagonal().max(initial=0.0))
        system.flat[:: active.size + 1] += 1.0 + self.jitter * size
        return np.asarray(system)

    def hessian_in_weights(self, minimum: Minimum) -> Array:
        """∂²J/∂μ² at a minimum: (m, m)."""
        offsets, m = self.norm.offsets, self.norm.n_blocks
        roots = np.sqrt(self.norm.columns(minimum.mu))
        active = np.flatnonzero(roots)
        result = np.zeros((m, m))
        for task, v in enumerate(minimum.v):
            shared = 0 if len(self.hessian) == 1 else task
            hessian, factor = self.hessian[shared], minimum.factors[shared]
            products = np.empty((v.size, m))
            for block, (start, stop) in enumerate(pairwise(offsets)):
                products[:, block] = hessian[:, start:stop] @ v[start:stop]
            scaled = roots[active, None] * products[active]
            half = solve_triangular(factor[0], scaled, lower=True, check_finite=False)
            result += np.add.reduceat(v[:, None] * products, offsets[:-1], axis=0) - half.T @ half
        return 0.5 * (result + result.T)

    def minimise(self, mu: Array, enough: float) -> Minimum:
        """From given weights on, until other weights can gain no more than ``enough``."""
        here = self.at(mu)
        if self.norm.n_blocks == 1 or np.isinf(self.norm.weight_set.p):
            return here
        for _ in range(_MOST_STEPS):
            if here.gap <= max(enough, _ROUNDING * abs(here.value)):
                break
            there = self._step(here)
            if there is None:
                break
            here = there
        return here

    def _step(self, here: Minimum) -> Minimum | None:
        """Newton's step in the weights, shortened until the value falls; else the closed form for fixed w."""
        weight_set = self.norm.weight_set
        theta = weight_set.to_simplex(here.mu)
        hessian = np.ascontiguousarray(self.hessian_in_weights(here))
        here.factors.clear()  # of no more use, and as large as the Hessians
        if float(np.abs(hessian).max()) <= NO_CURVATURE * float(here.q.max()):  # J is linear
            goal = weight_set.to_simplex(weight_set.best_response(here.q))
        else:
            goal = minimize_model(theta, here.q, hessian, float(weight_set.p))

        def attempt(length: float) -> Minimum | None:
            there = self.at(self._tidy((1.0 - length) * theta + length * goal))
            return there if _is_better(there, here) else None

        found = backtrack(attempt, _SHORTENINGS, shrink=0.3)
        if found is not None:
            return found
        there = self.at(self.norm.weights(here.w))
        return there if _is_better(there, here) else None

    def _tidy(self, theta: Array) -> Array:
        if self.norm.weight_set.p == 1.0:
            theta = np.where(theta < _NEGLIGIBLE, 0.0, theta)
        return self.norm.weight_set.from_simplex(theta / theta.sum())


def _is_better(there: Minimum, here: Minimum) -> bool:
    change = there.value - here.value
    if abs(change) <= _ROUNDING * abs(here.value):
        return there.gap < here.gap
    return change < 0.0
