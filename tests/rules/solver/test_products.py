"""Products of powers of kernels, against plain NumPy and finite differences."""

import numpy as np
import pytest

from multikernel.rules.solver.products import PowerProduct, combine_powers


def gaussians(X, Z=None):
    """exp(−(x_j − z_j)²), one for each column."""
    Z = X if Z is None else Z
    return np.stack([np.exp(-(np.subtract.outer(a, b) ** 2)) for a, b in zip(X.T, Z.T, strict=True)])


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(9, 3))


ETA = np.array([0.4, 0.0, 1.7])


@pytest.mark.parametrize("dtype", [float, np.float32])
@pytest.mark.parametrize("scales", [None, np.array([1e6, 1.0, 1e-6])])
def test_matrix_is_the_product_of_powers(X, dtype, scales):
    Ks = (gaussians(X) * (1.0 if scales is None else scales[:, None, None])).astype(dtype)
    before = Ks.copy()
    K = PowerProduct(Ks, scales=scales).matrix(ETA)
    expected = np.exp(-((X[:, None] - X[None]) ** 2 @ ETA))
    np.testing.assert_allclose(K, expected, rtol=1e-12 if dtype is float else 1e-4)
    assert K.dtype == np.float64
    assert np.array_equal(K, K.T)
    assert np.array_equal(Ks, before)


def test_slopes_against_finite_differences(X):
    rng = np.random.default_rng(1)
    G, duals = rng.normal(size=(9, 9)), rng.normal(size=(2, 9))
    product = PowerProduct(gaussians(X) * np.array([2.0, 0.5, 1.0])[:, None, None])
    eta, h = np.array([0.4, 0.9, 0.2]), 1e-6
    K = product.matrix(eta)
    ups = [product.matrix(eta + h * e) for e in np.eye(3)]
    downs = [product.matrix(eta - h * e) for e in np.eye(3)]
    slopes = [np.vdot(G, up - down) / (2 * h) for up, down in zip(ups, downs, strict=True)]
    np.testing.assert_allclose(product.slopes(K, G), slopes, rtol=1e-7, atol=1e-8)
    forms = [sum(b @ (up - down) @ b for b in duals) / (2 * h) for up, down in zip(ups, downs, strict=True)]
    np.testing.assert_allclose(product.forms(K, duals), forms, rtol=1e-7, atol=1e-8)


def test_new_rows(X):
    Z = X[:2] + 0.3
    pairs = [(m, K) for m, K in enumerate(gaussians(Z, X)) if ETA[m] > 0]
    expected = np.exp(-((Z[:, None] - X[None]) ** 2 @ ETA))
    scales = np.array([3.0, 1.0, 0.2])
    np.testing.assert_allclose(combine_powers(pairs, ETA, "abc"), expected, rtol=1e-12)
    scaled = [(m, K * scales[m]) for m, K in pairs]
    np.testing.assert_allclose(combine_powers(scaled, ETA, "abc", scales), expected, rtol=1e-12)


def test_a_new_row_far_from_all_is_like_none(X):
    far = np.zeros((1, 9))
    assert np.array_equal(combine_powers([(0, far), (2, far)], ETA, "abc"), far)
    assert np.array_equal(combine_powers([(1, far)], ETA, "abc"), np.ones((1, 9)))


@pytest.mark.parametrize(("entry", "remedy"), [(0.0, "smaller gamma"), (-0.25, "Gaussian or Laplacian")])
def test_entries_that_have_no_power_are_refused(X, entry, remedy):
    Ks = gaussians(X)
    Ks[1, 2, 5] = Ks[1, 5, 2] = entry
    with pytest.raises(ValueError, match=rf"kernel 'b' has {entry:.3g} at \(2, 5\).*{remedy}"):
        PowerProduct(Ks, list("abc"))
    with pytest.raises(ValueError, match="'kernel-1'"):
        PowerProduct(Ks)
    if entry < 0:
        with pytest.raises(ValueError, match="kernel 'b' has"):
            combine_powers([(1, Ks[1])], ETA, "abc")


@pytest.mark.parametrize("n", [30, 90])
def test_kernels_whose_powers_are_indefinite_are_found(n):
    X = np.abs(np.random.default_rng(0).normal(size=(n, 3)))
    fine = gaussians(X)
    quadratic = (X @ X.T + 0.1) ** 3
    power = np.linalg.eigvalsh(quadratic**0.15)
    assert power[0] < -1e-6 * power[-1]  # there is something to be found
    assert PowerProduct(np.stack([fine[0], quadratic])).first_indivisible() == 1
    assert PowerProduct(np.stack([fine[0] * 1e6, fine[1]])).first_indivisible() is None
    laplacian, flat = np.exp(-np.sqrt(-np.log(fine[0]))), fine[1] ** 1e-5
    assert PowerProduct(np.stack([laplacian, flat]).astype(np.float32)).first_indivisible() is None


def test_what_overflows_is_infinite(X):
    K = PowerProduct(gaussians(X) * 1e300).matrix(np.array([1.0, 1.0, 1.0]))
    assert np.isinf(K).any()
