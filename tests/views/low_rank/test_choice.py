"""Which route a fit takes, and what factors occupy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from multikernel.kernels import Gaussian, Linear, Precomputed, Sigmoid
from multikernel.views import KernelBank, View
from multikernel.views.low_rank import LARGEST_DENSE, choose_gram
from multikernel.views.memory import estimate_factors, require_fits
from tests.refusals import refused

PLENTY = 10**13


@pytest.mark.parametrize("gram", ["dense", "low_rank", "memmap"])
def test_what_is_named_is_taken(gram):
    assert choose_gram(gram, 10) == choose_gram(gram, 10**7, [Linear()]) == gram


def test_automatic_choice_by_size_and_memory():
    assert choose_gram("auto", LARGEST_DENSE, limit=PLENTY) == "dense"
    assert choose_gram("auto", LARGEST_DENSE + 1, limit=PLENTY) == "low_rank"
    assert choose_gram("auto", 1000, [Linear()], limit=10**7) == "low_rank"
    assert choose_gram("auto", 1000, [Linear()], limit=2 * 10**7) == "dense"
    assert choose_gram("auto", 1000, [Linear()], "float32", limit=15 * 10**6) == "dense"


def test_automatic_choice_by_views():
    for view in (View("v", Gaussian(), rank=20), View("v", Gaussian(), approximation="cholesky")):
        assert choose_gram("auto", 50, [view, Linear()], limit=PLENTY) == "low_rank"
    for view in (View("v", Sigmoid()), View("v", Linear(), None, "shift"), View("v", Precomputed(np.eye(2)))):
        assert choose_gram("auto", 10**6, [view], limit=PLENTY) == "dense"
    assert choose_gram("auto", 10**6, "precomputed") == "dense"
    assert choose_gram("memmap", 10**6, "precomputed") == "memmap"


def test_a_bank_is_chosen_for_by_its_own_settings():
    assert choose_gram("auto", 50, KernelBank([Linear()], rank=5), limit=PLENTY) == "low_rank"
    assert choose_gram("auto", 50, KernelBank([Linear()]), limit=PLENTY) == "dense"
    assert choose_gram("auto", 10**6, KernelBank("precomputed")) == "dense"
    with pytest.raises(ValueError, match=r"view 'linear': normalize, .*; got 'std'"):
        choose_gram("auto", 50, KernelBank([Linear()], normalize="std"))


test_what_cannot_be_chosen_is_refused = refused(
    (lambda: choose_gram("sparse", 10), "gram must be one of 'auto', 'dense', 'memmap', 'low_rank'"),
    (lambda: choose_gram("low_rank", 10, "precomputed"), "'precomputed' has none. Use gram='dense'"),
    (lambda: choose_gram("auto", 0), "n must be a positive integer"),
)


def test_factors_are_counted():
    estimate = estimate_factors(10**5, 600, 3, "float32", limit=10**9)
    assert estimate.gram == "low_rank" and estimate.stack == 10**5 * 600 * 4 and estimate.n_columns == 600
    block = 2**20 + 16 * (2**18 // 600 + 64)
    numbers = 6 * 600**2 + 4 * 10**5 + block + 2 * 5000 * 200
    assert estimate.workspace == 8 * numbers + estimate.stack // 8
    several = estimate_factors(10**5, 600, 3, "float32", limit=10**9, n_machines=5)
    by_two = estimate_factors(10**5, 600, 3, "float32", limit=10**9, n_threads=2)
    assert by_two.workspace - estimate.workspace == 8 * (2 * 600**2 + block)
    assert several.workspace - estimate.workspace == 8 * 4 * (6 * 600**2 + 16 * (2**18 // 600 + 64))
    assert estimate.total == estimate.stack + estimate.workspace and estimate.fits
    assert "228.9 MiB for factors of 3 kernels, 100 000 × 600, in float32" in str(estimate)
    require_fits(estimate)
    with pytest.raises(ValueError, match=r"factors do not fit in memory: .*dtype='float32'.*smaller rank"):
        require_fits(estimate_factors(10**5, 600, 3, limit=10**8))
    on_disk = replace(estimate_factors(10**5, 600, 3, limit=2 * 10**8), place="disk")
    assert on_disk.total == on_disk.workspace and on_disk.fits and "457.8 MiB on disk for" in str(on_disk)
    require_fits(on_disk)
    nowhere = replace(estimate_factors(10**5, 600, 3, limit=10**7), place="nowhere")
    assert "457.8 MiB, computed anew in each pass, for factors" in str(nowhere)
    with pytest.raises(
        ValueError, match=r"workspace of a fit on factors does not fit in memory: .*smaller rank.*n_jobs"
    ):
        require_fits(nowhere)
