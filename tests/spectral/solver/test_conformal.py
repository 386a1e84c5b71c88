"""The conformal factor: scatters of explicit features, the published steps and the true maximum."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from multikernel.spectral.solver.conformal_kernel import (
    learn_conformal,
    learn_conformal_kernel,
    scatter_matrices,
)
from tests.spectral import wine
from tests.test_bad_input import refuses


def small(seed=0, n=18, n_cores=5):
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(n, 2)), rng.permutation(np.arange(n) % 3)
    X = X + codes[:, None]
    K0 = wine.gaussian(X, X, 3.0)
    return K0, np.column_stack([np.ones(n), K0[:, :n_cores]]), codes


def plain_ratio(K0, K1, codes, a):
    """tr S_b / tr S_w of the rescaled kernel, class by class."""
    q = K1 @ a
    K = q[:, None] * K0 * q[None]
    sums = [K[np.ix_(codes == c, codes == c)].sum() / (codes == c).sum() for c in np.unique(codes)]
    return (sum(sums) - K.sum() / len(K)) / (np.trace(K) - sum(sums))


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 5))
def test_forms_are_traces_of_scatters_of_rescaled_features(seed, n_classes, d):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 8)])
    F, q = rng.normal(size=(codes.size, d)), rng.normal(size=codes.size)
    B0, W0 = scatter_matrices(F @ F.T, codes)
    points = q[:, None] * F
    inside = sum(
        ((points[codes == c] - points[codes == c].mean(axis=0)) ** 2).sum() for c in range(n_classes)
    )
    total = ((points - points.mean(axis=0)) ** 2).sum()
    scale = 1.0 + total
    assert q @ W0 @ q == pytest.approx(inside, abs=1e-10 * scale)
    assert q @ B0 @ q == pytest.approx(total - inside, abs=1e-10 * scale)
    np.testing.assert_array_equal(B0, B0.T)
    np.testing.assert_array_equal(W0, W0.T)


@pytest.mark.parametrize("seed", range(4))
def test_no_factor_separates_better_than_the_eigenvector(seed):
    K0, K1, codes = small(seed)
    result = learn_conformal(K0, K1, codes, method="eig")
    assert np.linalg.norm(result.coefficients) == pytest.approx(1.0)
    assert (K1 @ result.coefficients).sum() > 0.0
    assert plain_ratio(K0, K1, codes, result.coefficients) == pytest.approx(result.value, rel=1e-6)
    rng = np.random.default_rng(seed)
    others = [result.coefficients + 0.1 * rng.normal(size=K1.shape[1]) for _ in range(200)]
    others += list(rng.normal(size=(200, K1.shape[1])))
    assert max(plain_ratio(K0, K1, codes, a) for a in others) <= result.value * (1.0 + 1e-8)
    assert learn_conformal(K0, K1, codes).value < result.value


def test_a_step_is_half_the_gradient_of_the_ratio():
    K0, K1, codes = small()
    step, start = 1e-5, np.eye(K1.shape[1])[0]
    found = learn_conformal(K0, K1, codes, n_steps=1, step=step).coefficients
    gradient = np.array(
        [
            (plain_ratio(K0, K1, codes, start + h) - plain_ratio(K0, K1, codes, start - h)) / 2e-6
            for h in 1e-6 * np.eye(start.size)
        ]
    )
    moved = start + 0.5 * step * gradient
    np.testing.assert_allclose(found, moved / np.linalg.norm(moved), atol=1e-12)


def test_steps_shrink_to_zero_and_climb():
    K0, K1, codes = small()
    result = learn_conformal(K0, K1, codes, n_steps=50)
    assert (np.diff(result.history) > 0.0).all()
    assert np.linalg.norm(result.coefficients) == pytest.approx(1.0)
    # the first of two steps has the full size, the second half of it
    once = learn_conformal(K0, K1, codes, n_steps=1, step=0.02)
    twice = learn_conformal(K0, K1, codes, n_steps=2, step=0.02)
    assert twice.history[1] == pytest.approx(once.value, rel=1e-12)
    again = learn_conformal(K0, K1 @ _first(once.coefficients), codes, n_steps=1, step=0.01)
    a = _first(once.coefficients) @ again.coefficients
    assert plain_ratio(K0, K1, codes, a) == pytest.approx(twice.value, rel=1e-9)


def _first(a):
    """An orthogonal matrix whose first column is a: steps are the same in the turned coordinates."""
    Q = scipy.linalg.qr(np.column_stack([a, np.eye(a.size)]))[0]
    return Q * np.sign(Q[:, 0] @ a)


def test_the_order_of_the_points_does_not_matter():
    K0, K1, codes = small()
    order = np.random.default_rng(5).permutation(len(K0))
    for method in ("gradient", "eig"):
        plain = learn_conformal(K0, K1, codes, method=method)
        mixed = learn_conformal(K0[np.ix_(order, order)], K1[order], codes[order], method=method)
        np.testing.assert_allclose(mixed.coefficients, plain.coefficients, atol=1e-7)


@pytest.mark.parametrize("method", ["gradient", "eig"])
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_factor_does_not_depend_on_the_scale_of_the_kernel(method, scale):
    K0, K1, codes = small()
    scaled = np.column_stack([np.ones(len(K0)), scale * K1[:, 1:]])
    plain = learn_conformal(K0, K1, codes, method=method)
    found = learn_conformal(scale * K0, scaled, codes, method=method)
    np.testing.assert_allclose(scaled @ found.coefficients, K1 @ plain.coefficients, atol=1e-7)


def test_steps_too_large_for_a_wild_kernel_still_climb():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(30, 3)) ** 3, np.arange(30) % 2
    K0 = (X @ X.T + 1.0) ** 3
    K1 = np.column_stack([np.ones(30), K0[:, ::2]])
    for step in (0.01, 1.0, 100.0):
        result = learn_conformal(K0, K1, codes, step=step)
        assert (np.diff(result.history) >= 0.0).all() and result.value > result.history[0]
        assert result.value == pytest.approx(plain_ratio(K0, K1, codes, result.coefficients), rel=1e-6)


# ---------------------------------------------------------------------- what has no ratio
@pytest.mark.parametrize("method", ["gradient", "eig"])
def test_classes_of_one_point_each_have_no_scatter_inside(method):
    K0, K1, _ = small(n=4, n_cores=2)
    with refuses("scatter inside the classes is zero", "two points that differ"):
        learn_conformal(K0, K1, np.arange(4), method=method)


@pytest.mark.parametrize("method", ["gradient", "eig"])
def test_one_class_of_one_point_is_allowed(method):
    K0, K1, codes = small()
    codes = np.where(np.arange(codes.size) == 0, 2, codes % 2)
    result = learn_conformal(K0, K1, codes, method=method)
    assert np.isfinite(result.value) and result.value > result.history[0]


def test_equal_class_means_give_the_steps_nothing_to_start_from():
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]) + [2.0, 5.0]
    codes = np.array([0, 0, 1, 1])
    K0 = X @ X.T
    K1 = np.column_stack([np.ones(4), K0])
    with refuses("means of all classes agree", "nothing tells which way", "Gaussian"):
        learn_conformal(K0, K1, codes)
    assert learn_conformal(K0, K1, codes, method="eig").value > 0.05  # the maximum needs no start
    with refuses("means of all classes agree"):
        learn_conformal(K0, K1[:, :1], codes, method="eig")
    with refuses("scatter inside the classes is zero"):
        learn_conformal(np.ones((4, 4)), np.ones((4, 2)), codes, method="eig")


# ---------------------------------------------------------------------- labelled and unlabelled points
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


def test_coordinates_give_the_kernel_as_a_dot_product():
    K, codes, _ = wine.problem()
    model = learn_conformal_kernel(K, codes, np.arange(0, 36, 3))
    Z = model.spectrum.vectors * np.sqrt(model.spectrum.values)
    np.testing.assert_allclose(Z @ Z.T, model.kernel(), atol=1e-8)
    np.testing.assert_allclose(model.extend(K), Z, atol=1e-6)


def test_new_points_are_rescaled_like_the_others():
    X, y = wine.load()
    K = wine.gaussian(X[:100], X[:100], 26.0)
    model = learn_conformal_kernel(K, y[:36], np.arange(0, 36, 3))
    rows = wine.gaussian(X[100:], X[:100], 26.0)
    every = learn_conformal_kernel(wine.gaussian(X, X, 26.0), y[:36], np.arange(0, 36, 3))
    np.testing.assert_allclose(model.rows(rows), every.kernel()[100:, :36], atol=1e-10)
