"""The low-rank bank itself: what it yields, what it keeps, what it refuses."""

from __future__ import annotations

import pickle

import cloudpickle
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from multikernel import MKLClassifier
from multikernel._validation import NotFiniteError, RowError, naming
from multikernel.kernels import (
    Chi2,
    FunctionKernel,
    Gaussian,
    Laplacian,
    Linear,
    Pairwise,
    Precomputed,
    PSDRepair,
    Sigmoid,
    Transform,
)
from multikernel.views import KernelBank, LowRankBank, View, make_bank
from multikernel.views.low_rank import largest_rank, reference_rows, reference_size
from multikernel.views.low_rank import view as one_view
from tests.raw import raw
from tests.refusals import refused

RNG = np.random.default_rng(7)
X = RNG.normal(size=(90, 4))
VIEWS = [
    View("linear", Linear(), [0, 1], standardize=True),
    View("gaussian", Gaussian(), None, ("center", "unit_diagonal")),
    View("wide", Gaussian(scale=3.0), None, "unit_trace"),
    View("pivots", Laplacian(0.3), [1, 2], approximation="cholesky", rank=7),
    View("random", Gaussian(gamma=0.5), [0, 3], approximation="random_features", rank=12),
]


def test_factors_stand_side_by_side():
    bank = LowRankBank(VIEWS, rank=15).fit(X)
    Z = bank.transform(X)
    assert bank.ranks_.tolist() == [2, 15, 15, 7, 12] and bank.offsets_.tolist() == [0, 2, 17, 32, 39, 51]
    assert bank.approximations_ == ["exact", "nystroem", "nystroem", "cholesky", "random_features"]
    assert Z.shape == (90, 51) and Z.flags.c_contiguous and Z.dtype == np.float64
    assert bank.active_ == (0, 1, 2, 3, 4) and bank.n_features_in_ == 4
    assert bank.get_feature_names_out().tolist() == ["linear", "gaussian", "wide", "pivots", "random"]
    for m, factor in bank.iter_factors(X):
        assert np.allclose(factor, Z[:, bank.offsets_[m] : bank.offsets_[m + 1]], rtol=0, atol=1e-12)
    single = LowRankBank(VIEWS, rank=15, dtype="float32").fit(X).transform(X)
    assert single.dtype == np.float32 and np.array_equal(single, Z.astype(np.float32))


def test_blocks_of_rows_have_the_factors_of_the_whole(monkeypatch):
    bank = LowRankBank(VIEWS, rank=15).fit(X)
    Z, diagonals = bank.transform(X), bank.diagonals(X)
    monkeypatch.setattr(one_view, "_BLOCK_ROWS", 37)
    assert np.allclose(bank.transform(X), Z, rtol=0, atol=1e-11)
    assert np.allclose(bank.diagonals(X), diagonals, rtol=1e-12)
    pieces = [bank.transform_with_traces(X[rows]) for rows in (slice(0, 40), slice(40, 90), slice(0, 0))]
    assert np.allclose(np.vstack([piece for piece, _ in pieces]), Z, rtol=0, atol=1e-11)
    errors = bank.trace_errors(sum(traces for _, traces in pieces))
    assert np.allclose(errors, bank.trace_errors_, rtol=1e-9, atol=1e-14, equal_nan=True)
    assert np.isnan(errors).tolist() == [False, False, False, False, True]


def test_a_part_of_the_rows_in_which_a_column_is_constant():
    table = X.copy()
    table[:30, 1] = table[0, 1]
    table[:30, 2] = 0.0
    bank = LowRankBank(VIEWS, rank=15).fit(table)
    assert np.allclose(bank.transform(table[:30]), bank.transform(table)[:30], rtol=0, atol=1e-11)


