"""The weight learner against a conic solver, and its certificate against a judge that believes nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multikernel.core.optim.loop import Options, Status
from multikernel.core.optim.weight_sets import LpBall
from multikernel.core.stack.sums import WeightedStack
from multikernel.core.svm.losses import Hinge
from multikernel.core.svm.machine import Machine
from multikernel.core.weights.learn import learn_weights
from multikernel.core.weights.loop import OuterLoop
from tests.core.problems import KINDS, Task, gaussian, judge, make_kernels
from tests.core.reference import optimal_value

NORMS = (1.0, 1.33, 2.0, 4.0, np.inf)
TIGHT = Options(tol=1e-8)


def make_task(kind, X, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    n = len(X)
    noise = rng.normal(size=n)
    weights = rng.uniform(0.3, 3.0, size=n) if weighted else np.ones(n)
    if kind == "svr":
        return Task(kind, 3.0 * np.sin(X[:, 0]) + 0.3 * noise, 2.0 * weights, 0.2)
    if kind == "one_class":
        return Task(kind, np.zeros(n), weights / (0.3 * weights.sum()))
    if kind == "ridge":
        return Task(kind, 5.0 * np.sin(X[:, 0]) + X[:, 3] + noise, 0.7 / weights)
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 0.5 + (0.5 * noise if kind != "hard_margin" else 0) > 0, 1.0, -1.0)
    if kind == "soft_labels":
        y *= rng.uniform(0.02, 1.0, size=n)
    return Task(kind, y, 1.5 * weights)


def relative(upper, lower):
    return (upper - lower) / abs(upper)


def require_certified(Ks, tasks, result, tol, norm=1.0, costs=None, ridge=None):
    """What the solver says of itself is what the judge finds: bounds, gap, objective, weights in the set."""
    assert result.status == Status.OPTIMAL
    assert result.gap <= tol
    upper, lower = judge(Ks, tasks, result.weights, result.duals, norm, costs, ridge)
    slack = 1e-9 * abs(upper) if np.asarray(Ks).dtype == np.float64 else 1e-6 * abs(upper)
    assert relative(upper, lower) <= tol + slack / abs(upper)
    np.testing.assert_allclose(result.upper_bound, upper, atol=slack, rtol=0)
    np.testing.assert_allclose(result.lower_bound, lower, atol=slack, rtol=0)
    assert lower - slack <= result.objective <= upper + slack
    return upper, lower


def require_optimal(Ks, tasks, norm=1.0, costs=None, ridge=False, tol=1e-8, rtol=1e-6):
    """Certified, and of the value that a conic solver finds."""
    losses = [task.loss() for task in tasks]
    options = Options(tol=tol)
    result = learn_weights(Ks, losses, norm=norm, costs=costs, learn_ridge=ridge, options=options)
    require_certified(Ks, tasks, result, tol, norm, costs, result.ridge if ridge else None)
    scaled = Ks / (np.ones(len(Ks)) if costs is None else costs**2)[:, None, None]
    reference = optimal_value(scaled, [task.reference() for task in tasks], norm, identity=ridge)
    np.testing.assert_allclose(result.objective, reference, rtol=rtol)
    return result


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_that_of_a_conic_solver(kind, norm):
    X, Ks = make_kernels(36, 5, seed=1)
    Ks.flags.writeable = False
    require_optimal(Ks, [make_task(kind, X, weighted=True)], norm)


@pytest.mark.parametrize("norm", (1.0, 2.0))
@pytest.mark.parametrize("kind", KINDS)
def test_costs_tasks_and_single_precision(kind, norm):
    X, Ks = make_kernels(30, 4, seed=3)
    task, other = make_task(kind, X), make_task(kind, X[:, [2, 1, 0, 4]], seed=1)
    require_optimal(Ks, [task], norm, costs=np.array([2.0, 0.5, 1.0, 3.0]))
    require_optimal(Ks.astype(np.float32), [task], norm, tol=1e-5, rtol=2e-5)
    if kind != "one_class":
        require_optimal(Ks, [task, other], norm)


@pytest.mark.parametrize("norm", (1.0, 1.33, 2.0))
def test_a_learned_ridge_is_the_identity_as_one_more_kernel(norm):
    X, Ks = make_kernels(36, 4, seed=4)
    task = Task("hard_margin", make_task("hinge", X).target)
    assert require_optimal(Ks, [task], norm, np.array([1.0, 0.7, 1.0, 1.5]), ridge=True).ridge > 0


def test_ridge_regression_without_intercept():
    X, Ks = make_kernels(36, 4, seed=5)
    base = make_task("ridge", X)
    task = Task("ridge", base.target + 3.0, base.size, intercept=False)
    assert require_optimal(Ks, [task]).intercepts.tolist() == [0.0]


@pytest.mark.parametrize("C", [1e-6, 1e-4, 1e-3])
def test_tiny_C(C):
    X, Ks = make_kernels(40, 5, seed=8)
    task = Task("hinge", make_task("hinge", X).target, C)
    result = learn_weights(Ks, [task.loss()], options=Options(tol=1e-7))
    require_certified(Ks, [task], result, 1e-7)
    unit = Task("hinge", task.target, 1.0)  # β = Cu: of order one, as the tolerances of the reference are
    np.testing.assert_allclose(result.objective, C * optimal_value(C * Ks, [unit.reference()]), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_returned_intercept_is_the_best_one(kind):
    X, Ks = make_kernels(40, 3, seed=7)
    task = make_task(kind, X, weighted=True)
    result = learn_weights(Ks, [task.loss()], options=Options(tol=1e-6))
    scores = np.tensordot(result.weights, Ks @ result.duals[0], 1)
    if kind == "hard_margin":
        margins = task.target * (scores + result.intercepts[0])
        np.testing.assert_allclose(margins.min(), 1.0, rtol=1e-9)  # scaled to the margin one
        return
    best = task.primal(scores, 0.0)
    np.testing.assert_allclose(task.slack_risk(scores, result.intercepts[0]), best, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("how", ("iterations", "callback"))
@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_that_ends_early_states_the_true_gap(kind, how):
    X, Ks = make_kernels(60, 5, seed=16)
    task, seen = make_task(kind, X), []
    options = Options(tol=1e-12, max_iter=1)
    if how == "callback":
        options = Options(tol=1e-12, callback=lambda entry: seen.append(dict(entry)) or True)
    result = learn_weights(Ks, [task.loss()], options=options)
    assert result.status == (Status.INTERRUPTED if how == "callback" else Status.MAX_ITER)
    assert result.n_iter == 1 and len(seen) == (how == "callback")
    upper, lower = judge(Ks, [task], result.weights, result.duals)
    np.testing.assert_allclose(result.gap, relative(upper, lower), rtol=1e-6)


# ---------------------------------------------------------------------- where the optimal value has kinks
CS = st.sampled_from([1e-4, 1e-2, 1.0, 100.0])


@given(st.integers(0, 10**6), CS, st.sampled_from(["hinge", "svr"]))
@settings(max_examples=12)
def test_rank_one_kernels(seed, C, kind):
    """At most as many free vectors as kernels with weight: the curvature says little."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 6))
    Ks = np.stack([np.outer(x, x) for x in X.T])
    base = make_task(kind, X, seed)
    task = Task(kind, base.target, C if kind == "hinge" else min(C, 1.0), base.epsilon)
    result = learn_weights(Ks, [task.loss()], options=Options(tol=1e-6))
    require_certified(Ks, [task], result, 1e-6)
    reference = optimal_value(Ks, [task.reference()])
    np.testing.assert_allclose(result.objective, reference, rtol=3e-6, atol=1e-9)


