"""The 5×2 protocol: the same folds for all, the same result however it is run, errors that name the place."""

import json
import math
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer, r2_score, zero_one_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel import MKLClassifier, stack_kernels
from multikernel.inspection import compare, holm
from multikernel.inspection.runs import Judging, make_contest
from multikernel.views import MultiTable
from tests.inspection import toys
from tests.inspection.toys import ONE, PLACE, TWO, Centroids, numbered, run, scores_of

# --- folds -------------------------------------------------------------------------------------------------


def test_every_estimator_sees_the_same_two_halves_five_times():
    run()
    near = [rows for who, rows in toys.FITS[:10]]
    assert [who for who, _ in toys.FITS] == ["plain"] * 10 + ["rough"] * 10 + ["plain"] * 10 + ["rough"] * 10
    assert [rows for _, rows in toys.FITS[10:20]] == near
    assert [rows for _, rows in toys.FITS[20:30]] == [rows for _, rows in toys.FITS[30:40]]
    for first, second in zip(near[::2], near[1::2], strict=True):
        assert sorted([*first, *second]) == list(range(40))
        assert sum(row % 2 for row in first) == sum(row % 2 for row in second) == 10  # of either class
    assert len({frozenset(first) for first in near}) == 10  # five different halvings


def test_the_scores_are_those_of_a_plain_loop():
    found = run()
    X, y = numbered(gap=1.0)
    for i in range(10):
        train = np.array(toys.FITS[i][1])
        test = np.setdiff1d(np.arange(40), train)
        model = Centroids().fit(X[train], y[train])
        row = found.scores.iloc[i]
        assert tuple(row[PLACE]) == ("near", "plain", i // 2, i % 2)
        assert row["score"] == np.mean(model.predict(X[test]) == y[test])
    assert len(found.scores) == 40
    assert (found.scores["fit_seconds"] >= 0.0).all()
    assert found.scoring == "accuracy"


def test_another_seed_draws_other_folds():
    folds = []
    for seed in (0, 1, 0):
        toys.FITS.clear()
        run(datasets=ONE, random_state=seed)
        folds.append(list(toys.FITS))
    assert folds[0] == folds[2] != folds[1]


def test_what_is_random_is_seeded_and_the_same_again():
    estimators = {"a": Centroids("a", shrink=3.0), "b": Centroids("b", shrink=3.0, random_state=7)}
    first = scores_of(run(estimators, ONE))
    np.random.seed(123)  # the global generator has no say
    pd.testing.assert_frame_equal(first, scores_of(run(estimators, ONE)))
    assert estimators["a"].random_state is None
    assert not hasattr(estimators["a"], "classes_")
    inner = {"piped": make_pipeline("passthrough", Centroids(shrink=3.0))}
    inner["search"] = GridSearchCV(Centroids(shrink=3.0), {"shrink": [3.0]}, cv=2)
    pd.testing.assert_frame_equal(*(scores_of(run(inner, ONE)) for _ in range(2)))


def test_two_jobs_give_what_one_gives(tmp_path):
    whole = scores_of(run())
    found = run(n_jobs=2, store=tmp_path / "new" / "two.jsonl")
    pd.testing.assert_frame_equal(scores_of(found), whole)
    assert len((tmp_path / "new" / "two.jsonl").read_text().splitlines()) == 40


# --- kinds of input ----------------------------------------------------------------------------------------


def test_a_stack_of_kernels_loses_rows_and_columns_alike():
    X, y = numbered(gap=2.0)
    values = X[:, 1:]
    linear, quadratic = values @ values.T, (1.0 + values @ values.T) ** 2
    stack = stack_kernels([linear, quadratic])
    estimators = {"1": MKLClassifier("precomputed", C=1.0), "2": MKLClassifier("precomputed", C=100.0)}
    found = compare(estimators, stack, y, progress=False)
    folds = StratifiedKFold(2, shuffle=True, random_state=np.random.RandomState(0))
    train, test = next(folds.split(X, y))
    model = MKLClassifier("precomputed", C=1.0).fit(stack[np.ix_(train, train)], y[train])
    assert found.folds("1")[0, 0] == model.score(stack[np.ix_(test, train)], y[test])
    alone = SVC(kernel="precomputed")
    one = compare({"a": alone, "b": GridSearchCV(alone, {"C": [1.0]}, cv=2)}, linear, y, progress=False)
    np.testing.assert_array_equal(one.folds("a"), one.folds("b"))
    both = {"c": SVC(kernel="linear"), "d": SVC(kernel="linear")}
    np.testing.assert_array_equal(one.folds("a"), compare(both, values, y, progress=False).folds("d"))


def test_frames_and_labels_of_any_kind():
    X, y = numbered(n=45, n_classes=3)
    plain = scores_of(run(datasets={"d": (X, y)}))
    names = np.array(["anna", "berta", "clara"])[y]
    shuffled = np.random.default_rng(0).permutation(45)  # as the index: rows go by place, not by label
    frame = pd.DataFrame(X, columns=["row", "u", "v"], index=shuffled)
    for data in ((frame, names), (frame, pd.Series(names, index=shuffled)), (X.tolist(), y.tolist())):
        pd.testing.assert_frame_equal(scores_of(run(datasets={"d": data})), plain)


def test_regressors_have_plain_folds_and_their_own_score():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=30)
    models = {"ridge": Ridge(), "mean": DummyRegressor()}
    found = compare(models, X, y, progress=False)
    assert found.scoring == "r2"
    assert found.tests.loc[0, "verdict"] == "win"
    order = np.random.RandomState(0).permutation(30)  # of KFold(shuffle=True), first repetition
    test, train = np.sort(order[:15]), np.sort(order[15:])
    expected = r2_score(y[test], Ridge().fit(X[train], y[train]).predict(X[test]))
    assert found.folds("ridge")[0, 0] == pytest.approx(expected, abs=1e-12)
    errors = compare(models, X, y, scoring="neg_mean_squared_error", progress=False)
    assert (errors.scores["score"] < 0.0).all()
    assert errors.scoring == "neg_mean_squared_error"
    assert errors.tests.loc[0, "verdict"] == "win"