def test_the_seed_decides():
    first, again, other = (LowRankBank(VIEWS, rank=15, seed=seed).fit(X).transform(X) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.allclose(first[:, 2:17], other[:, 2:17])
    assert not np.allclose(first[:, 32:39], other[:, 32:39]) and not np.allclose(first[:, 39:], other[:, 39:])


def test_views_on_equal_columns_share_their_landmarks():
    bank = LowRankBank([View(name, Gaussian(gamma=0.4), None, rank=10) for name in "ab"]).fit(X)
    assert bank.views_[0].map.landmarks is bank.views_[1].map.landmarks
    Z = bank.transform(X)
    assert np.array_equal(Z[:, :10], Z[:, 10:])


def test_views_on_equal_columns_of_different_scale_share_nothing():
    views = [
        View(name, Gaussian(gamma=0.3), [0, 1], (), name == "scaled", rank=8) for name in ("plain", "scaled")
    ]
    table = X * [1.0, 5.0, 1.0, 1.0]
    alone = [LowRankBank([view]).fit(table).transform(table) for view in views]
    assert np.allclose(LowRankBank(views).fit(table).transform(table), np.hstack(alone), rtol=0, atol=1e-12)
    assert not np.allclose(*alone)


def test_restricted_banks_keep_the_factors_of_their_views_only():
    bank = LowRankBank(VIEWS, rank=15).fit(X)
    Z = bank.transform(X)
    compact = bank.restrict([3, 1])
    assert compact.active_ == (1, 3) and compact.ranks_.tolist() == [0, 15, 0, 7, 0]
    assert np.allclose(compact.transform(X), np.hstack([Z[:, 2:17], Z[:, 32:39]]), rtol=0, atol=1e-12)
    assert [m for m, _ in compact.iter_factors(X)] == [1, 3]
    assert compact.diagonals(X)[:, [0, 2, 4]].max() == 0.0 and compact.diagonals(X)[:, [1, 3]].min() > 0.0
    assert len(pickle.dumps(compact)) < len(pickle.dumps(bank))
    assert bank.active_ == (0, 1, 2, 3, 4) and np.array_equal(bank.transform(X), Z)


@pytest.mark.parametrize("pickler", [pickle, cloudpickle])
def test_a_fitted_bank_travels_without_its_reference_rows(pickler):
    rows = RNG.normal(size=(3000, 40))
    views = [View("a", Gaussian(), None, "center", True), View("b", Gaussian(scale=2.0), None, (), True)]
    views.append(View("c", lambda A, B: A @ B.T, [0, 1]) if pickler is cloudpickle else View("c", Linear()))
    bank = LowRankBank(views, rank=10).fit(pd.DataFrame(rows))
    sent = pickler.dumps(bank)
    assert len(sent) < 40_000  # the reference rows alone are 960 000 bytes
    new = pd.DataFrame(rows[:20] + 1.0)
    assert np.array_equal(pickler.loads(sent).transform(new), bank.transform(new))


def test_reference_rows():
    assert (
        reference_size(10**6, [100, None, 0.01]) == 5000
        and reference_size(10**6, [np.int64(2000), 3]) == 8000
    )
    assert reference_size(400, [300]) == 400
    rows = reference_rows(10**6, 5000, seed=3)
    assert rows.size == np.unique(rows).size == 5000 and np.all(np.diff(rows) > 0) and rows.max() < 10**6
    assert np.array_equal(rows, reference_rows(10**6, 5000, seed=3))
    assert abs(rows.mean() / 10**6 - 0.5) < 0.02 and not np.array_equal(rows, reference_rows(10**6, 5000, 4))


# --- ranks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("approximation", [None, "nystroem", "cholesky"])
def test_what_repeats_is_dropped(approximation):
    table = np.repeat(RNG.normal(size=(6, 2)), 20, axis=0)
    view = View("six rows", Gaussian(gamma=1.0), approximation=approximation)
    bank = LowRankBank(raw(view), rank=50).fit(table)
    Z = bank.transform(table)
    assert bank.ranks_[0] <= 6 and np.isfinite(Z).all()
    K = Gaussian(gamma=1.0)(table)
    assert np.abs(Z @ Z.T - K).max() < 1e-12


def test_rows_that_are_zero_are_no_landmarks():
    table = np.zeros((200, 3))
    table[::40] = RNG.normal(size=(5, 3))
    for approximation in ("nystroem", "cholesky"):
        bank = LowRankBank([View("thin", Linear(), None, "unit_diagonal", False, approximation, 5)]).fit(
            table
        )
        Z = bank.transform(table)
        assert bank.ranks_[0] == 3 and bank.trace_errors_[0] < 1e-12
        assert np.allclose(np.sum(Z**2, axis=1), np.any(table, axis=1))


def test_ranks_and_how_many_rows_there_are():
    default = LowRankBank([Gaussian(gamma=1.0), View("r", Gaussian(), approximation="random_features")])
    assert default.fit(X).ranks_.tolist() == [90, 90]  # 200, or as many as there are rows
    assert LowRankBank([Gaussian(gamma=1.0)], rank=1).fit(X[:1].repeat(2, 0) * [[1], [2]]).ranks_[0] == 1


# --- what is refused -----------------------------------------------------------------------------


def unlike(A, B):
    return 1.0 * (A[:, :1] != B[:, :1].T) + 0.5


def apart(A, B):
    return -np.abs(A[:, :1] - B[:, :1].T)


class Halving(Transform):
    """A transform of one's own."""

    def fit(self, K):
        return self

    train = test = test_diag = restrict = fit


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (View("v", Precomputed(np.eye(90)), [0]), "is a matrix that is there already.*gram='dense'"),
        (View("v", Sigmoid() + Linear()), "not positive semidefinite.*gram='dense' with psd='clip'"),
        (View("v", FunctionKernel(lambda A, B: -A @ B.T, psd=False)), "not positive semidefinite"),
        (View("v", Linear(), None, PSDRepair("shift")), "'shift' adds a multiple of .*Leave it out"),
        (View("v", Linear(), None, Halving()), "Halving is a transform of Gram matrices .*'center'"),
        (View("v", Linear(), approximation="random_features"), "no random features.*Use .*='nystroem'"),
        (View("v", Gaussian(), approximation="random_features", rank=1), "in pairs: rank must be at least 2"),
        (View("v", lambda A, B: -(A @ B.T)), r"k\(x, x\) = .* at row \d+. Use another kernel"),
        (View("v", unlike), "has eigenvalue -.* on its landmarks"),
        (View("v", unlike, approximation="cholesky"), r"leaves less than nothing of k\(x, x\) at row \d+"),
        (View("v", apart), r"no k\(x, x\) is above 0, but similarities go up"),
    ],
)
def test_views_without_factors_are_refused_by_name(view, message):
    with pytest.raises(ValueError, match=rf"(?s)view 'v'.*{message}"):
        LowRankBank([Gaussian(), view], rank=20).fit(X)


