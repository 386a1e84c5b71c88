"""The diffusion kernel against SciPy's matrix exponential, and its laws."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from multikernel.kernels import diffusion_kernel


def random_network(seed, n, density=0.4):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.uniform(0.1, 3.0, (n, n)) * (rng.uniform(size=(n, n)) < density), 1)
    return upper + upper.T


@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), beta=st.floats(0.01, 5.0), normalized=st.booleans())
def test_it_is_the_exponential_of_the_laplacian(seed, n, beta, normalized):
    A = random_network(seed, n)
    degrees = A.sum(axis=1)
    L = np.diag(degrees) - A
    if normalized:
        for i in range(n):
            for j in range(n):
                L[i, j] = L[i, j] / np.sqrt(degrees[i] * degrees[j]) if degrees[i] and degrees[j] else 0.0
    before = A.copy()
    K = diffusion_kernel(A, beta, normalized=normalized)
    np.testing.assert_allclose(K, scipy.linalg.expm(-beta * L), atol=1e-10)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    np.testing.assert_array_equal(A, before)


def test_heat_is_kept_and_stays_within_a_component():
    A = scipy.linalg.block_diag(random_network(1, 5, 1.0), random_network(2, 4, 1.0), [[0.0]])
    K = diffusion_kernel(A, 2.0, normalized=False)
    np.testing.assert_allclose(K.sum(axis=1), 1.0)
    np.testing.assert_allclose(K[:5, 5:], 0.0, atol=1e-14)
    assert K[:5, :5].min() > 0.0
    for normalized in (True, False):
        np.testing.assert_allclose(diffusion_kernel(A, 2.0, normalized=normalized)[9, 9], 1.0)


def test_time_adds_up():
    A = random_network(3, 8)
    one, two = diffusion_kernel(A, 1.0), diffusion_kernel(A, 2.0)
    np.testing.assert_allclose(one @ one, two, atol=1e-12)


def test_a_sparse_network_is_the_same():
    A = random_network(4, 9)
    np.testing.assert_array_equal(diffusion_kernel(scipy.sparse.csr_matrix(A)), diffusion_kernel(A))


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        (np.ones((2, 3)), "square"),
        ([[0.0, 1.0], [2.0, 0.0]], "symmetric"),
        ([[0.0, -1.0], [-1.0, 0.0]], r"negative; got -1 at \(0, 1\)"),
        ([[0.0, 1.0], [1.0, 2.0]], "node 1 has an edge to itself"),
        ([[0.0, np.nan], [np.nan, 0.0]], "NaN"),
    ],
)
def test_what_is_no_network_is_refused(adjacency, message):
    with pytest.raises(ValueError, match=message):
        diffusion_kernel(adjacency)


def test_beta_must_be_positive():
    with pytest.raises(ValueError, match="beta must be greater than 0"):
        diffusion_kernel([[0.0, 1.0], [1.0, 0.0]], 0.0)