@pytest.mark.parametrize(("seed", "width"), [(342, 0.3), (621, 0.25), (2589, 0.25)])
def test_steps_to_and_fro_across_a_valley_come_to_an_end(seed, width):
    """Newton's steps led from one corner across the optimum and back, each a little better than the last."""
    rng = np.random.default_rng(seed)
    n = rng.integers(30, 51)
    X = rng.normal(size=(n, 4))
    y = np.where(np.abs(X[:, 0] + X[:, 1] ** 2 + 0.2 * rng.normal(size=n) - 0.35) < 0.65, 1.0, -1.0)
    Ks, task = np.stack([gaussian(X[:, :2], width), gaussian(X[:, 2:], width)]), Task("hinge", y, 1.0)
    result = learn_weights(Ks, [task.loss()])
    require_certified(Ks, [task], result, 1e-3)
    assert result.n_iter < 30


def test_a_problem_of_kinks_that_newton_alone_does_not_solve():
    """Rank-one kernels with a large C: hardly any free vector; null steps and the level method are needed."""
    X = np.random.default_rng(129).normal(size=(30, 6))
    noise = 0.5 * np.random.default_rng(129).normal(size=30)
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 0.5 + noise > 0, 1.0, -1.0)
    Ks, task = np.stack([np.outer(x, x) for x in X.T]), Task("hinge", y, 100.0)
    result = learn_weights(Ks, [task.loss()], options=Options(tol=1e-6))
    require_certified(Ks, [task], result, 1e-6)


