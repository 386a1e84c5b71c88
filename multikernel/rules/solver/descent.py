"""Descent of a smooth function, over a region by projected gradients or between bounds by quasi-Newton steps.

    min F(x),  x in a region            min F(x),  0 ≤ x ≤ upper

**Projected gradients.** Each step goes to the projection of x − t ∇F(x), with Barzilai and Borwein's length
t, and is shortened until F is below the largest of its last values by a part of what the slope promised
(Birgin, Martínez & Raydan's spectral projected gradient). The certificate is the region's:
(∇F'x + support(−∇F)) / |F| is a relative bound of F(x) − min F where F is convex, and a measure of
stationarity otherwise. Where the region is not bounded, ‖x − project(x − ∇F)‖ takes its place.

**Between bounds** by L-BFGS-B (Byrd, Lu, Nocedal & Zhu), which builds up curvature and so needs far fewer
values than projected gradients where F is nearly kinked, as the value of a kernel machine is where its kernel
is nearly singular. It stops at a certificate that the caller defines.

Both return the best point seen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Result, Status, armijo, is_over, reason_to_stop
from ...core.optim.weight_sets import WeightSet

_MEMORY = 5  # a step may rise above the last value, not above the largest of so many
_SHORTENINGS = 50
_LONGEST = 1e12
_ROUNDING = 1e-15
_PAIRS = 20  # of steps and changes of the gradient that L-BFGS-B remembers
_RESTARTS = 3

Function = Callable[[Array], tuple[float, Array]]


class Point(NamedTuple):
    """F and its gradient at x."""

    x: Array
    value: float
    gradient: Array


@dataclass(frozen=True)
class ProjectedResult(Result):
    """The best point and its gradient, its certificate, and how the descent ended."""

    point: Array
    gradient: Array


def minimise_projected(
    evaluate: Function, region: WeightSet, start: Array, options: Options
) -> ProjectedResult:
    """Minimise a smooth function over a region, which can project and has a support function.

    A value that is not finite makes the step shorter; the start is projected first.

    Examples
    --------
    >>> from multikernel.core.optim.weight_sets import Simplex
    >>> c = np.array([0.5, 0.9, -1.0])
    >>> distance = lambda x: (((x - c) ** 2).sum(), 2 * (x - c))
    >>> found = minimise_projected(distance, Simplex(), c, Options(tol=1e-9))
    >>> found.point.round(6).tolist(), str(found.status)
    ([0.3, 0.7, 0.0], 'optimal')
    """
    region.require("projected gradients", "project", "support")
    return _Descent(evaluate, region, options).run(start)


def minimise_boxed(
    evaluate: Function, gap: Callable[[Point], float], start: Array, upper: Array, options: Options
) -> ProjectedResult:
    """Minimise a smooth function, finite with its gradient, between 0 and bounds (m,).

    ``gap`` tells the certificate of a :class:`Point`, which is to fall to ``options.tol``.

    Examples
    --------
    >>> c = np.array([0.5, -0.9, 4.0])
    >>> distance = lambda x: (((x - c) ** 2).sum(), 2 * (x - c))
    >>> steepness = lambda p: float(np.abs(p.x - np.clip(p.x - p.gradient, 0, 2)).max())
    >>> found = minimise_boxed(distance, steepness, np.ones(3), np.full(3, 2.0), Options(tol=1e-9))
    >>> found.point.round(6).tolist(), str(found.status)
    ([0.5, 0.0, 2.0], 'optimal')
    """
    return _Boxed(evaluate, gap, options).run(np.array(start, float), upper)


class _Search:
    """What both keep: the function, the certificate of a point, and the record."""

    def __init__(self, evaluate: Function, gap: Callable[[Point], float], options: Options) -> None:
        self.evaluate, self.gap, self.options = evaluate, gap, options
        self.record = Recorder.of(options)

    def _at(self, x: Array) -> Point:
        value, gradient = self.evaluate(x)
        return Point(x, float(value), gradient)

    def _result(self, best: Point) -> ProjectedResult:
        numbers = {"objective": best.value, "gap": self.gap(best), **self.record.outcome}
        return ProjectedResult(best.x, best.gradient, **numbers)


class _Descent(_Search):
    """Projected gradients."""

    def __init__(self, evaluate: Function, region: WeightSet, options: Options) -> None:
        super().__init__(evaluate, self._gap, options)
        self.region = region

    def run(self, start: Array) -> ProjectedResult:
        here = self._at(self.region.project(np.array(start, float)))
        if not np.isfinite(here.value):
            raise ValueError("the function must be finite at the start.")
        best, recent, length = here, [here.value], self._first_length(here)
        while not self._note(here):
            there = self._step(here, max(recent), length)
            if there is None:
                self.record.stop(reason_to_stop() or Status.STALLED)
                break
            length = self._length(here, there)
            here, recent = there, [*recent[1 - _MEMORY :], there.value]
            best = here if here.value < best.value else best
        return self._result(here if self.record.status == Status.OPTIMAL else best)

    def _gap(self, here: Point) -> float:
        size = max(abs(here.value), np.finfo(float).tiny)
        most = self.region.support(-here.gradient)
        if np.isfinite(most):
            return max(float(np.vdot(here.gradient, here.x)) + most, 0.0) / size
        return float(np.linalg.norm(here.x - self.region.project(here.x - here.gradient))) / size

    def _note(self, here: Point) -> bool:
        gap = self.gap(here)
        lower = here.value - gap * abs(here.value)
        entry = {"objective": here.value, "lower_bound": lower, "gap": gap}
        return self.record.note({"iteration": len(self.record.history), **entry})

    def _first_length(self, here: Point) -> float:
        move = float(np.abs(self.region.project(here.x - here.gradient) - here.x).max())
        return 1.0 / max(move, 1.0 / _LONGEST) if move < 1.0 else 1.0

    def _step(self, here: Point, ceiling: float, length: float) -> Point | None:
        direction = self.region.project(here.x - length * here.gradient) - here.x
        slope = float(np.vdot(here.gradient, direction))
        if not slope < 0.0:
            return None
        share = 1.0
        for _ in range(_SHORTENINGS):
            there = self._at(here.x + share * direction)
            if is_over():
                break  # the value may be that of machines that were left early
            if np.isfinite(there.value) and there.value <= armijo(ceiling, share, slope):
                return there
            if abs(share * slope) <= _ROUNDING * abs(here.value):
                break  # a shorter step cannot change the value
            share *= 0.1 if not np.isfinite(there.value) else self._shorter(here, there, share, slope)
        return None

    @staticmethod
    def _shorter(here: Point, there: Point, share: float, slope: float) -> float:
        """Where the parabola through both values is least, within a tenth and a half."""
        rise = there.value - here.value - share * slope
        return float(np.clip(-0.5 * share * slope / rise, 0.1, 0.5)) if rise > 0.0 else 0.5

    @staticmethod
    def _length(here: Point, there: Point) -> float:
        moved, changed = there.x - here.x, there.gradient - here.gradient
        curvature = float(np.vdot(moved, changed))
        if curvature <= 0.0:
            return _LONGEST
        return float(np.clip(np.vdot(moved, moved) / curvature, 1.0 / _LONGEST, _LONGEST))


class _OverError(Exception):
    """The fit is over: the last value may be that of machines that were left early."""


class _Boxed(_Search):
    """L-BFGS-B, stopped by the caller's certificate."""

    def run(self, start: Array, upper: Array) -> ProjectedResult:
        self.best = self.last = self._at(start)
        if not self._note(self.best):
            self._descend(upper)
        if not self.record.ended:
            self.record.stop(reason_to_stop() or Status.STALLED)
        return self._result(self.best)

    def _descend(self, upper: Array) -> None:
        """From the best point, and again while that helps: a restart forgets what curvature was learned."""
        for _ in range(_RESTARTS):
            before = self.best.value
            left = self.options.max_iter - self.record.n_iter
            try:
                minimize(
                    self._value_and_gradient, self.best.x, jac=True, method="L-BFGS-B",
                    bounds=np.column_stack([np.zeros_like(upper), upper]), callback=self._after_step,
                    options={
                        "maxiter": left, "maxfun": 30 * left, "ftol": 0.0, "gtol": 0.0, "maxcor": _PAIRS,
                    },
                )  # fmt: skip
            except _OverError:
                return
            if self.record.ended or not self.best.value < before:
                return

    def _value_and_gradient(self, x: Array) -> tuple[float, Array]:
        self.last = self._at(x.copy())
        if is_over():
            raise _OverError
        return self.last.value, self.last.gradient

    def _after_step(self, intermediate_result: Any) -> None:
        """L-BFGS-B ends its step at the point that it evaluated last."""
        if self._note(self.last):
            raise StopIteration

    def _note(self, here: Point) -> bool:
        gap = self.gap(here)
        if here.value <= self.best.value or gap <= self.options.tol:
            self.best = here
        return self.record.note({"iteration": len(self.record.history), "objective": here.value, "gap": gap})