def test_all_are_scored_alike_whatever_their_own_score_is():
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [5]}, scoring="neg_log_loss", cv=2)
    found = run({"search": search, "plain": KNeighborsClassifier()}, ONE)
    np.testing.assert_array_equal(found.folds("search", "near"), found.folds("plain", "near"))
    scorer = make_scorer(accuracy_score)
    named = run(datasets=ONE, scoring="accuracy").scores
    np.testing.assert_array_equal(run(datasets=ONE, scoring=scorer).scores["score"], named["score"])


def test_nothing_that_was_passed_is_changed():
    X, y = numbered()
    X.flags.writeable = y.flags.writeable = False
    estimators = {"a": LogisticRegression(), "b": make_pipeline(StandardScaler(), SVC(random_state=None))}
    before = {name: repr(clone(model)) for name, model in estimators.items()}
    compare(estimators, X, y, progress=False)
    assert {name: repr(model) for name, model in estimators.items()} == before
    assert list(vars(estimators["a"])) == list(vars(LogisticRegression()))


# --- progress ----------------------------------------------------------------------------------------------


def test_progress_goes_to_standard_error_and_only_if_asked(capsys):
    run()
    assert capsys.readouterr() == ("", "")
    run(progress=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "5×2 cv" in printed.err and "40/40" in printed.err


# --- errors ------------------------------------------------------------------------------------------------


def undefined(estimator, X, y):
    return math.nan


def two_scores(estimator, X, y):
    return {"score": 1.0, "other": 0.0}


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        (undefined, "every score must be finite; PLACE scored nan"),
        ("roc_auc", "PLACE failed with AttributeError"),  # which needs more than predict
        (two_scores, r"must give one number; PLACE got a dictionary of 'score', 'other'\. Return one"),
        (lambda *_: {"mine": 1.0}, "scoring must give one number; PLACE got a dictionary of 'mine'"),
    ],
)
def test_a_score_that_is_not_one_number_is_named(scoring, message):
    place = "model 'plain' on data set 'near', repetition 0, fold 0"
    with pytest.raises(ValueError, match=message.replace("PLACE", place)):
        run(scoring=scoring)


