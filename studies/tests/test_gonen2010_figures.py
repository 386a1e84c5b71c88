"""Pictures that the figures of Gönen (2010) share."""

import numpy as np

from studies import plots


def test_regions_of_classes_are_drawn_where_they_are_decided(monkeypatch):
    from matplotlib.figure import Figure

    monkeypatch.setattr(plots, "_STEPS", 21)
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    axes = Figure().subplots()
    plots.draw_classes(axes, lambda points: np.column_stack([-points[:, 0], points[:, 0] - 1.0]), X, X[:, 0])
    assert len(axes.collections) == 2 * 3  # of each class its region, its boundary and its points
    for collection, inside in ((axes.collections[0], 0.2), (axes.collections[3], 0.8)):
        assert collection.get_paths()[0].contains_point((inside, 0.5))
        assert not collection.get_paths()[0].contains_point((1.0 - inside, 0.5))
    plots.draw_rings(axes, X[:2])
    np.testing.assert_array_equal(axes.collections[-1].get_offsets(), X[:2])
    assert len(axes.collections[-1].get_facecolors()) == 0
