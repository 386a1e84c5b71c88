"""Memory: stacks and factors on disk give the same models, in no more memory than was said."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import pytest

from multikernel import KernelBank, MKLClassifier, MKLOneClass, MKLRegressor, MKLRidge
from multikernel.core.stack.sums import stack_of_rows
from multikernel.kernels import Gaussian
from multikernel.rows import LocalRows
from multikernel.rows.memory import is_on_disk
from multikernel.views.memory import estimate_memory

N = 700
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 8))
SIGNAL = np.sin(2.0 * X[:, 0]) + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=N)
LABELS = np.where(SIGNAL > 0, 1.0, -1.0)
THREE = np.digitize(SIGNAL, [-0.5, 0.5])


def views(m):
    return [(f"view {k}", Gaussian(scale=1.0 + 0.1 * k), [2 * (k % 4), 2 * (k % 4) + 1]) for k in range(m)]


def traced(call):
    """The most memory that a call had at a time, in bytes, and what it returned."""
    call()  # compiles what it needs
    tracemalloc.start()
    try:
        result = call()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


FITS = {
    "hinge": (MKLClassifier(C=10.0), LABELS),
    "squared hinge": (MKLClassifier(loss="squared_hinge"), LABELS),
    "learned C": (MKLClassifier(C="learn", loss="squared_hinge"), LABELS),
    "pairs of classes": (MKLClassifier(multiclass="ovo"), THREE),
    "epsilon": (MKLRegressor(epsilon=0.0, C=10.0), SIGNAL),
    "ridge": (MKLRidge(), SIGNAL),
    "one class": (MKLOneClass(), None),
}


@pytest.mark.parametrize(
    ("name", "dtype"), [*((name, "float32") for name in FITS), ("hinge", "float64"), ("ridge", "float64")]
)
def test_a_fit_needs_no_more_memory_than_was_said(name, dtype):
    model, y = FITS[name]
    model.set_params(kernels=KernelBank(views(8), gram="memmap", dtype=dtype))
    peak, _ = traced(lambda: model.fit(X, y))
    said = model._prediction_bank.memory_
    assert peak <= said.total < said.stack
    if (name, dtype) == ("ridge", "float32"):  # which factors the whole matrix in double precision
        assert peak > 0.8 * said.total


def test_what_is_said_of_twenty_thousand_rows():
    said = estimate_memory(20_000, 5, "float32", "memmap", 6 * 10**9, lean=True)
    assert said.fits and said.total == 20_000**2 * (4 + 8) + 8 * 20_000 * 110
    assert not estimate_memory(20_000, 5, "float32", "memmap", 6 * 10**9).fits
    joint = MKLClassifier(KernelBank(views(2), gram="memmap"), multiclass="joint").fit(X[:60], THREE[:60])
    assert joint.memory_.workspace == 3 * 8 * 60**2


def test_a_bank_makes_its_stack_on_disk_without_a_matrix_in_memory():
    bank = KernelBank([Gaussian(gamma=g) for g in (0.05, 0.1, 0.2)], gram="memmap", dtype="float32")
    peak, Ks = traced(lambda: bank.fit_stack(X))
    assert peak < 6 * N * N, "the products of all rows would take 8 n²"
    np.testing.assert_allclose(Ks, bank.set_params(gram="dense").fit_stack(X), atol=1e-6)


@pytest.mark.parametrize("gram", ["dense", "memmap"])
def test_a_ready_made_stack_on_disk_is_not_copied(gram):
    Ks = KernelBank(views(12), gram="memmap", dtype="float32").fit_stack(X)
    model = MKLClassifier(KernelBank("precomputed", gram=gram))
    peak, _ = traced(lambda: model.fit(np.moveaxis(Ks, 0, 2), LABELS))
    assert peak <= model.memory_.total < model.memory_.stack == Ks.nbytes
    dense = MKLClassifier("precomputed").fit(np.moveaxis(np.array(Ks), 0, 2), LABELS)
    assert model.objective_ == pytest.approx(dense.objective_, rel=2e-3)
    assert model.dual_gap_ <= 1e-3


def test_a_part_of_a_stack_stays_where_the_stack_is():
    Ks = KernelBank(views(2), gram="memmap").fit_stack(X[:50])
    rows = np.array([3, 7, 40])
    part = stack_of_rows(np.asarray(Ks), rows)
    assert is_on_disk(part) and not is_on_disk(stack_of_rows(np.array(Ks), rows))
    np.testing.assert_array_equal(part, np.array(Ks)[:, rows[:, None], rows])


# ---------------------------------------------------------------------- factors
COLUMNS = np.random.default_rng(0).normal(size=(9000, 6))
CLASSES = np.digitize(COLUMNS[:, 0] + COLUMNS[:, 3] ** 2, [0.0, 0.5, 1.0, 1.6, 2.5])
HALVES = [("first", Gaussian(2.0), [0, 1, 2]), ("second", Gaussian(2.0), [3, 4, 5])]
SETTINGS = {"tol": 1e-2, "random_state": 0}


def peak_of(estimator, n, y):
    """Bytes at the height of a fit, once everything is compiled and imported."""
    estimator.fit(COLUMNS[:300], y[:300])
    return traced(lambda: estimator.fit(COLUMNS[:n], y[:n]))[0]


slow = partial(pytest.param, marks=pytest.mark.thorough)


@pytest.mark.parametrize(
    ("estimator", "n"),
    [
        (MKLRidge(KernelBank(HALVES, rank=300), **SETTINGS), 1200),
        slow(MKLClassifier(KernelBank(HALVES, rank=60), **SETTINGS), 9000),  # a part of the rows first
        slow(
            MKLClassifier(
                KernelBank(HALVES, rank=200), multiclass="shared", loss="squared_hinge", **SETTINGS
            ),
            1200,
        ),
        slow(MKLClassifier(KernelBank(HALVES, rank=200), multiclass="shared", **SETTINGS), 1200),
        slow(MKLClassifier(KernelBank(HALVES, rank=150), n_jobs=3, **SETTINGS), 1200),
        slow(MKLRegressor(KernelBank(HALVES, rank=300, dtype="float32"), **SETTINGS), 1200),
    ],
    ids=["ridge", "rows", "smooth", "shared", "jobs", "single"],
)
@pytest.mark.filterwarnings("ignore::multikernel.core.low_rank.LowRankWarning")
def test_a_fit_takes_no_more_than_it_says(estimator, n):
    peak, said = peak_of(estimator, n, CLASSES), estimator.memory_
    assert 0.4 * said.total < peak <= said.total


@pytest.mark.filterwarnings("ignore::multikernel.core.low_rank.LowRankWarning")
def test_factors_on_disk_are_no_memory(monkeypatch):
    estimator = MKLClassifier(KernelBank(HALVES, rank=60), **SETTINGS)
    whole = estimator.fit(COLUMNS, CLASSES > 2).memory_
    monkeypatch.setattr("multikernel.views.memory.available_memory", lambda: whole.total - 1)
    peak, said = peak_of(estimator, 9000, CLASSES > 2), estimator.memory_
    assert said.place == "disk" and said.total == whole.workspace and said.stack == whole.stack
    assert peak <= said.total and "MiB on disk for factors" in str(said)


def test_what_does_not_fit_beside_the_factors_is_refused(monkeypatch):
    monkeypatch.setattr("multikernel.views.memory.available_memory", lambda: 10**5)
    with pytest.raises(
        ValueError, match=r"workspace of a fit on factors does not fit in memory: .*smaller rank"
    ):
        MKLClassifier(KernelBank(HALVES, rank=60), **SETTINGS).fit(COLUMNS[:300], CLASSES[:300] > 2)


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
