"""The part "why": what explain, view_shapley and feature_importance say, of all samples or of a cohort."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from multikernel import MKLClassifier, MKLRegressor, View
from multikernel.inspection import (
    USUAL_PARTS,
    cross_view_map,
    enriched_sets,
    evaluate,
    explain,
    feature_importance,
    select_views,
    view_shapley,
)
from multikernel.inspection.explaining import on_demand
from multikernel.inspection.learned import choose_rows
from multikernel.kernels import Gaussian, Linear
from multikernel.localized import LocalizedMKLClassifier
from multikernel.report import render_html, render_markdown, summarize
from multikernel.spectral import KernelKNNClassifier

VIEWS = [View("one", Linear(), ["a", "b"]), View("two", Gaussian(), ["c", "d"])]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 4)), columns=list("abcd"))
    X.index = [f"case {k}" for k in range(90)]
    signal = X["a"] + X["c"] ** 2 + rng.normal(size=90)
    return X, signal.to_numpy(), np.where(signal > 1, "ill", "well")


def why(model, X, y, **more):
    found = evaluate(model, X, y, parts="why", **more)
    summary = summarize(model, evaluation=found)
    json.dumps(summary, allow_nan=False)
    assert render_html(summary) and render_markdown(summary)
    return found["why"], {entry["why"] for entry in found["omitted"]}


def test_the_cohort_is_explained_where_there_is_one(data):
    X, _, y = data
    model = MKLClassifier(VIEWS).fit(X[:50], y[:50])
    found, omitted = why(model, X[:50], y[:50], X_test=X[50:], y_test=y[50:])
    whole = explain(model, X[50:], y[50:], X_train=X[:50], y_train=y[:50])
    worst = whole.worst()
    assert [row["id"] for row in found["rows"]] == worst.index.tolist() and not omitted
    assert np.allclose([row["error"] for row in found["rows"]], worst["error"])
    assert X.index[50:][found["rows"][0]["row"]] == worst.index[0]
    steps = whole.sample(worst.index[0])
    assert found["worst"]["waterfalls"][0] == found["rows"][0]["steps"]
    assert found["rows"][0]["steps"]["rows"] == [
        {"name": step["name"], "value": pytest.approx(step["value"])} for step in steps["rows"]
    ]
    for end in ("score", "low", "high"):
        assert found["rows"][0]["steps"][end] == pytest.approx(steps[end])
    assert (
        found["rows"][0]["nearest"]
        == whole.neighbors.set_index("sample").loc[worst.index[0], "support"].iloc[0]
    )
    assert found["shapley"]["rows"] == view_shapley(model, X[50:], y[50:]).to_dict()["rows"]
    columns = feature_importance(model, X[50:], method="sensitivity").top_features(5)
    assert [row["feature"] for row in found["columns"]["rows"]] == columns["feature"].tolist()
    assert found["on"] == "cohort" and "40 samples of the independent cohort" in found["protocol"]


def test_the_most_wrong_are_of_all_samples_even_where_few_are_shown(data):
    X, values, _ = data
    model = MKLRegressor(VIEWS).fit(X, values)
    folds = KFold(5, shuffle=True, random_state=0)
    refits = [(clone(model).fit(X.iloc[train], values[train]), test) for train, test in folds.split(X)]
    found, _ = why(model, X, values, max_points=20, cv=folds)
    missed = np.empty(len(X))
    for refit, test in refits:
        missed[test] = np.abs(refit.predict(X.iloc[test]) - values[test])
    order = np.argsort(-missed, kind="stable")[:10]
    assert [row["row"] for row in found["rows"]] == order.tolist()
    assert found["columns"]["n_samples"] == 20 and len(found["contributions"]["rows"]) == 20
    assert "Held-out samples: each of the 90 is explained by one of 5 refits" in found["protocol"]


def test_held_out_samples_are_explained_by_the_refit_that_has_not_seen_them(data):
    X, _, y = data
    model = MKLClassifier(VIEWS).fit(X, y)
    folds = list(StratifiedKFold(3).split(X, y))
    found, omitted = why(model, X, y, cv=folds)
    assert found["on"] == "held out" and not omitted
    refits = {k: clone(model).fit(X.iloc[train], y[train]) for k, (train, _) in enumerate(folds)}
    of_row = {row: k for k, (_, test) in enumerate(folds) for row in test}
    n_wrong = sum(
        int((refits[k].predict(X.iloc[test]) != y[test]).sum()) for k, (_, test) in enumerate(folds)
    )
    assert found["worst"]["n_wrong"] == n_wrong > 0
    for sample in found["rows"]:
        k = of_row[sample["row"]]
        train = folds[k][0]
        alone = explain(
            refits[k], X.iloc[[sample["row"]]], y[[sample["row"]]], X_train=X.iloc[train], y_train=y[train]
        )
        assert sample["id"] == X.index[sample["row"]]
        assert sample["steps"]["score"] == pytest.approx(alone.to_frame()["score"].iloc[0])
        assert sample["nearest"] == alone.neighbors["support"].iloc[0]
    for row in found["contributions"]["rows"]:
        score = refits[of_row[row["row"]]].decision_function(X.iloc[[row["row"]]])[0]
        assert row["score"] == pytest.approx(score)
    parts = [view_shapley(refits[k], X.iloc[test], y[test]).to_frame() for k, (_, test) in enumerate(folds)]
    sizes = np.array([len(test) for _, test in folds]) / len(X)
    for row in found["shapley"]["rows"]:
        mean = sum(size * part.loc[row["view"], "shapley"] for size, part in zip(sizes, parts, strict=True))
        assert row["shapley"] == pytest.approx(mean)


def test_of_many_views_orders_are_sampled_on_each_fold(data):
    X, _, y = data
    views = [View(f"{column}{k}", Linear(), [column]) for k in range(2) for column in "abcd"]
    found, _ = why(MKLClassifier(views, norm=2).fit(X, y), X, y, cv=StratifiedKFold(3))
    shapley = found["shapley"]
    assert shapley["n_permutations"] == 24
    gain = shapley["score"] - shapley["score_without"]
    assert sum(row["shapley"] for row in shapley["rows"]) == pytest.approx(gain)


def test_rows_without_ids_are_those_of_all_the_data(data):
    X, _, y = data
    X = X.reset_index(drop=True)
    model = MKLClassifier(VIEWS).fit(X, y)
    folds = list(StratifiedKFold(3).split(X, y))
    found, _ = why(model, X, y, cv=folds)
    seen = {row: set(map(str, train)) for train, test in folds for row in test}
    assert all(sample["nearest"] in seen[sample["row"]] for sample in found["rows"])


def test_the_same_by_a_store_in_json(data, tmp_path):
    X, _, y = data
    model = MKLClassifier(VIEWS).fit(X, y)
    first, _ = why(model, X, y, store=tmp_path / "folds.jsonl")
    assert why(model, X, y, store=tmp_path / "folds.jsonl")[0] == first


def test_without_folds_it_is_of_the_samples_of_the_fit_and_says_so(data):
    X, _, y = data
    rare = np.where(np.arange(90) == 3, "rare", y)
    found, _ = why(MKLClassifier(VIEWS).fit(X, rare), X, rare)
    assert found["on"] == "training" and "that it was fitted to" in found["protocol"]


def test_local_models_tell_their_gates(data):
    X, _, y = data
    model = LocalizedMKLClassifier(VIEWS, random_state=0).fit(X, y)
    found, _ = why(model, X, y, X_test=X[40:], y_test=y[40:])
    weights = model.sample_kernel_weights(X)
    for sample in found["rows"]:
        gates = [gate["value"] for gate in sample["steps"]["gates"]]
        assert gates == pytest.approx(weights[40 + sample["row"]])


def test_parts_on_demand_are_those_of_their_functions(data, monkeypatch):
    X, _, y = data
    model = MKLClassifier(VIEWS).fit(X, y)
    few = partial(enriched_sets, n_permutations=9)
    monkeypatch.setattr(on_demand, "enriched_sets", few)
    found = evaluate(model, X, y, parts=["selection", "enrichment", "cross_view"])
    assert not found["omitted"]
    assert found["selection"] == select_views(model, X, y, random_state=0).to_dict()
    assert found["enrichment"] == few(model, X, y, random_state=0).to_dict()
    of_map = cross_view_map(model, X).to_dict()
    assert {key: found["cross_view"][key] for key in of_map} == of_map
    assert found["cross_view"]["pairs"][0]["view"] == "one"
    grouped = evaluate(model, X, y, parts=["selection"], groups=np.arange(90) // 2)
    assert grouped["selection"] is None and "one group" in grouped["omitted"][0]["why"]
    assert not {"selection", "enrichment", "cross_view"} & set(USUAL_PARTS)


def test_parts_on_demand_draw_some_of_many_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 2))
    y = X[:, 0] > 0
    views = [View("a", Linear(), [0]), View("b", Linear(), [1])]
    model = MKLClassifier(views, tol=0.1).fit(X, y)
    found = evaluate(model, X, y, parts="selection")
    assert any("1000 of 1100 samples" in note for note in found["notes"])
    rows = choose_rows(y, "classification", 1000, 0, 1100)
    assert found["selection"] == select_views(model, X[rows], y[rows], random_state=0).to_dict()


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "shared"])
def test_of_several_classes_the_steps_are_those_of_the_class_predicted(data, multiclass):
    X, values, _ = data
    y = np.digitize(values, [0.5, 1.5])
    model = MKLClassifier(VIEWS, multiclass=multiclass).fit(X, y)
    found, _ = why(model, X, y, X_test=X, y_test=y)
    wrong = np.flatnonzero(model.predict(X) != y)
    assert {row["row"] for row in found["rows"]} <= set(wrong.tolist()) and wrong.size
    for row in found["rows"]:
        assert row["steps"] is None if multiclass == "ovo" else row["steps"]["machine"] == row["predicted"]


def test_where_nothing_is_wrong_the_closest_are_shown(data):
    X = data[0]
    y = X["a"] > 0
    model = MKLClassifier(VIEWS, C=1e4).fit(X, y)
    found, _ = why(model, X, y, X_test=X, y_test=y)
    assert found["worst"]["n_wrong"] == 0 and len(found["rows"]) == 3
    assert found["worst"]["answer"].startswith("None of 90 samples")


def test_what_cannot_be_said_is_left_out_with_a_reason(data):
    X, _, y = data
    grams = {
        "one": X.to_numpy() @ X.to_numpy().T,
        "two": np.exp(-(np.subtract.outer(X["a"].to_numpy(), X["a"].to_numpy()) ** 2)),
    }
    found, omitted = why(MKLClassifier("precomputed").fit(grams, y), grams, y)
    assert found["rows"] and found["shapley"] and found["columns"] is None
    assert any(reason.startswith("columns: ") for reason in omitted)
    nothing, omitted = why(KernelKNNClassifier(Gaussian()).fit(X, y), X, y)
    assert nothing is None and len(omitted) == 4
    local, _ = why(LocalizedMKLClassifier(VIEWS).fit(X, y), X, y)
    assert local is None or local["rows"]
