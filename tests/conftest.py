"""Dask in the tests: in the thread of the test, or on a cluster of two worker processes on this machine."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def _cluster_client(tmp_path_factory):
    """Started for the first test that asks for it."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "memory_limit": "1GiB"}
    folder = str(tmp_path_factory.mktemp("workers"))
    # not the default client: tests that do not ask for the cluster must not compute on it
    with (
        LocalCluster(dashboard_address=":0", local_directory=folder, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client(_cluster_client):
    """The Client of the cluster; dask computes through it during the test."""
    _cluster_client.wait_for_workers(2, timeout=60)  # a test before may have killed one
    with _cluster_client.as_current():
        yield _cluster_client


@pytest.fixture
def dask_in_this_thread():
    """Dask computes in the test's own thread."""
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


def pytest_collection_modifyitems(items):
    """What needs a cluster is left to the thorough tier."""
    for item in items:
        if "_cluster_client" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture
def few_digits(monkeypatch):
    """Of the benchmarks of gates: two views of few digits, so that no data folder is needed."""
    import numpy as np

    from benchmarks.datasets import localized

    rng = np.random.default_rng(0)
    digits = np.arange(60) % 10
    views = {"shape": rng.normal(size=(60, 3)) + digits[:, None], "ink": rng.normal(size=(60, 2))}
    monkeypatch.setattr(localized, "digit_views", lambda: ("multifeat", views, digits))
    localized.digits_task.cache_clear()
    yield views, digits
    localized.digits_task.cache_clear()
