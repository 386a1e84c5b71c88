"""Costs of kernels: what a prediction costs, what costs do to the weights, and accuracy against cost."""

import io
from contextlib import redirect_stderr
from dataclasses import replace
from types import MappingProxyType

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel import KernelBank, MKLClassifier, MKLOneClass, MKLRegressor, MKLRidge, stack_kernels
from multikernel.core.fitted import efficient_points, prediction_cost
from multikernel.mkl import RegularizedMKLClassifier
from multikernel.mkl.cost_path import CostPath, cost_path
from multikernel.soft_labels import PosteriorSVC
from tests.mkl.data import VIEWS, make_binary, make_regression, make_three, plain_kernels

COSTS = np.array([8.0, 2.0, 3.0])


def recount(model, costs):
    """Every pair (kernel, support sample) that a prediction needs, one by one."""
    needed = set()
    for weights, duals in zip(model.machine_weights_, model.dual_coef_, strict=True):
        for m, weight in enumerate(weights):
            if weight / sum(weights) > 0.01:
                needed |= {(m, i) for i, dual in zip(model.support_, duals, strict=True) if dual != 0.0}
    return sum(costs[m] for m, _ in needed) / sum(costs)


# ---------------------------------------------------------------------- the count
@pytest.mark.parametrize(
    ("estimator", "make"),
    [
        (MKLClassifier(VIEWS, C=2.0), make_binary),
        (MKLClassifier(VIEWS, multiclass="ovr"), make_three),
        (MKLClassifier(VIEWS, multiclass="ovo", C=20.0), make_three),
        (MKLClassifier(VIEWS, multiclass="shared", norm=2.0), make_three),
        (MKLClassifier(VIEWS, loss="squared_hinge", C="learn"), make_binary),
        (MKLRegressor(VIEWS, C=2.0), make_regression),
        (MKLRidge(VIEWS), make_regression),
        (MKLOneClass(VIEWS, nu=0.3), make_regression),
    ],
    ids=["binary", "ovr", "ovo", "shared", "learned C", "regressor", "ridge", "one class"],
)
@pytest.mark.parametrize("costs", [None, COSTS, {"signal": 30.0}], ids=["none", "array", "dict"])
def test_the_cost_is_what_a_recount_says(estimator, make, costs):
    X, y = make()
    model = clone(estimator).set_params(costs=costs).fit(X, y)
    plain = np.array([30.0, 1.0, 1.0]) if isinstance(costs, dict) else np.ones(3) if costs is None else costs
    assert isinstance(model.total_cost_, float)
    np.testing.assert_allclose(model.total_cost_, recount(model, plain), rtol=1e-12)
    assert 0.0 < model.total_cost_ <= model.support_.size * (1.0 + 1e-12)


@pytest.mark.parametrize(
    "costs",
    [
        pd.Series({"noise": 3.0, "signal": 8.0, "line": 2.0}),
        MappingProxyType({"noise": 3.0, "signal": 8.0, "line": 2.0}),
        pd.Series([8.0, 2.0, 3.0]),
    ],
    ids=["series by name", "mapping", "series without names"],
)
def test_costs_with_names_are_taken_by_name(costs):
    X, y = make_binary()
    model = MKLClassifier(VIEWS, costs=costs).fit(X, y)
    assert model.weights_frame()["cost"].tolist() == [8.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (pd.Series({"sound": 2.0}), r"unknown views \['sound'\]"),
        (pd.Series([1.0, 2.0, 3.0], index=[2, 1, 0]), r"unknown views \[0, 1, 2\]"),
        (pd.Series([1.0, 2.0], index=["line", "line"]), "costs names view 'line' twice"),
        (pd.Series([1.0, 2.0]), r"each of the 3 kernels; got shape \(2,\)"),
    ],
)
def test_series_of_costs_that_do_not_fit_the_views_are_refused(costs, words):
    X, y = make_binary()
    with pytest.raises(ValueError, match=words):
        MKLClassifier(VIEWS, costs=costs).fit(X, y)


