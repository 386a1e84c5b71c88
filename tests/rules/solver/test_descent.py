"""Projected descent against a conic solver, quasi-Newton descent between bounds, and their certificates."""

import cvxpy as cp
import numpy as np
import pytest

from judges.optimum import conic_optimum
from multikernel.core.optim.loop import Options, Status
from multikernel.core.optim.weight_sets import Orthant, PositiveBall, Simplex
from multikernel.rules.solver.descent import minimise_boxed, minimise_projected


def quadratic(size, seed):
    """½x'Ax − b'x with A of a wide spectrum."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(size, size)))
    A = (Q * np.logspace(-2, 1, size)) @ Q.T
    b = rng.normal(size=size)
    return A, b, lambda x: (0.5 * x @ A @ x - b @ x, A @ x - b)


def conditions_of(region, x):
    if isinstance(region, Simplex):
        return [x >= 0, cp.sum(x) == region.total]
    if isinstance(region, PositiveBall):
        return [x >= 0, cp.norm(x - region.center) <= region.radius]
    return [x >= 0]


REGIONS = [Simplex(), Simplex(3.0), Orthant(), PositiveBall(np.full(6, 0.3), 0.5)]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("region", REGIONS, ids=lambda region: type(region).__name__)
def test_least_of_a_quadratic(region, seed):
    A, b, evaluate = quadratic(6, seed)
    x = cp.Variable(6)
    problem = cp.Problem(cp.Minimize(0.5 * cp.quad_form(x, cp.psd_wrap(A)) - b @ x), conditions_of(region, x))
    best = conic_optimum(problem, enough=1e-8)
    found = minimise_projected(evaluate, region, np.zeros(6), Options(tol=1e-8, max_iter=2000))
    assert found.status == Status.OPTIMAL and found.gap <= 1e-8
    np.testing.assert_allclose(found.objective, best, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(region.project(found.point), found.point, atol=1e-9)
    # a bounded region bounds the distance from the minimum
    least = -region.support(-found.gradient)
    if np.isfinite(least):
        assert found.objective - (found.gradient @ found.point - least) <= best + 1e-7


def test_gap_bounds_the_distance_all_the_way():
    A, b, _ = quadratic(6, 3)

    def evaluate(x):
        return 0.5 * x @ A @ x - b @ x + 10.0, A @ x - b

    best = minimise_projected(evaluate, Simplex(), np.ones(6), Options(tol=1e-12, max_iter=5000)).objective
    found = minimise_projected(evaluate, Simplex(), np.ones(6), Options(tol=1e-6, max_iter=5000))
    assert len(found.history) > 3
    for entry in found.history:
        assert entry["objective"] - best <= entry["gap"] * abs(entry["objective"]) + 1e-12


def test_matrix_of_rows_and_a_function_that_is_not_convex():
    """Each row in its simplex; at the end the function is stationary, whatever it is."""
    target = np.random.default_rng(0).uniform(size=(3, 4))

    def evaluate(x):
        return float(np.sin(3.0 * (x - target)).sum()), 3.0 * np.cos(3.0 * (x - target))

    found = minimise_projected(evaluate, Simplex(), target, Options(tol=1e-7, max_iter=500))
    assert found.status == Status.OPTIMAL and found.point.shape == (3, 4)
    np.testing.assert_allclose(found.point.sum(axis=1), 1.0)
    assert found.objective <= found.history[0]["objective"]


def test_steps_out_of_the_domain_are_shortened():
    """−Σ log x over the simplex is infinite at the border; equal entries are best."""

    def evaluate(x):
        if x.min() <= 0.0:
            return np.inf, np.zeros_like(x)
        return float(-np.log(x).sum()), -1.0 / x

    found = minimise_projected(evaluate, Simplex(), np.array([0.98, 0.01, 0.01]), Options(tol=1e-8))
    np.testing.assert_allclose(found.point, 1.0 / 3.0, rtol=1e-4)
    with pytest.raises(ValueError, match="finite at the start"):
        minimise_projected(evaluate, Simplex(), np.array([1.0, 0.0, 0.0]), Options())


def test_the_end_is_told():
    A, b, evaluate = quadratic(6, 4)
    few = minimise_projected(evaluate, Simplex(), np.ones(6), Options(tol=1e-12, max_iter=2))
    assert few.status == Status.MAX_ITER and few.n_iter == 2 and few.gap > 1e-12
    seen = []
    options = Options(tol=1e-12, callback=lambda entry: seen.append(entry) or len(seen) == 3)
    assert minimise_projected(evaluate, Simplex(), np.ones(6), options).status == Status.INTERRUPTED
    assert len(seen) == 3

    def wrong(x):  # a gradient that points uphill: no step can be found
        return 0.5 * x @ A @ x - b @ x, b - A @ x

    assert minimise_projected(wrong, Simplex(), np.ones(6), Options(tol=1e-9)).status == Status.STALLED


def test_best_point_is_returned_though_values_may_rise():
    _, _, evaluate = quadratic(8, 5)
    rises = 0
    for max_iter in range(3, 9):
        options = Options(tol=1e-14, max_iter=max_iter)
        found = minimise_projected(evaluate, Simplex(), np.ones(8), options)
        values = [entry["objective"] for entry in found.history]
        assert found.objective == min(values)
        rises += values[-1] > min(values)
    assert rises > 0


def between(seed=0, n=6):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    Q, c = A @ A.T + 0.01 * np.eye(n), rng.normal(size=n)
    return lambda x: (0.5 * x @ Q @ x - c @ x, Q @ x - c)


def steepness(upper):
    return lambda here: float(np.abs(here.x - np.clip(here.x - here.gradient, 0.0, upper)).max())


@pytest.mark.parametrize("seed", range(4))
def test_a_quadratic_between_bounds(seed):
    upper = np.full(6, 1.5)
    found = minimise_boxed(between(seed), steepness(upper), np.full(6, 0.5), upper, Options(tol=1e-8))
    assert found.status == "optimal"
    assert found.gap <= 1e-8
    value, gradient = between(seed)(found.point)
    assert found.objective == pytest.approx(value)
    np.testing.assert_allclose(found.gradient, gradient)
    inside = (found.point > 0) & (found.point < upper)
    np.testing.assert_allclose(gradient[inside], 0.0, atol=1e-8)
    assert (gradient[found.point == 0] >= -1e-8).all()
    assert (gradient[found.point == upper] <= 1e-8).all()
    assert len(found.history) == found.n_iter + 1


def test_how_the_search_between_bounds_ends():
    upper = np.full(6, 1.5)
    start = np.full(6, 0.5)
    short = minimise_boxed(between(), steepness(upper), start, upper, Options(tol=1e-12, max_iter=2))
    assert (short.status, short.n_iter) == ("max_iter", 2)
    assert short.objective == min(entry["objective"] for entry in short.history)
    stop = Options(tol=1e-12, callback=lambda entry: entry["iteration"] == 1)
    assert minimise_boxed(between(), steepness(upper), start, upper, stop).status == "interrupted"
    out_of_reach = minimise_boxed(between(), lambda here: 1.0, start, upper, Options(tol=1e-3))
    assert out_of_reach.status == "stalled"
    there = minimise_boxed(between(), lambda here: 0.0, start, upper, Options())
    assert (there.status, there.n_iter) == ("optimal", 0)
