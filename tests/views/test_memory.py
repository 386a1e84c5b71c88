"""The memory estimate, the refusal, and the file behind a memory-mapped stack."""

from __future__ import annotations

import gc
import os
import tempfile

import numpy as np
import pytest

from multikernel.kernels import Gaussian, Linear
from multikernel.rows.memory import is_on_disk
from multikernel.views import KernelBank, PrecomputedBank
from multikernel.views.memory import allocate_stack, estimate_memory
from tests.refusals import refused

X = np.random.default_rng(0).normal(size=(30, 3))


def test_the_estimate_counts_stack_and_workspace():
    estimate = KernelBank([Linear()] * 4, memory_limit=10**9).memory_estimate(1000)
    assert (estimate.stack, estimate.workspace) == (4 * 8 * 10**6, int(0.3 * 32e6) + 8 * 10**6)
    assert estimate.total == estimate.stack + estimate.workspace
    assert estimate.fits and estimate.available == 10**9
    half = KernelBank([Linear()] * 4, dtype="float32").memory_estimate(1000)
    assert half.stack == estimate.stack // 2
    assert KernelBank().memory_estimate(10).n_kernels == 6
    assert KernelBank().memory_estimate(10, n_kernels=3).n_kernels == 3
    mapped = KernelBank([Linear()] * 4, gram="memmap").memory_estimate(1000)
    assert mapped.total == mapped.workspace == 3 * 8 * 10**6


def test_the_estimate_reads_like_a_sentence():
    text = str(estimate_memory(6000, 20, limit=8 * 2**30))
    assert text.startswith("5.4 GiB for 20 kernels of 6 000 × 6 000 in float64, 1.9 GiB of workspace")
    assert text.endswith("8.0 GiB available")
    assert " on disk for 1 kernel of 10 × 10 " in str(estimate_memory(10, 1, gram="memmap"))


def test_what_does_not_fit_is_refused_before_it_is_allocated():
    bank = KernelBank([Linear(), Gaussian()], memory_limit=1000)
    with pytest.raises(ValueError) as caught:
        bank.fit_stack(X)
    message = str(caught.value)
    assert "14.1 KiB for 2 kernels of 30 × 30 in float64" in message and "1000 B available" in message
    for way_out in ("float32", "gram='memmap'", "gram='low_rank'"):
        assert way_out in message
    with pytest.raises(ValueError, match="does not fit in memory"):
        bank.fit(X)
    in_wrong_order = np.ascontiguousarray(KernelBank([Linear(), Gaussian()]).fit_transform(X))
    with pytest.raises(ValueError, match="does not fit in memory"):
        PrecomputedBank(memory_limit=1000).fit_stack(in_wrong_order)


def test_a_stack_in_the_right_order_costs_nothing_more():
    stack = KernelBank([Linear(), Gaussian()]).fit_transform(X)
    bank = PrecomputedBank(memory_limit=1000)
    assert np.shares_memory(bank.fit_stack(stack), stack)


def test_a_full_disk_is_refused(monkeypatch):
    class Full:
        free = 100

    monkeypatch.setattr("shutil.disk_usage", lambda path: Full)
    with pytest.raises(ValueError, match="does not fit on the disk of the temporary directory"):
        KernelBank(gram="memmap").fit_stack(X)


def test_a_memory_mapped_stack_equals_the_dense_one_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    Ks = KernelBank(gram="memmap").fit_stack(X)
    assert is_on_disk(Ks) and is_on_disk(Ks[1][2:])
    assert os.name != "posix" or not list(tmp_path.iterdir()), "nothing that a killed process would leave"
    part = Ks[1]
    del Ks
    gc.collect()
    np.testing.assert_array_equal(part, KernelBank().fit_stack(X)[1])


def test_an_empty_stack_needs_no_file():
    assert not is_on_disk(allocate_stack((0, 3, 3), "float64", "memmap"))


test_mistakes_are_named = refused(
    (lambda: KernelBank().memory_estimate(0), "n must be a positive integer; got 0"),
    (lambda: KernelBank().memory_estimate(2.5), TypeError, "n must be a positive integer; got 2.5"),
    (
        lambda: KernelBank(gram="disk").fit_stack(X),
        "gram must be one of 'auto', 'dense', 'memmap'",
    ),
    (lambda: KernelBank(memory_limit="a").fit_stack(X), TypeError, "memory_limit must be a number; got 'a'"),
    (lambda: PrecomputedBank().memory_estimate(3), "needs n_kernels before"),
)