def test_a_kernel_value_that_two_machines_need_is_counted_once():
    weights = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    duals = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 2.0, -2.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    assert prediction_cost(weights, duals, np.array([3.0, 1.0])) == (3 * 3.0 + 2 * 1.0) / 4.0
    # and a kernel with a hundredth of the weight is not needed
    assert prediction_cost(np.array([[99.0, 1.0]]), np.ones((1, 8)), np.ones(2)) == 4.0
    assert prediction_cost(np.array([[98.9, 1.0]]), np.ones((1, 8)), np.ones(2)) == 8.0


def test_repeated_rows_count_as_the_caller_numbers_them():
    X, y = make_binary(40)
    once = MKLClassifier(VIEWS, C=2.0, tol=1e-6).fit(X, y)
    twice = MKLClassifier(VIEWS, C=1.0, tol=1e-6).fit(np.vstack([X, X]), np.concatenate([y, y]))
    np.testing.assert_allclose(twice.total_cost_, 2.0 * once.total_cost_)


@given(
    weights=arrays(float, (3, 4), elements=st.floats(0.0, 1.0)),
    duals=arrays(float, (3, 5), elements=st.sampled_from([-1.0, 0.0, 0.5])),
    costs=arrays(float, 4, elements=st.floats(0.1, 10.0)),
    factor=st.sampled_from([2.0**-20, 8.0, 2.0**1020]),
)
def test_only_the_proportions_of_the_costs_count(weights, duals, costs, factor):
    cost = prediction_cost(weights, duals, costs)
    np.testing.assert_allclose(prediction_cost(weights, duals, factor * costs), cost)
    machines = [prediction_cost(w[None], d[None], costs) for w, d in zip(weights, duals, strict=True)]
    assert max(machines) <= cost * (1 + 1e-12)
    assert cost <= sum(machines) * (1 + 1e-12)


# ---------------------------------------------------------------------- what costs do
def test_values_of_the_specification():
    """Unit-diagonal linear and quadratic kernel on twelve points, C=1, with and without a cost of √2."""
    i = np.arange(1, 13)
    X = np.column_stack([np.sin(i), np.cos(2 * i)])
    y = np.array([1, 1, -1, 1, -1, -1, 1, -1, 1, -1, 1, -1])
    grams = [X @ X.T, (X @ X.T + 1.0) ** 2]
    stack = stack_kernels([K / np.sqrt(np.outer(np.diag(K), np.diag(K))) for K in grams])
    for costs, objective, weights in (
        (None, 7.918840, [0.338352, 0.661648]),
        ([1.0, np.sqrt(2.0)], 8.191930, [0.877478, 0.061261]),
    ):
        model = MKLClassifier("precomputed", costs=costs, tol=1e-10, max_iter=1000).fit(stack, y)
        np.testing.assert_allclose(model.objective_, objective, atol=5e-7)
        np.testing.assert_allclose(model.kernel_weights_, weights, atol=2e-5)
        np.testing.assert_allclose(model.total_cost_, model.support_.size)


# ---------------------------------------------------------------------- accuracy against cost
RELATIVE = np.array([4.0, 1.0, 1.5])
NAMES = ["signal", "line", "noise"]
PIPED = make_pipeline(StandardScaler(), MKLClassifier(VIEWS))


@pytest.fixture(scope="module")
def path():
    X, y = make_binary()
    return cost_path(MKLClassifier(VIEWS, C=2.0), X, y, COSTS, exponents=[0.0, 0.5, 1.0, 2.0], cv=4)


