"""Pictures of paths: shares of the views by the values of a parameter, however many views there are."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from multikernel import viz
from tests.viz.data import row_names

WEIGHTS = pd.DataFrame(
    [[0.0, 1.0, 0.5], [2.0, 0.0, 0.0], [2.0, 3.0, 0.5]],
    index=["$a_1$", "b 100%", "c"],
    columns=pd.Index([0.1, 1.0, np.inf], name="C_1"),
)
SHARES = np.array([[0.5, 0.75, 0.5], [0.5, 0.0, 0.0], [0.0, 0.25, 0.5]])  # c, b, a


def cells(ax):
    return ax.images[0].get_array()


def test_shares_are_drawn_the_largest_on_top(ax):
    before = WEIGHTS.copy()
    assert viz.weight_path(WEIGHTS, ax=ax) is ax
    assert row_names(ax) == ["c", "$a_1$", "b 100%"]
    np.testing.assert_allclose(cells(ax).filled(0.0), SHARES[[0, 2, 1]])
    assert cells(ax).mask.sum() == 3  # no weight is no colour
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.1", "1", "inf"]
    assert ax.get_xlabel() == "C_1"
    assert ax.get_title() == "Which views have weight along C_1?"
    assert ax.get_ylim() == (2.5, -0.5)
    ax.figure.draw_without_rendering()
    pd.testing.assert_frame_equal(WEIGHTS, before)


def test_of_many_views_the_heaviest_are_drawn_and_the_rest_is_told():
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.full(300, 0.05), size=12).T
    weights = pd.DataFrame(table, index=[f"SET_{m:03d}_{'x' * 50}" for m in range(300)], columns=range(12))
    ax = viz.weight_path(weights)
    shown = np.argsort(-table.max(axis=1), kind="stable")[:30]
    np.testing.assert_allclose(cells(ax).filled(0.0), table[shown])
    left = np.delete(table, shown, axis=0).sum(axis=0).max()
    title = ax.get_title()
    assert "30 of 300 views, by their largest share" in title
    assert f"the others have at most {100 * left:.1f}% together" in title
    figure = ax.figure
    figure.draw_without_rendering()
    boxes = [tick.get_window_extent() for tick in ax.get_yticklabels()]
    assert len(boxes) == 30
    assert all(lower.y1 <= upper.y0 + 1.0 for upper, lower in pairwise(boxes))
    assert min(tick.get_fontsize() for tick in ax.get_yticklabels()) >= 7
    below = [tick.get_window_extent() for tick in ax.get_xticklabels()]
    assert all(tick.get_rotation() == 60 for tick in ax.get_xticklabels()) and len(below) == 12
    assert max(box.x1 for box in boxes) <= ax.get_window_extent().x0
    whole = figure.get_tightbbox()
    assert whole.x0 >= 0.0 and whole.x1 <= figure.get_figwidth()  # nothing is cut off
    pyplot.close(figure)


def test_signed_weights_have_a_scale_with_two_sides(ax):
    viz.weight_path(-WEIGHTS, ax=ax)
    assert ax.images[0].get_clim() == (-0.75, 0.75)
    viz.weight_path(WEIGHTS, ax=ax)
    assert ax.images[1].get_clim() == (0.0, 0.75)


def test_paths_of_both_kinds(ax):
    viz.weight_path(SimpleNamespace(weights=WEIGHTS.T.rename_axis(columns="view")), top=1, ax=ax)
    np.testing.assert_allclose(cells(ax).filled(0.0), SHARES[:1])
    assert "1 of 3 views" in ax.get_title()


@pytest.mark.parametrize("other", [[], WEIGHTS.iloc[:0]])
def test_other_things_are_no_paths(ax, other):
    with pytest.raises(TypeError, match=f"weight_path.*got {type(other).__name__}"):
        viz.weight_path(other, ax=ax)


def test_weights_of_zero_throughout(ax):
    viz.weight_path(WEIGHTS * 0.0, ax=ax)
    assert cells(ax).mask.all()
    ax.figure.draw_without_rendering()


def test_the_title_fits_above_short_names_too():
    weights = pd.DataFrame(np.ones((40, 2)), index=[f"v{m}" for m in range(40)], columns=[1, 2])
    figure = viz.weight_path(weights).figure
    figure.draw_without_rendering()
    assert figure.get_tightbbox().x1 <= figure.get_figwidth()
    pyplot.close(figure)
