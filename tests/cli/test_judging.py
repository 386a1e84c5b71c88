"""Scores, folds, groups, weights and cohorts by options of ``report`` and ``compare``."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from multikernel.core.folds import make_group_folds
from multikernel.io import load_model
from tests.cli.running import call


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model of patients with two samples each, its table, and a cohort."""
    folder = tmp_path_factory.mktemp("judging")
    rng = np.random.default_rng(0)
    label = np.repeat(["calm", "wild"], 30)
    columns = {"a:1": rng.normal(size=60) + (label == "wild"), "b:1": rng.normal(size=60)}
    table = pd.DataFrame(
        columns | {"mood": label, "patient": np.arange(60) // 2, "w": 1.0 + np.arange(60) % 3}
    )
    rows = rng.permutation(60)
    table.iloc[rows[:40]].to_csv(folder / "train.csv", index=False)
    table.iloc[rows[40:]].to_csv(folder / "cohort.csv", index=False)
    left_out = ("--ignore", "patient", "--ignore", "w")
    call("fit", folder / "train.csv", "--target", "mood", *left_out, "--out", folder / "model")
    return folder


def asked(place, *words, parts="held-out", code=0):
    data = ("--data", place / "train.csv", "--parts", parts, "--out", place / "page.md", "--json")
    return call("report", place / "model", *data, *words, code=code)


def test_a_report_on_a_cohort_by_several_scores(place):
    words = ("--test", place / "cohort.csv", "--scoring", "roc_auc,accuracy")
    found = json.loads(asked(place, *words).stdout)["evaluation"]
    model, cohort = load_model(place / "model" / "model.skops"), pd.read_csv(place / "cohort.csv")
    rows = found["cohort"]["rows"]
    assert [row["metric"] for row in rows] == ["ROC AUC", "accuracy"]
    assert rows[1]["score"] == pytest.approx(model.score(cohort[["a:1", "b:1"]], cohort["mood"]))
    assert found["held_out"]["metric"] == "ROC AUC"
    assert "## Independent cohort" in (place / "page.md").read_text(encoding="utf-8")


def test_groups_and_weights_are_columns(place):
    words = ("--groups", "patient", "--weights", "w", "--cv", "4")
    found = json.loads(asked(place, *words, parts="held-out,overfitting").stdout)["evaluation"]
    table = pd.read_csv(place / "train.csv")
    X, y, model = table[["a:1", "b:1"]], table["mood"], load_model(place / "model" / "model.skops")
    folds = make_group_folds(y, table["patient"], 4, classifier=True)
    scores = []
    for train, test in folds:
        weight = table["w"].to_numpy()
        fitted = model.__class__(**model.get_params(deep=False)).fit(X.iloc[train], y[train], weight[train])
        scores.append(fitted.score(X.iloc[test], y[test], weight[test]))
    assert found["overfitting"]["rows"][0]["score"] == pytest.approx(np.mean(scores))


def test_compare_takes_the_same_options(place):
    out = place / "compared"
    common = (
        "compare",
        place / "train.csv",
        "--target",
        "mood",
        "--methods",
        "mkl,MeanRule",
        "--no-baselines",
    )
    words = ("--scoring", "balanced_accuracy,roc_auc", "--cv", "3", "--groups", "patient", "--ignore", "w")
    found = json.loads(call(*common, *words, "--out", out, "--json").stdout)
    assert found["metric"] == "balanced accuracy" and list(found["by_score"]) == ["roc_auc"]
    table = pd.read_csv(place / "train.csv")
    folds = make_group_folds(table["mood"], table["patient"], 3, classifier=True)
    model = load_model(place / "model" / "model.skops")
    scores = cross_val_score(
        model, table[["a:1", "b:1"]], table["mood"], cv=folds, scoring="balanced_accuracy"
    )
    rows = {row["name"]: row for row in found["rows"]}
    assert rows["mkl"]["folds"] == pytest.approx(scores.tolist(), abs=0.1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--scoring", "acuracy"), "Did you mean 'accuracy'"),
        (("--groups", "hospital"), "hospital"),
        (("--test", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_what_cannot_be_is_named(place, words, said):
    assert said in asked(place, *words, code=2 if words[0] == "--scoring" else 1).stderr


def test_options_of_data_need_data(place):
    for words in (("--test", "x.csv"), ("--cv", "3"), ("--groups", "patient")):
        assert f"{words[0]} goes with data" in call("report", place / "model", *words, code=2).stderr


def test_columns_of_groups_and_weights_are_not_told_to_be_without_use(place):
    ran = asked(place, "--groups", "patient", "--test", place / "cohort.csv")
    assert "not used of train.csv: 'w'." in ran.stderr and "not used of cohort.csv: 'w'." in ran.stderr
    ran = asked(place, "--groups", "patient", "--weights", "w")
    assert "not used of" not in ran.stderr


def test_a_part_that_was_asked_for_and_is_left_out_is_told(place):
    ran = asked(place, "--groups", "mood")
    assert "Left out: held_out: the data: folds need each class in at least 2 groups" in ran.stderr
