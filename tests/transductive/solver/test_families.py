"""Families of kernel matrices, and orthonormal bases of their combinations, against plain NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.transductive.solver.families import KernelBasis, RankOneFamily, StackFamily

N_ALL, N_LABELLED = 14, 9


def make_stack(n=N_ALL, m=4, seed=0, dtype=float):
    """Positive definite matrices of very different sizes."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n, n))
    sizes = 10.0 ** rng.uniform(-2, 2, size=m)
    Ks = A @ A.transpose(0, 2, 1) * sizes[:, None, None]
    return (0.5 * (Ks + Ks.transpose(0, 2, 1))).astype(dtype)


def make_family(kind, with_identity, size, seed=0):
    """The family, and its members over all points written down plainly (the identity last)."""
    if kind == "stack":
        Ks = make_stack(seed=seed)
        family = StackFamily(Ks, N_LABELLED, with_identity, size)
        members = [K * (N_ALL * size / sum(K[i, i] for i in range(N_ALL))) for K in Ks]
    else:
        V = np.linalg.qr(np.random.default_rng(seed).normal(size=(N_ALL, 5)))[0]
        family = RankOneFamily(V, N_LABELLED, with_identity, size)
        members = [N_ALL * size * np.outer(v, v) for v in V.T]
    identity = [size * np.eye(N_ALL)] if with_identity else []
    return family, np.array(members + identity)


families = pytest.mark.parametrize(
    ("kind", "with_identity", "size"),
    [
        (kind, identity, size)
        for kind in ("stack", "rank one")
        for identity in (False, True)
        for size in (1.0, 0.02)
    ],
)


@families
def test_what_a_family_says_of_itself(kind, with_identity, size):
    family, members = make_family(kind, with_identity, size)
    assert (family.n, family.n_labelled, family.n_members) == (N_ALL, N_LABELLED, len(members))
    assert family.has_identity is with_identity
    np.testing.assert_allclose(np.trace(members, axis1=1, axis2=2), N_ALL * size)
    np.testing.assert_allclose(family.traces, 1.0, rtol=1e-13)
    if kind == "stack":
        given_matrices = np.concatenate([make_stack(), np.eye(N_ALL)[None]])[: len(members)]
    else:
        given_matrices = members / np.trace(members, axis1=1, axis2=2)[:, None, None]
        given_matrices[4 + 1 :] *= N_ALL  # the identity itself
    np.testing.assert_allclose(family.scales[:, None, None] * given_matrices, members, rtol=1e-12, atol=1e-14)


@families
def test_sums_and_products_of_the_members(kind, with_identity, size):
    family, members = make_family(kind, with_identity, size)
    rng, N = np.random.default_rng(1), N_LABELLED
    w, beta = rng.normal(size=len(members)), rng.normal(size=N)
    close = {"rtol": 1e-12, "atol": 1e-13 * size}
    np.testing.assert_allclose(family.combined(w), np.einsum("i,ijk->jk", w, members)[:N, :N], **close)
    columns = np.column_stack([K[:N, :N] @ beta for K in members])
    np.testing.assert_allclose(family.products(beta), columns, **close)
    kernels = len(members) - with_identity  # the whole leaves the identity out
    np.testing.assert_allclose(
        family.whole(w), np.einsum("i,ijk->jk", w[:kernels], members[:kernels]), **close
    )


def test_given_scales_keep_the_relative_traces():
    """Members of a basis may have any trace, a negative one too: it is told in units of n · size."""
    Ks = make_stack(m=3)
    Ks[1] -= 2.0 * np.trace(Ks[1]) / N_ALL * np.eye(N_ALL)
    scales = np.array([2.0, 0.5, 3.0])
    family = StackFamily(Ks, N_LABELLED, True, 0.1, scales)
    np.testing.assert_allclose(family.traces[:3], scales * np.trace(Ks, axis1=1, axis2=2) / (0.1 * N_ALL))
    assert family.traces[1] < 0.0 and family.traces[3] == 1.0
    np.testing.assert_array_equal(family.scales, [2.0, 0.5, 3.0, 0.1])
    w = np.array([1.0, -2.0, 0.5, 4.0])
    expected = 2.0 * Ks[0] - Ks[1] + 1.5 * Ks[2] + 0.4 * np.eye(N_ALL)
    np.testing.assert_allclose(family.combined(w), expected[:N_LABELLED, :N_LABELLED], rtol=1e-12)


# --------------------------------------------------------------------------- orthonormal bases


@given(st.integers(1, 6), st.integers(3, 9), st.integers(0, 10**6))
def test_a_basis_is_orthonormal_and_spans_the_same_matrices(m, n, seed):
    rng = np.random.default_rng(seed)
    Ks = make_stack(n, m, seed)
    scales = 10.0 ** rng.uniform(-1, 1, size=m) / np.trace(Ks, axis1=1, axis2=2)
    basis = KernelBasis(Ks, scales)
    assert len(basis.Qs) == min(m, n * (n + 1) // 2)
    gram = np.einsum("iab,jab->ij", basis.Qs, basis.Qs)
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-13)
    np.testing.assert_allclose(basis.Qs, basis.Qs.transpose(0, 2, 1), atol=1e-13)
    w = rng.normal(size=m)
    wanted = np.einsum("i,iab->ab", w * scales, Ks)
    u = basis.coordinates(w)
    np.testing.assert_allclose(np.einsum("j,jab->ab", u, basis.Qs), wanted, atol=1e-12 * np.abs(wanted).max())
    again = basis.weights(u)
    size = np.abs(scales * again) @ np.abs(Ks).max(axis=(1, 2))
    np.testing.assert_allclose(np.einsum("i,iab->ab", again * scales, Ks), wanted, atol=1e-9 * size)


def test_dependent_kernels_are_dropped_and_their_weights_are_the_smallest():
    """Two copies share the weight by their scales; a sum of others is left to no one in particular."""
    independent = make_stack(m=3) / np.trace(make_stack(m=3), axis1=1, axis2=2)[:, None, None]
    Ks = np.concatenate([independent, independent[:1], (independent[1] + independent[2])[None]])
    scales = np.array([1.0, 1.0, 1.0, 2.0, 1.0])
    basis = KernelBasis(Ks, scales)
    assert len(basis.Qs) == 3
    w = np.array([1.0, 2.0, -1.0, 0.5, 4.0])
    smallest = basis.weights(basis.coordinates(w))
    # by hand: the matrix is a K_0 + b K_1 + c K_2, reached by all weights R w = (a, b, c)
    R = np.array([[1.0, 0, 0, 2.0, 0], [0, 1.0, 0, 0, 1.0], [0, 0, 1.0, 0, 1.0]])
    np.testing.assert_allclose(R @ smallest, R @ w, atol=1e-12)
    np.testing.assert_allclose(smallest, np.linalg.pinv(R) @ (R @ w), atol=1e-11)
    assert np.linalg.norm(smallest) < np.linalg.norm(w)


@pytest.mark.parametrize(("distance", "kept"), [(1e-5, 2), (1e-9, 1), (0.0, 1)])
def test_a_direction_is_left_out_where_the_kernels_hardly_differ(distance, kept):
    K, other = make_stack(m=2)
    K, other = K / np.linalg.norm(K), other / np.linalg.norm(other)
    basis = KernelBasis(np.stack([K, K + distance * other]), np.ones(2))
    assert len(basis.Qs) == kept
    total = np.einsum("j,jab->ab", basis.coordinates(np.array([0.5, 0.5])), basis.Qs)
    np.testing.assert_allclose(total, K + 0.5 * distance * other, atol=1e-8)
