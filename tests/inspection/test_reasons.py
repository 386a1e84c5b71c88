"""The part "why": what explain, view_shapley and feature_importance say, of all samples or of a cohort."""

import json

import numpy as np
import pandas as pd
import pytest

from multikernel import MKLClassifier, MKLRegressor, View
from multikernel.inspection import evaluate, explain, feature_importance, view_shapley
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
    found, _ = why(model, X, values, max_points=20)
    missed = np.abs(model.predict(X) - values)
    order = np.argsort(-missed, kind="stable")[:10]
    assert [row["row"] for row in found["rows"]] == order.tolist()
    assert found["columns"]["n_samples"] == 20 and "views and columns on 20 of them" in found["protocol"]
    assert "that it was fitted to" in found["protocol"]


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "shared"])
def test_of_several_classes_the_steps_are_those_of_the_class_predicted(data, multiclass):
    X, values, _ = data
    y = np.digitize(values, [0.5, 1.5])
    model = MKLClassifier(VIEWS, multiclass=multiclass).fit(X, y)
    found, _ = why(model, X, y)
    wrong = np.flatnonzero(model.predict(X) != y)
    assert {row["row"] for row in found["rows"]} <= set(wrong.tolist()) and wrong.size
    for row in found["rows"]:
        assert row["steps"] is None if multiclass == "ovo" else row["steps"]["machine"] == row["predicted"]


def test_where_nothing_is_wrong_the_closest_are_shown(data):
    X = data[0]
    y = X["a"] > 0
    model = MKLClassifier(VIEWS, C=1e4).fit(X, y)
    found, _ = why(model, X, y)
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
    assert nothing is None and len(omitted) == 3
    local, _ = why(LocalizedMKLClassifier(VIEWS).fit(X, y), X, y)
    assert local is None or local["rows"]
