"""The kernel bank: stacks, lazy test kernels, restriction, and every refusal."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import pairwise
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from multikernel.kernels import (
    Chi2,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    smallest_eigenvalue,
)
from multikernel.views import KernelBank, LowRankBank, View
from tests.raw import raw
from tests.refusals import refused

RNG = np.random.default_rng(5)
X = RNG.normal(size=(50, 4))
NEW = RNG.normal(size=(9, 4))
SUPPORT = np.array([40, 3, 7])
MIXED = raw(
    [
        ("first", Gaussian(gamma=0.5), [0, 1]),
        ("plain", Linear()),
        ("centred", Polynomial(2), slice(1, 4), ("center", "unit_diagonal")),
        ("product", Gaussian(s=2.0) * Linear(), [0, 1]),
        ("traced", Laplacian(0.2), None, "unit_trace"),
    ]
)


def _unit(K, left, right):
    return K / np.sqrt(np.outer(left, right))


def test_the_automatic_stack_is_what_it_says():
    bank = KernelBank()
    Ks = bank.fit_stack(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    squares = ((Z[:, None] - Z[None]) ** 2).sum(-1)
    median = np.median(squares[np.triu_indices(50, 1)])
    linear = Z @ Z.T
    quadratic = (linear / 4 + 1.0) ** 2
    expected = [linear, quadratic, *(np.exp(-squares / (width**2 * median)) for width in (0.5, 1.0))]
    expected = [K / (K.diagonal().mean() - K.mean()) for K in expected]
    np.testing.assert_allclose(Ks[:4], expected, rtol=1e-10, atol=1e-12)  # ranks: test_automatic
    assert Ks.flags.c_contiguous and Ks.shape == (6, 50, 50) and Ks.dtype == np.float64
    assert bank.n_kernels_ == 6 and bank.n_train_ == 50 and bank.memory_.n_kernels == 6
    assert all(np.array_equal(K, K.T) for K in Ks)


def test_transform_of_new_rows_uses_the_training_parameters():
    bank = KernelBank().fit(X)
    scaler = StandardScaler().fit(X)
    Z, new = scaler.transform(X), scaler.transform(NEW)
    median = np.median(((Z[:, None] - Z[None]) ** 2).sum(-1)[np.triu_indices(50, 1)])
    result = bank.transform(NEW)
    assert result.shape == (9, 50, 6) and np.moveaxis(result, 2, 0).flags.c_contiguous
    gaussian, K = (pairwise.rbf_kernel(left, Z, gamma=1 / median) for left in (new, Z))
    np.testing.assert_allclose(result[:, :, 3], gaussian / (1.0 - K.mean()), rtol=1e-9)
    np.testing.assert_allclose(result[:, :, 0], new @ Z.T / 4.0, atol=1e-12)


@pytest.mark.parametrize("kernels", ["auto", MIXED], ids=["auto", "mixed"])
def test_training_rows_given_again_get_their_training_similarities(kernels):
    bank = KernelBank(kernels)
    stack = bank.fit_transform(X)
    assert stack.shape == (50, 50, bank.n_kernels_) and np.moveaxis(stack, 2, 0).flags.c_contiguous
    np.testing.assert_allclose(bank.transform(X), stack, rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(KernelBank(kernels).fit(X).transform(NEW), bank.transform(NEW))


def test_views_read_their_columns():
    Ks = KernelBank(MIXED).fit_stack(X)
    np.testing.assert_allclose(Ks[0], pairwise.rbf_kernel(X[:, :2], gamma=0.5), rtol=1e-10)
    np.testing.assert_allclose(Ks[1], X @ X.T, rtol=1e-10, atol=1e-12)
    H = np.eye(50) - 1 / 50
    centred = H @ (X[:, 1:] @ X[:, 1:].T + 1.0) ** 2 @ H
    np.testing.assert_allclose(Ks[2], _unit(centred, centred.diagonal(), centred.diagonal()), atol=1e-10)
    part = X[:, :2]
    np.testing.assert_allclose(Ks[3], pairwise.rbf_kernel(part, gamma=0.25) * (part @ part.T), atol=1e-12)
    np.testing.assert_allclose(Ks[4], pairwise.laplacian_kernel(X, gamma=0.2), rtol=1e-10)


def test_iteration_is_lazy_and_in_order():
    calls = []

    def counted(A, B):
        calls.append(len(A))
        return A @ B.T

    bank = KernelBank(raw([("a", counted), ("b", Linear()), ("c", counted)])).fit(X)
    calls.clear()
    iterator = bank.iter_kernels(NEW)
    assert calls == []
    index, K = next(iterator)
    assert (index, calls) == (0, [9])
    np.testing.assert_allclose(K, NEW @ X.T)
    assert [index for index, _ in iterator] == [1, 2]


@pytest.mark.parametrize("kernels", ["auto", MIXED], ids=["auto", "mixed"])
def test_a_restricted_bank_yields_the_same_numbers_for_less(kernels):
    bank = KernelBank(kernels).fit(X)
    full = bank.transform(NEW)
    active = [bank.n_kernels_ - 1, 2, 0]
    small = bank.restrict(SUPPORT, active)
    seen = dict(small.iter_kernels(NEW))
    assert list(seen) == sorted(active)
    for index, K in seen.items():
        assert K.shape == (9, 3)
        np.testing.assert_allclose(K, full[:, SUPPORT, index], rtol=1e-10, atol=1e-12)
    assert small.view_names_ == bank.view_names_ and small.n_train_ == 50
    assert len(list(bank.iter_kernels(NEW))) == bank.n_kernels_
    again = pickle.loads(pickle.dumps(small))
    np.testing.assert_array_equal(again.transform(NEW), small.transform(NEW))
    assert list(full.names) == bank.view_names_ and list(bank.fit_transform(X).names) == bank.view_names_
    assert list(small.transform(NEW).names) == [bank.view_names_[index] for index in sorted(active)]


def test_a_restricted_bank_is_small():
    tall = RNG.normal(size=(400, 30))
    bank = KernelBank().fit(tall)
    assert len(pickle.dumps(bank.restrict(SUPPORT, [0, 3]))) < 0.1 * len(pickle.dumps(bank))
    counted = []

    def similarity(A, B):
        counted.append(len(B))
        return A @ B.T

    KernelBank([similarity]).fit(X).restrict(SUPPORT, [0]).transform(NEW)
    assert counted[-1] == 3


def test_a_prediction_leaves_nothing_behind_in_the_pickle():
    small = KernelBank().fit(X).restrict(SUPPORT, [0, 3])
    before = len(pickle.dumps(small))
    small.transform(NEW)
    assert len(pickle.dumps(small)) == before


def test_views_on_the_same_columns_share_products_without_mixing_them_up():
    far = X + 2000.0  # far enough that the Gaussian takes centred products, the others plain ones
    kernels = [
        Linear(),
        Gaussian(gamma=0.5),
        Polynomial(2, 1e-6),
        Gaussian(gamma=2.0),
        Linear() * Gaussian(s=1.0),
    ]
    squares = ((far[:, None] - far[None]) ** 2).sum(-1)
    new_squares = (((NEW + 2000.0)[:, None] - far[None]) ** 2).sum(-1)

    def expected(products, distances):
        polynomial = (1e-6 * products + 1.0) ** 2
        return [
            products,
            np.exp(-0.5 * distances),
            polynomial,
            np.exp(-2 * distances),
            products * np.exp(-distances),
        ]

    for dtype, tolerance in (("float64", 1e-9), ("float32", 1e-5)):
        bank = KernelBank(raw(kernels), dtype=dtype)
        np.testing.assert_allclose(
            bank.fit_stack(far), expected(far @ far.T, squares), rtol=tolerance, atol=tolerance
        )
        got = np.moveaxis(bank.transform(NEW + 2000.0), 2, 0)
        wanted = expected((NEW + 2000.0) @ far.T, new_squares)
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def test_restricting_to_nothing():
    bank = KernelBank([Linear(), Gaussian()]).fit(X)
    assert next(bank.restrict([], [0]).iter_kernels(NEW))[1].shape == (9, 0)
    assert list(bank.restrict([1], []).iter_kernels(NEW)) == []


def test_float32_halves_the_stack_and_keeps_its_digits():
    Ks = KernelBank(MIXED, dtype="float32").fit_stack(X)
    assert Ks.dtype == np.float32
    np.testing.assert_allclose(Ks, KernelBank(MIXED).fit_stack(X), rtol=2e-5, atol=2e-5)
    assert KernelBank(MIXED, dtype="float32").fit(X).transform(NEW).dtype == np.float32


def test_frames_are_read_by_name_in_any_order():
    frame = pd.DataFrame(X, columns=list("abcd"))
    kernels = [("ab", Gaussian(), ["a", "b"]), ("c", Linear(), "c"), ("all", Linear())]
    bank = KernelBank(raw(kernels))
    stack = bank.fit_transform(frame)
    np.testing.assert_allclose(stack[:, :, 1], np.outer(X[:, 2], X[:, 2]))
    shuffled = frame[["d", "c", "b", "a"]]
    np.testing.assert_allclose(bank.transform(shuffled), stack, atol=1e-12)
    np.testing.assert_allclose(bank.transform(X), stack, atol=1e-12)


def test_sparse_rows_give_the_same_stack():
    thin = X * (RNG.random(X.shape) < 0.5)
    dense, sparse = KernelBank(MIXED), KernelBank(MIXED)
    expected = dense.fit_stack(thin)
    np.testing.assert_allclose(
        sparse.fit_stack(scipy.sparse.csc_matrix(thin)), expected, rtol=1e-9, atol=1e-10
    )
    got = sparse.transform(scipy.sparse.coo_matrix(NEW))
    np.testing.assert_allclose(got, dense.transform(NEW), rtol=1e-9, atol=1e-10)


def test_strings_and_positions_stand_beside_numbers():
    frame = pd.DataFrame({"word": ["ab", "bc", "cc"], "row": [2, 0, 1], "size": [1.0, 2.0, 4.0]})
    gram = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])

    def letters(left, right):
        return np.array([[len(set(a) & set(b)) for b in right] for a in left], dtype=float)

    kernels = [("word", letters, "word"), ("given", Precomputed(gram), ["row"]), ("size", Linear(), ["size"])]
    bank = KernelBank(raw(kernels))
    Ks = bank.fit_stack(frame)
    assert Ks[0].tolist() == [[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 1.0]]
    np.testing.assert_array_equal(Ks[1], gram[np.ix_([2, 0, 1], [2, 0, 1])])
    np.testing.assert_allclose(bank.transform(frame.iloc[[1]])[0, :, 0], [1.0, 2.0, 1.0])
    alone = KernelBank(raw(letters))
    assert alone.fit_stack(["ab", "bc", "cc"])[0].tolist() == Ks[0].tolist()
    assert alone.restrict([2], [0]).transform(["c"]).tolist() == [[[1.0]]]


def test_one_row_and_one_column():
    assert len(KernelBank().fit_stack(scipy.sparse.csr_matrix([[3.0]]))) == 6
    bank = KernelBank()
    assert bank.fit_stack([[3.0]]).tolist() == [[[1.0]]] * 5  # centred, it is 0: no linear kernel
    assert bank.view_names_[0] == "quadratic"
    positive = scipy.sparse.csr_matrix([[1.0], [2.0], [4.0]])
    Ks = bank.fit_stack(positive)
    assert len(Ks) == 6 and bank.view_names_[0] == "linear"
    assert Ks.flags.c_contiguous
    np.testing.assert_allclose(np.moveaxis(bank.transform(positive), 2, 0), Ks, atol=1e-12)


@pytest.mark.parametrize("psd", ["clip", "shift"])
def test_indefinite_kernels_are_repaired_on_request(psd):
    kernels = raw([("tanh", Sigmoid(0.9, -1.0)), ("plain", Linear())])
    similarities = np.tanh(0.9 * X @ X.T - 1.0)
    lowest = np.linalg.eigvalsh(similarities)[0]
    assert lowest < -0.1
    with pytest.raises(
        ValueError, match=f"kernel 'tanh' has smallest eigenvalue {lowest:.3g}. Repair it with KernelBank"
    ):
        KernelBank(kernels).fit_stack(X)
    bank = KernelBank(kernels, psd=psd)
    Ks = bank.fit_stack(X)
    assert smallest_eigenvalue(Ks[0]) > -1e-10
    np.testing.assert_allclose(Ks[1], X @ X.T)
    new = np.tanh(0.9 * NEW @ X.T - 1.0)
    if psd == "clip":
        values, vectors = np.linalg.eigh(similarities)
        kept = vectors[:, values > 1e-10]
        new = new @ kept @ kept.T
    np.testing.assert_allclose(bank.transform(NEW)[:, :, 0], new, atol=1e-9)
    small = bank.restrict(SUPPORT, [0])
    np.testing.assert_allclose(small.transform(NEW)[:, :, 0], new[:, SUPPORT], atol=1e-9)


def test_it_clones_and_stands_in_a_pipeline():
    bank = KernelBank([("a", Gaussian(s=2.0), [0]), View("b", Linear(), transforms="center")], psd="clip")
    copied = clone(bank)
    assert copied.get_params()["psd"] == "clip" and copied.kernels[0] == bank.kernels[0]
    pipeline = Pipeline([("scale", StandardScaler()), ("bank", bank)])
    stack = pipeline.fit_transform(X)
    np.testing.assert_allclose(stack, clone(bank).fit_transform(StandardScaler().fit_transform(X)))
    assert pipeline.get_feature_names_out().tolist() == ["a", "b"]
    assert not hasattr(bank.kernels[1], "rows")


@pytest.mark.parametrize("make", [KernelBank, lambda kernels: LowRankBank(kernels, rank=15)])
@pytest.mark.parametrize("kernels", ["auto", MIXED], ids=["auto", "mixed"])
@pytest.mark.parametrize("form", [np.array, pd.DataFrame, scipy.sparse.csr_matrix])
def test_nothing_given_is_modified(form, kernels, make):
    table, given = form(X), copy.copy(kernels)
    make(given).fit(table).transform(table)
    np.testing.assert_array_equal(table.toarray() if form is scipy.sparse.csr_matrix else table, X)
    assert given == kernels


def similarity(shift):
    return lambda A, B: A @ B.T + shift(A)


@pytest.mark.parametrize(
    ("kernels", "table", "message"),
    [
        ([("tap", Linear())], [[1.0], [np.nan]], "view 'tap' holds NaN at row 1, column 0"),
        ([("ok", Linear(), "a"), ("tap", Gaussian())], pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.inf]}),
            r"view 'tap' holds infinity at row 1, column 1 \('b'\)"),
        ([("tap", Linear())], pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}),
            r"view 'tap' must be numeric, but column 1 \('b'\) is not"),
        ([("ok", Linear()), ("tap", Chi2())], [[1.0], [-2.0]], "Chi2 needs .* view 'tap' holds -2 at row 1"),
        ([("zero", Linear(), [1])], [[1.0, 0.0], [2.0, 0.0]], "kernel 'zero' is all zero on the training"),
        ([("flat", Gaussian(gamma=1.0), [1])], [[1.0, 3.0], [2.0, 3.0]], "kernel 'flat' is constant on the"),
        (raw([("big", Linear())]), [[1e200]], r"Linear\(\) is not finite in float64 on view 'big'"),
        ([("neg", lambda A, B: -(A @ B.T), None, "unit_diagonal")], [[1.0], [2.0]],
            r"view 'neg': a unit diagonal needs self-similarities k\(x, x\) >= 0; got -4 at row 1"),
        (raw([("skew", similarity(lambda A: np.arange(len(A))[:, None]))]), [[1.0], [2.0]],
            r"kernel 'skew' differs from its transpose by 1.0e\+00 at \(0, 1\)"),
        ([("lost", Linear(), "b")], pd.DataFrame({"a": [1.0]}), "view 'lost' asks for .* column 'b'"),
        ([Linear()], np.empty((0, 2)), r"at least one sample; got shape \(0, 2\)"),
        ([Linear()], np.ones(3), "must be a table of shape"),
        ("auto", np.ones((5, 2)), "every automatic kernel is constant"),
        ("auto", np.zeros((5, 2)), "every automatic kernel is constant"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["fit", "fit_stack"])
def test_refusals_name_the_view(kernels, table, message, method):
    with pytest.raises(ValueError, match=message):
        getattr(KernelBank(kernels), method)(table)


FITTED = KernelBank([("tap", Gaussian()), ("line", Linear())]).fit(X)
BROKEN = NEW.copy()
BROKEN[2, 1] = np.nan
BELOW = [("below", lambda A, B: -(A @ B.T) - np.eye(len(A)))]


test_other_refusals = refused(
    (lambda: FITTED.transform(NEW[:, :3]), "X has 3 features, but KernelBank is exp"),
    (lambda: FITTED.self_similarities(NEW[:, :3]), "KernelBank is expecting 4 features"),
    (lambda: FITTED.transform(BROKEN), "'tap' at prediction holds NaN at row 2, column 1"),
    (lambda: FITTED.restrict([1], []).transform(NEW), "no kernel is active"),
    (lambda: FITTED.restrict([3, 50], [0]), "support must hold .* 0 to 49; got 3 to 50"),
    (lambda: FITTED.restrict([3], [2]), "active must hold positions from 0 to 1; got 2 to 2"),
    (lambda: FITTED.restrict([0.5], [0]), TypeError, "support must be a 1-D array of integer positions"),
    (lambda: KernelBank().transform(NEW), "this KernelBank is not fitted yet"),
    (lambda: KernelBank().restrict([0], [0]), "this KernelBank is not fitted yet"),
    (lambda: KernelBank().self_similarities(NEW), "this KernelBank is not fitted yet"),
    (lambda: KernelBank([Linear()]).fit(None), TypeError, "X must be an array"),
    (lambda: KernelBank(psd="fix").fit(X), "psd must be one of 'error', .*; got 'fix'"),
    (lambda: KernelBank(dtype="int8").fit_stack(X), "must be 'float64' or .*; got 'int8'"),
    (lambda: KernelBank(BELOW, psd="clip").fit(X), "'below', repaired with psd=.*all zero"),
)  # fmt: skip


def test_a_bank_moves_to_other_rows_with_what_it_has_learned():
    rng = np.random.default_rng(0)
    X, others = rng.normal(size=(30, 3)), 2.0 * rng.normal(size=(8, 3)) + 1.0
    views = [
        View("scaled", Gaussian(), normalize="diagonal"),
        View("line", Linear(), [0, 1], normalize="variance"),
        View("both", Linear(), [2], transforms=["unit_diagonal", "unit_trace"]),
    ]
    bank = KernelBank(views).fit(X)
    moved = bank.moved(others)
    whole = np.moveaxis(bank.transform(others), 2, 0)  # of the rows to those of fit
    np.testing.assert_allclose(np.moveaxis(moved.transform(X), 2, 0), whole.transpose(0, 2, 1), atol=1e-12)
    np.testing.assert_allclose(moved.training_stack(), np.moveaxis(moved.transform(others), 2, 0), atol=1e-12)
    np.testing.assert_allclose(bank.moved(X).training_stack(), KernelBank(views).fit_stack(X), atol=1e-12)
    with pytest.raises(ValueError, match="Center reads the similarities of all training points"):
        KernelBank([View("centred", Linear(), transforms="center")]).fit(X).moved(others)
