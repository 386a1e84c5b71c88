"""Scores, folds, groups and weights of the caller's choice, in `compare` and `evaluate`."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel import MKLClassifier, MKLClassifierCV, View, compare, evaluate
from multikernel.inspection import corrected_t_test, explain, feature_importance, repeated_cv_test
from multikernel.inspection.protocol import Samples, make_protocol
from multikernel.inspection.refits import keep_groups, weight_path
from multikernel.inspection.scoring import measure, scorers_for
from multikernel.kernels import Linear
from multikernel.survival import MKLSurvival

RNG = np.random.default_rng(0)
N = 60
LABEL = np.array(["a", "b"])[np.arange(N) % 2]
X = RNG.normal(size=(N, 4)) + 0.8 * (LABEL == "b")[:, None]
PATIENT = np.arange(N) // 4
VIEWS = [View("first", Linear(), [0, 1]), View("second", Linear(), [2, 3])]
MODELS = {"logistic": LogisticRegression(), "bayes": GaussianNB()}


def judged(**options):
    return compare(MODELS, X, LABEL, progress=False, **options)


# ------------------------------------------------------------------ folds
@pytest.mark.parametrize(
    ("cv", "shape"),
    [
        (StratifiedKFold(3), (1, 3)),
        (RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), (2, 3)),
        (list(KFold(4, shuffle=True, random_state=1).split(X)), (1, 4)),
        (ShuffleSplit(6, random_state=0), (1, 6)),
    ],
)
def test_the_folds_are_those_of_cv(cv, shape):
    found = judged(cv=cv)
    assert found.folds("logistic").shape == shape
    expected = cross_val_score(LogisticRegression(), X, LABEL, cv=cv)
    np.testing.assert_allclose(found.folds("logistic").ravel(), expected)


def test_a_number_is_stratified_folds_and_a_generator_is_read_once():
    found = judged(cv=4)
    assert found.folds("bayes").shape == (1, 4)
    assert "4-fold cross-validation" in found.protocol and "75% of the samples" in found.protocol
    cv = StratifiedKFold(3)
    again = judged(cv=(split for split in cv.split(X, LABEL)), baselines=[("near", KNeighborsClassifier())])
    np.testing.assert_array_equal(again.folds("bayes"), judged(cv=cv).folds("bayes"))


def test_tests_follow_the_folds():
    found = judged(cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0))
    [row] = found.tests.to_dict("records")
    assert np.isnan(row["F"]) and row["better_folds"] + row["worse_folds"] <= 15
    assert "as far as 15 folds can tell" in found.answer
    apart = judged(cv=ShuffleSplit(6, test_size=0.25, random_state=0))
    expected = corrected_t_test(apart.folds("logistic"), apart.folds("bayes"), test_size=0.25)
    assert apart.tests["p"][0] == pytest.approx(expected.pvalue)
    several = compare(MODELS, datasets={"one": (X, LABEL), "two": (X[:40], LABEL[:40])}, cv=3, progress=False)
    assert several.set_tests["pvalue"].between(0.0, 1.0).all() and "1×3 folds" in str(several)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"cv": 1}, ValueError, "cv must be at least 2 folds"),
        ({"cv": [([0, 1], [2, 3])]}, ValueError, "two folds at least"),
        ({"cv": [([0, 1], [1, 2])] * 2}, ValueError, "fold 0 has 1 in both, such as 1"),
        ({"cv": "five"}, ValueError, "cv must be a number of folds"),
        ({"cv": GroupKFold(3)}, ValueError, "needs the groups of the samples"),
        (
            {"cv": KFold(3), "groups": PATIENT[::-1] % 5},
            ValueError,
            "keep the samples of each group together",
        ),
        ({"groups": PATIENT[:3]}, ValueError, "one entry for each of the 60 samples; got 3"),
        ({"groups": np.arange(N) % 2}, ValueError, "each class in at least 2 groups; class 'a' is in 1"),
        ({"groups": np.full(N, np.nan)}, ValueError, "groups must be known for each sample"),
        ({"groups": [None, *"ab" * 29, "a"]}, ValueError, "groups must be known .*; got None in row 0"),
        ({"scoring": "f1"}, ValueError, "takes the label 1 .* make_scorer\\(f1_score, pos_label='b'\\)"),
        ({"scoring": "r2"}, ValueError, "is a score of values, and y holds labels"),
        ({"scoring": ["accuracy", "precison"]}, ValueError, "Did you mean 'precision'"),
        ({"scoring": {"": "accuracy"}}, TypeError, "names of scoring must be strings"),
    ],
)
def test_what_does_not_fit_is_named_before_anything_is_fitted(options, error, said):
    with pytest.raises(error, match=said):
        judged(**options)


def test_scores_of_other_targets_are_refused():
    with pytest.raises(ValueError, match=r"two classes, and y has 3\. Use 'roc_auc_ovr'"):
        compare(MODELS, X, np.arange(N) % 3, scoring="roc_auc", progress=False)
    with pytest.raises(ValueError, match="'accuracy' is a score of labels, and y holds values"):
        compare([Ridge(), Ridge(2.0)], X, X[:, 0], scoring="accuracy", progress=False)


# ------------------------------------------------------------------ scores
def test_each_score_has_its_own_table_and_the_first_decides():
    alone = judged(scoring="roc_auc")
    found = judged(scoring=["roc_auc", "accuracy", "f1_macro"])
    assert list(found.by_score) == ["roc_auc", "accuracy", "f1_macro"]
    pd.testing.assert_frame_equal(found.to_frame(), alone.to_frame())
    pd.testing.assert_frame_equal(found.by_score["accuracy"].to_frame(), judged().to_frame())
    assert found.answer == alone.answer == found.summary and "ROC AUC" in found.answer
    plain = found.to_dict()
    assert set(plain["by_score"]) == {"accuracy", "f1_macro"}
    assert str(found).count("| model ") == 3 and found._repr_html_().count("<table>") == 3
    named = judged(scoring={"mine": make_scorer(accuracy_score)})
    assert named.scoring == "mine" and "mean mine" in named.answer


@pytest.mark.parametrize(
    "name",
    [
        "accuracy",
        "balanced_accuracy",
        "roc_auc",
        "neg_log_loss",
    ],
)
@pytest.mark.parametrize("weight", [None, RNG.random(N) + 0.1], ids=["plain", "weighted"])
def test_the_parts_by_sample_have_the_score_as_their_mean(name, weight):
    model = LogisticRegression().fit(X, LABEL)
    [(score, parts)] = measure(scorers_for("m", model, {name: name}, False), model, X, LABEL, weight).values()
    given = {} if weight is None else {"sample_weight": weight}
    assert score == pytest.approx(get_scorer(name)(model, X, LABEL, **given))
    if parts is not None:
        assert np.mean(parts) == pytest.approx(score)
    assert (parts is None) == (weight is not None and name in ("balanced_accuracy", "roc_auc"))


@pytest.mark.parametrize("name", ["r2", "neg_mean_squared_error", "neg_mean_absolute_error"])
def test_parts_of_scores_of_values(name):
    model = Ridge().fit(X, X[:, 0] ** 2)
    [(score, parts)] = measure(scorers_for("m", model, {name: name}, False), model, X, X[:, 1]).values()
    assert score == pytest.approx(get_scorer(name)(model, X, X[:, 1])) == pytest.approx(np.mean(parts))


def test_the_area_is_tested_by_its_parts():
    """The interval of a difference of areas is that of DeLong's placements, and not of the folds."""
    found = judged(scoring="roc_auc")
    row = found.tests.iloc[0]
    folds = corrected_t_test(found.folds("logistic"), found.folds("bayes"), test_size=0.5)
    assert row["p"] != pytest.approx(folds.pvalue)
    model = LogisticRegression().fit(X, LABEL)
    parts = measure(scorers_for("m", model, {"a": "roc_auc"}, False), model, X, LABEL)["a"][1]
    scores, second = model.decision_function(X), LABEL == "b"
    placed = (scores[second][:, None] > scores[~second]).mean(axis=1)
    assert np.var(np.array(parts)[second]) == pytest.approx(np.var(placed) * (N / second.sum()) ** 2)


