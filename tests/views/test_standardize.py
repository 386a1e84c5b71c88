"""Standardised views: training means and deviations, at fit and at prediction, whatever the scale."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler

from multikernel import MKLClassifier
from multikernel.kernels import Chi2, Cosine, Gaussian, Laplacian, Linear, Polynomial, Precomputed
from multikernel.views import KernelBank, View
from multikernel.views.scaling import Scaling

RNG = np.random.default_rng(11)
SIZES, SHIFTS = np.array([1e-3, 1.0, 50.0, 1e4, 3.0]), np.array([0.0, 7.0, -300.0, 1e4, 1e6])
X = RNG.normal(size=(40, 5)) * SIZES + SHIFTS
NEW = RNG.normal(size=(7, 5)) * SIZES + SHIFTS
THIN = RNG.exponential(size=(40, 5)) * SIZES * (RNG.random((40, 5)) < 0.4)
BLOCKS = [
    ("linear", Linear(), None),
    ("gaussian", Gaussian(), None),
    ("pair", Laplacian(0.3), [0, 3]),
    ("product", Gaussian(gamma=0.1) * Polynomial(2, 0.2), slice(1, 4)),
    ("one", Gaussian(), 2),
    ("angle", Cosine(), lambda table: [0, 4]),
    ("function", lambda A, B: A @ B.T + 1.0, [1, 2]),
]


def _views(standardize):
    return [View(name, kernel, columns, standardize=standardize) for name, kernel, columns in BLOCKS]


def test_it_is_the_same_bank_on_columns_scaled_by_hand():
    scaler = StandardScaler().fit(X)
    ours, plain = KernelBank(_views(True)), KernelBank(_views(False))
    expected = plain.fit_stack(scaler.transform(X))
    np.testing.assert_allclose(ours.fit_stack(X), expected, rtol=1e-8, atol=1e-10)
    expected = plain.transform(scaler.transform(NEW))
    np.testing.assert_allclose(ours.transform(NEW), expected, rtol=1e-8, atol=1e-10)


def test_raw_and_standardised_views_of_the_same_columns_stay_apart():
    kernels = [View("raw", Linear()), View("z", Linear(), standardize=True), View("raw-2", Polynomial(2))]
    bank = KernelBank(kernels, standardize=False, normalize=None)
    Ks = bank.fit_stack(X)
    scaler = StandardScaler().fit(X)
    Z, new = scaler.transform(X), scaler.transform(NEW)
    np.testing.assert_allclose(Ks[0], X @ X.T, rtol=1e-10)
    np.testing.assert_allclose(Ks[1], Z @ Z.T, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(Ks[2], (X @ X.T + 1.0) ** 2, rtol=1e-10)
    got = bank.transform(NEW)
    np.testing.assert_allclose(got[:, :, 0], NEW @ X.T, rtol=1e-10)
    np.testing.assert_allclose(got[:, :, 1], new @ Z.T, rtol=1e-8, atol=1e-10)
    shared = KernelBank("auto").fit(X).views_
    for group in (shared[:4], shared[4:]):  # on standardized columns, on ranks
        assert all(view.rows is group[0].rows and view.scaling is group[0].scaling for view in group)


def test_sparse_columns_are_divided_and_their_zeros_stay():
    deviations = THIN.std(axis=0)
    kernels = [View("linear", Linear(), standardize=True), View("g", Gaussian(), [0, 3], standardize=True)]
    bank = KernelBank(kernels)
    Ks = bank.fit_stack(scipy.sparse.csc_matrix(THIN))
    plain = KernelBank([("linear", Linear()), ("g", Gaussian(), [0, 3])], standardize=False)
    np.testing.assert_allclose(Ks, plain.fit_stack(THIN / deviations), rtol=1e-10, atol=1e-12)
    fitted = bank.views_[0]
    assert scipy.sparse.issparse(fitted.rows.raw) and fitted.rows.raw.nnz == np.count_nonzero(THIN)
    np.testing.assert_allclose(fitted.scaling.scale, deviations, rtol=1e-12)
    np.testing.assert_array_equal(fitted.scaling.mean, np.zeros(5))
    expected = plain.transform(NEW / deviations)
    for new in (NEW, scipy.sparse.coo_matrix(NEW), scipy.sparse.csr_array(NEW)):
        np.testing.assert_allclose(bank.transform(new), expected, rtol=1e-9, atol=1e-12)


def test_sparse_rows_meet_dense_training_rows():
    bank = KernelBank().fit(THIN)
    new = THIN[:6] * 1.5
    np.testing.assert_allclose(
        bank.transform(scipy.sparse.csr_matrix(new)), bank.transform(new), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("value", [0.1, 0.0, -7.0, 1e150, 1e-150])
def test_constant_columns_are_centred_and_divided_by_one(value):
    table = np.column_stack([X[:, 1], np.full(40, value)])
    scaling = KernelBank([View("a", Linear(), standardize=True)]).fit(table).views_[0].scaling
    assert scaling.mean[1] == value and scaling.scale[1] == 1.0
    assert (scaling.apply(table, "X")[:, 1] == 0.0).all()
    assert scaling.apply(np.array([[0.0, value + 2.0]]), "X")[0, 1] == value + 2.0 - value
    for dense, bank in ((table, KernelBank()), (X[:, [1]], KernelBank())):
        bank.fit(dense)
        assert bank.views_[1].kernel.gamma == pytest.approx(1.0)  # of the quadratic: one column varies


def test_sparse_constant_columns_are_left_as_they_are():
    table = np.column_stack([THIN[:, 0], np.full(40, 3.0), np.zeros(40)])
    bank = KernelBank([View("a", Linear(), standardize=True)]).fit(scipy.sparse.csr_matrix(table))
    np.testing.assert_allclose(bank.views_[0].scaling.scale, [THIN[:, 0].std(), 1.0, 1.0], rtol=1e-12)
    np.testing.assert_array_equal(bank.views_[0].rows.raw.toarray()[:, 1:], table[:, 1:])


@pytest.mark.parametrize("size", [1.0, 1e150])
def test_rounding_is_not_blown_up(size):
    noise = size * (1.0 + np.finfo(float).eps * (np.arange(40) % 2))
    Z = Scaling.fit(np.column_stack([X[:, 1], noise])).apply(np.column_stack([X[:, 1], noise]), "X")
    assert np.abs(Z[:, 1]).max() < 1e-15


def test_columns_far_from_zero_keep_their_digits():
    table = np.round(RNG.normal(size=(200, 1)) * 64) / 64 + 2.0**40  # exact, 2**46 steps away from 0
    centred = table - 2.0**40
    Z = Scaling.fit(table).apply(table, "X")
    np.testing.assert_allclose(Z - Z[0], (centred - centred[0]) / centred.std(), rtol=1e-9, atol=1e-12)
    assert abs(Z.mean()) < 2.0**-12  # the mean itself is a float: right to its last bit


def test_one_sample():
    bank = KernelBank([View("a", Gaussian(), standardize=True)])
    assert bank.fit_stack([[3.0, -1.0]]).tolist() == [[[1.0]]]
    np.testing.assert_array_equal(bank.views_[0].scaling.mean, [3.0, -1.0])
    np.testing.assert_array_equal(bank.views_[0].scaling.scale, [1.0, 1.0])
    assert bank.transform([[4.0, -1.0]]).item() == pytest.approx(np.exp(-1.0))


@given(
    st.lists(st.integers(-500, 500), min_size=1, max_size=4),
    st.integers(2, 30),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_the_units_of_each_column_do_not_matter(exponents, n, seed, sparse):
    rng = np.random.default_rng(seed)
    rows, new = rng.normal(size=(n, len(exponents))), rng.normal(size=(3, len(exponents)))
    units = np.ldexp(1.0, exponents)  # powers of two up to 1e150: the numbers must agree to the last bit
    form = scipy.sparse.csr_matrix if sparse else np.asarray
    plain, moved = KernelBank(), KernelBank()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(moved.fit_stack(form(rows * units)), plain.fit_stack(form(rows)))
        np.testing.assert_array_equal(moved.transform(form(new * units)), plain.transform(form(new)))


def test_the_largest_and_the_smallest_numbers():
    table = np.column_stack([X[:, 1] * 0 + np.tile([1.7e308, -1.7e308], 20), np.tile([5e-324, 0.0], 20)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Z = Scaling.fit(table).apply(table, "X")
    np.testing.assert_allclose(Z[:, 0], np.tile([1.0, -1.0], 20))
    assert np.isfinite(Z).all()


def test_frames_are_scaled_by_name():
    frame = pd.DataFrame(X, columns=list("abcde")).assign(word="x")
    kernels = [
        View("ab", Gaussian(), ["a", "b"], standardize=True),
        View("d", Linear(), "d", standardize=True),
    ]
    bank = KernelBank(kernels)
    stack = bank.fit_transform(frame)
    d = (X[:, 3] - X[:, 3].mean()) / X[:, 3].std()
    np.testing.assert_allclose(stack[:, :, 1], np.outer(d, d), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(bank.transform(frame[["word", *"edcba"]]), stack, rtol=1e-9, atol=1e-12)


def test_prediction_uses_the_training_rows_only():
    bank = KernelBank().fit(X)
    together = bank.transform(NEW)
    alone = np.concatenate([bank.transform(row[None]) for row in NEW])
    np.testing.assert_allclose(alone, together, rtol=1e-10, atol=1e-12)
    far = np.vstack([NEW[:1], NEW[1:] * 1e3])
    np.testing.assert_allclose(bank.transform(far)[0], together[0], rtol=1e-10, atol=1e-12)


def test_a_restricted_bank_keeps_mean_and_scale_and_pickles():
    bank = KernelBank(_views(True)[:5]).fit(X)
    full = bank.transform(NEW)
    small = bank.restrict([4, 30, 9], [1, 4])
    np.testing.assert_allclose(small.views_[1].scaling.mean, X.mean(axis=0), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(small.views_[1].scaling.scale, X.std(axis=0), rtol=1e-10)
    assert small.views_[0].scaling is None  # no kernel of its own is left
    again = pickle.loads(pickle.dumps(small))
    for bank_ in (small, again):
        np.testing.assert_allclose(bank_.transform(NEW), full[:, [4, 30, 9]][:, :, [1, 4]], rtol=1e-10)


GIVEN = Precomputed(np.eye(3))
WORDS = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
TINY = KernelBank([View("tap", Gaussian(), standardize=True)]).fit(X * 1e-300)


def standardised(kernel):
    return KernelBank([View("tap", kernel, standardize=True)])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: standardised(GIVEN), ValueError, "standardize=True needs a kernel of numeric columns"),
        (lambda: standardised(GIVEN + Linear()), ValueError, "standardize=True needs a kernel"),
        (lambda: standardised((2.0 * GIVEN) * Gaussian()), ValueError, "standardize=True needs a kernel"),
        (lambda: View("tap", Linear(), standardize="yes"), TypeError, "or 'auto'; got 'yes'"),
        (lambda: standardised(Linear()).fit(WORDS), ValueError, r"must be numeric, but column 1 \('b'\)"),
        (lambda: standardised(len).fit(["ab", "cd"]), ValueError, "must be numeric"),
        (lambda: standardised(Chi2(1.0)).fit([[1.0], [2.0]]), ValueError, r"dardised\) holds -1 at row 0"),
        (lambda: TINY.transform(X * 1e300), ValueError, " at prediction holds values so far"),
        (lambda: TINY.transform(np.full((1, 5), np.nan)), ValueError, " at prediction holds NaN at row 0"),
    ],
)  # fmt: skip
def test_views_that_cannot_be_standardised_are_named(call, error, message):
    with pytest.raises(error, match=f"view 'tap'.*{message}"):
        call()


def test_a_function_gets_the_standardised_table():
    seen = []

    def similarity(A, B):
        seen.append(A)
        return A @ B.T

    KernelBank([View("f", similarity, ["a"], standardize=True)]).fit(pd.DataFrame({"a": [1.0, 3.0]}))
    assert seen[0].tolist() == [[-1.0], [1.0]]


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_the_default_is_good_on_columns_of_different_scale(load):
    table, labels = load(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert cross_val_score(MKLClassifier(), table, labels, cv=folds).mean() >= 0.95
