"""Estimators of several tasks: the column of the task, what is shared, predictions, refusals."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from multikernel import MKLClassifier, MKLRegressor, View, load_model, save_model
from multikernel.kernels import Gaussian, Linear
from multikernel.tasks import MultiTaskMKLClassifier, MultiTaskMKLRegressor

NAMES = [f"x{j}" for j in range(5)]
VIEWS = [(name, Gaussian(gamma=0.5), [name]) for name in NAMES]
SIZES = {"a": 20, "b": 30, "c": 40}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 5)), columns=NAMES)
    X.insert(2, "cohort", rng.permutation(np.repeat(list(SIZES), list(SIZES.values()))))
    sign = X["cohort"].map({"a": 1.0, "b": -1.0, "c": 1.0})
    return X, (sign * X["x0"] + 0.5 * X["x1"] + 0.1 * rng.normal(size=90)).to_numpy()


def labels(y):
    return np.where(y > 0.0, "sick", "well")


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_own_weights_are_those_of_each_task_alone(data, loss):
    X, y = data[0], labels(data[1])
    raw = [View(*view, standardize=False, normalize=None) for view in VIEWS]  # the same kernels on parts
    together = MultiTaskMKLClassifier(
        raw, task_column="cohort", sharing="own", loss=loss, C=0.1, tol=1e-8
    ).fit(X, y)
    assert together.tasks_.tolist() == ["a", "b", "c"]
    for task in SIZES:
        rows = (X["cohort"] == task).to_numpy()
        alone = MKLClassifier(raw, loss=loss, C=0.1, tol=1e-8).fit(X[rows], y[rows])
        assert together.weights_frame()[task].to_numpy() == pytest.approx(alone.kernel_weights_, abs=1e-4)
        scores = together.decision_function(X[rows])
        assert scores == pytest.approx(alone.decision_function(X[rows]), abs=1e-4)


def test_common_weights_are_common_and_one_task_is_one_model(data):
    X, y = data[0], labels(data[1])
    common = MultiTaskMKLClassifier(VIEWS, task_column="cohort", sharing="common").fit(X, y)
    assert np.ptp(common.task_weights_, axis=0) == pytest.approx(0.0, abs=1e-12)
    assert common.status_ == "optimal" and common.dual_gap_ <= 1e-3
    plain = X.drop(columns="cohort")
    one = MultiTaskMKLClassifier(VIEWS).fit(plain, y)
    same = MKLClassifier(VIEWS).fit(plain, y)
    assert one.decision_function(plain) == pytest.approx(same.decision_function(plain), abs=1e-6)
    one, same = MultiTaskMKLRegressor(VIEWS, tol=1e-7), MKLRegressor(VIEWS, tol=1e-7)
    values = same.fit(plain, data[1]).predict(plain)
    assert one.fit(plain, data[1]).predict(plain) == pytest.approx(values, abs=1e-3)


def test_larger_exponents_draw_weights_together(data):
    X, y = data[0], labels(data[1])
    spreads = [
        np.ptp(
            MultiTaskMKLClassifier(VIEWS, task_column="cohort", sharing=q).fit(X, y).task_weights_, axis=0
        ).max()
        for q in (1.0, 2.0, 8.0, 64.0)
    ]
    assert (np.diff(spreads) < 0.0).all() and spreads[-1] < 0.05


def test_clusters_share_among_themselves_only(data):
    X, y = data[0], labels(data[1])
    clusters = {"a": "first", "b": "second", "c": "first"}
    model = MultiTaskMKLClassifier(VIEWS, task_column="cohort", sharing="common", clusters=clusters).fit(X, y)
    own = MultiTaskMKLClassifier(VIEWS, task_column="cohort", sharing="own").fit(X, y)
    assert model.task_weights_[0] == pytest.approx(model.task_weights_[2])
    assert model.task_weights_[1] == pytest.approx(own.task_weights_[1])


@pytest.mark.parametrize("task", ["cohort", 2, -4])
def test_the_column_of_the_task_may_stand_anywhere(data, task):
    X, y = data[0], data[1]
    frame = MultiTaskMKLRegressor([Linear()], task_column="cohort").fit(X, y)
    table = X.assign(cohort=X["cohort"].map({"a": 0.0, "b": 1.0, "c": 2.0}))
    given = table if task == "cohort" else table.to_numpy()
    model = MultiTaskMKLRegressor([Linear()], task_column=task).fit(given, y)
    assert model.predict(given) == pytest.approx(frame.predict(X))
    assert model.n_features_in_ == 5


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
def test_regression_and_contributions(data, loss):
    X, y = data
    model = MultiTaskMKLRegressor(VIEWS, task_column="cohort", loss=loss).fit(X, y)
    assert model.status_ == "optimal" and model.score(X, y) > 0.9
    own = np.searchsorted(model.tasks_, X["cohort"])
    total = model.contributions(X).sum(axis=1) + model.intercept_[own]
    assert total == pytest.approx(model.predict(X))


def test_three_classes(data):
    X, y = data[0], np.digitize(data[1], [-0.5, 0.5])
    model = MultiTaskMKLClassifier(VIEWS, task_column="cohort").fit(X, y)
    assert model.decision_function(X).shape == (90, 3) and model.contributions(X).shape == (90, 3, 5)
    assert model.machine_weights_.shape == (9, 5) and model.score(X, y) > 0.8


def test_weights_of_samples_count_repetitions(data):
    X, y = data[0], labels(data[1])
    counts = np.random.default_rng(1).integers(0, 3, 90)
    weighted = MultiTaskMKLClassifier(VIEWS, task_column="cohort", tol=1e-6).fit(X, y, counts)
    repeated = MultiTaskMKLClassifier(VIEWS, task_column="cohort", tol=1e-6).fit(
        X.loc[X.index.repeat(counts)], np.repeat(y, counts)
    )
    assert weighted.decision_function(X) == pytest.approx(repeated.decision_function(X), abs=1e-2)


def test_search_and_files(data, tmp_path):
    X, y = data[0], labels(data[1])
    before = X.copy()
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, X["cohort"] + y))
    search = GridSearchCV(
        MultiTaskMKLClassifier(VIEWS, task_column="cohort"), {"sharing": ["own", 2.0, "common"]}, cv=folds
    )
    model = search.fit(X, y).best_estimator_
    save_model(model, tmp_path / "model.mk")
    assert (load_model(tmp_path / "model.mk").predict(X) == model.predict(X)).all()
    pd.testing.assert_frame_equal(X, before)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task_column": "hospital"}, "task_column must name a column of X; got 'hospital'"),
        ({"sharing": 0.5}, "sharing must be at least 1; got 0.5"),
        ({"sharing": "some"}, "must be one of 'common', 'own'; got 'some'"),
        ({"clusters": {"a": 1, "b": 1}}, "task 'c' has none"),
        ({"C": 0.0}, "C must be greater than 0"),
        ({"kernels": "precomputed"}, "precomputed kernels have no columns"),
    ],
)
def test_parameters_that_cannot_be_are_refused(data, changes, message):
    model = MultiTaskMKLClassifier(**{"kernels": VIEWS, "task_column": "cohort"} | changes)
    with pytest.raises(ValueError, match=message):
        model.fit(data[0], labels(data[1]))


def test_data_that_cannot_be_are_refused(data):
    X, y = data[0], labels(data[1])
    model = MultiTaskMKLClassifier(VIEWS, task_column="cohort").fit(X, y)
    with pytest.raises(ValueError, match="row 3 has 'z'"):
        model.predict(X.assign(cohort=["z" if i == 3 else c for i, c in enumerate(X["cohort"])]))
    with pytest.raises(ValueError, match="'cohort' has none in row 0"):
        clone(model).fit(X.assign(cohort=None), y)
    with pytest.raises(ValueError, match="task 'a' has none of class 'well'"):
        clone(model).fit(X, np.where(X["cohort"] == "a", "sick", y))
    with pytest.raises(ValueError, match="number of a column"):
        clone(model).fit(X.to_numpy(), y)
    for sharing in (2.0, "own"):
        with pytest.raises(TypeError, match="clusters must be a dict"):
            clone(model).set_params(clusters=["a"], sharing=sharing).fit(X, y)
    with pytest.raises(ValueError, match=r"each of the 90 tasks has one\. Is task_column='x0' the column"):
        MultiTaskMKLRegressor([Linear()], task_column="x0").fit(X.drop(columns="cohort"), data[1])
    with pytest.raises(TypeError, match="one table with a column for the task"):
        clone(model).fit({"first": X, "second": X}, y)
