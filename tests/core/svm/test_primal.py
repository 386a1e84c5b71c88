"""Losses by their scores: derivatives, feasible duals, the smoothing above the loss and ever closer to it."""

import numpy as np
import pytest

from tests.core.problems import Task
from tests.core.weights.factor_problems import primal_losses

LOSSES = primal_losses(0.3)


def rows(kind, n=400, seed=0):
    rng = np.random.default_rng(seed)
    target = rng.normal(size=n)
    return np.sign(target) if "hinge" in kind else target, 2.0 * rng.normal(size=n)


@pytest.mark.parametrize("kind", LOSSES)
def test_values_are_those_of_the_dual_losses(kind):
    target, scores = rows(kind)
    task = Task(kind, target, 1.0, LOSSES[kind].epsilon)
    np.testing.assert_allclose(LOSSES[kind].value(target, scores).sum(), task.slack_risk(scores, 0.0))


@pytest.mark.parametrize("width", [0.2, 0.5, 3.0])  # ε = 0.3: two parabolas, then one
@pytest.mark.parametrize("kind", LOSSES)
def test_derivatives_by_differences(kind, width):
    loss, (target, scores), step = LOSSES[kind], rows(kind), 1e-6
    here = loss.smoothed(target, scores, width)
    up, down = (loss.smoothed(target, scores + side * step, width) for side in (1.0, -1.0))
    np.testing.assert_allclose(here.slope, (up.value - down.value) / (2.0 * step), atol=1e-5)
    smooth = up.curvature == down.curvature  # no end of a parabola in between
    assert smooth.mean() > 0.99
    by_differences = (up.slope - down.slope) / (2.0 * step)
    np.testing.assert_allclose(here.curvature[smooth], by_differences[smooth], atol=1e-5)


@pytest.mark.parametrize("kind", ["hinge", "svr"])
def test_the_smoothing_is_feasible_above_the_loss_and_closer_the_narrower(kind):
    loss, (target, scores) = LOSSES[kind], rows(kind)
    last = loss.value(target, scores)
    lower, upper = Task(kind, target, 1.0, loss.epsilon).box
    for width in (1e-3, 0.2, 0.5, 3.0):
        value, slope, curvature = loss.smoothed(target, scores, width)
        assert (value >= last - 1e-12).all()
        assert (-slope >= lower).all() and (-slope <= upper).all()
        inside = (np.abs(slope) > 0.0) & (np.abs(slope) < 1.0)
        np.testing.assert_array_equal(curvature[inside], 1.0 / width)
        last = value
