"""Results that draw themselves are found among the pictures too, with the same axes."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from multikernel import CombinedKernelPCA, plot
from multikernel.estimators.cost_path import CostPath
from multikernel.inspection import Comparison
from multikernel.selection.response_surface import ResponseSurface


@pytest.mark.parametrize(
    ("draw", "kind"),
    [(plot.cost, CostPath), (plot.rules, Comparison), (plot.surface, ResponseSurface)],
)
def test_the_result_draws_itself(monkeypatch, draw, kind):
    ax = Figure().subplots()
    monkeypatch.setattr(kind, "plot", lambda self, ax: (self, ax))
    result = object.__new__(kind)
    assert draw(result, ax=ax) == (result, ax)
    with pytest.raises(TypeError, match="got list"):
        draw([], ax=ax)


def test_the_surface_of_a_search_is_found_in_the_model(monkeypatch):
    monkeypatch.setattr(ResponseSurface, "plot", lambda self, ax: self)
    result = object.__new__(ResponseSurface)
    assert plot.surface(SimpleNamespace(surface_=result)) is result


def test_components():
    ax = Figure().subplots()
    X = np.random.default_rng(0).normal(size=(12, 3))
    model = CombinedKernelPCA().fit(X)
    assert plot.components(model, ["a", "b"] * 6, ax=ax) is ax
    np.testing.assert_array_equal(ax.lines[1].get_xydata(), model.embedding_[1::2, :2])
