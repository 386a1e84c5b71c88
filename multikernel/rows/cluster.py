"""Dask and the user's cluster: whether there is one, and what its workers can hold."""

from __future__ import annotations

import sys
from typing import Any

from multikernel.rows.memory import available_memory


def import_dask() -> Any:
    """The dask package, or an error that says how to install it.

    Examples
    --------
    >>> import_dask().__name__
    'dask'
    """
    try:
        import dask
    except ImportError as error:
        raise ImportError(
            "rows in dask collections need dask, which is not installed: pip install multikernel[distributed]"
        ) from error
    return dask


def is_dask(table: Any) -> bool:
    """Whether a table is a dask collection (without importing dask: who has one has imported it).

    Examples
    --------
    >>> import dask.array
    >>> is_dask(dask.array.ones((4, 2))), is_dask([[1.0, 1.0]])
    (True, False)
    """
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(table))


def cluster_memory() -> int | None:
    """Bytes that the workers of the current ``distributed.Client`` can keep before they write to disk.

    Without a Client: what is available in this process. None where a worker or the system states no limit.

    Examples
    --------
    >>> free = cluster_memory()
    >>> free is None or free > 0
    True
    """
    client = _current_client()
    if client is None:
        return available_memory()
    share = import_dask().config.get("distributed.worker.memory.target", 0.6) or 1.0
    room = 0
    for worker in client.scheduler_info(n_workers=-1)["workers"].values():
        if not worker["memory_limit"]:
            return None
        used = worker.get("metrics", {}).get("memory", 0)
        room += max(0, int(share * worker["memory_limit"]) - used)
    return room


def fits_cluster(n_bytes: int) -> bool:
    """Whether that many bytes can be kept on the workers, or in this process if there is no Client.

    Examples
    --------
    >>> fits_cluster(1)
    True
    """
    room = cluster_memory()
    return room is None or n_bytes <= room


def _current_client() -> Any | None:
    """The Client that dask would use now, if it would use one."""
    if "distributed" not in sys.modules:
        return None
    client = getattr(import_dask().base.get_scheduler(), "__self__", None)
    return client if hasattr(client, "scheduler_info") else None
