"""Kernels that lose their weight on factors are named, with the rank that keeps them."""

import warnings

import numpy as np
import pandas as pd
import pytest

from multikernel import KernelBank, MKLClassifier, MKLRegressor, MKLRidge
from multikernel.core.low_rank import draw_rows
from multikernel.core.row_input import labelled_rows
from multikernel.kernels import Gaussian, Linear
from multikernel.mkl import vanished, working_sets
from multikernel.mkl.vanished import sufficient_rank
from multikernel.views import LowRankBank
from multikernel.views.low_rank import view as choice
from tests.raw import raw

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, size=(700, 2))
WAVE = np.sin(12.0 * X[:, 0]) + np.sin(12.0 * X[:, 1]) + 0.8 * X[:, 0]
LABELS = np.where(WAVE > 0.0, "up", "down")
VIEWS = raw([("narrow", Gaussian(gamma=60.0)), ("line", Linear()), ("wide", Gaussian(gamma=0.5))])


@pytest.fixture(autouse=True)
def few_columns(monkeypatch):
    """Stacks have 600 rows at most, and factors 4 columns, which do not hold the narrow kernel."""
    monkeypatch.setattr(choice, "LARGEST_DENSE", 600)
    monkeypatch.setattr(working_sets, "LARGEST_TABLE", 0)  # factors, and no working sets
    monkeypatch.setattr(choice, "DEFAULT_RANK", 4)


def told(model, *data):
    """What a fit warns of beside its choice of factors."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*data)
    return [str(one.message) for one in caught if "lose their weight" in str(one.message)]


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (MKLClassifier(VIEWS), LABELS),
        (MKLRegressor(VIEWS), WAVE),
        (MKLRidge(VIEWS), np.column_stack([WAVE, -WAVE])),
    ],
    ids=["classifier", "regressor", "ridge"],
)
def test_a_kernel_that_loses_its_weight_is_named_with_the_rank_that_keeps_it(model, y):
    (message,) = told(model, X, y)
    assert model.gram_ == "low_rank"
    assert "'narrow' (" in message and "'line'" not in message and "'wide'" not in message
    for words in ("of the weight on Gram matrices of 500 rows", "relative trace error 0.", "try rank="):
        assert words in message
    rank = int(message.partition("try rank=")[2].partition(")")[0])
    kept = type(model)(KernelBank(VIEWS, rank=rank)).fit(X, y)
    dense = type(model)(KernelBank(VIEWS, gram="dense")).fit(X, y)
    assert kept.kernel_weights_[0] > 0.5 * dense.kernel_weights_[0] > 0.05


def test_asked_for_factors_smooth_kernels_and_lost_causes_say_nothing():
    assert not told(MKLClassifier(KernelBank(VIEWS, gram="low_rank")), X, LABELS)
    assert not told(MKLClassifier(KernelBank(VIEWS, rank=4)), X, LABELS)
    assert not told(MKLClassifier(VIEWS[1:]), X, LABELS)  # small trace errors
    assert not told(MKLClassifier(VIEWS), X[:600], LABELS[:600])  # Gram matrices
    rare = np.where(np.arange(700) == 3, "up", "down")
    assert not told(MKLClassifier(VIEWS, class_weight="balanced"), X, rare)  # one class in the sample


def test_the_small_fit_leaves_no_trace():
    seen = []
    model = MKLClassifier(VIEWS, callback=seen.append, random_state=1)
    assert told(model, X, LABELS)
    assert model.kernels is VIEWS and len(seen) == len(model.history_)
    assert model.gram_ == "low_rank" and not hasattr(model, "support_")


def test_rows_without_weight_are_not_drawn():
    weights = np.where(np.arange(700) % 7, 1.0, 0.0)
    _, given = labelled_rows(MKLClassifier(VIEWS), X, LABELS, weights)
    drawn = draw_rows(given, 500, 0)
    assert drawn.size == np.unique(drawn).size == 500 and (weights[drawn] > 0.0).all()


def test_views_on_several_tables_are_named(monkeypatch):
    monkeypatch.setattr(vanished, "_VANISHED", 0.9)  # other landmarks leave it more
    tables = {"place": pd.DataFrame(X, columns=["a", "b"]), "noise": RNG.normal(size=(700, 1))}
    kernels = {"place": [("narrow", Gaussian(gamma=60.0)), ("wide", Gaussian(gamma=0.5))], "noise": Linear()}
    (message,) = told(MKLClassifier(kernels), tables, LABELS)
    assert "'place-narrow'" in message


def test_a_kernel_that_no_rank_holds_is_said_to_be_one(monkeypatch):
    monkeypatch.setattr(vanished, "_CARRIED", 0.0)
    views = raw([("points", Gaussian(gamma=1e5)), *VIEWS[1:]])
    (message,) = told(MKLClassifier(views), X, LABELS)
    assert "no rank up to 1500 holds it" in message and "gram='dense'" in message


def test_the_rank_that_holds_a_kernel():
    assert sufficient_rank(np.eye(40)) is None
    blocks = np.kron(np.eye(2), np.ones((20, 20)))[np.ix_(*2 * [np.arange(40).reshape(2, 20).T.ravel()])]
    assert sufficient_rank(blocks) == 2  # rows of two kinds in turn: one of each holds all
    rows = RNG.uniform(-1.0, 1.0, size=(1500, 2))
    bank = KernelBank(raw(Gaussian(gamma=60.0)))
    rank = sufficient_rank(bank.fit_stack(rows)[0])
    assert 100 < rank < 400 and rank % 10 == 0
    found = LowRankBank(raw(Gaussian(gamma=60.0)), rank=rank, seed=1).fit(rows).trace_errors_[0]
    assert 0.2 < found < 0.3  # of the rows with the landmarks; 0.3 of others