# ---------------------------------------------------------------------- against fits by hand
@pytest.mark.parametrize(
    ("estimator", "make", "folds"),
    [
        (MKLClassifier(VIEWS, C=2.0), make_binary, StratifiedKFold(3)),
        (MKLClassifier(VIEWS, multiclass="ovr"), make_three, StratifiedKFold(3)),
        (MKLRegressor(VIEWS, C=2.0), make_regression, KFold(3)),
        (MKLRidge(VIEWS), make_regression, KFold(3)),
    ],
    ids=["binary", "several classes", "regressor", "ridge"],
)
def test_the_table_is_what_fits_by_hand_say(estimator, make, folds):
    X, y = make()
    path = cost_path(estimator, X, y, COSTS, exponents=[0.0, 1.5], cv=3)
    assert isinstance(path, CostPath)
    assert path.table.index.tolist() == [0.0, 1.5]
    for exponent, row in path.table.iterrows():
        by_fold, weights = [], []
        for train, test in folds.split(X, y):
            model = clone(estimator).set_params(costs=RELATIVE**exponent).fit(X[train], y[train])
            shares = model.machine_weights_ / model.machine_weights_.sum(axis=1, keepdims=True)
            score, cost = model.score(X[test], y[test]), recount(model, COSTS)  # the true ones, always
            by_fold.append(
                {"score": score, "cost": cost, "n_support": model.support_.size}
                | {"cost_share": cost / train.size, "support_share": model.support_.size / train.size}
                | {"n_active": (shares > 0.01).any(axis=0).sum()}
            )
            weights.append(model.kernel_weights_)
        by_fold = pd.DataFrame(by_fold)
        np.testing.assert_array_equal(path.scores.loc[exponent], by_fold["score"])
        np.testing.assert_allclose(row[by_fold.columns].astype(float), by_fold.mean())
        spread = by_fold[["score", "cost"]].std()
        np.testing.assert_allclose(row[["score_sd", "cost_sd"]].astype(float), spread, atol=1e-12)
        np.testing.assert_allclose(path.weights.loc[exponent], np.mean(weights, axis=0))
    assert path.weights.columns.tolist() == NAMES


@pytest.mark.parametrize(
    "costs",
    [
        1000.0 * COSTS,
        {"signal": 4.0, "noise": 1.5},
        pd.Series({"noise": 3.0, "signal": 8.0, "line": 2.0}),
    ],
    ids=["another unit", "dict, 1 where not named", "series by name"],
)
def test_ways_to_give_the_same_costs(path, costs):
    X, y = make_binary()
    exponents, model = path.table.index.tolist(), MKLClassifier(VIEWS, C=2.0)
    for own, given_costs, n_jobs in ((None, costs, 1), (costs, None, 2), ([1.0, 50.0, 50.0], costs, 2)):
        model.set_params(costs=own)  # which are taken when none are given
        again = cost_path(model, X, y, given_costs, exponents=exponents, cv=4, n_jobs=n_jobs)
        pd.testing.assert_frame_equal(again.table, path.table)
        pd.testing.assert_frame_equal(again.weights, path.weights)
        assert model.costs is own and not hasattr(model, "dual_coef_")


# ---------------------------------------------------------------------- ways to give the data and the model
def test_precomputed_stacks_are_sliced_in_rows_and_columns(path):
    X, y = make_binary()
    stack = plain_kernels(X, X)
    model = MKLClassifier("precomputed", C=2.0)
    on_stack = cost_path(model, stack, y, COSTS, exponents=[0.0, 2.0], cv=4)
    np.testing.assert_array_equal(on_stack.scores.loc[0.0], path.scores.loc[0.0])
    np.testing.assert_allclose(on_stack.table.loc[0.0, "cost"], path.table.loc[0.0, "cost"])
    np.testing.assert_array_equal(
        on_stack.scores.loc[2.0],
        cross_val_score(clone(model).set_params(costs=RELATIVE**2), stack, y, cv=4),
    )
    assert on_stack.weights.columns.tolist() == ["kernel-0", "kernel-1", "kernel-2"]


