"""Independent cohorts, and the object that an evaluation is."""

import json

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.metrics import accuracy_score, roc_auc_score

from multikernel import KernelBank, MKLClassifier, MKLOneClass, MKLRidge, View, evaluate
from multikernel.inspection import Evaluation, explain
from multikernel.kernels import Gaussian, Linear
from multikernel.report import render_html, render_markdown, summarize

matplotlib.use("Agg")
RNG = np.random.default_rng(1)
LABEL = np.array(["no", "yes"])[np.arange(90) % 2]
TABLES = {
    name: RNG.normal(size=(90, 3)) + shift * (LABEL == "yes")[:, None]
    for name, shift in (("mrna", 0.9), ("mirna", 0.6), ("protein", 0.7))
}
TRAIN = {name: table[:60] for name, table in TABLES.items()}
TEST = {name: table[60:] for name, table in TABLES.items()}
Y, Y_TEST = LABEL[:60], LABEL[60:]
KERNELS = {"mrna": Linear(), "mirna": Linear(), "protein": Linear()}


@pytest.fixture(scope="module")
def model():
    return MKLClassifier(KernelBank(KERNELS, missing="renormalize")).fit(TRAIN, Y)


@pytest.fixture(scope="module")
def found(model):
    return evaluate(
        model,
        TRAIN,
        Y,
        X_test=TEST,
        y_test=Y_TEST,
        parts=["held_out", "overfitting", "learning_curve"],
        scoring=["accuracy", "roc_auc"],
    )


def test_scores_of_a_cohort_have_intervals_beside_held_out_scores(model, found):
    first, second = found["cohort"]["rows"]
    assert first["score"] == pytest.approx(accuracy_score(Y_TEST, model.predict(TEST)))
    assert second["score"] == pytest.approx(roc_auc_score(Y_TEST == "yes", model.decision_function(TEST)))
    for row, name in ((first, "accuracy"), (second, "ROC AUC")):
        assert row["metric"] == name and row["low"] < row["score"] < row["high"]
    assert first["held_out"] == pytest.approx(found["held_out"]["by_score"][0]["score"])
    right = model.predict(TEST) == Y_TEST
    error = np.sqrt(right.var() / 30)
    assert first["high"] - first["low"] == pytest.approx(2 * 1.96 * error, rel=0.25)
    assert np.sum(found["cohort"]["confusion"]["counts"]) == 30 == found["cohort"]["n_samples"]
    assert found.summary.startswith("On 30 samples of an independent cohort, accuracy is")


def test_views_that_a_cohort_lacks_are_handled_as_the_bank_says(model):
    fewer = {name: table for name, table in TEST.items() if name != "protein"}
    told = evaluate(model, TRAIN, Y, X_test=fewer, y_test=Y_TEST, parts=[])["cohort"]
    assert told["lacking"] == ["protein"] and "lacks the view 'protein'" in told["answer"]
    assert told["rows"][0]["score"] == pytest.approx(accuracy_score(Y_TEST, model.predict(fewer)))
    strict = MKLClassifier(KERNELS).fit(TRAIN, Y)
    with pytest.raises(ValueError, match=r"cohort X_test cannot be scored.*missing='renormalize'"):
        evaluate(strict, TRAIN, Y, X_test=fewer, y_test=Y_TEST)


@pytest.mark.filterwarnings("ignore:Only one class")
def test_a_score_that_a_cohort_cannot_have_is_told_as_not_defined(model):
    one = Y_TEST == "yes"
    asked = {"X_test": {name: table[one] for name, table in TEST.items()}, "y_test": Y_TEST[one]}
    found = evaluate(model, TRAIN, Y, **asked, parts=["held_out"], scoring=["roc_auc", "accuracy"])
    first, second = found["cohort"]["rows"]
    assert (first["score"], first["low"], first["high"]) == (None, None, None) and second["low"] is not None
    assert found["cohort"]["answer"] == "On 15 samples of an independent cohort, ROC AUC is not defined."
    why = "ROC AUC: it is not defined for the samples of the cohort"
    assert {"part": "cohort", "why": why} in found["omitted"]
    assert "nan" not in render_markdown(summarize(model, evaluation=found))


