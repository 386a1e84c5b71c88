"""All results of inspection are shown alike: a sentence, a table, a picture, plain numbers, HTML."""

import json

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from multikernel import MKLClassifier, View
from multikernel.inspection import (
    Comparison,
    CrossViewMap,
    Enrichment,
    Evaluation,
    Explanation,
    FeatureImportance,
    SupportOverlap,
    ViewSelection,
    ViewShapley,
    cross_view_map,
    enriched_sets,
    evaluate,
    explain,
    feature_importance,
    select_views,
    support_overlap,
    view_shapley,
)
from multikernel.inspection.found import Found
from multikernel.kernels import Gaussian, Linear

NAMES = ["<a>", "b", "c"]


def compared():
    rows = [
        (name, fold // 2, fold % 2, score + 0.002 * (fold % 2), {"<a>": 1.0})
        for name, score in {"<a>": 0.9, "b": 0.8}.items()
        for fold in range(10)
    ]
    scores = pd.DataFrame(rows, columns=["estimator", "repetition", "fold", "score", "shares"])
    return Comparison(scores.assign(dataset="toy"), reference="b")


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 6)), columns=[f"x{j}" for j in range(6)])
    y = X["x0"] + X["x2"] > 0
    views = [View(name, Linear(), [f"x{2 * k}", f"x{2 * k + 1}"]) for k, name in enumerate(NAMES)]
    kernels = [View(name, Gaussian(), [f"x{2 * k}", f"x{2 * k + 1}"]) for k, name in enumerate(NAMES)]
    model = MKLClassifier(views).fit(X[:50], y[:50])
    return [
        evaluate(model, X, y, parts=["baselines"], random_state=0),
        compared(),
        cross_view_map(model, X[:50]),
        enriched_sets(MKLClassifier(views), X, y, n_permutations=20, values=[1.0]),
        explain(model, X[50:], y[50:]),
        feature_importance(model, X[50:], y[50:]),
        support_overlap(views, X, y),
        select_views(kernels, X, y),
        view_shapley(model, X[50:], y[50:]),
    ]


def test_every_result_class_is_looked_at(results):
    assert {type(found) for found in results} == {
        Comparison, CrossViewMap, Enrichment, Evaluation, Explanation, FeatureImportance, SupportOverlap,
        ViewSelection, ViewShapley,
    }  # fmt: skip


def test_a_result_has_a_sentence_a_table_a_picture_and_plain_numbers(results):
    for found in results:
        assert isinstance(found, Found)
        assert found.summary == found.answer and found.answer[0] and found.answer.endswith((".", ")"))
        frame = found.to_frame()
        assert isinstance(frame, pd.DataFrame) and len(frame)
        del frame[frame.columns[0]]
        assert frame.shape != found.to_frame().shape  # what is returned is a copy
        assert json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert isinstance(found.plot(ax=Figure().subplots()), Axes)
        assert found.answer in str(found) or isinstance(found, Comparison)  # which escapes Markdown
        page = found._repr_html_()
        assert "<table" in page and "<a>" not in page


def test_a_long_table_is_cut_and_says_so():
    table = pd.DataFrame({"share": np.linspace(0.0, 1.0, 25), "selected": False})
    table.index = pd.Index([f"v{k}" for k in range(25)], name="view")
    found = ViewSelection("stability", table, 1.0, "nothing", "At most one.", 0.75)
    shown = str(found)
    assert "v24" in shown and "v3 " not in shown  # the views with the most evidence
    assert shown.endswith("15 more rows in to_frame().") and "15 more rows" in found._repr_html_()
    assert len(found.plot(ax=Figure().subplots(), most=5).get_yticklabels()) == 5
