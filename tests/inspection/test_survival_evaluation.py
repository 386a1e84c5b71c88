"""`evaluate` and `compare` of survival models: rivals, verdicts on the C-index, held-out figures."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sksurv.linear_model import CoxPHSurvivalAnalysis

from multikernel import View, compare, evaluate
from multikernel.core.survival_targets import as_survival
from multikernel.datasets import make_survival_views
from multikernel.inspection import EventKFold, concordance_index
from multikernel.inspection.scoring import measure, scorers_for, task_of
from multikernel.kernels import Linear
from multikernel.survival import MKLSurvival, MKLSurvivalCV

DATA = make_survival_views(120, n_views=3, n_informative=1, n_columns=5, random_state=0)
X, Y = DATA.X, DATA.y
[BEST] = DATA.informative
VIEWS = [View(name, Linear(), columns) for name, columns in DATA.view_columns.items()]
MODEL = MKLSurvival(VIEWS, C=0.1).fit(X, Y)


@pytest.fixture(scope="module")
def found():
    return evaluate(MODEL, X, Y, parts=["stability", "without_view", "baselines", "held_out"])


def test_the_usual_rivals_are_judged_by_the_c_index(found):
    part = found["baselines"]
    assert found["task"] == "survival"
    assert part["metric"] == "C-index"
    assert [row["name"] for row in part["rows"]] == [
        "learned",
        "best single view",
        "plain sum",
        "elastic net",
    ]
    assert all(0.5 < row["score"] < 1.0 for row in part["rows"])
    assert all(row["low"] <= row["difference"] <= row["high"] for row in part["rows"][1:])
    assert "C-index" in part["answer"]
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_view_that_matters_is_missed(found):
    effects = {row["view"]: row["effect"] for row in found["without_view"]["rows"]}
    assert max(effects, key=effects.get) == BEST
    [row] = [row for row in found["without_view"]["rows"] if row["view"] == BEST]
    assert row["verdict"] == "better"


def test_held_out_figures(found):
    part = found["held_out"]
    assert part["concordance"]["index"] == pytest.approx(part["score"])
    assert part["concordance"]["low"] < part["score"] < part["concordance"]["high"]
    assert part["n_events"] == Y["event"].sum()
    assert sum(curve["n"] for curve in part["groups"]["curves"]) == 120
    assert part["brier"]["integrated"] < part["brier"]["integrated_reference"]


@pytest.mark.parametrize(
    "y", [pd.DataFrame(Y), {"status": Y["event"].astype(int), "months": Y["time"]}, (Y["event"], Y["time"])]
)
def test_targets_in_any_form(y):
    scores = [evaluate(MODEL, X, each, parts=["held_out"], cv=2)["held_out"]["score"] for each in (y, Y)]
    assert scores[0] == scores[1]


def test_a_search_and_a_model_without_curves():
    search = GridSearchCV(MKLSurvival(VIEWS, loss="ranking"), {"C": [0.1, 1.0]}, cv=EventKFold(2)).fit(X, Y)
    found = evaluate(search, X, Y, parts=["held_out", "baselines"], cv=2, baselines=["plain sum"])
    assert found["held_out"]["brier"] is None
    assert any("predicts no survival function" in each["why"] for each in found["omitted"])
    assert "C searched for within the training part" in found["baselines"]["rows"][1]["what"]


def test_a_cohort():
    new = make_survival_views(60, n_views=3, n_informative=1, n_columns=5, random_state=0)
    found = evaluate(MODEL, X, Y, X_test=new.X, y_test=new.y, parts=[])
    assert found["cohort"]["rows"][0]["metric"] == "C-index"


def test_few_events_are_stratified_or_refused():
    y = Y.copy()
    y["event"] = np.arange(120) < 6
    found = evaluate(MKLSurvival(VIEWS).fit(X, y), X, y, parts=["baselines"], baselines=["plain sum"])
    assert len(found["baselines"]["rows"]) == 2
    y["event"] = np.arange(120) < 1
    found = evaluate(MKLSurvival(VIEWS).fit(X, y), X, y, parts=["baselines"], baselines=["plain sum"])
    assert "at least 2 samples with an event; got 1" in found["omitted"][0]["why"]


def test_compare_survival_models_of_several_libraries():
    [columns] = [DATA.view_columns[BEST]]
    cox = make_pipeline(StandardScaler(), CoxPHSurvivalAnalysis(alpha=10.0))
    models = {"learned": MODEL, "one view": MKLSurvival([View(BEST, Linear(), columns)]), "cox": cox}
    assert task_of(cox) == "survival"
    found = compare(models, X, Y, baselines=["plain sum", "late fusion", "elastic net"], progress=False)
    frame = found.to_frame()
    assert {"learned", "one view", "cox"} < set(frame.index)
    assert frame.loc["one view", ("score", "mean")] > 0.6
    assert "C-index" in found.answer


@pytest.mark.parametrize(
    ("baselines", "words"),
    [
        (["tuned RBF SVM"], "does not apply: it predicts labels or values"),
        ([("svm", StandardScaler())], "must be an estimator of scikit-learn's kind"),
        ([("ridge", Ridge())], "must be a survival model"),
    ],
)
def test_rivals_of_other_tasks_are_refused(baselines, words):
    with pytest.raises((TypeError, ValueError), match=words):
        evaluate(MODEL, X, Y, parts=["baselines"], baselines=baselines)


def test_entry_times_leave_the_elastic_net_out():
    y = (Y["event"], Y["time"], 0.2 * Y["time"])
    found = evaluate(MKLSurvival(VIEWS).fit(X, y), X, y, parts=["baselines"], cv=2)
    assert [row["name"] for row in found["baselines"]["rows"]] == ["learned", "best single view", "plain sum"]
    assert any("does not support entry times" in each["why"] for each in found["omitted"])


def test_a_score_has_parts_by_sample_whose_mean_it_is():
    scorers = scorers_for("model", MODEL, {"C-index": None}, weighted=False)
    score, parts = measure(scorers, MODEL, X, Y)["C-index"]
    assert score == concordance_index(as_survival(Y), MODEL.predict(X))
    assert np.mean(parts) == pytest.approx(score, abs=1e-12)
    # a sample in wrong order with most others has a low part
    wrong = [int(np.argmin(parts)), int(np.argmax(parts))]
    risk, time = rankdata(MODEL.predict(X)), rankdata(-Y["time"])
    gaps = np.abs(risk - time)[wrong]
    assert gaps[0] > gaps[1]


def test_a_tuned_model_and_its_rivals_are_tuned_alike():
    model = MKLSurvivalCV(VIEWS, Cs=[0.1, 1.0], norms=[1.0], cv=2).fit(X, Y)
    found = evaluate(model, X, Y, parts=["baselines", "held_out"], cv=2, baselines=["plain sum"])
    assert [row["name"] for row in found["baselines"]["rows"]] == ["learned", "plain sum"]
    assert "tuned in the same way" in found["baselines"]["rows"][1]["what"]
    assert found["held_out"]["concordance"]["index"] > 0.6