def test_frames_and_pipelines(path):
    X, y = make_binary()
    frame = pd.DataFrame(X, columns=list("pqrs"), index=np.arange(len(y))[::-1])
    views = [replace(view, columns=["pqrs"[c] for c in view.columns]) for view in VIEWS]
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), MKLClassifier(views, C=2.0))
    found = cost_path(model, frame, pd.Series(y), {"signal": 4.0, "noise": 1.5}, exponents=[1.0], cv=4)
    by_hand = clone(model).set_params(mklclassifier__costs=RELATIVE)
    np.testing.assert_array_equal(found.scores.loc[1.0], cross_val_score(by_hand, frame, y, cv=4))
    banked = make_pipeline(KernelBank(VIEWS), MKLClassifier("precomputed", C=2.0))
    on_bank = cost_path(banked, X, y, COSTS, exponents=[0.0], cv=4)
    np.testing.assert_array_equal(on_bank.scores.loc[0.0], path.scores.loc[0.0])


def test_a_search_chooses_at_every_exponent():
    X, y = make_binary()
    search = GridSearchCV(MKLClassifier(VIEWS), {"C": [0.01, 10.0]}, cv=2)
    found = cost_path(search, X, y, COSTS, exponents=[2.0], cv=2)
    by_hand = GridSearchCV(MKLClassifier(VIEWS, costs=RELATIVE**2), {"C": [0.01, 10.0]}, cv=2)
    np.testing.assert_array_equal(found.scores.loc[2.0], cross_val_score(by_hand, X, y, cv=2))
    fitted = by_hand.fit(X, y)
    np.testing.assert_allclose(
        found.cost_of(fitted),
        MKLClassifier(VIEWS, costs=RELATIVE**2, C=fitted.best_params_["C"]).fit(X, y).support_.size,
    )


def test_novelty_detection_with_a_scoring_of_its_own():
    X, _ = make_binary()
    model = MKLOneClass(VIEWS, nu=0.3, tol=1e-2)

    def score(model, test):
        return float((model.predict(test) == 1).mean())

    found = cost_path(model, X, None, COSTS, exponents=[0.0, 1.0], cv=3, scoring=score)
    assert found.table["score"].between(0.4, 1.0).all()


# ---------------------------------------------------------------------- folds
def test_the_folds_are_the_same_for_every_exponent_also_when_the_splitter_draws_anew():
    X, y = make_binary()
    draws = StratifiedKFold(3, shuffle=True, random_state=np.random.RandomState(0))
    equal = cost_path(MKLClassifier(VIEWS), X, y, {"noise": 1 + 1e-12}, exponents=[0.0, 1.0, 2.0], cv=draws)
    np.testing.assert_array_equal(equal.scores.loc[0.0], equal.scores.loc[1.0])
    np.testing.assert_array_equal(equal.scores.loc[0.0], equal.scores.loc[2.0])


def test_a_seed_shuffles_the_folds():
    X, y = make_binary()
    order = np.argsort(X[:, 0])
    X, y = X[order], y[order]
    model = MKLClassifier(VIEWS)
    shuffled = cost_path(model, X, y, COSTS, exponents=[0.0], cv=3, random_state=5)
    by_hand = cross_val_score(model, X, y, cv=StratifiedKFold(3, shuffle=True, random_state=5))
    np.testing.assert_array_equal(shuffled.scores.loc[0.0], by_hand)
    given_folds = cost_path(model, X, y, COSTS, exponents=[0.0], cv=list(KFold(3).split(X)), random_state=5)
    np.testing.assert_array_equal(given_folds.scores.loc[0.0], cross_val_score(model, X, y, cv=KFold(3)))


# ---------------------------------------------------------------------- what the path says
def made_up(costs, scores, exponents=None):
    index = pd.Index(np.arange(len(costs)) / 2.0 if exponents is None else exponents, name="exponent")
    table = pd.DataFrame({"score": scores, "score_sd": 0.01, "cost": costs}, index=index)
    table["cost_share"] = table["cost"] / 100.0
    table["efficient"] = efficient_points(table["cost"], table["score"])
    return CostPath(table, table[["cost"]], table[["score"]], pd.Series(COSTS, index=NAMES))


