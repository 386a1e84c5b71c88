"""Laws every kernel obeys, over random rows and randomly nested expressions."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from multikernel.kernels import (
    Chi2,
    Cosine,
    Gaussian,
    Hamming,
    Kronecker,
    Laplacian,
    Linear,
    Mixed,
    Pairwise,
    Polynomial,
    Sigmoid,
    Tanimoto,
    smallest_eigenvalue,
)
from tests.refusals import refused

tables = st.integers(1, 4).flatmap(
    lambda d: arrays(
        np.float64,
        st.tuples(st.integers(1, 9), st.just(d)),
        elements=st.floats(-4.0, 4.0, width=32).map(lambda x: 0.0 if abs(x) < 1e-3 else x),
    )
)

leaves = st.sampled_from(
    [
        (Linear(), lambda A, B: A @ B.T),
        (Polynomial(2, 0.5, 1.0), lambda A, B: (0.5 * A @ B.T + 1.0) ** 2),
        (Gaussian(gamma=0.7), lambda A, B: np.exp(-0.7 * ((A[:, None] - B[None]) ** 2).sum(-1))),
        (Laplacian(0.3), lambda A, B: np.exp(-0.3 * np.abs(A[:, None] - B[None]).sum(-1))),
        (Sigmoid(0.4, 0.2), lambda A, B: np.tanh(0.4 * A @ B.T + 0.2)),
    ]
)


def _add(pair):
    (a, f), (b, g) = pair
    return a + b, lambda A, B: f(A, B) + g(A, B)


def _multiply(pair):
    (a, f), (b, g) = pair
    return a * b, lambda A, B: f(A, B) * g(A, B)


def _raise(pair):
    (a, f), k = pair
    return a**k, lambda A, B: f(A, B) ** k


def _scale(pair):
    (a, f), c = pair
    return c * a, lambda A, B: c * f(A, B)


expressions = st.recursive(
    leaves,
    lambda children: st.one_of(
        st.tuples(children, children).map(_add),
        st.tuples(children, children).map(_multiply),
        st.tuples(children, st.integers(1, 3)).map(_raise),
        st.tuples(children, st.floats(0.1, 3.0)).map(_scale),
    ),
    max_leaves=5,
)


@given(expressions, tables, st.data())
def test_nested_algebra_equals_plain_numpy(expression, table, data):
    kernel, formula = expression
    other = data.draw(arrays(np.float64, (3, table.shape[1]), elements=st.floats(-2, 2)))
    expected = formula(table, table)
    size = np.abs(expected).max() + 1.0
    np.testing.assert_allclose(kernel(table), expected, rtol=1e-9, atol=1e-9 * size)
    np.testing.assert_allclose(kernel(other, table), formula(other, table), rtol=1e-9, atol=1e-9 * size)
    np.testing.assert_allclose(kernel.diag(table), expected.diagonal(), rtol=1e-9, atol=1e-9 * size)
    np.testing.assert_allclose(
        kernel(scipy.sparse.csr_matrix(table)), kernel(table), rtol=1e-9, atol=1e-10 * size
    )
    assert np.array_equal(kernel(table), kernel(table).T)


@given(expressions, tables)
def test_kernels_that_promise_it_are_positive_semidefinite(expression, table):
    kernel, _ = expression
    if kernel.is_psd:
        K = kernel(table)
        assert smallest_eigenvalue(K) >= -1e-10 * max(1.0, np.trace(K))


@given(expressions, tables, st.data())
def test_kernels_between_pairs_are_made_of_those_between_objects(expression, first, data):
    kernel, f = expression
    second = data.draw(arrays(np.float64, first.shape, elements=st.floats(-2, 2)))
    other = data.draw(arrays(np.float64, (3, 2 * first.shape[1]), elements=st.floats(-2, 2)))
    pairs, d = np.hstack([first, second]), first.shape[1]
    swapped = np.hstack([second, first])

    def formula(P, Q):
        (a, b), (c, e) = (P[:, :d], P[:, d:]), (Q[:, :d], Q[:, d:])
        return f(a, c) * f(b, e) + f(a, e) * f(b, c)

    expected = formula(pairs, pairs)
    close = {"rtol": 1e-8, "atol": 1e-8 * (np.abs(expected).max() + 1.0)}
    K = Pairwise(kernel)(pairs)
    np.testing.assert_allclose(K, expected, **close)
    np.testing.assert_allclose(Pairwise(kernel)(other, pairs), formula(other, pairs), **close)
    np.testing.assert_allclose(Pairwise(kernel)(swapped, pairs), expected, **close)
    np.testing.assert_allclose(Pairwise(kernel).diag(pairs), expected.diagonal(), **close)
    np.testing.assert_allclose(Pairwise(kernel)(scipy.sparse.csr_matrix(pairs)), K, **close)
    assert np.array_equal(K, K.T) and Pairwise(kernel).is_psd == kernel.is_psd
    if kernel.is_psd:
        assert smallest_eigenvalue(K) >= -1e-10 * max(1.0, np.trace(K))


@given(expressions, expressions, tables, tables)
def test_kernels_between_unlike_objects_are_products_of_two_sides(one, other, left, right):
    (k, f), (h, g) = one, other
    n = min(len(left), len(right))
    a, b = left[:n], right[:n]
    rows, d = np.hstack([a, b]), a.shape[1]
    expected = f(a, a) * g(b, b)
    close = {"rtol": 1e-8, "atol": 1e-8 * (np.abs(expected).max() + 1.0)}
    kernel = Kronecker(k, h, split=d)
    K = kernel(rows)
    np.testing.assert_allclose(K, expected, **close)
    np.testing.assert_allclose(kernel(rows[::-1], rows), expected[::-1], **close)
    np.testing.assert_allclose(kernel.diag(rows), expected.diagonal(), **close)
    np.testing.assert_allclose(kernel(scipy.sparse.csr_matrix(rows)), K, **close)
    assert np.array_equal(K, K.T) and kernel.is_psd == (k.is_psd and h.is_psd)
    if kernel.is_psd:
        assert smallest_eigenvalue(K) >= -1e-10 * max(1.0, np.trace(K))


@given(tables)
def test_non_negative_and_direction_kernels_are_positive_semidefinite(table):
    for kernel in (Cosine(), Chi2(0.5), Gaussian(), Gaussian("nearest"), Tanimoto(), Mixed(), Hamming()):
        K = kernel.fit(np.abs(table))(np.abs(table))
        assert smallest_eigenvalue(K) >= -1e-10 * len(K)
        assert np.array_equal(K.diagonal(), kernel.fit(np.abs(table)).diag(np.abs(table)))


def test_the_flag_follows_the_algebra():
    safe, unsafe = Gaussian(), Sigmoid()
    assert np.float64(2.0) * safe == 2.0 * safe  # NumPy's numbers leave the product to the kernel
    assert (2.0 * (safe + Linear()) * safe**3).is_psd
    for kernel in (unsafe, unsafe + safe, safe * unsafe, unsafe**2, 3.0 * unsafe):
        assert not kernel.is_psd


test_only_kernels_add_and_only_positive_numbers_multiply = refused(
    (lambda: Linear() + 1.0, TypeError, "only kernels add to a kernel; got 1.0. Scalars multiply"),
    (lambda: 1.0 + Linear(), TypeError, "only kernels add to a kernel; got 1.0. Scalars multiply"),
    (lambda: -1.0 * Linear(), "the factor of a kernel must be greater than 0"),
    (lambda: 0.0 * Linear(), "the factor of a kernel must be greater than 0"),
    (lambda: Linear() * "a", TypeError, "multiplies with a kernel or a positive number; got 'a'"),
    (lambda: Linear() ** 0.5, TypeError, "the exponent of a kernel must be a positive integer; got 0.5"),
    (lambda: Linear() ** 0, "the exponent of a kernel must be a positive integer; got 0"),
)


@given(
    st.sampled_from(
        [
            Linear(),
            Polynomial(3),
            Polynomial(2, gamma="scale"),
            Gaussian(),
            Gaussian("nearest"),
            Gaussian(gamma=2.0),
            Gaussian(s=1e-100),
            Laplacian(),
            Laplacian(1.0),
            Sigmoid(),
            Sigmoid(gamma="scale"),
            Cosine(),
            Chi2(),
            Chi2(scale=0.5),
            Tanimoto(),
            Hamming(),
            Mixed(),
            Mixed("std"),
            (Gaussian() + Linear()) ** 2,
            Pairwise(Gaussian("nearest") + Linear()),
            Pairwise(Gaussian()) + Pairwise(Polynomial(2)),
            Kronecker(Gaussian(), Polynomial(2)),
        ]
    ),
    tables,
    st.integers(-150, 150),
    st.booleans(),
)
def test_any_scale_gives_finite_values_or_our_error(kernel, table, exponent, sparse):
    rows = np.abs(np.hstack([table, table[::-1]])) * 10.0**exponent  # an even number of columns, for pairs
    rows = scipy.sparse.csr_matrix(rows) if sparse else rows
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = kernel.fit(rows)
        try:
            values = fitted(rows), fitted.diag(rows)
        except ValueError as error:
            assert "not finite" in str(error)
        else:
            assert all(np.isfinite(value).all() for value in values)


@given(tables, st.integers(-140, 140))
def test_estimated_widths_make_the_gaussian_blind_to_units(table, exponent):
    unit = 2.0**exponent  # a power of two: the scaled rows hold the same digits
    for kernel in (Gaussian(), Gaussian("nearest"), Polynomial(2, gamma="scale")):
        plain = kernel.fit(table)(table)
        np.testing.assert_allclose(kernel.fit(table * unit)(table * unit), plain, rtol=1e-8, atol=1e-10)
