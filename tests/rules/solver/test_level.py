"""The level method: its bounds at every step, what it does at kinks, at the end, and with ties."""

import numpy as np
import pytest

from multikernel.core.optim.loop import Options, Status
from multikernel.core.optim.weight_sets import CappedSum, MixedNorm
from multikernel.core.svm.losses import HardMargin, Hinge, SquaredHinge
from multikernel.core.weights.learn import learn_weights
from multikernel.rules.solver.level import Pull, _LevelMethod, learn_in_gauge
from multikernel.rules.solver.margin_value import MarginPoint
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
    found = learn_in_gauge(Ks, [Hinge(y, C)], gauge, Options(tol=1e-7))
    other = learn_weights(Ks, [Hinge(y, C)], norm=norm, options=Options(tol=1e-8))
    assert found.status == Status.OPTIMAL and found.gap <= 1e-7
    np.testing.assert_allclose(found.objective, other.objective, rtol=2e-7)


def test_bounds_enclose_the_optimum_at_every_step():
    Ks, y = problem(seed=1)
    best = learn_weights(Ks, [Hinge(y, 5.0)], options=Options(tol=1e-9)).objective
    found = learn_in_gauge(Ks, [Hinge(y, 5.0)], CappedSum(5), Options(tol=1e-8))
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
    found = learn_in_gauge(Ks, [Hinge(y, 100.0)], CappedSum(6, 2.0), Options(tol=1e-6))
    assert found.status == Status.OPTIMAL
    q = np.array([found.duals[0] @ K @ found.duals[0] for K in Ks])
    lower = y @ found.duals[0] - 0.5 * CappedSum(6, 2.0).support(q)
    assert found.objective - lower <= 1.001e-6 * found.objective


def test_ties_are_sums_of_kernels():
    Ks, y = problem(seed=2)
    ties = np.array([0, 1, 0, 1, 1])
    sums = np.stack([Ks[ties == l].sum(axis=0) for l in range(2)])
    tied = learn_in_gauge(Ks, [SquaredHinge(y, 2.0)], CappedSum(2), Options(tol=1e-7), ties=ties)
    summed = learn_weights(sums, [SquaredHinge(y, 2.0)], options=Options(tol=1e-8))
    np.testing.assert_allclose(tied.objective, summed.objective, rtol=2e-7)
    np.testing.assert_allclose(tied.weights, tied.weights[[0, 1, 0, 1, 1]])


def test_floor_is_a_kernel_that_is_always_there():
    Ks, y = problem(seed=3)
    found = learn_in_gauge(Ks, [Hinge(y, 2.0)], CappedSum(5, 0.4), Options(tol=1e-7), floor=0.12)
    shifted = 0.12 * Ks.sum(axis=0) + 0.4 * Ks
    np.testing.assert_allclose(
        found.objective,
        learn_weights(shifted, [Hinge(y, 2.0)], options=Options(tol=1e-8)).objective,
        rtol=2e-7,
    )
    assert found.weights.min() >= 0.12 and abs(found.weights.sum() - 1.0) < 1e-9


def test_the_end_is_told():
    Ks, y = problem(seed=4)
    few = learn_in_gauge(Ks, [Hinge(y, 1.0)], CappedSum(5), Options(tol=1e-9, max_iter=3))
    assert few.status == Status.MAX_ITER and few.n_iter == 3 and few.gap > 1e-9
    seen = []
    options = Options(tol=1e-9, callback=lambda entry: seen.append(entry) or len(seen) == 2)
    assert learn_in_gauge(Ks, [Hinge(y, 1.0)], CappedSum(5), options).status == Status.INTERRUPTED
    x = np.array([0.0, 0.0, 1.0, 2.0])
    nothing = learn_in_gauge(
        np.stack([np.outer(x, x)] * 2),
        [HardMargin(np.array([1.0, -1.0, 1.0, -1.0]))],
        CappedSum(2),
        Options(),
    )
    assert nothing.status == Status.INSEPARABLE and np.isnan(nothing.weights).all()


def test_a_hard_margin_that_is_lost_on_the_way_is_found_again():
    """Each kernel alone mixes the classes, both together do not."""
    points = np.array([[1.0, 0.1], [0.1, 1.0], [2.0, -0.5], [-0.5, 2.0]])
    X, y = np.vstack([points, -points]), np.repeat([1.0, -1.0], 4)
    method = _LevelMethod(np.stack([np.outer(x, x) for x in X.T]), [HardMargin(y)], CappedSum(2), Options())
    method.set_variant(None, None, 0.0)
    assert method._evaluate(np.ones(2)) and method._evaluate(np.array([1.0, 0.0]))
    assert len(method.points) == 2 and (method.points[1] > 0.0).all()


def test_upper_bound_is_that_of_the_primal():
    Ks, y = problem(seed=7)
    method = _LevelMethod(Ks, [Hinge(y, 1.0)], CappedSum(5), Options())
    method.set_variant(None, None, 0.0)
    method.machine = lambda K: MarginPoint(1.0, 1.5, np.zeros((1, 40)))
    assert method._evaluate(np.ones(5)) and method.upper == 1.5 and method.constants == [1.0]


def test_bound_holds_for_any_prices():
    """constant − ½ q'x over the simplex has its least value at a corner; bad prices only lose."""
    Ks, y = problem(seed=8)
    method = _LevelMethod(Ks, [Hinge(y, 1.0)], CappedSum(5), Options())
    method.set_variant(None, None, 0.0)
    q = np.array([1.0, 4.0, 0.0, 2.0, 3.0])
    bounds = [method._dual_value(3.0, q, np.array([price]))[0] for price in (0.0, 1.0, 1.9, 2.0, 5.0)]
    assert bounds == pytest.approx([-2.0, 0.5, 1.0, 1.0, -2.0])


def test_kernels_that_are_not_definite_are_noticed():
    Ks, y = problem(seed=5)
    bent = Ks - 0.5 * np.eye(40) * Ks.trace(axis1=1, axis2=2)[:, None, None] / 40
    found = learn_in_gauge(bent, [Hinge(y, 10.0)], CappedSum(5), Options(tol=1e-6, max_iter=20))
    assert found.status == Status.INDEFINITE


def test_a_pull_of_no_strength_is_none():
    Ks, y = problem(seed=6)
    plain = learn_in_gauge(Ks, [Hinge(y, 1.0)], CappedSum(5), Options(tol=1e-7))
    weak = learn_in_gauge(
        Ks, [Hinge(y, 1.0)], CappedSum(5), Options(tol=1e-7), pull=Pull(1e-7, np.full(5, 0.2))
    )
    np.testing.assert_allclose(weak.objective, plain.objective, rtol=1e-6)
