"""The step of a quadratic model over the simplex: its optimality conditions, also for extreme matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.optim.simplex import minimize_step


def problem(m, rank, seed, sparse):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(m, rank))
    x = rng.dirichlet(np.ones(m))
    if sparse and m > 1:
        x[rng.permutation(m)[: m // 2]] = 0.0
        x /= x.sum()
    return root @ root.T, rng.normal(size=m), x


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10**6), st.booleans())
def test_optimality(m, rank, seed, sparse):
    H, g, x = problem(m, rank, seed, sparse)
    z = minimize_step(H, g, x)
    assert z.min() >= 0.0 and z.sum() == pytest.approx(1.0, abs=1e-14)
    slope = g + H @ (z - x)
    size = np.abs(g).max() + np.abs(H).max()
    assert slope @ z - slope.min() <= 1e-9 * size


@pytest.mark.parametrize("seed", range(5))
def test_a_matrix_that_is_larger_than_the_slope_by_eight_digits(seed):
    """Along one direction; the others have to be as exact as without it."""
    H, g, x = problem(6, 6, seed, sparse=False)
    steep = np.random.default_rng(seed).normal(size=6)
    steep -= steep.mean()
    z = minimize_step(H + 1e8 * np.outer(steep, steep), g, x)
    assert abs(steep @ (z - x)) <= 1e-7
    slope = g + H @ (z - x)
    free = np.flatnonzero(z)
    frame = np.column_stack([np.ones(free.size), steep[free]])
    left = slope[free] - frame @ np.linalg.lstsq(frame, slope[free], rcond=None)[0]
    np.testing.assert_allclose(left, 0.0, atol=1e-6)


def test_a_matrix_that_is_larger_by_twelve_digits_where_it_does_not_matter():
    """Two members are tied; what makes the program definite must not move the others."""
    H = np.diag([0.0, 0.0, 1.0, 2.0, 3.0])
    steep = np.array([1.0, -1.0, 0.0, 0.0, 0.0])
    g, x = np.array([0.0, 0.0, 0.1, -0.1, 0.05]), np.full(5, 0.2)
    z = minimize_step(H + 1e12 * np.outer(steep, steep), g, x)
    slope = g + H @ (z - x)
    np.testing.assert_allclose(slope, slope[0], atol=1e-5)
    np.testing.assert_allclose(z[0], z[1], rtol=1e-10)


def test_nothing_is_modified_and_members_at_zero_may_come_in():
    x, g = np.array([1.0, 0.0, 0.0]), np.array([0.0, -1.0, 5.0])
    before = x.copy()
    np.testing.assert_allclose(minimize_step(np.eye(3), g, x), [0.5, 0.5, 0.0], atol=1e-12)
    np.testing.assert_array_equal(x, before)
