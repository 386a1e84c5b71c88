"""Numerics of the weight learner, apart from the problem that it solves."""

from collections.abc import Callable
from dataclasses import dataclass


def patient_steps(n: int) -> int:
    """Steps of one inner solve of n samples; one that is not done goes on, from where it was, at the next."""
    return 10**5 + 10**3 * n


@dataclass(frozen=True)
class Options:
    """Numerics of the outer loop: nothing here changes the problem.

    Attributes
    ----------
    tol : relative duality gap to reach
    max_iter : outer iterations
    max_steps : steps of one inner solve
    coarse : whether to start on a part of the samples
    rough : stop on the best bounds seen, though no one pair of weights and duals attains both
    seed : of the choice of that part
    callback : called after each iteration with the newest entry of the history; True stops the solver
    """

    tol: float = 1e-3
    max_iter: int = 300
    max_steps: int = 10**7
    coarse: bool = True
    rough: bool = False
    seed: int = 0
    callback: Callable[[dict[str, float]], bool | None] | None = None
