"""Minimisation over the unit simplex: steps of a quadratic model, a model of J(μ), Newton's method.

**Quadratic model** (:func:`minimize_step`), exact also where the matrix is large beside the slope:

    min  g'd + ½ d'Hd     x + d ≥ 0,  Σ d = 0

The unknown is the step and not the point: products Hx, which may be larger than g by more digits than there
are, never occur.

**Model of the optimal value** (:func:`minimize_model`). The optimal value J(μ) of a kernel machine is a
linear part plus a part that is homogeneous of degree −1 (for the hard margin: only the latter, J = 1/(2γ²)).
A quadratic model of J is poor far from the current point, whereas 1/R of the homogeneous part R is nearly
quadratic; so the model that the Newton step minimises is

    value(μ + d) = g_lin'd + 1/φ(d),    φ(d) = φ₀ + φ'd + ½ d'Φd,   matched to first and second order.

**Newton's method** (:func:`minimise_over_simplex`) for a smooth convex function of weights:

    minimise F(η),   η ≥ 0, Σ η = 1

Each step goes towards the minimiser of a model of second order over the whole simplex (an active-set
program of the size of η), so that weights reach zero exactly; the step is shortened until F falls enough.
The caller says by its own certificate when to stop.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from scipy.linalg.lapack import dgesv

from ..._numba import HUGE
from ..._typing import Array
from .loop import Options, Recorder, Result, Status

_ROUNDING = 1e-13
NO_CURVATURE = (
    1e-12  # relative to the slopes: a Hessian of rounding alone, which `minimize_model` must not get
)
_NEAR = 1e-3  # from this gap on the quadratic model is as good, and its minimiser is not read off values
_FALL = 1e-4  # share of the predicted fall that a step has to bring
_SHORTENINGS = 40
_ILL_CONDITIONED = 1e-9  # relative: values may be as wrong as this where a gap that halves tells the better


# ---------------------------------------------------------------------- quadratic model
def minimize_step(H: Array, g: Array, point: Array) -> Array:
    """x + d (m,), by a primal active set from the point x ≥ 0 of sum 1; H is positive semidefinite.

    Examples
    --------
    >>> minimize_step(2.0 * np.eye(3), np.array([-1.0, 0.0, 9.0]), np.array([0.2, 0.4, 0.4])).round(3)
    array([0.65, 0.35, 0.  ])
    """
    n = g.size
    mean = float(H.diagonal().sum()) / n
    definite = H + mean  # Σ d = 0: no effect, but definite along x itself
    definite.flat[:: n + 1] += 1e-14 * mean + 1e-300
    x, slope, inside = point.copy(), g, point > 0.0
    settled = False
    for _ in range(20 * n + 50):
        w = inside.nonzero()[0]
        move = _free_step(definite if w.size == n else definite[w[:, None], w], slope[w])
        start = x[w]
        end = start + move
        blocking = -1
        if end.min() < 0.0:
            with np.errstate(divide="ignore", invalid="ignore"):
                rooms = np.where(end < 0.0, -start / move, 1.0)
            blocking = int(rooms.argmin())
            end = start + rooms[blocking] * move
            end[blocking] = 0.0
            inside[w[blocking]] = False
        x[w] = np.maximum(end, 0.0)
        slope = g + H @ (x - point)
        if blocking >= 0:
            settled = False
            continue
        if not settled:  # once more on the same set: what the first solution left to rounding
            settled = True
            continue
        excess = np.where(inside, 0.0, slope - slope[w].mean())
        entering = int(excess.argmin())
        if not excess[entering] < -1e-12 * np.abs(slope).max():
            break
        inside[entering] = True
        settled = False
    return np.asarray(x / x.sum())


def _free_step(block: Array, slope: Array) -> Array:
    """The minimiser d of slope'd + ½ d'(block)d with Σ d = 0: no bound is looked at."""
    sides = np.ones((slope.size, 2), order="F")
    sides[:, 1] = slope
    _, _, solved, info = dgesv(block.T, sides, overwrite_b=1)  # symmetric: by columns without a copy
    if info != 0:
        raise np.linalg.LinAlgError("the matrix of the quadratic model must be finite and not singular.")
    ones, slopes = solved.T
    return np.asarray(slopes.sum() / ones.sum() * ones - slopes)


# ---------------------------------------------------------------------- model of the optimal value
def _map(theta: Array, p: float) -> tuple[Array, Array, Array]:
    """μ = θ^(1/p) with its first and second derivatives."""
    if p == 1.0:
        return theta, np.ones(theta.size), np.zeros(theta.size)
    a = 1.0 / p
    safe = np.maximum(theta, 1e-30)
    mu = safe**a
    return mu, a * mu / safe, a * (a - 1.0) * mu / (safe * safe)


class _Model:
    """The model of J around μ₀, whose gradient is g and whose Hessian is H there."""

    def __init__(self, mu: Array, g: Array, H: Array) -> None:
        self.mu, self.linear, self.H = mu, g, H
        Hmu = H @ mu
        homogeneous = 0.5 * float(mu @ Hmu)
        self.rational = homogeneous > 0.1 * abs(float(g @ mu))
        self.value = homogeneous if self.rational else 0.0  # at μ₀
        if self.rational:
            part = -0.5 * Hmu
            self.linear = g - part
            self.phi0, self.phi1 = 1.0 / homogeneous, -part / homogeneous**2
            self.phi2 = (2.0 / homogeneous**3) * np.outer(part, part) - H / homogeneous**2

    def at(self, mu: Array) -> float:
        d = mu - self.mu
        if not self.rational:
            return float(self.linear @ d + 0.5 * (d @ (self.H @ d)))
        phi = float(self.phi0 + self.phi1 @ d + 0.5 * (d @ (self.phi2 @ d)))
        return float(self.linear @ d) + 1.0 / phi if phi > 0.0 else HUGE

    def slopes(self, mu: Array) -> tuple[Array, Array]:
        """Gradient and Hessian."""
        d = mu - self.mu
        if not self.rational:
            return self.linear + self.H @ d, self.H
        bent = self.phi2 @ d
        phi = float(self.phi0 + self.phi1 @ d + 0.5 * (d @ bent))
        slope = self.phi1 + bent
        hessian = (2.0 / phi**3) * np.outer(slope, slope) - self.phi2 / phi**2
        return self.linear - slope / phi**2, hessian


def minimize_model(theta: Array, q: Array, H: Array, p: float) -> Array:
    """The θ in the simplex where the model of J around μ = θ^(1/p) is least.

    ``q`` gives the gradient −½q of J in μ and ``H`` its Hessian there.
    """
    model = _Model(_map(theta, p)[0], -0.5 * q, H)
    x, value = theta, model.value
    for _ in range(30):
        mu, first, second = _map(x, p)
        gradient, hessian = model.slopes(mu)
        if p > 1.0:
            hessian = hessian * np.outer(first, first) + np.diag(np.maximum(gradient * second, 0.0))
            gradient = gradient * first
        direction = minimize_step(hessian, gradient, x) - x
        slope = float(gradient @ direction)
        step = _longest_step(x, direction) if p > 1.0 else 1.0
        if -slope <= _ROUNDING * abs(value):  # too little for values to show it: the slopes still do
            return np.asarray(x + step * direction)
        new, new_value = x, value
        while step > 1e-8:
            new = x + step * direction
            new_value = model.at(_map(new, p)[0])
            if new_value <= value + _FALL * step * slope:
                break
            step *= 0.5
        gained = value - new_value
        if not (step > 1e-8 and gained > 0.0):
            break
        x, value = new, new_value
        if gained < 1e-6 * abs(slope) or gained < 1e-12 * abs(value):
            break
    return np.array(x)


def _longest_step(x: Array, direction: Array) -> float:
    """How far to go: the map is not smooth at zero, so the point stays inside."""
    falls = direction < 0.0
    return float(min(1.0, (-0.99 * x[falls] / direction[falls]).min(initial=1.0)))


# ---------------------------------------------------------------------- Newton's method
class StartError(ValueError):
    """The function cannot be computed at the start."""


class Evaluation(Protocol):
    """What is known at a point: value, gradient, Hessian (of the values that the model is made of), gap."""

    @property
    def value(self) -> float: ...
    @property
    def gradient(self) -> Array: ...
    @property
    def hessian(self) -> Array: ...
    @property
    def gap(self) -> float: ...


E = TypeVar("E", bound=Evaluation)


@dataclass(frozen=True)
class SimplexResult(Result, Generic[E]):
    """The last point, what is known there, and how the search ended."""

    point: Array  # (m,)
    evaluation: E  # what the caller's function returned at ``point``
    n_evaluations: int


def minimise_over_simplex(
    evaluate: Callable[[Array], E | None],
    start: Array,
    options: Options,
    model: Callable[[Array, E], Array | None] | None = None,
) -> SimplexResult[E]:
    """Minimise a smooth convex function over the unit simplex, from a positive point.

    ``evaluate`` takes a point (m,) to its :class:`Evaluation`, or to None where the function cannot be
    computed; ``options.tol`` is for the gap that it reports. ``model`` takes a point and its evaluation to
    the minimiser of a better model than those of second order, or to None where it has none.
    """
    search = _Search(evaluate, start, options, model)
    search.run()
    here = search.here
    return SimplexResult(
        search.point,
        here,
        search.n_evaluations,
        objective=here.value,
        gap=here.gap,
        **search.record.outcome,
    )


class _Search(Generic[E]):
    def __init__(
        self,
        evaluate: Callable[[Array], E | None],
        start: Array,
        options: Options,
        model: Callable[[Array, E], Array | None] | None,
    ) -> None:
        self.evaluate, self.model = evaluate, model
        self.point = np.array(start, float)
        first = evaluate(self.point)
        if first is None:
            raise StartError("the function must be finite at the start.")
        self.here: E = first
        self.record, self.n_evaluations = Recorder.of(options), 1

    def run(self) -> None:
        while not self._note():
            if not self._step():
                self.record.stop(Status.STALLED)
                break

    def _note(self) -> bool:
        entry = {
            "iteration": len(self.record.history),
            "objective": self.here.value,
            "lower_bound": self.here.value - self.here.gap * abs(self.here.value),
            "gap": self.here.gap,
            "n_active": int(np.count_nonzero(self.point)),
        }
        return self.record.note(entry)

    def _step(self) -> bool:
        """Move to a better point; False if there is none to be found."""
        return any(self._search_towards(target) for target in self._targets())

    def _targets(self) -> Iterator[Array]:
        """Where models are least: the caller's, one that is better from afar, and the quadratic one."""
        target = None if self.model is None else self.model(self.point, self.here)
        if target is not None:
            yield target
        g, H = self.here.gradient, self.here.hessian
        if self.here.gap > _NEAR:
            yield minimize_model(self.point, -2.0 * g, H, 1.0)
        yield minimize_step(H, g, self.point)

    def _search_towards(self, target: Array) -> bool:
        here, direction = self.here, target - self.point
        slope = float((here.gradient - here.gradient.min()) @ direction)
        if not slope < _ROUNDING * abs(here.value):
            return False
        length = 1.0
        for _ in range(_SHORTENINGS):
            point = np.maximum(self.point + length * direction, 0.0)
            there = self.evaluate(point)
            self.n_evaluations += 1
            if there is not None and self._is_better(there, length * slope):
                self.point, self.here = point, there
                return True
            length *= 0.3 if length == 1.0 else 0.5
            if abs(length * slope) <= np.finfo(float).eps * abs(here.value):
                break  # a shorter step cannot change the value
        return False

    def _is_better(self, there: E, fall: float) -> bool:
        change = there.value - self.here.value
        if abs(change) <= _ROUNDING * abs(self.here.value):
            return there.gap < self.here.gap
        if abs(change) <= _ILL_CONDITIONED * abs(self.here.value) and there.gap <= 0.5 * self.here.gap:
            return True
        return change <= _FALL * fall
