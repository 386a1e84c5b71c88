"""The model of the optimal value over the simplex, which the Newton step minimises.

The optimal value J(μ) of a kernel machine is a linear part plus a part that is homogeneous of degree −1 (for
the hard margin: only the latter, J = 1/(2γ²)). A quadratic model of J is poor far from the current point,
whereas 1/R of the homogeneous part R is nearly quadratic; so the model that the Newton step minimises is

    value(μ + d) = g_lin'd + 1/φ(d),    φ(d) = φ₀ + φ'd + ½ d'Φd,   matched to first and second order.
"""

from typing import Any

import numpy as np

from .._numba import compiled
from .simplex_step import minimize_step

Array = np.ndarray[Any, np.dtype[Any]]

_ROUNDING = 1e-13


@compiled
def _map(theta: Array, p: float) -> Any:
    """μ = θ^(1/p) with its first and second derivatives."""
    if p == 1.0:
        return theta.copy(), np.ones(theta.size), np.zeros(theta.size)
    a = 1.0 / p
    safe = np.maximum(theta, 1e-30)
    mu = safe**a
    return mu, a * mu / safe, a * (a - 1.0) * mu / (safe * safe)


@compiled
def minimize_model(theta: Array, q: Array, H: Array, p: float) -> Array:
    """The θ in the simplex where the model of J around μ = θ^(1/p) is least.

    ``q`` gives the gradient −½q of J in μ and ``H`` its Hessian there.
    """
    mu0, _, _ = _map(theta, p)
    g = -0.5 * q
    Hmu = H @ mu0
    homogeneous = 0.5 * (mu0 @ Hmu)
    rational = homogeneous > 0.05 * abs(q @ mu0)
    phi0 = 0.0
    phi1 = np.zeros(q.size)
    phi2 = np.zeros_like(H)
    linear = g
    if rational:
        part = -0.5 * Hmu
        linear = g - part
        phi0 = 1.0 / homogeneous
        phi1 = -part / homogeneous**2
        phi2 = 2.0 * np.outer(part, part) / homogeneous**3 - H / homogeneous**2
    x = theta.copy()
    value = homogeneous if rational else 0.0
    for _ in range(30):
        mu, first, second = _map(x, p)
        d = mu - mu0
        if rational:
            phi = phi0 + phi1 @ d + 0.5 * (d @ (phi2 @ d))
            slope = phi1 + phi2 @ d
            gradient = linear - slope / phi**2
            hessian = 2.0 * np.outer(slope, slope) / phi**3 - phi2 / phi**2
        else:
            gradient = g + H @ d
            hessian = H
        gradient_x = gradient * first
        hessian_x = hessian * np.outer(first, first)
        for i in range(x.size):
            hessian_x[i, i] += max(gradient[i] * second[i], 0.0)
        z = minimize_step(hessian_x, gradient_x, x)
        decrease = gradient_x @ (z - x)
        step = 1.0
        if p > 1.0:  # the map is not smooth at zero: stay inside
            for i in range(x.size):
                if z[i] < x[i]:
                    step = min(step, 0.99 * x[i] / (x[i] - z[i]))
        if -decrease <= _ROUNDING * abs(value):  # too little for values to show it: the slopes still do
            x = x + step * (z - x)
            break
        accepted = False
        new_value = value
        new = x
        while step > 1e-8:
            new = x + step * (z - x)
            d = _map(new, p)[0] - mu0
            if rational:
                phi = phi0 + phi1 @ d + 0.5 * (d @ (phi2 @ d))
                new_value = linear @ d + 1.0 / phi if phi > 0.0 else 1e300
            else:
                new_value = g @ d + 0.5 * (d @ (H @ d))
            if new_value <= value + 1e-4 * step * decrease:
                accepted = True
                break
            step *= 0.5
        if not accepted or not new_value < value:
            break
        gained = value - new_value
        x = new
        value = new_value
        if gained < 1e-6 * abs(decrease) or gained < 1e-12 * abs(value):
            break
    return x
