"""The reciprocal model of the optimal value: its derivatives, its minimum, and what it is a model of."""

import numpy as np
import pytest
from scipy.optimize import minimize

from multikernel.core.optim.reciprocal import _evaluate, minimize_reciprocal


def _problem(seed, n=12, m=4):
    """J(μ) = max_β y'β − ½ β'K(μ)β of random kernels, its q and H, at random weights."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(m, n, n))
    Ks = Z @ Z.transpose(0, 2, 1)
    mu = rng.dirichlet(np.ones(m))
    y = rng.normal(size=n)
    K = np.tensordot(mu, Ks, 1)
    beta = np.linalg.solve(K, y)
    F = Ks @ beta
    return Ks, mu, y, F, F @ beta, F @ np.linalg.solve(K, F.T)


def _value(mu, Ks, y):
    return 0.5 * y @ np.linalg.solve(np.tensordot(mu, Ks, 1), y)


def _on_rank_one_kernels(t, Ks, mu, y, F, q):
    K = np.tensordot(mu, Ks, 1) + np.einsum("m,mi,mj->ij", t / q, F, F)
    return 0.5 * y @ np.linalg.solve(K, y)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_value_on_kernels_of_rank_one_and_has_its_derivatives(seed):
    Ks, mu, y, F, q, H = _problem(seed)
    t = np.random.default_rng(seed).dirichlet(np.ones(mu.size)) - mu
    model = _evaluate(np.linalg.cholesky(H), q, t)
    here = _value(mu, Ks, y)
    np.testing.assert_allclose(here + model.value, _on_rank_one_kernels(t, Ks, mu, y, F, q), rtol=1e-10)
    e = 1e-5 * np.eye(mu.size)
    ahead = [_evaluate(np.linalg.cholesky(H), q, t + d) for d in e]
    back = [_evaluate(np.linalg.cholesky(H), q, t - d) for d in e]
    slopes = [(a.value - b.value) / 2e-5 for a, b in zip(ahead, back, strict=True)]
    np.testing.assert_allclose(model.gradient, slopes, rtol=1e-6)
    bends = [(a.gradient - b.gradient) / 2e-5 for a, b in zip(ahead, back, strict=True)]
    np.testing.assert_allclose(model.hessian, bends, rtol=1e-5, atol=1e-7 * np.abs(model.hessian).max())


def test_it_has_the_derivatives_of_the_optimal_value():
    Ks, mu, y, _, q, H = _problem(5)
    model = _evaluate(np.linalg.cholesky(H), q, np.zeros(mu.size))
    e = 1e-4 * np.eye(mu.size)
    slopes = [(_value(mu + d, Ks, y) - _value(mu - d, Ks, y)) / 2e-4 for d in e]
    np.testing.assert_allclose(model.gradient, slopes, rtol=1e-4)
    np.testing.assert_allclose(model.hessian, H)


@pytest.mark.parametrize("seed", range(4))
def test_the_minimum_is_that_of_a_general_solver(seed):
    Ks, mu, y, F, q, H = _problem(seed, m=5)
    found, ratios = minimize_reciprocal(mu, q, H)
    assert found.min() >= 0.0
    np.testing.assert_allclose(found.sum(), 1.0)
    other = minimize(
        lambda x: _on_rank_one_kernels(x - mu, Ks, mu, y, F, q), mu, method="SLSQP", bounds=[(0.0, 1.0)] * 5,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1.0}, options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    value = _on_rank_one_kernels(found - mu, Ks, mu, y, F, q)
    assert value <= other.fun + 1e-7 * abs(other.fun)
    K = np.tensordot(mu, Ks, 1) + np.einsum("m,mi,mj->ij", (found - mu) / q, F, F)
    np.testing.assert_allclose(ratios, F @ np.linalg.solve(K, y) / q, rtol=1e-8)


def test_kernels_of_scales_far_apart():
    """J = Σ a / μ, least at (Σ √a)²; the scales are 1e24 apart."""
    scales, mu = np.array([1.0, 1e12, 1e-12]), np.array([0.98, 0.01, 0.01])
    a = scales * np.array([0.04, 0.25, 0.49])
    found, _ = minimize_reciprocal(mu, 2 * a / mu**2, np.diag(2 * a / mu**3))
    assert np.sum(a / found) <= 1.001 * np.sqrt(a).sum() ** 2


def test_a_kernel_without_slope_is_left_to_another_model():
    assert minimize_reciprocal(np.array([0.5, 0.5]), np.array([1.0, 0.0]), np.eye(2)) is None
