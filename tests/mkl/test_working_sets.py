"""Machines on working sets are those of all rows: against Gram matrices, and certified from outside."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from multikernel import KernelBank, MKLClassifier, MKLRegressor, MKLRidge, evaluate
from multikernel.core.low_rank import LowRankWarning, settle_route
from multikernel.inspection.subject import subject_of
from multikernel.io import load_model, save_model
from multikernel.kernels import Gaussian, Linear
from multikernel.mkl import working_sets
from multikernel.mkl.working_sets import WorkingSets
from multikernel.views import View
from multikernel.views.low_rank import view as choice

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, size=(900, 3))
WAVE = np.sin(4.0 * X[:, 0]) + X[:, 1] ** 2 + 0.2 * RNG.normal(size=900)
CODES = np.digitize(WAVE, [-0.3, 0.7])
VIEWS = [View("first", Gaussian(), [0]), View("both", Gaussian(scale=0.3), [0, 1]), View("line", Linear())]
AUTO = KernelBank(VIEWS, rank="auto")
DENSE = KernelBank(VIEWS, gram="dense")


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    """First sets of 100 rows: these rows are many enough for several rounds."""
    monkeypatch.setattr(working_sets, "_LEAST_FIRST", 100)
    monkeypatch.setattr(working_sets, "_FIRST_SHARE", 9)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (MKLClassifier(), CODES > 0),
        (MKLClassifier(loss="squared_hinge", norm=2.0), CODES > 0),
        (MKLClassifier(costs={"both": 2.0}, class_weight="balanced"), CODES > 0),
        (MKLClassifier(), CODES),
        (MKLClassifier(multiclass="ovo"), CODES),
        (MKLClassifier(multiclass="shared"), CODES),
        (MKLRegressor(epsilon=0.3), WAVE),
    ],
    ids=["hinge", "squared hinge", "costs", "ovr", "ovo", "shared", "epsilon"],
)
def test_the_solution_is_that_of_all_rows(model, y):
    sets = clone(model).set_params(kernels=AUTO, tol=1e-5).fit(X, y)
    dense = clone(model).set_params(kernels=DENSE, tol=1e-5).fit(X, y)
    assert sets.gram_ == "working_set" and sets.status_ == "optimal" and sets.dual_gap_ <= 1e-5
    assert sets.objective_ == pytest.approx(dense.objective_, rel=2e-5)
    np.testing.assert_allclose(sets.kernel_weights_, dense.kernel_weights_, atol=0.01)
    np.testing.assert_allclose(sets._scores(X), dense._scores(X), atol=0.03 * np.ptp(dense._scores(X)))
    assert sets.working_sets_["rows"].max() < len(X) and sets.working_sets_["rounds"].max() > 1
    assert (sets.working_sets_["support"] <= sets.working_sets_["rows"]).all()


def test_the_gap_is_that_of_all_rows():
    """Primal and dual value, computed here from the Gram matrices of all rows."""
    views = [("narrow", Gaussian(gamma=3.0)), ("wide", Gaussian(gamma=0.3)), ("line", Linear())]
    model = MKLClassifier(KernelBank(views, rank="auto"), tol=1e-4).fit(X, CODES > 0)
    assert model.gram_ == "working_set" and model.dual_gap_ <= 1e-4
    Ks, y = KernelBank(views).fit_stack(X), np.where(CODES > 0, 1.0, -1.0)
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    scores = np.tensordot(model.kernel_weights_, Ks, 1) @ beta
    assert np.all(y * beta >= -1e-9) and np.all(y * beta <= 1 + 1e-9) and abs(beta.sum()) < 1e-9
    primal = 0.5 * beta @ scores + np.maximum(1.0 - y * (scores + model.intercept_), 0.0).sum()
    dual = y @ beta - 0.5 * max(beta @ K @ beta for K in Ks)  # at the worst weights
    assert (primal - dual) / primal <= 1.01e-4
    assert dual <= model.objective_ * (1 + 1e-9) and model.objective_ <= primal


def test_equal_rows_and_their_order_do_not_matter():
    weights = RNG.integers(1, 4, 300)
    rows = RNG.permutation(np.repeat(np.arange(300), weights))
    model = MKLClassifier(AUTO, tol=1e-6)
    once = clone(model).fit(X[:300], CODES[:300] > 0, sample_weight=weights)
    again = clone(model).fit(X[rows], CODES[rows] > 0)
    assert once.gram_ == again.gram_ == "working_set"
    np.testing.assert_allclose(again.decision_function(X), once.decision_function(X), atol=1e-3)


def test_the_same_seed_gives_the_same_numbers():
    fits = [MKLClassifier(AUTO, random_state=3, n_jobs=n).fit(X, CODES) for n in (None, 2)]
    np.testing.assert_array_equal(fits[0].decision_function(X), fits[1].decision_function(X))


def test_too_many_support_rows_end_in_factors_and_it_is_said(monkeypatch, capsys):
    monkeypatch.setattr(working_sets, "LARGEST_DENSE", 150)
    noise = RNG.integers(0, 2, len(X))
    with pytest.warns(LowRankWarning, match="takes factors of 200 columns: the support rows are"):
        model = MKLClassifier(AUTO, verbose=1).fit(X, noise)
    assert model.gram_ == "low_rank" and "support rows are too many" in capsys.readouterr().err
    assert not hasattr(model, "working_sets_") and not hasattr(model, "support_")


def test_sets_that_memory_does_not_hold_end_in_factors(monkeypatch):
    monkeypatch.setattr(WorkingSets, "_has_room", lambda self, n: n <= 150)
    with pytest.warns(LowRankWarning, match="memory holds"):
        assert MKLClassifier(AUTO).fit(X, CODES > 0).gram_ == "low_rank"


def test_all_machines_together_have_a_price(monkeypatch):
    monkeypatch.setattr(working_sets, "_PRICE", 1e-4)
    monkeypatch.setattr(working_sets, "_EXPECTED", 1e9)
    with pytest.warns(LowRankWarning, match="in all machines too many"):
        assert MKLClassifier(AUTO).fit(X, CODES).gram_ == "low_rank"


def test_many_rows_have_working_sets_by_themselves(monkeypatch):
    monkeypatch.setattr(choice, "LARGEST_DENSE", 500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MKLClassifier(VIEWS, probability=True).fit(X, CODES > 0)
    assert model.gram_ == "working_set" and model._calibration.estimator.kernels.rank == "auto"
    assert settle_route(MKLClassifier(VIEWS), X).kernels.rank == "auto"
    assert MKLClassifier(KernelBank(VIEWS, gram="low_rank")).fit(X, CODES > 0).gram_ == "low_rank"
    assert MKLClassifier(KernelBank(VIEWS, rank=20)).fit(X, CODES > 0).gram_ == "low_rank"
    assert MKLRidge(KernelBank(VIEWS, rank="auto")).fit(X, WAVE).gram_ == "low_rank"
    centred = [View("first", Gaussian(), [0], transforms="center")]
    assert MKLClassifier(KernelBank(centred, rank="auto")).fit(X, CODES > 0).gram_ == "low_rank"


def test_a_model_on_working_sets_is_saved_and_inspected(tmp_path):
    model = MKLClassifier(AUTO).fit(X, CODES > 0)
    again = load_model(save_model(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.working_sets_.equals(model.working_sets_)
    assert subject_of(model).fresh().fit(X[:400], CODES[:400] > 0).gram_ == "working_set"
    assert evaluate(model, X, CODES > 0, parts=["held_out"], cv=3) is not None
    summed = model.contributions(X).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(summed, model.decision_function(X))


def test_a_row_that_is_refused_is_named():
    spoilt = X.copy()
    spoilt[717, 1] = np.nan
    with pytest.raises(ValueError, match="717"):
        MKLClassifier(AUTO).fit(spoilt, CODES > 0)


@pytest.mark.parametrize("rank", ["Auto", "none"])
def test_other_words_are_refused(rank):
    with pytest.raises(TypeError, match="rank must be"):
        MKLClassifier(KernelBank(VIEWS, rank=rank)).fit(X, CODES > 0)


def test_rounds_that_run_out_keep_the_last_machines(monkeypatch):
    monkeypatch.setattr(working_sets, "_MOST_ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match="status 'max_iter'"):
        model = MKLClassifier(AUTO).fit(X, CODES > 0)
    assert model.status_ == "max_iter" and model.dual_gap_ > model.tol
    assert model.score(X, CODES > 0) > 0.8


def test_the_warning_says_why_there_are_no_working_sets(monkeypatch):
    monkeypatch.setattr(working_sets, "LARGEST_TABLE", 500)
    with pytest.warns(LowRankWarning, match="factors of 200 columns: the table has more than 500 rows"):
        MKLClassifier(AUTO).fit(X, CODES > 0)
