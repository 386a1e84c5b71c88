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
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ..._numba import compiled
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
@compiled
def minimize_step(H: Array, g: Array, point: Array) -> Array:
    """x + d (m,), by a primal active set from the point x ≥ 0 of sum 1; H is positive semidefinite.

    Examples
    --------
    >>> minimize_step(2.0 * np.eye(3), np.array([-1.0, 0.0, 9.0]), np.array([0.2, 0.4, 0.4])).round(3)
    array([0.65, 0.35, 0.  ])
    """
    n = g.size
    trace = 0.0
    for i in range(n):
        trace += H[i, i]
    ridge = 1e-14 * trace / n + 1e-300
    x = point.copy()
    inside = x > 0.0
    slope = g.copy()
    settled = 0
    for _ in range(20 * n + 50):
        w = np.flatnonzero(inside)
        k = w.size
        block = np.empty((k, k))
        sides = np.empty((k, 2))
        for a in range(k):
            sides[a, 0] = 1.0
            sides[a, 1] = slope[w[a]]
            for b in range(k):
                block[a, b] = H[w[a], w[b]] + trace / n  # Σ d = 0: no effect, but definite along x itself
            block[a, a] += ridge
        solved = np.linalg.solve(block, sides)
        level = solved[:, 1].sum() / solved[:, 0].sum()
        step = 1.0
        blocking = -1
        for a in range(k):
            move = level * solved[a, 0] - solved[a, 1]
            if move < 0.0 and x[w[a]] + step * move < 0.0:
                step = -x[w[a]] / move
                blocking = a
        for a in range(k):
            x[w[a]] = max(x[w[a]] + step * (level * solved[a, 0] - solved[a, 1]), 0.0)
        if blocking >= 0:
            x[w[blocking]] = 0.0
            inside[w[blocking]] = False
        for i in range(n):
            slope[i] = g[i]
        for j in range(n):
            moved = x[j] - point[j]
            if moved != 0.0:
                for i in range(n):
                    slope[i] += H[i, j] * moved
        if blocking >= 0:
            settled = 0
            continue
        if settled == 0:  # once more on the same set: what the first solution left to rounding
            settled = 1
            continue
        level = 0.0
        for a in range(k):
            level += slope[w[a]] / k
        entering = -1
        best = -1e-12 * np.abs(slope).max()
        for i in range(n):
            if not inside[i] and slope[i] - level < best:
                best = slope[i] - level
                entering = i
        if entering < 0:
            break
        inside[entering] = True
        settled = 0
    return x / x.sum()


# ---------------------------------------------------------------------- model of the optimal value
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
