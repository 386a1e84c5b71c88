"""Counts of large eigenvalues, and the costs made of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from multikernel.mkl.regularized.folds import count_large_eigenvalues, eigenvalue_costs


def test_diagonal_blocks_are_counted_by_hand():
    block = np.array([[1.0, 0.6], [0.6, 1.0]])  # eigenvalues 1.6 and 0.4
    K = np.kron(np.eye(3), block)
    same = np.ones((6, 6))
    assert count_large_eigenvalues(np.array([K, np.eye(6), same])).tolist() == [3, 6, 1]


@given(st.integers(0, 1000), st.floats(1e-3, 1e3))
def test_lengths_of_samples_do_not_matter(seed, size):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(9, 4))
    K = A @ A.T
    lengths = size * rng.uniform(0.1, 10.0, 9)
    unit = K / np.sqrt(np.outer(np.diag(K), np.diag(K)))
    expected = max(1, sum(np.linalg.svd(unit, compute_uv=False) > 0.5))
    assert count_large_eigenvalues(K[None] * np.outer(lengths, lengths)).tolist() == [expected]


def test_samples_without_length_count_for_nothing_and_a_count_is_at_least_one():
    K = np.zeros((3, 4, 4))
    K[0, :2, :2] = np.eye(2)
    K[1] = np.full((4, 4), 0.1)
    assert count_large_eigenvalues(K).tolist() == [2, 1, 1]


def test_costs_are_relative_to_the_first_kernel():
    np.testing.assert_allclose(eigenvalue_costs(np.array([4, 1, 16]), 0.5), [1.0, 0.5, 2.0])
    assert eigenvalue_costs(np.array([4, 1, 16]), 0.0).tolist() == [1.0, 1.0, 1.0]
