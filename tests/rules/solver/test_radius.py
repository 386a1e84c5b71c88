"""The smallest ball against the conic solver and geometry, and the radius as a gauge."""

import cvxpy as cp
import numpy as np
import pytest

from judges.optimum import conic_optimum
from multikernel.rules.solver.radius import EnclosingBall, SquaredRadius, smallest_ball
from tests.core.problems import make_kernels


def radius_program(X):
    """The ball in the space of the rows of X itself."""
    center, radius = cp.Variable(X.shape[1]), cp.Variable()
    problem = cp.Problem(cp.Minimize(radius), [cp.norm(x - center) <= radius for x in X])
    return conic_optimum(problem) ** 2


@pytest.mark.parametrize("seed, shift, scale", [(0, 0.0, 1.0), (1, 50.0, 1.0), (2, 0.0, 1e-4), (3, 3.0, 1e5)])
def test_ball_of_points(seed, shift, scale):
    X = scale * (np.random.default_rng(seed).normal(size=(25, 3)) + shift)
    before = (X @ X.T).copy()
    K = before.copy()
    ball = smallest_ball(K, tol=1e-9)
    best = scale**2 * radius_program(X / scale)
    np.testing.assert_allclose([ball.squared_radius, ball.lower_bound], best, rtol=1e-6)
    assert ball.lower_bound <= ball.squared_radius <= ball.lower_bound * (1.0 + 1e-8)
    # the ball that the centre gives holds every sample
    away = ((X - ball.center @ X) ** 2).sum(axis=1)
    np.testing.assert_allclose(away.max(), ball.squared_radius, rtol=1e-7)
    assert (ball.center >= 0.0).all() and abs(ball.center.sum() - 1.0) < 1e-9
    np.testing.assert_array_equal(K, before)


def test_one_point_many_times_has_no_radius():
    ball = smallest_ball(np.full((5, 5), 7.0))
    assert ball.squared_radius == ball.lower_bound == 0.0


def test_start_does_not_change_the_ball():
    _, Ks = make_kernels(30, 2)
    first = smallest_ball(Ks[0])
    again = smallest_ball(Ks[1], start=first.center)
    np.testing.assert_allclose(again.squared_radius, smallest_ball(Ks[1]).squared_radius, rtol=1e-7)


def test_radius_is_convex_of_degree_one_and_its_rows_are_below():
    _, Ks = make_kernels(20, 4)
    gauge = SquaredRadius(Ks, tol=1e-10)
    points = np.random.default_rng(0).uniform(size=(4, 4)) * [1.0, 1.0, 0.0, 1.0]
    values = [gauge.at(eta) for eta in points]
    np.testing.assert_allclose(gauge.at(3.0 * points[0]), 3.0 * values[0], rtol=1e-8)
    assert gauge.at(points[0] + points[1]) <= (values[0] + values[1]) * (1.0 + 1e-9)
    for eta, value in zip(points, values, strict=True):
        assert (gauge.rows @ eta <= value * (1.0 + 1e-9)).all()
        np.testing.assert_allclose((gauge.rows @ eta).max(), value, rtol=1e-8)
    for b, row in zip(gauge.balls, gauge.rows, strict=True):
        np.testing.assert_allclose(row, [b @ np.diag(K) - b @ K @ b for K in Ks], rtol=1e-9)


def test_loss_of_the_ball():
    loss = EnclosingBall(np.array([0.5, 0.0, 4.5]))
    assert loss.total == 1.0 and loss.start.sum() == pytest.approx(1.0)
    assert loss.restrict(np.array([0, 2]), 3.0).target.tolist() == [0.5, 4.5]
    np.testing.assert_allclose(loss.rescaled(2.0, 2.0).target, loss.target / 2.0)
    with pytest.raises(ValueError, match="scaled alike"):
        loss.rescaled(2.0, 1.0)
