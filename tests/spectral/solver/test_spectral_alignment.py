"""Alignment of weighted eigenvectors with classes, against the matrices written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.alignment import alignment
from multikernel.spectral.solver.kernel import (
    rank_one_alignment,
    spectral_alignment_value,
    target_norm,
    target_products,
    target_products_without_each,
)


def make_rows(seed, k=3, l=12, p=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(l, p)), rng.permutation(np.arange(l) % k)


def target(codes, k):
    """The inner products of the corners of a regular simplex."""
    return np.where(codes[:, None] == codes, 1.0, -1.0 / (k - 1))


def test_the_target_of_two_classes_is_that_of_signs():
    codes = np.array([0, 1, 1, 0, 1])
    y = np.where(codes == 1, 1.0, -1.0)
    np.testing.assert_array_equal(target(codes, 2), np.outer(y, y))
    V = make_rows(0, l=5)[0]
    np.testing.assert_allclose(target_products(V, codes, 2), (V.T @ y) ** 2, rtol=1e-12)
    assert target_norm(codes, 2) == pytest.approx(y @ y)


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_products_norms_and_value_are_those_of_the_matrices(seed, k):
    V, codes = make_rows(seed, k)
    T = target(codes, k)
    q = target_products(V, codes, k)
    np.testing.assert_allclose(q, [v @ T @ v for v in V.T], rtol=1e-9, atol=1e-12)
    assert target_norm(codes, k) == pytest.approx(np.linalg.norm(T))
    w = np.random.default_rng(seed + 1).uniform(0.0, 1.0, V.shape[1])
    value = spectral_alignment_value(w, V, q, target_norm(codes, k))
    assert value == pytest.approx(alignment((V * w) @ V.T, T), abs=1e-12)


def test_a_kernel_that_vanishes_is_not_aligned():
    V, codes = make_rows(0)
    assert spectral_alignment_value(np.zeros(4), V, target_products(V, codes, 3), 1.0) == 0.0


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_products_without_each_are_those_of_the_others(seed, k):
    V, codes = make_rows(seed, k, l=k + 3)  # some classes have one point
    rows = target_products_without_each(V, codes, k)
    for i in range(len(V)):
        others = np.arange(len(V)) != i
        expected = target_products(V[others], codes[others], k)
        np.testing.assert_allclose(rows[i], expected, rtol=1e-8, atol=1e-12)


def test_cosines_of_rank_one_matrices():
    V, codes = make_rows(4)
    T, norm = target(codes, 3), target_norm(codes, 3)
    table = rank_one_alignment(V, target_products(V, codes, 3), norm)
    matrices = [np.outer(v, v) for v in V.T]
    np.testing.assert_allclose(table.target, [alignment(K, T) for K in matrices], atol=1e-12)
    pairs = [[alignment(K, L) for L in matrices] for K in matrices]
    np.testing.assert_allclose(table.pairs, pairs, atol=1e-12)
    np.testing.assert_allclose(table.norms, [np.linalg.norm(K) for K in matrices], rtol=1e-12)
    assert table.target_norm == norm
