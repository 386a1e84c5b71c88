"""The solver on factors: the dense optimum, a certificate from outside, any partition, hard cases."""

import numpy as np
import pytest

from multikernel.core.optim.loop import Options, Status
from multikernel.core.weights.learn import learn_weights
from tests.core.reference import optimal_value
from tests.core.weights.factor_problems import KINDS, make_factors

NORMS = (1.0, 1.3, 2.0, 10.0, np.inf)
COSTS = np.array([1.0, 0.5, 2.0, 1.5])


def require_certified(problem, result, tol=1e-8, **settings):
    """The stated bounds are those of the coefficients and of the witness."""
    assert result.status == Status.OPTIMAL and result.gap <= tol
    upper, lower = problem.judge(result, **settings)
    np.testing.assert_allclose(result.upper_bound, upper, rtol=1e-10)
    np.testing.assert_allclose(result.lower_bound, lower, rtol=1e-9)
    assert result.lower_bound <= result.objective * (1.0 + 1e-12)
    assert result.objective <= result.upper_bound * (1.0 + 1e-12)
    last = result.history[-1]
    assert (last["objective"], last["lower_bound"]) == (result.upper_bound, result.lower_bound)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rich", [False, True])
def test_as_the_dense_solver(kind, norm, rich):
    """Rich: three tasks, costs of the blocks, a price for each row and task."""
    problem = make_factors(kind, n_tasks=3 if rich else 1, varied=rich)
    if kind in ("ridge", "squared_hinge"):  # the dense solver has one shift for all tasks
        problem.prices = problem.prices[:, :1]
    costs = COSTS if rich else None
    result = problem.learn(norm=norm, costs=costs)
    require_certified(problem, result, norm=norm, costs=costs)
    losses = [task.loss() for task in problem.tasks()]
    dense = learn_weights(problem.Ks, losses, norm=norm, costs=costs, options=Options(tol=1e-8))
    np.testing.assert_allclose(result.objective, dense.objective, rtol=1e-6)
    np.testing.assert_allclose(result.weights, dense.weights, atol=2e-3)


