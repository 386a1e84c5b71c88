"""Whether a fit is on a Gram stack or on factors: the rule, what is said of it, and what cannot be had."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from multikernel import KernelBank, MKLClassifier, MKLRegressor, MKLRidge, View
from multikernel.core import low_rank as _factor_warnings
from multikernel.core.low_rank import LowRankWarning
from multikernel.kernels import Gaussian, Linear, Sigmoid
from multikernel.mkl import RegularizedMKLClassifier, working_sets
from multikernel.views.low_rank import view as choice
from multikernel.views.memory import readable_size
from tests.mkl.data import VIEWS, make_binary, make_regression, plain_kernels
from tests.raw import raw
from tests.stored import stored

X, Y = make_binary(80)
NAMED = [
    View("signal", Gaussian(gamma=0.5), [0, 1], approximation="nystroem", rank=15),
    ("line", Linear(), [2]),
]


@pytest.fixture
def small_stacks(monkeypatch):
    """The largest stack that "auto" makes has 50 rows here."""
    monkeypatch.setattr(choice, "LARGEST_DENSE", 50)
    monkeypatch.setattr(working_sets, "LARGEST_TABLE", 0)  # factors, and no working sets


# ---------------------------------------------------------------------- the rule
def test_stacks_up_to_the_stated_size_and_factors_beyond(small_stacks):
    below = MKLClassifier(VIEWS).fit(X[:50], Y[:50])
    assert below.gram_ == "dense"
    dense = MKLClassifier(KernelBank(VIEWS, gram="dense")).fit(X[:50], Y[:50])
    np.testing.assert_array_equal(below.dual_coef_, dense.dual_coef_)
    with pytest.warns(LowRankWarning):
        above = MKLClassifier(VIEWS).fit(X[:51], Y[:51])
    assert above.gram_ == "low_rank"


def test_a_rank_asks_for_factors_at_any_size():
    model = MKLClassifier(KernelBank(VIEWS, rank=20)).fit(X, Y)  # without a warning
    assert model.gram_ == "low_rank" and model.approximation_["rank"].max() == 20
    assert MKLClassifier(KernelBank(VIEWS, rank=20, gram="dense")).fit(X, Y).gram_ == "dense"
    with pytest.raises(ValueError, match=r"multiclass='joint' is not available with low-rank kernels"):
        MKLClassifier(KernelBank(VIEWS, rank=20), multiclass="joint").fit(X, Y)


def test_the_stated_size_is_ten_thousand_rows():
    rows = np.random.default_rng(0).normal(size=(10_001, 2))
    assert choice.LARGEST_DENSE == 10_000
    with pytest.warns(LowRankWarning, match=r"About 10 000 rows") as caught:
        model = MKLRidge(raw([Gaussian(0.1)])).fit(rows, rows[:, 0])
    taken = 8 * 10_001 * int(model.approximation_["rank"].iloc[0])  # how many pivots count hangs on rounding
    assert f"rows, {readable_size(taken)} instead of 763.1 MiB" in str(caught[0].message)
    assert model.gram_ == "low_rank" and model.score(rows, rows[:, 0]) > 0.99


def test_the_warning_says_how_exact_it_is_and_how_to_choose(small_stacks):
    with pytest.warns(LowRankWarning) as caught:
        model = MKLRegressor(VIEWS).fit(*make_regression(80))
    (message,) = [str(one.message) for one in caught]
    worst = model.approximation_["trace_error"]
    assert f"{worst.max():.1g} (view {worst.idxmax()!r})" in message
    for word in ("80 rows", "KiB instead of 150.0 KiB", "gram='low_rank'", "gram='dense'", "approximation_"):
        assert word in message
    assert caught[0].filename == __file__
    with warnings.catch_warnings(record=True) as caught:  # folds are advised in the same words
        warnings.simplefilter("default")
        cross_val_score(MKLRidge(VIEWS), *make_regression(100), cv=4)
    messages = [str(one.message) for one in caught]
    assert len({text.partition(" About ")[0] for text in messages}) == 1 and max(map(len, messages)) < 400
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLRegressor(KernelBank(VIEWS, rank=5, gram="low_rank")).fit(*make_regression(80))


@pytest.mark.filterwarnings("ignore::multikernel.views.KernelWarning")  # of the narrow kernel
def test_factors_that_hold_little_or_cost_more_than_the_stack_are_said_to(monkeypatch):
    narrow = raw([View("narrow", Gaussian(500.0), [0, 1]), *VIEWS])
    said = r"Raise rank, or use wider kernels, for view 'narrow' \(relative trace error up to 0\.\d+, see"
    with pytest.warns(LowRankWarning, match=said) as caught:
        MKLClassifier(KernelBank(narrow, gram="low_rank", rank=30)).fit(X, Y)
    assert [one.category for one in caught].count(LowRankWarning) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLClassifier(KernelBank(VIEWS[:1], gram="low_rank", rank=80)).fit(X, Y)  # so little is no matter
    monkeypatch.setattr(_factor_warnings, "_LITTLE", 0)
    with pytest.warns(LowRankWarning, match=r"use gram='dense'.* \d+ columns take .* KiB of .* 115\.0 KiB\."):
        MKLClassifier(KernelBank(VIEWS[:1], gram="low_rank", rank=80)).fit(X, Y)


def test_a_view_that_names_an_approximation_is_factored_at_any_size():
    model = MKLClassifier(NAMED).fit(X, Y)  # without a warning: it was asked for
    assert model.gram_ == "low_rank"
    assert model.approximation_["approximation"].tolist() == ["nystroem", "exact"]
    for gram in ("dense", "memmap"):
        with pytest.raises(ValueError, match=r"view 'signal' has approximation='nystroem'.*gram='low_rank'"):
            MKLClassifier(KernelBank(NAMED, gram=gram)).fit(X, Y)


def test_folds_of_the_calibration_go_the_same_way(small_stacks):
    with pytest.warns(LowRankWarning) as caught:  # once: the folds, of fewer rows, are not asked again
        model = MKLClassifier(VIEWS, probability=True).fit(X[:60], Y[:60])
    assert len(caught) == 1
    assert model._calibration.estimator.kernels.gram == "low_rank"


def test_where_factors_cannot_be_the_stack_is_made(small_stacks, monkeypatch):
    assert MKLClassifier(VIEWS, multiclass="joint").fit(X, Y).gram_ == "dense"
    assert MKLClassifier(VIEWS, loss="squared_hinge", C="learn").fit(X, Y).gram_ == "dense"
    assert MKLClassifier(KernelBank(VIEWS, psd="clip")).fit(X, Y).gram_ == "dense"
    assert MKLClassifier("precomputed").fit(plain_kernels(X, X), Y).gram_ == "dense"
    assert RegularizedMKLClassifier(VIEWS[:2], cv=2, max_steps=1, tol=0.1).fit(X, Y).gram_ == "dense"
    monkeypatch.setattr("multikernel.views.memory.available_memory", lambda: 200_000)  # a stack takes 250 000
    assert MKLClassifier(KernelBank(VIEWS, psd="clip")).fit(X, Y).gram_ == "memmap"


# ---------------------------------------------------------------------- what cannot be had
@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (MKLClassifier(VIEWS, multiclass="joint"), r"multiclass='joint' is not .*'shared'.*gram='dense'"),
        (MKLClassifier(VIEWS, C=np.inf), r"C=inf has no low-rank route.*gram='dense'"),
        (MKLClassifier(VIEWS, C="learn", loss="squared_hinge"), r"C='learn' has no low-rank .*gram='dense'"),
        (MKLClassifier(KernelBank(VIEWS, psd="shift")), r"psd='shift' repairs Gram matrices.*Leave psd out"),
        (MKLClassifier("precomputed"), r"kernels='precomputed' has none.*gram='dense'"),
        (MKLClassifier([("t", Sigmoid(), None)]), r"view 't': Sigmoid.* is not positive .*gram='dense'"),
        (MKLClassifier(KernelBank(VIEWS, rank=81)), r"rank must be at most n, .* of rows; got 81 for n = 80"),
        (MKLClassifier(KernelBank(VIEWS, rank=1.5)), r"rank must be a number of columns"),
        (MKLClassifier(KernelBank(VIEWS, rank="many")), r"rank must be a number of columns"),
        (MKLClassifier(VIEWS, costs=[1.0]), r"costs must hold one number for each of the 3 kernels"),
        (MKLClassifier([("flat", Gaussian(1.0), [4])]), r"kernel 'flat' is constant"),
        (MKLClassifier([*VIEWS, ("zero", Linear(), [5])]), r"^kernel 'zero' is all zero on the training"),
        (RegularizedMKLClassifier(VIEWS), r"gram='low_rank' keeps no Gram matrices: it is for MKLC"),
        (MKLClassifier(KernelBank(VIEWS, rank=10), class_weight={"no": 0.0}), "class 'no' has no sample "),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)  # fmt: skip
def test_what_factors_cannot_do_names_the_remedy(estimator, message):
    table = plain_kernels(X, X) if estimator._precomputed else np.column_stack([X, np.ones(80), np.zeros(80)])
    with pytest.raises((ValueError, TypeError), match=message):
        stored(estimator, gram="low_rank").fit(table, Y)


def test_targets_and_equal_rows_are_checked_as_for_a_stack():
    model = MKLClassifier(KernelBank(VIEWS, gram="low_rank", rank=10))
    with pytest.raises(ValueError, match="at least 2 classes; got 1 class: 'yes'"):
        model.fit(X, np.full(80, "yes"))
    with pytest.raises(ValueError, match="same number of samples; got 80 and 79"):
        model.fit(X, Y[:-1])
    with pytest.raises(ValueError, match="class 'no' has no sample with a positive weight"):
        model.fit(X, Y, np.where(Y == "yes", 1.0, 0.0))
    # of equal rows one is a reference row, which is not the place to look for the mistake
    with pytest.raises(
        ValueError, match=r"^kernel 'signal' is constant on the reference rows of 80 training"
    ):
        model.fit(np.ones_like(X), Y)
    names = r"gram must be one of 'auto', 'dense', 'memmap', 'low_rank'; got 'sparse'"
    with pytest.raises(ValueError, match=names):
        MKLRidge(KernelBank(VIEWS, gram="sparse")).fit(X, X[:, 0])
