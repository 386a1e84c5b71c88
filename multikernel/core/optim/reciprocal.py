"""A model of the optimal value J(μ) of a kernel machine that is good far from the current weights.

J falls in the weight of a kernel like a reciprocal: where kernels do not interact it is Σ_m a_m / μ_m. Newton's
method on a reciprocal takes weights that are too large below zero, and those that are too small only to twice
their size. With F_m = K_m β of the solution β at μ, every kernel is above a matrix of rank one, K_m ≽ F_m F_m'
/ q_m, q_m = β'F_m, which agrees with it on β. The model is the optimal value on

    K(μ) + Σ_m t_m F_m F_m' / q_m        in the place of  K(μ + t) = K(μ) + Σ_m t_m K_m,

with the bounded variables where they are. It has the value, gradient and Hessian of J at t = 0, is convex, and
is a reciprocal in each t_m alone. With H the Hessian and T = diag(t / q):

    model(t) = −½ q't + ½ t'(H⁻¹ + T)⁻¹ t,     gradient −½ q r²,     Hessian (rr') ∘ (H⁻¹ + T)⁻¹,

where r_m = 1 − ((H⁻¹ + T)⁻¹ t)_m / q_m is the factor by which F_m'β changes.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..._typing import Array
from .simplex import minimize_step

_STEPS, _SHORTENINGS = 25, 12
_ENOUGH = 1e-3  # of the first fall that was expected
_RIDGE = 1e-13


class _Model(NamedTuple):
    value: float
    gradient: Array
    hessian: Array
    ratios: Array


def _evaluate(root: Array, q: Array, t: Array) -> _Model | None:
    """The model at t from a factor of H = root root'; None where it is not defined."""
    inner = np.eye(q.size) + root.T @ ((t / q)[:, None] * root)
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
    return _Model(value, -0.5 * q * ratios * ratios, np.outer(ratios, ratios) * inverse, ratios)


def minimize_reciprocal(point: Array, q: Array, H: Array) -> tuple[Array, Array] | None:
    """Where the model is least over the unit simplex, and the ratios r there; None if H is not definite.

    ``point`` has the current weights.
    """
    sizes = np.sqrt(np.maximum(np.diagonal(H), 1e-300))
    scaled = H / np.outer(sizes, sizes)  # kernels may be of scales far apart
    root, failed = lapack.dpotrf(scaled + _RIDGE * np.eye(q.size), lower=1, clean=1, overwrite_a=1)
    if failed or not float(q.min()) > 0.0:
        return None
    root *= sizes[:, None]
    here = _evaluate(root, q, np.zeros(q.size))
    if here is None:
        return None
    x, first = point, 0.0
    for _ in range(_STEPS):
        goal = minimize_step(np.ascontiguousarray(here.hessian), here.gradient, x)
        fall = float(here.gradient @ (goal - x))
        first = first or fall
        there, length = None, 1.0
        for _ in range(_SHORTENINGS):
            new = x + length * (goal - x)
            there = _evaluate(root, q, new - point)
            if there is not None and there.value <= here.value + 1e-4 * length * fall:
                break
            there, length = None, 0.5 * length
        if there is None:
            break
        x, here = new, there
        if fall >= _ENOUGH * first and length == 1.0:
            break
    return x, here.ratios
