"""Trouble for the cluster of the tests: workers that are killed while they hold rows."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from unittest import mock

from multikernel.rows import dask_rows


def worker_processes(client):
    """The process numbers of the workers."""
    return set(client.run(os.getpid).values())


def lose_a_worker(client):
    """Kill one worker process, with all that it holds; its nanny starts another."""
    process = min(worker_processes(client))
    os.kill(process, signal.SIGKILL)
    return process


@contextmanager
def worker_lost_at_round(client, number):
    """A worker is killed just before the given round (from 1) of the computations on rows inside the block.

    Yields the list of rounds counted so far, with the process that was killed at that round.
    """
    rounds = []
    compute = dask_rows.compute_all

    def counted(nodes):
        rounds.append(lose_a_worker(client) if len(rounds) + 1 == number else None)
        return compute(nodes)

    with mock.patch.object(dask_rows, "compute_all", counted):
        yield rounds
    assert len(rounds) >= number, f"there were only {len(rounds)} rounds: no worker was killed"
