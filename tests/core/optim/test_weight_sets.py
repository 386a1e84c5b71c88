"""Sets of weights: projections, supports, gauges, best responses; against brute force and conic programs."""

import copy

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judges.optimum import conic_optimum
from multikernel.core.optim.loop import Options
from multikernel.core.optim.weight_sets import (
    CappedSum,
    LpBall,
    MixedNorm,
    Orthant,
    PositiveBall,
    Simplex,
    dual_norm,
)
from multikernel.rules.margin.sets import group_codes
from multikernel.rules.solver.descent import minimise_projected

SETS = {
    "lp": (LpBall(2.0), ("support", "best_response")),
    "simplex": (Simplex(), ("project", "support")),
    "orthant": (Orthant(), ("project", "support")),
    "ball": (PositiveBall(np.zeros(2), 1.0), ("project", "support")),
    "capped": (CappedSum(2), ("support", "at")),
    "groups": (MixedNorm(np.array([0, 1]), 2.0, 1.0, np.ones(2)), ("support", "at")),
}


@pytest.mark.parametrize("name", SETS)
def test_a_set_can_do_what_it_says_and_nothing_else(name):
    weight_set, can = SETS[name]
    assert weight_set.can == can
    given_weights = -np.ones(2) if name == "orthant" else np.ones(2)
    for method in ("project", "support", "best_response", "at"):
        if method in can:
            assert np.isfinite(getattr(weight_set, method)(given_weights)).all()
        else:
            with pytest.raises(NotImplementedError):
                getattr(weight_set, method)(given_weights)


def test_projected_gradients_refuse_a_set_without_projection_before_they_start():
    def evaluate(x):
        raise AssertionError("started all the same")

    with pytest.raises(TypeError, match=r"projected gradients need .* project, support; LpBall has support"):
        minimise_projected(evaluate, LpBall(2.0), np.ones(2), Options())


# ---------------------------------------------------------------------- projections
VECTORS = st.integers(1, 6).flatmap(
    lambda size: arrays(float, size, elements=st.floats(-5.0, 5.0, allow_subnormal=False))
)


def require_nearest(region, x, corners, rtol=1e-9):
    """The projection p is the nearest point: (x − p)'(z − p) ≤ 0 for every z of the set."""
    p = region.project(x)
    for z in corners:
        assert (x - p) @ (z - p) <= rtol * (1.0 + np.abs(x).max() + np.abs(z).max()) ** 2
    assert (p >= 0.0).all()
    return p


@given(VECTORS, st.floats(0.1, 4.0))
def test_simplex_and_orthant(x, total):
    region = Simplex(total)
    p = require_nearest(region, x, total * np.eye(x.size))
    np.testing.assert_allclose(p.sum(), total, rtol=1e-12)
    assert region.support(x) == pytest.approx(total * x.max())
    rows = np.stack([x, x[::-1]])
    np.testing.assert_allclose(region.project(rows), [region.project(row) for row in rows])
    assert region.support(rows) == pytest.approx(2.0 * region.support(x))
    np.testing.assert_array_equal(Orthant().project(x), np.maximum(x, 0.0))
    assert Orthant().support(x) == (0.0 if x.max() <= 0.0 else np.inf)


@settings(max_examples=15)
@given(VECTORS, st.floats(0.1, 3.0), st.integers(0, 1000))
def test_positive_ball(x, radius, seed):
    rng = np.random.default_rng(seed)
    center = rng.uniform(size=x.size) * rng.integers(0, 2, size=x.size)
    region = PositiveBall(center, radius)
    steps = rng.normal(size=(30, x.size))
    steps *= (radius * rng.uniform(size=30) ** 0.3 / np.linalg.norm(steps, axis=1))[:, None]
    others = np.maximum(center + steps, 0.0)  # cutting at zero brings a point nearer to a center ≥ 0
    p = require_nearest(region, x, others)
    assert np.linalg.norm(p - center) <= radius * (1.0 + 1e-12)
    point = cp.Variable(x.size, nonneg=True)
    problem = cp.Problem(cp.Minimize(x @ point), [cp.norm(point - center) <= radius])
    np.testing.assert_allclose(-region.support(-x), conic_optimum(problem, enough=1e-8), atol=1e-7)


