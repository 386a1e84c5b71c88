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

from ..._numba import DGESV, HUGE, compiled, larger, smaller, solve_in_place
from ..._typing import Array
from .loop import Options, Recorder, Result, Status

_ROUNDING = 1e-13
NO_CURVATURE = (
    1e-12  # relative to the slopes: a Hessian of rounding alone, which `minimize_model` must not get
)
_NEAR = 1e-3  # from this gap on the quadratic model is as good, and its minimiser is not read off values
_LEAST = 1e-30  # θ, in powers of it
_RIDGES = (0.0, 1e-10, 1e-6)  # added to a matrix that is found singular, relative to its largest entry
_SINGULAR = "the matrix of the quadratic model must be finite and not singular."
_FALL = 1e-4  # share of the predicted fall that a step has to bring
_SHORTENINGS = 40
_ILL_CONDITIONED = 1e-9  # relative: values may be as wrong as this where a gap that halves tells the better


# ---------------------------------------------------------------------- projection
def project_onto_simplex(point: Array) -> Array:
    """The point of the unit simplex nearest to a point (m,).

    Examples
    --------
    >>> project_onto_simplex(np.array([0.9, 0.5, -1.0])).round(3).tolist()
    [0.7, 0.3, 0.0]
    """
    falling = np.sort(point)[::-1]
    levels = (np.cumsum(falling) - 1.0) / np.arange(1, point.size + 1)
    level = levels[np.flatnonzero(falling > levels)[-1]]
    return np.maximum(point - level, 0.0)


# ---------------------------------------------------------------------- quadratic model
def minimize_step(H: Array, g: Array, point: Array) -> Array:
    """x + d (m,), by a primal active set from the point x ≥ 0 of sum 1; H is positive semidefinite.

    Examples
    --------
    >>> minimize_step(2.0 * np.eye(3), np.array([-1.0, 0.0, 9.0]), np.array([0.2, 0.4, 0.4])).round(3)
    array([0.65, 0.35, 0.  ])
    """
    for matrix in _made_definite(H):
        x = np.array(point, float)
        if _minimize_step(_typed(matrix), _typed(g), _typed(point), x, DGESV):
            return x
    raise np.linalg.LinAlgError(_SINGULAR)


def _typed(array: Array) -> Array:
    """Of the one type that loops are compiled for."""
    if type(array) is np.ndarray and array.dtype == np.float64 and array.flags.carray:
        return array
    return np.require(array, float, ("C", "W"))


def _made_definite(H: Array) -> Iterator[Array]:
    """H, and with more and more on its diagonal: where columns are equal, a pivot may be zero."""
    for share in _RIDGES:
        yield H + share * float(np.abs(H).max()) * np.eye(len(H)) if share else H


# Compiled as few statements on numbers, without helpers: each statement and each call adds to the first fit.
@compiled
def _minimize_step(H: Array, g: Array, point: Array, x: Array, dgesv: int) -> bool:
    """From ``x``, which is the point, to the minimiser in place; False where a matrix is singular."""
    n = g.size
    is_free = np.empty(n, np.bool_)
    free = np.empty(n, np.int64)
    pivots = np.empty(n, np.intc)
    matrix = np.empty((n, n))
    sides = np.empty((2, n))
    slope = np.empty(n)
    mean = 0.0
    for i in range(n):
        is_free[i] = x[i] > 0.0
        slope[i] = g[i]
        mean += H[i, i] / n
    settled = False
    for _ in range(20 * n + 50):
        size = 0
        for i in range(n):
            if is_free[i]:
                free[size] = i
                size += 1
        for a in range(size):
            i = free[a]
            sides[0, a] = 1.0
            sides[1, a] = slope[i]
            for b in range(size):
                matrix[a, b] = H[i, free[b]] + mean  # Σ d = 0: no effect, but definite along x itself
            matrix[a, a] += 1e-14 * mean + 1e-300
        if solve_in_place(dgesv, size, matrix, sides, pivots) != 0:
            return False
        ones = 0.0
        level = 0.0
        for a in range(size):
            ones += sides[0, a]
            level += sides[1, a]
        length = 1.0
        blocking = -1
        for a in range(size):
            move = level / ones * sides[0, a] - sides[1, a]
            sides[1, a] = move
            if x[free[a]] + length * move < 0.0:
                blocking = free[a]
                length = -x[blocking] / move
        for a in range(size):
            x[free[a]] = larger(x[free[a]] + length * sides[1, a], 0.0)
        largest = 0.0
        level = 0.0
        for i in range(n):
            total = g[i]
            for j in range(n):
                total += H[i, j] * (x[j] - point[j])
            slope[i] = total
            largest = larger(largest, abs(total))
            if is_free[i]:
                level += total / size
        if blocking >= 0:
            x[blocking] = 0.0
            is_free[blocking] = False
            settled = False
            continue
        if not settled:  # once more on the same set: what the first solution left to rounding
            settled = True
            continue
        settled = False
        least = level - 1e-12 * largest
        entering = -1
        for i in range(n):
            if not is_free[i] and slope[i] < least:
                least = slope[i]
                entering = i
        if entering < 0:
            break
        is_free[entering] = True
    total = 0.0
    for i in range(n):
        total += x[i]
    for i in range(n):
        x[i] /= total
    return True