def test_the_cheapest_within_reach_of_the_best():
    found = made_up([90.0, 50.0, 20.0, 20.0, 5.0], [0.90, 0.91, 0.901, 0.903, 0.80])
    assert found.cheapest(within=0.0) == 0.5
    assert found.cheapest(within=0.01) == 1.5  # of two equal costs the better
    assert found.cheapest() == 1.5
    assert found.cheapest(within=0.2) == 2.0
    assert made_up([7.0, 7.0], [0.5, 0.5], exponents=[3.0, 1.0]).cheapest() == 1.0
    with pytest.raises(ValueError, match="within must be at least 0; got -1"):
        found.cheapest(within=-1)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8))
def test_efficient_points_are_those_that_no_other_beats(points):
    efficient = efficient_points(*zip(*points, strict=True))
    for i, (cost, score) in enumerate(points):
        beaten = any((c <= cost and s > score) or (c < cost and s >= score) for c, s in points)
        assert efficient[i] == (not beaten)


def test_the_cheapest_can_be_fitted_and_its_true_cost_told(path):
    X, y = make_binary()
    assert repr(path).startswith("CostPath of 4 exponents") and "efficient" in repr(path)
    exponent = path.cheapest(within=0.05)
    model = MKLClassifier(VIEWS, C=2.0, costs=path.costs_at(exponent)).fit(X, y)
    np.testing.assert_array_equal(list(path.costs_at(exponent).values()), RELATIVE**exponent)
    assert list(path.costs_at(exponent)) == NAMES
    shares = model.kernel_weights_ / model.kernel_weights_.sum()
    true = model.support_.size * COSTS[shares > 0.01].sum() / COSTS.sum()
    np.testing.assert_allclose(path.cost_of(model), true)
    scaled = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    assert path.cost_of(scaled) > 0.0
    with pytest.raises(ValueError, match=r"must have the kernels of the path, \['signal', 'line', 'noise'\]"):
        path.cost_of(MKLClassifier(VIEWS[:2]).fit(X, y))
    with pytest.raises(ValueError, match="not fitted"):
        path.cost_of(MKLClassifier(VIEWS))


def test_the_picture_shows_every_exponent_and_marks_the_front():
    found = made_up([90.0, 50.0, 20.0, 5.0], [0.90, 0.91, 0.905, 0.80])
    ax = Figure().subplots()
    assert found.plot(ax) is ax
    efficient, others = (dict(zip(*line.get_data(), strict=True)) for line in ax.lines[-2:])
    assert efficient == {50.0: 0.91, 20.0: 0.905, 5.0: 0.80}
    assert others == {90.0: 0.90}
    assert [text.get_text() for text in ax.texts] == ["0", "0.5", "1", "1.5"]
    assert [text.xy for text in ax.texts] == list(
        zip([90.0, 50.0, 20.0, 5.0], found.table["score"], strict=True)
    )
    assert ax.get_legend() is not None
    assert "cost" in ax.get_xlabel() and "score" in ax.get_ylabel()
    ax = made_up([20.0, 5.0, 5.001], [0.9, 0.8, 0.8]).plot(Figure().subplots())
    assert [text.get_text() for text in ax.texts] == ["0", "0.5, 1"]  # on one point they share its label
    with matplotlib.rc_context({"backend": "agg"}):
        ax = made_up([2.0, 1.0], [0.9, 0.8]).plot()
    assert ax.get_legend() is None  # both are efficient: nothing to tell apart
    matplotlib.pyplot.close(ax.figure)


