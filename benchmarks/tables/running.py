"""The order of the work, and the processes that do it: one thread each, and a limit of time for each fit."""

from __future__ import annotations

import gc
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.running import say
from benchmarks.store import Record, Store
from benchmarks.tables.contestants import contestants_of, measure, measure_rows
from benchmarks.tables.sets import (
    CLASSIFICATION,
    ENTRIES,
    FOLDS,
    NOISE,
    REGRESSION,
    VIEWS,
    DataSet,
    Fold,
    load,
    make_views,
)
from multikernel.kernels import Gaussian, Linear

MINUTES = 60.0  # of a fit


@dataclass(frozen=True)
class Work:
    """One row to measure: `name` is the set, with the number of noise views in a study of noise."""

    part: str
    name: str
    repetition: int
    fold: int
    contestant: str

    @property
    def key(self) -> str:
        """Its name in the store."""
        return f"{self.part}/{self.name}/{self.repetition}/{self.fold}/{self.contestant}"

    @property
    def fields(self) -> Record:
        """What a row says of it."""
        return {
            "part": self.part,
            "set": self.name,
            "repetition": self.repetition,
            "fold": self.fold,
            "contestant": self.contestant,
        }


def plan(
    parts: Sequence[str], repeats: int, only: Sequence[str] = (), contestants: Sequence[str] = ()
) -> list[Work]:
    """Everything that is asked for, breadth first: all sets of a repetition before the next one."""
    entries = [
        entry for entry in ENTRIES.values() if entry.part in parts and (not only or entry.name in only)
    ]
    return [
        Work(entry.part, entry.name, repetition, fold, name)
        for repetition in range(repeats)
        for entry in entries
        for fold in range(FOLDS)
        for name in contestants_of(entry.part)
        if not contestants or name in contestants
    ]


def perform(work: Work) -> Record:
    """Measure a row of the study, in this process."""
    contestant = contestants_of(work.part)[work.contestant]
    if work.part == NOISE:
        from benchmarks.tables.noise import load_noisy

        data = load_noisy(work.name)
    else:
        data = load(work.name)
    return measure(data, work.part, work.repetition, work.fold, contestant)


def warm_up() -> None:
    """Fit ours on small problems of each kind, so that compiled loops are loaded before time is taken."""
    X = np.random.default_rng(0).normal(size=(90, 4))
    two, three, values = (X[:, 0] > 0).astype(int), np.digitize(X[:, 0], [-0.5, 0.5]), X[:, 0] + X[:, 1] ** 2
    tables = {"first": X[:, :2], "second": X[:, 2:]}
    kinds = [(CLASSIFICATION, X, two), (CLASSIFICATION, X, three), (REGRESSION, X, values)]
    kinds += [(VIEWS, tables, two), (VIEWS, tables, three)]
    for part, data, y in kinds:
        views = (
            make_views(tables, {"linear": Linear(), "Gaussian": Gaussian()}, True) if part == VIEWS else ()
        )
        problem = DataSet("tiny", data, y, *views)
        for contestant in contestants_of(part).values():
            if contestant.is_ours:
                measure_rows(problem, Fold(np.arange(90), np.arange(90), 0), contestant, part == REGRESSION)


# ---------------------------------------------------------------------- processes
def _serve(connection: Any, perform: Callable[[Work], Record], warm: bool) -> None:
    """Answer work with records, until there is none."""
    if warm:
        warm_up()
    gc.collect()
    gc.freeze()
    connection.send("ready")
    while (work := connection.recv()) is not None:
        connection.send(perform(work))


class Worker:
    """A process that measures one row after the other; a new one takes its place where it was ended."""

    def __init__(self, perform: Callable[[Work], Record], minutes: float = MINUTES):
        self.perform, self.seconds = perform, 60.0 * minutes
        self._process: Any = None
        self._connection: Any = None

    def measure(self, work: Work) -> Record:
        """The record of a row; a failure where the process took too long, or ended."""
        try:
            if self._process is None:
                self.start()
            self._connection.send(work)
            if self._connection.poll(self.seconds):
                return dict(self._connection.recv())
            self.close()
            return {"failed": f"took more than {self.seconds:g} s", "wall": self.seconds}
        except (EOFError, OSError):
            self._process.join(10.0)
            code = self._process.exitcode
            self.close()
            return {"failed": f"the process ended with exit code {code}", "wall": 0.0}

    def start(self, warm: bool = True) -> None:
        """Start the process, and wait until it is ready."""
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self.perform, warm), daemon=True)
        self._process.start()
        theirs.close()
        self._connection.recv()

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None


def run(
    works: Iterable[Work],
    store: Store,
    about: Record,
    *,
    perform: Callable[[Work], Record] = perform,
    jobs: int = 1,
    minutes: float | None = None,
    limit: float = MINUTES,
) -> int:
    """Measure the works in their order, each as soon as a process is free; how many were measured.

    `about` is in every row, such as the commit. After `minutes` no work is begun.
    """
    end = time.monotonic() + 60.0 * minutes if minutes is not None else float("inf")
    waiting, lock, stopped, n_done = iter(works), threading.Lock(), threading.Event(), 0
    workers = [Worker(perform, limit) for _ in range(jobs)]

    def serve(worker: Worker) -> None:
        nonlocal n_done
        while True:
            with lock:
                work = next(waiting, None) if time.monotonic() < end else None
            if work is None:
                return
            record = worker.measure(work)
            if stopped.is_set():  # what was being fitted is no failure
                return
            with lock:
                store.write(work.key, work.fields | about | record)
                n_done += 1
                say(line_of(work, record))

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for future in [pool.submit(serve, worker) for worker in workers]:
                future.result()
        finally:
            stopped.set()
            for worker in workers:
                worker.close()
    return n_done


def line_of(work: Work, record: Record) -> str:
    """A row in one line."""
    if "failed" in record:
        return f"{work.key}: FAILED: {record['failed']}"
    score = record.get("accuracy", record.get("r2", float("nan")))
    return f"{work.key}: {score:.4f}, {record['seconds']:.2f} s (all in all {record['wall']:.1f} s)"
