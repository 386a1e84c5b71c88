"""The benchmarks' judge of weight learners, against what can be computed by hand."""

import numpy as np
import pytest

from benchmarks.learners_objective import easymkl_value, radius_over_margin

y = np.array([1.0, -1.0])


def test_two_points_are_their_own_hulls():
    x = np.array([1.0, -2.0])
    K = np.outer(x, x)
    # the distance of the hulls is 3; γ = (1, 1)
    assert easymkl_value(K[None], y, 0.25) == pytest.approx(0.75 * 9.0 + 0.25 * 2.0, rel=1e-7)
    # the ball has a radius of half the distance, whatever the scale of the weights
    for scale in (0.1, 7.0):
        assert radius_over_margin(np.stack([K, K]), y, scale * np.array([0.5, 0.5])) == pytest.approx(
            1.0, rel=1e-7
        )


def test_points_on_a_line():
    x, labels = np.array([0.0, 1.0, 3.0, 7.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    K = np.outer(x, x)
    assert easymkl_value(K[None], labels, 0.0) == pytest.approx(4.0, rel=1e-6)
    assert radius_over_margin(K[None], labels, np.ones(1)) == pytest.approx(4.0 * 3.5**2 / 4.0, rel=1e-6)
