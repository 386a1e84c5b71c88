"""The same fit in one process and on a cluster of two workers on this machine."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from benchmarks.scale.child import timed
from benchmarks.scale.data import N_VIEWS, VIEW_COLUMNS, make_block
from benchmarks.scale.ours import watched
from benchmarks.store import Record
from multikernel.rows import DaskRows


@dataclass(frozen=True)
class Case:
    """The rows in their chunks, and the fit."""

    n_chunks: int
    chunk_rows: int
    rank: int
    loss: str
    dtype: str


def take(case: dict[str, Any], n_workers: int, round_chunks: list[int]) -> Record:
    """Fits on equal rows with equal landmarks, and the time of map-reduces that do nothing."""
    given = Case(**case)
    local = _fit_here(given)
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None) as c,
        Client(c) as client,
    ):
        client.wait_for_workers(n_workers)
        cluster = _fit_there(given)
        overhead = {str(chunks): _empty_round(chunks) for chunks in round_chunks}
    return case | {"local": local, "cluster": cluster, "overhead": overhead, "n_workers": n_workers}


def _fit_here(case: Case) -> Record:
    blocks = [make_block(number, case.chunk_rows) for number in range(case.n_chunks)]
    X = np.concatenate([block.X for block in blocks])
    y = np.concatenate([getattr(block, _target(case)) for block in blocks])
    _fit(X[:500], y[:500], replace(case, rank=10))
    return _fit(X, y, case)


def _fit_there(case: Case) -> Record:
    """Rows are made on the workers; they are there, and the workers warm, before the clock starts."""
    X, y = dask.persist(*_collections(case))
    _fit(*_collections(replace(case, n_chunks=2, chunk_rows=250)), replace(case, rank=10))
    return _fit(X, y, case)


def _collections(case: Case) -> tuple[Any, Any]:
    make = dask.delayed(make_block, pure=True)
    blocks = [make(number, case.chunk_rows) for number in range(case.n_chunks)]
    shape = case.chunk_rows, N_VIEWS * VIEW_COLUMNS
    X = [da.from_delayed(block.X, shape, np.float64) for block in blocks]
    y = [da.from_delayed(getattr(block, _target(case)), shape[:1], np.float64) for block in blocks]
    return da.concatenate(X), da.concatenate(y)


def _target(case: Case) -> str:
    return "values" if case.loss == "squared" else "labels"


def _fit(X: Any, y: Any, case: Case) -> Record:
    model = watched(case.loss, rank=case.rank, dtype=case.dtype)
    times, _ = timed(lambda: model.fit(X, y))
    result = model.result
    return {
        "fit": times,
        "factors": model.factor_times,
        "solver": model.solver_times,
        "objective": float(model.objective_),
        "n_iter": result.n_iter,
        "rounds": result.rounds,
        "bytes_moved": result.bytes_moved,
    }


def _empty_round(n_chunks: int, repeats: int = 5) -> float:
    """Seconds of a map-reduce over so many chunks of one row each: the median."""
    rows = DaskRows(da.zeros((n_chunks, 1), chunks=(1, 1)))
    kept = rows.derive(_one_number)
    spent = []
    for _ in range(repeats):
        begun = time.perf_counter()
        kept.sum(_number_of)
        spent.append(time.perf_counter() - begun)
    return float(np.median(spent))


def _one_number(block: Any) -> tuple[Any, ...]:
    return (np.ones(1),)


def _number_of(block: Any) -> Any:
    return block.parts[0]
