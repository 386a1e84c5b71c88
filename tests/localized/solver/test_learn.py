"""Learned gates: the best of several starts, and saturation."""

from types import SimpleNamespace

import numpy as np
import pytest

from multikernel.localized.solver import gates
from multikernel.localized.solver.learn import DescentOptions, GatedObjective, keep_best, learn_gates
from tests.localized.solver.gated_problems import GATES, MACHINES, make_machines, make_problem


def make_objective(kind="hinge", gate="softmax", n=40, sources=(1, 1, 2), seed=0, tol=1e-4):
    problem = make_problem(n, seed=seed)
    machines = make_machines(kind, problem, tol)
    return GatedObjective(problem.Ks, np.asarray(sources), problem.X, gates.GATES[gate], machines)


class Wells:
    """A function of one parameter with many minima: the bottom of a well depends on the start alone."""

    def __init__(self, depths):
        self.depths = depths
        self.machines = SimpleNamespace(reset=self._count, suspicious=False, n_machines=1)
        self.n_resets = 0

    def _count(self):
        self.n_resets += 1

    def value(self, theta, ceiling=np.inf):
        self.theta = theta
        well = round(theta[0] / 10.0)
        return float((theta[0] - 10.0 * well) ** 2 + self.depths[well])

    def gradient(self):
        return 2.0 * (self.theta - 10.0 * round(self.theta[0] / 10.0))

    def project(self, theta):
        return theta

    def snapshot(self):
        solved = SimpleNamespace(gap=1e-5, exhausted=False)
        return SimpleNamespace(theta=self.theta.copy(), solved=solved)

    def describe(self):
        return {}


def starts_in(*wells):
    return [np.array([10.0 * well + 1.0]) for well in wells]


class TestTheBestOfSeveralStarts:
    options = DescentOptions(tol=1e-9)

    def test_the_lowest_value_is_kept(self):
        objective = Wells([5.0, 3.0, 4.0, 3.5])
        found = keep_best(objective, starts_in(0, 1, 2, 3), [False, True, False, False], self.options)
        assert found.objective == pytest.approx(3.0, abs=1e-6)
        assert found.point.theta[0] == pytest.approx(10.0, abs=1e-3)
        np.testing.assert_allclose(found.objectives, [5.0, 3.0, 4.0, 3.5], atol=1e-6)
        assert found.start_saturated
        assert {entry["start"] for entry in found.history} == {1}
        assert objective.n_resets == 4
        assert found.history[-1]["objective"] == found.objective

    def test_ties_keep_the_first(self):
        found = keep_best(Wells([5.0, 3.0, 3.0]), starts_in(0, 1, 2), [False, False, True], self.options)
        assert found.point.theta[0] == pytest.approx(10.0, abs=1e-3)
        assert not found.start_saturated
        assert found.history[0]["start"] == 1

    def test_solves_of_all_starts_are_counted(self):
        alone = [
            keep_best(Wells([5.0, 3.0, 4.0]), starts_in(well), [False], self.options).n_solves
            for well in (0, 1, 2)
        ]
        together = keep_best(Wells([5.0, 3.0, 4.0]), starts_in(0, 1, 2), [False] * 3, self.options)
        assert together.n_solves == sum(alone)

    def test_an_interruption_ends_the_search_and_keeps_the_best_so_far(self):
        seen = []

        def callback(entry):
            seen.append(entry["start"])
            return entry["start"] == 2

        options = DescentOptions(tol=1e-9, callback=callback)
        objective = Wells([5.0, 3.0, 4.0, 1.0])
        found = keep_best(objective, starts_in(0, 1, 2, 3), [False] * 4, options)
        assert objective.n_resets == 3
        assert found.objective == pytest.approx(3.0, abs=1e-6)
        assert len(found.objectives) == 3
        assert set(seen) == {0, 1, 2}


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize("gate", GATES)
def test_learning_lowers_the_objective_and_says_where_it_is(kind, gate):
    objective = make_objective(kind, gate, sources=(0, 1, 2))
    found = learn_gates(objective, 1, np.random.default_rng(0), DescentOptions(max_iter=15))
    values = [entry["objective"] for entry in found.history]
    assert (np.diff(values) < 0.0).all()
    assert found.objective == values[-1] < values[0]
    assert found.gap <= 1e-4
    assert found.n_iter == len(values) - 1
    assert found.n_solves > found.n_iter
    assert not found.start_saturated
    assert not found.suspicious
    # The kept point is a point of the objective: asked again, it has the same value, slope and machines.
    point = found.point
    objective.machines.reset()
    assert objective.value(point.V.ravel()) == pytest.approx(found.objective, rel=3e-4)
    np.testing.assert_allclose(objective.eta, point.eta, rtol=1e-12)
    slope = np.linalg.norm(objective.gradient())
    assert slope == pytest.approx(found.gradient_norm, rel=0.1, abs=0.02 * abs(found.objective))
    f = objective.K @ point.coefficients + point.intercepts
    g = objective.K @ objective.machines.coefficients + objective.machines.intercepts
    if kind not in ("joint", "one_class"):
        np.testing.assert_allclose(f, g, atol=0.05 * np.abs(g).max())


def test_a_used_objective_learns_as_a_fresh_one():
    """Warm starts of an earlier search are forgotten."""
    objective = make_objective()
    learn_gates(objective, 1, np.random.default_rng(3))
    again = learn_gates(objective, 1, np.random.default_rng(4))
    fresh = learn_gates(make_objective(), 1, np.random.default_rng(4))
    assert again.history == fresh.history


@pytest.mark.parametrize("gate", ("softmax", "sigmoid"))
def test_saturated_starts_are_flagged_and_barely_move(gate):
    far = learn_gates(make_objective(gate=gate), 1, np.random.default_rng(0), scale=1e4)
    near = learn_gates(make_objective(gate=gate), 1, np.random.default_rng(0))
    assert far.start_saturated
    assert not near.start_saturated
    fall = [1.0 - found.objective / found.history[0]["objective"] for found in (far, near)]
    assert fall[0] < 0.2 * fall[1]


def test_one_sigmoid_gate_is_trained():
    found = learn_gates(make_objective(gate="sigmoid", sources=(0,)), 1, np.random.default_rng(0))
    assert found.n_iter > 1
    assert found.objective < found.history[0]["objective"]
