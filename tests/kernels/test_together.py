"""Gram matrices of several kernels, written together or on demand: the same numbers as one by one."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from multikernel.kernels import Chi2, Gaussian, Laplacian, Linear, Polynomial, Sigmoid, _rows
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.together import Joined, OnDemand, joins, quadratic_forms, write_together
from multikernel.kernels.transforms import inverse_roots

X = np.random.default_rng(0).normal(size=(300, 4))  # more rows than a tile has
KERNELS = [
    Linear(),
    Polynomial(3, gamma=0.5),
    *(Gaussian(gamma=0.1 * 4.0**k) for k in (2, 0, 1, 3)),
    Gaussian(gamma=0.3),
    *(Laplacian(gamma=0.05 * 4.0**k) for k in (1, 0)),
]
PRODUCTS = KERNELS[:-2]  # those that sparse tables have too


def joined(rows, kernels=KERNELS, unit=True):
    def roots(kernel):
        return inverse_roots(kernel.evaluate_diagonal(rows)) if unit else None

    return [Joined(kernel, roots(kernel)) for kernel in kernels]


def expected(kernel, X=X, unit=True):
    K = kernel(X)
    return K / np.sqrt(np.multiply.outer(K.diagonal(), K.diagonal())) if unit else K


@pytest.mark.parametrize("unit", [True, False], ids=["unit diagonal", "plain"])
@pytest.mark.parametrize("as_table", [np.asarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
def test_together_is_as_one_by_one(unit, as_table):
    rows = Rows(as_table(X))
    own = PRODUCTS if scipy.sparse.issparse(rows.values) else KERNELS
    out = np.full((len(own), 300, 300), np.nan)
    kernels = joined(rows, own, unit=unit)
    write_together(rows, kernels, dict(enumerate(out)))
    for K, kernel, one in zip(out, own, kernels, strict=True):
        np.testing.assert_allclose(K, expected(kernel, unit=unit), rtol=1e-11, atol=1e-13)
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_array_equal(K.diagonal(), one.diagonal(rows))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 7, 8, 127, 128, 131, 263, 299])  # whole squares of eight, and what is left
def test_every_size_is_written_on_both_sides(n, dtype):
    rows, out = Rows(X[:n]), np.full((len(KERNELS), n, n), np.nan, dtype)
    write_together(rows, joined(rows), dict(enumerate(out)))
    for K, kernel in zip(out, KERNELS, strict=True):
        np.testing.assert_allclose(K, expected(kernel, X[:n]), rtol=np.finfo(dtype).eps + 1e-11, atol=1e-13)
        np.testing.assert_array_equal(K, K.T)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("as_table", [np.asarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
def test_new_rows_share_distances(as_table, dtype, monkeypatch):
    kinds, measure = [], _rows.direct_distances
    monkeypatch.setattr(
        _rows, "direct_distances", lambda kind, *rest: kinds.append(kind) or measure(kind, *rest)
    )
    rows, new = Rows(as_table(np.abs(X))), Rows(as_table(np.abs(X[::7]) + 0.25))
    kernels = [
        Laplacian(gamma=0.3),
        Gaussian(gamma=0.2),
        Laplacian(gamma=0.7),
        Chi2(gamma=0.5),
        Chi2(gamma=0.1),
    ]
    pair, apart = Pair(new, rows, keep=True), [Pair(new, rows) for _ in kernels]
    found = [np.empty((43, 300), dtype) for _ in kernels]
    for kernel, K in zip(kernels, found, strict=True):
        kernel.evaluate(pair, K)
    assert kinds == ["cityblock", "chi2"]
    for kernel, K, own in zip(kernels, found, apart, strict=True):
        alone = np.empty((43, 300), dtype)
        kernel.evaluate(own, alone)
        np.testing.assert_allclose(K, alone, rtol=1e-13 if dtype == np.float64 else 1e-6)


def test_multiples_of_kernels():
    rows, beta = Rows(X), np.random.default_rng(1).normal(size=300)
    plain = joined(rows, unit=False)
    scaled = [replace(one, factor=3.0 + number) for number, one in enumerate(plain)]
    outs = [np.empty((len(KERNELS), 300, 300)) for _ in range(2)]
    for kernels, out in zip((plain, scaled), outs, strict=True):
        write_together(rows, kernels, dict(enumerate(out)))
    factors = 3.0 + np.arange(len(KERNELS))
    np.testing.assert_array_equal(outs[1], factors[:, None, None] * outs[0])
    forms = quadratic_forms(rows, plain, beta)
    np.testing.assert_allclose(quadratic_forms(rows, scaled, beta), factors * forms, rtol=1e-10)
    places = np.array([2, 250])
    for one, K in zip(scaled, outs[1], strict=True):
        np.testing.assert_allclose(one.some_rows(rows, places), K[places], rtol=1e-11, atol=1e-13)
        assert one.of_rows(places).factor == one.factor


def test_squaring_keeps_the_digits_of_an_exponential():
    rows = Rows(X)
    gammas = 0.02 * 2.0 ** np.arange(9)
    kernels = joined(rows, [Gaussian(gamma=gamma) for gamma in gammas])
    out = np.empty((9, 300, 300))
    write_together(rows, kernels, dict(enumerate(out)))
    distances = ((X[:, None].astype(np.longdouble) - X[None]) ** 2).sum(-1)
    for K, gamma in zip(out, gammas, strict=True):
        exact = np.exp(-np.longdouble(gamma) * distances)
        assert np.abs(K - exact).max() < 2e-14


def test_a_kernel_has_the_same_bits_whichever_others_are_written():
    rows = Rows(X)
    kernels, whole = joined(rows), np.empty((len(KERNELS), 300, 300))
    write_together(rows, kernels, dict(enumerate(whole)))
    for number in range(len(KERNELS)):
        alone = np.full((300, 300), np.nan)
        write_together(rows, kernels, {number: alone})
        np.testing.assert_array_equal(alone, whole[number])


@pytest.mark.parametrize("n", [1, 127, 129, 300])
def test_quadratic_forms_are_those_of_the_matrices(n):
    rows = Rows(X[:n])
    beta = np.random.default_rng(1).normal(size=n)
    found = quadratic_forms(rows, joined(rows), beta)
    wanted = [beta @ expected(kernel, X[:n]) @ beta for kernel in KERNELS]
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


def test_float32_is_the_rounded_matrix():
    rows, narrow, wide = Rows(X), np.empty((300, 300), np.float32), np.empty((300, 300))
    write_together(rows, joined(rows), {1: narrow})
    write_together(rows, joined(rows), {1: wide})
    np.testing.assert_array_equal(narrow, wide.astype(np.float32))


class Shifted(Gaussian):
    def _fill(self, pair, out):
        super()._fill(pair, out)
        out += 1.0


class Farther(Laplacian):
    def _fill(self, pair, out):
        super()._fill(pair, out)
        out *= out


@pytest.mark.parametrize(
    ("kernel", "dtype", "verdict"),
    [
        (Linear(), np.float64, True),
        (Gaussian(gamma=1.0), np.float32, True),
        (Gaussian(gamma=1e9), np.float64, False),  # distances from products would be rounding
        (Gaussian(), np.float64, False),  # not fitted
        (Shifted(gamma=1.0), np.float64, False),
        (Laplacian(gamma=1.0), np.float32, True),
        (Farther(gamma=1.0), np.float64, False),
        (Sigmoid(gamma=1.0), np.float64, False),  # indefinite
        (Linear() + Linear(), np.float64, False),
        (Polynomial(50, gamma=2.0), np.float64, True),
        (Polynomial(50, gamma=2.0), np.float32, False),  # overflows
    ],
)
def test_which_kernels_join(kernel, dtype, verdict):
    assert joins(kernel, Rows(X), dtype) is verdict


def test_a_laplacian_of_a_sparse_table_does_not_join():
    assert not joins(Laplacian(gamma=1.0), Rows(scipy.sparse.csr_matrix(X)), np.float64)


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (130, 5), (300, 131), (20, 600)])
def test_distances_by_tiles_are_sums_of_absolute_differences(shape):
    rng = np.random.default_rng(3)
    left, right = rng.normal(size=shape), rng.normal(size=(shape[0] + 5, shape[1]))
    exact = np.abs(left[:, None].astype(np.longdouble) - right[None]).sum(-1)
    np.testing.assert_allclose(Laplacian(gamma=0.01)(left, right), np.exp(-0.01 * exact), rtol=1e-13)
    K = Laplacian(gamma=0.01)(left)
    np.testing.assert_array_equal(K, K.T)


# ---------------------------------------------------------------------- on demand
def on_demand(memory=None):
    left, right = Rows(X), Rows(X[:, :2])
    tables = [left] * 5 + [right] * 2 + [left] * 2
    kernels = [Joined(k, inverse_roots(k.evaluate_diagonal(r))) for k, r in zip(KERNELS, tables, strict=True)]
    memory = np.full((9, 300, 300), np.nan) if memory is None else memory
    return OnDemand(memory, tables, kernels)


def test_only_what_is_asked_for_is_written():
    stack = on_demand()
    np.testing.assert_allclose(stack[3], expected(KERNELS[3]), rtol=1e-11, atol=1e-13)
    memory = stack.with_kernels(np.array([0, 5]))
    written = [bool(np.isfinite(K).all()) for K in memory]
    assert written == [True, False, False, True, False, True, False, False, False]
    assert np.isnan(memory[1]).all()
    whole = np.asarray(stack)
    assert whole is memory and np.isfinite(whole).all()
    np.testing.assert_array_equal(whole, np.asarray(on_demand()))
    np.testing.assert_allclose(whole[6], expected(KERNELS[6], X[:, :2]), rtol=1e-11, atol=1e-13)


def test_what_is_known_without_the_matrices():
    stack, whole = on_demand(), np.asarray(on_demand())
    places = np.array([3, 200, 201])
    rng = np.random.default_rng(2)
    beta = np.where(rng.uniform(size=300) < 0.5, rng.normal(size=300), 0.0)
    numbers = np.array([6, 1, 8, 2])
    np.testing.assert_array_equal(stack.diagonals(), np.einsum("mii->mi", whole))
    np.testing.assert_allclose(stack.some_rows(places), whole[:, places], rtol=1e-11, atol=1e-13)
    samples = stack.of_samples(places)
    np.testing.assert_allclose(samples, whole[:, places[:, None], places], rtol=1e-11, atol=1e-13)
    forms = stack.quadratic_forms(numbers, beta)
    np.testing.assert_allclose(forms, [beta @ whole[m] @ beta for m in numbers], rtol=1e-10)
    np.testing.assert_array_equal(stack.quadratic_forms(numbers, np.zeros(300)), np.zeros(4))
    assert np.isnan(stack._memory).all() and len(stack) == 9 and stack.shape == (9, 300, 300)
