"""The weighted sum of a stack, its adjoint, and the sets of weights, against plain NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.optim.weight_sets import LpBall
from multikernel.core.stack.linear import WeightedStack


def make(n=23, m=5, dtype=np.float64, identity=False, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n, n))
    Ks = np.ascontiguousarray((A @ A.transpose(0, 2, 1) / n).astype(dtype))
    Ks = np.ascontiguousarray(0.5 * (Ks + Ks.transpose(0, 2, 1)))
    scales = rng.uniform(0.5, 2.0, size=m + identity)
    shift = rng.uniform(0.0, 0.3, size=n)
    entries = rng.uniform(0.5, 2.0, size=n)
    stack = WeightedStack(Ks, scales, shift, entries if identity else None)
    weights = rng.uniform(size=m + identity)
    weights[1] = 0.0
    stack.set_weights(weights)
    plain = np.concatenate([Ks.astype(float), np.diag(entries)[None]]) if identity else Ks.astype(float)
    return stack, plain * scales[:, None, None], weights, shift, rng


@pytest.mark.parametrize("identity", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [2, 3, 5, 6])
def test_rows_of_the_sum(m, dtype, identity):
    stack, Ks, weights, shift, _ = make(m=m, dtype=dtype, identity=identity)
    expected = np.tensordot(weights, Ks, 1) + np.diag(shift)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    rows = np.array([3, 7, 11])
    stack.form_rows(rows)
    np.testing.assert_allclose(stack.combined[rows], expected[rows], atol=tolerance)
    np.testing.assert_allclose(stack.diag, np.diagonal(expected), atol=tolerance)
    np.testing.assert_allclose(
        stack.block(np.array([0, 5]), np.float64), expected[np.ix_([0, 5], [0, 5])], atol=tolerance
    )
    assert stack.combined.dtype == dtype
    assert stack.passes > 0


@pytest.mark.parametrize("identity", [False, True])
@pytest.mark.parametrize("n_support", [0, 1, 3, 4, 9, 23])
def test_adjoint_and_quadratic_forms(n_support, identity):
    stack, Ks, _, _, rng = make(identity=identity)
    beta = np.zeros(23)
    beta[rng.permutation(23)[:n_support]] = rng.normal(size=n_support)
    kernels = np.arange(stack.n_kernels)
    F = np.full((stack.n_kernels, 23), np.nan)
    stack.adjoint(kernels, beta, F)
    np.testing.assert_allclose(F, Ks @ beta, atol=1e-12)
    np.testing.assert_allclose(
        stack.quadratic_forms(kernels, beta), np.einsum("i,mij,j->m", beta, Ks, beta), atol=1e-12
    )
    changed = beta.copy()
    changed[:2] += 1.0
    stack.update_adjoint(kernels, changed, beta, F)
    np.testing.assert_allclose(F, Ks @ changed, atol=1e-12)


def test_a_part_of_the_samples():
    stack, _, _, _, _ = make()
    rows = np.array([1, 4, 20])
    np.testing.assert_array_equal(stack.subset(rows), stack.Ks[:, rows][:, :, rows])


def test_the_stack_is_not_modified():
    stack, *_ = make()
    before = stack.Ks.copy()
    stack.form_rows(np.arange(23))
    stack.factor()
    np.testing.assert_array_equal(stack.Ks, before)


# ---------------------------------------------------------------------- weight sets
norms = st.sampled_from([1.0, 1.1, 4 / 3, 2.0, 4.0, 50.0, np.inf])
forms = st.lists(st.floats(0.0, 100.0).filter(lambda v: v == 0 or v > 1e-6), min_size=1, max_size=8)


@given(norms, forms)
def test_the_support_is_attained_in_the_set(p, values):
    q = np.array(values)
    ball = LpBall(p)
    mu = ball.best_response(q)
    assert (mu >= 0).all()
    size = mu.max() if np.isinf(p) else (mu**p).sum() ** (1.0 / p)
    np.testing.assert_allclose(size, 1.0, rtol=1e-9)
    np.testing.assert_allclose(mu @ q, ball.support(q), rtol=1e-9)


@given(norms, forms, st.integers(0, 10**6))
def test_no_weights_of_the_set_exceed_the_support(p, values, seed):
    q = np.array(values)
    mu = np.random.default_rng(seed).uniform(size=q.size) + 1e-3
    mu /= mu.max() if np.isinf(p) else (mu**p).sum() ** (1.0 / p)
    assert mu @ q <= LpBall(p).support(q) * (1.0 + 1e-9)


@given(norms, st.integers(1, 8))
def test_the_centre_is_on_the_boundary(p, m):
    mu = LpBall(p).center(m)
    assert np.ptp(mu) == 0.0
    size = mu.max() if np.isinf(p) else (mu**p).sum() ** (1.0 / p)
    np.testing.assert_allclose(size, 1.0, rtol=1e-9)


@given(st.sampled_from([1.0, 4 / 3, 2.0]), st.integers(1, 6), st.integers(0, 10**6))
def test_the_map_to_the_simplex_and_back(p, m, seed):
    theta = np.random.default_rng(seed).dirichlet(np.ones(m))
    ball = LpBall(p)
    np.testing.assert_allclose(ball.to_simplex(ball.from_simplex(theta)), theta, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("p", [0.5, 0.0, -1.0, np.nan])
def test_norms_below_one_are_refused(p):
    with pytest.raises(ValueError, match="norm must be at least 1"):
        LpBall(p)
