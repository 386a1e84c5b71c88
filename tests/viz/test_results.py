"""Pictures of results: by the method of the result, by the function, and of plain numbers."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from multikernel import CombinedKernelPCA, viz
from multikernel.mkl.regularized.response_surface import ResponseSurface
from tests.viz.data import row_names


@pytest.mark.parametrize(
    ("draw", "of"),
    [
        (viz.cost, "cost_path"),
        (viz.rules, "multikernel.compare"),
        (viz.surface, "surface_"),
        (viz.components, "PCA"),
    ],
)
def test_other_things_are_no_results(ax, draw, of):
    with pytest.raises(TypeError, match=f"{of}.*got list"):
        draw([], ax=ax)


def test_a_path_is_drawn_of_its_table(ax):
    columns = {"cost": [2.0, 1.0], "cost_share": [0.2, 0.1], "score": [0.9, 0.8], "score_sd": [0.1, 0.1]}
    table = pd.DataFrame(columns, index=[0.0, 1.0]).assign(efficient=True)
    assert viz.cost(table, ax=ax) is ax
    assert ax.lines[-2].get_xydata().tolist() == [[20.0, 0.9], [10.0, 0.8]]


def test_the_surface_of_a_search_is_found_in_the_model(ax):
    surface = ResponseSurface({"C": (0.1, 10.0)})
    with pytest.raises(TypeError, match="after its search; got ResponseSurface"):
        viz.surface(surface, ax=ax)
    surface.minimize(lambda point: np.log10(point["C"]) ** 2)
    assert surface.bounds == {"C": (pytest.approx(0.1), pytest.approx(10.0))}
    assert viz.surface(SimpleNamespace(surface_=surface), ax=ax) is ax
    curve, _, measured = ax.lines
    np.testing.assert_allclose(curve.get_xdata()[[0, -1]], [0.1, 10.0])
    np.testing.assert_array_equal(measured.get_xdata(), surface.points_[:, 0])


def test_components(ax):
    X = np.random.default_rng(0).normal(size=(12, 3))
    model = CombinedKernelPCA().fit(X)
    assert viz.components(model, ["a", "b"] * 6, ax=ax) is ax
    np.testing.assert_array_equal(ax.lines[1].get_xydata(), model.embedding_[1::2, :2])


@pytest.mark.parametrize(("weights", "limits"), [([0.5, -0.25], (-0.5, 0.5)), ([0.5, 0.25], (0.0, 0.5))])
def test_rules_are_drawn_of_their_numbers(ax, weights, limits):
    folds = {"plain sum": np.full(10, 0.5), "mine": np.full(10, 0.75), "best single": np.full(10, 0.25)}
    numbers = {
        "folds": folds,
        "baselines": ["plain sum", "best single"],
        "scoring": "accuracy",
        "title": "Scores",
    }
    numbers["weights"] = pd.DataFrame([weights] * 3, index=list(folds))
    assert viz.rules(numbers, ax=ax) is ax
    assert row_names(ax) == list(folds)
    dots = [line.get_xdata().tolist() for line in ax.lines if len(line.get_xdata()) == 10]
    assert dots == [scores.tolist() for scores in folds.values()]
    lines = {line.get_label(): line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"}
    assert lines == {"plain sum": 0.5, "best single": 0.25}
    figure = viz.rules(
        numbers
    ).figure  # with the weights beside the scores, on a scale with two sides if signed
    assert figure.axes[1].images[0].get_clim() == limits
    np.testing.assert_allclose(figure.axes[1].images[0].get_array(), numbers["weights"])
    pyplot.close(figure)
