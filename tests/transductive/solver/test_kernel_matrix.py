"""Learning the kernel matrix: the optimum by other means, the gap from outside, and honest endings."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from judges.optimum import conic_optimum
from multikernel.core.optim.loop import Options, Status
from multikernel.core.weights.learn import learn_weights
from multikernel.transductive.solver import kernel_matrix
from multikernel.transductive.solver.kernel_matrix import learn_kernel_matrix
from tests.transductive.solver.matrix_problems import (
    CRITERIA,
    WEIGHTS,
    everywhere,
    judge,
    kernel,
    learn,
    machine,
    make_case,
    optimal,
    reference_optimum,
)

# --------------------------------------------------------------------------- the optimum by other means


@everywhere
@pytest.mark.parametrize(("seed", "n"), [(0, 18), (1, 18), (2, 14)])  # the last has no unlabelled points
def test_the_optimum_of_a_conic_solver(criterion, weights, seed, n):
    case = make_case(criterion, weights, n=n, seed=seed)
    result = optimal(case)
    expected = reference_optimum(case)
    figures = [result.objective, result.upper_bound, result.lower_bound]
    np.testing.assert_allclose(figures, expected, rtol=1e-6)
    assert (result.ridge > 0.0) == (criterion == "soft2 learned")


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    ("criterion", "C"), [("soft1", 0.03), ("soft1", 30.0), ("soft2", 0.03), ("soft2", 30.0)]
)
def test_the_optimum_at_other_prices(criterion, C, weights):
    case = make_case(criterion, weights, C=C, seed=2)
    np.testing.assert_allclose(optimal(case).objective, reference_optimum(case), rtol=1e-6)


@everywhere
def test_the_gap_from_outside(criterion, weights):
    """Above by scikit-learn's machine at the learned kernel, below by the duals alone: they must meet."""
    case = make_case(criterion, weights, seed=3)
    case.members.flags.writeable = case.y.flags.writeable = False  # nothing given is modified
    result = optimal(case)
    upper, lower = judge(case, result)
    np.testing.assert_allclose([upper, lower], result.objective, rtol=3e-6)  # what scikit-learn reaches
    assert lower >= result.lower_bound - 1e-7 * upper  # no bound claims more than can be proved
    assert result.lower_bound <= upper and result.upper_bound >= lower
    # the figures and the intercept are those of the weights and duals returned
    N = case.y.size
    K, a = kernel(case, result.weights)[:N, :N], case.y * result.dual
    tau = case.tau + result.ridge
    value = 2 * a.sum() - result.dual @ K @ result.dual - tau * a @ a
    np.testing.assert_allclose(result.objective, value, rtol=1e-10)
    np.testing.assert_allclose(result.gap, 1 - result.lower_bound / result.upper_bound, atol=1e-13)
    scores, task = K @ result.dual, machine(case, result.ridge)
    if criterion == "hard":
        assert (case.y * (scores + result.intercept)).min() > 1 - 1e-5
    else:
        primal = scores @ result.dual + 2 * task.slack_risk(scores, result.intercept)
        np.testing.assert_allclose(primal, result.objective, rtol=1e-7)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_nonnegative_weights_by_the_weight_learner(criterion):
    """The same problem on the labelled points, with costs √(r/c); the identity costs one when c = n."""
    case = make_case(criterion, "nonnegative", n=40, N=30, seed=4)
    case = case.but(trace=float(case.n))
    result = optimal(case, 1e-10)
    N = case.y.size
    Ks, costs = np.ascontiguousarray(case.stack[:, :N, :N]), np.sqrt(case.r / case.c)
    problem = case.problem()
    options = Options(tol=1e-9, max_iter=2000)
    other = learn_weights(Ks, [problem.loss], costs=costs, learn_ridge=case.learned, options=options)
    assert other.status == Status.OPTIMAL
    np.testing.assert_allclose(result.objective, 2.0 * other.objective, rtol=1e-8)
    shares = case.r / case.c
    np.testing.assert_allclose(result.weights * shares, other.weights * shares, atol=1e-4)
    np.testing.assert_allclose(result.ridge, other.ridge, atol=1e-4)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(2))
