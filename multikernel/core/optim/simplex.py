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
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from ..._numba import DGESV, HUGE, compiled, inlined, solve_in_place
from ..._typing import Array
from .loop import Options, Recorder, Result, Status

_ROUNDING = 1e-13
NO_CURVATURE = (
    1e-12  # relative to the slopes: a Hessian of rounding alone, which `minimize_model` must not get
)
_NEAR = 1e-3  # from this gap on the quadratic model is as good, and its minimiser is not read off values
_LEAST = 1e-30  # θ, in powers of it
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
    x = np.array(point, float)
    _check(_minimize_step(_typed(H), _typed(g), _typed(point), x, DGESV))
    return x


def _typed(array: Array) -> Array:
    """Of the one type that loops are compiled for."""
    return np.require(array, float, ("C", "W"))


def _check(is_solved: bool) -> None:
    if not is_solved:
        raise np.linalg.LinAlgError("the matrix of the quadratic model must be finite and not singular.")


# In the compiled part every operation is a loop: on arrays, each would take a tenth of a second to compile.
@compiled
def _minimize_step(H: Array, g: Array, point: Array, x: Array, dgesv: int) -> bool:
    """From ``x``, which is the point, to the minimiser in place; False where a matrix is singular."""
    n = g.size
    free = np.empty(n, np.int64)
    slope = np.empty(n)
    matrix = np.empty((n, n))
    sides = np.empty((2, n))
    pivots = np.empty(n, np.intc)
    size = 0
    for i in range(n):
        slope[i] = g[i]
        if x[i] > 0.0:
            free[size] = i
            size += 1
    settled = False
    for _ in range(20 * n + 50):
        _set_equations(H, slope, free, size, matrix, sides)
        if solve_in_place(dgesv, size, matrix, sides, pivots) != 0:
            return False
        blocking = _move(free, size, sides, x)
        _set_slope(H, g, point, x, slope)
        if blocking >= 0:
            size -= 1
            for a in range(blocking, size):
                free[a] = free[a + 1]
            settled = False
        elif not settled:  # once more on the same set: what the first solution left to rounding
            settled = True
        else:
            entering = _best_outside(slope, free, size)
            if entering < 0:
                break
            free[size] = entering
            size += 1
            settled = False
    total = 0.0
    for i in range(n):
        total += x[i]
    for i in range(n):
        x[i] /= total
    return True


@inlined
def _set_equations(H: Array, slope: Array, free: Array, size: int, matrix: Array, sides: Array) -> None:
    """The free block of H, made definite, with two right sides: ones, and the slopes."""
    n = slope.size
    mean = 0.0
    for i in range(n):
        mean += H[i, i] / n
    for a in range(size):
        sides[0, a] = 1.0
        sides[1, a] = slope[free[a]]
        for b in range(size):
            matrix[a, b] = H[free[a], free[b]] + mean  # Σ d = 0: no effect, but definite along x itself
        matrix[a, a] += 1e-14 * mean + 1e-300


@inlined
def _move(free: Array, size: int, solved: Array, x: Array) -> int:
    """Move x to the minimiser with Σ d = 0, or to the first bound on the way; the place of the latter, or −1."""
    ones = 0.0
    level = 0.0
    for a in range(size):
        ones += solved[0, a]
        level += solved[1, a]
    level /= ones
    step = 1.0
    blocking = -1
    for a in range(size):
        move = level * solved[0, a] - solved[1, a]
        if move < 0.0 and x[free[a]] + step * move < 0.0:
            step = -x[free[a]] / move
            blocking = a
    for a in range(size):
        x[free[a]] = max(x[free[a]] + step * (level * solved[0, a] - solved[1, a]), 0.0)
    if blocking >= 0:
        x[free[blocking]] = 0.0
    return blocking


@inlined
def _set_slope(H: Array, g: Array, point: Array, x: Array, slope: Array) -> None:
    """slope = g + H (x − point)."""
    for i in range(g.size):
        slope[i] = g[i]
    for j in range(g.size):
        moved = x[j] - point[j]
        if moved != 0.0:
            for i in range(g.size):
                slope[i] += H[j, i] * moved


@inlined
def _best_outside(slope: Array, free: Array, size: int) -> int:
    """Which member at zero has the least slope, if that is below those of the free ones; else −1."""
    level = 0.0
    for a in range(size):
        level += slope[free[a]] / size
    largest = 0.0
    least = HUGE
    entering = -1
    for i in range(slope.size):
        largest = max(largest, abs(slope[i]))
        if slope[i] < least:
            is_free = False
            for a in range(size):
                is_free = is_free or free[a] == i
            if not is_free:
                least = slope[i]
                entering = i
    return entering if least - level < -1e-12 * largest else -1


# ---------------------------------------------------------------------- model of the optimal value
class _Model(NamedTuple):
    """The model of J around μ₀."""

    mu: Array
    homogeneous: float  # that part of J at μ₀, 1/φ₀; 0 where it is small: the model is then quadratic
    linear: Array
    phi1: Array  # with phi2 the slope and the Hessian of φ; of the quadratic: zeros and H
    phi2: Array


def minimize_model(theta: Array, q: Array, H: Array, p: float) -> Array:
    """The θ in the simplex where the model of J around μ = θ^(1/p) is least.

    ``q`` gives the gradient −½q of J in μ and ``H`` its Hessian there.
    """
    x = np.array(theta, float)
    _check(_minimize_model(_typed(q), _typed(H), p, x, DGESV))
    return x


