"""Projections and support functions of sets of weights, against brute force and linear programs."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judges.optimum import conic_optimum
from multikernel.core.optim.weight_sets import Orthant, PositiveBall, Simplex

VECTORS = st.integers(1, 6).flatmap(
    lambda size: arrays(float, size, elements=st.floats(-5.0, 5.0, allow_subnormal=False))
)
TOTALS = st.floats(0.1, 4.0)


def require_nearest(region, x, corners, rtol=1e-9):
    """The projection p is the nearest point: (x − p)'(z − p) ≤ 0 for every z of the set."""
    p = region.project(x)
    for z in corners:
        assert (x - p) @ (z - p) <= rtol * (1.0 + np.abs(x).max() + np.abs(z).max()) ** 2
    return p


@given(VECTORS, TOTALS)
def test_simplex(x, total):
    p = require_nearest(Simplex(total), x, total * np.eye(x.size))
    assert (p >= 0.0).all()
    np.testing.assert_allclose(p.sum(), total, rtol=1e-12)
    assert Simplex(total).support(x) == pytest.approx(total * x.max())


def test_simplex_in_each_row():
    X = np.random.default_rng(0).normal(size=(4, 5))
    region = Simplex(2.0)
    np.testing.assert_allclose(region.project(X), [region.project(row) for row in X])
    assert region.support(X) == pytest.approx(sum(region.support(row) for row in X))


@given(VECTORS)
def test_orthant(x):
    np.testing.assert_array_equal(Orthant().project(x), np.maximum(x, 0.0))
    assert Orthant().support(x) == (0.0 if x.max() <= 0.0 else np.inf)


@given(VECTORS, st.floats(0.1, 3.0), st.integers(0, 1000))
def test_positive_ball_is_the_nearest_point(x, radius, seed):
    rng = np.random.default_rng(seed)
    center = rng.uniform(size=x.size) * rng.integers(0, 2, size=x.size)
    region = PositiveBall(center, radius)
    steps = rng.normal(size=(30, x.size))
    steps *= (radius * rng.uniform(size=30) ** 0.3 / np.linalg.norm(steps, axis=1))[:, None]
    others = np.maximum(center + steps, 0.0)  # cutting at zero brings a point nearer to a center ≥ 0
    p = require_nearest(region, x, others)
    assert (p >= 0.0).all() and np.linalg.norm(p - center) <= radius * (1.0 + 1e-12)
    assert region.support(x) >= (others @ x).max() - 1e-9 * (1.0 + np.abs(x).max())


@settings(max_examples=15)
@given(VECTORS, st.floats(0.1, 3.0), st.integers(0, 1000))
def test_support_of_the_positive_ball(g, radius, seed):
    rng = np.random.default_rng(seed)
    center = rng.uniform(size=g.size) * rng.integers(0, 2, size=g.size)
    point = cp.Variable(g.size, nonneg=True)
    problem = cp.Problem(cp.Minimize(g @ point), [cp.norm(point - center) <= radius])
    np.testing.assert_allclose(
        -PositiveBall(center, radius).support(-g), conic_optimum(problem, enough=1e-8), atol=1e-7
    )
