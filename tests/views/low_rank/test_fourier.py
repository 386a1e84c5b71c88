"""Random features: right on average, and nearer with more of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from multikernel.kernels import Gaussian, Laplacian
from multikernel.kernels._rows import Rows
from multikernel.views import LowRankBank, View
from multikernel.views.low_rank.maps import fourier_map
from tests.raw import raw

X = np.random.default_rng(5).normal(size=(60, 3))
KERNELS = [
    Gaussian(gamma=0.3),
    Gaussian(s=1.5),
    2.5 * Laplacian(0.4),
    Gaussian(gamma=0.2) * (0.5 * Laplacian(0.2)),
    (2.0 * Gaussian(gamma=0.1)) ** 3,
]


def random_features(kernel, rank, seed, table=X, transforms=()):
    view = View("v", kernel, None, transforms, approximation="random_features", rank=rank)
    return LowRankBank(raw(view), seed=seed).fit(table)


def mean_square_error(kernel, rank, seeds=12):
    K, rows = kernel(X), Rows(X)
    factors = [fourier_map(kernel, rows, rank, seed).factors(kernel, rows) for seed in range(seeds)]
    return float(np.mean([(Z @ Z.T - K) ** 2 for Z in factors])) / K[0, 0] ** 2


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_error_falls_with_the_root_of_the_number_of_features(kernel):
    few, many = mean_square_error(kernel, 40), mean_square_error(kernel, 640)
    assert few * 40 < 2.0  # the variance of a cosine is at most 1, and two features make one
    assert 8.0 < few / many < 32.0  # 16 times as many features: a quarter of the error, squared


def test_the_diagonal_is_exact_and_the_number_even():
    bank = random_features(2.5 * Laplacian(0.4), 21, 0)
    Z = bank.transform(X)
    assert Z.shape == (60, 20) and np.allclose(np.sum(Z**2, axis=1), 2.5)
    assert bank.gram_errors_[0] == pytest.approx(
        np.linalg.norm(Z @ Z.T - 2.5 * Laplacian(0.4)(X)) / np.linalg.norm(2.5 * Laplacian(0.4)(X))
    )
    assert np.isnan(bank.trace_errors_).all() and bank.approximations_ == ["random_features"]


def test_sparse_tables_and_transforms():
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    banks = [
        random_features(Gaussian(), 30, 1, table, "center") for table in (thin, scipy.sparse.csr_array(thin))
    ]
    Z = banks[0].transform(thin)
    assert np.allclose(banks[1].transform(scipy.sparse.csr_array(thin)), Z, rtol=0, atol=1e-12)
    assert np.allclose(Z.mean(axis=0), 0.0)
