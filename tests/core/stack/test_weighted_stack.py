"""The weighted sum of a stack, and its adjoint, against plain NumPy."""

import numpy as np
import pytest

from multikernel.core.stack.sums import WeightedStack


def make(n=23, m=5, dtype=np.float64, identity=False, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n, n))
    Ks = np.ascontiguousarray((A @ A.transpose(0, 2, 1) / n).astype(dtype))
    Ks = np.ascontiguousarray(0.5 * (Ks + Ks.transpose(0, 2, 1)))
    scales = rng.uniform(0.5, 2.0, size=m + identity)
    Ks.flags.writeable = False
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
    np.testing.assert_array_equal(stack.subset(rows), stack.Ks[:, rows][:, :, rows])
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 30])
def test_one_triangle_is_read_where_beta_is_dense(n, dtype):
    stack, Ks, _, _, rng = make(n=n, dtype=dtype)
    beta = rng.normal(size=n)
    F = np.full((5, n), np.nan)
    stack.adjoint(np.arange(5), beta, F)
    np.testing.assert_allclose(F, Ks @ beta, atol=1e-12)
    np.testing.assert_allclose(stack.quadratic_forms(np.arange(5), beta), (Ks @ beta) @ beta, atol=1e-12)
    assert stack.passes <= 1.0
