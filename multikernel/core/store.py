"""Runs that can be stopped: pieces of work, each done once and kept on disk, here or on a cluster.

Finished units are kept as one JSON object a line, appended and flushed as each unit ends. A run that is
stopped at any moment loses at most the line that was being written: a last line that is not whole is dropped
on reading, and cut off before the next line is appended. A file that holds anything else than records and the
beginning of one is refused, and nothing in it is changed.

Several processes may run on one store: a line is written under a lock, and a unit is computed by the process
that has claimed it, while the others go on with the next one and read its result from the file. Claims are
locks on single bytes far beyond the end of the file, which the operating system releases when their process
ends, however it ends. Where there are no such locks (Windows, some network disks), nothing is claimed, and
processes may do the same unit twice.

The results do not depend on the number of jobs as long as each piece of work is a function of its arguments
alone: linear algebra has one thread within a piece, and results are put in the order of the works.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from html import escape
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from rich import progress
from rich.console import Console

from .._files import lock_byte, plain_os_errors, unlock_byte
from .._threads import one_thread

Record = dict[str, Any]
Result = Mapping[str, Any]
Progress = Callable[[int, int], None]

_BEGINNING = b'{"key": "'  # of each line, whatever its record
_PAUSE = 0.2  # seconds, before looking again whether another process has finished
_PATIENCE = 10.0  # seconds, for the scheduler of a cluster to answer and for a worker to be there


class ResultStore:
    """Records with the fields ``key``, ``fingerprint`` and ``result`` in a JSONL file.

    The file and its folder are made by the first `opened`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Record]:
        """Return the whole records in the order of the file; of a torn last line nothing is left.

        A line that is neither a record nor, as the last, the beginning of one is a ValueError: the file is
        not ours, or has damage which no interrupt explains.
        """
        return self._parsed(self.path.read_bytes())[0] if self.path.exists() else []

    @contextmanager
    def opened(self) -> Iterator[OpenStore]:
        """Open the file for reading, appending and claiming; a torn last line is cut off."""
        with plain_os_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("a+b", buffering=0)
        with file:
            yield OpenStore(self, file)

    def _parsed(self, content: bytes, before: int = 0) -> tuple[list[Record], int]:
        """The whole records after so many lines, and how many bytes they take."""
        *lines, last = content.split(b"\n")
        records = [self._parse(line, number) for number, line in enumerate(lines, start=before + 1)]
        if not _is_torn(last):
            self._parse(last, before + len(lines) + 1)
        return records, len(content) - len(last)

    def _parse(self, line: bytes, number: int) -> Record:
        record = _decoded(line)
        if not isinstance(record, dict) or not {"key", "fingerprint", "result"} <= record.keys():
            raise ValueError(
                f"line {number} of {self.path} must be a record with key, fingerprint and result; "
                f"got {line[:60]!r}. If the file is not a store of results, name another: nothing in it was "
                "changed. Remove that line otherwise: its unit will be computed again."
            )
        return record


