"""Direct discriminant analysis, against dense scatters in an explicit feature space."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from multikernel.spectral.solver.direct_discriminant import direct_discriminant
from tests.test_bad_input import refuses


def blobs(sizes, d, seed=0, offset=0.0):
    """Points around class means of their own, with scatter of another shape for each coordinate."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    means = 2.0 * rng.normal(size=(len(sizes), d)) + offset
    order = rng.permutation(codes.size)
    return (means[codes] + rng.normal(size=(codes.size, d)) * np.linspace(0.2, 2.0, d))[order], codes[order]


def scatters(X, codes):
    """S_b and S_w (d, d), each divided by n, summed point by point."""
    n, d = X.shape
    between, inside = np.zeros((d, d)), np.zeros((d, d))
    for c in np.unique(codes):
        mean = X[codes == c].mean(axis=0)
        gap = mean - X.mean(axis=0)
        between += np.count_nonzero(codes == c) / n * np.outer(gap, gap)
        for x in X[codes == c]:
            inside += np.outer(x - mean, x - mean) / n
    return between, inside


@pytest.mark.parametrize("reg", [1.0, 0.05, 30.0])
@pytest.mark.parametrize(("sizes", "d"), [((9, 14), 4), ((8, 12, 6, 9), 6), ((5, 4, 6, 7, 3), 20)])
def test_directions_are_those_of_the_dense_computation(sizes, d, reg):
    X, codes = blobs(sizes, d)
    between, inside = scatters(X, codes)
    basis = scipy.linalg.orth(between, rcond=1e-10)
    spreads, vectors = scipy.linalg.eigh(basis.T @ inside @ basis, basis.T @ between @ basis)
    expected = basis @ vectors / np.sqrt(reg + spreads)
    W = X.T @ direct_discriminant(X @ X.T, codes, reg)
    assert W.shape == (d, len(sizes) - 1)
    np.testing.assert_allclose(np.abs(W), np.abs(expected), atol=1e-9)
    # and the scatters in these coordinates, by themselves
    np.testing.assert_allclose(W.T @ (inside + reg * between) @ W, np.eye(W.shape[1]), atol=1e-10)


@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), st.integers(1, 9), st.integers(0, 10**6))
def test_scatters_add_up_to_the_identity(sizes, d, seed):
    X, codes = blobs(sizes, d, seed)
    K = X @ X.T
    between, inside = scatters(K @ direct_discriminant(K, codes), codes)
    np.testing.assert_allclose(between + inside, np.eye(len(between)), atol=1e-6)
    off = between - np.diag(between.diagonal())
    np.testing.assert_allclose(off, 0.0, atol=1e-6)


def test_the_sharpest_direction_is_first_and_points_from_the_first_class_to_the_last():
    X, codes = blobs((10, 12, 8, 15), 7, seed=3)
    Z = X @ X.T @ direct_discriminant(X @ X.T, codes)
    between, _ = scatters(Z, codes)
    assert (np.diff(between.diagonal()) < 0.0).all()
    assert (Z[codes == 3].mean(axis=0) > Z[codes == 0].mean(axis=0)).all()
    for flip in (1.0, -1.0):  # two classes: the sign must not hang on that of the features
        z = X @ X.T @ direct_discriminant(flip * X @ (flip * X).T, 1 * (codes > 1))
        assert z[codes > 1].mean() > z[codes <= 1].mean()


def test_scores_depend_neither_on_the_scale_of_the_kernel_nor_directions_on_its_origin():
    X, codes = blobs((7, 9, 8), 5)
    K = X @ X.T
    T = direct_discriminant(K, codes)
    for scale in (1e-12, 1e12):
        np.testing.assert_allclose(scale * K @ direct_discriminant(scale * K, codes), K @ T, atol=1e-9)
    np.testing.assert_allclose(direct_discriminant(K + 5.0, codes), T, atol=1e-10)


def test_a_class_of_one_point_takes_part_through_its_mean():
    X, codes = blobs((1, 8, 9), 4)
    K = X @ X.T
    Z = K @ direct_discriminant(K, codes)
    between, inside = scatters(Z, codes)
    assert Z.shape[1] == 2
    np.testing.assert_allclose(between + inside, np.eye(2), atol=1e-9)
    alone = np.arange(4)  # no class has any scatter: only `reg` scales the directions
    Z = X[:4] @ X[:4].T @ direct_discriminant(X[:4] @ X[:4].T, alone, 0.25)
    np.testing.assert_allclose(scatters(Z, alone)[0], 4.0 * np.eye(3), atol=1e-8)


def test_equal_class_means_leave_no_direction():
    corners = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    X = np.vstack([corners, 3.0 * corners]) + [7.3, -0.1]
    codes = np.array([0, 0, 1, 1] * 2)
    with refuses("means of all classes agree", "no direction", "Gaussian"):
        direct_discriminant(X @ X.T, codes)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    assert direct_discriminant(np.exp(-squares), codes).shape == (8, 1)
