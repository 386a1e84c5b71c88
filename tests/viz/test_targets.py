"""Pictures of many targets."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from multikernel import viz

PARTS = pd.DataFrame(
    {"a": [0.1, 0.5, np.nan, 0.0], "b": [0.3, -0.1, np.nan, 0.002], "offset": -0.1, "total": 0.2},
    index=["w", "x", "y", "z"],
)


def test_targets_with_the_same_dominant_view_stand_together():
    ax = viz.target_views(PARTS, ax=Figure().subplots())
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["x", "y", "w", "z"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b"]
    np.testing.assert_array_equal(ax.images[0].get_array()[0], [0.5, -0.1])
    ax = viz.target_views(PARTS, order="given", ax=Figure().subplots())
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["w", "x", "y", "z"]
    many = pd.DataFrame(np.eye(2)[np.arange(100) % 2], columns=["a", "b"])
    assert viz.target_views(many, ax=Figure().subplots()).get_ylabel() == "100 targets"


def test_dominant_views_are_counted():
    ax = viz.dominant_views(PARTS, ax=Figure().subplots())
    assert [bar.get_width() for bar in ax.patches] == [1, 1, 2]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b", "none"]
    ax = viz.dominant_views(PARTS, least=0.0, ax=Figure().subplots())
    assert [bar.get_width() for bar in ax.patches] == [1, 2, 1]


def test_what_is_no_table_of_targets_is_refused():
    with pytest.raises(TypeError, match="parts must be a DataFrame"):
        viz.target_views(np.eye(2))
    with pytest.raises(ValueError, match="must hold a target and a view"):
        viz.dominant_views(PARTS[["total"]])
    with pytest.raises(ValueError, match="order must be"):
        viz.target_views(PARTS, order="size")
