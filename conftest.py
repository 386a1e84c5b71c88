"""Settings of the test run: two tiers of tests, the switch that writes the pages made of source, and dask."""

import os

import pytest
from hypothesis import HealthCheck, settings

# Derandomized: the same examples on every machine, so that a failing run can be repeated.
for profile, max_examples in (("fast", 20), ("all", 200)):
    settings.register_profile(
        profile,
        deadline=None,
        derandomize=True,
        max_examples=max_examples,
        suppress_health_check=[HealthCheck.too_slow],
    )

# Read by SciPy when it is imported: without it scikit-learn leaves out its checks of array input.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Read by the linear algebra of NumPy and SciPy when it is loaded: the matrices of the tests are small, and
# more threads than one only wait for one another.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

N_LEFT = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run both tiers, with long hypothesis runs")
    parser.addoption(
        "--refresh-docs", action="store_true", help="write CONTRIBUTING.md and docs/methods.md anew"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "thorough: runs with --all only (see Tests in CONTRIBUTING.md)")
    settings.load_profile("all" if config.getoption("--all") else "fast")
    config.stash[N_LEFT] = 0


@pytest.hookimpl(trylast=True)  # after -k
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave thorough tests out, unless --all or -m asks for them or the command line names single tests.

    What needs a cluster is thorough.
    """
    for item in items:
        if "_cluster_client" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.thorough)
    if config.getoption("--all") or config.getoption("-m") or any("::" in arg for arg in config.args):
        return
    left = [item for item in items if item.get_closest_marker("thorough")]
    items[:] = [item for item in items if not item.get_closest_marker("thorough")]
    config.stash[N_LEFT] = len(left)
    config.hook.pytest_deselected(items=left)


# With pytest-xdist the workers collect, each of them all tests, and the process with the terminal does not.


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["n_left"] = session.config.stash[N_LEFT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error) -> None:
    output = getattr(node, "workeroutput", {})
    node.config.stash[N_LEFT] = max(node.config.stash[N_LEFT], output.get("n_left", 0))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if n_left := config.stash[N_LEFT]:
        terminalreporter.write_line(f"This was the fast tier: {n_left} tests are left to make test-all.")


# Dask: in the thread of the test, or on a cluster of two worker processes on this machine.


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