def test_a_hessian_of_rounding_alone_is_no_hessian(monkeypatch):
    """Two free samples that mirror one another, as of a grid: J is locally linear though some are free."""
    original = Machine.sensitivity
    rounding = np.diag([1e-18, -1e-18])  # the machine's own is exact here
    monkeypatch.setattr(
        Machine, "sensitivity", lambda self, kernels: replace(original(self, kernels), hessian=rounding)
    )
    X = [[3, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 1], [0, 3], [1, 0], [2, 0], [4, 4], [2, 3], [3, 2]]
    X = np.array(X, float)
    Ks, task = np.stack([X @ X.T, gaussian(X, 0.5)]), Task("one_class", np.zeros(12), 1.0 / 6.0)
    require_certified(Ks, [task], learn_weights(Ks, [task.loss()], options=TIGHT), 1e-8)


@pytest.mark.parametrize("norm", (1.0, 2.0))
@pytest.mark.parametrize("kind", KINDS)
def test_newton_takes_few_iterations(kind, norm):
    """With the right second derivatives of the optimal value, from the first iteration on."""
    X, Ks = make_kernels(60, 5, seed=6)
    options = Options(tol=1e-8, coarse=False)
    result = learn_weights(Ks, [make_task(kind, X).loss()], norm=norm, options=options)
    assert result.status == Status.OPTIMAL and result.n_iter <= (13 if norm == 1.0 else 8)


@pytest.mark.parametrize("kind", KINDS)
def test_duplicated_kernels_have_the_value_of_one(kind):
    X, Ks = make_kernels(30, 3, seed=9)
    task = make_task(kind, X)
    twice = np.concatenate([Ks, Ks])
    result = learn_weights(twice, [task.loss()], options=TIGHT)
    require_certified(twice, [task], result, 1e-8)
    once = learn_weights(Ks, [task.loss()], options=TIGHT)
    np.testing.assert_allclose(result.objective, once.objective, rtol=1e-7)
    np.testing.assert_allclose(result.weights[:3] + result.weights[3:], once.weights, atol=1e-4)


@pytest.mark.parametrize("norm", (1.0, 2.0))
@pytest.mark.parametrize("kind", KINDS)
def test_kernels_of_very_different_scale(kind, norm):
    X, Ks = make_kernels(30, 4, seed=10)
    Ks = Ks * np.array([1e-6, 1.0, 1e6, 1e-3])[:, None, None]
    task = make_task(kind, X)
    result = learn_weights(Ks, [task.loss()], norm=norm, options=Options(tol=1e-6))
    require_certified(Ks, [task], result, 1e-6, norm)


