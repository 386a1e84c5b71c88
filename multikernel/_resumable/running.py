"""Runs pieces of work, each once: stop at any time, start again, and nothing is lost or done twice.

The results do not depend on the number of jobs as long as each piece of work is a function of its arguments
alone: linear algebra has one thread within a piece, and results are put in the order of the works.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from joblib import Parallel, delayed, parallel_config

from .._threads import one_thread
from .store import Append, Record, ResultStore

Result = Mapping[str, Any]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Work:
    """One piece of work: ``function(**arguments)`` gives a dictionary that JSON can hold.

    Attributes
    ----------
    key : str
        Names the piece within its run.
    fingerprint : str
        A hash of everything that the result depends on: a stored result counts only if its hash is the same.
    function : callable
        Must be found by the workers of other processes.
    arguments : mapping
    """

    key: str
    fingerprint: str
    function: Callable[..., Result]
    arguments: Mapping[str, Any]


def run_works(
    works: Sequence[Work], store: ResultStore | None, *, jobs: int = 1, progress: Progress | None = None
) -> list[Result]:
    """Compute the works that are not stored yet, and return the results of all.

    Parameters
    ----------
    works : sequence of Work
        Their keys must differ.
    store : ResultStore or None
        Where each result is put as soon as it is there; nowhere if None.
    jobs : int, default=1
        How many processes work at the same time. Within joblib's ``parallel_config(backend="dask")`` all
        workers of the cluster do.
    progress : callable, default=None
        Called with (works done, works in all), first of all with what was stored.

    Returns
    -------
    list of mapping
        In the order of `works`.

    Raises
    ------
    KeyboardInterrupt
        When the run is stopped: every finished piece is on disk by then.
    Exception
        What a piece raised, with a note that names it; the first of several in the order of `works`. No
        further piece is begun, and those that were begun before are on disk.
    """
    fingerprints = {work.key: work.fingerprint for work in works}
    if len(fingerprints) < len(works):
        raise ValueError(f"the keys of units must differ; {len(works)} units have {len(fingerprints)} keys.")
    results = {} if store is None else _stored_results(store, fingerprints)
    missing = [work for work in works if work.key not in results]
    failures: dict[str, _Failure] = {}
    report = progress or (lambda done, total: None)
    report(len(results), len(works))
    with _appending(store) as append:
        # no work is handed out after a failure, but what is under way is waited for, and kept
        for outcome in _computed((work for work in missing if not failures), min(jobs, len(missing)) or 1):
            if isinstance(outcome, _Failure):
                failures[outcome.key] = outcome
                continue
            append(outcome)
            results[outcome["key"]] = outcome["result"]
            report(len(results), len(works))
    for work in missing:
        if work.key in failures:
            raise failures[work.key].restored()
    return [results[work.key] for work in works]


def _stored_results(store: ResultStore, fingerprints: Mapping[str, str]) -> dict[str, Result]:
    return {
        record["key"]: record["result"]
        for record in store.read()
        if fingerprints.get(record["key"]) == record["fingerprint"]
    }


@contextmanager
def _appending(store: ResultStore | None) -> Iterator[Append]:
    if store is None:
        yield lambda record: None
        return
    with store.appending() as append:
        yield append


class _WorkerTraceback(Exception):
    """Where an error of another process arose."""


@dataclass(frozen=True)
class _Failure:
    """What a piece raised, handed over like a result: raised by the pool, it would overtake finished ones."""

    key: str
    error: Exception
    traceback: str

    def restored(self) -> Exception:
        if self.error.__traceback__ is None:  # lost on the way from another process
            self.error.__cause__ = _WorkerTraceback(self.traceback)
        return self.error


def _computed(works: Iterable[Work], jobs: int) -> Iterator[Record | _Failure]:
    """Give the outcomes of the works as they are finished, in any order, no more than `jobs` under way."""
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1)
    outcomes: Iterator[Record | _Failure] = pool(_call(work) for work in works)
    return outcomes


def _call(work: Work) -> Any:
    """The call of a piece, every array an argument of its own: joblib sends such ones to a cluster once."""
    values: list[Any] = []
    shape: dict[str, int | None] = {}
    for name, value in work.arguments.items():
        shape[name] = len(value) if type(value) is tuple else None
        values.extend(value if type(value) is tuple else (value,))
    return delayed(_compute)(replace(work, arguments=shape), os.getpid(), *values)


def _put_together(shape: Mapping[str, int | None], values: Sequence[Any]) -> dict[str, Any]:
    """The arguments, of which the shape says how many values the tuples among them have."""
    left = iter(values)
    return {name: next(left) if size is None else tuple(islice(left, size)) for name, size in shape.items()}


def _compute(work: Work, parent: int, *values: Any) -> Record | _Failure:
    start = time.perf_counter()
    try:
        with one_thread(), _alone(parent):
            result = work.function(**_put_together(work.arguments, values))
    except Exception as error:
        error.add_note(f"(unit {work.key})")
        return _Failure(work.key, error, traceback.format_exc())
    seconds = round(time.perf_counter() - start, 3)
    return {"key": work.key, "fingerprint": work.fingerprint, "seconds": seconds, "result": dict(result)}


@contextmanager
def _alone(parent: int) -> Iterator[None]:
    """In a worker, Ctrl-C is left to the parent, and parallel work of a piece stays in its process."""
    if os.getpid() == parent:
        yield
        return
    if threading.current_thread() is threading.main_thread():
        # Ctrl-C reaches every process of the terminal: the parent alone answers it, and ends the workers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with parallel_config(backend="threading"):  # a worker of dask would send it to the cluster
        yield
