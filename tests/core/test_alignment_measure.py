"""Alignment against its definition, written plainly; its derivatives against differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.alignment import align_stack, alignment, label_alignment


def random_kernels(seed, n=13, m=4):
    """Positive semidefinite matrices of several ranks and sizes."""
    rng = np.random.default_rng(seed)
    factors = [rng.normal(size=(n, int(rng.integers(1, n + 3)))) for _ in range(m)]
    return np.stack([10.0 ** rng.uniform(-3, 3) * (F @ F.T) for F in factors])


def random_labels(seed, n):
    y = np.random.default_rng(seed + 1).choice([-1.0, 1.0], n)
    y[:2] = 1.0, -1.0
    return y


def centering(n):
    return np.eye(n) - np.ones((n, n)) / n


def cosine(A, B):
    return np.trace(A.T @ B) / np.sqrt(np.trace(A.T @ A) * np.trace(B.T @ B))


# --- of two matrices ---------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10**6),
    a=st.floats(1e-100, 1e100),
    b=st.floats(1e-100, 1e100),
    centered=st.booleans(),
)
def test_laws(seed, a, b, centered):
    K, L = random_kernels(seed, n=6, m=2)
    value = alignment(K, L, centered=centered)
    assert -1e-12 <= value <= 1.0
    H = centering(6) if centered else np.eye(6)
    assert value == pytest.approx(cosine(H @ K @ H, H @ L @ H), rel=1e-9, abs=1e-12)
    order = np.random.default_rng(seed).permutation(6)
    shuffled = alignment(K[np.ix_(order, order)], L[np.ix_(order, order)], centered=centered)
    assert alignment(a * K, b * L, centered=centered) == pytest.approx(value, abs=1e-12)
    assert alignment(L, K, centered=centered) == pytest.approx(value, abs=1e-12)
    assert shuffled == pytest.approx(value, abs=1e-12)
    assert alignment(K, a * K, centered=centered) == pytest.approx(1.0, abs=1e-12)
    assert alignment(K, -K, centered=centered) == pytest.approx(-1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("K1", "K2", "centered", "message"),
    [
        (np.zeros((3, 3)), np.eye(3), False, "K1 is"),
        (np.eye(3), 0.1 * np.ones((3, 3)), True, "not constant; K2 is"),
        (np.eye(3), np.eye(4), False, r"same samples; got shapes \(3, 3\) and \(4, 4\)"),
        (np.eye(3), np.ones((3, 4)), False, "K2 must be a square Gram matrix"),
        (np.eye(3) + np.triu(np.ones((3, 3)), 1), np.eye(3), False, "symmetric; K1 differs"),
        (np.eye(3), np.diag([1.0, np.nan, 1.0]), False, "K2 holds NaN"),
        ("text", np.eye(3), False, "K1 must be a numeric array"),
    ],
)
def test_bad_matrices(K1, K2, centered, message):
    with pytest.raises(ValueError, match=message):
        alignment(K1, K2, centered=centered)


@pytest.mark.parametrize("centered", [False, True])
def test_alignment_with_labels_is_that_with_their_outer_product(centered):
    K = random_kernels(5, m=1)[0]
    y = random_labels(5, len(K))
    K.setflags(write=False)
    expected = alignment(K, np.outer(y, y), centered=centered)
    np.testing.assert_allclose(label_alignment(K, y, centered=centered), expected, rtol=1e-10)
    assert label_alignment(np.zeros((2, 2)), np.array([1.0, -1.0]), centered=centered) == 0.0


# --- of a stack --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize(("n", "n_labelled"), [(13, 13), (13, 8), (301, 301)])  # the last of many blocks
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_inner_products_of_a_stack(centered, n, n_labelled, dtype):
    Ks = random_kernels(7, n).astype(dtype)
    y = random_labels(7, n_labelled)
    Ks.setflags(write=False)
    table = align_stack(Ks, y, centered=centered)
    H = centering(n) if centered else np.eye(n)
    plain = [H @ K.astype(float) @ H for K in Ks]
    T = np.zeros((n, n))
    T[:n_labelled, :n_labelled] = np.outer(y, y)
    np.testing.assert_allclose(table.q, [np.sum(K * T) for K in plain], rtol=1e-10)
    np.testing.assert_allclose(table.S, [[np.sum(K * L) for L in plain] for K in plain], rtol=1e-10)
    np.testing.assert_allclose(table.target_norm, np.linalg.norm(H @ T @ H), rtol=1e-12)
    np.testing.assert_allclose(table.target, [cosine(K, H @ T @ H) for K in plain], rtol=1e-10)


def test_centred_products_survive_a_large_mean():
    """⟨K, L⟩ − (2/n) r's + … would lose all digits here: the entries are 1e9 times what is left of them."""
    Ks = random_kernels(9, m=3)
    Ks /= np.abs(Ks).max(axis=(1, 2), keepdims=True)
    y = random_labels(9, 13)
    shifted = align_stack(Ks + 1e9, y, centered=True)
    expected = align_stack(Ks, y, centered=True)
    np.testing.assert_allclose(shifted.S, expected.S, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(shifted.q, expected.q, rtol=1e-5, atol=1e-5)


def test_huge_and_tiny_kernels_neither_overflow_nor_underflow():
    Ks = random_kernels(2, m=3)
    y = random_labels(2, 13)
    factors = np.array([1e200, 1e-200, 1.0])
    scaled, plain = align_stack(Ks * factors[:, None, None], y), align_stack(Ks, y)
    np.testing.assert_allclose(scaled.pairs, plain.pairs, rtol=1e-12)
    np.testing.assert_allclose(scaled.target, plain.target, rtol=1e-12)
    np.testing.assert_allclose(scaled.norms, plain.norms * factors, rtol=1e-12)


@pytest.mark.parametrize("centered", [False, True])
def test_gradient(centered):
    Ks = random_kernels(11)
    y = random_labels(11, 9)
    table = align_stack(Ks, y, centered=centered)
    mu = np.random.default_rng(0).uniform(0.2, 1.0, len(Ks)) / table.norms
    value, gradient = table.value_and_gradient(mu)
    n = Ks.shape[1]
    H = centering(n) if centered else np.eye(n)
    T = np.zeros((n, n))
    T[:9, :9] = np.outer(y, y)
    np.testing.assert_allclose(value, cosine(H @ np.tensordot(mu, Ks, 1) @ H, H @ T @ H), rtol=1e-10)
    for i, step in enumerate(1e-6 * mu):
        ahead, behind = mu.copy(), mu.copy()
        ahead[i] += step
        behind[i] -= step
        slope = (table.value_and_gradient(ahead)[0] - table.value_and_gradient(behind)[0]) / (2.0 * step)
        np.testing.assert_allclose(gradient[i], slope, rtol=1e-4, atol=1e-9 * table.norms[i])
    assert abs(gradient @ mu) < 1e-12  # the length of the weights does not matter


def test_stacks_without_an_alignment():
    for other, centered, message in (
        (np.zeros((3, 3)), False, "kernel 1 has no positive diagonal"),
        (np.full((3, 3), 0.3), True, "not constant; kernel 1 is"),
        (1e300 * np.eye(3), False, r"entries of kernel 1 are as large as 1.0e\+300.*overflow"),
        (1e-300 * np.eye(3), False, r"entries of kernel 1 are as large as 1.0e-300.*overflow"),
    ):
        with pytest.raises(ValueError, match=message):
            align_stack(np.stack([np.eye(3), other]), np.array([1.0, -1.0, 1.0]), centered=centered)