def test_a_diagonal_that_contradicts_the_kernel_is_refused():
    kernel = FunctionKernel(lambda A, B: A @ B.T, lambda A: 0.5 * np.sum(A**2, axis=1))
    for approximation in ("nystroem", "cholesky"):
        with pytest.raises(ValueError, match=r"view 'v'.*(similarities imply|less than nothing) .* at row"):
            LowRankBank([View("v", kernel, rank=5, approximation=approximation)]).fit(X)


@pytest.mark.parametrize("approximation", ["cholesky", "nystroem"])
def test_an_error_out_of_reach_does_not_take_a_column_for_each_row(approximation):
    rows = np.arange(900.0)[:, None]
    bank = LowRankBank(raw(View("v", Gaussian(50.0), approximation=approximation)), rank=0.01).fit(rows)
    assert bank.ranks_[0] == largest_rank(900) == 225
    assert bank.trace_errors_[0] == pytest.approx(0.75)


@pytest.mark.parametrize("name", ["approximation", "rank"])
def test_dense_banks_refuse_views_that_ask_for_factors(name):
    view = View("v", Gaussian(), **{name: "nystroem" if name == "approximation" else 30})
    for use in (lambda: make_bank([view]), lambda: KernelBank([view]).fit(X)):
        with pytest.raises(ValueError, match=rf"view 'v' has {name}=.*gram='low_rank'.*gram='auto'"):
            use()


