"""The bookkeeping of every iterative solver: options, status, result, history, gaps, line search, progress.

Recording, stopping and the status are here, once; the steps are the solver's own.

**Line search** (:func:`backtrack`): a step is shortened until it is good enough. What is good enough is the
caller's to say, by Armijo's rule or otherwise. Three searches differ in their logic and stay where they are:
projected gradients read the next length off a parabola, Newton's method over the simplex ends where values
cannot tell two points apart, and its quadratic model is minimized in compiled code.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

Entry = dict[str, Any]
Callback = Callable[[Entry], bool | None]
_TINY = float(np.finfo(float).tiny)
T = TypeVar("T")
_SUFFICIENT = 1e-4  # share of what the slope promises that a step must bring


# ---------------------------------------------------------------------- options, status, result, history
class Status(StrEnum):
    """How a solver ended, from best to worst: a model of several machines has the worst status of them."""

    OPTIMAL = "optimal"
    INTERRUPTED = "interrupted"
    MAX_COLUMNS = "max_columns"
    MAX_ITER = "max_iter"
    STALLED = "stalled"
    INDEFINITE = "indefinite"
    INSEPARABLE = "inseparable"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True)
class Options:
    """Numerics of the outer loop: nothing here changes the problem."""

    tol: float = 1e-3  # relative duality gap to reach
    max_iter: int = 300  # outer iterations
    max_steps: int = 10**7  # steps of one inner solve
    coarse: bool = True  # whether to start on a part of the samples
    rough: bool = False  # stop on the best bounds seen, though no one pair of weights and duals attains both
    seed: int = 0  # of the choice of that part
    # called after each iteration with the newest entry of the history; True stops the solver
    callback: Callback | None = None


def patient_steps(n: int) -> int:
    """Steps of one inner solve of n samples; one that is not done goes on, from where it was, at the next."""
    return 10**5 + 10**3 * n


@dataclass(frozen=True, eq=False, kw_only=True)
class Result:
    """What every solver returns, so that none can forget to say that it failed; families extend it."""

    objective: float  # the value that was optimized, at what is returned
    gap: float = np.nan  # the certificate, as the solver defines it; nan where there is none
    n_iter: int
    status: Status
    history: list[Entry] = field(default_factory=list)  # one for each iteration; empty where none is kept


class Recorder:
    """The record of a loop: its history, whether it is to stop, and how it ended.

    A loop calls :meth:`note` once in each iteration and leaves when the answer is True; where it leaves for
    another reason, it says so with :meth:`stop`. It ends when the gap is ``tol``, after the iteration
    ``max_iter`` as the entries count (by default the loop counts for itself), or when the callback, which
    gets a copy of every entry, answers True. The status is MAX_ITER until there was a reason to end.

    Examples
    --------
    >>> record, x = Recorder(tol=1e-3, max_iter=20), 1.0
    >>> while not record.note({"iteration": len(record.history), "objective": x * x, "gap": x * x}):
    ...     x *= 0.5
    >>> str(record.status), record.n_iter
    ('optimal', 5)
    """

    def __init__(
        self, tol: float = 0.0, max_iter: int | None = None, callback: Callback | None = None
    ) -> None:
        self.tol, self.max_iter, self.callback = tol, max_iter, callback
        self.history: list[Entry] = []
        self.status = Status.MAX_ITER
        self.ended = False

    @classmethod
    def of(cls, options: Options) -> "Recorder":
        """A record that stops as the options say."""
        return cls(options.tol, options.max_iter, options.callback)

    def note(self, entry: Entry, *, reached: bool | None = None) -> bool:
        """Keep an entry, show it to the callback, and say whether the loop is to stop.

        ``reached`` is whether the solver is done; by default whether the entry's gap is at most ``tol``.
        """
        self.history.append(entry)
        interrupted = bool(self.callback(dict(entry))) if self.callback is not None else False
        if entry["gap"] <= self.tol if reached is None else reached:
            return self.stop(Status.OPTIMAL)
        if interrupted:
            return self.stop(Status.INTERRUPTED)
        if self.max_iter is not None and entry["iteration"] >= self.max_iter:
            return self.stop(Status.MAX_ITER)
        return False

    def stop(self, status: Status) -> bool:
        """End with a status; True, so that a loop can leave with it."""
        self.status, self.ended = status, True
        return True

    @property
    def n_iter(self) -> int:
        """The iteration of the newest entry, 0 without one."""
        return int(self.history[-1]["iteration"]) if self.history else 0

    @property
    def outcome(self) -> dict[str, Any]:
        """``n_iter``, ``status`` and ``history`` for a :class:`Result`."""
        return {"n_iter": self.n_iter, "status": self.status, "history": self.history}


# ---------------------------------------------------------------------- gaps and scales
def relative_gap(upper: float, lower: float, least_size: float = 0.0) -> float:
    """(upper − lower) / max(|upper|, least_size); infinite where a bound is.

    Examples
    --------
    >>> relative_gap(2.0, 1.0), relative_gap(0.0, -1e-9, 1e-3)
    (0.5, 1e-06)
    """
    if not (np.isfinite(upper) and np.isfinite(lower)):
        return float("inf")
    return float((upper - lower) / max(abs(upper), least_size, _TINY))


def power_of_two(size: float) -> float:
    """The power of two nearest to a size: scaling by it is exact, so that a dual at C comes back as C.

    Examples
    --------
    >>> power_of_two(3.1), power_of_two(0.0)
    (4.0, 1.0)
    """
    return float(np.exp2(np.round(np.log2(size)))) if np.isfinite(size) and size > 0 else 1.0


# ---------------------------------------------------------------------- line search
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
    """The first success of attempts with shorter and shorter steps; None if none of the ``trials`` is one.

    ``attempt`` takes the length of a step to what it leads to, or to None where that is not good enough.

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


