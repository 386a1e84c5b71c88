"""Kernel ridge regression with weights in a ball (Cortes, Mohri & Rostamizadeh, 2009).

    min F(η) over η ≥ 0, ‖η − η₀‖ ≤ Λ,        v = −∇F ≥ 0

For a convex F that falls in every weight the solution is the fixed point η = η₀ + Λ v / ‖v‖. Each step goes
there, and half of the way from the first time on that this does not halve the gap. Where that does not
converge, projected gradients go on from the best point seen.
The certificate is Frank and Wolfe's: v'η is below its largest value over the set, v'η₀ + Λ‖v‖, by no more
than the gap, and F(η) − min F by no more than that.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.optim.loop import Options, Recorder
from ..core.optim.weight_sets import PositiveBall
from .projected import ProjectedResult, minimise_projected

Array = np.ndarray[Any, np.dtype[Any]]

_FIXED_POINT_STEPS = 50


def learn_in_ball(
    evaluate: Callable[[Array], tuple[float, Array]], ball: PositiveBall, options: Options
) -> ProjectedResult:
    """Minimise a convex function that falls in every weight.

    Parameters
    ----------
    evaluate : callable, a point to (value > 0, gradient ≤ 0)
    ball : PositiveBall
    options : Options, ``tol`` for the relative gap, ``max_iter``

    Examples
    --------
    >>> F = lambda x: ((1.0 / (1.0 + x)).sum(), -1.0 / (1.0 + x) ** 2)
    >>> found = learn_in_ball(F, PositiveBall(np.zeros(2), 1.0), Options(tol=1e-9))
    >>> found.point.round(6), str(found.status)
    (array([0.707107, 0.707107]), 'optimal')
    """
    m = ball.center.size
    eta = ball.center + ball.radius / np.sqrt(m)
    record = Recorder.of(options)
    best, last, share = (np.inf, eta), np.inf, 1.0
    for iteration in range(min(options.max_iter, _FIXED_POINT_STEPS)):
        value, gradient = evaluate(eta)
        size = float(np.linalg.norm(gradient))
        goal = ball.center - ball.radius * gradient / max(size, np.finfo(float).tiny)
        gap = max(float(gradient @ (eta - goal)), 0.0) / value
        lower = value * (1.0 - gap)
        if record.note({"iteration": iteration, "objective": value, "lower_bound": lower, "gap": gap}):
            return ProjectedResult(eta, gradient, iteration + 1, objective=value, gap=gap, **record.outcome)
        best = (value, eta) if value < best[0] else best
        share = 0.5 if gap > 0.5 * last else share
        last, eta = gap, eta + share * (goal - eta)
    return _finish(evaluate, ball, best[1], options, record.history)


def _finish(
    evaluate: Callable[[Array], tuple[float, Array]],
    ball: PositiveBall,
    start: Array,
    options: Options,
    history: list[dict[str, float]],
) -> ProjectedResult:
    """Projected gradients from the best point, numbered on."""
    done = len(history)
    found = minimise_projected(evaluate, ball, start, options)
    rest = [{**entry, "iteration": entry["iteration"] + done} for entry in found.history]
    return replace(
        found,
        n_iter=done + found.n_iter,
        n_evaluations=done + found.n_evaluations,
        history=history + rest,
    )
