"""Kernels and classes for discriminant kernel learning: small random ones, and the fixtures."""

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_wine

KINDS = ("gaussians", "repeated points", "rank one", "mixed")
REGS = (1.0, 1e-2, 1e-4, 1e-8, None)
SIGMAS = np.logspace(-1, 2, 10)
problems = st.tuples(
    st.sampled_from(KINDS), st.integers(12, 30), st.integers(2, 4), st.integers(2, 5), st.integers(0, 99)
)
regs = st.sampled_from([1.0, 1e-2, None])


def gaussians(X, sigmas, Z=None):
    squares = cdist(X, X if Z is None else Z, "sqeuclidean")
    return np.stack([np.exp(-squares / sigma**2) for sigma in sigmas])


def make_problem(kind, n, k, m, seed=0):
    """Kernels (m, n, n) and classes (n,) that some of them are related to."""
    rng = np.random.default_rng([seed, KINDS.index(kind), n, k])
    codes = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    X = rng.normal(size=(n, 4)) + 1.5 * rng.normal(size=(k, 4))[codes]
    if kind == "repeated points":  # some with another class
        X[n // 2 :] = X[: n - n // 2]
    vectors = rng.normal(size=(m, n)) + rng.normal(size=(m, k))[:, codes]
    ranks_one = 10.0 ** rng.uniform(-3, 3, (m, 1, 1)) * vectors[:, :, None] * vectors[:, None, :]
    if kind == "rank one":
        return ranks_one, codes
    Ks = gaussians(X, np.logspace(-0.5, 1.5, m))
    if kind == "mixed":
        Ks[1::2] = ranks_one[1::2]
    return Ks, codes


def wine():
    """The bank of the fixtures on all of wine."""
    X, y = load_wine(return_X_y=True)
    return gaussians((X - X.mean(axis=0)) / X.std(axis=0), SIGMAS), y


def breast_cancer(sigmas=SIGMAS):
    """The bank of the fixtures on the first 200 rows, standardised on those."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200], y[:200]
    return gaussians((X - X.mean(axis=0)) / X.std(axis=0), sigmas), y


def shares_of(m, seed):
    """Inside the simplex."""
    return np.random.default_rng(seed).dirichlet(np.full(m, 3.0))


def slopes(function, x, h=1e-5):
    """∂f/∂x_i to fourth order, the index i first."""
    rows = []
    for unit in np.eye(x.size):
        f = [function(x + step * h * unit) for step in (-2, -1, 1, 2)]
        rows.append((f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h))
    return np.array(rows)


def assert_close(found, expected, rtol=1e-6):
    np.testing.assert_allclose(found, expected, atol=rtol * np.abs(expected).max())
