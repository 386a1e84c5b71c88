"""The level method: its bounds at every step, what it does at kinks, and at the end."""

import numpy as np
import pytest

from multikernel.core.optim.loop import Options, Status
from multikernel.core.optim.weight_sets import CappedSum, MixedNorm
from multikernel.core.svm.losses import HardMargin, Hinge
from multikernel.core.weights.learn import learn_weights
from multikernel.rules.solver.level import LevelMethod
from tests.core.problems import make_kernels


def problem(n=40, m=5, seed=0):
    X, Ks = make_kernels(n, m, seed)
    noise = 0.4 * np.random.default_rng(seed).normal(size=n)
    return Ks, np.where(X[:, 0] + X[:, 1] ** 2 - 0.7 + noise > 0, 1.0, -1.0)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("norm", [1.0, 1.5, 4.0])
def test_agrees_with_the_newton_steps_on_the_sets_that_both_know(norm, C):
    Ks, y = problem()
    gauge = CappedSum(5) if norm == 1.0 else MixedNorm(np.zeros(5, int), norm, 1.0, np.ones(1))
    found = LevelMethod(Ks, [Hinge(y, C)], gauge, Options(tol=1e-7)).run()
    other = learn_weights(Ks, [Hinge(y, C)], norm=norm, options=Options(tol=1e-8))
    assert found.status == Status.OPTIMAL and found.gap <= 1e-7
    np.testing.assert_allclose(found.objective, other.objective, rtol=2e-7)


def test_bounds_enclose_the_optimum_at_every_step():
    Ks, y = problem(seed=1)
    best = learn_weights(Ks, [Hinge(y, 5.0)], options=Options(tol=1e-9)).objective
    found = LevelMethod(Ks, [Hinge(y, 5.0)], CappedSum(5), Options(tol=1e-8)).run()
    for entry in found.history:
        assert entry["lower_bound"] <= best * (1.0 + 1e-8) and entry["objective"] >= best * (1.0 - 1e-8)
    assert (np.diff([entry["objective"] for entry in found.history]) <= 0.0).all()
    assert (np.diff([entry["lower_bound"] for entry in found.history]) >= 0.0).all()


def test_kinks_of_rank_one_kernels():
    """Large C and hardly any free vector: one solution does not certify, the mean of several does."""
    rng = np.random.default_rng(129)
    X = rng.normal(size=(30, 6))
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 0.5 + 0.5 * rng.normal(size=30) > 0, 1.0, -1.0)
    Ks = np.stack([np.outer(x, x) for x in X.T])
    found = LevelMethod(Ks, [Hinge(y, 100.0)], CappedSum(6, 2.0), Options(tol=1e-6)).run()
    assert found.status == Status.OPTIMAL
    q = np.array([found.duals[0] @ K @ found.duals[0] for K in Ks])
    lower = y @ found.duals[0] - 0.5 * CappedSum(6, 2.0).support(q)
    assert found.objective - lower <= 1.001e-6 * found.objective


def test_the_end_is_told():
    Ks, y = problem(seed=4)
    few = LevelMethod(Ks, [Hinge(y, 1.0)], CappedSum(5), Options(tol=1e-9, max_iter=3)).run()
    assert few.status == Status.MAX_ITER and few.n_iter == 3 and few.gap > 1e-9
    seen = []
    options = Options(tol=1e-9, callback=lambda entry: seen.append(entry) or len(seen) == 2)
    assert LevelMethod(Ks, [Hinge(y, 1.0)], CappedSum(5), options).run().status == Status.INTERRUPTED
    x = np.array([0.0, 0.0, 1.0, 2.0])
    hard = HardMargin(np.array([1.0, -1.0, 1.0, -1.0]))
    nothing = LevelMethod(np.stack([np.outer(x, x)] * 2), [hard], CappedSum(2), Options()).run()
    assert nothing.status == Status.INSEPARABLE and np.isnan(nothing.weights).all()


def test_a_hard_margin_that_is_lost_on_the_way_is_found_again():
    """Each kernel alone mixes the classes, both together do not."""
    points = np.array([[1.0, 0.1], [0.1, 1.0], [2.0, -0.5], [-0.5, 2.0]])
    X, y = np.vstack([points, -points]), np.repeat([1.0, -1.0], 4)
    method = LevelMethod(np.stack([np.outer(x, x) for x in X.T]), [HardMargin(y)], CappedSum(2), Options())
    assert method._evaluate(np.ones(2)) and method._evaluate(np.array([1.0, 0.0]))
    assert len(method.points) == 2 and (method.points[1] > 0.0).all()


def test_kernels_that_are_not_definite_are_noticed():
    Ks, y = problem(seed=5)
    bent = Ks - 0.5 * np.eye(40) * Ks.trace(axis1=1, axis2=2)[:, None, None] / 40
    found = LevelMethod(bent, [Hinge(y, 10.0)], CappedSum(5), Options(tol=1e-6, max_iter=20)).run()
    assert found.status == Status.INDEFINITE
