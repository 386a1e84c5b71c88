"""One thread for linear algebra: as long as anybody wants it so, and as it was before afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from multikernel import _threads
from multikernel.core import callbacks

ROOT = Path(__file__).parents[1]


class Library:
    """Stands for a library of linear algebra with four threads."""

    threads = 4

    def limit(self, limits):
        before, Library.threads = Library.threads, limits

        class Limit:
            def restore_original_limits(self):
                Library.threads = before

        return Limit()


@pytest.fixture
def holder(monkeypatch):
    monkeypatch.setattr(Library, "threads", 4)
    monkeypatch.setattr(_threads, "_controller", lambda n_modules: Library())
    return _threads._OneThread()


def test_the_last_who_goes_gives_the_threads_back(holder):
    holder.__enter__()
    holder.__enter__()
    holder.__exit__()
    assert Library.threads == 1
    holder.__exit__()
    assert Library.threads == 4


def test_a_library_that_is_loaded_meanwhile_is_held_too(holder, monkeypatch):
    with holder:
        Library.threads = 4
        monkeypatch.setitem(_threads.sys.modules, "a library of linear algebra", None)
        with holder:
            assert Library.threads == 1
    assert Library.threads == 4


FIT_ALL = """
import hashlib, warnings
import numpy as np
from multikernel import CombinedKernelRegressor, KernelBank, MKLClassifier, MKLRidge
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.io.models.coding import encode
from multikernel.kernels import Gaussian, Linear
from multikernel.rules import CompositionalKernelClassifier
from multikernel.spectral import ConformalKernel
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(400, 20))
kernels = [Linear(), Gaussian()]
models = [
    MKLRidge(norm=2.0), CombinedKernelRegressor(), CompositionalKernelClassifier(kernels), ConformalKernel(),
    KernelDiscriminantClassifier(), MKLClassifier(probability=True),
    MKLClassifier(KernelBank(kernels, gram="memmap")),
]
for model in models:
    y = X[:, 0] if "Ri" in repr(model) or "Regr" in repr(model) else (X[:, 0] > 0).astype(int)
    print(type(model).__name__, hashlib.sha256(encode(model.fit(X, y))).hexdigest())
"""


def test_fits_of_few_rows_are_the_same_to_the_last_bit_on_one_and_two_threads():
    found = [
        subprocess.run(
            [sys.executable, "-c", FIT_ALL],
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout.splitlines()
        for threads in ("1", "2")
    ]
    assert found[0] == found[1] and len(found[0]) == 7


def test_threads_of_the_linear_algebra_are_kept_for_many_rows(monkeypatch):
    seen = []
    fit = callbacks.reports_its_task(lambda self, X: seen.append(_threads.one_thread().is_set))
    for n in (callbacks._SMALL, callbacks._SMALL + 1):
        fit(object(), [[0.0]] * n)
    fit(object(), X=3)
    assert seen == [True, False, False]
