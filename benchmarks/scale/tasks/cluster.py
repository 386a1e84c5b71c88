"""The same fit in one process and on a cluster of two workers on this machine."""

from __future__ import annotations

import time
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from benchmarks.scale.child import timed
from benchmarks.scale.data import N_VIEWS, VIEW_COLUMNS, make_block
from benchmarks.scale.ours import watched
from benchmarks.store import Record
from multikernel.rows import as_rows

_WARM_UP = 2


def take(
    n_chunks: int, chunk_rows: int, rank: int, loss: str, n_workers: int, round_chunks: list[int]
) -> Record:
    """Fits on equal rows with equal landmarks, and the time of map-reduces that do nothing."""
    local = _fit_here(n_chunks, chunk_rows, rank, loss)
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None) as c,
        Client(c) as client,
    ):
        cluster = _fit_there(n_chunks, chunk_rows, rank, loss)
        overhead = {str(chunks): _empty_round(chunks) for chunks in round_chunks}
        versions = len(client.scheduler_info()["workers"])
    return {"local": local, "cluster": cluster, "overhead": overhead, "n_workers": versions}


def _targets(block: Any, loss: str) -> Any:
    return block.values if loss == "squared" else block.labels


def _fit_here(n_chunks: int, chunk_rows: int, rank: int, loss: str) -> Record:
    blocks = [make_block(number, chunk_rows) for number in range(n_chunks)]
    X = np.concatenate([block.X for block in blocks])
    y = np.concatenate([_targets(block, loss) for block in blocks])
    return _fit(X, y, rank, loss)


def _fit_there(n_chunks: int, chunk_rows: int, rank: int, loss: str) -> Record:
    """Rows are made on the workers; they are there, and the workers warm, before the clock starts."""
    X, y = dask.persist(*_collections(n_chunks, chunk_rows, loss))
    _fit(*_collections(_WARM_UP, 500, loss), 10, loss)
    return _fit(X, y, rank, loss)


def _collections(n_chunks: int, chunk_rows: int, loss: str) -> tuple[Any, Any]:
    make = dask.delayed(make_block, pure=True)
    blocks = [make(number, chunk_rows) for number in range(n_chunks)]
    width, name = N_VIEWS * VIEW_COLUMNS, "values" if loss == "squared" else "labels"
    X = [da.from_delayed(block.X, (chunk_rows, width), np.float64) for block in blocks]
    y = [da.from_delayed(getattr(block, name), (chunk_rows,), np.float64) for block in blocks]
    return da.concatenate(X), da.concatenate(y)


def _fit(X: Any, y: Any, rank: int, loss: str) -> Record:
    model = watched(loss, rank=rank)
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
    rows = as_rows(da.zeros((n_chunks, 1), chunks=(1, 1)))
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