def test_a_cohort_of_values():
    values = TRAIN["mrna"].sum(axis=1)
    ridge = MKLRidge([View("all", Gaussian())]).fit(TRAIN["mrna"], values)
    told = evaluate(
        ridge, TRAIN["mrna"], values, X_test=TEST["mrna"], y_test=TEST["mrna"].sum(axis=1), parts=["held_out"]
    )["cohort"]
    row = told["rows"][0]
    assert row["metric"] == "R²" and row["low"] < row["score"] < row["high"] and told["confusion"] is None


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"X_test": TEST}, TypeError, "X_test needs y_test"),
        ({"y_test": Y_TEST}, TypeError, "y_test needs X_test"),
        ({"X_test": TEST, "y_test": Y_TEST[:3]}, ValueError, "for each of the 30 samples; got 3"),
        (
            {"X_test": TEST, "y_test": ["maybe"] * 30},
            ValueError,
            "labels that the model knows, 'no', 'yes'; got",
        ),
    ],
)
def test_cohorts_that_do_not_fit_are_refused(model, given, error, said):
    with pytest.raises(error, match=said):
        evaluate(model, TRAIN, Y, **given)


def test_texts_are_no_values():
    X, values = TRAIN["mrna"], TRAIN["mrna"][:, 0]
    model = MKLRidge([Linear()]).fit(X, values)
    for given in ({"y": Y}, {"y": values, "X_test": TEST["mrna"], "y_test": Y_TEST}):
        with pytest.raises(ValueError, match=r"must hold numbers, as those .* 'no'"):
            evaluate(model, X, **given)
    with pytest.raises(ValueError, match="y must hold numbers"):
        explain(model, X, Y)


def test_models_without_a_target_have_no_cohort():
    novelty = MKLOneClass([View("all", Gaussian())]).fit(TRAIN["mrna"])
    with pytest.raises(TypeError, match="MKLOneClass has no score"):
        evaluate(novelty, TRAIN["mrna"], X_test=TEST["mrna"], y_test=Y_TEST)


# ------------------------------------------------------------------ the object
def test_an_evaluation_is_a_mapping_with_a_sentence_tables_and_pictures(found):
    assert isinstance(found, Evaluation) and found == found.to_dict() and dict(found) == found.to_dict()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)).keys() == found.keys()
    assert found.parts == ["held_out", "overfitting", "learning_curve", "cohort"]
    assert str(found) == found.summary and repr(found).startswith("<Evaluation: held_out,")
    assert found.to_frame().loc["accuracy", "train"] == pytest.approx(
        found["overfitting"]["rows"][0]["train"]
    )
    assert found.to_frame("learning_curve").index.tolist() == [10, 19, 29, 38, 48]
    assert found.to_frame("cohort").loc["ROC AUC", "high"] <= 1.0
    assert "<table" in found._repr_html_() and "independent cohort" in found._repr_html_()
    axes = found.plot("learning_curve")
    assert axes.get_xlabel() == "training samples"
    assert found.plot("held_out").get_title() and found.plot() is not None
    with pytest.raises(ValueError, match="the part 'cohort' has no picture"):
        found.plot("cohort")
    with pytest.raises(ValueError, match="part must be one of"):
        found.to_frame("stability")
    pyplot.close("all")


def test_rivals_and_views_are_one_table():
    model = MKLClassifier([("a", Linear(), [0]), ("b", Linear(), [1, 2])]).fit(TRAIN["mrna"], Y)
    whole = evaluate(model, TRAIN["mrna"], Y, parts=["without_view", "baselines"], baselines=["plain sum"])
    frame = whole.to_frame()
    assert set(frame.index) == {"learned", "plain sum", "without a", "without b"}
    assert frame["score"].is_monotonic_decreasing and isinstance(frame, pd.DataFrame)
    assert whole.summary == whole["baselines"]["answer"]
    assert whole.plot().get_xlabel().startswith("accuracy")
    pyplot.close("all")


def test_a_report_shows_them(model, found):
    summary = summarize(model, evaluation=found)
    page, text = render_html(summary), render_markdown(summary)
    for heading in ("Independent cohort", "Training beside held-out scores", "Learning curve"):
        assert f">{heading}</h2>" in page and f"## {heading}" in text
    assert "On 30 samples of an independent cohort" in page
