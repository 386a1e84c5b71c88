"""Pieces of work on a cluster: the same results, kept as before; plain words where there is no cluster."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest
from distributed import Client, LocalCluster
from joblib import Parallel, delayed

from multikernel.core import store as cluster
from multikernel.core.store import ResultStore, Work, on_cluster, run_works
from tests.cluster import worker_processes
from tests.core.store.pieces import add_up, double, process_of_inner_work, refuse_late


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)


def test_what_is_missing_is_done_by_the_workers_and_kept(client, tmp_path):
    works = [Work(f"w{x}", "f", double, {"x": x}) for x in range(6)]
    store = ResultStore(tmp_path / "x.jsonl")
    run_works(works[:2], store)
    with on_cluster(client.scheduler.address):
        assert run_works(works, store) == [{"twice": 2 * x} for x in range(6)]
    assert sorted(record["key"] for record in store.read()) == [f"w{x}" for x in range(6)]


def test_arrays_are_sent_once_and_come_as_they_were(client, monkeypatch):
    sent = []
    scatter = Client.scatter

    def counted(self, data, *args, **kwargs):
        sent.append(data)
        return scatter(self, data, *args, **kwargs)

    monkeypatch.setattr(Client, "scatter", counted)
    X, y = np.arange(1000.0), np.ones(1000)
    works = [Work(f"w{k}", "f", add_up, {"data": (X, y), "factor": k, "pair": (k, "a")}) for k in range(4)]
    with on_cluster(client.scheduler.address):
        found = run_works(works, None)
    assert [result["sum"] for result in found] == [k * 500500.0 for k in range(4)]
    assert found[3]["pair"] == [3, "a"]
    assert sum(np.shape(data) == (1000,) for data in sent) == 2


def test_a_piece_that_works_in_parallel_stays_in_its_process(client):
    works = [Work(f"w{k}", "f", process_of_inner_work, {}) for k in range(2)]
    with on_cluster(client.scheduler.address):
        found = run_works(works, None)
    for result in found:
        assert result["inner"] == [result["outer"]] * 3 and result["outer"] in worker_processes(client)


def test_a_piece_that_fails_there_is_named_and_the_rest_is_kept(client, tmp_path):
    store = ResultStore(tmp_path / "x.jsonl")
    works = [Work(f"w{x}", "f", refuse_late, {"x": x}) for x in range(5, 7)]
    with on_cluster(client.scheduler.address), pytest.raises(ValueError, match=r"not 6\.") as caught:
        run_works(works, store)
    assert caught.value.__notes__ == ["(unit w6)"]
    assert [record["key"] for record in store.read()] == ["w5"]


def test_after_the_block_nothing_goes_to_the_cluster(client):
    with on_cluster(client.scheduler.address):
        pass
    assert Parallel(n_jobs=1)([delayed(os.getpid)()]) == [os.getpid()]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://here"])
def test_a_scheduler_that_does_not_answer_is_named(impatient, address):
    with pytest.raises(ConnectionError, match=f"answers at '{address}'.*dask scheduler"), on_cluster(address):
        pass


def test_a_scheduler_without_workers_is_named(impatient, tmp_path):
    options = {"processes": False, "dashboard_address": ":0", "local_directory": str(tmp_path)}
    with (
        LocalCluster(n_workers=0, **options) as empty,
        pytest.raises(ConnectionError, match="has no workers"),
        on_cluster(empty.scheduler_address),
    ):
        pass


def test_dask_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install multikernel\[distributed\]"), on_cluster("tcp://a:1"):
        pass
