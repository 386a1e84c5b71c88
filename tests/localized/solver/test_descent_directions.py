"""Where a descent goes: L-BFGS directions, and blocks of parameters that move by turns."""

from itertools import pairwise

import numpy as np
import pytest

from multikernel.core.optim.loop import Status
from multikernel.localized.solver import learn as module
from multikernel.localized.solver.learn import OPTIMIZERS, DescentOptions, descend
from tests.localized.solver.plain_functions import Plain, quadratic


def test_a_misled_limited_memory_falls_back_on_the_gradient():
    """Curvature that changes sign: the direction of the memory fails, the gradient does not."""

    def function(t):
        return float(np.sin(3.0 * t[0]) + 0.05 * (t[0] - 20.0) ** 2 + 10.0 * np.cos(t[1]))

    def slope(t):
        return np.array([3.0 * np.cos(3.0 * t[0]) + 0.1 * (t[0] - 20.0), -10.0 * np.sin(t[1])])

    objective = Plain(function, slope)
    found = descend(objective, np.array([0.3, 0.1]), DescentOptions("lbfgs", tol=1e-9, max_iter=300))
    values = [entry["objective"] for entry in found.history]
    assert all(new < old for old, new in pairwise(values))
    assert found.gradient_norm < 1e-3


def test_limited_memory_forgets_what_misled_it(monkeypatch):
    """Where its direction fails fifteen times, the gradient is tried before the run is given up."""
    monkeypatch.setattr(module._LimitedMemory, "_two_loops", lambda self, gradient: -np.array([1e-3, 1.0]))
    objective = Plain(lambda theta: theta[0] + 0.01 * theta[0] ** 2 + 1e3 * abs(theta[1]), None)
    objective.slope = lambda theta: np.array([1.0 + 0.02 * theta[0], 0.0])
    found = descend(objective, np.zeros(2), DescentOptions("lbfgs", tol=0.0, max_iter=3))
    np.testing.assert_allclose(found.theta, [-3.0, 0.0], atol=1e-12)
    assert found.n_evaluations == 2 + 16 + 16


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_curvature_that_is_none_is_not_learned(optimizer):
    """A concave slope: steps go on downhill, of unit length, as the gradient says."""
    objective = Plain(lambda theta: -0.5 * theta @ theta, lambda theta: -theta)
    found = descend(objective, np.array([3.0, 4.0]), DescentOptions(optimizer, tol=0.0, max_iter=6))
    np.testing.assert_allclose(found.theta, np.array([3.0, 4.0]) * 11.0 / 5.0, rtol=1e-12)
    assert found.n_evaluations == 7


def test_limited_memory_knows_the_size_of_a_step():
    """After one step on a parabola the next one ends at its bottom, at whatever scale."""
    for scale in (0.1, 1.0, 50.0):
        objective = quadratic([scale], shift=1.75, constant=1.0)
        found = descend(objective, np.zeros(1), DescentOptions("lbfgs", tol=0.0, max_iter=2))
        assert found.theta[0] == pytest.approx(1.75, rel=1e-12)
        assert found.n_evaluations == 3


def test_limited_memory_beats_the_gradient_where_scales_differ():
    scales = np.geomspace(1.0, 1e4, 8)
    start = np.random.default_rng(0).normal(size=8)
    values = {}
    for optimizer in OPTIMIZERS:
        options = DescentOptions(optimizer, tol=0.0, max_iter=60)
        found = descend(quadratic(scales), start, options)
        values[optimizer] = found.objective
    assert values["lbfgs"] < 1e-3 * values["gradient"]


class TestBlocks:
    """Parameters that move by turns."""

    blocks = (np.array([0, 2]), np.array([1]))

    @pytest.mark.parametrize("optimizer", OPTIMIZERS)
    def test_one_block_moves_at_a_time(self, optimizer):
        objective = quadratic([1.0, 2.0, 30.0], shift=4.0, constant=1.0)
        options = DescentOptions(optimizer, tol=1e-6, blocks=self.blocks)
        found = descend(objective, np.zeros(3), options)
        kept = objective.asked[0]
        moved = []
        for theta in objective.asked[1:]:
            places = np.flatnonzero(theta != kept)
            block = next(k for k, block in enumerate(self.blocks) if np.isin(places, block).all())
            if objective.function(theta) < objective.function(kept):
                kept = theta
                moved.append(block)
        assert moved[:4] == [0, 1, 0, 1]
        np.testing.assert_allclose(found.theta, 4.0, atol=0.05)
        assert found.status == Status.OPTIMAL

    def test_a_block_without_gradient_rests_while_the_others_move(self):
        objective = quadratic([1.0, 0.0, 1.0], constant=1.0)
        found = descend(objective, np.array([2.0, 7.0, 2.0]), DescentOptions(tol=1e-6, blocks=self.blocks))
        assert found.theta[1] == 7.0
        assert found.status == Status.OPTIMAL
        assert found.objective < 1.001

    def test_each_block_has_its_own_length(self):
        """The first block needs short steps, the second long ones: it is not held back."""
        objective = quadratic([1e4, 1.0, 1e4], shift=np.array([0.01, 8.0, 0.01]))
        descend(objective, np.zeros(3), DescentOptions(tol=0.0, max_iter=3, blocks=self.blocks))
        kept, lengths = objective.asked[0], []
        for theta in objective.asked[1:]:
            if objective.function(theta) < objective.function(kept):
                if theta[1] != kept[1]:
                    lengths.append(abs(theta[1] - kept[1]))
                kept = theta
        np.testing.assert_allclose(lengths, 1.0)

    def test_no_block_can_move(self):
        wrong = Plain(lambda theta: theta @ theta, lambda theta: -2.0 * theta)
        found = descend(wrong, np.ones(3), DescentOptions(blocks=self.blocks))
        assert found.status == Status.STALLED
        assert found.n_evaluations == 31
        np.testing.assert_array_equal(found.theta, 1.0)
