"""Reports of models as they are really fitted: every attribute that a report reads is there."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import multikernel as mk
from multikernel.bayesian import BayesianMKLClassifier, BayesianMKLRegressor
from multikernel.boosting import ColumnBoostingClassifier, ColumnBoostingRegressor
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.kernels import Gaussian, Linear
from multikernel.localized import (
    LocalizedMKLOneClass,
    ProjectionKernelClassifier,
    ProjectionKernelOneClass,
    ProjectionKernelRegressor,
)
from multikernel.mkl import RegularizedMKLClassifier
from multikernel.nonstationary import NonstationaryClassifier
from multikernel.report import render_html, render_markdown, summarize
from multikernel.rules import GeneralMKL, KLDivergence, MarginMKL
from multikernel.soft_labels import PosteriorSVC
from multikernel.spectral import KernelKNNClassifier
from tests.raw import raw

VIEWS = [("first two", Linear(), [0, 1]), ("last two", Gaussian(), [2, 3])]


X, Y = load_iris(return_X_y=True)
DIABETES = tuple(part[:100] for part in load_diabetes(return_X_y=True))
CLASSIFIERS = {
    name: mk.MKLClassifier(VIEWS, multiclass=name) for name in ("shared", "ovr", "ovo", "joint")
} | {
    "discriminant": KernelDiscriminantClassifier(VIEWS),
    "posterior": PosteriorSVC(VIEWS),
    "regularized": RegularizedMKLClassifier(VIEWS, cv=3, max_steps=2),
    "nonstationary": NonstationaryClassifier(VIEWS),
    "localized": mk.LocalizedMKLClassifier(VIEWS),
    "localized, one gate": mk.LocalizedMKLClassifier(VIEWS, multiclass="joint"),
    "columns": ColumnBoostingClassifier(VIEWS),
    "columns, mark": ColumnBoostingClassifier(VIEWS, method="mark"),
    "bayesian": BayesianMKLClassifier(VIEWS),
}
REGRESSORS = {
    "regressor": mk.MKLRegressor(VIEWS),
    "ridge": mk.MKLRidge(VIEWS),
    "localized regressor": mk.LocalizedMKLRegressor(VIEWS),
    "columns of values": ColumnBoostingRegressor(VIEWS),
    "bayesian regressor": BayesianMKLRegressor(VIEWS),
    "combined regressor": mk.CombinedKernelRegressor(VIEWS, MarginMKL()),
}
ONE_CLASS = {"one class": mk.MKLOneClass(VIEWS), "localized one class": LocalizedMKLOneClass(VIEWS)}


def check_report(model, names=("first two", "last two")):
    summary = summarize(model)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert [row["view"] for row in summary["weights"]] == list(names)
    np.testing.assert_array_equal([row["weight"] for row in summary["weights"]], model.kernel_weights_)
    assert summary["convergence"]["certified"]
    assert summary["convergence"]["dual_gap"] == model.dual_gap_
    assert len(summary["convergence"]["history"]) == len(model.history_) > 0
    assert names[0] in render_html(summary)
    assert names[0] in render_markdown(summary)


@pytest.mark.filterwarnings("ignore:.*has collapsed:UserWarning")  # the gate of one class
@pytest.mark.parametrize("name", CLASSIFIERS | REGRESSORS | ONE_CLASS)
def test_a_model_is_reported(name):
    data = DIABETES if name in REGRESSORS else (X, Y) if name in CLASSIFIERS else (X,)
    check_report((CLASSIFIERS | REGRESSORS | ONE_CLASS)[name].fit(*data))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            NonstationaryClassifier(VIEWS),
            ("what a further turn could reach", "another start may end lower"),
        ),
        (mk.LocalizedMKLClassifier(VIEWS), ("the best machines for the kernel that was learned",)),
    ],
)
def test_a_model_that_is_not_convex_is_not_called_the_best_possible(model, said):
    summary = summarize(model.fit(X[:100], Y[:100]))
    page = render_html(summary)
    for text in (page, render_markdown(summary)):
        assert all(part in text for part in said)
        assert "of the best possible." not in text and "lower bound" not in text.lower()
    if isinstance(model, mk.LocalizedMKLClassifier):
        assert "a lower objective is not a better predictor" in page
        assert "Relative duality gap of the machines after" in page and "stationary point" not in page


PROJECTIONS = {
    "one region": ProjectionKernelClassifier(),
    "classifier": ProjectionKernelClassifier(n_regions=2, n_components=1, multiclass="ovr"),
    "sigmoid": ProjectionKernelClassifier(n_regions=2, n_components=1, gating="sigmoid"),
    "regressor": ProjectionKernelRegressor(n_regions=2, n_components=1),
    "one class": ProjectionKernelOneClass(n_regions=2, n_components=1, tol=0.5),
}


@pytest.mark.parametrize("name", PROJECTIONS)
def test_projections_are_reported_by_region(name):
    model = PROJECTIONS[name].fit(X, Y)
    regions = [f"region{m}" for m in range(len(model.kernel_weights_))]
    check_report(model, regions)
    # A row that is there twice is one sample of the solver, and counts twice in the mean.
    np.testing.assert_allclose(model.kernel_weights_, model.sample_kernel_weights(X).mean(axis=0), rtol=1e-12)
    n_machines = len(model.dual_coef_)
    np.testing.assert_array_equal(model.machine_weights_, np.tile(model.kernel_weights_, (n_machines, 1)))
    assert len(model.machine_names_) == n_machines
    assert summarize(model)["machines"] == []
    frame = model.weights_frame()
    assert frame.index.tolist() == regions == model.view_names_
    np.testing.assert_array_equal(frame["weight"], model.kernel_weights_)


def test_weights_of_samples_weigh_the_mean_gate_of_regions():
    weights = np.random.default_rng(0).uniform(0.2, 3.0, size=150)
    model = ProjectionKernelClassifier(n_regions=2, n_components=1).fit(X, Y, weights)
    expected = np.average(model.sample_kernel_weights(X), axis=0, weights=weights)
    np.testing.assert_allclose(model.kernel_weights_, expected, rtol=1e-12)


@pytest.mark.parametrize("learner", [MarginMKL(), GeneralMKL(combination="product"), KLDivergence()])
def test_a_learner_under_a_machine_is_reported_with_its_certificate(learner):
    views = [("first two", Gaussian(), [0, 1]), ("last two", Gaussian(), [2, 3])]
    model = mk.CombinedKernelClassifier(views, learner).fit(X, Y)
    check_report(model)
    summary = summarize(model)
    stationary = isinstance(learner, GeneralMKL)
    assert summary["convergence"]["certificate"] == ("stationarity" if stationary else "optimality")
    assert ("another start may end lower" in render_html(summary)) == stationary


def test_machines_with_weights_of_their_own_are_named_by_their_classes():
    model = mk.MKLClassifier(VIEWS, multiclass="ovo").fit(X, Y)
    machines = summarize(model)["machines"]
    assert [row["machine"] for row in machines] == ["0 vs 1", "0 vs 2", "1 vs 2"]
    np.testing.assert_array_equal([row["weights"] for row in machines], model.machine_weights_)


def test_negative_weights_are_shown_as_such():
    model = SimpleNamespace(kernel_weights_=np.array([1.5, -0.5, 0.0]), view_names_=["one", "two", "three"])
    summary = summarize(model)
    assert [row["share"] for row in summary["weights"]] == [0.75, -0.25, 0.0]
    page = render_html(summary)
    assert page.count('class="bar negative" style="width: 33.33%"') == 1
    assert "2 of 3 views are used" in page


def test_a_model_on_one_kernel_is_reported_without_weights():
    summary = summarize(KernelKNNClassifier().fit(X, Y))
    assert summary["weights"] == [] and summary["model"]["name"] == "KernelKNNClassifier"
    page, markdown = render_html(summary), render_markdown(summary)
    assert "KernelKNNClassifier learns no kernel weights." in page
    assert 'id="weights"' not in page and 'id="convergence"' not in page and "## Weights" not in markdown


def test_a_pipeline_and_a_search_are_reported_by_the_model_in_them():
    scaled = make_pipeline(StandardScaler(), mk.MKLClassifier(VIEWS, multiclass="shared")).fit(X[::3], Y[::3])
    expected = summarize(scaled[-1])
    assert expected["weights"] and expected["model"]["name"] == "MKLClassifier"
    assert summarize(scaled) == summarize(SimpleNamespace(best_estimator_=scaled)) == expected


def test_the_headline_names_the_view_of_the_largest_share():
    """Weights of discriminant analysis depend on the scale of the kernels, shares do not."""
    views = [("large", Linear() * 1e6, [2, 3]), ("small", Linear() * 1e-6, [0])]
    model = KernelDiscriminantClassifier(raw(views)).fit(X, Y)
    assert model.kernel_weights_[0] < model.kernel_weights_[1]
    assert model.kernel_shares_[0] > model.kernel_shares_[1]
    assert render_markdown(summarize(model)).split("\n\n")[1].startswith("large carries most of the weight")
