"""The bookkeeping of every iterative solver: options, status, result, history, gaps, line search, progress.

Recording, stopping and the status are here, once; the steps are the solver's own.

**Limits of a fit** (:func:`limited`, :func:`stop_on_interrupt`): a time after which it ends, and Ctrl-C. They
surround the fit and hold for every loop within it, also for those of a fit within the fit, such as a fold.
:class:`Recorder` asks for them in each iteration; where one iteration may take long, the solver asks in
between (:func:`is_over`).

**Line search** (:func:`backtrack`): a step is shortened until it is good enough. What is good enough is the
caller's to say, by Armijo's rule or otherwise. Three searches differ in their logic and stay where they are:
projected gradients read the next length off a parabola, Newton's method over the simplex ends where values
cannot tell two points apart, and its quadratic model is minimized in compiled code.
"""

import functools
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

from ..._numba import seconds_compiling

Entry = dict[str, Any]
Callback = Callable[[Entry], bool | None]
_TINY = float(np.finfo(float).tiny)
T = TypeVar("T")
_SUFFICIENT = 1e-4  # share of what the slope promises that a step must bring
_LATE, _LATE_SHARE = 0.5, 0.1  # seconds, or share of the time, that a fit may end after its time
_STOPPING = "\nStopping at the next iteration. Ctrl-C again ends at once, without a model.\n"


# ---------------------------------------------------------------------- limits of a fit
def clock() -> float:
    """Seconds, those of compiling left out; tests replace it."""
    return time.perf_counter() - seconds_compiling()


class Interrupt:
    """Whether the user asked for an end by Ctrl-C, and whether a loop was told so."""

    def __init__(self) -> None:
        self.asked = False
        self.answered = False


@dataclass(frozen=True)
class Limits:
    """When a fit is to end, when it has to have ended, and whether Ctrl-C ends it."""

    deadline: float = math.inf
    latest: float = math.inf
    interrupt: Interrupt | None = None


_limits: ContextVar[Limits] = ContextVar("limits", default=Limits())  # noqa: B039 (frozen)


@contextmanager
def limited(max_time: float | None) -> Iterator[None]:
    """Within the block, loops end after ``max_time`` seconds, or when those of a block around it are over."""
    if max_time is None:
        yield
        return
    before, deadline = _limits.get(), clock() + max_time
    latest = deadline + max(_LATE, _LATE_SHARE * max_time)
    limits = replace(before, deadline=min(before.deadline, deadline), latest=min(before.latest, latest))
    token = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(token)


@contextmanager
def stop_on_interrupt(message: str = _STOPPING) -> Iterator[Interrupt]:
    """Within the block, the first Ctrl-C ends loops at their next iteration, the second raises.

    At the first, ``message`` is written to standard error. In a thread other than the main one, nothing is
    changed: signals are not heard there. A block within such a block changes nothing either.
    """
    before = _limits.get()
    if before.interrupt is not None:
        yield before.interrupt
        return
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def hear(number: int, frame: Any) -> None:
        if interrupt.asked:
            raise KeyboardInterrupt
        interrupt.asked = True
        os.write(2, message.encode())  # a handler may not wait for locks of others

    handler = signal.signal(signal.SIGINT, hear)
    token = _limits.set(replace(before, interrupt=interrupt))
    try:
        yield interrupt
    finally:
        _limits.reset(token)
        signal.signal(signal.SIGINT, handler)


def reason_to_stop(ahead: float = 0.0) -> "Status | None":
    """Why the present fit is to end; None while it may go on.

    ``ahead`` are the seconds that the next step takes, where nothing can end it: it is not begun if it would
    end too late.
    """
    limits = _limits.get()
    if limits.interrupt is not None and limits.interrupt.asked:
        limits.interrupt.answered = True
        return Status.INTERRUPTED
    if limits.deadline < math.inf:
        now = clock()
        if now >= limits.deadline or now + ahead > limits.latest:
            return Status.MAX_TIME
    return None


def is_over() -> bool:
    """Whether the present fit is to end."""
    return reason_to_stop() is not None


def time_left() -> float:
    """Seconds until the present fit is to end, a tenth at least: what solvers of others are allowed."""
    deadline = _limits.get().deadline
    return max(deadline - clock(), 0.1) if deadline < math.inf else deadline


def has_deadline() -> bool:
    """Whether the present fit has a time limit: long steps are then taken in parts."""
    return _limits.get().deadline < math.inf


def carried(function: Callable[..., T]) -> Callable[..., T]:
    """The function within the limits of the present fit, for other threads, which do not know them."""
    limits = _limits.get()

    @functools.wraps(function)
    def within(*args: Any, **kwargs: Any) -> T:
        token = _limits.set(limits)
        try:
            return function(*args, **kwargs)
        finally:
            _limits.reset(token)

    return within