# ---------------------------------------------------------------------- progress
class Progress:
    """Writes iteration, objective, relative gap and number of active kernels unless ``verbose`` is 0.

    ``label`` says which machine of several is fitted. The entry is passed on to the user's callback, if there
    is one; True stops the fit.
    """

    def __init__(self, label: str, verbose: int, callback: Callable[[dict[str, float]], bool | None] | None):
        self.label, self.verbose, self.callback = label, verbose, callback
        self.started = time.perf_counter()

    def __call__(self, entry: dict[str, float]) -> bool:
        """Show one iteration; the answer says whether to stop."""
        if self.verbose:
            seconds = time.perf_counter() - self.started
            sys.stderr.write(
                f"[multikernel] {self.label}iteration {entry['iteration']:3.0f}  "
                f"objective {entry['objective']:.8g}  gap {entry['gap']:.1e}  "
                f"{entry['n_active']:.0f} active  {seconds:.1f} s\n"
            )
        return bool(self.callback(dict(entry))) if self.callback is not None else False


class SearchProgress:
    """Writes each point of a search with its score and the best so far unless ``verbose`` is 0.

    The entry is passed on to the user's callback, if there is one; True ends the search.
    """

    def __init__(self, verbose: int, callback: Callable[[dict[str, Any]], bool | None] | None):
        self.verbose, self.callback = verbose, callback
        self.started = time.perf_counter()
        self.evaluation, self.best_score = 0, float("-inf")

    def __call__(self, params: dict[str, float], score: float) -> bool:
        """Show one point; the answer says whether to stop."""
        self.evaluation += 1
        self.best_score = max(self.best_score, score)
        if self.verbose:
            seconds = time.perf_counter() - self.started
            point = ", ".join(f"{name} {value:.3g}" for name, value in params.items())
            sys.stderr.write(
                f"[multikernel] point {self.evaluation:3d}  score {score:.4f}  best {self.best_score:.4f}  "
                f"{point}  {seconds:.1f} s\n"
            )
        if self.callback is None:
            return False
        entry = {"evaluation": self.evaluation, "params": dict(params), "score": score}
        return bool(self.callback({**entry, "best_score": self.best_score}))