@compiled
def _minimize_model(q: Array, H: Array, p: float, x: Array, dgesv: int) -> bool:
    """From ``x`` = θ to the minimiser in place; False where a matrix is singular."""
    n = q.size
    mu = np.empty(n)
    bent = np.empty(n)
    gradient = np.empty(n)
    goal = np.empty(n)
    new = np.empty(n)
    hessian = np.empty((n, n))
    model = _Model(np.empty(n), 0.0, np.empty(n), np.empty(n), np.empty((n, n)))
    _map(x, p, model.mu)
    model = _Model(model.mu, _set_model(q, H, model), model.linear, model.phi1, model.phi2)
    value = model.homogeneous
    for i in range(n):
        new[i] = x[i]
    for _ in range(30):
        _map(x, p, mu)
        _value(model, mu, bent)
        _set_slopes(model, x, mu, bent, p, gradient, hessian)
        for i in range(n):
            goal[i] = x[i]
        if not _minimize_step(hessian, gradient, x, goal, dgesv):
            return False
        slope = 0.0
        step = 1.0
        for i in range(n):
            goal[i] -= x[i]
            slope += gradient[i] * goal[i]
            if p > 1.0 and goal[i] < 0.0:  # the map is not smooth at zero: stay inside
                step = min(step, -0.99 * x[i] / goal[i])
        too_little = -slope <= _ROUNDING * abs(value)  # for values to show it: the slopes still do
        new_value = value
        while step > 1e-8:
            for i in range(n):
                new[i] = x[i] + step * goal[i]
            if too_little:
                break
            _map(new, p, mu)
            new_value = _value(model, mu, bent)
            if new_value <= value + _FALL * step * slope:
                break
            step *= 0.5
        gained = value - new_value
        if not too_little and not (step > 1e-8 and gained > 0.0):
            break
        for i in range(n):
            x[i] = new[i]
        value = new_value
        if gained < 1e-6 * abs(slope) or gained < 1e-12 * abs(value):
            break
    return True


@inlined
def _map(theta: Array, p: float, mu: Array) -> None:
    """μ = θ^(1/p)."""
    for i in range(mu.size):
        mu[i] = theta[i] if p == 1.0 else max(theta[i], _LEAST) ** (1.0 / p)


@inlined
def _set_model(q: Array, H: Array, model: _Model) -> float:
    """The terms of the model whose μ₀ is given; its homogeneous part."""
    n = q.size
    linear, part, phi2 = model.linear, model.phi1, model.phi2
    homogeneous = 0.0
    reward = 0.0
    for i in range(n):
        part[i] = 0.0
        for j in range(n):
            part[i] -= 0.5 * H[i, j] * model.mu[j]
        homogeneous -= model.mu[i] * part[i]
        reward += q[i] * model.mu[i]
    if not homogeneous > 0.05 * abs(reward):
        homogeneous = 0.0
    is_quadratic = homogeneous == 0.0
    scale = 1.0 if is_quadratic else -1.0 / homogeneous**2
    outer = 0.0 if is_quadratic else -2.0 * scale / homogeneous
    for i in range(n):
        linear[i] = -0.5 * q[i] - (0.0 if is_quadratic else part[i])
        for j in range(n):
            phi2[i, j] = outer * part[i] * part[j] + scale * H[i, j]
    for i in range(n):
        part[i] *= 0.0 if is_quadratic else scale
    return homogeneous


@inlined
def _value(model: _Model, mu: Array, bent: Array) -> float:
    """The model at μ; ``bent`` becomes Φd."""
    linear = 0.0
    phi = 0.0
    for i in range(mu.size):
        total = 0.0
        for j in range(mu.size):
            total += model.phi2[i, j] * (mu[j] - model.mu[j])
        bent[i] = total
        linear += model.linear[i] * (mu[i] - model.mu[i])
        phi += (model.phi1[i] + 0.5 * total) * (mu[i] - model.mu[i])
    if model.homogeneous == 0.0:
        return linear + phi
    phi += 1.0 / model.homogeneous
    return linear + 1.0 / phi if phi > 0.0 else HUGE


@inlined
def _set_slopes(
    model: _Model, x: Array, mu: Array, bent: Array, p: float, gradient: Array, hessian: Array
) -> None:
    """Gradient and Hessian of the model in θ; where the map bends downwards, without what that brings."""
    n = x.size
    scale = 1.0
    outer = 0.0
    if model.homogeneous > 0.0:
        phi = 1.0 / model.homogeneous
        for i in range(n):
            phi += (model.phi1[i] + 0.5 * bent[i]) * (mu[i] - model.mu[i])
        scale = -1.0 / phi**2
        outer = -2.0 * scale / phi
    for i in range(n):
        bent[i] += model.phi1[i]
        gradient[i] = model.linear[i] + scale * bent[i]
    for i in range(n):
        for j in range(n):
            hessian[i, j] = outer * bent[i] * bent[j] + scale * model.phi2[i, j]
    if p == 1.0:
        return
    for i in range(n):
        safe = max(x[i], _LEAST)
        first = mu[i] / (p * safe)
        for j in range(n):
            hessian[i, j] *= first
            hessian[j, i] *= first
        hessian[i, i] += max(gradient[i] * first * (1.0 / p - 1.0) / safe, 0.0)
        gradient[i] *= first


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
    evaluate: Callable[[Array], E | None], start: Array, options: Options
) -> SimplexResult[E]:
    """Minimise a smooth convex function over the unit simplex, from a positive point.

    ``evaluate`` takes a point (m,) to its :class:`Evaluation`, or to None where the function cannot be
    computed; ``options.tol`` is for the gap that it reports.
    """
    search = _Search(evaluate, start, options)
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
    def __init__(self, evaluate: Callable[[Array], E | None], start: Array, options: Options) -> None:
        self.evaluate = evaluate
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
        """Where models of second order are least: one that is better from afar, and the quadratic one."""
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
