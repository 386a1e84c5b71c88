"""Divergences of Gaussians: the definition by dense matrices, and derivatives by differences."""

import numpy as np
import pytest

from multikernel.rules.solver.divergence import Away, GaussianDivergence, Towards
from tests.rules.similarity_problems import ideal, problem


def example(seed, task, reg, n=12, m=4):
    kernels, y = problem(seed, task, n=n, m=m)
    values, vectors = np.linalg.eigh(ideal(y, task))
    T = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, values > 1e-9]
    scales = np.array([np.diagonal(K).mean() for K in kernels])
    eta = np.random.default_rng(seed).random(m) + 0.05
    return GaussianDivergence(np.stack(kernels), scales, T, reg), kernels, scales, T, eta


def gaussian_divergence(first, second):
    """KL(N(0, first) ‖ N(0, second)), from the definition."""
    logs = np.linalg.slogdet(second)[1] - np.linalg.slogdet(first)[1]
    return 0.5 * (np.trace(np.linalg.solve(second, first)) + logs - len(first))


@pytest.mark.parametrize("task", ["two", "three", "outputs"])
@pytest.mark.parametrize("reg", [1e-2, 1.0])
def test_values_are_the_definition(task, reg):
    divergence, kernels, scales, T, eta = example(1, task, reg)
    identity = reg * np.eye(len(T))
    K = sum(e * K / s for e, K, s in zip(eta, kernels, scales, strict=True)) + identity
    Ky = T @ T.T + identity
    assert Towards(divergence, eta).divergence == pytest.approx(gaussian_divergence(K, Ky), rel=1e-9)
    assert Away(divergence, eta).divergence == pytest.approx(gaussian_divergence(Ky, K), rel=1e-9)


@pytest.mark.parametrize("form", [Towards, Away])
def test_derivatives_are_those_of_finite_differences(form):
    divergence, _, _, _, eta = example(2, "two", 0.3)
    here = form(divergence, eta)
    hessian = here.hessian if form is Towards else here.convex_hessian + here.concave_hessian
    for m, step in enumerate(1e-5 * np.eye(eta.size)):
        ahead, back = form(divergence, eta + step), form(divergence, eta - step)
        assert here.gradient[m] == pytest.approx((ahead.value - back.value) / 2e-5, rel=1e-6, abs=1e-7)
        np.testing.assert_allclose(hessian[m], (ahead.gradient - back.gradient) / 2e-5, rtol=1e-5, atol=1e-6)


def test_curvatures_have_their_signs():
    divergence, _, _, _, eta = example(3, "three", 0.1)
    at = Away(divergence, eta)
    assert np.linalg.eigvalsh(Towards(divergence, eta).hessian)[0] >= 0.0
    assert np.linalg.eigvalsh(at.convex_hessian)[0] >= 0.0
    assert np.linalg.eigvalsh(at.concave_hessian)[-1] <= 0.0
