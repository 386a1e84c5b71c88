"""Quasi-Newton descent between bounds: quadratics, nearly kinked functions, and how it ends."""

import numpy as np
import pytest

from multikernel.core.optim.loop import Options
from multikernel.rules.solver.descent import minimise_boxed


def quadratic(seed=0, n=6):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    Q, c = A @ A.T + 0.01 * np.eye(n), rng.normal(size=n)
    return lambda x: (0.5 * x @ Q @ x - c @ x, Q @ x - c)


def steepness(upper):
    return lambda here: float(np.abs(here.x - np.clip(here.x - here.gradient, 0.0, upper)).max())


@pytest.mark.parametrize("seed", range(4))
def test_a_quadratic(seed):
    upper = np.full(6, 1.5)
    found = minimise_boxed(quadratic(seed), steepness(upper), np.full(6, 0.5), upper, Options(tol=1e-8))
    assert found.status == "optimal"
    assert found.gap <= 1e-8
    value, gradient = quadratic(seed)(found.point)
    assert found.objective == pytest.approx(value)
    np.testing.assert_allclose(found.gradient, gradient)
    inside = (found.point > 0) & (found.point < upper)
    np.testing.assert_allclose(gradient[inside], 0.0, atol=1e-8)
    assert (gradient[found.point == 0] >= -1e-8).all()
    assert (gradient[found.point == upper] <= 1e-8).all()
    assert len(found.history) == found.n_iter + 1


def test_how_it_ends():
    upper = np.full(6, 1.5)
    start = np.full(6, 0.5)
    short = minimise_boxed(quadratic(), steepness(upper), start, upper, Options(tol=1e-12, max_iter=2))
    assert (short.status, short.n_iter) == ("max_iter", 2)
    assert short.objective == min(entry["objective"] for entry in short.history)
    stop = Options(tol=1e-12, callback=lambda entry: entry["iteration"] == 1)
    assert minimise_boxed(quadratic(), steepness(upper), start, upper, stop).status == "interrupted"
    out_of_reach = minimise_boxed(quadratic(), lambda here: 1.0, start, upper, Options(tol=1e-3))
    assert out_of_reach.status == "stalled"
    there = minimise_boxed(quadratic(), lambda here: 0.0, start, upper, Options())
    assert (there.status, there.n_iter) == ("optimal", 0)
