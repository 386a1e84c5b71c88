"""The judge of joint machines, the programs for Clarabel, the data, and what the page says of them."""

import dataclasses
from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.datasets.classes import class_task
from benchmarks.multiclass_objective import judge_joint, judge_joint_weights
from benchmarks.objective import InfeasibleError
from benchmarks.plan import QUICK
from benchmarks.sections import multiclass as section
from benchmarks.solvers.joint import duals_of, fit_joint, learn_joint, solve_joint
from judges.programs import joint_clarabel
from multikernel.kernels import Gaussian

N, K = 24, 3


@cache
def problem():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(N, 3))
    codes = np.arange(N) % K
    points[:, 0] += codes
    products = points @ points.T
    distances = np.diag(products)[:, None] + np.diag(products) - 2.0 * products
    return np.stack([np.exp(-0.5 * distances), products / 4.0, np.exp(-5.0 * distances)]), codes


def roots(kernels):
    values, vectors = np.linalg.eigh(kernels)
    return vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]


def loss_of(f, codes):
    return sum(cp.pos(2.0 - f[i, codes[i]] + f[i, k]) for i in range(N) for k in range(K) if k != codes[i])


@cache
def optimum(C):
    """The primal problem on the first kernel, in its feature space, by cvxpy."""
    kernels, codes = problem()
    w, b = cp.Variable((N, K)), cp.Variable((1, K))
    f = roots(kernels)[0] @ w + np.ones((N, 1)) @ b
    value = 0.5 * cp.sum_squares(w) + C * loss_of(f, codes)
    return cp.Problem(cp.Minimize(value), [cp.sum(b) == 0]).solve(solver=cp.CLARABEL)


@cache
def best_weights(C):
    """The primal problem with weights: ½ (Σ_m ‖w_m‖)² + errors."""
    kernels, codes = problem()
    w, b = [cp.Variable((N, K)) for _ in kernels], cp.Variable((1, K))
    f = sum(root @ part for root, part in zip(roots(kernels), w, strict=True)) + np.ones((N, 1)) @ b
    norms = sum(cp.norm(part, "fro") for part in w)
    value = 0.5 * cp.square(norms) + C * loss_of(f, codes)
    found = cp.Problem(cp.Minimize(value), [cp.sum(b) == 0]).solve(solver=cp.CLARABEL)
    sizes = np.array([np.linalg.norm(part.value) for part in w])
    return found, sizes / sizes.sum()


# ---------------------------------------------------------------------- the judge
@pytest.mark.parametrize("C", [0.3, 5.0])
@pytest.mark.parametrize(
    "solve",
    [
        solve_joint,
        lambda *stated: joint_clarabel.prepare(*stated)(),
        lambda *stated: joint_clarabel.prepare_factored(*stated)(),
    ],
    ids=["ours", "clarabel", "factored"],
)
def test_contestants_find_the_optimum_that_the_judge_sees(solve, C):
    kernels, codes = problem()
    answer = solve(kernels[0], codes, K, C, 1e-8)
    verdict = judge_joint(kernels[0], codes, answer.alpha, answer.intercepts, C)
    assert answer.status in ("optimal", "Solved")
    assert verdict.value == pytest.approx(optimum(C), rel=1e-6)
    assert verdict.primal == pytest.approx(optimum(C), rel=1e-6)
    assert 0.0 <= verdict.gap < 1e-6
    assert verdict.support == np.count_nonzero(answer.alpha.any(axis=1))


@pytest.mark.parametrize("C", [0.3, 5.0])
@pytest.mark.parametrize(
    ("solve", "allowed"),
    [(learn_joint, 1e-6), (lambda *stated: joint_clarabel.prepare_weights(*stated)(), 1e-4)],
    ids=["ours", "clarabel"],
)
def test_learned_weights_are_the_best_and_the_judge_sees_it(solve, allowed, C):
    kernels, codes = problem()
    value, weights = best_weights(C)
    answer = solve(kernels, codes, K, C, 1e-8)
    verdict = judge_joint_weights(kernels, codes, answer.weights, answer.alpha, answer.intercepts, C)
    assert verdict.lower == pytest.approx(value, rel=1e-6)
    assert verdict.primal == pytest.approx(value, rel=allowed)
    assert verdict.gap < allowed
    np.testing.assert_allclose(answer.weights, weights, atol=1e-3)


@given(st.integers(0, 10**6), st.sampled_from([0.3, 5.0]))
def test_any_feasible_answer_encloses_the_optimum(seed, C):
    rng = np.random.default_rng(seed)
    kernels, codes = problem()
    alpha = np.where(np.eye(K)[codes] > 0, 0.0, rng.uniform(0.1, 0.9, size=(N, K)) * C)
    alpha = joint_clarabel.balanced(alpha, codes, C)
    intercepts = rng.normal(size=K)
    one = judge_joint(kernels[0], codes, alpha, intercepts, C)
    assert one.value <= optimum(C) * (1 + 1e-7)
    assert one.primal >= optimum(C) * (1 - 1e-7)
    weights = rng.dirichlet(np.ones(3))
    several = judge_joint_weights(kernels, codes, weights, alpha, intercepts, C)
    value, _ = best_weights(C)
    assert several.lower <= value * (1 + 1e-7)
    assert several.primal >= value * (1 - 1e-7)