class OpenStore:
    """A store that is open, in this process and maybe in others at the same time."""

    def __init__(self, store: ResultStore, file: FileIO) -> None:
        self._store, self._file = store, file
        self._n_bytes = self._n_lines = 0  # what was read
        self._new: list[Record] = []
        with self._writing():
            pass

    def append(self, record: Record) -> None:
        """Write one record to disk before this returns."""
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        with self._writing(), plain_os_errors(self._store.path):
            try:
                _write_all(self._file, line)
                os.fsync(self._file.fileno())
            except OSError:  # a full disk takes a part of the line
                self._file.truncate(self._n_bytes)
                raise

    def new_records(self) -> list[Record]:
        """Return the records that were appended since the last call, by this or any other process."""
        with self._writing():
            found, self._new = self._new, []
        return found

    def claim(self, work: Work) -> bool:
        """Whether this process computes the work: no other one does, or can until it is released."""
        return lock_byte(self._file, _claimed_byte(work), wait=False)

    def release(self, work: Work) -> None:
        """Let other processes have the work, if it has no result."""
        unlock_byte(self._file, _claimed_byte(work))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Nobody else writes inside the block; all that was written is read, and a torn line cut off."""
        with _ONE_THREAD_WRITES:
            lock_byte(self._file, _WRITING, wait=True)
            try:
                self._catch_up()
                yield
            finally:
                unlock_byte(self._file, _WRITING)

    def _catch_up(self) -> None:
        self._file.seek(self._n_bytes)
        content = self._file.readall()
        records, size = self._store._parsed(content, self._n_lines)
        if size < len(content):
            self._file.truncate(self._n_bytes + size)
        self._new += records
        self._n_bytes, self._n_lines = self._n_bytes + size, self._n_lines + len(records)


def _write_all(file: FileIO, line: bytes) -> None:
    while line:
        line = line[file.write(line) or 0 :]


# POSIX locks belong to a process: threads exclude each other by a lock of Python.
_ONE_THREAD_WRITES = threading.Lock()
_WRITING = 1 << 56  # the byte that stands for the right to write; claims are below


def _claimed_byte(work: Work) -> int:
    """The byte that stands for a unit, by what is computed."""
    digest = hashlib.sha256(f"{work.key}\0{work.fingerprint}".encode()).digest()
    return (1 << 55) + int.from_bytes(digest[:6], "big")


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
    run = _Run(works, progress)
    with nullcontext() if store is None else store.opened() as file:
        run.take_stored(file)
        run.report()
        while run.missing and not run.failures:
            n_before = len(run.results)
            # no work is handed out after a failure, but what is under way is waited for, and kept
            for outcome in _computed(run.claimed(file), min(jobs, len(run.missing))):
                run.keep(outcome, file)
            run.take_stored(file)
            if run.missing and len(run.results) == n_before and not run.failures:
                time.sleep(_PAUSE)  # other processes are at the rest
    return run.in_order()


class _Run:
    """What is done of the works, what is missing, and what failed."""

    def __init__(self, works: Sequence[Work], progress: Progress | None) -> None:
        self.works = {work.key: work for work in works}
        self.results: dict[str, Result] = {}
        self.failures: dict[str, _Failure] = {}
        self._progress = progress or (lambda done, total: None)

    @property
    def missing(self) -> list[Work]:
        return [work for key, work in self.works.items() if key not in self.results]

    def report(self) -> None:
        self._progress(len(self.results), len(self.works))

    def take_stored(self, file: OpenStore | None) -> None:
        """Take the results that are in the store, of this process and of others."""
        for record in [] if file is None else file.new_records():
            work = self.works.get(record["key"])
            if work is not None and work.fingerprint == record["fingerprint"]:
                self.results[work.key] = record["result"]

    def claimed(self, file: OpenStore | None) -> Iterator[Work]:
        """The missing works, each as it is begun, without those that other processes are computing."""
        for work in self.missing:
            if self.failures:
                return
            if file is not None:
                if not file.claim(work):
                    continue
                self.take_stored(file)  # it may have been finished just before
                if work.key in self.results:
                    file.release(work)
                    continue
            yield work

    def keep(self, outcome: Record | _Failure, file: OpenStore | None) -> None:
        """Put an outcome in the store, and let other processes know."""
        if isinstance(outcome, _Failure):
            self.failures[outcome.key] = outcome
        else:
            if file is not None:
                file.append(outcome)
            self.results[outcome["key"]] = outcome["result"]
            self.report()
        if file is not None:
            file.release(self.works[outcome.key if isinstance(outcome, _Failure) else outcome["key"]])

    def in_order(self) -> list[Result]:
        """The results in the order of the works; the first failure in that order is raised."""
        for key in self.works:
            if key in self.failures:
                raise self.failures[key].restored()
        return [self.results[key] for key in self.works]


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
    start, cpu_start = time.perf_counter(), time.process_time()
    try:
        with one_thread(), _alone(parent):
            result = work.function(**_put_together(work.arguments, values))
    except Exception as error:
        error.add_note(f"(unit {work.key})")
        return _Failure(work.key, error, traceback.format_exc())
    times = {
        "seconds": round(time.perf_counter() - start, 3),
        "cpu_seconds": round(time.process_time() - cpu_start, 3),
    }
    return {"key": work.key, "fingerprint": work.fingerprint, **times, "result": dict(result)}


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
def shown_progress(label: str, asked: bool | Progress | None) -> Iterator[Progress | None]:
    """Tell of works done: by a bar from the first one on if True, by nothing if False, or as is given."""
    if not asked or callable(asked):
        yield asked or None
        return
    with ExitStack() as bars:
        moves: list[Progress] = []

        def move(done: int, total: int) -> None:
            if not moves:  # what is refused before anything was done shows no bar
                moves.append(bars.enter_context(progress_bar(label)))
            moves[0](done, total)

        yield move


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """Show a bar until the block ends, and give the function of (works done, works in all) that moves it.

    In a notebook it is an element of the page, else a line on standard error.
    """
    shell = sys.modules.get("IPython")
    if shell is not None and hasattr(shell.get_ipython(), "kernel"):
        yield _notebook_bar(label, shell.display)
        return
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


def _notebook_bar(label: str, display: Any) -> Progress:
    """A bar that is drawn anew where it stands, with the time that has passed and what may be left."""
    start = time.perf_counter()
    shown = display.display(display.HTML(escape(label)), display_id=True)

    def move(done: int, total: int) -> None:
        passed = time.perf_counter() - start
        left = f", about {passed * (total - done) / done:.0f} s left" if 0 < done < total else ""
        text = f"{escape(label)}: {done} of {total}, {passed:.0f} s{left}"
        bar = f'<progress value="{done}" max="{total}" aria-hidden="true"></progress>'
        shown.update(display.HTML(f'<div role="status">{bar} {text}</div>'))

    return move
