"""Class columns against their definitions, and the centred stack against centred matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.scatter import (
    CenteredStack,
    class_columns,
    class_contrast,
    compressed,
    separation_columns,
)
from tests.core.test_alignment_measure import centering


def codes_of(sizes, seed=0):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))


def random_kernels(m, n, seed=0, rank=None):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(m, n, rank or n)) + rng.normal(size=(m, 1, rank or n))
    return features @ features.transpose(0, 2, 1) * rng.uniform(0.1, 10.0, size=(m, 1, 1))


@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), st.integers(0, 9))
def test_the_columns_are_scaled_centred_indicators(sizes, seed):
    codes = codes_of(sizes, seed)
    n, k = codes.size, len(sizes)
    H = class_columns(codes)
    for c in range(k):
        np.testing.assert_allclose(
            H[:, c], np.sqrt(n / sizes[c]) * centering(n) @ (codes == c), rtol=0, atol=1e-12
        )
    np.testing.assert_allclose(H @ np.sqrt(sizes), 0.0, atol=1e-10)
    assert np.trace(H.T @ H) == pytest.approx(n * (k - 1))
    Q = compressed(H)
    assert Q.shape == (n, k - 1)
    np.testing.assert_allclose(Q @ Q.T, H @ H.T, atol=1e-10)


def test_two_classes_have_one_column():
    codes = codes_of([3, 5])
    a = class_contrast(codes)
    assert a.sum() == pytest.approx(0.0, abs=1e-15)
    x = np.arange(8.0)
    assert a @ x == pytest.approx(x[codes == 1].mean() - x[codes == 0].mean())
    H = class_columns(codes)
    np.testing.assert_allclose(H @ H.T, 15 * np.outer(a, a), atol=1e-12)
    assert separation_columns(codes).shape == (8, 1)
    assert separation_columns(codes_of([2, 3, 4])).shape == (9, 2)


@given(st.integers(1, 5), st.integers(2, 12), st.integers(0, 20))
def test_the_stack_is_centred_without_being_copied(m, n, seed):
    Ks = random_kernels(m, n, seed)
    P = centering(n)
    centred = P @ Ks @ P
    stack = CenteredStack(Ks)
    traces = np.trace(centred, axis1=1, axis2=2)
    np.testing.assert_allclose(stack.traces, traces, rtol=1e-9)
    assert np.shares_memory(stack.Ks, Ks)
    A = centred / traces[:, None, None]
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(m))
    shares[rng.random(m) < 0.3] = 0.0
    expected = np.tensordot(shares, A, 1) + 0.3 * np.eye(n) + 1.0 / n**2
    np.testing.assert_allclose(np.triu(stack.combine(shares, 0.3)), np.triu(expected), atol=1e-10)
    B = rng.normal(size=(n, 2))
    B -= B.mean(axis=0)
    np.testing.assert_allclose(stack.times(B), A @ B, atol=1e-9)
    products = np.full((2, 2, n), 7.0)
    stack.products(B.T, np.array([m - 1, 0]), products)
    np.testing.assert_allclose(products, B.T @ A[[-1, 0]], atol=1e-9)
    assert stack.floor(shares) <= np.sum(B * (np.tensordot(shares, A, 1) @ B)) / np.sum(B * B) + 1e-12
    with_constant = CenteredStack(np.concatenate([Ks * 1e-200, np.full((1, n, n), 3.0)]))
    assert with_constant.usable.tolist() == [True] * m + [False]  # a small kernel is not a constant one
    assert not with_constant.times(B)[-1].any()


def test_eigenvalues_of_kernels_near_the_identity_are_bounded_from_below():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(9, 9)) * 0.02
    K = np.eye(9) + noise + noise.T
    stack = CenteredStack(np.array([K, np.ones((9, 9)) + np.eye(9)]))
    P = centering(9)
    least = np.linalg.eigvalsh(P @ K @ P)[1] / stack.traces[0]  # the first is that of the vector of ones
    assert 0.5 * least < stack.floor(np.array([1.0, 0.0])) <= least
    assert stack.floor(np.array([0.0, 1.0])) == 0.0
