"""The report of a survival model: its C-index with interval, groups of risk, probabilities."""

import pytest

from multikernel import View, evaluate
from multikernel.datasets import make_survival_views
from multikernel.kernels import Linear
from multikernel.report import render_html, render_markdown, summarize
from multikernel.survival import MKLSurvival

DATA = make_survival_views(90, n_views=2, n_informative=1, n_columns=3, random_state=0)
VIEWS = [View(name, Linear(), columns) for name, columns in DATA.view_columns.items()]
HEADINGS = ("Groups of risk", "Brier score over time", "AUC over time", "Calibration")


@pytest.fixture(scope="module")
def summary():
    model = MKLSurvival(VIEWS).fit(DATA.X, DATA.y)
    found = evaluate(model, DATA.X, DATA.y, parts=["held_out", "stability"], cv=2)
    return summarize(model, evaluation=found)


def test_the_page_has_the_pictures(summary):
    page = render_html(summary)
    for heading in HEADINGS:
        assert f"<h3>{heading}</h3>" in page
    for name in ("kaplan-meier", "survival-calibration", "brier-curve", "auc-curve"):
        assert f'"{name}' in page
    concordance = summary["evaluation"]["held_out"]["concordance"]
    assert f"{concordance['low']:.4f} to {concordance['high']:.4f}" in page
    assert "Log-rank test of the groups of risk" in page
    assert "low risk" in page


def test_the_text_has_the_numbers(summary):
    text = render_markdown(summary)
    assert "95% interval of the C-index" in text
    assert "| Group | Samples | Events | Median survival |" in text
    assert "| Time | Brier score | The same for all |" in text


def test_without_curves_the_rest_is_shown():
    model = MKLSurvival(VIEWS, loss="ranking").fit(DATA.X, DATA.y)
    page = render_html(summarize(model, evaluation=evaluate(model, DATA.X, DATA.y, parts=["held_out"], cv=2)))
    assert "<h3>Groups of risk</h3>" in page
    assert "<h3>Brier score over time</h3>" not in page
    assert "predicts no survival function" in page


def test_the_evaluation_of_another_task_is_refused(summary):
    other = dict(summary["evaluation"]) | {"task": "regression"}
    with pytest.raises(ValueError, match="the task of MKLSurvival: survival, of the evaluation: regression"):
        summarize(MKLSurvival(VIEWS).fit(DATA.X, DATA.y), evaluation=other)
