"""The numbers of an evaluation, computed again from outside by scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel import CombinedKernelClassifier, MKLClassifier
from multikernel.inspection import evaluate, f_test_5x2cv, holm
from multikernel.inspection.evaluation import Scores, answer
from multikernel.kernels import Linear
from multikernel.rules import MeanRule

_TEN = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)


def test_stability_is_that_of_refits_by_hand(classifier: Any, table: Any, of_classifier: Any) -> None:
    X, label, _ = table
    fits = [clone(classifier).fit(X.iloc[train], label[train]) for train, _ in _TEN.split(X, label)]
    weights = np.array([model.kernel_weights_ for model in fits])
    shares = weights / weights.sum(axis=1, keepdims=True)
    rows = of_classifier["stability"]["rows"]
    assert np.allclose([row["values"] for row in rows], shares.T)
    assert np.allclose([row["mean"] for row in rows], shares.mean(axis=0))
    assert np.allclose([row["sd"] for row in rows], shares.std(axis=0, ddof=1))
    assert np.allclose([row["low"] for row in rows], shares.min(axis=0))
    assert np.allclose([row["used"] for row in rows], (shares > 1e-9).mean(axis=0))
    own = classifier.kernel_weights_ / classifier.kernel_weights_.sum()
    assert np.allclose([row["share"] for row in rows], own)


def test_effects_are_differences_on_the_same_folds(
    classifier: Any, table: Any, views: Any, of_classifier: Any
) -> None:
    X, label, _ = table
    whole = cross_val_score(classifier, X, label, cv=_TEN)
    part = of_classifier["without_view"]
    assert part["score"] == pytest.approx(whole.mean()) and part["sd"] == pytest.approx(whole.std(ddof=1))
    pvalues = []
    for left_out, row in enumerate(part["rows"]):
        others = [view for k, view in enumerate(views) if k != left_out]
        scores = cross_val_score(clone(classifier).set_params(kernels=others), X, label, cv=_TEN)
        assert row["view"] == views[left_out].name and row["score"] == pytest.approx(scores.mean())
        assert row["effect"] == pytest.approx(whole.mean() - scores.mean())
        pvalues.append(f_test_5x2cv(whole.reshape(5, 2), scores.reshape(5, 2)).pvalue)
    assert np.allclose([row["p"] for row in part["rows"]], holm(pvalues))


def test_rivals_have_the_same_machine_and_folds(
    classifier: Any, table: Any, views: Any, of_classifier: Any
) -> None:
    X, label, _ = table
    machine = clone(classifier).set_params(kernels="precomputed")
    plain = CombinedKernelClassifier(MeanRule(), machine, views)
    rows = {row["name"]: row for row in of_classifier["baselines"]["rows"]}
    assert rows["plain sum"]["score"] == pytest.approx(cross_val_score(plain, X, label, cv=_TEN).mean())
    assert rows["learned"]["score"] == of_classifier["without_view"]["score"]
    for row in rows.values():
        assert row["difference"] == pytest.approx(rows["learned"]["score"] - row["score"])
    assert rows["learned"]["p"] is None and rows["learned"]["verdict"] is None


def test_held_out_predictions_are_those_of_cross_validation(
    classifier: Any, table: Any, of_classifier: Any
) -> None:
    X, label, _ = table
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    predicted = cross_val_predict(classifier, X, label, cv=folds)
    scores = cross_val_predict(classifier, X, label, cv=folds, method="decision_function")
    found = of_classifier["held_out"]
    assert found["confusion"]["counts"] == confusion_matrix(label, predicted).tolist()
    assert found["score"] == pytest.approx((predicted == label).mean())
    assert found["roc"]["curves"][0]["auc"] == pytest.approx(roc_auc_score(label == "no", scores))
    for point in of_classifier["embedding"]["points"]:
        assert point["predicted"] == predicted[point["row"]] and point["label"] == label[point["row"]]


def test_own_probabilities_are_those_of_the_model(classifier: Any, table: Any) -> None:
    X, label, _ = table
    model = clone(classifier).set_params(probability=True).fit(X, label)
    found = evaluate(model, X, label, parts=["held_out"], cv=2)["held_out"]["calibration"]
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    P = cross_val_predict(model, X, label, cv=folds, method="predict_proba")[:, 1]
    assert found["brier"] == pytest.approx(np.mean((P - (label == "no")) ** 2))
    assert "own" in found["how"]
    for each in found["bins"]:
        inside = np.minimum((10 * P).astype(int), 9) == int(min(10 * each["predicted"], 9))
        assert each["n"] == inside.sum() and each["predicted"] == pytest.approx(P[inside].mean())
        assert each["observed"] == pytest.approx((label == "no")[inside].mean())


def test_a_ready_made_stack_loses_the_right_kernel(stack: Any, table: Any) -> None:
    label = table[1]
    model = MKLClassifier("precomputed", C=2.0, costs=[1.0, 3.0], random_state=0).fit(stack, label)
    model.view_names_ = ["first", "second"]  # as a file may call them
    rows = evaluate(model, stack, label, parts=["without_view"])["without_view"]["rows"]
    for kept, row in zip((1, 0), rows, strict=True):
        alone = clone(model).set_params(costs=[model.costs[kept]])
        scores = cross_val_score(alone, stack[:, :, [kept]], label, cv=_TEN)
        assert row["score"] == pytest.approx(scores.mean())
    stable = evaluate(model, stack, label, parts=["stability"])["stability"]["rows"]
    assert [row["view"] for row in stable] == ["first", "second"]
    assert sum(row["mean"] for row in stable) == pytest.approx(1.0)


def test_a_pipeline_is_refitted_as_a_whole(table: Any) -> None:
    X, label, _ = table
    views = [("first", Linear(), [0]), ("others", Linear(), [1, 2])]
    model = make_pipeline(StandardScaler(), MKLClassifier(views, random_state=0)).fit(X, label)
    rows = evaluate(model, X, label, parts=["without_view"])["without_view"]["rows"]
    alone = clone(model).set_params(mklclassifier__kernels=views[1:])
    assert rows[0]["score"] == pytest.approx(cross_val_score(alone, X, label, cv=_TEN).mean())


def test_verdicts_speak_of_the_model() -> None:
    """Better by the same on all folds but for a little noise; and the rule of eight folds."""
    base = np.linspace(0.5, 0.6, 10).reshape(5, 2)
    noise = 0.01 * np.array([[1, -1], [-1, 1], [1, 0], [0, -1], [-1, 1]])
    folds = {"learned": base, "poor": base - 0.2 + noise, "good": base + 0.2 + noise, "same": base + noise}
    found = Scores(folds, {}, {}).against(["poor", "good", "same"])
    assert [found[name]["verdict"] for name in ("poor", "good", "same")] == ["better", "worse", "tie"]
    assert found["poor"]["difference"] == pytest.approx(0.2) and found["good"]["difference"] < 0


@pytest.mark.parametrize(
    ("verdicts", "head"),
    [
        (("better", "better"), "Learning the kernel helped:"),
        (("tie", "better"), "Learning the kernel helped in part:"),
        (("tie", "tie"), "It was not shown that learning the kernel helped:"),
        (("tie", "worse"), "Learning the kernel did not help:"),
    ],
)
def test_the_answer_says_what_the_verdicts_say(verdicts: tuple[str, str], head: str) -> None:
    rows: list[dict[str, Any]] = [{"name": "learned", "score": 0.9, "verdict": None}]
    for name, verdict in zip(("best single view", "plain sum"), verdicts, strict=True):
        rows.append({"name": name, "score": 0.8, "p": 0.01, "verdict": verdict})
    text = answer(rows, "accuracy")
    assert text.startswith(head) and "0.900" in text and "0.800" in text
    assert ("but on too few folds" in text) == ("tie" in verdicts)
