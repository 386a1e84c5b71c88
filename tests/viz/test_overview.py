"""The picture of the data: what is counted, what is drawn, of whatever holds several views."""

import json

import numpy as np
import pandas as pd
import polars
import pytest

from multikernel import viz
from multikernel.kernels import Linear
from multikernel.views import join_views, stack_kernels, view_tables

IDS = [f"s{number}" for number in range(6)]
LABELS = pd.Series(list("aabbab"), index=IDS)


def tables():
    genes = pd.DataFrame(np.arange(12.0).reshape(6, 2), index=IDS).iloc[:5]
    clinic = pd.DataFrame({"age": np.arange(6.0)}, index=IDS).iloc[[0, 1, 3, 4, 5]]
    return {"genes": genes, "clinic": clinic}


def drawn(ax):
    """For each picture of cells: the samples of each cell that is filled, by column, and the colours."""
    found = []
    for mesh in ax.collections:
        codes, places = mesh.get_array(), mesh.get_coordinates()[:, 0, 1]
        heights = np.diff(places)
        found.append([float(heights[~np.ma.getmaskarray(codes)[:, j]].sum()) for j in range(codes.shape[1])])
    return found


def labels(ax):
    return [tick.get_text().split("\n") for tick in ax.get_xticklabels()]


def test_an_outer_join_is_counted_and_drawn(ax):
    X, y = join_views(tables(), LABELS, how="outer")
    found = viz.describe_data(X, y)
    json.dumps(found, allow_nan=False)
    assert found["views"] == [
        {"name": "genes", "columns": 2, "samples": 5, "missing": 1},
        {"name": "clinic", "columns": 1, "samples": 5, "missing": 1},
    ]
    assert found["classes"] == [{"name": "a", "samples": 3}, {"name": "b", "samples": 3}]
    assert [(p["present"], p["samples"], p["classes"]) for p in found["patterns"]] == [
        ([True, True], 4, [3, 1]),
        ([False, True], 1, [0, 1]),
        ([True, False], 1, [0, 1]),
    ]
    assert viz.data_overview(X, y, ax=ax) is ax
    assert drawn(ax) == [[5.0, 5.0], [6.0]]  # the views, and the column of the classes
    assert labels(ax) == [["genes", "2 columns", "5 of 6 samples"], ["clinic", "1 column", "5 of 6 samples"]]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["has the view", "a (3)", "b (3)"]
    assert ax.get_ylim() == (6, 0) and "most views first" in ax.get_ylabel()
    ax.figure.draw_without_rendering()


def test_the_description_is_drawn_as_the_data_are(ax):
    found = viz.describe_data(join_views(tables(), how="outer"))
    viz.data_overview(found, ax=ax)
    assert drawn(ax) == [[5.0, 5.0]] and found["classes"] == []


def test_whole_data_need_no_legend(ax):
    X = join_views(tables())
    viz.data_overview(X, ax=ax)
    assert drawn(ax) == [[4.0, 4.0]] and ax.get_legend() is None and ax.get_ylabel() == "samples"
    assert labels(ax)[0] == ["genes", "2 columns", "4 samples"]


def test_dicts_lists_frames_and_stacks():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, np.nan], "c": ["x", None]})
    of_dict = viz.describe_data({"one": frame[["a"]], "two": np.ones((2, 3))})
    assert [view["missing"] for view in of_dict["views"]] == [1, 0]
    of_polars = viz.describe_data({"one": polars.DataFrame({"a": [1.0, None]})})
    assert of_polars["views"] == [{"name": "one", "columns": 1, "samples": 1, "missing": 1}]
    of_list = viz.describe_data([frame[["a"]], frame[["c"]]])
    assert [view["name"] for view in of_list["views"]] == ["table-0", "table-1"]
    views = [("one", Linear(), ["a"]), ("two", Linear(), ["a", "c"]), ("again", Linear(), ["a"])]
    of_views = viz.describe_data(view_tables(frame, views))
    assert [(v["name"], v["columns"], v["missing"]) for v in of_views["views"]] == [
        ("one", 1, 1),
        ("two", 2, 1),
    ]
    K = np.eye(3)
    absent = K.copy()
    absent[1], absent[:, 1] = np.nan, np.nan
    for stack in ({"expr": K, "ppi": absent}, np.stack([K, absent], axis=2)):
        found = viz.describe_data(stack)["views"]
        assert [(view["columns"], view["missing"]) for view in found] == [(None, 0), (None, 1)]
    assert viz.describe_data(stack_kernels({"expr": K, "ppi": absent}))["views"][1]["missing"] == 1
    assert frame.isna().sum().tolist() == [1, 2, 1]  # as it was given


def test_many_views_and_patterns_are_one_image():
    rng = np.random.default_rng(0)
    many = {f"SET_{number}": rng.normal(size=(200, 2)) for number in range(60)}
    for table in many.values():
        table[rng.random(200) < 0.2] = np.nan
    ax = viz.data_overview(many, rng.normal(size=200))  # values are no classes
    assert len(ax.collections) == 1 and ax.collections[0].get_rasterized()
    assert drawn(ax)[0] == [float((~np.isnan(table[:, 0])).sum()) for table in many.values()]
    assert labels(ax)[0] == ["SET_0"]
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        ({"a": np.ones((3, 1)), "b": np.ones((2, 1))}, None, r"'a' has 3, 'b' has 2 rows.*join_views"),
        ({"a": np.ones((3, 1))}, ["x"], r"one label for each of the 3 samples; got shape \(1,\)"),
        ({}, None, "at least one table"),
    ],
)
def test_bad_input_is_named(X, y, said):
    with pytest.raises(ValueError, match=said):
        viz.data_overview(X, y)
