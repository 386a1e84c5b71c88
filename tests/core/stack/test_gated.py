"""The locally combined kernel and its adjoint against plain sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.stack.low_rank import short_factor
from multikernel.core.stack.sums import GatedStack, gated_contributions


def make_stack(n, m, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n, max(n // 2, 1)))
    Ks = A @ A.transpose(0, 2, 1)
    Ks = np.ascontiguousarray((0.5 * (Ks + Ks.transpose(0, 2, 1))).astype(dtype))
    Ks.flags.writeable = False
    return Ks, rng


def plain_sum(Ks, sources, eta):
    return np.einsum("im,mij,jm->ij", eta, Ks[sources].astype(float), eta)


def combine(Ks, sources, eta):
    stack = GatedStack(Ks, np.asarray(sources, np.intp))
    stack.combined[:] = np.nan
    stack.set_gates(eta)
    return stack.whole()


SIZES = st.tuples(
    st.integers(1, 12), st.lists(st.integers(0, 2), min_size=1, max_size=5), st.integers(0, 2**20)
)


@given(sizes=SIZES, single=st.booleans())
def test_combined_kernel_of_any_sources(sizes, single):
    n, sources, seed = sizes
    Ks, rng = make_stack(n, 3, seed, np.float32 if single else np.float64)
    eta = rng.uniform(size=(n, len(sources))) * (rng.uniform(size=(n, len(sources))) > 0.2)
    expected = plain_sum(Ks, sources, eta)
    np.testing.assert_allclose(combine(Ks, sources, eta), expected, rtol=1e-12, atol=1e-12)


@given(sizes=SIZES, n_machines=st.integers(1, 3), single=st.booleans())
def test_contributions_of_any_sources(sizes, n_machines, single):
    n, sources, seed = sizes
    Ks, rng = make_stack(n, 3, seed, np.float32 if single else np.float64)
    eta = rng.uniform(size=(n, len(sources)))
    B = rng.normal(size=(n, n_machines)) * (rng.uniform(size=(n, n_machines)) > 0.4)
    c = gated_contributions(Ks, np.asarray(sources), eta, B)
    expected = np.einsum("im,ir,mij,jm,jr->im", eta, B, Ks[sources].astype(float), eta, B)
    np.testing.assert_allclose(c, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(c.sum(), np.trace(B.T @ combine(Ks, sources, eta) @ B), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 130, 200])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_sum_is_symmetric_at_every_size(n, dtype):
    """Rows are formed one by one: what two of them say of the same pair differs by rounding at most."""
    Ks, rng = make_stack(n, 2, 1, dtype)
    eta = rng.uniform(size=(n, 3))
    K = combine(Ks, [0, 1, 1], eta)
    np.testing.assert_allclose(K, K.T, rtol=1e-14, atol=1e-14 * np.abs(K).max())
    np.testing.assert_allclose(K, plain_sum(Ks, [0, 1, 1], eta), rtol=1e-10, atol=1e-10)


def test_products_read_support_rows_only():
    Ks, rng = make_stack(9, 2)
    sources, eta, beta = [0, 1], rng.uniform(size=(9, 2)), np.zeros(9)
    stack = GatedStack(Ks, sources)
    stack.set_gates(eta)
    np.testing.assert_allclose(stack.diag, plain_sum(Ks, sources, eta).diagonal(), rtol=1e-12)
    assert not stack.product(beta).any() and not stack.valid.any()
    beta[[1, 4]] = 2.0, -3.0
    np.testing.assert_allclose(stack.product(beta), plain_sum(Ks, sources, eta) @ beta, rtol=1e-12)
    assert np.flatnonzero(stack.valid).tolist() == [1, 4]
    stack.set_gates(0.5 * eta)
    assert not stack.valid.any()


class TestShortFactors:
    """Kernels of low rank: rows, products and contributions come of their features."""

    @staticmethod
    def linear_kernels(n=120, ranks=(1, 3), seed=0):
        rng = np.random.default_rng(seed)
        tables = [rng.normal(size=(n, rank)) for rank in ranks]
        return np.stack([Z @ Z.T for Z in tables]), rng

    @pytest.mark.parametrize("sources", [[0], [1, 1, 1], [0, 1, 1, 0, 1], [1] * 6])
    @pytest.mark.parametrize("n_machines", [1, 3])
    def test_the_same_as_plain_sums(self, sources, n_machines):
        Ks, rng = self.linear_kernels()
        eta = rng.uniform(size=(120, len(sources)))
        B = rng.normal(size=(120, n_machines)) * (rng.uniform(size=(120, n_machines)) > 0.4)
        stack = GatedStack(Ks, sources)
        assert stack.factors is not None
        for scale in (1.0, 0.5):
            stack.set_gates(scale * eta)
            expected = plain_sum(Ks, sources, scale * eta)
            np.testing.assert_allclose(stack.product(B[:, 0]), expected @ B[:, 0], rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(stack.whole(), expected, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(stack.diag, expected.diagonal(), rtol=1e-10)
            plain = gated_contributions(Ks, np.asarray(sources), scale * eta, B)
            np.testing.assert_allclose(stack.contributions(B), plain, rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("rank", range(1, 8))
    def test_factors_of_every_rank(self, rank):
        Ks, _ = self.linear_kernels(ranks=(rank,))
        L = short_factor(Ks[0])
        assert L.shape == (rank, 120)
        np.testing.assert_allclose(L.T @ L, Ks[0], atol=1e-12 * np.abs(Ks[0]).max())

    def test_full_and_indefinite_kernels_have_none(self):
        Ks, _ = self.linear_kernels()
        assert short_factor(Ks[1] + 1e-6 * np.eye(120)) is None
        hidden = Ks[1].copy()
        hidden[7, 90] = hidden[90, 7] = hidden[7, 90] + 1e-6  # the diagonal does not show it
        assert short_factor(hidden) is None
        assert short_factor(Ks[1] - 2.0 * Ks[0]) is None
        assert GatedStack(np.stack([Ks[0], np.eye(120)]), [0, 1]).factors is None

    def test_nothing_at_all(self):
        assert short_factor(np.zeros((120, 120))).shape == (0, 120)
        stack = GatedStack(np.zeros((1, 120, 120)), [0, 0])
        stack.set_gates(np.ones((120, 2)))
        assert not stack.product(np.ones(120)).any() and not stack.contributions(np.ones((120, 1))).any()
        assert not stack.whole().any()