@pytest.mark.parametrize(
    ("scoring", "caption"),
    [
        ("balanced_accuracy", "balanced_accuracy"),
        (two_scores, "two_scores"),
        (make_scorer(accuracy_score), "accuracy_score"),
        (make_scorer(zero_one_loss, greater_is_better=False), "neg_zero_one_loss"),
        (make_scorer(partial(accuracy_score, normalize=False)), "accuracy_score"),
        (partial(undefined), "undefined"),
        (lambda estimator, X, y: 0.5, "score"),
    ],
)
def test_the_caption_names_the_score(scoring, caption):
    estimators = {"a": Centroids(), "b": Centroids()}
    assert make_contest(estimators, ONE, Judging(scoring), 0).scorings == [caption]


rare = numbered()[0], np.array(["often"] * 39 + ["rare"])


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"datasets": {"d": rare}}, ValueError, "data set 'd' has 1 of class rare. Leave that class out"),
        ({"datasets": {"d": (rare[0], np.zeros(40))}}, ValueError, "data set 'd' must have two classes"),
        ({"datasets": {"d": (rare[0], rare[0][:, 1])}}, ValueError, "set 'd' must be labels.*continuous"),
        ({"datasets": {"d": (rare[0], rare[1][:-1])}}, ValueError, r"set 'd' .*as many rows.*\[40, 39\]"),
        ({"datasets": {"d": (rare[0], None)}}, TypeError, "data set 'd' must have targets y"),
        ({"datasets": {"d": rare[0]}}, TypeError, r"data set 'd' must be a pair \(X, y\); got ndarray"),
        ({"datasets": [rare]}, TypeError, "datasets must be a dictionary by name.*got list"),
        ({"datasets": {1: rare}}, TypeError, "names of datasets must be strings; got 1"),
        ({"estimators": [SVC(), SVC()]}, ValueError, "models must differ; got .*Give a dictionary"),
        ({"estimators": {"a": SVC()}}, ValueError, "two models at least, or one and baselines; got only 'a'"),
        ({"X": rare[0], "y": rare[1]}, TypeError, "either X and y or datasets must be given; got both"),
        ({"baselines": True}, ValueError, "baselines are made for one data set"),
        ({"baselines": ["sum"]}, ValueError, "baselines must be one of"),
        ({"errors": "ignore"}, ValueError, "errors must be one of"),
        ({"estimators": {"a": SVC, "b": SVC()}}, TypeError, "'a' must be an object.*Call the class"),
        ({"estimators": {"a": "svc", "b": SVC()}}, TypeError, "model 'a' must be an object.*got 'svc'"),
        ({"estimators": {"a": SVC(), "b": Ridge()}}, ValueError, "'a' is one and 'b' is not"),
        ({"estimators": {"a": Ridge(), "b": KMeans()}}, ValueError, "scoring must be given for .*'b'"),
        ({"reference": "c"}, ValueError, "reference must be one of .*'plain', 'rough'; got 'c'"),
        ({"level": 2}, ValueError, "level must be less than 1"),
        ({"random_state": None}, ValueError, "random_state must be an integer"),
        ({"random_state": -1}, ValueError, "random_state must be an integer"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be None, a positive number"),
        ({"scoring": [3]}, TypeError, "scoring must be the name of a score"),
        ({"scoring": []}, ValueError, "one score at least"),
        ({"scoring": ["accuracy", "accuracy"]}, ValueError, "distinct names"),
        ({"scoring": "acuracy"}, ValueError, "scoring must be .* Did you mean 'accuracy'"),
        ({"scoring": accuracy_score}, TypeError, "estimator, X, y.*make_scorer makes one"),
        ({"store": 3}, TypeError, "store must be the path of a file; got 3"),
        ({"store": Path(__file__).parent}, ValueError, r"is a folder. Use .*fits\.jsonl"),
    ],
)
def test_bad_input_is_named_before_anything_is_fitted(changed, error, message):
    with pytest.raises(error, match=message):
        run(**changed)
    assert toys.FITS == []


# --- what fails, and what is tested ------------------------------------------------------------------------


