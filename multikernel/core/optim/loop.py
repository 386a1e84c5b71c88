"""The bookkeeping of every iterative solver: options, status, result and the record of its iterations."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a solver ended."""

    OPTIMAL = "optimal"
    MAX_ITER = "max_iter"
    STALLED = "stalled"
    INTERRUPTED = "interrupted"
    INDEFINITE = "indefinite"
    INSEPARABLE = "inseparable"
    INFEASIBLE = "infeasible"
    MAX_COLUMNS = "max_columns"


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


def patient_steps(n: int) -> int:
    """Steps of one inner solve of n samples; one that is not done goes on, from where it was, at the next."""
    return 10**5 + 10**3 * n
