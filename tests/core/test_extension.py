"""New points beside a learned matrix: the bordered eigenvalue, and eigenvectors carried over."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.unlabeled import Bordered, leading_eigenvectors
from tests.core.problems import gaussian


def bordered_smallest(K, row, own):
    return np.linalg.eigvalsh(np.block([[K, row[:, None]], [row[None], np.array([[own]])]]))[0]


def symmetric(n, rng, kind):
    A = rng.normal(size=(n, n))
    if kind == "indefinite":
        return A + A.T
    if kind == "definite":
        return A @ A.T + 0.1 * np.eye(n)
    if kind == "low rank":
        return A[:, : max(1, n // 3)] @ A[:, : max(1, n // 3)].T
    return np.diag(np.repeat(rng.normal(size=-(-n // 2)), 2)[:n])  # double eigenvalues


@given(
    st.integers(1, 25),
    st.sampled_from(["indefinite", "definite", "low rank", "double"]),
    st.integers(0, 10**6),
    st.floats(-6.0, 3.0),
)
def test_the_smallest_eigenvalue_with_a_point_added(n, kind, seed, power):
    rng = np.random.default_rng(seed)
    K = symmetric(n, rng, kind)
    rows = 10.0**power * rng.normal(size=(4, n))
    rows[2] = 0.0  # a point that resembles no other
    rows[3, : n // 2] = 0.0
    rows[3] -= rows[3] @ np.linalg.eigh(K)[1][:, :1] @ np.linalg.eigh(K)[1][:, :1].T  # no part in the lowest
    own = rng.normal(size=4) * 10.0 ** rng.uniform(-2, 2)
    expected = [bordered_smallest(K, row, d) for row, d in zip(rows, own, strict=True)]
    size = np.abs(K).sum(axis=1).max() + np.abs(rows).sum(axis=1).max() + np.abs(own).max()
    np.testing.assert_allclose(Bordered(K).smallest(rows, own), expected, atol=1e-12 * size)


# --------------------------------------------------------------------------- eigenvectors


@given(
    st.integers(1, 20),
    st.integers(0, 10**6),
    st.one_of(st.none(), st.integers(1, 20)),
    st.sampled_from(["definite", "low rank"]),
)
def test_leading_eigenvectors(n, seed, asked, kind):
    K = symmetric(n, np.random.default_rng(seed), kind)
    rank = n if kind == "definite" else max(1, n // 3)
    K.flags.writeable = False
    values, vectors = leading_eigenvectors(K, asked)
    assert (
        values.size == min(rank, asked or n)
        and vectors.shape == (n, values.size)
        and vectors.flags.c_contiguous
    )
    np.testing.assert_allclose(values, np.linalg.eigvalsh(K)[::-1][: values.size], rtol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(values.size), atol=1e-12)
    np.testing.assert_allclose(K @ vectors, vectors * values, atol=1e-11 * values[0])


def test_eigenvectors_are_carried_to_points_by_their_kernel():
    """v(x) = K(x, ·)v/λ: on the points themselves it is v; on others it is the least-norm continuation."""
    X = np.random.default_rng(3).normal(size=(18, 2))
    new = np.random.default_rng(4).normal(size=(6, 2))
    K = gaussian(np.concatenate([X, new]), 0.4)
    values, vectors = leading_eigenvectors(K[:18, :18], 8)
    np.testing.assert_allclose(K[:18, :18] @ vectors / values, vectors, atol=1e-10)
    carried = K[18:, :18] @ vectors / values
    # all eigenvectors together reproduce K(x, ·), hence the kernel's own interpolation of v from the points
    interpolated = K[18:, :18] @ np.linalg.solve(K[:18, :18], vectors)
    np.testing.assert_allclose(carried, interpolated, atol=1e-6)
