"""Pictures of views: what stands where, in which order, and what is refused."""

from types import SimpleNamespace

import numpy as np
import pytest

from multikernel import viz


def labels(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def test_shapley_values_stand_in_order_with_their_marks_and_errors(ax):
    rows = [
        {"view": "a_$x$", "shapley": 0.1, "std_error": 0.02, "alone": 0.2, "beside_others": 0.0},
        {"view": "b", "shapley": 0.3, "std_error": 0.0, "alone": 0.4, "beside_others": 0.2},
        {"view": "c", "shapley": -0.05, "std_error": None, "alone": None, "beside_others": None},
    ]
    assert viz.shapley({"metric": "accuracy", "rows": rows}, ax=ax) is ax
    assert labels(ax) == ["b", "a_$x$", "c"]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [0.3, 0.1, -0.05])
    lines = [line.get_xdata() for line in ax.lines if len(set(line.get_ydata())) == 1]
    assert any(np.allclose(ends, [0.06, 0.14]) for ends in lines)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), [[0.4, 0], [0.2, 1]])
    assert "accuracy" in ax.get_xlabel() and ax.get_title() == "What is each view worth?"


def test_selected_views_pass_the_line(ax):
    rows = [{"view": f"v{k}", "q_value": q, "selected": q <= 0.1} for k, q in enumerate([0.5, 0.001, 0.1])]
    viz.selection({"method": "marginal", "level": 0.1, "rows": rows}, ax=ax)
    assert labels(ax) == ["v1", "v2", "v0"]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["selected", "not selected", "required"]
    [line] = [line for line in ax.lines if line.get_linestyle() == "--"]
    np.testing.assert_allclose(line.get_xdata(), [1.0, 1.0])
    many = [{"view": f"v{k}", "share": k / 50, "selected": k > 40} for k in range(50)]
    viz.selection({"method": "stability", "level": 1.0, "threshold": 0.75, "rows": many}, ax=ax, most=5)
    assert labels(ax) == ["v49", "v48", "v47", "v46", "v45"] and "5 of 50" in ax.get_title()
    assert "half samples" in ax.get_xlabel()


def test_classes_by_views(ax):
    model = SimpleNamespace(
        view_names_=["genes", "clinic", "none"], machine_names_=["ill", "well"],
        kernel_weights_=[0.5, 0.5, 0.0], machine_weights_=[[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]],
    )  # fmt: skip
    viz.class_weights(model, ax=ax)
    assert labels(ax) == ["ill", "well"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["genes", "clinic", "none"]
    values = ax.images[0].get_array()
    np.testing.assert_allclose(values[:, :2], [[0.9, 0.1], [0.2, 0.8]])
    assert values.mask[:, 2].all()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("view", "class")
    same = SimpleNamespace(view_names_=["a", "b"], kernel_weights_=[1.0, 3.0])
    viz.class_weights(same, ax=ax)
    assert labels(ax) == ["all classes"]
    with pytest.raises(ValueError, match="kernel_weights_"):
        viz.class_weights(SimpleNamespace())


def test_a_waterfall_ends_at_the_score(ax):
    rows = [{"name": f"v{k}", "value": (-1.0) ** k * (k + 1)} for k in range(5)]
    total = sum(row["value"] for row in rows)
    part = {
        "id": "p7",
        "machine": "ill",
        "start": 0.5,
        "score": 0.5 + total,
        "low": 2.0,
        "high": 5.0,
        "rows": rows,
    }
    viz.waterfall(part, ax=ax, most=3)
    assert labels(ax) == ["intercept", "v4", "v3", "v2", "2 others", "score"]
    bars = [bar for bar in ax.patches if np.isclose(bar.get_height(), 0.6)]
    np.testing.assert_allclose([bar.get_x() for bar in bars], [0.0, 0.5, 5.5, 1.5, 4.5, 0.0])
    np.testing.assert_allclose([bar.get_width() for bar in bars], [0.5, 5.0, -4.0, 3.0, -1.0, 3.5])
    assert ax.get_title() == "How does the score of p7 come about?" and ax.get_xlabel() == "score for ill"


def test_dots_of_sets_along_a_path(ax):
    rows = [{"set": "b", "p_adjusted": 0.5, "share": 0.1}, {"set": "a", "p_adjusted": 0.01, "share": 0.5}]
    dots = [
        {"set": "a", "value": 0.1, "share": 1.0, "p_value": 0.1},
        {"set": "a", "value": "inf", "share": 0.5, "p_value": 0.01},
        {"set": "b", "value": "inf", "share": 0.5, "p_value": 1.0},
        {"set": "b", "value": 0.1, "share": 0.0, "p_value": 1.0},
    ]
    part = {"parameter": "norm", "values": [0.1, "inf"], "level": 0.05, "rows": rows, "dots": dots}
    viz.enrichment(part, ax=ax)
    assert labels(ax) == ["a *", "b"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.1", "inf"]
    np.testing.assert_allclose(ax.collections[0].get_offsets(), [[0, 0], [1, 0], [1, 1]])
    np.testing.assert_allclose(ax.collections[0].get_array(), [1.0, 2.0, 0.0])


@pytest.mark.parametrize(
    ("draw", "maker"),
    [
        (viz.shapley, "view_shapley"),
        (viz.selection, "select_views"),
        (viz.waterfall, "explain"),
        (viz.enrichment, "enriched_sets"),
    ],
)
def test_other_things_are_refused_by_name(draw, maker):
    with pytest.raises(TypeError, match=maker):
        draw([1.0])
