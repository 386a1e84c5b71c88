"""Newton's method for a smooth convex function of weights in the unit simplex.

    minimise F(η),   η ≥ 0, Σ η = 1

Each step goes towards the minimiser of a model of second order over the whole simplex (an active-set program
of the size of η), so that weights reach zero exactly; the step is shortened until F falls enough. The caller
says by its own certificate when to stop.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ..core.optim.loop import Options, Recorder, Result, Status
from .simplex_qp import minimize_model
from .simplex_step import minimize_step

Array = np.ndarray[Any, np.dtype[Any]]

_NEAR = 1e-3  # from this gap on the quadratic model is as good, and its minimiser is not read off values
_FALL = 1e-4  # share of the predicted fall that a step has to bring
_SHORTENINGS = 40
_ILL_CONDITIONED = 1e-9  # relative: values may be as wrong as this where a gap that halves tells the better
_ROUNDING = 1e-13  # relative: below it values do not tell two points apart, and the gap decides


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
    """The last point, what is known there, and how the search ended.

    Attributes
    ----------
    point : array (m,)
    evaluation : what the caller's function returned at ``point``
    n_evaluations : int
    objective, gap : float, of ``evaluation``
    n_iter : int
    status : Status
    history : list of dict with iteration, objective, lower_bound, gap, n_active
    """

    point: Array
    evaluation: E
    n_evaluations: int


def minimise_over_simplex(
    evaluate: Callable[[Array], E | None], start: Array, options: Options
) -> SimplexResult[E]:
    """Minimise a smooth convex function over the unit simplex.

    Parameters
    ----------
    evaluate : callable
        A point (m,) to its :class:`Evaluation`, or None where the function cannot be computed.
    start : array (m,), positive, of sum 1
    options : Options
        ``tol`` is for the gap that ``evaluate`` reports.

    Returns
    -------
    SimplexResult
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