@pytest.mark.parametrize("approximation", [None, "nystroem", "cholesky"])
@pytest.mark.parametrize(("columns", "transforms"), [([0], ()), ([0], "unit_diagonal"), ([0, 1], "center")])
def test_kernels_that_are_constant_are_refused(columns, transforms, approximation):
    table = np.column_stack([np.full(30, 2.0), np.full(30, -1.0), RNG.normal(size=30)])
    for kernel in (Linear(), Gaussian(gamma=1.0)):
        view = View("flat", kernel, columns, transforms, approximation=approximation, rank=10)
        with pytest.raises(ValueError, match=r"kernel 'flat' is (constant|all zero) on the training rows"):
            LowRankBank([view]).fit(table)
    with pytest.raises(ValueError, match=r"kernel 'zero' is all zero on the training rows"):
        LowRankBank([View("zero", Linear(), [0], approximation=approximation)]).fit(table * [0, 1, 1])


def test_constant_means_what_it_means_for_gram_matrices():
    far = 1e7 + RNG.normal(size=(30, 1))  # of entries that differ by a ten-millionth: not constant
    assert LowRankBank([Linear()]).fit(far).ranks_[0] == KernelBank([Linear()]).fit(far).n_kernels_ == 1
    tenths = np.full((30, 1), 0.1)  # whose mean is not 0.1
    with pytest.raises(
        ValueError, match="kernel 'v' is all zero on the reference rows of 900 training rows, so"
    ):
        LowRankBank([View("v", Linear(), None, ("center", "unit_diagonal"))]).fit(tenths, n_rows=900)


def test_automatic_kernels_that_are_constant_are_left_out():
    positive = scipy.sparse.csr_array([[1.0], [2.0], [4.0]])  # the cosine of positive numbers is always 1
    bank = LowRankBank("auto").fit(positive)
    assert bank.view_names_ == KernelBank("auto").fit(positive).view_names_
    assert len(bank.view_names_) == 6


@pytest.mark.parametrize("approximation", [None, "nystroem", "cholesky", "random_features"])
def test_rows_that_are_not_finite_are_named(approximation, monkeypatch):
    monkeypatch.setattr(one_view, "_BLOCK_ROWS", 20)
    kernel = Linear() if approximation is None else Gaussian()
    bank = LowRankBank([View("v", kernel, [1, 2], "center", True, approximation, 8)]).fit(X)
    for bad in (np.nan, np.inf):
        table = X.copy()
        table[55, 2] = bad
        for ask in (bank.transform, bank.transform_with_traces, bank.diagonals):
            with pytest.raises(NotFiniteError, match=r"view 'v' holds (NaN|infinity) at row 55, column 1"):
                ask(table)
        with pytest.raises(NotFiniteError, match=r"view 'v' holds .* at row 55, column 1"):
            LowRankBank([View("v", kernel, [1, 2], (), False, approximation, 8)]).fit(table)


def test_rows_that_a_kernel_cannot_read_are_named(monkeypatch):
    monkeypatch.setattr(one_view, "_BLOCK_ROWS", 20)
    table = X.copy()
    table[55, 1] = -400.0

    def shifted(A, B):
        first, second = (np.where(side < -100.0, np.nan, side + 3.0) for side in (A, B))
        return first @ second.T

    kernel = FunctionKernel(shifted, lambda A: shifted(A, A).diagonal())
    for approximation in ("nystroem", "cholesky"):
        bank = LowRankBank([View("v", kernel, [1, 2], "unit_diagonal", False, approximation, 5)]).fit(X)
        for ask in (bank.transform, bank.diagonals):
            with pytest.raises(NotFiniteError, match=r"is not finite on view 'v' at row 55, where a value"):
                ask(table)
    chi = LowRankBank([View("chi", Chi2(), [1], rank=5)]).fit(np.abs(X))
    with pytest.raises(ValueError, match=r"view 'chi' holds -400 at row 55, column 0"):
        chi.transform(np.where(table == -400.0, table, np.abs(table)))
    pairs = LowRankBank([View("pairs", Pairwise(Precomputed(np.eye(4))), rank=5)])
    pairs.fit(RNG.integers(4, size=(40, 2)))
    with pytest.raises(ValueError, match=r"view 'pairs'.* holds .*7.* at row 55"):
        pairs.transform(np.where(np.arange(80)[:, None] == 55, 7, np.ones((80, 2), int)))


