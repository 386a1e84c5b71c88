"""Pieces of work on a cluster: joblib's dask backend, by the address of a scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from joblib import parallel_config

_PATIENCE = 10.0  # seconds, for the scheduler to answer and for a worker to be there


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """All that joblib does inside the block is done by the workers of a dask scheduler.

    Parameters
    ----------
    address : str or None
        For example ``"tcp://10.0.0.7:8786"``; nothing changes if it is None.

    Raises
    ------
    ImportError
        If dask is not installed.
    ConnectionError
        If no scheduler answers there, or it has no workers.

    Examples
    --------
    >>> with on_cluster(None):
    ...     pass
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
