"""A model of the optimal value J(μ) of a kernel machine that is good far from the current weights.

J falls in the weight of a kernel like a reciprocal: where kernels do not interact, it is Σ_m a_m / μ_m.
Newton's method on a reciprocal takes weights that are too large below zero, and those that are too small to
no more than twice their size. Let F_m = K_m β, with the solution β at μ, and q_m = β'F_m. Then K_m ≽ F_m F_m'
/ q_m, a matrix of rank one that agrees with K_m on β. The model is the optimal value on

    K(μ) + Σ_m t_m F_m F_m' / q_m        instead of        K(μ + t) = K(μ) + Σ_m t_m K_m,

with the bounded variables where they are. It has the value, the gradient −½q and the Hessian H of J at t = 0,
is convex, and is a reciprocal in each t_m alone. With T = diag(t / q) and G = (H⁻¹ + T)⁻¹ it is

    model(t) = J(μ) − ½ q't + ½ t'Gt,     gradient −½ q r²,     Hessian (rr') ∘ G,     r = 1 − Gt / q.

r_m is the factor by which F_m'β changes: to first order, β moves as if the change of the weights were r ∘ t.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..._typing import Array
from .simplex import minimize_step

_STEPS, _SHORTENINGS = 25, 12
_ENOUGH = 1e-3  # of the fall that the first step promised: what the next one leaves is far less
_FALL = 1e-4  # of what the slope promises
_RIDGE = 1e-13
_TINY = 1e-10  # relative fall that values hardly show: the quadratic model is as good


class _Model(NamedTuple):
    """The model at a point, less J(μ)."""

    value: float
    gradient: Array
    hessian: Array
    ratios: Array


def _evaluate(root: Array, q: Array, t: Array) -> _Model | None:
    """The model at t from a factor of H = root root'; None where it is not defined."""
    inner = root.T @ ((t / q)[:, None] * root)
    inner.flat[:: q.size + 1] += 1.0
    factor, failed = lapack.dpotrf(inner, lower=1, overwrite_a=1)
    if failed:
        return None
    half, failed = lapack.dtrtrs(factor, root.T, lower=1)
    if failed:
        return None
    inverse = half.T @ half
    answer = inverse @ t
    ratios = 1.0 - answer / q
    value = -0.5 * float(q @ t) + 0.5 * float(t @ answer)
    return _Model(value, -0.5 * q * ratios * ratios, ratios[:, None] * ratios * inverse, ratios)


def minimize_reciprocal(point: Array, q: Array, H: Array) -> tuple[Array, Array] | None:
    """Where the model is least over the unit simplex, and r there; None where H or q is not positive.

    ``point`` has the current weights.

    Examples
    --------
    >>> a, mu = np.array([4.0, 1.0]), np.array([0.9, 0.1])  # J = Σ a / μ, least at √a / Σ√a
    >>> minimize_reciprocal(mu, 2 * a / mu**2, np.diag(2 * a / mu**3))[0].round(4)
    array([0.6667, 0.3333])
    """
    sizes = np.sqrt(np.maximum(np.diagonal(H), 1e-300))
    scaled = H / (sizes[:, None] * sizes)  # kernels may be of scales far apart
    scaled.flat[:: q.size + 1] += _RIDGE
    root, failed = lapack.dpotrf(scaled, lower=1, clean=1, overwrite_a=1)
    if failed or not float(q.min()) > 0.0:
        return None
    root *= sizes[:, None]
    here = _evaluate(root, q, np.zeros(q.size))
    if here is None:
        return None
    x, first, size = point, 0.0, 0.5 * float(q @ point)
    for _ in range(_STEPS):
        goal = minimize_step(np.ascontiguousarray(here.hessian), here.gradient, x)
        fall = float(here.gradient @ (goal - x))
        first = first or fall
        tiny = -fall <= _TINY * size
        there, length = None, 1.0
        for _ in range(_SHORTENINGS):
            new = x + length * (goal - x)
            there = _evaluate(root, q, new - point)
            if there is not None and (tiny or there.value <= here.value + _FALL * length * fall):
                break
            there, length = None, 0.5 * length
        if there is None:
            break
        x, here = new, there
        if tiny or (fall >= _ENOUGH * first and length == 1.0):
            break
    return x, here.ratios
