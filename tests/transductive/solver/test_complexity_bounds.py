"""Complexity of kernel families: against all sign vectors, one by one, and against the definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.transductive.solver.complexity import (
    mean_with_error,
    nonnegative_limit,
    stack_ratios,
    vector_ratios,
)


def all_signs(n):
    return np.array(list(itertools.product([-1.0, 1.0], repeat=n)))


def random_kernels(m, n, seed):
    """Kernels of different ranks and sizes."""
    rng = np.random.default_rng(seed)
    factors = [rng.normal(size=(n, 1 + int(rng.integers(n)))) for _ in range(m)]
    return np.array([10.0 ** rng.uniform(-3, 3) * F @ F.T for F in factors])


def exact(Ks):
    """E max_j s'K_j s / tr K_j over all 2^n sign vectors."""
    best = [max(s @ K @ s / np.trace(K) for K in Ks) for s in all_signs(Ks.shape[1])]
    return np.mean(best)


def test_ratios_are_those_of_signs_drawn_in_order():
    Ks = random_kernels(3, 7, 0)
    ratios = stack_ratios(Ks, 600, np.random.default_rng(5))
    S = np.random.default_rng(5).choice([-1.0, 1.0], size=(600, 7))
    plain = [[s @ K @ s / np.trace(K) for K in Ks] for s in S]
    np.testing.assert_allclose(ratios, plain, rtol=1e-12)


def test_single_precision_costs_only_its_own_rounding():
    Ks = random_kernels(3, 20, 1)
    double = stack_ratios(Ks, 50, np.random.default_rng(0))
    single = stack_ratios(Ks.astype(np.float32), 50, np.random.default_rng(0))
    assert single.dtype == np.float64
    np.testing.assert_allclose(single, double, atol=1e-5)


def test_vectors_are_rank_one_kernels():
    V = np.linalg.qr(np.random.default_rng(2).normal(size=(9, 4)))[0]
    as_stack = stack_ratios(np.array([np.outer(v, v) for v in V.T]), 300, np.random.default_rng(1))
    np.testing.assert_allclose(vector_ratios(V, 300, np.random.default_rng(1)), as_stack, atol=1e-12)


@pytest.mark.parametrize("n", [4, 7, 10])
def test_monte_carlo_agrees_with_all_sign_vectors(n):
    Ks = random_kernels(3, n, n)
    mean, error = mean_with_error(stack_ratios(Ks, 4000, np.random.default_rng(0)).max(axis=1))
    truth = exact(Ks)
    assert abs(mean - truth) < 4.0 * error
    assert error < 0.05 * truth  # otherwise the line above says little


@pytest.mark.parametrize("n", [2, 4, 6])
def test_kernels_of_all_signs_fit_every_draw_perfectly(n):
    Ks = np.array([np.outer(s, s) for s in all_signs(n)])
    best = stack_ratios(Ks, 500, np.random.default_rng(0)).max(axis=1)
    np.testing.assert_allclose(best, n, rtol=1e-12)
    assert nonnegative_limit(Ks) == pytest.approx(n)


@given(st.integers(1, 4), st.integers(2, 7), st.integers(0, 10**6))
def test_the_limit_holds_and_one_is_the_least(m, n, seed):
    Ks = random_kernels(m, n, seed)
    truth = exact(Ks)
    assert 1.0 - 1e-12 <= truth <= nonnegative_limit(Ks) * (1.0 + 1e-12)


@pytest.mark.parametrize("m", [1, 3])
def test_the_limit_is_the_smaller_of_both(m):
    spread = np.array([np.eye(6)] * m)  # largest eigenvalue over trace: 1/6
    assert nonnegative_limit(spread) == pytest.approx(1.0)
    narrow = np.array([np.diag(np.arange(6) == i).astype(float) for i in range(m)])  # rank one: 1
    assert nonnegative_limit(narrow) == pytest.approx(m)


def test_mean_and_standard_error():
    values = np.random.default_rng(0).exponential(size=37)
    mean, error = mean_with_error(values)
    assert mean == pytest.approx(np.sum(values) / 37)
    assert error == pytest.approx(np.sqrt(np.sum((values - mean) ** 2) / 36 / 37))


def test_the_first_draws_do_not_depend_on_how_many_follow():
    Ks = random_kernels(2, 11, 3)
    few = stack_ratios(Ks, 300, np.random.default_rng(4))
    many = stack_ratios(Ks, 700, np.random.default_rng(4))
    np.testing.assert_allclose(many[:300], few, rtol=1e-12)
