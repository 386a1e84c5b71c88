"""What a fit on factors says of its memory: no less than it takes, wherever the factors are."""

import tracemalloc
from functools import partial

import numpy as np
import pytest

from multikernel import MKLClassifier, MKLRegressor, MKLRidge
from multikernel.kernels import Gaussian
from multikernel.rows import LocalRows

VIEWS = [("first", Gaussian(2.0), [0, 1, 2]), ("second", Gaussian(2.0), [3, 4, 5])]
X = np.random.default_rng(0).normal(size=(9000, 6))
CLASSES = np.digitize(X[:, 0] + X[:, 3] ** 2, [0.0, 0.5, 1.0, 1.6, 2.5])
SETTINGS = {"gram": "low_rank", "tol": 1e-2, "random_state": 0}


def peak_of(estimator, n, y):
    """Bytes at the height of a fit, once everything is compiled and imported."""
    estimator.fit(X[:300], y[:300])
    tracemalloc.start()
    try:
        estimator.fit(X[:n], y[:n])
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


slow = partial(pytest.param, marks=pytest.mark.thorough)


@pytest.mark.parametrize(
    ("estimator", "n"),
    [
        (MKLRidge(VIEWS, rank=300, **SETTINGS), 1200),
        slow(MKLClassifier(VIEWS, rank=60, **SETTINGS), 9000),  # a part of the rows first
        slow(MKLClassifier(VIEWS, rank=200, multiclass="shared", loss="squared_hinge", **SETTINGS), 1200),
        slow(MKLClassifier(VIEWS, rank=200, multiclass="shared", **SETTINGS), 1200),
        slow(MKLClassifier(VIEWS, rank=150, n_jobs=3, **SETTINGS), 1200),
        slow(MKLRegressor(VIEWS, rank=300, dtype="float32", **SETTINGS), 1200),
    ],
    ids=["ridge", "rows", "smooth", "shared", "jobs", "single"],
)
@pytest.mark.filterwarnings("ignore::multikernel.mkl.low_rank.LowRankWarning")
def test_a_fit_takes_no_more_than_it_says(estimator, n):
    peak, said = peak_of(estimator, n, CLASSES), estimator.memory_
    assert 0.4 * said.total < peak <= said.total


@pytest.mark.filterwarnings("ignore::multikernel.mkl.low_rank.LowRankWarning")
def test_factors_on_disk_are_no_memory(monkeypatch):
    estimator = MKLClassifier(VIEWS, rank=60, **SETTINGS)
    whole = estimator.fit(X, CLASSES > 2).memory_
    monkeypatch.setattr("multikernel.views.memory.available_memory", lambda: whole.total - 1)
    peak, said = peak_of(estimator, 9000, CLASSES > 2), estimator.memory_
    assert said.place == "disk" and said.total == whole.workspace and said.stack == whole.stack
    assert peak <= said.total and "MiB on disk for factors" in str(said)


def test_what_does_not_fit_beside_the_factors_is_refused(monkeypatch):
    monkeypatch.setattr("multikernel.views.memory.available_memory", lambda: 10**5)
    with pytest.raises(ValueError, match=r"beside them does not fit in memory: .*smaller rank"):
        MKLClassifier(VIEWS, rank=60, **SETTINGS).fit(X[:300], CLASSES[:300] > 2)


class Counted:
    """A number that counts how many of its kind there are."""

    alive = most = 0

    def __init__(self, value):
        self.value = value
        Counted.alive += 1
        Counted.most = max(Counted.most, Counted.alive)

    def __del__(self):
        Counted.alive -= 1

    def __add__(self, other):
        return Counted(self.value + other.value)


def test_sums_of_blocks_are_not_kept_beside_each_other():
    rows = LocalRows((np.arange(60.0),), block_rows=1)
    rows.n_threads = 1
    assert rows.sum(lambda block: Counted(block.parts[0][0])).value == 60 * 59 / 2
    assert Counted.most <= 6, "one for each level of the tree, and those that are just added"
