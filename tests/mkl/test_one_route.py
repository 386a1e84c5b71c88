"""Folds take the route of all rows where the loop is ours; where it is scikit-learn's, the refit says so."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel import KernelBank, MKLClassifier, MKLOneClass, MKLRegressor, compare, evaluate
from multikernel.core.low_rank import LowRankWarning, settle_route
from multikernel.io import tables
from multikernel.mkl import classifier, cost_path, weight_path, working_sets
from multikernel.views.low_rank import most_dense_folds
from multikernel.views.low_rank import view as choice
from tests.mkl.data import VIEWS, make_binary, plain_kernels

X, Y = make_binary(60)


@pytest.fixture(autouse=True)
def small_stacks(monkeypatch):
    """The largest stack that "auto" makes has 50 rows here: all rows have factors, folds need not."""
    monkeypatch.setattr(choice, "LARGEST_DENSE", 50)
    monkeypatch.setattr(working_sets, "LARGEST_TABLE", 0)  # factors, and no working sets


@pytest.fixture
def routes(monkeypatch):
    """Of each fit of a classifier, its rows and whether it took factors."""
    taken, choose = [], classifier.goes_low_rank

    def watched(model, rows):
        chosen = choose(model, rows)
        taken.append((len(rows), chosen))
        return chosen

    monkeypatch.setattr(classifier, "goes_low_rank", watched)
    return taken


# ---------------------------------------------------------------------- loops of ours
@pytest.mark.filterwarnings("ignore::multikernel.core.low_rank.LowRankWarning")
@pytest.mark.parametrize(
    "run",
    [
        lambda: MKLClassifier(VIEWS, probability=True).fit(X, Y),
        lambda: compare(
            {"hinge": MKLClassifier(VIEWS), "squared": MKLClassifier(VIEWS, loss="squared_hinge")},
            X,
            Y,
            progress=False,
        ),
        lambda: compare(
            {"one": make_pipeline(StandardScaler(), MKLClassifier(VIEWS)), "two": MKLClassifier(VIEWS)},
            X,
            Y,
            progress=False,
        ),
        lambda: evaluate(
            MKLClassifier(VIEWS).fit(X, Y), X, Y, parts=["stability", "without_view", "held_out"], cv=3
        ),
        lambda: weight_path(MKLClassifier(VIEWS), X, Y, parameter="C", values=[0.1, 1.0], cv=3),
        lambda: cost_path(MKLClassifier(VIEWS), X, Y, {"signal": 2.0}, exponents=[0.0, 1.0], cv=3),
    ],
    ids=["calibration", "compare", "compare a pipeline", "evaluate", "weight_path", "cost_path"],
)
def test_folds_take_the_route_of_all_rows(run, routes):
    run()
    assert min(n for n, _ in routes) <= 50 and len(routes) > 5
    assert all(on_factors for _, on_factors in routes)


@pytest.mark.filterwarnings("ignore::multikernel.core.low_rank.LowRankWarning")
def test_tuning_of_a_table_takes_the_route_of_all_rows(routes, tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame(X, columns=list("abcd")).assign(y=Y).to_csv(path, index=False)
    plan = tables.plan_fit(tables.read_table(path, target="y"), method="mkl")
    tables.tune(plan, folds=3)
    assert {n for n, _ in routes} == {40} and all(on_factors for _, on_factors in routes)


def test_few_rows_and_what_was_asked_for_stay_as_they_are(routes):
    both = {"one": MKLClassifier(VIEWS), "ten": MKLClassifier(VIEWS, C=10.0)}
    compare(both, X[:50], Y[:50], progress=False)
    exact = {
        name: clone(model).set_params(kernels=KernelBank(VIEWS, gram="dense")) for name, model in both.items()
    }
    compare(exact, X, Y, progress=False)
    assert not any(on_factors for _, on_factors in routes)


# ---------------------------------------------------------------------- what is settled
def test_a_route_is_settled_in_pipelines_and_searches():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), MKLClassifier(VIEWS)), {"mklclassifier__C": [1.0, 2.0]}
    )
    settled = settle_route(clone(search), X)
    inner = settled.estimator[-1]
    assert inner.kernels.gram == "low_rank" and inner.kernels.kernels == VIEWS
    assert search.estimator[-1].kernels is VIEWS
    assert settle_route(MKLClassifier(VIEWS), X[:50]).kernels is VIEWS


def test_only_what_chooses_by_rows_is_settled():
    for model in (
        MKLClassifier(KernelBank(VIEWS, gram="memmap")),
        MKLClassifier(KernelBank(VIEWS, gram="low_rank")),
        MKLClassifier("precomputed"),
        MKLOneClass(VIEWS),
        StandardScaler(),
    ):
        before = dict(vars(model))
        assert (
            vars(
                settle_route(
                    model, plain_kernels(X, X) if model.get_params().get("kernels") == "precomputed" else X
                )
            )
            == before
        )
    assert settle_route(MKLClassifier(VIEWS, multiclass="joint"), X).kernels is VIEWS  # has no factors
    stored = settle_route(MKLRegressor(KernelBank(VIEWS, dtype="float32")), X).kernels
    assert (stored.gram, stored.dtype) == ("low_rank", "float32")
    wrong = MKLClassifier(KernelBank(VIEWS, psd="nonsense"))
    assert settle_route(wrong, X) is wrong and wrong.kernels.gram == "auto"  # the fit says what is wrong


# ---------------------------------------------------------------------- loops of scikit-learn
@pytest.mark.parametrize("n", [49, 50, 51, 52, 60, 74, 75, 76, 99, 100, 101, 102, 130])
def test_how_many_folds_leave_few_enough_rows(n):
    sizes = {k: [len(train) for train, _ in KFold(k).split(np.zeros(n))] for k in range(2, n + 1)}
    below = [k for k, of_folds in sizes.items() if n > 50 and min(of_folds) <= 50]
    assert most_dense_folds(n) == max(below, default=0)


def test_the_refit_says_of_how_many_folds_the_route_is_another():
    search = GridSearchCV(MKLClassifier(VIEWS), {"C": [0.1, 1.0]}, cv=4)
    with pytest.warns(LowRankWarning, match=r"Name the route for a search with up to 6 folds") as caught:
        search.fit(X, Y)
    assert len(caught) == 1 and len(str(caught[0].message)) < 400  # of the refit: the folds have 45 rows
    wide = np.vstack([X, X + 0.01])
    with pytest.warns(LowRankWarning) as caught:  # halves of 120 rows have factors too
        MKLClassifier(VIEWS).fit(wide, np.tile(Y, 2))
    assert not any("search" in str(one.message) for one in caught)


def test_a_route_that_is_named_is_that_of_folds_and_refit(routes):
    with warnings.catch_warnings():
        warnings.simplefilter("error", LowRankWarning)
        for gram in ("low_rank", "dense"):
            model = MKLClassifier(KernelBank(VIEWS, gram=gram))
            GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(X, Y)
            cross_val_score(model, X, Y, cv=3)
    assert [on_factors for _, on_factors in routes] == [True] * 10 + [False] * 10
