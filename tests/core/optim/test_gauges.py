"""Gauges: of degree one, convex, their rows are below them, and their support is the largest over the set."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from multikernel.core.optim.weight_sets import CappedSum, MixedNorm, dual_norm
from multikernel.rules.margin.group_mkl import group_codes

CODES = np.array([1, 0, 1, 2, 0])
COSTS = np.array([1.0, 0.6, 1.7])
GAUGES = {
    "sum": lambda: CappedSum(5),
    "capped": lambda: CappedSum(5, 2.3),
    "all": lambda: CappedSum(5, 5.0),
    "groups": lambda: MixedNorm(CODES, 2.0, 1.0, COSTS),
    "in groups": lambda: MixedNorm(CODES, 1.0, 3.0, COSTS),
    "largest group": lambda: MixedNorm(CODES, 1.5, np.inf, COSTS),
}
WEIGHTS = arrays(float, 5, elements=st.one_of(st.just(0.0), st.floats(1e-3, 3.0)))


def expression(gauge, eta):
    """g, for the conic solver."""
    if isinstance(gauge, CappedSum):
        return cp.maximum(cp.sum(eta) / gauge.total, cp.max(eta) if gauge.total > 1.0 else 0.0)
    within = [COSTS[l] * cp.norm(eta[np.flatnonzero(np.equal(CODES, l))], gauge.inner) for l in range(3)]
    return cp.norm(cp.hstack(within), "inf" if np.isinf(gauge.outer) else gauge.outer)


@given(WEIGHTS, WEIGHTS, st.floats(0.1, 10.0))
@pytest.mark.parametrize("name", GAUGES)
def test_laws(name, eta, other, scale):
    gauge = GAUGES[name]()
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
def test_support_is_the_largest_over_the_set(name):
    gauge = GAUGES[name]()
    for seed in range(2):
        q = np.random.default_rng(seed).exponential(size=5)
        eta = cp.Variable(5, nonneg=True)
        problem = cp.Problem(cp.Maximize(q @ eta), [expression(gauge, eta) <= 1.0])
        problem.solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(gauge.support(q), problem.value, rtol=1e-6)


def test_dual_norms():
    q = np.array([3.0, 4.0])
    assert [dual_norm(q, p) for p in (1.0, 2.0, np.inf)] == pytest.approx([4.0, 5.0, 7.0])


def test_groups_by_name_and_number():
    names = ["a", "b", "c"]
    np.testing.assert_array_equal(group_codes(None, names), [0, 1, 2])
    np.testing.assert_array_equal(group_codes([["c", 0], ("b",)], names), [0, 1, 0])
    for bad in ([["a", "b"], ["c", 0]], [["a"], ["b"]], [["a", "b", "d"]], [[0, 1, 3]], [[0, 1, 2], []]):
        with pytest.raises(ValueError, match="groups must"):
            group_codes(bad, names)
