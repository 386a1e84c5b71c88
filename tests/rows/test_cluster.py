"""Rows on a cluster of worker processes: the same result, lost workers and large data included."""

from __future__ import annotations

import os
import signal

import dask
import dask.array as da
import numpy as np
import pytest
from dask import delayed
from distributed import Client, LocalCluster

from multikernel import MKLRidge
from multikernel._validation import check_numeric_table
from multikernel.rows import DaskRows, LocalRows, cluster_memory, dask_rows, fits_cluster
from tests.cluster import worker_lost_at_round, worker_processes

X = np.random.default_rng(0).normal(size=(200, 6))
Y = np.arange(200.0)


def products(block, scale):
    return scale * block.parts[0].T @ block.parts[0]


def squares(block, shift):
    return block.parts[0] ** 2 + shift, block.parts[1]


def process(block):
    return os.getpid()


def test_sums_on_a_cluster_are_those_of_this_process_to_the_last_bit(client):
    there = DaskRows(da.from_array(X, chunks=(10, 6)), Y).derive(squares, 0.5)
    here = LocalRows((X, Y), block_rows=10).derive(squares, 0.5)
    first = there.sum(products, 3.0)
    assert np.array_equal(first, here.sum(products, 3.0))
    assert np.array_equal(first, there.sum(products, 3.0))
    assert set(there.map(process)) <= worker_processes(client), "functions run where the rows live"
    assert np.array_equal(there.take([199, 0, 55])[0], here.take([199, 0, 55])[0])


class CountedOnTheWay:
    """An argument that counts how often this process sends it; the scheduler runs in this process too."""

    sent = 0

    def __reduce__(self):
        CountedOnTheWay.sent += 1
        return (CountedOnTheWay, ())


def shifted(block, argument):
    return (block.parts[0] + (2.0 if isinstance(argument, CountedOnTheWay) else np.nan),)


@pytest.mark.parametrize("keep", [True, False])
def test_an_argument_is_sent_once_for_all_blocks(client, keep):
    rows = DaskRows(da.from_array(X, chunks=(10, 6)), Y)
    CountedOnTheWay.sent = 0
    derived = rows.derive(shifted, CountedOnTheWay(), keep=keep)
    for _ in range(3):
        np.testing.assert_allclose(derived.sum(products, 1.0), (X + 2).T @ (X + 2))
    assert 1 <= CountedOnTheWay.sent <= 4, "to the scheduler, and to a worker (again if that is busy)"


def test_large_arguments_need_no_warning(client):
    rows = DaskRows(da.from_array(X, chunks=(100, 6)), Y)
    large = np.ones(2 * 10**6)  # 16 MB: warnings are errors here
    assert rows.sum(lambda block, weights: weights.sum(), large) == 2 * large.size
    assert rows.derive(squares, large[:6], keep=False).n_rows == 200


def test_a_worker_killed_between_rounds_changes_nothing(client):
    model = LocalRows((X, Y), block_rows=10).derive(squares, 0.5)
    with worker_lost_at_round(client, 3) as rounds:
        kept = DaskRows(da.from_array(X, chunks=(10, 6)), Y).derive(squares, 0.5)
        sums = [kept.sum(products, scale) for scale in (1.0, 2.0, 3.0, 4.0)]
    assert rounds[2] is not None and rounds[2] not in worker_processes(client)
    for scale, total in enumerate(sums, start=1):
        assert np.array_equal(total, model.sum(products, float(scale)))


def die_once(block, flag):
    """The worker of block 7 is killed in the middle of the round, the first time."""
    if block.number == 7:
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return products(block, 1.0)


def test_a_worker_killed_within_a_round_changes_nothing(client, tmp_path):
    rows = DaskRows(da.from_array(X, chunks=(10, 6)), Y).derive(squares, 0.5, keep=False)
    total = rows.sum(die_once, str(tmp_path / "killed"))
    assert (tmp_path / "killed").exists()
    assert np.array_equal(total, LocalRows((X, Y), block_rows=10).derive(squares, 0.5).sum(products, 1.0))


def test_an_error_on_a_worker_names_chunk_and_row(client):
    bad = X.copy()
    bad[123, 4] = np.inf
    with pytest.raises(
        ValueError, match=r"^chunk 12 \(rows 120 to 129\): X holds infinity at row 123, column 4"
    ):
        DaskRows(da.from_array(bad, chunks=(10, 6))).map(lambda block: check_numeric_table(block.parts[0]))
    with pytest.raises(ZeroDivisionError, match=r"^chunk 19 \(rows 190 to 199\): "):
        DaskRows(da.from_array(X, chunks=(10, 6))).derive(
            lambda block: (block.parts[0] * (1 // (190 - block.start)),)
        )


def test_what_the_workers_can_keep(client):
    room = cluster_memory()
    assert 0 < room < 2 * 0.6 * 2**30
    assert fits_cluster(room // 2) and not fits_cluster(2 * 2**30)
    with dask.config.set(scheduler="threads"):
        assert cluster_memory() != room


def filled(number, n_rows):
    return np.full((n_rows, 500), float(number))


@pytest.mark.thorough
def test_more_data_than_memory(tmp_path):
    limit, n_chunks, n_rows = 400 * 2**20, 40, 4000
    assert n_chunks * n_rows * 500 * 8 > 1.5 * limit
    options = {"n_workers": 1, "threads_per_worker": 1, "memory_limit": limit}
    with (
        LocalCluster(dashboard_address=":0", local_directory=str(tmp_path), **options) as cluster,
        Client(cluster, set_as_default=False) as client,
        client.as_current(),
    ):
        before = worker_processes(client)
        chunks = [
            da.from_delayed(delayed(filled)(number, n_rows), (n_rows, 500), dtype=float)
            for number in range(n_chunks)
        ]
        rows = DaskRows(da.concatenate(chunks)).derive(doubled, keep=False)
        assert rows.sum(first_column) == 2 * n_rows * sum(range(n_chunks))
        assert rows.take([n_rows])[0][0, 0] == 2.0
        assert sum(client.nbytes(summary=False).values()) < limit / 4, "of the rows nothing is kept"
        assert worker_processes(client) == before, "the worker was never killed for its memory"


def doubled(block):
    return (2.0 * block.parts[0],)


def first_column(block):
    return float(block.parts[0][:, 0].sum())


@pytest.fixture
def no_workers(monkeypatch):
    """A cluster without workers."""
    monkeypatch.setattr(dask_rows, "_PATIENCE", 0.5)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster, Client(cluster):
        yield


def test_a_cluster_without_workers_is_refused_with_the_remedy(no_workers):
    table = da.from_array(X, chunks=(50, 6))
    for call in (lambda: DaskRows(table), lambda: MKLRidge().fit(table, Y)):
        with pytest.raises(
            ConnectionError, match=r"has no workers, .* Start some with `dask worker inproc://"
        ):
            call()


def test_the_patience_with_workers_is_less_than_a_minute():
    assert dask_rows._PATIENCE <= 45