# ---------------------------------------------------------------------- model of the optimal value
class _Model(NamedTuple):
    """The model of J around μ₀; where the homogeneous part is small, the quadratic one: 0, g, zeros, H."""

    mu: Array
    homogeneous: float  # its value at μ₀, 1/φ₀
    linear: Array
    phi1: Array
    phi2: Array


def minimize_model(theta: Array, q: Array, H: Array, p: float) -> Array:
    """The θ in the simplex where the model of J around μ = θ^(1/p) is least.

    ``q`` gives the gradient −½q of J in μ and ``H`` its Hessian there.
    """
    for matrix in _made_definite(H):
        x = np.array(theta, float)
        if _minimize_model(_model(x, q, matrix, p), p, x, x.copy(), DGESV):
            return x
    raise np.linalg.LinAlgError(_SINGULAR)


def _model(x: Array, q: Array, H: Array, p: float) -> _Model:
    mu = x.copy() if p == 1.0 else np.maximum(x, _LEAST) ** (1.0 / p)
    part = -0.5 * (H @ mu)
    homogeneous = -float(part @ mu)
    if homogeneous > 0.05 * abs(float(q @ mu)):
        scale = 1.0 / homogeneous**2
        outer = (2.0 * scale / homogeneous * part)[:, None] * part
        return _Model(mu, homogeneous, -0.5 * q - part, -scale * part, outer - scale * H)
    return _Model(mu, 0.0, -0.5 * q, np.zeros(q.size), _typed(H))


@compiled
def _minimize_model(model: _Model, p: float, x: Array, new: Array, dgesv: int) -> bool:
    """From ``x`` = ``new`` = θ to the minimiser in place; False where a matrix is singular."""
    n = x.size
    mu0, homogeneous, linear, phi1, phi2 = model
    change = np.empty(n)
    bent = np.empty(n)
    gradient = np.empty(n)
    goal = np.empty(n)
    hessian = np.empty((n, n))
    value = HUGE
    slope = 0.0
    step = 1.0
    n_steps = 0
    while True:
        for i in range(n):
            change[i] = (new[i] if p == 1.0 else larger(new[i], _LEAST) ** (1.0 / p)) - mu0[i]
        new_value = 0.0
        phi = 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += phi2[i, j] * change[j]
            bent[i] = phi1[i] + total
            new_value += linear[i] * change[i]
            phi += (phi1[i] + 0.5 * total) * change[i]
        scale = 1.0
        outer = 0.0
        if homogeneous == 0.0:
            new_value += phi
        else:
            phi += 1.0 / homogeneous
            new_value += 1.0 / phi if phi > 0.0 else HUGE
            scale = -1.0 / (phi * phi)
            outer = -2.0 * scale / phi
        gained = value - new_value
        if not gained >= -_FALL * step * slope:
            step *= 0.5
            if step <= 1e-8:
                return True
            for i in range(n):
                new[i] = x[i] + step * goal[i]
            continue
        value = new_value
        for i in range(n):
            x[i] = new[i]
            goal[i] = new[i]
        if n_steps == 30 or gained < 1e-6 * abs(slope) or gained <= 1e-12 * abs(value):
            return True
        for i in range(n):
            gradient[i] = linear[i] + scale * bent[i]
            for j in range(n):
                hessian[i, j] = outer * bent[i] * bent[j] + scale * phi2[i, j]
        if p != 1.0:
            for i in range(n):
                first = larger(x[i], _LEAST) ** (1.0 / p - 1.0) / p
                for j in range(n):
                    hessian[i, j] *= first
                    hessian[j, i] *= first
                # where the map bends downwards, what that brings is left out
                hessian[i, i] += larger(gradient[i] * first * (1.0 / p - 1.0) / larger(x[i], _LEAST), 0.0)
                gradient[i] *= first
        if not _minimize_step(hessian, gradient, x, goal, dgesv):
            return False
        slope = 0.0
        step = 1.0
        for i in range(n):
            goal[i] -= x[i]
            slope += gradient[i] * goal[i]
            if p != 1.0 and goal[i] < 0.0:  # the map is not smooth at zero: stay inside
                step = smaller(step, -0.99 * x[i] / goal[i])
        for i in range(n):
            new[i] = x[i] + step * goal[i]
        if -slope <= _ROUNDING * abs(value):  # too little for values to show it: the slopes still do
            for i in range(n):
                x[i] = new[i]
            return True
        n_steps += 1


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
            point = np.maximum(target if length == 1.0 else self.point + length * direction, 0.0)
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
