"""The descent on plain functions, whose values, gradients and minima are known."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.optim.loop import Status
from multikernel.localized.solver import learn as module
from multikernel.localized.solver.learn import OPTIMIZERS, DescentOptions, descend

ARMIJO = 1e-4


class Plain:
    """A function with its gradient; everything that is asked for is written down."""

    def __init__(self, function, slope, project=None):
        self.function, self.slope = function, slope
        self.onto = project or (lambda theta: theta)
        self.asked = []
        self.ceilings = []

    def value(self, theta, ceiling=np.inf):
        self.asked.append(theta.copy())
        self.ceilings.append(ceiling)
        return float(self.function(theta))

    def gradient(self):
        return self.slope(self.asked[-1])

    def project(self, theta):
        return self.onto(theta)

    def snapshot(self):
        return self.asked[-1].copy()

    def describe(self):
        return {"n_asked": len(self.asked)}


def quadratic(scales, shift=0.0, constant=0.0):
    """½ Σ scale (θ − shift)² + constant."""
    scales = np.asarray(scales, float)
    return Plain(
        lambda theta: 0.5 * scales @ (theta - shift) ** 2 + constant, lambda theta: scales * (theta - shift)
    )


def path(found, objective):
    """The accepted points, told by the values of the history."""
    values = [entry["objective"] for entry in found.history]
    points, waiting = [], iter(objective.asked)
    for value in values:
        points.append(next(theta for theta in waiting if objective.function(theta) == value))
    return points


@given(
    optimizer=st.sampled_from(OPTIMIZERS),
    scales=st.lists(st.floats(1e-2, 1e3), min_size=1, max_size=6),
    seed=st.integers(0, 2**16),
    constant=st.sampled_from([0.0, 10.0, -1e4]),
)
def test_every_accepted_step_descends_enough_and_is_no_longer_than_one(optimizer, scales, seed, constant):
    start = np.random.default_rng(seed).normal(size=len(scales), scale=5.0)
    objective = quadratic(scales, constant=constant)
    found = descend(objective, start, DescentOptions(optimizer, tol=1e-6))
    points = path(found, objective)
    np.testing.assert_array_equal(points[0], start)
    for (old, new), entry in zip(pairwise(points), found.history[1:], strict=True):
        change = new - old
        slope = objective.slope(old) @ change
        assert slope < 0.0
        drop = objective.function(new) - objective.function(old)
        assert drop <= ARMIJO * slope + 1e-12 * abs(objective.function(old))
        assert np.linalg.norm(change) <= 1.0 + 1e-12
        assert entry["step"] == pytest.approx(np.linalg.norm(change), rel=1e-9)
        assert entry["gradient_norm"] == pytest.approx(np.linalg.norm(objective.slope(new)), rel=1e-12)
    np.testing.assert_array_equal(found.theta, points[-1])
    assert found.objective == objective.function(points[-1])
    assert found.n_evaluations == len(objective.asked)
    assert found.n_iter == len(points) - 1 == found.history[-1]["iteration"]


def test_the_first_step_has_unit_length_however_long_the_gradient():
    for size in (1e-6, 1.0, 1e6):
        for optimizer in OPTIMIZERS:
            objective = quadratic(np.full(3, size))
            descend(objective, np.array([30.0, 40.0, 0.0]), DescentOptions(optimizer, max_iter=1))
            np.testing.assert_allclose(objective.asked[1], [29.4, 39.2, 0.0], rtol=1e-12)


def test_a_gradient_run_is_the_rule_of_the_book():
    """Halve until Armijo holds; begin the next search at twice the accepted length, at most one."""
    objective = quadratic([1.0, 20.0])
    found = descend(objective, np.array([3.0, 0.4]), DescentOptions(tol=1e-3))
    theta, first, asked = np.array([3.0, 0.4]), 1.0, [np.array([3.0, 0.4])]
    while True:
        old, g = objective.function(theta), objective.slope(theta)
        length = first
        while True:
            trial = theta - length * g / np.linalg.norm(g)
            asked.append(trial)
            if objective.function(trial) <= old - ARMIJO * length * np.linalg.norm(g):
                break
            length /= 2.0
        theta, first = trial, min(1.0, 2.0 * length)
        if old - objective.function(theta) <= 1e-3 * abs(old):
            break
    np.testing.assert_allclose(objective.asked, asked, rtol=1e-10)
    np.testing.assert_allclose(found.theta, theta, rtol=1e-10)
    assert found.status == Status.OPTIMAL
    assert found.n_evaluations == len(asked)


def test_ceilings_are_what_armijo_allows():
    objective = quadratic([2.0, 2.0])
    start = np.array([0.6, 0.0])
    descend(objective, start, DescentOptions(max_iter=1))
    J, g = objective.function(start), objective.slope(start)
    assert objective.ceilings[0] == np.inf
    lengths = [np.linalg.norm(theta - start) for theta in objective.asked[1:]]
    for length, ceiling in zip(lengths, objective.ceilings[1:], strict=True):
        assert ceiling == pytest.approx(J - ARMIJO * length * np.linalg.norm(g), rel=1e-12)


def test_a_lower_bound_above_the_ceiling_is_enough_to_refuse():
    """Unfinished values steer the search to the same points as finished ones."""
    full, lazy = quadratic([1.0, 30.0]), quadratic([1.0, 30.0])
    exact = lazy.value

    def unfinished(theta, ceiling=np.inf):
        value = exact(theta, ceiling)
        return value if value <= ceiling else float(np.nextafter(ceiling, np.inf))

    lazy.value = unfinished
    start = np.array([4.0, 0.3])
    one, other = (descend(objective, start, DescentOptions(tol=1e-5)) for objective in (full, lazy))
    np.testing.assert_array_equal(one.theta, other.theta)
    assert one.history == other.history


@pytest.mark.parametrize("constant", [0.5, 50.0, -50.0])
@pytest.mark.parametrize("patience", [1, 2, 4])
def test_the_stop_rule(constant, patience):
    """Relative to |J|, also where J is negative; so many small steps running."""
    tol = 0.02
    found = descend(
        quadratic([1.0, 9.0], constant=constant),
        np.array([6.0, 1.0]),
        DescentOptions(tol=tol, patience=patience),
    )
    values = [entry["objective"] for entry in found.history]
    small = [old - new <= tol * abs(old) for old, new in pairwise(values)]
    assert found.status == Status.OPTIMAL
    assert all(small[-patience:])
    # Not a step earlier: no run of small steps before the last one was long enough.
    runs = "".join("s" if is_small else "." for is_small in small[:-1]).split(".")
    assert max(map(len, runs)) < patience
    assert len(runs[-1]) == patience - 1


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_max_iter(optimizer):
    for limit in (0, 1, 5):
        objective = quadratic([1.0, 1.0])
        found = descend(objective, np.array([50.0, 50.0]), DescentOptions(optimizer, max_iter=limit))
        told = found.status, found.n_iter, len(found.history), found.n_evaluations
        assert told == (Status.MAX_ITER, limit, limit + 1, limit + 1)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_step_that_ends_the_run_by_its_size_is_optimal_even_at_max_iter(optimizer):
    found = descend(quadratic([1.0], constant=1e6), np.array([3.0]), DescentOptions(optimizer, max_iter=1))
    assert found.status == Status.OPTIMAL


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_no_gradient_no_step(optimizer):
    for theta, constant in ((0.0, 5.0), (0.0, 0.0), (1e-8, 1e3), (1e-14, -1e-3)):
        found = descend(quadratic([1.0], constant=constant), np.array([theta]), DescentOptions(optimizer))
        told = found.status, found.n_iter, found.n_evaluations, found.theta[0]
        assert told == (Status.OPTIMAL, 0, 1, theta)


@pytest.mark.parametrize("size", [1e-20, 1e-8, 1e8, 1e20])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_size_of_the_value_does_not_matter(optimizer, size):
    """An objective in other units is the same problem: the same points, and no gradient is too small."""
    runs = []
    for factor in (1.0, size):
        objective = quadratic([factor, 9.0 * factor], constant=factor)
        runs.append(descend(objective, np.array([6.0, 1.0]), DescentOptions(optimizer)))
    np.testing.assert_allclose(runs[0].theta, runs[1].theta, rtol=1e-9)
    assert runs[1].objective == pytest.approx(size * runs[0].objective, rel=1e-9)
    assert runs[0].n_evaluations == runs[1].n_evaluations


@pytest.mark.parametrize("blocks", [None, (np.array([0]), np.array([1]))])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_stalled_where_no_step_descends(optimizer, blocks):
    """The gradient has the wrong sign: fifteen trials of each block, and the start is kept."""
    start = np.array([1.0, 2.0])
    wrong = Plain(lambda theta: theta @ theta, lambda theta: -2.0 * theta)
    found = descend(wrong, start, DescentOptions(optimizer, blocks=blocks))
    told = found.status, found.n_iter, found.n_evaluations, found.objective
    assert told == (Status.STALLED, 0, 31 if blocks else 16, 5.0)
    np.testing.assert_array_equal([found.theta, found.point], [start, start])
    assert found.gradient_norm == pytest.approx(2.0 * np.sqrt(5.0))


def test_values_that_are_not_numbers_are_refused():
    objective = Plain(lambda theta: np.nan if theta[0] < 0.4 else theta[0] ** 2, lambda theta: 2.0 * theta)
    found = descend(objective, np.array([1.0]))
    assert found.objective == pytest.approx(0.16, abs=0.1)
    assert found.theta[0] >= 0.4


@pytest.mark.parametrize("after", [0, 1, 3])
def test_an_interruption_keeps_the_point(after):
    seen = []

    def callback(entry):
        seen.append(entry)
        return entry["iteration"] == after

    objective = quadratic([1.0, 3.0])
    options = DescentOptions(tol=1e-12, callback=callback)
    found = descend(objective, np.array([9.0, 9.0]), options)
    assert found.status == Status.INTERRUPTED
    assert found.n_iter == after
    assert seen == found.history
    assert found.objective == objective.function(found.theta) == seen[-1]["objective"]
    np.testing.assert_array_equal(found.point, found.theta)
    unbroken = descend(quadratic([1.0, 3.0]), np.array([9.0, 9.0]), DescentOptions(tol=1e-12, max_iter=after))
    np.testing.assert_array_equal(unbroken.theta, found.theta)


def test_the_projection_is_part_of_every_point():
    """Each point is admissible, the start too, and what is kept is the projected point."""
    objective = quadratic([1.0, 1.0], shift=np.array([-2.0, 3.0]))
    objective.onto = lambda theta: np.maximum(theta, 0.0)
    found = descend(objective, np.array([-1.0, 0.5]), DescentOptions(tol=1e-9))
    assert (np.array(objective.asked) >= 0.0).all()
    np.testing.assert_array_equal(objective.asked[0], [0.0, 0.5])
    assert found.theta[0] == 0.0
    assert found.theta[1] > 2.0


def test_snapshot_and_description_belong_to_accepted_points():
    """After refused trials, the last point asked for is not the point that is kept."""
    objective = quadratic([1.0, 40.0])
    found = descend(objective, np.array([2.0, 0.3]), DescentOptions(tol=1e-8, max_iter=12))
    np.testing.assert_array_equal(found.point, found.theta)
    for entry in found.history:
        accepted = objective.asked[entry["n_asked"] - 1]
        assert objective.function(accepted) == entry["objective"]
    assert found.gradient_norm == pytest.approx(np.linalg.norm(objective.slope(found.theta)), rel=1e-12)


# --- L-BFGS directions, and blocks of parameters that move by turns -----------------------------------------


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
