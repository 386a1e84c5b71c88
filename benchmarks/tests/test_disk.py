"""The benchmark of dense fits from disk: its judge, and the limit that it puts on memory."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.scale import limits
from benchmarks.scale.dense_objective import DenseProblem, judge_dense
from benchmarks.scale.tasks import disk
from multikernel import MKLClassifier, MKLRegressor
from multikernel.kernels import Gaussian
from tests.raw import raw

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
VIEWS = raw([("a", Gaussian(gamma=0.3), [0, 1]), ("b", Gaussian(gamma=0.3), [2, 3])])
SIGNAL = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 2] + 0.3 * rng.normal(size=300)


def duals(model):
    beta = np.zeros(300)
    beta[model.support_] = model.dual_coef_[0]
    return beta


@pytest.mark.parametrize("loss", ["hinge", "epsilon"])
def test_the_judge_agrees_with_the_certificate_and_sees_worse_answers(loss):
    y = np.sign(SIGNAL) if loss == "hinge" else SIGNAL
    options = {"C": 2.0, "tol": 1e-6}
    model = (
        MKLClassifier(VIEWS, **options) if loss == "hinge" else MKLRegressor(VIEWS, epsilon=0.1, **options)
    )
    model.fit(X, y)
    problem = DenseProblem(X, [[0, 1], [2, 3]], 0.3, y, 2.0, None if loss == "hinge" else 0.1)
    verdict = judge_dense(problem, model.kernel_weights_, duals(model), float(model.intercept_[0]))
    assert verdict.gap == pytest.approx(model.dual_gap_, abs=1e-8)
    assert verdict.lower <= model.objective_ <= verdict.value * (1.0 + 1e-9)
    worse = judge_dense(problem, np.array([0.5, 0.5]), 0.5 * duals(model), 0.3)
    assert worse.value > verdict.value and worse.lower < verdict.lower
    with pytest.raises(ValueError, match="within 0 and C"):
        judge_dense(problem, model.kernel_weights_, 2.0 * duals(model), 0.0)


@pytest.fixture
def no_group(monkeypatch):
    """The process of the tests stays in the control group where it is."""
    monkeypatch.setattr(limits, "_own_groups", list)


def test_a_fit_from_disk_is_measured_and_judged(no_group):
    record = disk.take(n=300, n_kernels=2, loss="epsilon", kind="ready-made", limit=10**12, tol=1e-3)
    assert record["status"] == "optimal" and record["judged_gap"] <= 1e-3
    assert record["stack"] == 2 * 300 * 300 * 4 and record["anonymous"] >= record["before"] > 0


def test_memory_beyond_the_limit_cannot_be_had(no_group):
    size = limits.resident_bytes("VmSize") + 2**28
    with limits.limited_memory(size) as held, pytest.raises(MemoryError):
        np.ones(2**31, np.uint8)
    assert held == "a limit on memory that is no file"
    np.ones(2**20, np.uint8)
