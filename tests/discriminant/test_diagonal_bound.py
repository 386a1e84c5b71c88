"""The smallest diagonal above a matrix: CVXOPT, closed forms, and the derivative of the smooth form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.diagonal_discriminant import diagonal_bound, smooth_bound
from judges.programs.discriminant_published import smallest_diagonal


def random_matrix(k, rank, seed, spread=1.0):
    """Symmetric; positive semidefinite of a rank, or indefinite for rank 0."""
    rng = np.random.default_rng(seed)
    if rank == 0:
        C = rng.normal(size=(k, k))
        return C + C.T
    X = 10.0 ** (spread * rng.uniform(-1, 1, (k, 1))) * rng.normal(size=(k, rank))
    return X @ X.T


sizes = st.integers(2, 9)
seeds = st.integers(0, 10**6)


@pytest.mark.parametrize(("k", "rank"), [(2, 1), (3, 2), (3, 3), (4, 0), (6, 3), (10, 9)])
def test_against_cvxopt(k, rank):
    C = random_matrix(k, rank, seed=k + rank)
    expected, Z = smallest_diagonal(C)
    found = diagonal_bound(C)
    assert found.upper == pytest.approx(expected, rel=1e-7)
    np.testing.assert_allclose((found.Z * C).sum(), (Z * C).sum(), rtol=1e-7)


@given(sizes, st.integers(0, 9), seeds, st.floats(-12, 12))
def test_it_is_enclosed_by_feasible_points_at_every_scale(k, rank, seed, magnitude):
    C = 10.0**magnitude * random_matrix(k, min(rank, k), seed, spread=2.0)
    size = np.linalg.norm(C)
    found = diagonal_bound(C)
    assert found.lower <= found.upper <= found.lower + 2e-10 * size
    assert found.upper == pytest.approx(found.t.sum(), rel=1e-14)
    assert found.lower == pytest.approx((found.Z * C).sum(), rel=1e-14)
    assert np.linalg.eigvalsh(np.diag(found.t) - C)[0] >= -1e-15 * k * size
    assert np.linalg.eigvalsh(found.Z)[0] >= -1e-14
    np.testing.assert_array_equal(np.diag(found.Z), 1.0)


@given(st.floats(0, 10), st.floats(0, 10), st.floats(-10, 10))
def test_of_two_by_two(a, b, c):
    """v = a + b + 2|c|."""
    found = diagonal_bound(np.array([[a, c], [c, b]]))
    assert found.upper == pytest.approx(a + b + 2.0 * abs(c), abs=1e-8)


def test_of_rank_one_diagonal_and_zero():
    x = np.array([3.0, -1.0, 0.5, 2.0])
    assert diagonal_bound(np.outer(x, x)).upper == pytest.approx(np.abs(x).sum() ** 2, rel=1e-9)
    assert diagonal_bound(np.diag(x)).upper == pytest.approx(x.sum(), rel=1e-9)
    nothing = diagonal_bound(np.zeros((3, 3)))
    assert nothing.upper == nothing.lower == 0.0
    np.testing.assert_array_equal(nothing.Z, np.eye(3))
    np.testing.assert_array_equal(nothing.t, 0.0)


@given(sizes, st.integers(0, 9), seeds, st.integers(-8, 1))
def test_the_smooth_form_is_central_and_encloses(k, rank, seed, power):
    C = random_matrix(k, min(rank, k), seed)
    sigma = 10.0**power * np.linalg.norm(C)
    found = smooth_bound(C, sigma)
    np.testing.assert_array_equal(np.diag(found.Z), 1.0)
    inner = float((found.Z * C).sum())
    assert found.t.sum() - inner == pytest.approx(k * sigma, rel=1e-5)
    central = found.Z @ (np.diag(found.t) - C) / sigma
    np.testing.assert_allclose(central, np.eye(k), atol=1e-5)
    assert found.value == pytest.approx(inner + sigma * np.linalg.slogdet(found.Z)[1], rel=1e-9, abs=1e-12)
    exact = diagonal_bound(C)
    slack = 1e-9 * np.linalg.norm(C)
    assert found.value <= exact.upper + slack
    assert inner <= exact.upper + slack
    assert found.t.sum() >= exact.lower - slack


@given(sizes, st.integers(1, 9), seeds, st.sampled_from([1e-3, 1e-2, 1.0]))
def test_its_gradient_is_z(k, rank, seed, relative):
    C = random_matrix(k, min(rank, k), seed, spread=0.5)
    C /= np.linalg.norm(C)
    D = random_matrix(k, 0, seed + 1)
    D /= np.linalg.norm(D)
    h = 1e-3 * relative
    values = [smooth_bound(C + step * h * D, relative).value for step in (-2, -1, 1, 2)]
    slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    assert slope == pytest.approx((smooth_bound(C, relative).Z * D).sum(), rel=1e-6, abs=1e-8)
