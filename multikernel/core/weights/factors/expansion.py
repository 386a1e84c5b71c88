"""The smoothed loss to second order at a point, and Newton's step from it."""

from typing import NamedTuple

import numpy as np

from ...._typing import Array
from .certificate import Point, Problem
from .model import QuadraticModel
from .rounds import Sums
from .units import Derivatives

_LONGEST = 1.0  # step of an intercept, in units of the targets, where no row has curvature


class Parabola(NamedTuple):
    """A smoothing in scaled units: its width, and the excess at which it begins."""

    width: float
    start: float


class Expansion(NamedTuple):
    """Value, gradient and Hessian of the smoothed loss in w and b.

    Attributes
    ----------
    value : float
    gradient : array (T, R)
    slope : array (T,), the gradient in the intercepts
    second : Derivatives
    """

    value: float
    gradient: Array
    slope: Array
    second: Derivatives

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.gradient).all() and np.isfinite(self.second.hessian).all())

    def narrowed(self, sums: Sums, old: Parabola, new: Parabola) -> "Expansion":
        """The expansion for another smoothing, as if the rows inside the parabola stayed the same.

        A row of excess u inside has the value C (u − start)² / (2 width) and the slope C (u − start) / width,
        in which start and width are now the new ones: the sums of C, Cu and Cu² over those rows are enough.
        """
        value, gradient, slope = self.value, self.gradient, self.slope
        _, price, first, second = sums.inner.sum(axis=0)
        for (width, start), sign in ((old, -1.0), (new, 1.0)):
            least = 0.5 * width + start
            value += sign * (0.5 * (second - 2.0 * start * first + start * start * price) / width)
            value += sign * least * float(sums.price[0])
            pull = (sums.inner_adjoint[:, 1] - start * sums.inner_adjoint[:, 0]) / width
            gradient = gradient - sign * pull
            slope = slope - sign * (sums.inner_sides[:, 1] - start * sums.inner_sides[:, 0]) / width
        ratio = old.width / new.width
        return Expansion(float(value), gradient, slope, Derivatives(*(ratio * part for part in self.second)))


def expand(sums: Sums, second: Derivatives) -> Expansion:
    """The expansion at the point of the sums, for their last width."""
    gradient, slope = -sums.adjoint[-1].sum(axis=1), -sums.total[-1].sum(axis=1)
    return Expansion(float(sums.smoothed[-1]), gradient, slope, second)


def newton_goal(problem: Problem, point: Point, expansion: Expansion, enough: float) -> tuple[Point, float]:
    """The minimiser of the expansion plus the norm, and its value there."""
    norm = problem.norm
    reduced = _Reduced(expansion, problem.has_intercept, not problem.loss.is_smooth)
    model = QuadraticModel(reduced.hessian, reduced.product(point.w) - reduced.gradient, norm)
    minimum = model.minimise(norm.weights(point.w), enough)
    change = minimum.w - point.w
    value = expansion.value + reduced.constant + norm.value(minimum.w)
    value += float(np.vdot(reduced.gradient + 0.5 * reduced.product(change), change))
    return Point(minimum.w, point.b + reduced.intercepts(change)), value


class _Reduced:
    """Gradient and Hessian in w alone, the intercepts at their best for each w.

    ``constant`` is what the best intercepts gain at the present w.
    """

    def __init__(self, expansion: Expansion, has_intercept: bool, is_kinked: bool) -> None:
        self.hessian, self.edge, corner = expansion.second
        self.gradient, self.slope, self.constant = expansion.gradient, expansion.slope, 0.0
        self.has_intercept = has_intercept
        if has_intercept:
            least = np.abs(self.slope) / _LONGEST if is_kinked else 0.0
            self.corner = np.maximum(corner, np.maximum(least, np.finfo(float).tiny))
            pulled = self.edge / self.corner[:, None]
            products = self.edge[:, :, None] * pulled[:, None, :]
            self.hessian = np.subtract(self.hessian, products, out=products)
            self.gradient = self.gradient - pulled * self.slope[:, None]
            self.constant = -0.5 * float((self.slope**2 / self.corner).sum())

    def product(self, w: Array) -> Array:
        """H w, task by task."""
        if len(self.hessian) == 1:
            return np.asarray(w @ self.hessian[0])
        return np.einsum("trs,ts->tr", self.hessian, w)

    def intercepts(self, change: Array) -> Array:
        """By how much the best intercepts change with w."""
        if not self.has_intercept:
            return np.zeros(change.shape[0])
        return np.asarray(-(self.slope + (self.edge * change).sum(axis=1)) / self.corner)