def test_a_model_that_fails_may_be_left_out():
    estimators = {"plain": Centroids(), "fussy": Centroids(fail_on_row=35), "rough": Centroids(shrink=1.0)}
    datasets = {"small": numbered(n=30), "large": numbered(n=40)}
    found = run(estimators, datasets, errors="omit")
    assert found.estimators == ["plain", "rough"] and len(found.scores) == 40
    [entry] = found.about.omitted
    assert entry["part"] == "fussy" and "on data set 'large'" in entry["why"]
    assert "fussy was left out: " in str(found)
    with pytest.raises(ValueError, match="the reference 'fussy' could not be fitted"):
        run(estimators, datasets, errors="omit", reference="fussy")
    with pytest.raises(ValueError, match=r"no model could be fitted: .*does not please"):
        run({"a": Centroids(fail_on_row=35), "b": Centroids(fail_on_row=36)}, errors="omit", datasets=ONE)


def test_holm_is_over_the_tests_that_are_made():
    X, y = numbered(gap=1.0)
    models = {name: Centroids(shrink=shrink) for name, shrink in (("a", 0.0), ("b", 1.0), ("c", 3.0))}
    pairs = compare(models, X, y, progress=False).tests
    assert list(zip(pairs["estimator"], pairs["rival"], strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]
    np.testing.assert_array_equal(pairs["p_holm"], holm(pairs["p"]))
    found = compare(models, X, y, reference="best", progress=False)
    best = max(models, key=lambda name: found.folds(name).mean())
    assert found.reference == best and set(found.tests["rival"]) == {best} and len(found.tests) == 2
    np.testing.assert_array_equal(found.tests["p_holm"], holm(found.tests["p"]))
    assert found.answer.startswith(f"{best} has the best mean accuracy of 3 models")
    sides = compare(models, X, y, progress=False).to_frame()
    assert sides.loc["b", ("a", "difference")] == -sides.loc["a", ("b", "difference")]
    assert sides.loc["b", ("a", "p_holm")] == sides.loc["a", ("b", "p_holm")]


def test_models_without_views_are_drawn_alone():
    ax = run(datasets=ONE, reference="rough").plot()
    assert len(ax.figure.axes) == 1
    assert [text.get_text() for text in ax.get_yticklabels()] == ["plain", "rough"]
    assert ax.get_title() == "Scores on the same folds"
    pyplot.close(ax.figure)
    pyplot.close(run(datasets=ONE).plot().figure)  # no line to draw
    with pytest.raises(ValueError, match="dataset must be one of 'near', 'far'"):
        run().plot()


# --- scores on disk: a stopped run goes on, what has changed is computed again, other files are left alone


def test_a_run_that_was_stopped_goes_on_and_ends_as_one_that_was_not(tmp_path):
    whole = run()
    every = list(toys.FITS)
    for stop in (0, 13, 39):
        toys.FITS.clear()
        toys.STOP_AT.append(stop)
        path = tmp_path / f"{stop}.jsonl"
        with pytest.raises(KeyboardInterrupt) as caught:
            run(store=path)
        assert caught.value.__notes__ == [f"{stop} of 40 fits are kept in {path}: call again to go on."]
        assert len(toys.FITS) == stop
        resumed = run(store=str(path))
        assert every == toys.FITS  # none of them twice
        pd.testing.assert_frame_equal(scores_of(resumed), scores_of(whole))
        assert str(resumed) == str(whole)
        pd.testing.assert_frame_equal(run(store=path).scores, resumed.scores)
        assert len(toys.FITS) == 40
        content = path.read_bytes()
        places = [tuple(json.loads(json.loads(line)["key"])) for line in content.splitlines()]
        assert places == list(whole.scores[PLACE].itertuples(index=False, name=None))
        path.write_bytes(content[: len(content) // 2])  # a torn line is computed again
        pd.testing.assert_frame_equal(scores_of(run(store=path)), scores_of(whole))
        assert len(path.read_bytes().splitlines()) == 40 and 59 < len(toys.FITS) < 62


@pytest.mark.parametrize(
    ("changed", "n_again"),
    [
        ({"estimators": {"plain": Centroids("plain"), "rough": Centroids("rough", shrink=0.9)}}, 20),
        ({"estimators": {"plain": Centroids("plain"), "other": Centroids("rough", shrink=1.0)}}, 20),
        ({"datasets": {"near": numbered(gap=1.1), "far": numbered(n=31, gap=2.0, seed=1)}}, 20),
        ({"datasets": {"near": numbered(gap=1.0), "third": numbered(n=20)}}, 20),
        ({"datasets": {"near": (numbered(gap=1.0)[0], 1 - numbered()[1]), "far": TWO["far"]}}, 20),
        ({"random_state": 1}, 40),
        ({"scoring": "balanced_accuracy"}, 40),
        ({"level": 0.1, "reference": "plain", "n_jobs": 1}, 0),
    ],
)
def test_only_what_is_the_same_is_taken_from_the_store(tmp_path, changed, n_again):
    path = tmp_path / "scores.jsonl"
    first = run(store=path)
    toys.FITS.clear()
    found = run(store=path, **changed)
    assert len(toys.FITS) == n_again
    pd.testing.assert_frame_equal(scores_of(found), scores_of(run(**changed)))
    toys.FITS.clear()
    pd.testing.assert_frame_equal(run(store=path).scores, first.scores)  # what was there is still there
    assert toys.FITS == []


SHARE = 1.0


def shared(estimator, X, y):
    return SHARE * estimator.score(X, y)


def test_a_scorer_that_reads_another_global_is_another(tmp_path, monkeypatch):
    path = tmp_path / "scores.jsonl"
    whole = run(datasets=ONE, store=path, scoring=shared).scores["score"]
    monkeypatch.setitem(globals(), "SHARE", 0.5)
    half = run(datasets=ONE, store=path, scoring=shared).scores["score"]
    np.testing.assert_array_equal(half, 0.5 * whole)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_that_fails_is_named_and_what_is_done_is_kept(tmp_path, n_jobs):
    path = tmp_path / "scores.jsonl"
    estimators = {"plain": Centroids("plain"), "fussy": Centroids("fussy", fail_on_row=35)}
    datasets = {"small": numbered(n=30), "large": numbered(n=40)}
    place = "model 'fussy' on data set 'large', repetition 0, fold 0 failed with RuntimeError"
    with pytest.raises(ValueError, match=rf"{place}: this row does not please\.") as caught:
        run(estimators, datasets, store=path, n_jobs=n_jobs)
    kept = [json.loads(line)["key"] for line in path.read_text().splitlines()]
    assert len(kept) >= 30  # all that come before, and what was under way
    assert f"{len(kept)} of 40 fits are kept in {path}: call again to go on." in caught.value.__notes__
    toys.FITS.clear()
    mended = estimators | {"fussy": Centroids("fussy")}
    assert len(run(mended, datasets, store=path).scores) == 40
    assert len(toys.FITS) == 20 + 20 - sum('"plain"' in key for key in kept)


def test_a_file_of_something_else_is_no_store(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"precious data without newline")
    with pytest.raises(ValueError, match=r"notes\.txt must be a record") as caught:
        run(store=path)
    assert path.read_bytes() == b"precious data without newline"
    assert not hasattr(caught.value, "__notes__")  # nothing is kept there, and calling again does not help


def test_what_cannot_be_recognised_is_not_stored(tmp_path):
    with (tmp_path / "x").open("w") as file:
        odd = {"plain": Centroids(), "odd": DummyClassifier(constant=file)}
        with pytest.raises(TypeError, match=r"model 'odd' cannot: a _io\.TextIOWrapper has no content"):
            run(odd, store=tmp_path / "scores.jsonl")
    assert not (tmp_path / "scores.jsonl").exists()


def test_tables_by_name_are_compared_as_they_are_fitted():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    tables = {"left": rng.normal(size=(40, 3)) + y[:, None], "right": rng.normal(size=(40, 2))}
    models = {"one": MKLClassifier(), "two": MKLClassifier(C=0.01)}
    by_name = compare(models, tables, y, baselines=False)
    as_one = compare(models, MultiTable(tables), y, baselines=False)
    np.testing.assert_array_equal(by_name.scores["score"], as_one.scores["score"])
    with pytest.raises(ValueError, match="as many rows as targets"):
        compare(models, tables, y[:-1], baselines=False)
