"""Gram matrices of more rows than a tile has: right in every tile, and symmetric to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist

from multikernel.kernels import Cosine, Gaussian, Linear, Polynomial
from multikernel.kernels._rows import Pair, Rows, product_tiles

TABLE = np.random.default_rng(0).normal(size=(300, 7))
TABLE[TABLE < -1.5] = 0.0
TABLE[100] = TABLE[250]
KERNELS = {
    "linear": (Linear(), lambda A, B: A @ B.T),
    "quadratic": (Polynomial(2, 0.5, 1.0), lambda A, B: (0.5 * A @ B.T + 1.0) ** 2),
    "gaussian": (Gaussian(gamma=0.3), lambda A, B: np.exp(-0.3 * cdist(A, B, "sqeuclidean"))),
    "cosine": (Cosine(), lambda A, B: 1.0 - cdist(A, B, "cosine")),
}


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_a_training_gram_is_right_and_symmetric_bit_by_bit(name, sparse, keep):
    kernel, formula = KERNELS[name]
    rows = Rows(scipy.sparse.csr_matrix(TABLE) if sparse else TABLE)
    pair = Pair(rows, rows, keep=keep)
    for dtype, accuracy in (("float64", 1e-12), ("float32", 1e-5)):
        K = np.full((300, 300), np.nan, dtype)
        kernel.evaluate(pair, K)
        assert np.array_equal(K, K.T)
        np.testing.assert_allclose(K, formula(TABLE, TABLE), atol=accuracy, rtol=accuracy)


@pytest.mark.parametrize("name", KERNELS)
def test_a_gram_of_other_rows_is_right(name):
    kernel, formula = KERNELS[name]
    np.testing.assert_allclose(kernel(TABLE[:140], TABLE), formula(TABLE[:140], TABLE), atol=1e-12)


@pytest.mark.parametrize("n", [1, 128, 129, 300])
@pytest.mark.parametrize("whole", [False, True])
def test_tiles_of_the_half_meet_every_place_on_and_above_the_diagonal_once(n, whole):
    table = TABLE[:n]
    met = np.zeros((n, n), int)
    for rows, columns, products in product_tiles(table, table, table @ table.T if whole else None, half=True):
        met[rows, columns] += 1
        np.testing.assert_allclose(products, table[rows] @ table[columns].T, atol=1e-12)
    upper = np.triu_indices(n)
    assert (met[upper] == 1).all()
