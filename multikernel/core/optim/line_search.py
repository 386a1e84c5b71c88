"""Backtracking: a step is shortened until it is good enough.

What is good enough is the caller's to say, by Armijo's rule or otherwise. Three searches differ in their
logic and stay where they are: projected gradients read the next length off a parabola, Newton's method over
the simplex ends where values cannot tell two points apart, and its quadratic model is minimized in compiled
code.
"""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_SUFFICIENT = 1e-4  # share of what the slope promises that a step must bring


def armijo(value: float, length: float, slope: float) -> float:
    """The largest value that is low enough after a step of some length along a slope < 0.

    Examples
    --------
    >>> armijo(1.0, 0.5, -2.0)
    0.9999
    """
    return value + _SUFFICIENT * length * slope


def backtrack(
    attempt: Callable[[float], T | None], trials: int, *, first: float = 1.0, shrink: float = 0.5
) -> T | None:
    """The first success of attempts with shorter and shorter steps; None if there is none.

    Parameters
    ----------
    attempt : callable
        The length of a step to what it leads to, or None where that is not good enough.
    trials : int
        The maximum number of attempts.
    first : float, default=1
        The length of the first step.
    shrink : float, default=0.5
        The factor of each next one.

    Examples
    --------
    >>> backtrack(lambda length: -length if length < 0.2 else None, trials=10)
    -0.125
    """
    length = first
    for _ in range(trials):
        found = attempt(length)
        if found is not None:
            return found
        length *= shrink
    return None