@pytest.mark.parametrize("factor", [1e-12, 1e12])
@pytest.mark.parametrize("kind", ["squared_hinge", "svr", "ridge"])
def test_the_units_of_kernels_do_not_matter(kind, factor):
    """K → cK with C → C/c (ridge → c ridge) leaves the weights and divides the value by c."""
    X, Ks = make_kernels(30, 4, seed=11)
    task = make_task(kind, X)
    size = task.sizes * factor if kind == "ridge" else task.sizes / factor
    scaled = Task(kind, task.target, size, task.epsilon)
    plain = learn_weights(Ks, [task.loss()], options=TIGHT)
    other = learn_weights(Ks * factor, [scaled.loss()], options=TIGHT)
    np.testing.assert_allclose(other.weights, plain.weights, atol=1e-6)
    np.testing.assert_allclose(other.objective * factor, plain.objective, rtol=1e-7)


@given(
    st.sampled_from(KINDS),
    st.sampled_from(NORMS),
    st.integers(8, 30),
    st.integers(1, 6),
    st.sampled_from([1e-2, 1.0, 1e3]),
    st.integers(0, 10**6),
)
def test_every_result_is_certified(kind, norm, n, m, factor, seed):
    X, Ks = make_kernels(n, m, seed)
    base = make_task(kind, X, seed)
    if kind not in ("svr", "one_class", "ridge"):
        base.target[:2] = [1.0, -1.0]
    size = base.size if kind == "one_class" else np.asarray(base.size) * factor
    task = Task(kind, base.target, size, base.epsilon)
    result = learn_weights(Ks, [task.loss()], norm=norm, options=Options(tol=1e-6))
    if kind == "hard_margin" and result.status == Status.INSEPARABLE:
        assert not np.isfinite(result.objective)
        return
    require_certified(Ks, [task], result, 1e-6, norm)


