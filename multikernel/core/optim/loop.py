"""The bookkeeping of every iterative solver: options, status, result and the record of its iterations.

Recording, stopping and the status are here, once; the steps are the solver's own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

Entry = dict[str, Any]
Callback = Callable[[Entry], bool | None]


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
    callback: Callback | None = None


def patient_steps(n: int) -> int:
    """Steps of one inner solve of n samples; one that is not done goes on, from where it was, at the next."""
    return 10**5 + 10**3 * n


@dataclass(frozen=True, eq=False, kw_only=True)
class Result:
    """What every solver returns, so that none can forget to say that it failed; families extend it.

    Attributes
    ----------
    objective : float, the value that was optimized, at what is returned
    gap : float, the certificate, as the solver defines it; nan where there is none
    n_iter : int
    status : Status
    history : list of dict, one for each iteration; empty where none is kept
    """

    objective: float
    gap: float = np.nan
    n_iter: int
    status: Status
    history: list[Entry] = field(default_factory=list)


class Recorder:
    """The record of a loop: its history, whether it is to stop, and how it ended.

    A loop calls :meth:`note` once in each iteration and leaves when the answer is True; where it leaves for
    another reason, it says so with :meth:`stop`.

    Parameters
    ----------
    tol : float, default=0
        The gap to reach.
    max_iter : int, optional
        The loop ends after this iteration, counted as in the entries. By default the loop counts for itself.
    callback : callable, optional
        Called with a copy of every entry; True ends the loop.

    Attributes
    ----------
    history : list of dict
    status : Status, MAX_ITER until the loop ends for another reason
    ended : bool, whether there was a reason to end

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

        Parameters
        ----------
        entry : dict with "iteration", "gap" and what else the solver tells
        reached : bool, optional
            Whether the solver is done; by default whether the gap is at most ``tol``.
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