def test_values_are_those_of_loops():
    kernels, codes = problem()
    rng = np.random.default_rng(1)
    C, intercepts, weights = 2.0, rng.normal(size=K), np.array([0.5, 0.3, 0.2])
    alpha = np.where(np.eye(K)[codes] > 0, 0.0, rng.uniform(0.2, 1.8, size=(N, K)))
    alpha = joint_clarabel.balanced(alpha, codes, C)
    B = np.zeros((N, K))
    for i in range(N):
        for k in range(K):
            B[i, k] = alpha[i].sum() if k == codes[i] else -alpha[i, k]
    M = weights[0] * kernels[0] + weights[1] * kernels[1] + weights[2] * kernels[2]
    f = M @ B + intercepts
    losses = [max(0.0, 2.0 - f[i, codes[i]] + f[i, k]) for i in range(N) for k in range(K) if k != codes[i]]
    norm = np.trace(B.T @ M @ B)
    verdict = judge_joint_weights(kernels, codes, weights, alpha, intercepts, C)
    assert verdict.primal == pytest.approx(0.5 * norm + C * sum(losses))
    assert verdict.dual == pytest.approx(2.0 * alpha.sum() - 0.5 * norm)
    scales = np.linspace(0.0, C / alpha.max(), 20001)
    bounds = 2.0 * scales * alpha.sum() - 0.5 * scales**2 * max(np.trace(B.T @ G @ B) for G in kernels)
    assert verdict.lower == pytest.approx(bounds.max(), rel=1e-6)
    np.testing.assert_array_equal(duals_of(B, codes), alpha)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda a, codes: a - 1e-3, InfeasibleError, "own classes"),
        (lambda a, codes: np.where(np.eye(K)[codes] > 0, 0.0, a - 1.0), InfeasibleError, r"0 \.\. 2"),
        (lambda a, codes: np.where(np.eye(K)[codes] > 0, 0.0, a + 2.0), InfeasibleError, r"0 \.\. 2"),
        (lambda a, codes: np.where(np.arange(N)[:, None] < 12, 0.0, a), InfeasibleError, "balance"),
        (lambda a, codes: a[1:], ValueError, "fit"),
        (lambda a, codes: a + np.nan, ValueError, "finite"),
    ],
)
def test_judge_refuses_wrong_duals(change, error, message):
    kernels, codes = problem()
    answer = solve_joint(kernels[0], codes, K, 2.0, 1e-4)
    wrong = change(answer.alpha, codes)
    with pytest.raises(error, match=message):
        judge_joint(kernels[0], codes, wrong, answer.intercepts, 2.0)
    with pytest.raises(error, match=message):
        judge_joint_weights(kernels, codes, np.array([1.0, 0.0, 0.0]), wrong, answer.intercepts, 2.0)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([0.5, 0.5, 0.1], InfeasibleError, "sum to 1"),
        ([1.5, -0.5, 0.0], InfeasibleError, "nonnegative"),
        ([0.5, 0.5], ValueError, "fit"),
        ([np.nan, 0.5, 0.5], ValueError, "finite"),
    ],
)
def test_judge_refuses_wrong_weights(weights, error, message):
    kernels, codes = problem()
    answer = solve_joint(kernels[0], codes, K, 2.0, 1e-4)
    with pytest.raises(error, match=message):
        judge_joint_weights(kernels, codes, np.array(weights), answer.alpha, answer.intercepts, 2.0)


# ---------------------------------------------------------------------- contestants and data
def test_the_estimator_solves_the_same_machine():
    task = class_task("digits", 60, 4)
    whole = fit_joint(task.points, task.codes, 4, Gaussian(gamma=task.gamma), 1.0, 1e-6)
    alone = solve_joint(task.kernels["gaussian"], task.codes, 4, 1.0, 1e-6)
    values = [
        judge_joint(task.kernels["gaussian"], task.codes, answer.alpha, answer.intercepts, 1.0).value
        for answer in (whole, alone)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-6)


@pytest.mark.parametrize(("dataset", "n_classes"), [("mc", 5), ("digits", 3)])
def test_kernels_and_classes_are_those_that_the_page_names(dataset, n_classes):
    task = class_task(dataset, 45, n_classes)
    assert sorted(set(task.codes)) == list(range(n_classes))
    if dataset == "mc":
        assert np.bincount(task.codes).tolist() == [9] * 5
        assert np.corrcoef(task.codes, task.points[:, 0])[0, 1] > 0.7
    else:
        np.testing.assert_allclose(task.points.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(task.points.std(axis=0), 1.0)
    distances = ((task.points[:, None] - task.points) ** 2).sum(axis=2)
    np.testing.assert_allclose(task.kernels["gaussian"], np.exp(-distances / np.median(distances)))
    np.testing.assert_allclose(np.diag(task.kernels["linear"]).mean(), 1.0)
    quadratic = (task.points @ task.points.T + 1.0) ** 2
    np.testing.assert_allclose(task.kernels["quadratic"], quadratic / np.diag(quadratic).mean())


def test_more_digits_than_there_are_cannot_be_drawn():
    with pytest.raises(ValueError, match="360 digits below 2; 400 were asked for"):
        class_task("digits", 400, 2)


def test_an_infeasible_answer_is_refused_and_not_judged():
    case = section.peer_cases(dataclasses.replace(QUICK, multiclass=((20, 3),)), "gaussian", 1e-3)[0]
    task = case.task()
    answer = section.contestants(case)["ours"]()
    wrong = dataclasses.replace(answer, alpha=3.0 * answer.alpha)
    assert "duals must lie" in section.verdict_of(task, case, wrong)["refused"]
