"""A quadratic by least squares, the design that determines it, and its lowest point in a box.

f(x) = c + g'x + ½ x'Hx
"""

from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import lsq_linear

Array = np.ndarray[Any, np.dtype[Any]]

_NOTHING = 1e-10  # a coefficient that moves the values by a smaller part of their spread is rounding
_MOST_CORNERS = 64  # of boxes with more corners, none is a start
_SWEEPS = 200
_STILL = 1e-6


def koshal_design(n_factors: int, delta: Any = 1.0) -> Array:
    """The second-order Koshal design: as many points as a quadratic has coefficients.

    Parameters
    ----------
    n_factors : int
    delta : float or array (n_factors,), optional
        The distance of the points from the centre, for all factors or for each.

    Returns
    -------
    array ((n_factors + 1) (n_factors + 2) / 2, n_factors)
        0, then ±Δ e_i for each factor, then Δ (e_i + e_j) for each pair.

    Examples
    --------
    >>> koshal_design(2, 0.3).tolist()
    [[0.0, 0.0], [0.3, 0.0], [-0.3, 0.0], [0.0, 0.3], [0.0, -0.3], [0.3, 0.3]]
    """
    steps = np.eye(n_factors)
    stars = [sign * step for step in steps for sign in (1.0, -1.0)]
    pairs = [a + b for a, b in combinations(steps, 2)]
    design = np.array([np.zeros(n_factors), *stars, *pairs])
    return np.asarray(design * delta + 0.0)  # −0 is 0


@dataclass(frozen=True)
class Quadratic:
    """f(x) = constant + gradient'x + ½ x' hessian x.

    Attributes
    ----------
    constant : float
    gradient : array (n_factors,), at x = 0
    hessian : array (n_factors, n_factors), symmetric
    """

    constant: float
    gradient: Array
    hessian: Array

    @classmethod
    def fit(cls, points: Array, values: Array, weights: Array, scale: float = 1.0) -> "Quadratic":
        """The least-squares quadratic.

        Parameters
        ----------
        points : array (n, n_factors)
        values : array (n,)
            With fewer of them than coefficients, the smallest coefficients are taken.
        weights : array (n,)
            How often each point counts.
        scale : float
            The order of size of the points, for the sake of rounding.
        """
        q = points.shape[1]
        first, second = np.triu_indices(q)
        x = points / scale
        terms = np.column_stack([np.ones(len(x)), x, x[:, first] * x[:, second]])
        roots = np.sqrt(weights)
        rises = values - values[0]  # equal values have no slope at all, not even rounding
        found = np.linalg.lstsq(terms * roots[:, None], rises * roots, rcond=None)[0]
        slopes = np.where(np.abs(found[1:]) > _NOTHING * np.abs(rises).max(), found[1:], 0.0)
        upper = np.zeros((q, q))
        upper[first, second] = slopes[q:]
        hessian = (upper + upper.T) / scale**2
        return cls(float(values[0] + found[0]), slopes[:q] / scale, hessian)

    def __call__(self, x: Array) -> Array:
        """Values (n,) at the points x (n, n_factors)."""
        return np.asarray(self.constant + x @ self.gradient + 0.5 * ((x @ self.hessian) * x).sum(axis=1))

    @property
    def is_convex(self) -> bool:
        """Whether there is one lowest point: a positive definite hessian, beyond rounding."""
        eigenvalues = np.linalg.eigvalsh(self.hessian) if self.gradient.size else np.ones(1)
        return bool(eigenvalues[0] > _NOTHING * abs(eigenvalues).max())

    def lowest(self, lower: Array, upper: Array, starts: Array) -> Array:
        """The lowest point of the box, of equally low ones the nearest to 0.

        Exact where the quadratic is convex. Elsewhere coordinate descents from 0, from ``starts`` and from
        the corners of a box of at most six factors, of which the lowest is taken.
        """
        if not self.is_convex:
            return self._descend(lower, upper, starts)
        inside = np.linalg.solve(self.hessian, -self.gradient)
        if np.all((lower <= inside) & (inside <= upper)):
            return np.asarray(inside)
        root = np.linalg.cholesky(self.hessian)  # f = ½ |R'x + R⁻¹g|² + constant
        target = -solve_triangular(root, self.gradient, lower=True)
        return np.asarray(lsq_linear(root.T, target, (lower, upper), method="bvls").x)

    def _descend(self, lower: Array, upper: Array, starts: Array) -> Array:
        """From many starts at once; each coordinate in turn goes to the lowest point of its line."""
        q = lower.size
        corners = product(*zip(lower, upper, strict=True)) if 2**q <= _MOST_CORNERS else ()
        x = np.vstack([np.zeros(q), np.clip(starts, lower, upper), *(np.array(c) for c in corners)])
        slopes = self.gradient + x @ self.hessian
        for _ in range(_SWEEPS):
            before = x.copy()
            for j in range(q):
                curvature = self.hessian[j, j]
                moved = _lowest_on_line(x[:, j], slopes[:, j], curvature, lower[j], upper[j])
                slopes += np.outer(moved - x[:, j], self.hessian[j])
                x[:, j] = moved
            if np.abs(x - before).max() <= _STILL:
                break
        values = self(x)
        spread = np.abs(values - self.constant).max()
        lowest = np.flatnonzero(values <= values.min() + _NOTHING * spread)
        return np.asarray(x[lowest[np.linalg.norm(x[lowest], axis=1).argmin()]])


def _lowest_on_line(x: Array, slope: Array, curvature: float, low: float, high: float) -> Array:
    """The lowest t in [low, high] of (slope − curvature x) t + ½ curvature t², for many x at once."""
    if curvature > 0.0:
        return np.clip(x - slope / curvature, low, high)
    rise = (slope - curvature * x) * (high - low) + 0.5 * curvature * (high**2 - low**2)
    return np.where(rise < 0.0, high, np.where(rise > 0.0, low, np.where(curvature < 0.0, high, x)))
