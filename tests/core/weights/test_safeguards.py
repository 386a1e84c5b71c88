"""The safeguards of the outer loop are really reached, and derivatives agree with finite differences."""

from dataclasses import replace

import numpy as np
import pytest

from multikernel.core.optim.loop import Options, Status
from multikernel.core.optim.weight_sets import LpBall
from multikernel.core.stack.linear import WeightedStack
from multikernel.core.svm.losses import Hinge, SquaredError, SquaredHinge
from multikernel.core.svm.machine import Machine, solve_machine
from multikernel.core.weights import loop as outer_loop
from multikernel.core.weights.learn import learn_weights
from tests.core.problems import Task, gaussian, judge, make_kernels


def spy(monkeypatch, owner, name):
    """Count the calls of a function without changing what it does."""
    calls = []
    original = getattr(owner, name)

    def counted(*arguments, **named):
        calls.append(name)
        return original(*arguments, **named)

    monkeypatch.setattr(owner, name, counted)
    return calls


def nonsmooth_problem(seed=129, n=30):
    """Rank-one kernels with large C: hardly any free vector, kinks everywhere."""
    X = np.random.default_rng(seed).normal(size=(n, 6))
    noise = 0.5 * np.random.default_rng(seed).normal(size=n)
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 0.5 + noise > 0, 1.0, -1.0)
    return np.stack([np.outer(x, x) for x in X.T]), Task("hinge", y, 100.0)


def require_solved(Ks, task, result, tol, norm=1.0):
    upper, lower = judge(Ks, [task], result.weights, result.duals, norm)
    assert result.status == Status.OPTIMAL and (upper - lower) / abs(upper) <= tol * 1.001


def test_the_level_method_is_reached(monkeypatch):
    calls = spy(monkeypatch, outer_loop, "level_step")
    Ks, task = nonsmooth_problem()
    require_solved(Ks, task, learn_weights(Ks, [task.loss()], options=Options(tol=1e-6)), 1e-6)
    assert calls


def test_null_steps_are_reached(monkeypatch):
    calls = spy(monkeypatch, outer_loop, "null_step")
    Ks, task = nonsmooth_problem()
    require_solved(Ks, task, learn_weights(Ks, [task.loss()], options=Options(tol=1e-6)), 1e-6)
    assert calls


def test_the_level_method_alone_solves_the_problem(monkeypatch):
    """From the first iteration on: it needs no help."""
    monkeypatch.setattr(outer_loop, "_PATIENCE", 0)
    X, Ks = make_kernels(30, 4, seed=3)
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1.0, -1.0)
    task = Task("hinge", y, 1.0)
    calls = spy(monkeypatch, outer_loop, "level_step")
    require_solved(Ks, task, learn_weights(Ks, [task.loss()], options=Options(tol=1e-4)), 1e-4)
    assert calls


@pytest.mark.parametrize(("seed", "width"), [(342, 0.3), (621, 0.25), (2589, 0.25)])
def test_steps_to_and_fro_across_a_valley_come_to_an_end(seed, width):
    """Newton's steps led from one corner across the optimum and back, each a little better than the last."""
    rng = np.random.default_rng(seed)
    n = rng.integers(30, 51)
    X = rng.normal(size=(n, 4))
    y = np.where(np.abs(X[:, 0] + X[:, 1] ** 2 + 0.2 * rng.normal(size=n) - 0.35) < 0.65, 1.0, -1.0)
    Ks, task = np.stack([gaussian(X[:, :2], width), gaussian(X[:, 2:], width)]), Task("hinge", y, 1.0)
    result = learn_weights(Ks, [task.loss()])
    require_solved(Ks, task, result, 1e-3)
    assert result.history[-1]["gap"] == result.gap
    assert result.n_iter < 30


def test_closed_form_steps_alone_solve_lp_problems(monkeypatch):
    monkeypatch.setattr(outer_loop, "_PATIENCE", 0)
    calls = spy(monkeypatch, outer_loop.OuterLoop, "_closed_form_step")
    X, Ks = make_kernels(30, 4, seed=3)
    task = Task("hinge", np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1.0, -1.0), 1.0)
    result = learn_weights(Ks, [task.loss()], norm=2.0, options=Options(tol=1e-4))
    require_solved(Ks, task, result, 1e-4, 2.0)
    assert calls


@pytest.mark.parametrize("kind", ["hinge", "squared_hinge"])
def test_the_gradient_of_the_optimal_value(kind):
    """dJ/dμ_m = −½ β'K_mβ at the solution, by central differences."""
    X, Ks = make_kernels(40, 4, seed=5)
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1.0, -1.0)
    loss = Hinge(y, 1.0) if kind == "hinge" else SquaredHinge(y, 1.0)
    mu = np.array([0.3, 0.4, 0.1, 0.2])

    def value(mu):
        return solve_machine(np.tensordot(mu, Ks, 1), loss, tol=1e-11)

    beta = value(mu).dual
    for m in range(4):
        step = np.zeros(4)
        step[m] = 1e-5
        slope = (value(mu + step).objective - value(mu - step).objective) / 2e-5
        np.testing.assert_allclose(slope, -0.5 * beta @ Ks[m] @ beta, rtol=1e-4)


@pytest.mark.parametrize("kind", ["hinge", "squared_hinge", "ridge"])
def test_the_hessian_of_the_optimal_value(kind):
    """The second derivative that the Newton step uses, against differences of the gradient."""
    X, Ks = make_kernels(40, 3, seed=6)
    Ks[1] = gaussian(X[:, :3], 0.7)
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1.0, -1.0)
    loss = {
        "hinge": Hinge(y, 1.0),
        "squared_hinge": SquaredHinge(y, 1.0),
        "ridge": SquaredError(X[:, 0], 0.5),
    }
    mu = np.array([0.3, 0.5, 0.2])

    def learner(mu):
        stack = WeightedStack(Ks, np.ones(3), loss[kind].shift)
        state = outer_loop.OuterLoop(stack, [loss[kind]], LpBall(1.0), Options(tol=1e-12))
        state.mu = mu
        state.target = 1e-15
        stack.set_weights(mu)
        state.machines[0].rebuild_gradient()
        state._solve()
        state._refresh()
        return state

    here = learner(mu)
    hessian = here.machines[0].sensitivity(np.arange(3)).hessian
    for m in range(3):
        step = np.zeros(3)
        step[m] = 1e-4
        slope = (learner(mu + step).q - learner(mu - step).q) / 2e-4
        np.testing.assert_allclose(-0.5 * slope, hessian[m], rtol=2e-3, atol=1e-4 * np.abs(hessian).max())


def test_a_hessian_of_rounding_alone_is_no_hessian(monkeypatch):
    """Two free samples that mirror one another, as of a grid: J is locally linear though some are free."""
    X = np.array(
        [[3, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 1], [0, 3], [1, 0], [2, 0], [4, 4], [2, 3], [3, 2]]
    )
    Ks = np.stack([X @ X.T.astype(float), gaussian(X.astype(float), 0.5)])
    original = Machine.sensitivity
    rounding = np.diag([1e-18, -1e-18])  # the machine's own is exact here
    monkeypatch.setattr(
        Machine, "sensitivity", lambda self, kernels: replace(original(self, kernels), hessian=rounding)
    )
    task = Task("one_class", np.zeros(12), 1.0 / 6.0)
    require_solved(Ks, task, learn_weights(Ks, [task.loss()], options=Options(tol=1e-8)), 1e-8)
