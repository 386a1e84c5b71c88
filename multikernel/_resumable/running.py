"""Runs pieces of work, each once: stop at any time, start again, and nothing is lost or done twice.

The results do not depend on the number of jobs as long as each piece of work is a function of its arguments
alone: linear algebra has one thread within a piece, and results are put in the order of the works.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed

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
        How many processes work at the same time.
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
    """
    fingerprints = {work.key: work.fingerprint for work in works}
    if len(fingerprints) < len(works):
        raise ValueError(f"the keys of units must differ; {len(works)} units have {len(fingerprints)} keys.")
    results = {} if store is None else _stored_results(store, fingerprints)
    missing = [work for work in works if work.key not in results]
    report = progress or (lambda done, total: None)
    report(len(results), len(works))
    with _appending(store) as append:
        for record in _computed(missing, jobs):
            append(record)
            results[record["key"]] = record["result"]
            report(len(results), len(works))
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


def _computed(works: Sequence[Work], jobs: int) -> Any:
    """Give the records of the works as they are finished, in any order."""
    pool = Parallel(
        n_jobs=min(jobs, len(works)) or 1, return_as="generator_unordered", pre_dispatch="2*n_jobs"
    )
    return pool(delayed(_compute)(work, os.getpid()) for work in works)


def _compute(work: Work, parent: int) -> Record:
    if os.getpid() != parent:
        # Ctrl-C reaches every process of the terminal: the parent alone answers it, and ends the workers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    start = time.perf_counter()
    try:
        with one_thread():
            result = work.function(**work.arguments)
    except Exception as error:
        error.add_note(f"(unit {work.key})")
        raise
    seconds = round(time.perf_counter() - start, 3)
    return {"key": work.key, "fingerprint": work.fingerprint, "seconds": seconds, "result": dict(result)}
