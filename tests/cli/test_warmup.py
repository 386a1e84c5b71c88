"""``multikernel warmup``: what it fits, what it prints, and that later processes compile nothing."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.utils.validation import check_is_fitted

from multikernel.cli import warmup
from multikernel.registry import list_methods
from tests.cli.running import call

LATER = """
import numpy as np
from numba.core import event
from multikernel import MKLClassifier

class Refused(event.Listener):
    def on_start(self, event):
        raise AssertionError(event.data["dispatcher"])
    def on_end(self, event):
        pass

event.register("numba:compile", Refused())
X = np.random.default_rng(1).normal(size=(330, 5))
MKLClassifier().fit(X, X[:, 0] > 0.2 * X[:, 1])
"""


def test_each_fit_is_listed_with_its_seconds(monkeypatch):
    fitted = []
    monkeypatch.setattr(warmup, "fits", lambda all: {name: lambda n=name: fitted.append(n) for name in "ab"})
    result = call("warmup")
    lines = result.stdout.splitlines()
    assert fitted == ["a", "b"]
    assert "Compiling" in result.stderr and "2/2" in result.stderr
    assert [line.split() for line in lines] == [
        ["0.0", "s", "a"],
        ["0.0", "s", "b"],
        ["0.0", "s", "in", "all"],
    ]


def test_all_has_every_estimator_of_the_registry():
    names = " ".join(warmup.fits(everything=True))
    for method in list_methods():
        if method.learner is None and method.name not in ("mkl", "multiclass", "ridge"):
            assert all(f"{method.name}, {task}" in names for task in method.tasks)
    assert len(warmup.fits()) < len(warmup.fits(everything=True))


def test_after_the_usual_fits_a_process_compiles_nothing():
    """The cache of the test run is the one that is filled."""
    for fit in warmup.fits().values():
        fit()
    subprocess.run([sys.executable, "-c", LATER], check=True, env=os.environ)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")  # the data are made up
@pytest.mark.parametrize("name", warmup.fits(everything=True))
def test_all_fits_run(name):
    made = warmup.fits(everything=True)[name]()
    if hasattr(made, "fit"):
        check_is_fitted(made)
    else:  # the Gram matrix of a kernel
        assert made.shape[0] == made.shape[1] and np.isfinite(made).all()
