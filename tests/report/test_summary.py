"""The summary holds what the model holds, in plain Python, and refuses what it cannot read."""

import copy
import json

import numpy as np
import pytest

from multikernel import MKLRegressor
from multikernel.kernels import Linear
from multikernel.report import summarize
from tests.report.conftest import ToyClassifier


def test_weights_and_shares(model):
    assert summarize(model)["weights"] == [
        {"view": "sound", "weight": 0.6, "share": pytest.approx(0.75)},
        {"view": "image", "weight": 0.0, "share": 0.0},
        {"view": "text", "weight": 0.2, "share": pytest.approx(0.25)},
    ]


def test_convergence(model):
    convergence = summarize(model)["convergence"]
    assert convergence["history"][1] == {
        "machine": 0,
        "iteration": 2,
        "objective": 10.0625,
        "lower_bound": 10.0,
        "gap": 0.0625,
    }
    del convergence["history"]
    assert convergence == {
        "objective": 10.005,
        "dual_gap": 5e-4,
        "tol": 1e-3,
        "certified": True,
        "certificate": "optimality",
        "n_iter": 3,
        "status": "converged",
    }


@pytest.mark.parametrize(("gap", "certified"), [(1e-3, True), (1.1e-3, False), ([1e-4, 2e-3], False)])
def test_certified_means_that_the_worst_gap_is_within_tol(model, gap, certified):
    model.dual_gap_ = gap
    assert summarize(model)["convergence"]["certified"] is certified


def test_the_cost_of_a_prediction_is_told_where_the_model_tells_it(model):
    assert summarize(model)["prediction"] == {}
    model.total_cost_, model.support_ = np.float64(12.5), np.arange(40)
    assert summarize(model)["prediction"] == {"n_support": 40, "total_cost": 12.5}


def test_parameters_are_strings_without_the_kernels(model):
    assert summarize(model)["model"] == {
        "name": "ToyClassifier",
        "parameters": {"C": "10.0", "loss": "hinge", "norm": "inf", "tol": "0.001"},
    }


def test_json_takes_it_and_gives_it_back(model):
    comparison = [{"model": "learned", "accuracy": np.float32(0.5), "n": np.int64(3), "time": np.nan}]
    summary = summarize(model, comparison, notes=["one", "two"])
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["comparison"] == {
        "columns": ["model", "accuracy", "n", "time"],
        "rows": [["learned", 0.5, 3, None]],
    }
    assert summary["notes"] == ["one", "two"]
    assert summary["classes"] == ["3", "7"]


def test_the_model_is_left_as_it_was(model):
    before = copy.deepcopy(vars(model))
    summary = summarize(model)
    summary["convergence"]["history"].clear()
    np.testing.assert_equal(vars(model), before)


def test_figures_that_are_not_finite_become_none_and_no_weight_is_no_share():
    summary = summarize(ToyClassifier(["a", "b"], [0.0, 0.0], dual_gap_=np.inf, objective_=np.nan))
    assert [summary["convergence"][key] for key in ("dual_gap", "objective", "certified")] == [None] * 3
    assert [row["share"] for row in summary["weights"]] == [0.0, 0.0]


def test_machines_are_listed_where_they_have_weights_of_their_own():
    table = [[0.25, 0.75], [0.75, 0.25], [0.5, 0.5]]
    names = ["a vs b", "a vs c", "b vs c"]
    model = ToyClassifier(["x", "y"], [0.5, 0.5], machine_names_=names, machine_weights_=table)
    assert summarize(model)["machines"] == [
        {"machine": name, "weights": weights} for name, weights in zip(names, table, strict=True)
    ]
    model.machine_weights_ = np.full((3, 2), 0.5)
    assert summarize(model)["machines"] == []


def test_what_cannot_be_read_is_refused(model):
    with pytest.raises(ValueError, match=r"object has no kernel_weights_\. Call its fit first"):
        summarize(object())
    with pytest.raises(ValueError, match=r"each of the 2 views of ToyClassifier; got shape \(3,\)"):
        summarize(ToyClassifier(["a", "b"], [1.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match=r"row 0 has \['model', 'accuracy'\] and row 1 has \['model'\]"):
        summarize(model, [{"model": "a", "accuracy": 1}, {"model": "b"}])


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            {"task": "regression", "classes": []},
            "the task of ToyClassifier: classification, of the evaluation: regression",
        ),
        ({"views": ["a", "b"]}, r"the views of ToyClassifier: \['sound', 'image', 'text'\], of"),
        ({"classes": ["3", "8"]}, r"classes .*\['3', '7'\], of the evaluation: \['3', '8'\]"),
    ],
)
def test_the_evaluation_of_another_model_is_refused(model, other, message):
    own = {"task": "classification", "views": ["sound", "image", "text"], "classes": ["3", "7"]}
    assert summarize(model, evaluation=own)["evaluation"] == own
    assert summarize(model, evaluation=own | {"classes": ["3"]})  # data may lack a class
    with pytest.raises(ValueError, match=message):
        summarize(model, evaluation=own | other)


def test_the_evaluation_of_a_classifier_is_none_of_a_regressor():
    model = MKLRegressor([Linear()])
    model.kernel_weights_, model.view_names_ = np.ones(1), ["linear"]
    with pytest.raises(
        ValueError, match="the task of MKLRegressor: regression, of the evaluation: classification"
    ):
        summarize(model, evaluation={"task": "classification", "views": ["linear"]})
