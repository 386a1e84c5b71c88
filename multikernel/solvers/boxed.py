"""Descent of a smooth function between bounds by quasi-Newton steps.

    min F(x),  0 ≤ x ≤ upper

By L-BFGS-B (Byrd, Lu, Nocedal & Zhu), which builds up curvature and so needs far fewer values than projected
gradients where F is nearly kinked, as the value of a kernel machine is where its kernel is nearly singular.
It stops at a certificate that the caller defines. The best point seen is returned.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..core.optim.loop import Options, Recorder, Status
from .projected import Point, ProjectedResult

Array = np.ndarray[Any, np.dtype[Any]]

_MEMORY = 20  # pairs of steps and changes of the gradient that are remembered
_RESTARTS = 3


def minimise_boxed(
    evaluate: Callable[[Array], tuple[float, Array]],
    gap: Callable[[Point], float],
    start: Array,
    upper: Array,
    options: Options,
) -> ProjectedResult:
    """Minimise a smooth function between 0 and bounds.

    Parameters
    ----------
    evaluate : callable
        A point to (value, gradient), both finite.
    gap : callable
        A :class:`Point` to its certificate, which is to fall to ``options.tol``.
    start, upper : arrays of one shape (m,)
    options : Options
        ``tol``, ``max_iter`` steps, ``callback``.

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


class _Boxed:
    def __init__(
        self,
        evaluate: Callable[[Array], tuple[float, Array]],
        gap: Callable[[Point], float],
        options: Options,
    ) -> None:
        self.evaluate, self.gap, self.options = evaluate, gap, options
        self.record, self.n_evaluations = Recorder.of(options), 0

    def run(self, start: Array, upper: Array) -> ProjectedResult:
        self.best = self.last = self._at(start)
        if not self._note(self.best):
            self._descend(upper)
        if not self.record.ended:
            self.record.stop(Status.STALLED)
        best = self.best
        return ProjectedResult(
            best.x,
            best.gradient,
            self.n_evaluations,
            objective=best.value,
            gap=self.gap(best),
            **self.record.outcome,
        )

    def _descend(self, upper: Array) -> None:
        """From the best point, and again while that helps: a restart forgets what curvature was learned."""
        for _ in range(_RESTARTS):
            before = self.best.value
            left = self.options.max_iter - self.record.n_iter
            minimize(
                self._value_and_gradient, self.best.x, jac=True, method="L-BFGS-B",
                bounds=np.column_stack([np.zeros_like(upper), upper]), callback=self._after_step,
                options={"maxiter": left, "maxfun": 30 * left, "ftol": 0.0, "gtol": 0.0, "maxcor": _MEMORY},
            )  # fmt: skip
            if self.record.ended or not self.best.value < before:
                return

    def _at(self, x: Array) -> Point:
        self.n_evaluations += 1
        value, gradient = self.evaluate(x)
        return Point(x, float(value), gradient)

    def _value_and_gradient(self, x: Array) -> tuple[float, Array]:
        self.last = self._at(x.copy())
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
