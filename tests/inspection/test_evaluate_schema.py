"""Every part has its keys, for every kind of model, in plain finite numbers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from multikernel.inspection import ALL_PARTS

_KEYS = {
    "stability": {"protocol", "rows", "answer"},
    "without_view": {"protocol", "metric", "score", "sd", "rows", "answer"},
    "baselines": {"protocol", "metric", "rows", "answer"},
    "held_out": {"protocol", "metric", "score", "majority", "balanced_accuracy"}
    | {"confusion", "roc", "calibration", "residuals"},
    "heat_maps": {"order", "groups", "maps"},
    "embedding": {"method", "explained", "points"},
    "gate": {"what", "views", "rows"},
}
_TEST = {"difference_sd", "p_alone", "better_folds", "worse_folds", "p", "verdict"}
_ROWS = {
    "stability": {"view", "share", "mean", "sd", "low", "high", "used", "values"},
    "without_view": {"view", "score", "sd", "effect", *_TEST},
    "baselines": {"name", "what", "score", "sd", "difference", *_TEST},
}
_TOP = {"task", "n_samples", "views", "classes", "omitted", "notes", *ALL_PARTS}


def check(found: dict[str, Any]) -> None:
    json.dumps(found, allow_nan=False)
    assert found.keys() == _TOP
    given = {part for part in ALL_PARTS if found[part] is not None}
    for part in given:
        assert found[part].keys() == _KEYS[part]
    for part in given & _ROWS.keys():
        assert all(row.keys() == _ROWS[part] for row in found[part]["rows"])
    told = {entry["part"] for entry in found["omitted"] if entry["why"]}
    assert set(ALL_PARTS) - given <= told


@pytest.mark.parametrize("kind", ["classifier", "regressor", "one_class"])
def test_schema(kind: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(f"of_{kind}")
    check(found)
    assert found["views"][:2] == ["a", "b"] and found["n_samples"] == 48


def test_what_a_classifier_has(of_classifier: dict[str, Any]) -> None:
    found = of_classifier
    assert found["task"] == "classes" and found["classes"] == ["<yes>", "no"]
    assert [part for part in ALL_PARTS if found[part] is None] == ["gate"]
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


def test_what_a_regressor_has(of_regressor: dict[str, Any]) -> None:
    held_out = of_regressor["held_out"]
    assert of_regressor["task"] == "values" and of_regressor["classes"] == []
    assert held_out["metric"] == "R²" and held_out["confusion"] is None and held_out["roc"] is None
    points = held_out["residuals"]["points"]
    assert len(points) == 30
    assert held_out["residuals"]["r2"] == pytest.approx(held_out["score"])
    assert all(np.isfinite(point["value"]) for point in of_regressor["embedding"]["points"])


def test_what_a_one_class_model_has(of_one_class: dict[str, Any]) -> None:
    assert of_one_class["task"] == "nothing"
    assert [part for part in ALL_PARTS if of_one_class[part]] == ["stability", "heat_maps", "embedding"]
    assert of_one_class["heat_maps"]["groups"] == []
