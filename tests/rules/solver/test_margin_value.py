"""The optimal value of machines as a function of their kernel: value, bounds, gradient."""

import numpy as np
import pytest

from multikernel.core.svm.losses import EpsilonInsensitive, Hinge, SquaredHinge
from multikernel.rules.solver.margin_value import MarginValue
from tests.core.problems import Task, make_kernels
from tests.core.reference import optimal_value

RNG = np.random.default_rng(0)
LABELS = np.where(RNG.normal(size=(2, 30)) > 0, 1.0, -1.0)
VALUES = RNG.normal(size=30)

CASES = {
    "hinge": [Task("hinge", LABELS[0], 0.7)],
    "squared hinge": [Task("squared_hinge", LABELS[0], 3.0)],
    "two machines": [Task("hinge", LABELS[0], 2.0), Task("hinge", LABELS[1], 2.0)],
    "regression": [Task("svr", VALUES, 1.5, 0.2)],
    "one class": [Task("one_class", np.zeros(30), 1.0 / 12.0)],
}


@pytest.mark.parametrize("case", CASES)
def test_value_bounds_and_gradient(case):
    tasks = CASES[case]
    _, Ks = make_kernels(30, 4)
    value = MarginValue([task.loss() for task in tasks], tol=1e-11)
    eta = np.array([0.4, 0.3, 0.2, 0.6])
    point = value(np.tensordot(eta, Ks, 1))
    best = optimal_value(np.tensordot(eta, Ks, 1)[None], [task.reference() for task in tasks])
    np.testing.assert_allclose(point.value, best, rtol=1e-7)
    assert point.value <= point.upper <= point.value + 1e-10 * abs(point.value)
    gradient, step = -0.5 * point.forms(Ks), 1e-5
    for m in range(4):
        there = [value(np.tensordot(eta + sign * step * np.eye(4)[m], Ks, 1)).value for sign in (1, -1)]
        np.testing.assert_allclose(gradient[m], (there[0] - there[1]) / (2 * step), rtol=1e-3, atol=1e-6)


def test_warm_start_does_not_change_the_value():
    _, Ks = make_kernels(30, 4)
    warm = MarginValue([SquaredHinge(LABELS[0], 10.0)])
    for eta in np.random.default_rng(1).uniform(size=(4, 4)):
        K = np.tensordot(eta, Ks, 1)
        cold = MarginValue([SquaredHinge(LABELS[0], 10.0)])(K)
        np.testing.assert_allclose(warm(K).value, cold.value, rtol=1e-8)


def test_a_price_far_above_the_kernel_neither_drifts_nor_hangs():
    """β of size C on the way leaves Σβ off by rounding; the next solve starts from it all the same."""
    X, Ks = make_kernels(40, 2)
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.7, 1.0, -1.0)
    value = MarginValue([Hinge(y, 1e7)], tol=1e-8)
    for scale in (1e-3, 1e-2, 1.0):
        point = value(scale * np.outer(X[:, 0], X[:, 0]) + 10.0 * scale**2 * Ks[1])
        assert abs(point.duals.sum()) <= 1e-11 * np.abs(point.duals).sum()
        assert point.value <= point.upper  # what is not solved is told


def test_where_pairs_crawl_an_interior_point_helps_out():
    X, Ks = make_kernels(60, 2)
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.7, 1.0, -1.0)
    K = 1e7 * np.outer(X[:, 2], X[:, 2]) + Ks[1]
    for loss in (Hinge(y, 1.0), EpsilonInsensitive(X[:, 0], 1.0, 0.1)):
        point = MarginValue([loss], tol=1e-5)(K)
        assert point.gap <= 2e-5 and point.upper - point.value <= 2e-5 * point.upper