# ------------------------------------------------------------------ groups
class Recording(ClassifierMixin, BaseEstimator):
    """Keeps the groups that it is fitted to, which are the first column."""

    SEEN: ClassVar[list] = []

    def fit(self, X, y):
        Recording.SEEN.append(set(X[:, 0].tolist()))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        assert not set(X[:, 0].tolist()) & Recording.SEEN[-1]
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("cv", [None, 3, GroupKFold(3), LeaveOneGroupOut()])
@pytest.mark.parametrize("y", [LABEL, X[:, 0]], ids=["labels", "values"])
def test_no_group_is_on_both_sides(cv, y):
    task = "classification" if y is LABEL else "regression"
    protocol = make_protocol(Samples(X, y, PATIENT), cv, task, 0)
    for train, test in protocol.splits:
        assert not set(PATIENT[train]) & set(PATIENT[test])
    assert protocol.covers and "group together" in protocol.words
    assert protocol.shape == {None: (5, 2), 3: (1, 3)}.get(cv if cv in (None, 3) else 0, protocol.shape)


@pytest.mark.parametrize("inner", [None, 3, StratifiedKFold(3), GroupKFold(3)], ids=str)
def test_inner_folds_keep_groups_together(inner):
    table = np.column_stack([PATIENT, X])
    search = GridSearchCV(Recording(), {}, cv=inner)
    Recording.SEEN.clear()
    found = compare({"search": search, "plain": Recording()}, table, LABEL, groups=PATIENT, progress=False)
    assert len(found.scores) == 20 and len(Recording.SEEN) > 20  # predict checks them


