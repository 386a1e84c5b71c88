"""Problems on factors whose best function is a constant: the bounds meet there too."""

import numpy as np
import pytest

from multikernel import MKLClassifier, MKLRegressor
from multikernel.kernels import Linear

CORNERS = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])


@pytest.mark.parametrize("repeats", [1, 10])
def test_classes_that_no_line_parts_at_all(repeats):
    """The corners of a square, classes across: w = 0, and every sample costs C = 1."""
    X, y = np.tile(CORNERS, (repeats, 1)), np.tile([1, 1, -1, -1], repeats)
    model = MKLClassifier([Linear()], gram="low_rank").fit(X, y)
    assert model.status_ == "optimal" and model.dual_gap_ <= 1e-12
    assert model.objective_ == pytest.approx(4.0 * repeats)


def test_contradictory_labels():
    X = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 10, axis=0)
    model = MKLClassifier([Linear()], gram="low_rank").fit(X, np.tile(["a", "b"], 20))
    assert model.status_ == "optimal" and model.objective_ == pytest.approx(40.0)


def test_values_that_no_line_follows_at_all():
    X, y = np.tile(CORNERS, (5, 1)), np.tile([1.0, 1.0, -1.0, -1.0], 5)
    model = MKLRegressor([Linear()], gram="low_rank", epsilon=0.25).fit(X, y)
    assert model.status_ == "optimal" and model.objective_ == pytest.approx(20 * 0.75)
