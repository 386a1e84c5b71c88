"""Samples are called by their ids, of several tables or of a frame with an index; otherwise by their rows."""

import numpy as np
import pandas as pd
import pytest

from multikernel import MKLClassifier, MKLRegressor, evaluate
from multikernel.inspection import enriched_sets, explain, select_views
from multikernel.inspection.subject import sample_ids
from multikernel.kernels import Linear
from multikernel.report import render_html, summarize
from multikernel.report.markdown import render_markdown
from multikernel.views import KernelBank, MultiTable, join_views

N = 40
IDS = [f"patient {number}" for number in range(N)]


@pytest.fixture(scope="module")
def joined():
    """Two tables, the second of which lacks six samples; three samples have the wrong label."""
    rng = np.random.default_rng(1)
    y = np.arange(N) % 2
    one = pd.DataFrame(rng.normal(size=(N, 3)) + 2.0 * y[:, None], index=IDS, columns=list("abc"))
    two = pd.DataFrame(rng.normal(size=(N, 2)), index=IDS, columns=list("de")).iloc[6:]
    labels = pd.Series(np.where(y, "sick", "well"), index=IDS)
    labels.iloc[[10, 20, 31]] = ["sick", "sick", "well"]
    return join_views({"one": one, "two": two}, labels, how="outer")


@pytest.fixture(scope="module")
def evaluated(joined):
    X, y = joined
    model = MKLClassifier(KernelBank({"one": Linear(), "two": Linear()}, missing="renormalize")).fit(X, y)
    return model, evaluate(model, X, y, parts=["held_out", "embedding", "without_view"])


def test_misclassified_samples_are_named_by_their_ids(evaluated, joined):
    found = evaluated[1]["held_out"]["doubtful"]
    wrong = [sample for sample in found["samples"] if sample["wrong"]]
    assert len(wrong) == found["n_wrong"] == round(N * (1 - evaluated[1]["held_out"]["score"]))
    assert {"patient 10", "patient 20", "patient 31"} <= {sample["id"] for sample in wrong}
    assert all(IDS[sample["row"]] == sample["id"] for sample in found["samples"])
    assert all(sample["observed"] == joined[1].iloc[sample["row"]] for sample in found["samples"])
    sure = [sample["probability"] for sample in wrong]
    assert sure == sorted(sure, reverse=True) and len(found["samples"]) == len(wrong) + found["n_uncertain"]


def test_targets_of_other_samples_are_refused(evaluated, joined):
    (X, y), model = joined, evaluated[0]
    other = y.iloc[::-1]
    judged = (
        lambda: evaluate(model, X, other, parts=["held_out"]),
        lambda: evaluate(model, X, y, X_test=X, y_test=other, parts=["held_out"]),
        lambda: explain(model, X, other),
        lambda: select_views(model, X, other),
        lambda: enriched_sets(model, X, other),
    )
    for judge in judged:
        with pytest.raises(ValueError, match="row 0 is 'patient 0' in X and 'patient 39' in y"):
            judge()


def test_points_of_pictures_have_the_ids(evaluated):
    assert [point["id"] for point in evaluated[1]["embedding"]["points"]] == IDS


def test_the_data_are_described(evaluated):
    views = evaluated[1]["data"]["views"]
    assert [(view["name"], view["missing"]) for view in views] == [("one", 0), ("two", 6)]
    assert [row["name"] for row in evaluated[1]["data"]["classes"]] == ["sick", "well"]


def test_views_of_tables_are_left_out_by_name(evaluated):
    """One table alone lacks samples, which is said; the other is enough."""
    assert [row["view"] for row in evaluated[1]["without_view"]["rows"]] == ["two"]


def test_reports_show_ids_and_who_has_what(evaluated):
    model, found = evaluated
    summary = summarize(model, evaluation=found)
    page, text = render_html(summary), render_markdown(summary)
    assert 'id="data-picture-title"' in page and "6 samples lack some of them" in page
    assert "patient 10" in page and "<title>patient 0, class" in page
    lines = text.splitlines()
    assert "## Data" in lines and "| two | 2 | 34 | 6 |" in lines
    assert any(line.startswith("| patient 10 | sick | well |") for line in lines)


def test_values_and_frames_with_an_index():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 2)), index=IDS)
    y = X[0].to_numpy()
    found = evaluate(MKLRegressor(C=10.0).fit(X, y), X, y, parts=["held_out"])
    worst = found["held_out"]["residuals"]["worst"]
    assert all(point["id"] == IDS[point["row"]] for point in worst) and found["data"] is None
    text = render_markdown(summarize(MKLRegressor(C=10.0).fit(X, y), evaluation=found))
    assert f"| {worst[0]['id']} |" in text and "| Sample | Observed |" in text


@pytest.mark.parametrize(
    ("X", "ids"),
    [
        (np.ones((2, 1)), None),
        ([[1.0], [2.0]], None),
        (pd.DataFrame({"a": [1.0, 2.0]}), None),
        (pd.DataFrame({"a": [1.0, 2.0]}, index=[0, 1]), None),
        (pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 3]), ["7", "3"]),
        (MultiTable({"a": np.ones((2, 1))}), None),
        (MultiTable({"a": np.ones((2, 1))}, ids=["u", "v"]), ["u", "v"]),
    ],
)
def test_what_counts_as_ids(X, ids):
    assert sample_ids(X) == ids