def test_rank_one_members_are_an_l1_norm_machine(criterion, seed):
    """min ‖u‖₁²/c + loss over f = Vu + b, with μ = c|u|/‖u‖₁; a learned τ shares the norm with the slacks."""
    case = make_case(criterion, "spectral", seed=seed)
    result = optimal(case, 1e-10)
    V, y, N = case.members[: case.y.size], case.y, case.y.size
    u, b = cp.Variable(V.shape[1]), cp.Variable()
    slack = np.zeros(N) if criterion == "hard" else cp.Variable(N, nonneg=True)
    constraints = [cp.multiply(y, V @ u + b) >= 1 - slack]
    size, loss = cp.norm1(u), 0
    if criterion == "soft2 learned":
        size = size + np.sqrt(case.n) * cp.norm(slack)
    elif criterion != "hard":
        loss = 2 * case.C * cp.sum(slack) if criterion == "soft1" else case.C * cp.sum_squares(slack)
    value = conic_optimum(cp.Problem(cp.Minimize(cp.square(size) / case.c + loss), constraints))
    np.testing.assert_allclose(result.objective, value, rtol=1e-6)
    np.testing.assert_allclose(result.weights, case.c * np.abs(u.value) / size.value, atol=1e-3)
    f = V @ u.value
    np.testing.assert_allclose(V @ (result.weights * (V.T @ result.dual)), f, atol=1e-3 * np.abs(f).max())
    np.testing.assert_allclose(result.intercept, b.value, atol=1e-3)


# --------------------------------------------------------------------------- endings


@pytest.mark.parametrize("weights", WEIGHTS)
def test_one_iteration_says_how_far_it_came(weights):
    case = make_case("soft1", weights)
    best = optimal(case).objective
    result = learn_kernel_matrix(case.problem(), options=Options(tol=1e-8, max_iter=1))
    assert result.status == Status.MAX_ITER and result.n_iter == 1
    assert result.gap > 1e-8 and np.isfinite(result.gap)
    assert result.lower_bound <= best <= result.upper_bound
    upper, lower = judge(case, result)  # what is returned is feasible, if not optimal
    assert lower - 1e-6 * best <= best <= upper * (1 + 1e-6)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_callback_may_end_it(weights):
    case = make_case("soft2", weights)
    seen = []

    def stop(entry):
        seen.append(entry)
        entry["gap"] = 0.0  # its own copy
        return len(seen) == 3

    result = learn(case, callback=stop)
    assert result.status == Status.INTERRUPTED and result.n_iter == len(seen) == 3
    assert result.gap > 1e-8 and result.lower_bound <= optimal(case).objective <= result.upper_bound
    assert result.history[0]["gap"] > 0.0
    assert [entry["iteration"] for entry in seen] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("criterion", ["soft1", "soft2"])
def test_few_and_many_labelled_points_have_the_same_optimum(criterion, monkeypatch):
    case = make_case(criterion, "nonnegative", seed=6)
    few = optimal(case)
    monkeypatch.setattr(kernel_matrix, "_MANY", 1)
    many = optimal(case)
    np.testing.assert_allclose(many.objective, few.objective, rtol=1e-7)
    np.testing.assert_allclose(many.weights, few.weights, atol=1e-3 * np.abs(few.weights).max())
    assert not np.array_equal(many.dual, few.dual)  # another method found it


@pytest.mark.parametrize("criterion", ["soft1", "soft2"])
def test_what_the_weight_learner_leaves_the_interior_point_method_solves(criterion, monkeypatch):
    monkeypatch.setattr(kernel_matrix, "_MANY", 1)
    case = make_case(criterion, "nonnegative", seed=4)
    quick = optimal(case)

    def roughly(Ks, losses, *, options, **settings):
        return learn_weights(Ks, losses, options=replace(options, tol=0.3), **settings)

    monkeypatch.setattr(kernel_matrix, "learn_weights", roughly)
    slow = optimal(case)
    np.testing.assert_allclose(slow.objective, quick.objective, rtol=1e-7)
    assert not np.array_equal(slow.dual, quick.dual)  # another method found it
    assert slow.status == quick.status == Status.OPTIMAL


def test_the_history_of_the_weight_learner_is_in_the_units_of_the_problem(monkeypatch):
    monkeypatch.setattr(kernel_matrix, "_MANY", 1)
    result = optimal(make_case("soft1", "nonnegative", seed=4))
    last = result.history[-1]
    assert last["gap"] == result.gap <= 1e-8
    np.testing.assert_allclose([last["objective"], last["lower_bound"]], result.objective, rtol=1e-6)
