"""Each kernel against scikit-learn's or NumPy's plain formula, dense and sparse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.metrics import pairwise

from multikernel.kernels import (
    Chi2,
    Cosine,
    FunctionKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    as_kernel,
)
from multikernel.kernels._rows import Pair, Rows
from tests.kernels.laws import check_value
from tests.refusals import refused

RNG = np.random.default_rng(7)
X = np.abs(RNG.normal(size=(70, 6))) * (RNG.random((70, 6)) < 0.6)
X[3] = 0.0
Z = np.abs(RNG.normal(size=(11, 6)))

CASES = [
    (Linear(), lambda A, B: A @ B.T),
    (Polynomial(3, gamma=0.5, coef0=2.0), lambda A, B: (0.5 * A @ B.T + 2.0) ** 3),
    (Polynomial(1, coef0=0.0), lambda A, B: A @ B.T),
    (Gaussian(gamma=0.3), lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.3)),
    (Gaussian(gamma=3e5), lambda A, B: np.exp(-3e5 * ((A[:, None] - B[None]) ** 2).sum(-1))),
    (Gaussian(s=1.7), lambda A, B: np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / 1.7**2)),
    (Laplacian(gamma=0.4), lambda A, B: np.exp(-0.4 * np.abs(A[:, None] - B[None]).sum(-1))),
    (Sigmoid(gamma=0.2, coef0=-0.1), lambda A, B: np.tanh(0.2 * A @ B.T - 0.1)),
    (Cosine(), pairwise.cosine_similarity),
    (Chi2(gamma=0.7), lambda A, B: pairwise.chi2_kernel(A, B, gamma=0.7)),
]


@pytest.mark.parametrize(
    ("kernel", "formula"), CASES, ids=lambda case: repr(case) if isinstance(case, Kernel) else ""
)
def test_values_agree_with_the_formula(kernel, formula):
    np.testing.assert_allclose(kernel(X), formula(X, X), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(kernel(Z, X), formula(Z, X), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(kernel.diag(X), formula(X, X).diagonal(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kernel", [kernel for kernel, _ in CASES], ids=repr)
@pytest.mark.parametrize("form", [scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array])
def test_sparse_equals_dense(kernel, form):
    for left, right in [(form(X), None), (form(Z), X), (Z, form(X)), (form(Z), form(X))]:
        dense = kernel(X) if right is None else kernel(Z, X)
        np.testing.assert_allclose(kernel(left, right), dense, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(kernel.diag(form(X)), kernel.diag(X), rtol=1e-10)


TALL = RNG.exponential(size=(300, 7)) * (RNG.random((300, 7)) < 0.7)  # more rows than a tile has
TALL[100] = TALL[250]


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize(
    ("kernel", "formula"), CASES, ids=lambda case: repr(case) if isinstance(case, Kernel) else ""
)
def test_a_gram_of_many_tiles_is_right_and_symmetric_bit_by_bit(kernel, formula, form, keep):
    rows, expected = Rows(form(TALL)), formula(TALL, TALL)
    pair = Pair(rows, rows, keep=keep)
    for dtype, accuracy in ((np.float64, 1e-10), (np.float32, 1e-5)):
        K = np.full((300, 300), np.nan, dtype)
        kernel.evaluate(pair, K)
        assert np.array_equal(K, K.T)
        np.testing.assert_allclose(K, expected, rtol=accuracy, atol=accuracy)
    part = np.empty((140, 300))
    kernel.evaluate(Pair(Rows(form(TALL[:140])), rows, keep=keep), part)
    np.testing.assert_allclose(part, expected[:140], rtol=1e-10, atol=1e-10)


def test_gaussian_like_kernels_have_an_exact_unit_diagonal():
    shifted = X + 1e4
    for kernel in (Gaussian(gamma=3.0), Laplacian(1.0), Chi2(1.0), Gaussian(gamma=1e9)):
        assert np.array_equal(kernel(shifted).diagonal(), np.ones(len(X)))


def test_gaussian_keeps_its_digits_far_from_the_origin():
    near = RNG.normal(size=(40, 3))
    offset = np.array([2.0**20, -(2.0**18), 2.0**21])  # powers of two: adding them is exact here
    moved = (near + offset) - offset
    exact = np.exp(-0.5 * ((moved[:, None] - moved[None]) ** 2).sum(-1))
    far = moved + offset
    np.testing.assert_allclose(Gaussian(gamma=0.5)(far), exact, atol=1e-11)
    np.testing.assert_allclose(Gaussian(gamma=0.5)(scipy.sparse.csr_matrix(far)), exact, atol=1e-11)


def test_similarities_never_exceed_one():
    table = RNG.normal(size=(60, 50))
    copied = table.copy()
    for kernel in (Gaussian(gamma=1e-4), Gaussian(gamma=0.1), Cosine()):
        assert kernel(copied, table).max() <= 1.0
        assert kernel(table, table).diagonal().tolist() == [1.0] * 60
        K = kernel(table, table)
        assert np.array_equal(K, K.T)


def test_zeros_that_are_stored_count_as_zeros():
    stored = scipy.sparse.csr_matrix(
        (np.array([0.0, 1.0, 0.0, 2.0]), np.array([0, 1, 0, 1]), np.array([0, 2, 4]))
    )
    for kernel, _ in CASES:
        np.testing.assert_allclose(kernel(stored), kernel(stored.toarray()), rtol=1e-12)


def test_widths_of_sparse_rows_far_from_the_origin():
    steps = RNG.integers(0, 1000, size=(50, 3)) * 2.0**-20
    far = steps + 2.0**24
    expected = Gaussian().fit(steps).gamma
    assert Gaussian().fit(scipy.sparse.csr_matrix(far)).gamma == pytest.approx(expected, rel=1e-6)
    assert Gaussian().fit(far).gamma == pytest.approx(expected, rel=1e-6)


def test_median_width_is_the_median_of_all_pairs():
    table = RNG.normal(size=(60, 4))
    pairs = ((table[:, None] - table[None]) ** 2).sum(-1)[np.triu_indices(60, 1)]
    assert Gaussian().fit(table).gamma == pytest.approx(1.0 / np.median(pairs), rel=1e-10)
    assert Gaussian(scale=4.0).fit(table).gamma == pytest.approx(1.0 / (16.0 * np.median(pairs)), rel=1e-10)
    sparse = Gaussian().fit(scipy.sparse.csr_matrix(table)).gamma
    assert sparse == pytest.approx(1.0 / np.median(pairs), rel=1e-10)


def test_nearest_width_is_the_mean_squared_nearest_neighbour_distance():
    table = RNG.normal(size=(60, 4)) + 100.0
    squares = ((table[:, None] - table[None]) ** 2).sum(-1)
    np.fill_diagonal(squares, np.inf)
    expected = 1.0 / squares.min(axis=1).mean()
    assert Gaussian("nearest").fit(table).gamma == pytest.approx(expected, rel=1e-8)
    assert Gaussian("nearest").fit(scipy.sparse.csr_matrix(table)).gamma == pytest.approx(expected, rel=1e-6)


def test_width_estimates_of_many_rows_use_a_fixed_sample():
    table = RNG.normal(size=(3000, 2))
    first = Gaussian().fit(table)
    assert first == Gaussian().fit(table)
    # squared distances are twice a chi-squared with 2 degrees of freedom, whose median is 2 log 2
    assert first.gamma == pytest.approx(1.0 / (4.0 * np.log(2.0)), rel=0.15)
    assert Gaussian("nearest").fit(table) == Gaussian("nearest").fit(table)


@pytest.mark.parametrize("estimate", ["median", "nearest"])
def test_width_estimates_survive_duplicates_and_single_rows(estimate):
    mostly_equal = np.vstack([np.zeros((30, 2)), [[3.0, 4.0]]])
    assert Gaussian(estimate).fit(mostly_equal).gamma > 0.0
    assert Gaussian("median").fit(mostly_equal).gamma == pytest.approx(1 / 25.0)
    assert Gaussian(estimate).fit(np.ones((5, 2))).gamma == 1.0
    assert Gaussian(estimate).fit([[2.0]]).gamma == 1.0


@pytest.mark.parametrize(
    ("kind", "distance"),
    [
        (Laplacian, lambda A: np.abs(A[:, None] - A).sum(-1)),
        (Chi2, lambda A: -pairwise.additive_chi2_kernel(A)),
    ],
)
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_the_width_of_other_distances_is_their_own_median(kind, distance, size):
    table = RNG.exponential(size=(60, 4)) * (RNG.random((60, 4)) < 0.7)
    median = size * np.median(distance(table)[np.triu_indices(60, 1)])
    assert kind().gamma == "median"
    for form in (np.asarray, scipy.sparse.csr_matrix):
        assert kind().fit(form(size * table)).gamma == pytest.approx(1.0 / median, rel=1e-10)
        assert kind(scale=4.0).fit(form(size * table)).gamma == pytest.approx(0.25 / median, rel=1e-10)
    mostly_equal = np.vstack([np.zeros((30, 2)), [[3.0, 4.0]]])
    assert kind().fit(mostly_equal).gamma == pytest.approx(1 / 7.0)
    assert kind().fit(np.ones((5, 2))).gamma == kind().fit([[2.0]]).gamma == 1.0
    many = RNG.exponential(size=(1500, 2))
    sample = many[np.unique(np.linspace(0, 1499, 512).astype(int))]
    assert kind().fit(many).gamma == pytest.approx(kind().fit(sample).gamma, rel=1e-12)


def test_a_number_takes_the_place_of_a_median_and_its_scale():
    assert Laplacian(scale=2.0).set_params(gamma=0.5) == Laplacian(0.5)
    assert Laplacian(0.5).set_params(gamma="median") == Laplacian()
    assert Chi2(scale=2.0).set_params(gamma="median") == Chi2(scale=2.0)


def test_sigma_is_a_standard_deviation_and_says_so():
    with pytest.warns(FutureWarning, match=r"standard deviation.*equal gamma is 0\.125 now, and was 0\.25"):
        kernel = Gaussian(sigma=2.0)
    squares = ((Z[:, None] - X[None]) ** 2).sum(-1)
    np.testing.assert_allclose(kernel(Z, X), np.exp(-squares / (2 * 2.0**2)), rtol=1e-12)
    check_value(kernel)


def test_scale_is_one_over_the_mean_squared_norm():
    fitted = Polynomial(2, gamma="scale").fit(Z)
    assert fitted.gamma == pytest.approx(1.0 / (Z**2).sum(axis=1).mean())
    assert Sigmoid(gamma="scale").fit(scipy.sparse.csr_matrix(Z)).gamma == pytest.approx(fitted.gamma)


def test_fit_returns_a_new_kernel_and_calling_an_unresolved_one_is_refused():
    kernel = Gaussian()
    fitted = kernel.fit(Z)
    assert kernel.gamma == "median" and isinstance(fitted.gamma, float)
    for unresolved in (kernel, Polynomial(gamma="scale"), Linear() + kernel, 2.0 * kernel**2):
        with pytest.raises(ValueError, match=r"depend on the data. Call kernel\.fit\(X_train\) first"):
            unresolved(Z)
        with pytest.raises(ValueError, match=r"Call kernel\.fit\(X_train\) first"):
            unresolved.diag(Z)
        assert unresolved.fit(Z)(Z).shape == (11, 11)


def _overlap(left, right):
    return np.array([[len(set(a) & set(b)) for b in right] for a in left])


def _first(left, right):
    return _overlap(left[:1], right)


POSITIONS = Precomputed(np.eye(3))
ONE_FOR_ALL = FunctionKernel(lambda A, B: A @ B.T, diag_func=lambda A: np.ones(1))


test_bad_parameters_and_rows_are_named = refused(
    (lambda: Gaussian(gamma=1.0, s=2.0), "one of gamma, s and sigma; got gamma and s"),
    (lambda: Gaussian(gamma="mean"), "must be one of 'median', 'nearest'; got 'mean'"),
    (lambda: Gaussian(gamma=0.0), "Gaussian gamma must be greater than 0; got 0.0"),
    (lambda: Gaussian(s=-1.0), "Gaussian s must be greater than 0; got -1.0"),
    (lambda: Gaussian(gamma=1.0, scale=2.0), "scale multiplies an estimated width"),
    (lambda: Gaussian(scale=np.inf), "Gaussian scale must be finite; got inf"),
    (lambda: Gaussian(gamma=[1.0]), TypeError, r"Gaussian gamma must be a number; got \[1.0\]"),
    (lambda: Polynomial(degree=0), "Polynomial degree must be a positive integer; got 0"),
    (lambda: Polynomial(degree=2.0), TypeError, "Polynomial degree must be a positive integer; got 2.0"),
    (lambda: Polynomial(coef0=-1.0), "Polynomial coef0 must be at least 0; got -1.0"),
    (lambda: Polynomial(gamma="auto"), "a positive number or 'scale'; got 'auto'"),
    (lambda: Laplacian(gamma=np.nan), "Laplacian gamma must be finite; got nan"),
    (lambda: Chi2(gamma=True), TypeError, "Chi2 gamma must be a number; got True"),
    (lambda: FunctionKernel(3), TypeError, r"FunctionKernel needs a function f\(X, Z\); got 3"),
    (lambda: as_kernel("rbf"), TypeError, r"must be a Kernel or a function f\(X, Z\); got 'rbf'"),
    (lambda: as_kernel(Gaussian), TypeError, r"got the class Gaussian. Write Gaussian\(\)"),
    (lambda: Linear()(X, np.ones((3, 2))), "X has 6 columns, but Z has 2"),
    (lambda: Cosine()(X, np.ones((3, 2))), "X has 6 columns, but Z has 2"),
    (lambda: Laplacian("nearest"), "Laplacian gamma must be a positive number or 'median'; got 'nearest'"),
    (lambda: Chi2(1.0, scale=2.0), "Chi2 scale multiplies an estimated width; give it with gamma='median'"),
    (lambda: Laplacian(scale=0.0), "Laplacian scale must be greater than 0; got 0.0"),
    (lambda: Chi2().fit(-Z), "Chi2 needs non-negative features; X holds -.* at row 0, column 0"),
    (lambda: Chi2(1.0)(-Z), "Chi2 needs non-negative features; X holds -.* at row 0, column 0"),
    (lambda: Chi2(1.0)(scipy.sparse.csr_matrix(-Z)), "X holds -.* at row 0, column 0"),
    (lambda: Gaussian(1.0)([[1.0]], [[1.0], [np.nan]]), "Z holds NaN at row 1, column 0"),
    (lambda: Linear()(np.arange(3.0)), r"Reshape a single feature with X.reshape\(-1, 1\)"),
    (lambda: Linear()([[1e200]]), r"Linear\(\) is not finite in float64 on X.*Rescale the"),
    (lambda: Polynomial(50).diag([[1e10]]), "is not finite in float64 on X"),
    (lambda: Precomputed(np.ones((2, 3))), r"a square Gram matrix; got shape \(2, 3\)"),
    (lambda: Precomputed([[1.0, 1.0], [0.0, 1.0]]), r"transpose by 1.0e\+00 at \(0, 1\)"),
    (lambda: Precomputed([[np.nan]]), r"holds NaN at \(0, 0\)"),
    (lambda: POSITIONS([[0.5]]), r"holds np.float64\(0.5\) at row 0. Positions run from 0"),
    (lambda: POSITIONS([[0], [3]]), "holds .*3.* at row 1"),
    (lambda: POSITIONS([[-1]]), "at row 0"),
    (lambda: POSITIONS([[0, 1]]), r"has shape \(1, 2\)"),
    (lambda: POSITIONS([["a"]]), "needs one column of integer positions; X holds .*'a'"),
    (lambda: POSITIONS([[np.nan]]), "at row 0"),
    (lambda: FunctionKernel(_first)("abc"), r"'_first' must return shape \(3, 3\)"),
    (lambda: ONE_FOR_ALL.diag(np.ones((2, 1))), r"diag_func of 'function' .*, not \(1,\)"),
    (lambda: FunctionKernel(lambda A, B: "what?")(X), "must be a numeric array"),
)  # fmt: skip


def test_precomputed_takes_positions():
    matrix = Linear()(Z)
    kernel = Precomputed(matrix)
    rows, columns = np.array([[4], [0], [4]]), np.array([[2], [10]])
    np.testing.assert_array_equal(kernel(rows, columns), matrix[np.ix_([4, 0, 4], [2, 10])])
    np.testing.assert_array_equal(kernel(rows.astype(float)), matrix[np.ix_([4, 0, 4], [4, 0, 4])])
    np.testing.assert_array_equal(kernel.diag([4, 0]), matrix.diagonal()[[4, 0]])
    assert kernel.matrix.base is not None and np.shares_memory(kernel.matrix, matrix)
    assert matrix.flags.writeable
    assert kernel == Precomputed(matrix.copy()) and hash(kernel) == hash(Precomputed(matrix.copy()))


def test_function_kernel_gets_the_rows_as_they_are():
    words = ["abc", "bcd", "xyz", "c"] * 9
    kernel = FunctionKernel(_overlap)
    assert kernel(words)[:4, :4].tolist() == [[3, 2, 0, 1], [2, 3, 0, 1], [0, 0, 3, 0], [1, 1, 0, 1]]
    assert kernel.diag(words).tolist() == [3, 3, 3, 1] * 9
    assert (
        FunctionKernel(_overlap, diag_func=lambda rows: np.full(len(rows), 5.0)).diag(words).tolist()
        == [5.0] * 36
    )
    assert kernel.is_psd and not FunctionKernel(_overlap, psd=False).is_psd


@pytest.mark.parametrize(
    "kernel", [kernel for kernel, _ in CASES] + [Precomputed(np.eye(4)), FunctionKernel(_overlap)]
)
def test_kernels_are_values(kernel):
    check_value(kernel)


def test_representations_read_like_code():
    a, b = Gaussian(s=2.0), Linear()
    assert repr(a) == "Gaussian(s=2.0)"
    assert repr(Polynomial(3)) == "Polynomial(degree=3)"
    assert repr((a + b) * b) == "(Gaussian(s=2.0) + Linear()) * Linear()"
    assert repr((a * b) ** 2) == "(Gaussian(s=2.0) * Linear()) ** 2"
    assert repr(2.5 * (a + b)) == "2.5 * (Gaussian(s=2.0) + Linear())"
    kernel = 0.5 * (a + b * Polynomial(3, 0.1)) ** 2 + Sigmoid() * a
    assert eval(repr(kernel)) == kernel


def test_input_is_never_modified():
    unsorted = scipy.sparse.csr_matrix(
        (np.array([1.0, 2.0, 3.0]), np.array([2, 0, 0]), np.array([0, 3, 3])), shape=(2, 3)
    )
    before = (unsorted.data.copy(), unsorted.indices.copy())
    table = Z.copy()
    for kernel, _ in CASES:
        kernel(unsorted)
        kernel(table)
    np.testing.assert_array_equal(unsorted.data, before[0])
    np.testing.assert_array_equal(unsorted.indices, before[1])
    np.testing.assert_array_equal(table, Z)
    np.testing.assert_allclose(Linear()(unsorted), [[26.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint32])
def test_products_of_small_integers_do_not_overflow(dtype):
    small = np.array([[100, 120], [3, 90], [127, 1]], dtype=dtype)
    exact = small.astype(float) @ small.T.astype(float)
    kernel = FunctionKernel(lambda A, B: np.asarray(A) @ np.asarray(B).T)
    for rows in (small, pd.DataFrame(small, columns=["p", "q"])):
        np.testing.assert_array_equal(kernel(rows), exact)
        np.testing.assert_array_equal(kernel.diag(rows), exact.diagonal())
    counted = FunctionKernel(kernel.func, diag_func=lambda A: (A * A).sum(axis=1))
    np.testing.assert_array_equal(counted.diag(small), exact.diagonal())
