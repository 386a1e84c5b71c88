"""What reads a fitted model reads one on factors: tables, reports, evaluations, pictures, files, commands."""

import json

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

from multikernel import KernelBank, MKLClassifier, MKLRegressor, View, load_model, save_model, viz
from multikernel.cli import app
from multikernel.core.low_rank import LowRankWarning
from multikernel.inspection import evaluate, learned_kernel
from multikernel.inspection.rivals import baselines
from multikernel.inspection.subject import subject_of
from multikernel.kernels import Gaussian, Linear
from multikernel.mkl import cost_path, working_sets
from multikernel.report import render_html, render_markdown, summarize
from multikernel.views.low_rank import view as choice
from tests.mkl.data import VIEWS, make_binary, make_regression, make_three

X, Y = make_binary(120)


@pytest.fixture(scope="module")
def model():
    """One view of random features, one without weight."""
    views = [
        View("signal", Gaussian(0.5), [0, 1], transforms="center", approximation="cholesky", rank=0.05),
        View("line", Linear(), [2], standardize=True),
        View("fourier", Gaussian(0.5), [0, 2], approximation="random_features", rank=10),
        View("noise", Linear(), [3], transforms="unit_trace"),
    ]
    model = MKLClassifier(views, costs=[1.0, 2.0, 1.0, 20.0]).fit(X, Y)
    assert model.kernel_weights_[3] == 0.0 and (model.kernel_weights_[:3] > 0.01).all()
    return model


def test_weights_and_costs(model):
    frame = model.weights_frame()
    assert frame.index.tolist() == ["signal", "line", "fourier", "noise"]
    np.testing.assert_array_equal(frame["weight"], model.kernel_weights_)
    rank = model.approximation_["rank"]
    assert rank["line"] == 1 and rank["fourier"] == 10 and model.coef_.shape == (1, rank[:3].sum())
    np.testing.assert_allclose(model.total_cost_, (rank["signal"] + 2 * 1 + 10) / 24)
    Z = model._prediction_bank.transform(X[[3, 7, 50]])
    weights = np.repeat(model.kernel_weights_, model._prediction_bank.ranks_)
    np.testing.assert_allclose(learned_kernel(model, X, rows=[3, 7, 50]), (Z * weights) @ Z.T, atol=1e-12)


def test_the_display_and_the_report_tell_of_factors(model):
    html = model._repr_html_()
    columns = model.approximation_["rank"].sum()
    assert f"{columns} columns of 4 views, relative trace error at most" in html
    assert "support samples" not in html
    summary = summarize(model)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["prediction"] == {"rank": columns - 1, "total_cost": model.total_cost_}
    assert summary["approximation"][2] == {
        "view": "fourier", "approximation": "random_features", "rank": 10, "trace_error": None,
    }  # fmt: skip
    for text in (render_html(summary), render_markdown(summary)):
        assert "Factors of each view" in text and "random features" in text
    assert f"A prediction computes {columns - 1} columns of factors" in render_html(summary)
    assert "Factors" not in render_markdown(summarize(MKLClassifier(VIEWS).fit(X, Y)))


def test_an_evaluation_goes_the_way_of_the_fit(model, monkeypatch):
    ways = []
    fit = MKLClassifier.fit

    def noted(self, *arguments):
        fit(self, *arguments)
        ways.append(self.gram_)
        return self

    monkeypatch.setattr(MKLClassifier, "fit", noted)
    found = evaluate(model, X, Y, parts=["held_out"], cv=2)["held_out"]
    assert found["score"] > 0.8 and set(ways) == {"low_rank"}
    simple = ["best single view", "plain sum"]
    rivals = evaluate(model, X, Y, parts=["baselines"], baselines=simple)["baselines"]["rows"]
    assert [row["name"] for row in rivals][1:] == ["best single view", "plain sum"]
    assert rivals[0]["score"] > 0.8 and rivals[2]["score"] > 0.7  # whole Gram matrices of the same views
    found = evaluate(model, X, Y, parts=["heat_maps"], max_points=20)["heat_maps"]["maps"]
    assert {part["name"] for part in found[1:]} == {"signal", "line", "fourier"}, "those with weight"
    monkeypatch.setattr(baselines, "LARGEST_DENSE", 50)  # rivals of more rows than a stack takes
    found = evaluate(model, X, Y, parts=["baselines"])
    assert found["baselines"] is None
    assert "need whole Gram matrices of half of the 120 samples" in found["omitted"][0]["why"]


def test_refits_to_fewer_rows_go_the_way_of_the_fit(monkeypatch):
    monkeypatch.setattr(choice, "LARGEST_DENSE", 100)
    monkeypatch.setattr(working_sets, "LARGEST_TABLE", 0)  # factors, and no working sets
    with pytest.warns(LowRankWarning):
        model = MKLClassifier(VIEWS).fit(X, Y)
    assert subject_of(model).fresh().fit(X[:60], Y[:60]).gram_ == "low_rank"
    model = MKLClassifier(KernelBank(VIEWS, rank=10, gram="low_rank")).fit(X, Y)
    rival, _ = baselines.same_machine(subject_of(model))
    assert rival.fit(X[:60] @ X[:60].T, Y[:60]).gram_ == "dense", "on a precomputed kernel"


def test_pictures(model):
    for draw in (viz.weights, viz.convergence):
        assert draw(model, ax=Figure().subplots()) is not None
    viz.contributions(model, X[:1], ax=Figure().subplots())
    plane = MKLClassifier(KernelBank([Gaussian(0.5), Linear()], gram="low_rank", rank=10)).fit(X[:, :2], Y)
    viz.decision_regions(plane, X[:, :2], Y, ax=Figure().subplots())


def test_a_saved_model_says_the_same(model, tmp_path):
    again = load_model(save_model(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.contributions(X), model.contributions(X))
    pd.testing.assert_frame_equal(again.approximation_, model.approximation_)
    needed = str(model.memory_).split(";")[:-1]  # what is available is that of the day
    assert str(again.memory_).split(";")[:-1] == needed and needed


def test_costs_are_traded_on_factors():
    estimator = MKLRegressor(KernelBank(VIEWS, gram="low_rank", rank=10))
    path = cost_path(estimator, *make_regression(90), {"signal": 4.0}, exponents=[0, 2], cv=3)
    assert (path.table["n_support"] <= 10).all() and (path.table["n_support"] > 1).all()
    last = estimator.set_params(costs=path.costs_at(0.0)).fit(*make_regression(90))
    np.testing.assert_allclose(path.cost_of(last), last.approximation_["rank"].to_numpy() @ [4, 1, 1] / 6)


def test_the_command_line_fits_and_predicts_on_factors(tmp_path):
    table, y = make_three(60)
    frame = pd.DataFrame(table, columns=list("abcd")).assign(kind=y)
    frame.to_csv(tmp_path / "train.csv", index=False)
    command = ["fit", "train.csv", "-y", "kind", "-o", "model", "--set", "gram=low_rank", "--set", "rank=10"]
    call = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert call.invoke(app, command).exit_code == 0
        predicted = call.invoke(app, ["predict", "model", "train.csv"])
    assert predicted.exit_code == 0 and len(predicted.stdout.splitlines()) == 61
    record = json.loads((tmp_path / "model" / "fit.json").read_text())
    assert record["summary"]["approximation"][0]["rank"] <= 10
