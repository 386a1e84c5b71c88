"""Pictures of features: bars in order, those of a view together, intervals where there are some."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from multikernel import viz


def row(view, feature, value, spread=None):
    ends = {} if spread is None else {"low": value - spread, "high": value + spread}
    return {"view": view, "feature": feature, "importance": value, **ends}


ROWS = [
    row("clinic", "age_$x$", 0.1, 0.05),
    row("genes", "TP53", 0.3, 0.1),
    row("clinic", "sex", -0.02, 0.05),
    row("genes", "none", None),
    row("genes", "BRCA1", 0.2),
]


def test_features_of_a_view_stand_together_the_most_important_first(ax):
    drawn = viz.importance({"rows": ROWS, "xlabel": "loss of accuracy"}, ax=ax)
    assert drawn is ax
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["TP53", "BRCA1", "age_$x$", "sex"]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [0.3, 0.2, 0.1, -0.02])
    colours = [bar.get_facecolor() for bar in ax.patches]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["genes", "clinic"]
    lines = [line.get_xdata() for line in ax.lines if len(set(line.get_ydata())) == 1]
    assert any(np.allclose(ends, [0.2, 0.4]) for ends in lines)
    assert ax.get_xlabel() == "loss of accuracy" and ax.get_title() == "Which columns matter?"


def test_one_view_needs_no_legend_and_most_is_kept(ax):
    rows = [row("X", f"x{k}", float(k)) for k in range(20)]
    viz.importance({"rows": rows}, most=3, ax=ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["x19", "x18", "x17"]
    assert ax.get_legend() is None


def test_it_makes_a_figure_and_refuses_other_things():
    import matplotlib.pyplot as plt

    made = viz.importance({"rows": ROWS})
    assert isinstance(made.figure, Figure)
    plt.close(made.figure)
    with pytest.raises(TypeError, match="feature_importance"):
        viz.importance([1.0, 2.0])
    with pytest.raises(ValueError, match="most"):
        viz.importance({"rows": ROWS}, most=0)


def test_the_map_of_views_names_columns_and_views(ax):
    names = [{"view": v, "feature": f} for v, f in [("genes", "g_$1$"), ("genes", "g2"), ("proteins", "p1")]]
    values = [[1.0, 0.2, -0.5], [0.2, 1.0, 0.0], [-0.5, 0.0, 1.0]]
    drawn = viz.cross_view({"features": names, "similarities": values}, ax=ax)
    assert drawn is ax
    np.testing.assert_array_equal(ax.images[0].get_array(), values)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["g_$1$", "g2", "p1"]
    assert [text.get_text() for text in ax.texts] == ["genes", "proteins"]
    assert sorted(line.get_xdata()[0] for line in ax.lines) == [0, 1.5]  # one across, one down
    with pytest.raises(TypeError, match="cross_view_map"):
        viz.cross_view([[1.0]])


SHARES = pd.DataFrame(
    [[0.7, 0.1, np.nan, 0.2], [0.05, 0.5, 0.45, 0.0]],
    index=["le_$ft$", "right"],
    columns=["a", "b_$x$", "c", 7],
)


def test_the_map_of_regions_keeps_the_columns_in_order(ax):
    drawn = viz.local_importance(SHARES, ax=ax)
    assert drawn is ax
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["le_$ft$", "right"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b_$x$", "c", "7"]
    [image] = ax.images
    np.testing.assert_array_equal(image.get_array().filled(-1.0), SHARES.fillna(-1.0))
    assert image.get_clim() == (0.0, 0.7) and ax.get_xlabel() == "column"


def test_the_map_of_regions_leaves_out_the_least_columns(ax):
    viz.local_importance(SimpleNamespace(local_importance=lambda: SHARES), most=3, ax=ax)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b_$x$", "c"]
    assert ax.get_xlabel() == "column, 3 of 4"


def test_the_map_of_regions_refuses_other_things(ax):
    with pytest.raises(TypeError, match=r"local_importance\(\).*got list"):
        viz.local_importance([[1.0]], ax=ax)
    with pytest.raises(ValueError, match="most"):
        viz.local_importance(SHARES, most=0, ax=ax)
