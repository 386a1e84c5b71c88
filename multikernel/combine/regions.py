"""Sets of kernel weights that a descent can be projected onto, each with the certificate that it allows.

Every region has ``project``, the nearest point of it, and ``least``, the smallest g'x over it (−inf where
there is none). For a convex function with gradient g at x, g'x − least(g) bounds how far its value is above
the smallest one (Frank & Wolfe's gap); for any other function it measures how far x is from stationary.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Region(Protocol):
    """What a projected descent asks of a set."""

    def project(self, x: Array) -> Array:
        """The nearest point of the set."""

    def least(self, g: Array) -> float:
        """The smallest g'x over the set."""


@dataclass(frozen=True)
class Simplex:
    """x ≥ 0 of a given sum; a matrix has one simplex in each row.

    Examples
    --------
    >>> Simplex().project(np.array([0.4, 1.0, -3.0])).round(6).tolist()
    [0.2, 0.8, 0.0]
    >>> Simplex(2.0).least(np.array([3.0, -1.0]))
    -2.0
    """

    total: float = 1.0

    def project(self, x: Array) -> Array:
        """By sorting: x − level, cut at zero."""
        rows = np.atleast_2d(x)
        ordered = -np.sort(-rows, axis=1)
        counts = np.arange(1, rows.shape[1] + 1)
        levels = (np.cumsum(ordered, axis=1) - self.total) / counts
        kept = np.sum(ordered > levels, axis=1) - 1
        level = np.take_along_axis(levels, kept[:, None], axis=1)
        return np.maximum(rows - level, 0.0).reshape(np.shape(x))

    def least(self, g: Array) -> float:
        """The sum at the smallest entry of every row."""
        return self.total * float(np.sum(np.atleast_2d(g).min(axis=1)))


@dataclass(frozen=True)
class Orthant:
    """x ≥ 0.

    Examples
    --------
    >>> Orthant().project(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def project(self, x: Array) -> Array:
        """Cut at zero."""
        return np.maximum(x, 0.0)

    def least(self, g: Array) -> float:
        """0, or −inf where an entry is negative."""
        return 0.0 if g.min() >= 0.0 else -np.inf


@dataclass(frozen=True, eq=False)
class PositiveBall:
    """x ≥ 0 with ‖x − center‖ ≤ radius, for a center ≥ 0.

    Examples
    --------
    >>> ball = PositiveBall(np.array([1.0, 0.0]), 2.0)
    >>> ball.project(np.array([5.0, -3.0])).tolist()
    [3.0, 0.0]
    >>> ball.least(np.array([-1.0, 4.0]))
    -3.0
    """

    center: Array
    radius: float

    def project(self, x: Array) -> Array:
        """Cut at zero at the multiplier of the ball that brings the distance to the radius."""
        nearest = np.maximum(x, 0.0)
        if np.linalg.norm(nearest - self.center) <= self.radius:
            return nearest
        low, high = 0.0, 1.0  # of share = 1 / (1 + multiplier): 0 is the center itself
        for _ in range(100):
            middle = 0.5 * (low + high)
            point = np.maximum(self.center + middle * (x - self.center), 0.0)
            low, high = (
                (middle, high) if np.linalg.norm(point - self.center) <= self.radius else (low, middle)
            )
        return np.maximum(self.center + low * (x - self.center), 0.0)

    def least(self, g: Array) -> float:
        """Along −g from the center, cut at zero."""
        low, high = 0.0, 1.0
        while high < 1e30 and self._length(high, g) < self.radius and self._moves(high, g):
            high *= 2.0
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._length(middle, g) <= self.radius else (low, middle)
        return float(g @ np.maximum(self.center - low * g, 0.0))

    def _length(self, step: float, g: Array) -> float:
        return float(np.linalg.norm(np.maximum(self.center - step * g, 0.0) - self.center))

    def _moves(self, step: float, g: Array) -> bool:
        """Whether a longer step goes further: some entry is not cut yet."""
        return bool(((self.center - step * g > 0.0) & (g != 0.0)).any())
