"""Runs that can be stopped: pieces of work, each done once and kept on disk, here or on a cluster.

Finished units are kept as one JSON object a line, appended and flushed as each unit ends. A run that is
stopped at any moment loses at most the line that was being written: a last line that is not whole is dropped
on reading, and cut off before the next line is appended. A file that holds anything else than records and the
beginning of one is refused, and nothing in it is changed.

The results do not depend on the number of jobs as long as each piece of work is a function of its arguments
alone: linear algebra has one thread within a piece, and results are put in the order of the works.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from joblib import Parallel, delayed, parallel_config
from rich import progress
from rich.console import Console

from .._threads import one_thread

Record = dict[str, Any]
Result = Mapping[str, Any]
Progress = Callable[[int, int], None]

_BEGINNING = b'{"key": "'  # of each line, whatever its record
_PATIENCE = 10.0  # seconds, for the scheduler of a cluster to answer and for a worker to be there


class Append(Protocol):
    """Writes one record to disk before it returns."""

    def __call__(self, record: Record) -> None: ...


class ResultStore:
    """Records with the fields ``key``, ``fingerprint`` and ``result`` in a JSONL file.

    The file and its folder are made by the first `appending`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Record]:
        """Return the whole records in the order of the file; of a torn last line nothing is left.

        A line that is neither a record nor, as the last, the beginning of one is a ValueError: the file is
        not ours, or has damage which no interrupt explains.
        """
        return self._read()[0]

    @contextmanager
    def appending(self) -> Iterator[Append]:
        """Open the file at its end, after cutting off a torn last line, and give a function that appends."""
        size = self._read()[1]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.truncate(size)
            file.seek(0, os.SEEK_END)

            def append(record: Record) -> None:
                file.write(json.dumps(record, allow_nan=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

            yield append

    def _read(self) -> tuple[list[Record], int]:
        """The whole records, and how many bytes they take from the beginning of the file."""
        if not self.path.exists():
            return [], 0
        *lines, last = self.path.read_bytes().split(b"\n")
        records = [self._parse(line, number) for number, line in enumerate(lines, start=1)]
        if not _is_torn(last):
            self._parse(last, len(lines) + 1)
        return records, sum(len(line) + 1 for line in lines)

    def _parse(self, line: bytes, number: int) -> Record:
        record = _decoded(line)
        if not isinstance(record, dict) or not {"key", "fingerprint", "result"} <= record.keys():
            raise ValueError(
                f"line {number} of {self.path} must be a record with key, fingerprint and result; "
                f"got {line[:60]!r}. If the file is not a store of results, name another: nothing in it was "
                "changed. Remove that line otherwise: its unit will be computed again."
            )
        return record


def _is_torn(line: bytes) -> bool:
    """Whether a line without an end can be the beginning of a record, or of nothing yet."""
    return _BEGINNING.startswith(line[: len(_BEGINNING)]) and _decoded(line) is None


def _decoded(line: bytes) -> Any:
    """What a line says, None if it is not JSON."""
    try:
        return json.loads(line)
    except (UnicodeDecodeError, json.JSONDecodeError):
        return None


# --- pieces of work -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """One piece of work: ``function(**arguments)`` gives a dictionary that JSON can hold."""

    key: str  # names the piece within its run
    # a hash of everything that the result depends on: a stored result counts only if its hash is the same
    fingerprint: str
    function: Callable[..., Result]  # must be found by the workers of other processes
    arguments: Mapping[str, Any]


def run_works(
    works: Sequence[Work], store: ResultStore | None, *, jobs: int = 1, progress: Progress | None = None
) -> list[Result]:
    """Compute the works that are not stored yet, and return the results of all in their order.

    The keys must differ. Each result is put in the store, if there is one, as soon as it is there. ``jobs``
    processes work at the same time; within joblib's ``parallel_config(backend="dask")`` all workers of the
    cluster do. ``progress`` is called with (works done, works in all), first of all with what was stored.

    When the run is stopped (KeyboardInterrupt), every finished piece is on disk. What a piece raised has a
    note that names it; of several it is the first in the order of `works`. No further piece is begun then,
    and those that were begun before are on disk.
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


# --- on a cluster: joblib's dask backend, by the address of a scheduler -------------------------------------


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """All that joblib does inside the block is done by the workers of a dask scheduler.

    ``address`` is, for example, ``"tcp://10.0.0.7:8786"``; nothing changes if it is None. An ImportError says
    that dask is not installed, a ConnectionError that no scheduler answers there, or it has no workers.
    """
    if address is None:
        yield
        return
    with _connected(address) as client, parallel_config(backend="dask", client=client):
        yield


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            f"the scheduler {address!r} needs dask, which is not installed: pip install "
            "multikernel[distributed]"
        ) from error
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no dask scheduler answers at {address!r} within {_PATIENCE:.0f} seconds ({error}). Start one "
            "with `dask scheduler`, and workers with `dask worker ADDRESS`, or correct the address."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            raise ConnectionError(
                f"the dask scheduler at {address!r} has no workers. Start some with `dask worker {address}`."
            ) from error
        yield client


# --- how far a run has come, on standard error: results stay clean when they are piped ----------------------


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """Show a bar until the block ends, and give the function of (works done, works in all) that moves it."""
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(elapsed_when_finished=False),
    )
    console = Console(stderr=True, soft_wrap=True)
    with progress.Progress(*columns, console=console, speed_estimate_period=600.0) as bar:
        task = bar.add_task(label, total=None)

        def move(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield move