@pytest.mark.parametrize(("kind", "norm"), [("hinge", 1.0), ("svr", 2.0), ("squared_hinge", 1.0)])
def test_as_a_conic_solver(kind, norm):
    problem = make_factors(kind, n=40, n_tasks=2)
    reference = optimal_value(problem.Ks, [task.reference() for task in problem.tasks()], norm)
    np.testing.assert_allclose(problem.learn(norm=norm).objective, reference, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_hard_cases_are_certified(kind):
    """No intercept, single precision, small and large prices, more columns than rows at a large price."""
    problem = make_factors(kind)
    result = problem.learn(fit_intercept=False)
    require_certified(problem, result, intercept=False)
    assert not result.intercepts.any()
    problem.Z = problem.Z.astype(np.float32)
    require_certified(problem, problem.learn(tol=1e-6), 1e-6)
    for C in (1e-4, 1e4):
        problem = make_factors(kind)
        problem.prices = problem.prices * C
        require_certified(problem, problem.learn(tol=1e-6), 1e-6)
    for widths in ((30,), (12, 9, 9)):  # separable, or to be interpolated
        problem = make_factors(kind, n=15, widths=widths, noise=0.0)
        problem.prices = problem.prices * 1e3
        require_certified(problem, problem.learn(tol=1e-4), 1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_few_rounds_over_the_rows(kind):
    """With the right derivatives, a model of the narrower smoothings, and a part of the rows first."""
    problem = make_factors(kind)
    assert problem.learn().rounds <= {"hinge": 24, "squared_hinge": 9, "svr": 32, "ridge": 3}[kind]
    problem = make_factors(kind, n=9000, widths=(2, 2))
    problem.prices = problem.prices * 1e-2  # so that it matters how often a row of the part counts
    cold, warm = (problem.learn(options=Options(tol=1e-4, coarse=coarse)) for coarse in (False, True))
    assert warm.n_iter <= 3 < cold.n_iter or kind == "ridge"
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_any_partition_into_blocks(kind):
    """A part of these rows is solved first; which rows these are hangs on their numbers alone."""
    problem = make_factors(kind, n=9000, widths=(2, 2))
    first, *others = (problem.learn(size, tol=1e-4) for size in (9000, 4096, 777))
    assert first.rounds > first.n_iter + 2 or kind == "ridge"
    for other in others:
        assert (other.n_iter, other.rounds) == (first.n_iter, first.rounds)
        for name in ("coefficients", "intercepts", "weights", "objective", "lower_bound"):
            np.testing.assert_allclose(getattr(other, name), getattr(first, name), rtol=1e-9, atol=1e-12)
    assert others[1].bytes_moved > others[0].bytes_moved > first.bytes_moved


@pytest.mark.parametrize("scale", [1e-4, 1e4])
@pytest.mark.parametrize("kind", KINDS)
def test_units_of_factors_and_targets_do_not_matter(kind, scale):
    """Kernels of 1e±8 times the size, and targets, too, where they have one."""
    plain = make_factors(kind)
    target_scale = scale**2 if kind in ("svr", "ridge") else 1.0
    scaled = make_factors(kind)
    scaled.Z, scaled.targets = plain.Z * scale, plain.targets * target_scale
    scaled.epsilon = plain.epsilon * target_scale
    scaled.prices = plain.prices / scale**2 * (target_scale if kind == "svr" else 1.0)
    result, expected = scaled.learn(), plain.learn()
    require_certified(scaled, result)
    np.testing.assert_allclose(result.objective * scale**2 / target_scale**2, expected.objective, rtol=1e-7)
    np.testing.assert_allclose(result.weights, expected.weights, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_a_price_do_not_count(kind):
    problem, fewer = make_factors(kind, n=50, n_tasks=2, varied=True), make_factors(kind, n=50, n_tasks=2)
    problem.prices[30:] = 0.0
    fewer.Z, fewer.targets, fewer.prices = problem.Z[:30], problem.targets[:30], problem.prices[:30]
    result, expected = problem.learn(block_rows=10), fewer.learn()
    assert result.status == Status.OPTIMAL
    np.testing.assert_allclose(result.objective, expected.objective, rtol=1e-7)


def test_blocks_of_one_class_and_classes_that_are_not_priced():
    problem = make_factors("hinge")
    order = np.argsort(problem.targets[:, 0], kind="stable")
    problem.Z, problem.targets = problem.Z[order], problem.targets[order]
    require_certified(problem, problem.learn(block_rows=5))
    problem.prices = np.where(problem.targets > 0, 1.0, 0.0)
    alone = problem.learn()  # a constant does it
    assert alone.status == Status.OPTIMAL and abs(alone.upper_bound) <= 1e-10
    for kind in ("svr", "ridge"):
        problem = make_factors(kind)
        problem.targets[:] = 3.7
        result = problem.learn()
        assert result.status == Status.OPTIMAL
        np.testing.assert_allclose(result.upper_bound, 0.0, atol=1e-9)


def test_stopping_early_and_starting_there():
    problem = make_factors("hinge")
    short = problem.learn(options=Options(tol=1e-8, max_iter=2))
    assert short.status == Status.MAX_ITER and short.n_iter == 2 and short.gap > 1e-8
    problem.judge(short)
    seen = []
    stopped = problem.learn(
        options=Options(tol=1e-8, callback=lambda entry: seen.append(entry) or len(seen) == 3)
    )
    assert stopped.status == Status.INTERRUPTED and stopped.history == seen
    assert [entry["iteration"] for entry in seen] == [0, 1, 2]
    full = problem.learn()
    again = problem.learn(start=full)
    assert again.n_iter < full.n_iter
    np.testing.assert_allclose(again.objective, full.objective, rtol=1e-7)


def test_what_is_refused():
    problem = make_factors("hinge")
    with pytest.raises(ValueError, match="coefficients of the shape"):
        problem.learn(start=make_factors("hinge", widths=(2, 2)).learn(tol=1e-2))
    problem.offsets = np.array([0, 3, 3, 14])
    with pytest.raises(ValueError, match="Leave out blocks without columns"):
        problem.learn()
    problem = make_factors("squared_hinge")
    problem.prices = problem.prices * 1e308
    result = problem.learn()  # what overflows is told
    assert result.status != Status.OPTIMAL or result.is_finite