def test_an_error_about_a_row_stays_one_when_its_view_is_named():
    with pytest.raises(RowError) as caught, naming("view 'v'"):
        raise RowError("too long: entry", 3, ".")
    assert str(caught.value) == "view 'v': too long: entry 3." and caught.value.row == 3


FITTED = LowRankBank(VIEWS, rank=15).fit(X)
NAMED = LowRankBank([View("v", Gaussian(), ["b"], rank=5)]).fit(pd.DataFrame(X, columns=list("abcd")))
SINGLE = LowRankBank([View("large", Linear(), [1])], dtype="float32").fit(X)
RANDOM = View("v", Gaussian(), approximation="random_features")


test_ranks_and_tables_that_do_not_fit_are_refused = refused(
    *((lambda rank=rank: LowRankBank([Linear()], rank=rank).fit(X), "^rank must be a number")
      for rank in (0, -1, 1.0, 0.0, np.nan)),
    (lambda: LowRankBank([Linear()], rank=True).fit(X), TypeError, "^rank must be a number of columns"),
    (lambda: LowRankBank([Linear()], rank="200").fit(X), TypeError, "^rank must be a number of columns"),
    (lambda: LowRankBank([Gaussian()], rank=91).fit(X), "^rank must be at most n, .* n = 90"),
    (lambda: LowRankBank([View("v", Linear(), rank=91)]).fit(X), "'v': rank must .* n = 90"),
    (lambda: LowRankBank([Gaussian()], rank=91).fit(X, n_rows=500), "91 for 90 of 500 rows"),
    (lambda: LowRankBank([RANDOM], rank=0.1).fit(X), "'v': .* no trace error .*rank=200"),
    (lambda: LowRankBank("auto").fit(np.ones((10, 2))), "every automatic kernel is constant"),
    (lambda: LowRankBank(VIEWS, rank=15).transform(X), "this LowRankBank is not fitted yet"),
    (lambda: LowRankBank(VIEWS).fit(X[:0]), "must hold at least one sample"),
    (lambda: LowRankBank(VIEWS, dtype="float16").fit(X), "dtype must be"),
    (lambda: LowRankBank(VIEWS, seed=0.5).fit(X), TypeError, "seed must be"),
    (lambda: FITTED.transform(X[:, :3]), "X has 3 features, but LowRankBank is expecting 4"),
    (lambda: FITTED.restrict([]).transform(X), "no view is active"),
    (lambda: FITTED.restrict([5]), "active must hold positions from 0 to 4; got 5 to 5"),
    (lambda: NAMED.transform(pd.DataFrame(X, columns=list("axcd"))), "unknown column 'b'"),
    (lambda: SINGLE.transform(X * np.where(np.arange(90) == 60, 1e39, 1.0)[:, None]),
        "factors of view 'large' do not fit in float32 at row 60"),
)  # fmt: skip


# ------------------------------------------------------------------ several tables
def test_tables_that_no_view_reads_may_be_there_or_not():
    tables = {"one": X, "other": X[:, :2]}
    bank = LowRankBank([View("gaussian", Gaussian(gamma=0.5), table="one")], rank=15).fit(tables)
    Z = bank.transform({"one": X})
    np.testing.assert_array_equal(bank.transform(tables), Z)
    assert bank.n_features_in_ == 4
    with pytest.raises(ValueError, match="X has 3 features"):
        bank.transform({"one": X[:, :3]})


def test_a_model_reads_the_tables_of_its_views():
    tables, label = {"one": X, "other": X[:, :2]}, X[:, 0] > 0
    models = {
        gram: MKLClassifier(KernelBank([View("line", Linear(), table="one")], gram=gram)).fit(tables, label)
        for gram in ("dense", "low_rank")
    }
    np.testing.assert_array_equal(models["low_rank"].predict(tables), models["dense"].predict(tables))