# ---------------------------------------------------------------------- larger problems
def wide_problem(n, m, seed=0):
    """Many kernels of which few matter: the coarse start and the working set are used."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    Ks = [gaussian(X[:, [k % 6]], 10.0 ** ((k % 5) - 2)) for k in range(m - 2)]
    return X, np.stack([*Ks, gaussian(X, 0.1), X @ X.T / 6.0])


@pytest.mark.parametrize(
    ("kind", "norm", "n"),
    [
        ("hinge", 1.0, 500), ("hinge", 2.0, 400), ("squared_hinge", 1.0, 500), ("svr", 1.0, 400),
        ("one_class", 1.0, 400), ("ridge", 1.0, 400), ("hard_margin", 1.0, 300), ("svr", 1.33, 300),
        ("soft_labels", 1.0, 400),
    ],
)  # fmt: skip
def test_larger_problems_are_certified(kind, norm, n):
    """Most kernels are left out on the way; with costs, they differ in scale."""
    X, Ks = wide_problem(n, 10)
    task = make_task(kind, X)
    costs = 1.0 + np.arange(10) % 3
    values = []
    for coarse in (True, False):
        options = Options(tol=1e-6, coarse=coarse)
        result = learn_weights(Ks, [task.loss()], norm=norm, costs=costs, options=options)
        require_certified(Ks, [task], result, 1e-6, norm, costs)
        values.append(result.objective)
    np.testing.assert_allclose(values[0], values[1], rtol=2e-6)


def test_many_free_vectors_on_a_read_only_single_precision_stack():
    """A squared hinge with small C keeps most samples free: conjugate gradients for the step."""
    X, Ks = wide_problem(450, 8, seed=1)
    Ks = Ks.astype(np.float32)
    Ks.flags.writeable = False
    task = Task("squared_hinge", make_task("hinge", X).target, 0.05)
    result = learn_weights(Ks, [task.loss()], options=Options(tol=1e-5))
    require_certified(Ks, [task], result, 1e-5)
    assert np.count_nonzero(result.duals) > 300


# ---------------------------------------------------------------------- the loop's manners


@pytest.mark.parametrize("kind", KINDS)
def test_the_history_encloses_the_optimum_ever_closer(kind):
    X, Ks = make_kernels(40, 5, seed=13)
    result = learn_weights(Ks, [make_task(kind, X).loss()], options=TIGHT)
    upper = np.array([entry["objective"] for entry in result.history])
    lower = np.array([entry["lower_bound"] for entry in result.history])
    assert [entry["iteration"] for entry in result.history] == list(range(1, result.n_iter + 1))
    assert (np.diff(upper[:-1]) <= 0).all() and (np.diff(lower[:-1]) >= 0).all()
    last = result.history[-1]  # it is not the best that was seen, but what is returned
    assert (last["objective"], last["lower_bound"], last["gap"]) == (
        result.upper_bound, result.lower_bound, result.gap
    )  # fmt: skip
    rounding = 1e-12 * abs(result.objective)
    assert (upper >= result.objective - 1e-8 * abs(result.objective)).all()
    assert (lower <= result.objective + rounding).all()


def test_an_indefinite_kernel_is_reported():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 50))
    Ks = np.stack([A + A.T, np.eye(50)])
    task = Task("hinge", np.where(rng.normal(size=50) > 0, 1.0, -1.0), 10.0)
    result = learn_weights(Ks, [task.loss()])
    assert result.status == Status.INDEFINITE or result.suspicious


def test_inseparable_classes_have_no_hard_margin():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    result = learn_weights((X @ X.T)[None], [Task("hard_margin", y).loss()])
    assert result.status == Status.INSEPARABLE
    assert result.gap == np.inf


# ---------------------------------------------------------------------- a start
SOFT_KINDS = [kind for kind in KINDS if kind != "hard_margin"]


@pytest.mark.parametrize("norm", (1.0, 2.0, np.inf))
@pytest.mark.parametrize("kind", KINDS)
def test_a_start_with_other_costs_changes_nothing_but_the_way(kind, norm):
    X, Ks = make_kernels(60, 4, seed=5)
    task = make_task(kind, X, weighted=True)
    before = learn_weights(Ks, [task.loss()], norm=1.0, options=Options(tol=1e-4))
    costs = np.array([1.0, 2.0, 0.5, 3.0])
    cold = learn_weights(Ks, [task.loss()], norm=norm, costs=costs, options=TIGHT)
    duals = before.duals.copy()
    warm = learn_weights(Ks, [task.loss()], norm=norm, costs=costs, options=TIGHT, start=before)
    require_certified(Ks, [task], warm, 1e-8, norm, costs)
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=1e-7)
    np.testing.assert_array_equal(before.duals, duals)
    if kind in SOFT_KINDS:  # the solution itself is the best start
        again = learn_weights(
            Ks, [task.loss()], norm=norm, costs=costs, options=Options(tol=1e-5), start=cold
        )
        assert again.n_iter == 1 and again.gap <= 1e-5
        np.testing.assert_allclose(again.weights, cold.weights, atol=1e-9)


def test_a_start_for_other_losses_is_refused():
    X, Ks = make_kernels(30, 2, seed=5)
    task = make_task("hinge", X)
    found = learn_weights(Ks, [task.loss()])
    smaller = Task("hinge", task.target, 0.1 * task.size)
    with pytest.raises(ValueError, match="must be feasible"):
        learn_weights(Ks, [smaller.loss()], start=found)
    with pytest.raises(ValueError, match="must be feasible"):
        learn_weights(Ks, [Task("hinge", -task.target, task.size).loss()], start=found)
    unbalanced = replace(found, duals=np.where(found.duals > 0, 0.5, 1.0) * found.duals)
    with pytest.raises(ValueError, match="must be feasible"):
        learn_weights(Ks, [task.loss()], start=unbalanced)
    with pytest.raises(ValueError, match="same samples and classes"):
        learn_weights(Ks, [task.loss()] * 2, start=found)


def test_machines_are_solved_on_before_the_kernels_left_out_are_looked_at():
    """A small gap at the best scaling of the duals is not one of the duals that are returned."""
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    stack = WeightedStack(np.stack([np.eye(4)] * 3), np.ones(3), np.zeros(4))
    loop = OuterLoop(stack, [Hinge(y, 1.0)], LpBall(1.0), Options(tol=1e-3))
    loop.working[2] = False
    assert not loop._checks_rest(1e-4, 2e-3)
    assert loop._checks_rest(1e-4, 1e-4)
    loop.n_polished = 2  # it may be that rounding is in the way
    assert loop._checks_rest(1e-4, 2e-3)
    assert not loop._checks_rest(2e-3, 2e-3)