# ---------------------------------------------------------------------- gauges
CODES = np.array([1, 0, 1, 2, 0])
COSTS = np.array([1.0, 0.6, 1.7])
GAUGES = {
    "sum": CappedSum(5),
    "capped": CappedSum(5, 2.3),
    "all": CappedSum(5, 5.0),
    "groups": MixedNorm(CODES, 2.0, 1.0, COSTS),
    "in groups": MixedNorm(CODES, 1.0, 3.0, COSTS),
    "largest group": MixedNorm(CODES, 1.5, np.inf, COSTS),
}
WEIGHTS = arrays(float, 5, elements=st.one_of(st.just(0.0), st.floats(1e-3, 3.0)))


def expression(gauge, eta):
    """g, for the conic solver."""
    if isinstance(gauge, CappedSum):
        return cp.maximum(cp.sum(eta) / gauge.total, cp.max(eta) if gauge.total > 1.0 else 0.0)
    within = [COSTS[l] * cp.norm(eta[np.flatnonzero(np.equal(CODES, l))], gauge.inner) for l in range(3)]
    return cp.norm(cp.hstack(within), "inf" if np.isinf(gauge.outer) else gauge.outer)


@pytest.mark.parametrize("name", GAUGES)
@given(WEIGHTS, WEIGHTS, st.floats(0.1, 10.0))
def test_gauges_are_of_degree_one_convex_and_above_their_rows(name, eta, other, scale):
    gauge = copy.deepcopy(GAUGES[name])
    value = gauge.at(eta)
    np.testing.assert_allclose(value, expression(gauge, eta).value, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(gauge.at(scale * eta), scale * value, rtol=1e-9, atol=1e-12)
    there = gauge.at(other)
    assert gauge.at(eta + other) <= (value + there) * (1.0 + 1e-12) + 1e-12
    rows = gauge.rows
    assert (rows >= 0.0).all()
    assert (rows @ other <= there * (1.0 + 1e-9) + 1e-12).all()
    np.testing.assert_allclose((rows @ eta).max(), value, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", GAUGES)
def test_the_support_of_a_gauge_is_the_largest_over_its_set(name):
    gauge = GAUGES[name]
    q = np.random.default_rng(0).exponential(size=5)
    eta = cp.Variable(5, nonneg=True)
    problem = cp.Problem(cp.Maximize(q @ eta), [expression(gauge, eta) <= 1.0])
    problem.solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(gauge.support(q), problem.value, rtol=1e-6)


def test_groups_by_name_and_number():
    names = ["a", "b", "c"]
    np.testing.assert_array_equal(group_codes(None, names), [0, 1, 2])
    np.testing.assert_array_equal(group_codes([["c", 0], ("b",)], names), [0, 1, 0])
    for bad in ([["a", "b"], ["c", 0]], [["a"], ["b"]], [["a", "b", "d"]], [[0, 1, 3]], [[0, 1, 2], []]):
        with pytest.raises(ValueError, match="groups must"):
            group_codes(bad, names)


# ---------------------------------------------------------------------- the lp ball
norms = st.sampled_from([1.0, 1.1, 4 / 3, 2.0, 4.0, 50.0, np.inf])
forms = st.lists(st.floats(0.0, 100.0).filter(lambda v: v == 0 or v > 1e-6), min_size=1, max_size=8)


def lp_norm(mu, p):
    return mu.max() if np.isinf(p) else (mu**p).sum() ** (1.0 / p)


@given(norms, forms, st.integers(0, 10**6))
def test_the_support_of_the_lp_ball_is_attained_and_never_exceeded(p, values, seed):
    q, ball = np.array(values), LpBall(p)
    mu, center = ball.best_response(q), ball.center(q.size)
    assert (mu >= 0).all() and np.ptp(center) == 0.0
    np.testing.assert_allclose([lp_norm(mu, p), lp_norm(center, p)], 1.0, rtol=1e-9)
    np.testing.assert_allclose(mu @ q, ball.support(q), rtol=1e-9)
    other = np.random.default_rng(seed).uniform(size=q.size) + 1e-3
    assert other / lp_norm(other, p) @ q <= ball.support(q) * (1.0 + 1e-9)
    np.testing.assert_allclose(dual_norm(q, p), ball.support(q), rtol=1e-12)


@given(st.sampled_from([1.0, 4 / 3, 2.0]), st.integers(1, 6), st.integers(0, 10**6))
def test_the_map_to_the_simplex_and_back(p, m, seed):
    theta = np.random.default_rng(seed).dirichlet(np.ones(m))
    ball = LpBall(p)
    np.testing.assert_allclose(ball.to_simplex(ball.from_simplex(theta)), theta, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("p", [0.5, 0.0, -1.0, np.nan])
def test_norms_below_one_are_refused(p):
    with pytest.raises(ValueError, match="norm must be at least 1"):
        LpBall(p)
