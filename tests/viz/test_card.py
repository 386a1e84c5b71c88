"""Fitted models in a notebook: scikit-learn's diagram, and what was learned below it."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel import MKLClassifier
from multikernel.rules import EasyMKL, MeanRule
from multikernel.spectral import KernelKNNClassifier
from multikernel.views import as_views
from multikernel.viz.card import fitted_html, html_inner, mimebundle, params_html
from tests.mkl.data import VIEWS, make_binary
from tests.public import public_estimators

HOSTILE = ["<script>alert(1)</script>", "a & \"b\" 'c'", "{0} %s"]


@pytest.fixture(scope="module")
def model():
    X, y = make_binary()
    views = [replace(view, name=name) for name, view in zip(HOSTILE, as_views(VIEWS), strict=True)]
    return MKLClassifier(views).fit(X, y)


class Cells(HTMLParser):
    """The rows of all tables as a browser reads them, and all tags with their attributes."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.tags = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("tr", "caption"):
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def table_of(model):
    return Cells(fitted_html(model))


def facts_of(model):
    return {row[0]: row[1] for row in table_of(model).rows if len(row) == 2}


class Fitted(BaseEstimator):
    """Stands for models that take long to fit."""

    _repr_html_inner = html_inner
    _repr_mimebundle_ = mimebundle

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def fit(self, X, y=None):
        return self


# ---------------------------------------------------------------------- where it stands
def test_the_diagram_stays_and_the_table_of_a_fitted_model_is_below_it(model):
    own = fitted_html(model)
    for page, unfitted in (
        (model._repr_html_(), clone(model)._repr_html_()),
        (model._repr_mimebundle_()["text/html"], clone(model)._repr_mimebundle_()["text/html"]),
    ):
        assert page.endswith(own) and "sk-top-container" in page[: -len(own)]
        assert "sk-top-container" in unfitted and "multikernel-fitted" not in unfitted
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_shown_twice_no_id_clashes(model):
    both = Cells(model._repr_html_() + model._repr_html_())
    ids = [attributes["id"] for _, attributes in both.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    own = table_of(model)
    assert not [tag for tag, attributes in own.tags if "id" in attributes or tag in ("script", "img", "link")]


def test_every_public_estimator_and_learner_has_it():
    for each in (*public_estimators(), EasyMKL):
        assert each._repr_html_inner is html_inner and each._repr_mimebundle_ is mimebundle
        assert each._get_params_html is params_html


@pytest.mark.parametrize("wrap", [make_pipeline, lambda model: make_pipeline(StandardScaler(), model)])
def test_in_a_pipeline_what_was_learned_is_in_the_box_of_the_model(model, wrap):
    own, pipe = fitted_html(model), wrap(model)
    for page in (pipe._repr_html_(), pipe._repr_mimebundle_()["text/html"]):
        assert page.count(own) == 1
        assert page.rindex("sk-estimator", 0, page.index(own)) > page.index("sk-top-container")
    assert model._repr_html_().count(own) == 1  # and below its own diagram, once
    assert "multikernel-fitted" not in wrap(clone(model))._repr_html_()


def test_in_a_search_it_is_that_of_the_best_model():
    X, y = make_binary()
    search = GridSearchCV(MKLClassifier(VIEWS), {"C": [1.0]}, cv=2).fit(X, y)
    assert search._repr_html_().count(fitted_html(search.best_estimator_)) == 1


# ---------------------------------------------------------------------- what it says
def test_names_are_escaped_and_weights_are_those_of_the_model(model):
    assert "<script" not in fitted_html(model)
    rows = {row[0]: row for row in table_of(model).rows if len(row) == 4}
    for name, weight in zip(HOSTILE, model.kernel_weights_, strict=True):
        share = f"{100 * weight / model.kernel_weights_.sum():.1f}%" if weight else "0"
        assert rows[name][1:3] == [f"{weight:.4g}", share]
    assert f"Learned: {np.count_nonzero(model.kernel_weights_)} of 3 views with weight" in fitted_html(model)


def test_how_it_was_fitted(model):
    facts = facts_of(model)
    assert facts["status"] == "optimal"
    assert facts["gap"].startswith(f"{model.dual_gap_:.1e} (asked for: 1.0e-03): the objective is at most")
    assert facts["iterations"] == str(model.n_iter_)
    assert facts["support samples"] == str(model.support_.size)


def test_bars_are_as_long_as_the_shares():
    fitted = Fitted(kernel_weights_=np.array([1.0, -4.0, 0.0]), view_names_=["a", "b", "c"])
    bars = [attributes for tag, attributes in table_of(fitted).tags if tag == "span"]
    assert [bar["style"] for bar in bars] == ["width: 100.0%", "width: 25.0%", "width: 0.0%"]
    assert ["negative" in bar["class"] for bar in bars] == [True, False, False]
    assert [row[2] for row in table_of(fitted).rows if len(row) == 4][1:] == ["-80.0%", "20.0%", "0"]


def test_of_many_views_the_first_twenty():
    weights = np.arange(50.0, 0.0, -1.0) / 1275.0
    rows = table_of(Fitted(kernel_weights_=weights, view_names_=[f"view {k}" for k in range(50)])).rows
    assert [row[0] for row in rows if len(row) == 4][1:] == [f"view {k}" for k in range(20)]
    assert [f"… 30 more views, {100 * weights[20:].sum():.1f}% together"] in rows


def test_weights_of_machines_and_of_samples_are_means():
    table = np.array([[0.9, 0.1], [0.4, 0.6]])
    fitted = Fitted(
        kernel_weights_=table.mean(axis=0),
        view_names_=["a", "b"],
        machine_weights_=table,
        machine_names_=["x", "y"],
    )
    assert table_of(fitted).rows[1][1] == "mean weight"
    assert facts_of(fitted)["machines"].startswith("2, each with weights of its own")


@pytest.mark.parametrize(
    ("certificate", "gap", "told"),
    [
        ("stationarity", 0.5, "5.0e-01 (asked for: 1.0e-03): zero where no further step would gain"),
        ("machine", 0.5, "5.0e-01: of the machines on the learned kernel"),
        ("optimality", 0.0, "0 (asked for: 1.0e-03): the objective"),
        ("stationarity", np.inf, "nothing was certified"),
        ("optimality", np.nan, ""),
    ],
)
def test_the_gap_says_what_it_certifies(certificate, gap, told):
    fitted = Fitted(dual_gap_=gap, certificate=certificate, tol=1e-3, status_="<b>")
    assert facts_of(fitted).get("gap", "").startswith(told)
    assert bool(facts_of(fitted).get("gap")) == bool(told)
    assert facts_of(fitted)["status"] == "<b>"
    assert "<b>" not in fitted_html(fitted)


def test_learners_and_broken_fits_are_displayed_all_the_same():
    learner = MeanRule().fit({"a": np.eye(3), "b": np.eye(3)})
    assert "2 of 2 views with weight" in learner._repr_html_()
    assert fitted_html(Fitted(view_names_=["a"])) == ""
    assert fitted_html(Fitted(kernel_weights_=np.array([np.nan]), view_names_=["a"])) == ""


def test_models_without_weights_show_what_they_have():
    X, y = make_binary()
    assert re.match(r"Gaussian\(gamma=0\.\d+\)", facts_of(KernelKNNClassifier().fit(X, y))["kernel"])
    shown = facts_of(
        Fitted(projection_=np.ones((5, 2)), cores_=np.arange(3), n_kernels_=4, objective_=np.nan)
    )
    assert shown == {"kernels": "4", "directions": "2", "cores": "3"}