def test_models_that_tune_themselves_get_folds_of_groups():
    model = make_pipeline(StandardScaler(), MKLClassifierCV(VIEWS, cv=3))
    train = np.flatnonzero(PATIENT < 10)
    keep_groups(model, Samples(X, LABEL, PATIENT), train)
    splits = model[-1].cv
    assert len(splits) == 3
    assert all(not set(PATIENT[train[a]]) & set(PATIENT[train[b]]) for a, b in splits)
    assert model.fit(X[train], LABEL[train]).score(X, LABEL) > 0.5


def test_groups_are_what_tests_draw():
    found = judged(groups=PATIENT)
    rows = np.repeat(np.arange(10), 6)
    one = RNG.random((5, N)) < 0.8
    assert found.tests["p"][0] == pytest.approx(
        repeated_cv_test(
            found._samples["given", "logistic"], found._samples["given", "bayes"], groups=PATIENT
        ).pvalue
    )
    assert repeated_cv_test(one, ~one, groups=rows).pvalue >= repeated_cv_test(one, ~one).pvalue


# ------------------------------------------------------------------ weights
def test_weights_go_into_fits_and_scores():
    weight = np.where(np.arange(N) < 30, 1.0, 3.0)
    cv = list(StratifiedKFold(2).split(X, LABEL))
    found = judged(sample_weight=weight, cv=cv, scoring=["accuracy", "neg_log_loss"])
    for fold, (train, test) in enumerate(cv):
        model = LogisticRegression().fit(X[train], LABEL[train], sample_weight=weight[train])
        expected = model.score(X[test], LABEL[test], sample_weight=weight[test])
        assert found.folds("logistic")[0, fold] == pytest.approx(expected)
    assert found.by_score["neg_log_loss"].folds("bayes").max() < 0.0


def test_what_takes_no_weights_is_refused_or_left_out():
    weight = np.ones(N)
    with pytest.raises(TypeError, match="model 'near', KNeighborsClassifier, takes no sample_weight"):
        compare(MODELS | {"near": KNeighborsClassifier()}, X, LABEL, sample_weight=weight, progress=False)
    with pytest.raises(TypeError, match="scoring must take sample_weight"):
        judged(sample_weight=weight, scoring=lambda model, X, y: 1.0)
    with pytest.raises(ValueError, match="sample_weight must have a positive entry"):
        judged(sample_weight=0.0 * weight)
    found = compare(
        MKLClassifier(VIEWS), X, LABEL, baselines="all", cv=2, sample_weight=weight, progress=False
    )
    assert "late fusion" not in found.estimators and "plain sum" in found.estimators
    assert any("takes no sample_weight" in entry["why"] for entry in found.about.omitted)
    assert weight_path(make_pipeline(StandardScaler(), GridSearchCV(LogisticRegression(), {}))) == (
        "gridsearchcv__sample_weight"
    )


# ------------------------------------------------------------------ evaluate
@pytest.fixture(scope="module")
def model():
    return MKLClassifier(VIEWS, random_state=0).fit(X, LABEL)


def test_evaluate_uses_the_folds_for_all_refits(model):
    seen = []
    found = evaluate(
        model,
        X,
        LABEL,
        parts=["stability", "held_out", "overfitting"],
        cv=GroupKFold(3),
        groups=PATIENT,
        scoring=["roc_auc", "accuracy"],
        progress=lambda done, total: seen.append(total),
    )
    assert set(seen) == {3}  # held-out predictions are those of the refits for stability
    scores = cross_val_score(model, X, LABEL, cv=GroupKFold(3), groups=PATIENT, scoring="roc_auc")
    assert found["held_out"]["metric"] == "ROC AUC"
    assert found["held_out"]["score"] == pytest.approx(scores.mean())
    rows = found["overfitting"]["rows"]
    assert [row["metric"] for row in rows] == ["ROC AUC", "accuracy"]
    train = [
        MKLClassifier(VIEWS, random_state=0).fit(X[a], LABEL[a]).score(X[a], LABEL[a])
        for a, _ in GroupKFold(3).split(X, LABEL, PATIENT)
    ]
    assert rows[1]["train"] == pytest.approx(np.mean(train))
    assert rows[1]["gap"] == pytest.approx(rows[1]["train"] - rows[1]["score"])
    assert found["overfitting"]["support"]["share"] == pytest.approx(len(model.support_) / N)


