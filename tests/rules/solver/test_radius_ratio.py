"""Squared radius times squared norm: its value by other solvers, its gradient by differences, its descent."""

import numpy as np
import pytest
from sklearn.svm import SVC

from multikernel.core.optim.loop import Options, Status
from multikernel.core.svm.losses import HardMargin, SquaredHinge
from multikernel.rules.solver.radius import smallest_ball
from multikernel.rules.solver.radius_ratio import RadiusTimesNorm, minimise_ratio
from tests.core.problems import gaussian

ETA = np.array([0.3, 0.9, 0.2])


def example(seed=0, n=22):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Ks = np.stack([gaussian(X, 0.3), X[:, :2] @ X[:, :2].T, gaussian(X[:, 2:], 2.0)])
    y = np.where(X[:, 0] + 0.4 * rng.normal(size=n) > 0.1, 1.0, -1.0)
    return Ks, y


def squared_norm(K, y):
    """‖w‖² of the hard margin, by LIBSVM."""
    machine = SVC(C=1e8, kernel="precomputed", tol=1e-10).fit(K, y)
    return float(np.abs(machine.dual_coef_).sum())


@pytest.mark.parametrize("C", [0.5, 20.0, np.inf])
def test_the_value_is_that_of_other_solvers_and_the_gradient_that_of_differences(C):
    Ks, y = example()
    ridge = 1.0 / C
    losses = [SquaredHinge(y, C)] if np.isfinite(C) else [HardMargin(y)]
    F = RadiusTimesNorm(Ks, losses, ridge, tol=1e-11)
    K = np.tensordot(ETA, Ks, 1) + ridge * np.eye(len(y))
    here = F.at(ETA)
    radius = smallest_ball(K, tol=1e-10).squared_radius  # tested against a conic program
    assert here.value == pytest.approx(radius * squared_norm(K, y), rel=1e-6)
    step = 1e-5
    differences = [(F.at(ETA + step * e).value - F.at(ETA - step * e).value) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(here.gradient, differences, rtol=1e-4)
    if np.isinf(C):  # the scale of the weights does not matter
        assert F.at(7.0 * ETA).value == pytest.approx(here.value, rel=1e-8)
        assert here.gradient @ ETA == pytest.approx(0.0, abs=1e-8 * here.value)


def test_the_descent_ends_where_no_weights_of_two_kernels_are_better():
    Ks, y = example(1)
    units = 1.0 / np.einsum("mii->m", Ks) * len(y)
    F = RadiusTimesNorm(Ks[:2], [SquaredHinge(y, 5.0)], 0.2)
    found, point = minimise_ratio(Ks[:2], [SquaredHinge(y, 5.0)], 0.2, units[:2], Options(tol=1e-7))
    assert found.status == Status.OPTIMAL and found.point.sum() == pytest.approx(1.0)
    assert point.value == pytest.approx(found.objective, rel=1e-8)
    grid = [F.at(np.array([t, 1.0 - t]) * units[:2]).value for t in np.linspace(0.0, 1.0, 101)]
    assert found.objective <= min(grid) * (1.0 + 1e-6)
    assert min(grid) <= found.objective * (1.0 + 1e-3)


def test_points_that_no_sum_separates_have_a_status_and_flat_kernels_an_error():
    x, y = np.array([0.0, 0.0, 1.0, 2.0]), np.array([-1.0, 1.0, -1.0, 1.0])
    found, _ = minimise_ratio(np.outer(x, x)[None], [HardMargin(y)], 0.0, np.ones(1), Options())
    assert found.status == Status.INSEPARABLE
    with pytest.raises(ValueError, match="no kernel tells the samples apart"):
        minimise_ratio(np.ones((1, 4, 4)), [SquaredHinge(y, 1.0)], 1.0, np.ones(1), Options())
