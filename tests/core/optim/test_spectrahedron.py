"""The positive semidefinite combinations of a stack, on the common range of its members."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.optim.spectrahedron import Spectrahedron


def low_rank_stack(n, ranks, seed, dimension=None):
    """Members of given ranks, all within one subspace of the given dimension (None: the whole space)."""
    rng = np.random.default_rng(seed)
    B = np.linalg.qr(rng.normal(size=(n, dimension or n)))[0]
    factors = [B @ rng.normal(size=(B.shape[1], rank)) for rank in ranks]
    return np.stack([F @ F.T for F in factors])


def embedded(cone, M):
    """A matrix of the common range as one of the whole space."""
    return M if cone.basis is None else cone.basis @ M @ cone.basis.T


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 8))
def test_the_common_range_of_low_ranks(seed, m, dimension):
    n = 9
    ranks = np.random.default_rng(seed).integers(1, dimension + 1, size=m)
    Ks = low_rank_stack(n, ranks, seed, dimension)
    scales = 1.0 / np.trace(Ks, axis1=1, axis2=2)
    cone = Spectrahedron(Ks, scales)
    assert cone.size == np.linalg.matrix_rank(np.concatenate(list(Ks)), tol=1e-7)
    np.testing.assert_allclose(cone.basis.T @ cone.basis, np.eye(cone.size), atol=1e-12)
    for K, scale, member in zip(Ks, scales, cone.Ks, strict=True):
        np.testing.assert_allclose(embedded(cone, member), scale * K, atol=1e-10)
        np.testing.assert_array_equal(member, member.T)
    # equal weights lie inside, and any combination has the nonzero eigenvalues that it has on all points
    assert np.linalg.eigvalsh(cone.combine(np.ones(m)))[0] > 0.0
    w = np.random.default_rng(seed).normal(size=m)
    values = np.linalg.eigvalsh(np.einsum("i,iab->ab", w * scales, Ks))
    inside = np.linalg.eigvalsh(cone.combine(w))
    padded = np.sort(np.concatenate([inside, np.zeros(n - cone.size)]))
    np.testing.assert_allclose(padded, values, atol=1e-9)


def test_another_point_inside_may_be_named():
    """Members that are not positive semidefinite, as those of a basis, have their middle elsewhere."""
    A, B = low_rank_stack(6, (2, 3), 5, 4)
    Ks = np.stack([A - B, A + B])  # A = ½(K_0 + K_1) lies on the edge, ones give 2A: rank 2
    assert Spectrahedron(Ks, np.ones(2)).size == 2
    cone = Spectrahedron(Ks, np.array([2.0, 1.0]), np.array([0.0, 1.0]))
    assert cone.size == 4
    np.testing.assert_allclose(embedded(cone, cone.combine(np.array([0.5, -1.0]))), -2.0 * B, atol=1e-12)


@given(st.integers(0, 10**6), st.booleans())
def test_sums_traces_and_inner_products(seed, low):
    rng = np.random.default_rng(seed)
    Ks = low_rank_stack(7, (3, 2, 4), seed, 5) if low else low_rank_stack(7, (7, 1, 7), seed)
    scales = rng.uniform(0.1, 3.0, size=3)
    Ks.flags.writeable = False
    cone = Spectrahedron(Ks, scales)
    scaled = Ks * scales[:, None, None]
    if not low:  # definite members need no basis
        assert cone.basis is None and cone.size == 7 and cone.n_members == 3
        np.testing.assert_array_equal(cone.Ks, scaled)
    assert Spectrahedron(Ks.astype(np.float32), scales).Ks.dtype == np.float64
    A = rng.normal(size=(cone.size, cone.size))
    Z = A + A.T
    everywhere = embedded(cone, Z)
    expected = [np.trace(everywhere @ K) for K in scaled]
    np.testing.assert_allclose(cone.traces(Z), expected, rtol=1e-9, atol=1e-9)
    gram = [[np.sum(K * L) for L in scaled] for K in scaled]
    np.testing.assert_allclose(cone.inner_products(), gram, rtol=1e-10)
    w = rng.normal(size=3)
    whole = np.einsum("i,iab->ab", w, scaled)
    np.testing.assert_allclose(embedded(cone, cone.combine(w)), whole, atol=1e-10 * np.abs(scaled).max())
