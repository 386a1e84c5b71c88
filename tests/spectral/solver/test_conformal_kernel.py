"""Conformal kernels over labelled and unlabelled points."""

import numpy as np
import pytest

from multikernel.spectral.solver.conformal_kernel import learn_conformal, learn_conformal_kernel
from tests.discriminant import wine


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("method", ["gradient", "eig"])
def test_the_kernel_is_rescaled_at_every_point(center, method):
    K, codes, _ = wine.problem()
    cores = np.arange(0, 36, 3)
    model = learn_conformal_kernel(K, codes, cores, method=method, center=center)
    H = np.eye(178) - 1.0 / 178
    base = H @ K @ H if center else K
    K1 = np.column_stack([np.ones(36), base[:36, cores]])
    learned = learn_conformal(base[:36, :36], K1, codes, method=method)
    q = learned.coefficients[0] + base[:, cores] @ learned.coefficients[1:]
    np.testing.assert_allclose(model.factors, q, atol=1e-10)
    np.testing.assert_allclose(model.kernel(), q[:, None] * q * base, atol=1e-10)
    np.testing.assert_array_equal(model.labelled(), model.kernel()[:36, :36])
    np.testing.assert_array_equal(model.unlabelled(), model.kernel()[36:, :36])
    np.testing.assert_allclose(model.rows(K), model.kernel()[:, :36], atol=1e-10)
    assert model.objective == pytest.approx(learned.value)


def test_the_published_step_on_wine():
    K, codes, _ = wine.problem()
    assert learn_conformal_kernel(K, codes, np.arange(0, 36, 3)).objective == pytest.approx(0.58219, abs=2e-5)


def test_coordinates_give_the_kernel_as_a_dot_product():
    K, codes, _ = wine.problem()
    model = learn_conformal_kernel(K, codes, np.arange(0, 36, 3))
    Z = model.coordinates
    np.testing.assert_allclose(Z @ Z.T, model.kernel(), atol=1e-8)
    np.testing.assert_allclose(model.extend(K), Z, atol=1e-6)


def test_new_points_are_rescaled_like_the_others():
    X, y = wine.load()
    K = wine.gaussian(X[:100], X[:100], 26.0)
    model = learn_conformal_kernel(K, y[:36], np.arange(0, 36, 3))
    rows = wine.gaussian(X[100:], X[:100], 26.0)
    every = learn_conformal_kernel(wine.gaussian(X, X, 26.0), y[:36], np.arange(0, 36, 3))
    np.testing.assert_allclose(model.rows(rows), every.kernel()[100:, :36], atol=1e-10)