def test_several_scores_are_told_for_each_part(model):
    found = evaluate(
        model,
        X,
        LABEL,
        parts=["without_view", "baselines"],
        baselines=["plain sum"],
        scoring=["accuracy", "f1_macro"],
    )
    for part in ("without_view", "baselines"):
        assert found[part]["metric"] == "accuracy"
        other = found[part]["by_score"]["f1_macro"]
        assert other["metric"] == "f1 macro" and len(other["rows"]) == len(found[part]["rows"])
    alone = evaluate(model, X, LABEL, parts=["baselines"], baselines=["plain sum"], scoring="f1_macro")
    assert alone["baselines"]["rows"] == found["baselines"]["by_score"]["f1_macro"]["rows"]


def test_the_learning_curve_ends_at_the_held_out_score(model):
    found = evaluate(model, X, LABEL, parts=["learning_curve", "held_out"])
    rows = found["learning_curve"]["rows"]
    assert [row["n_train"] for row in rows] == [10, 19, 29, 38, 48]
    assert rows[-1]["score"] == pytest.approx(found["held_out"]["by_score"][0]["score"])
    assert "10 training samples" in found["learning_curve"]["answer"]
    assert evaluate(model, X, LABEL, parts=["held_out"])["learning_curve"] is None


def test_folds_that_do_not_cover_have_no_held_out_part(model):
    found = evaluate(model, X, LABEL, parts=["held_out", "overfitting"], cv=ShuffleSplit(3, random_state=0))
    assert found["held_out"] is None and found["overfitting"] is not None
    assert "do not predict each sample once" in found["omitted"][0]["why"]


def test_functions_that_are_no_scores_are_refused_before_anything_is_fitted(model):
    for scoring in (lambda fitted: 1.0, accuracy_score, {"mine": accuracy_score}):
        with pytest.raises(TypeError, match=r"must take \(estimator, X, y\).*make_scorer"):
            judged(scoring=scoring)
        with pytest.raises(TypeError, match="make_scorer"):
            evaluate(model, X, LABEL, scoring=scoring)
    for scoring in (lambda fitted, X, y: 1.0, make_scorer(accuracy_score), get_scorer("accuracy")):
        assert evaluate(model, X, LABEL, parts=["held_out"], scoring=scoring)["held_out"]
    with pytest.raises(TypeError, match="make_scorer"):
        feature_importance(model, X, LABEL, scoring=accuracy_score)


def test_the_sentence_says_why_nothing_was_computed(model):
    gaps = np.where(np.abs(X) > 2.0, np.nan, X)
    told = str(evaluate(model, gaps, LABEL, parts=["held_out"]))
    assert "held_out" in told and "NaN" in told


def test_labels_that_the_model_does_not_know_explain_nothing(model):
    strange = np.where(LABEL == "b", "c", LABEL)
    for explained, options in ((feature_importance, {"method": "permutation"}), (explain, {})):
        with pytest.raises(ValueError, match="y must hold labels that the model knows, 'a', 'b'; got 'c'"):
            explained(model, X, strange, **options)


# ------------------------------------------------------------------ survival
def test_survival_models_are_judged_by_their_own_score():
    times = np.exp(-X[:, 0])
    y = {"event": np.arange(N) % 3 > 0, "time": times}
    models = {"both": MKLSurvival(VIEWS), "second": MKLSurvival(VIEWS[1:])}
    found = compare(models, X, y, cv=3, progress=False)
    assert found.metric == "C-index" and found.folds("both").mean() > found.folds("second").mean()
    fitted = MKLSurvival(VIEWS).fit(X, y)
    told = evaluate(
        fitted,
        X,
        y,
        parts=["overfitting"],
        X_test=X[:20],
        y_test={name: values[:20] for name, values in y.items()},
    )
    assert told["overfitting"]["rows"][0]["metric"] == "C-index" == told["cohort"]["rows"][0]["metric"]
    assert told["cohort"]["rows"][0]["low"] <= told["cohort"]["rows"][0]["score"]