# ---------------------------------------------------------------------- options, status, result, history
class Status(StrEnum):
    """How a solver ended, from best to worst: a model of several machines has the worst status of them."""

    OPTIMAL = "optimal"
    INTERRUPTED = "interrupted"
    MAX_COLUMNS = "max_columns"
    MAX_ITER = "max_iter"
    STALLED = "stalled"
    MAX_TIME = "max_time"
    INDEFINITE = "indefinite"
    INSEPARABLE = "inseparable"
    INFEASIBLE = "infeasible"


ENDED_EARLY = (Status.INTERRUPTED, Status.MAX_TIME)  # of a fit that is over: nothing more is begun


@dataclass(frozen=True)
class Options:
    """Numerics of the outer loop: nothing here changes the problem."""

    tol: float = 1e-3  # relative duality gap to reach
    max_iter: int = 300  # outer iterations
    max_time: float | None = None
    max_steps: int = 10**7  # steps of one inner solve
    coarse: bool = True  # whether to start on a part of the samples
    rough: bool = False  # stop on the best bounds seen, though no one pair of weights and duals attains both
    seed: int = 0  # of the choice of that part
    # called after each iteration with the newest entry of the history; True stops the solver
    callback: Callback | None = None
    on_interrupt: str = "raise"


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
    ``max_iter`` as the entries count (by default the loop counts for itself), when the callback, which gets a
    copy of every entry, answers True, or when the fit is over (:func:`limited`). The status is MAX_ITER until
    there was a reason to end.

    ``divisible``: whether an iteration itself ends where the fit is over. If not, none is begun that would
    end too late, going by the time of the last one.

    Examples
    --------
    >>> record, x = Recorder(tol=1e-3, max_iter=20), 1.0
    >>> while not record.note({"iteration": len(record.history), "objective": x * x, "gap": x * x}):
    ...     x *= 0.5
    >>> str(record.status), record.n_iter
    ('optimal', 5)
    """

    def __init__(
        self,
        tol: float = 0.0,
        max_iter: int | None = None,
        callback: Callback | None = None,
        *,
        divisible: bool = False,
    ) -> None:
        self.tol, self.max_iter, self.callback, self.divisible = tol, max_iter, callback, divisible
        self._last = clock()
        self.history: list[Entry] = []
        self.status = Status.MAX_ITER
        self.ended = False

    @classmethod
    def of(cls, options: Options, *, divisible: bool = False) -> "Recorder":
        """A record that stops as the options say."""
        return cls(options.tol, options.max_iter, options.callback, divisible=divisible)

    def note(self, entry: Entry, *, reached: bool | None = None) -> bool:
        """Keep an entry, show it to the callback, and say whether the loop is to stop.

        ``reached`` is whether the solver is done; by default whether the entry's gap is at most ``tol``.
        """
        self.history.append(entry)
        interrupted = self.callback is not None and asks_to_stop(self.callback(dict(entry)))
        if entry["gap"] <= self.tol if reached is None else reached:
            return self.stop(Status.OPTIMAL)
        if interrupted:
            return self.stop(Status.INTERRUPTED)
        why = self._why_over()
        if why is not None:
            return self.stop(why)
        if self.max_iter is not None and entry["iteration"] >= self.max_iter:
            return self.stop(Status.MAX_ITER)
        return False

    def _why_over(self) -> Status | None:
        now = clock()
        took, self._last = now - self._last, now
        return reason_to_stop(0.0 if self.divisible else took)

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
def asks_to_stop(answer: Any) -> bool:
    """Whether what a callback returned stops the fit."""
    try:
        return bool(answer)
    except (TypeError, ValueError) as error:  # an array, pandas' NA
        raise TypeError(
            "callback must return True to stop the fit, or False or None to go on; it returned "
            f"{type(answer).__name__}, which is neither."
        ) from error


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
        return self.callback is not None and asks_to_stop(self.callback(dict(entry)))


class SearchProgress:
    """Writes each point of a search with its score and the best so far unless ``verbose`` is 0.

    The entry is passed on to the user's callback, if there is one; True ends the search, and so does the end
    of the fit.
    """

    def __init__(self, verbose: int, callback: Callable[[dict[str, Any]], bool | None] | None):
        self.verbose, self.callback = verbose, callback
        self.started = time.perf_counter()
        self.evaluation, self.best_score = 0, float("-inf")
        self.ended: Status | None = None  # why the fit is over, if it is

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
        entry = {"evaluation": self.evaluation, "params": dict(params), "score": score}
        entry["best_score"] = self.best_score
        asked = self.callback is not None and asks_to_stop(self.callback(entry))
        self.ended = reason_to_stop()
        return asked or self.ended is not None
