"""Evaluations: numbers computed again from outside, keys of every part, reasons, runs that go on."""

import json

import numpy as np
import pandas as pd
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

from multikernel import CombinedKernelClassifier, MKLClassifier, MKLRidge
from multikernel.inspection import ALL_PARTS, USUAL_PARTS, evaluate, holm, repeated_cv_test
from multikernel.inspection.judging.evaluation import check_data
from multikernel.inspection.subject import subject_of
from multikernel.kernels import Gaussian, Linear
from multikernel.rules import SumRule
from multikernel.spectral import KernelKNNClassifier
from multikernel.transductive import TransductiveMKLClassifier
from multikernel.views import KernelBank

_TEN = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)


def test_stability_is_that_of_refits_by_hand(classifier, table, of_classifier):
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


def hits(model, X, y):
    """Whether each sample is predicted right in each of the five repetitions."""
    found = np.zeros((5, len(y)))
    for i, (train, test) in enumerate(_TEN.split(X, y)):
        predicted = clone(model).fit(X.iloc[train], y[train]).predict(X.iloc[test])
        found[i // 2, test] = predicted == y[test]
    return found


def test_effects_are_differences_on_the_same_folds(classifier, table, views, of_classifier):
    X, label, _ = table
    whole = cross_val_score(classifier, X, label, cv=_TEN)
    part = of_classifier["without_view"]
    assert part["score"] == pytest.approx(whole.mean()) and part["sd"] == pytest.approx(whole.std(ddof=1))
    pvalues, right = [], hits(classifier, X, label)
    for left_out, row in enumerate(part["rows"]):
        others = [view for k, view in enumerate(views) if k != left_out]
        scores = cross_val_score(clone(classifier).set_params(kernels=others), X, label, cv=_TEN)
        assert row["view"] == views[left_out].name and row["score"] == pytest.approx(scores.mean())
        assert row["effect"] == pytest.approx(whole.mean() - scores.mean())
        without = hits(clone(classifier).set_params(kernels=others), X, label)
        found = repeated_cv_test(right, without)
        assert (row["low"], row["high"]) == pytest.approx((found.low, found.high), abs=1e-9)
        pvalues.append(found.pvalue)
    assert np.allclose([row["p"] for row in part["rows"]], holm(pvalues))


def test_rivals_have_the_same_machine_and_folds(classifier, table, views, of_classifier):
    X, label, _ = table
    machine = clone(classifier).set_params(kernels="precomputed")
    plain = CombinedKernelClassifier(views, SumRule(), machine, normalize=False)
    rows = {row["name"]: row for row in of_classifier["baselines"]["rows"]}
    assert rows["plain sum"]["score"] == pytest.approx(cross_val_score(plain, X, label, cv=_TEN).mean())
    assert rows["learned"]["score"] == of_classifier["without_view"]["score"]
    for row in rows.values():
        assert row["difference"] == pytest.approx(rows["learned"]["score"] - row["score"])
    assert rows["learned"]["p"] is None and rows["learned"]["verdict"] is None


def test_held_out_predictions_are_those_of_cross_validation(classifier, table, of_classifier):
    X, label, _ = table
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    predicted = cross_val_predict(classifier, X, label, cv=folds)
    scores = cross_val_predict(classifier, X, label, cv=folds, method="decision_function")
    found = of_classifier["held_out"]
    assert found["confusion"]["counts"] == confusion_matrix(label, predicted).tolist()
    assert found["score"] == pytest.approx((predicted == label).mean())
    assert found["roc"]["curves"][0]["auc"] == pytest.approx(roc_auc_score(label == "no", scores))
    for point in of_classifier["embedding"]["points"]:
        assert point["predicted"] == predicted[point["row"]] and point["label"] == label[point["row"]]


def test_own_probabilities_are_those_of_the_model(classifier, table):
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


def test_a_ready_made_stack_loses_the_right_kernel(stack, table):
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


@pytest.mark.filterwarnings("ignore::multikernel.views.KernelWarning")
def test_notes_call_kernels_by_the_names_of_fit(table):
    X, label, _ = table
    views = [("wide", Gaussian(gamma=1.0), [0]), ("narrow", Gaussian(gamma=1e6), [1, 2])]
    stack = KernelBank(views).fit_transform(X)
    model = MKLClassifier("precomputed").fit(stack, label)
    piped = make_pipeline(KernelBank(views), MKLClassifier("precomputed")).fit(X, label)
    turned, expected = {"narrow": stack[:, :, 1], "wide": stack[:, :, 0]}, {}
    for fitted, given in ((model, stack), (model, np.asarray(stack)), (model, turned), (piped, X)):
        found = evaluate(fitted, given, label, parts=["stability", "baselines"])
        told = [note for note in found["notes"] if "nearly the identity" in note]
        assert told and all("kernel 'narrow'" in note for note in told)
        assert "kernel-0" not in json.dumps(found.to_dict())
        shares = {row["view"]: row["mean"] for row in found["stability"]["rows"]}
        assert list(shares) == ["wide", "narrow"]
        expected = shares if given is stack else expected
        assert shares == pytest.approx(expected, abs=0.05)  # a pipeline standardizes in each fold


def test_a_pipeline_is_refitted_as_a_whole(table):
    X, label, _ = table
    views = [("first", Linear(), [0]), ("others", Linear(), [1, 2])]
    model = make_pipeline(StandardScaler(), MKLClassifier(views, random_state=0)).fit(X, label)
    rows = evaluate(model, X, label, parts=["without_view"])["without_view"]["rows"]
    alone = clone(model).set_params(mklclassifier__kernels=views[1:])
    assert rows[0]["score"] == pytest.approx(cross_val_score(alone, X, label, cv=_TEN).mean())


def test_the_worst_predictions_are_those_of_all_samples(of_regressor, table):
    residuals = of_regressor["held_out"]["residuals"]
    missed = [abs(point["observed"] - point["predicted"]) for point in residuals["worst"]]
    assert len(missed) == 10 and missed == sorted(missed, reverse=True)
    assert np.sum(np.square(missed)) > 10 * residuals["rmse"] ** 2
    shown = [abs(point["observed"] - point["predicted"]) for point in residuals["points"]]
    assert missed[9] >= sorted(shown, reverse=True)[10]
    for point in (*residuals["worst"], *residuals["points"]):
        assert point["observed"] == table[2][point["row"]]


# ------------------------------------------------------------------ keys
_KEYS = {
    "stability": {"protocol", "rows", "answer"},
    "without_view": {"protocol", "metric", "score", "sd", "rows", "answer", "by_score"},
    "baselines": {"protocol", "metric", "rows", "answer", "by_score"},
    "overfitting": {"protocol", "rows", "support", "answer"},
    "held_out": {"protocol", "metric", "score", "majority", "balanced_accuracy", "by_score"}
    | {"confusion", "roc", "calibration", "residuals", "doubtful"},
    "heat_maps": {"order", "groups", "maps"},
    "embedding": {"method", "explained", "points"},
    "gate": {"what", "views", "rows"},
    "why": {"on", "n_samples", "protocol", "answer", "worst", "rows", "shapley", "columns", "contributions"},
}
_TEST = {"difference_sd", "low", "high", "p_alone", "better_folds", "worse_folds", "n_folds"} | {
    "p",
    "verdict",
}
_ROWS = {
    "stability": {"view", "share", "mean", "sd", "low", "high", "used", "values"},
    "without_view": {"view", "score", "sd", "effect", *_TEST},
    "baselines": {"name", "what", "score", "sd", "difference", *_TEST},
}
_TOP = {"task", "n_samples", "views", "classes", "data", "omitted", "notes", "cohort", *ALL_PARTS}


def check(found):
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.keys() == _TOP
    given = {part for part in ALL_PARTS if found[part] is not None}
    for part in given:
        assert found[part].keys() == _KEYS[part]
    for part in given & _ROWS.keys():
        assert all(row.keys() == _ROWS[part] for row in found[part]["rows"])
    told = {entry["part"] for entry in found["omitted"] if entry["why"]}
    assert set(USUAL_PARTS) - given <= told


@pytest.mark.parametrize("kind", ["classifier", "regressor", "one_class"])
def test_schema(kind, request):
    found = request.getfixturevalue(f"of_{kind}")
    check(found)
    assert found["views"][:2] == ["a", "b"] and found["n_samples"] == 48


def test_what_a_classifier_has(of_classifier):
    found = of_classifier
    assert found["task"] == "classification" and found["classes"] == ["<yes>", "no"]
    assert [part for part in USUAL_PARTS if found[part] is None] == ["gate"]
    names = [row["name"] for row in found["baselines"]["rows"]]
    assert names == ["learned", "best single view", "plain sum", "tuned RBF SVM"]
    held_out = found["held_out"]
    assert held_out["residuals"] is None and held_out["metric"] == "accuracy"
    [curve] = held_out["roc"]["curves"]
    assert curve["label"] == "no" and len(curve["false_positive"]) == len(curve["true_positive"]) <= 100
    assert sum(each["n"] for each in held_out["calibration"]["bins"]) == 48
    assert "sigmoid" in held_out["calibration"]["how"]
    assert len(found["embedding"]["points"]) == 30
    assert {point["label"] for point in found["embedding"]["points"]} == {"<yes>", "no"}
    assert {point["predicted"] for point in found["embedding"]["points"]} <= {"<yes>", "no"}


def test_what_a_regressor_has(of_regressor):
    held_out = of_regressor["held_out"]
    assert of_regressor["task"] == "regression" and of_regressor["classes"] == []
    assert held_out["metric"] == "R²" and held_out["confusion"] is None and held_out["roc"] is None
    points = held_out["residuals"]["points"]
    assert len(points) == 30
    assert held_out["residuals"]["r2"] == pytest.approx(held_out["score"])
    assert all(np.isfinite(point["value"]) for point in of_regressor["embedding"]["points"])


def test_what_a_one_class_model_has(of_one_class):
    assert of_one_class["task"] == "unsupervised"
    assert [part for part in ALL_PARTS if of_one_class[part]] == ["stability", "heat_maps", "embedding"]
    assert of_one_class["heat_maps"]["groups"] == []


# ------------------------------------------------------------------ reasons
class Fussy(MKLClassifier):
    """Cannot do with the view "b" alone, and counts its fits."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        if isinstance(self.kernels, list) and [view.name for view in self.kernels] == ["b"]:
            raise RuntimeError("b alone is not enough")
        return super().fit(X, y, sample_weight)


@pytest.fixture
def fussy(table, views):
    Fussy.fits = 0
    return Fussy(views[:2], random_state=0).fit(table[0], table[1])


def _why(found, part):
    assert found[part] is None
    return " ".join(entry["why"] for entry in found["omitted"] if entry["part"] == part)


def test_a_rare_class_leaves_no_folds(table, views):
    X, label, _ = table
    rare = np.where(np.arange(48) == 0, "rare", label).astype(object)
    model = MKLClassifier(views).fit(X, rare)
    found = evaluate(model, X, rare, max_points=20)
    for part in ("stability", "without_view", "baselines", "held_out"):
        assert "rare" in _why(found, part) and "given" not in _why(found, part)
    assert found["embedding"] is not None and "rare" in found["classes"]


def test_reasons(table, views, stack):
    X, label, value = table
    one = MKLClassifier(views[:1]).fit(X, label)
    assert "one view only" in _why(evaluate(one, X, label, parts=["without_view"]), "without_view")
    many = np.column_stack([value, -value])
    ridge = MKLRidge(views).fit(X, many)
    assert "one value a sample" in _why(evaluate(ridge, X, many, parts=["baselines"]), "baselines")
    labelled = TransductiveMKLClassifier("precomputed").fit(stack, label)
    assert "very samples that it labels" in _why(
        evaluate(labelled, stack, label, parts=["stability"]), "stability"
    )
    neighbours, refits = KernelKNNClassifier().fit(X, label), []
    found = evaluate(neighbours, X, label, parts=["stability"], progress=lambda *at: refits.append(at))
    assert "no weights of views" in _why(found, "stability") and refits == []
    with pytest.raises(TypeError, match="y must hold the labels or values"):
        evaluate(one, X, parts=["stability"])
    with pytest.raises(ValueError, match="parts must be one of 'stability'"):
        evaluate(one, X, label, parts=["stable"])


def test_one_failure_spoils_nothing_else(fussy, table):
    found = evaluate(fussy, table[0], table[1], parts=["stability", "without_view"])
    assert [row["view"] for row in found["without_view"]["rows"]] == ["b"]  # the other would be b alone
    [entry] = found["omitted"]
    assert entry["part"] == "without_view" and "view 'a'" in entry["why"]
    assert "b alone is not enough" in entry["why"] and found["stability"] is not None


def test_warnings_of_refits_become_notes(table, stack):
    model = MKLClassifier("precomputed", C=100.0, max_iter=50).fit(stack, table[1])
    model.set_params(max_iter=1, tol=1e-9)
    found = evaluate(model, stack, table[1], parts=["stability"])
    [note] = found["notes"]
    assert note.startswith("10 of 10 refits of 'learned'") and "max_iter" in note


# ------------------------------------------------------------------ stop and go on
def test_a_stopped_run_goes_on(fussy, table, tmp_path):
    X, label, _ = table
    store, before = tmp_path / "kept" / "refits.jsonl", X.copy()
    parts, seen = ["stability", "held_out"], []

    def stop(done, total):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        evaluate(fussy, X, label, parts=parts, store=store, progress=stop)
    assert "4 of 15 fits are kept" in stopped.value.__notes__[0]
    assert len(store.read_text().splitlines()) == 4
    Fussy.fits = 0
    found = evaluate(fussy, X, label, parts=parts, store=store, progress=lambda *at: seen.append(at))
    assert seen[0] == (4, 15) and seen[-1] == (15, 15)
    assert Fussy.fits == 6 + 5  # ten less four; five folds
    again = evaluate(fussy, X, label, parts=parts, store=store)
    assert Fussy.fits == 11 and again == found
    pd.testing.assert_frame_equal(X, before)
    assert evaluate(fussy, X, label, parts=parts) == found
    other = clone(fussy).set_params(C=0.01).fit(X, label)
    assert evaluate(other, X, label, parts=["stability"], store=store)["stability"] != found["stability"]


# ------------------------------------------------------------------ wrong input
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"y": ["no"] * 47}, "each of the 48 samples of X; got 47"),
        ({"y": np.arange(48) % 2}, "labels that the model was fitted to, '<yes>', 'no'; got 0, 1"),
        ({"random_state": None}, "random_state must be an integer"),
        ({"cv": 1}, "cv must be at least 2 folds; got 1"),
        ({"cv": [([0, 1, 2], [2, 3])] * 2}, "fold 0 has 1 in both, such as 2"),
        ({"cv": [([0, 1, 2], [99])]}, "cv must be a number of folds"),
        ({"groups": ["a"] * 47}, "one entry for each of the 48 samples; got 47"),
        ({"sample_weight": [1.0] * 47}, "sample_weight.shape"),
        ({"scoring": "f1"}, "takes the label 1 for the positive class, and y holds '<yes>', 'no'"),
        ({"scoring": "r2"}, "is a score of values, and y holds labels"),
        ({"max_points": 0}, "max_points must be a whole number"),
        ({"rows": 40}, "the 47 samples that the model was fitted to; got 40"),
    ],
)
def test_wrong_input(given, told, classifier, table):
    given = dict(given)
    rows = given.pop("rows", 48)
    y = given.pop("y", table[1][:rows])
    with pytest.raises(ValueError, match=told.replace("(", r"\(")):
        evaluate(classifier, table[0][:rows], y, **given)


def test_targets_in_one_column_are_a_vector(classifier, table):
    X, label, _ = table
    found = check_data(subject_of(classifier), X, pd.DataFrame({"y": label}))
    assert found.shape == (48,) and (found == label).all()
