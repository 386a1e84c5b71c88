"""Accuracy against cost: the path is what fits by hand say, on the same folds, at the true costs."""

import io
from contextlib import redirect_stderr

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
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

from multikernel import (
    KernelBank,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLRidge,
    PosteriorSVC,
    RegularizedMKLClassifier,
)
from multikernel.mkl.cost_path import CostPath, cost_path, efficient_points
from tests.mkl.data import VIEWS, make_binary, make_regression, make_three, plain_kernels

COSTS = np.array([8.0, 2.0, 3.0])
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
        scores, costs, supports, actives, weights, sizes = [], [], [], [], [], []
        for train, test in folds.split(X, y):
            model = clone(estimator).set_params(costs=RELATIVE**exponent).fit(X[train], y[train])
            shares = model.machine_weights_ / model.machine_weights_.sum(axis=1, keepdims=True)
            pairs = {
                (m, i)
                for machine, m in zip(*np.nonzero(shares > 0.01), strict=True)
                for i in np.flatnonzero(model.dual_coef_[machine])
            }
            scores.append(model.score(X[test], y[test]))
            costs.append(sum(COSTS[m] for m, _ in pairs) / COSTS.sum())  # the true ones, at any exponent
            supports.append(model.support_.size)
            actives.append((shares > 0.01).any(axis=0).sum())
            weights.append(model.kernel_weights_)
            sizes.append(train.size)
        np.testing.assert_array_equal(path.scores.loc[exponent], scores)
        np.testing.assert_allclose(row["score"], np.mean(scores))
        np.testing.assert_allclose(row["score_sd"], np.std(scores, ddof=1))
        np.testing.assert_allclose(row["cost"], np.mean(costs))
        np.testing.assert_allclose(row["cost_sd"], np.std(costs, ddof=1), atol=1e-12)
        np.testing.assert_allclose(row["cost_share"], np.mean(np.divide(costs, sizes)))
        np.testing.assert_allclose(row["n_support"], np.mean(supports))
        np.testing.assert_allclose(row["support_share"], np.mean(np.divide(supports, sizes)))
        np.testing.assert_allclose(row["n_active"], np.mean(actives))
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
    views = [(name, kernel, ["pqrs"[c] for c in columns]) for name, kernel, columns in VIEWS]
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
