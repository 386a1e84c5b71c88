"""New points beside a learned matrix: the bordered eigenvalue, and eigenvectors carried over."""

import numpy as np
import pytest
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
    own = rng.normal(size=4) * 10.0 ** rng.uniform(-2, 2)
    expected = [bordered_smallest(K, row, d) for row, d in zip(rows, own, strict=True)]
    size = np.abs(K).sum(axis=1).max() + np.abs(rows).sum(axis=1).max() + np.abs(own).max()
    np.testing.assert_allclose(Bordered(K).smallest(rows, own), expected, atol=1e-12 * size)


def test_a_row_orthogonal_to_the_lowest_eigenvector():
    """The lowest eigenvalue stays; what the new point couples to lies higher, or falls below it."""
    K = np.diag([-1.0, 2.0, 3.0])
    rows = np.array([[0.0, 0.5, 0.5], [0.0, 10.0, 0.0]])
    expected = [bordered_smallest(K, row, 2.5) for row in rows]
    assert expected[0] == pytest.approx(-1.0, abs=1e-14) and expected[1] < -5.0
    np.testing.assert_allclose(Bordered(K).smallest(rows, np.array([2.5, 2.5])), expected, atol=1e-12)


def test_points_of_the_fit_leave_a_positive_semidefinite_matrix_so():
    """A repeated point adds a zero eigenvalue; a genuine new point of a kernel none below zero."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    new = np.random.default_rng(1).normal(size=(5, 3))
    whole = gaussian(np.concatenate([X, new]), 0.5)
    bordered = Bordered(whole[:20, :20])
    np.testing.assert_allclose(bordered.smallest(whole[:20, :20], np.ones(20)), 0.0, atol=1e-13)
    assert (bordered.smallest(whole[20:, :20], np.ones(5)) > 0.0).all()
    assert (bordered.smallest(whole[20:, :20], np.full(5, 0.2)) < 0.0).all()  # too small for its row
    np.testing.assert_allclose(bordered.values, np.linalg.eigvalsh(whole[:20, :20]), atol=1e-13)


def test_weights_of_any_sign_are_found_out():
    """K = K_1 − wK_2, positive semidefinite on the points it was made of, need not be so on others."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 4))
    first, second = gaussian(X, 0.3), X @ X.T / 4.0
    old = slice(0, 25)
    half = np.linalg.cholesky(first[old, old])
    w = 1.0 / np.linalg.eigvalsh(np.linalg.solve(half, np.linalg.solve(half, second[old, old]).T))[-1]
    K = first - w * second
    assert np.linalg.eigvalsh(K[old, old])[0] > -1e-10
    values = Bordered(K[old, old]).smallest(K[25:, old], np.diagonal(K)[25:])
    expected = [bordered_smallest(K[old, old], K[i, old], K[i, i]) for i in range(25, 40)]
    np.testing.assert_allclose(values, expected, atol=1e-12)
    assert values.min() < -1e-3


def test_nothing_is_modified():
    rng = np.random.default_rng(0)
    K, rows, own = symmetric(6, rng, "definite"), rng.normal(size=(3, 6)), rng.normal(size=3)
    for array in (K, rows, own):
        array.flags.writeable = False
    Bordered(K).smallest(rows, own)
    leading_eigenvectors(K)


# --------------------------------------------------------------------------- eigenvectors


@given(st.integers(1, 20), st.integers(0, 10**6), st.integers(1, 20))
def test_leading_eigenvectors(n, seed, asked):
    K = symmetric(n, np.random.default_rng(seed), "definite")
    values, vectors = leading_eigenvectors(K, asked)
    assert values.size == min(n, asked) and vectors.shape == (n, values.size) and vectors.flags.c_contiguous
    np.testing.assert_allclose(values, np.linalg.eigvalsh(K)[::-1][: values.size], rtol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(values.size), atol=1e-12)
    np.testing.assert_allclose(K @ vectors, vectors * values, atol=1e-11 * values[0])


def test_no_more_eigenvectors_than_the_rank():
    K = symmetric(12, np.random.default_rng(0), "low rank")
    for asked in (None, 4, 9):
        values, vectors = leading_eigenvectors(K, asked)
        assert values.size == 4 == vectors.shape[1] and values[-1] > 1e-6
    np.testing.assert_allclose((vectors * values) @ vectors.T, K, atol=1e-12 * values[0])


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