def test_progress_goes_to_standard_error(capsys):
    X, y = make_binary()
    text = io.StringIO()
    with redirect_stderr(text):
        cost_path(MKLClassifier(VIEWS), X, y, COSTS, exponents=[0, 0.5], cv=2, verbose=1)
    first, second = text.getvalue().splitlines()
    assert first.startswith("[multikernel] exponent 0:") and second.startswith("[multikernel] exponent 0.5:")
    assert "score 0." in first and "cost" in first
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"costs": None}, r"costs must be given.*\['signal', 'line', 'noise'\].*got None"),
        ({"costs": [1.0, 2.0]}, r"each of the 3 kernels; got shape \(2,\)"),
        ({"costs": [1.0, -2.0, 1.0]}, r"positive and finite; kernel 'line' has -2.0"),
        ({"costs": [1.0, np.nan, 1.0]}, r"positive and finite; kernel 'line' has nan"),
        ({"costs": {"sound": 2.0}}, r"unknown views \['sound'\]; the views are \['signal'"),
        ({"exponents": []}, "exponents must be a list of finite numbers"),
        ({"exponents": [0.0, -1.0]}, r"at least 0; got \[0.0, -1.0\]"),
        ({"exponents": 1.0}, "exponents must be a list"),
        ({"exponents": [np.inf]}, "finite"),
        ({"exponents": [1.0, 1]}, "exponents must differ"),
        ({"exponents": [300.0]}, "power of 300 are too large.*'signal' is 4 times the lowest"),
        ({"scoring": lambda model, X, y: np.nan}, "scoring must give a finite score"),
        ({"scoring": {"a": "accuracy"}}, "scoring must be one score"),
        ({"scoring": lambda model, X, y: {"a": 1.0}}, "scoring must give one number"),
        ({"costs": "cheap"}, "costs must hold one number for each kernel; got 'cheap'"),
        ({"exponents": ["one"]}, "exponents must be a list of numbers"),
        ({"cv": GroupKFold(2)}, r"GroupKFold.*list\(cv.split\(X, y, groups\)\)"),
        ({"cv": []}, "cv must hold at least one split"),
        ({"estimator": SVC()}, "estimator must have costs.*got.*SVC"),
        ({"estimator": GridSearchCV(SVC(), {"C": [1.0]})}, "estimator must have costs.*got.*SVC"),
        ({"estimator": "MKLClassifier"}, "estimator must have costs.*got.*MKLClassifier"),
        ({"estimator": make_pipeline(RegularizedMKLClassifier(VIEWS))}, "has no costs to set: it chooses"),
        (
            {"estimator": GridSearchCV(PIPED, {"mklclassifier__C": [1.0]}, refit=False)},
            "must refit.*GridSearchCV.*refit=True",
        ),
        (
            {"estimator": make_pipeline(GridSearchCV(MKLClassifier(VIEWS), {"costs": [[1, 2, 3]]}))},
            "must not search 'costs'.*Leave it out",
        ),
        ({"estimator": GridSearchCV(PIPED, [{}, {"mklclassifier__costs": [[1, 2, 3]]}])}, "'mklclass"),
        (
            {"estimator": RandomizedSearchCV(PIPED, {"mklclassifier": [MKLClassifier(VIEWS)]})},
            "must not search 'mklclassifier'",
        ),
    ],
)
def test_what_cannot_be_is_refused(changes, message):
    X, y = make_binary()
    arguments = {
        "estimator": MKLClassifier(VIEWS),
        "costs": COSTS,
        "exponents": [0.0, 1.0],
        "cv": 2,
    } | changes
    with pytest.raises((ValueError, TypeError), match=message):
        cost_path(arguments.pop("estimator"), X, y, **arguments)


@pytest.mark.parametrize(
    "estimator", [MKLClassifier(VIEWS, multiclass="joint"), PosteriorSVC(VIEWS)], ids=["joint", "posterior"]
)
def test_machines_of_several_classes_at_once(estimator):
    X, y = make_three(60)
    found = cost_path(estimator, X, y, COSTS, exponents=[1.0], cv=2)
    by_hand = clone(estimator).set_params(costs=RELATIVE)
    np.testing.assert_array_equal(found.scores.loc[1.0], cross_val_score(by_hand, X, y, cv=2))
    assert type(estimator).__name__ in cost_path.__doc__


def test_equal_costs_warn_that_nothing_can_be_traded():
    X, y = make_binary()
    with pytest.warns(UserWarning, match=r"all kernels cost the same \(3\).*nothing can be traded"):
        found = cost_path(MKLClassifier(VIEWS), X, y, [3.0, 3.0, 3.0], exponents=[0.0, 1.0], cv=2)
    np.testing.assert_array_equal(found.scores.loc[0.0], found.scores.loc[1.0])
