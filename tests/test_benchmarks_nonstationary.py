"""The benchmarks' judge of kernel mixtures, its contestants and its page, against plain programs."""

from __future__ import annotations

import dataclasses
import sys
from functools import cache
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.datasets.mixtures import POSTERIORS, ProjectionTask, kernels_of, projection_task
from benchmarks.nonstationary_objective import judge_projection
from benchmarks.objective import InfeasibleError
from benchmarks.sections import nonstationary as section
from benchmarks.solvers.projection import solve_interior, solve_smo
from judges.optimum import conic_optimum
from judges.programs.projection_program import features_of, program_of


@cache
def small_task(m=2, n=14, C=2.0):
    """Overlapping classes, raw kernels, random posteriors."""
    rng = np.random.default_rng(5)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 3)) + 0.5 * y[:, None]
    inner = X @ X.T
    kernels = np.stack([inner, (1.0 + inner) ** 2, np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(-1))])[:m]
    counts = int((y > 0).sum()), int((y < 0).sum())
    posteriors = rng.dirichlet(np.ones(m), counts[0]), rng.dirichlet(np.ones(m), counts[1])
    return ProjectionTask(kernels, y, posteriors, C, 1.5)


def judged(task, duals, offsets):
    return judge_projection(
        task.kernels, task.y, task.posteriors, duals, offsets, C=task.C, margin=task.margin
    )


def own_and_other(task, t):
    """Sample t's class (0 or 1), and its posteriors."""
    side = 0 if task.y[t] > 0 else 1
    return side, task.posteriors[side][np.flatnonzero(task.rows[side] == t)[0]]


def plain_values(task, duals, offsets):
    """Primal and dual value, sample by sample in plain loops."""
    m, n = task.kernels.shape[:2]
    s = np.zeros((2, m, n))
    for t in range(n):
        side, q = own_and_other(task, t)
        u = duals[side][np.flatnonzero(task.rows[side] == t)[0]]
        for j in range(m):
            s[side, j, t], s[1 - side, j, t] = u.sum() * q[j], -u[j]
    norm = sum(s[side, j] @ task.kernels[j] @ s[side, j] for side in (0, 1) for j in range(m))
    primal, dual = 0.5 * norm, -0.5 * norm
    for t in range(n):
        side, q = own_and_other(task, t)
        u = duals[side][np.flatnonzero(task.rows[side] == t)[0]]
        F = [
            [offsets[c][j] + task.kernels[j][t] @ s[c, j] - task.kernels[j][t, t] / 2 for j in range(m)]
            for c in (0, 1)
        ]
        entropy = -sum(x * np.log(x) for x in q if x > 0)
        primal += task.C * max(0.0, task.margin - entropy - q @ F[side] + max(F[1 - side]))
        diagonal = np.array([task.kernels[j][t, t] for j in range(m)])
        dual += u @ (task.margin - entropy + 0.5 * q @ diagonal - 0.5 * diagonal)
    return primal, dual


@cache
def balanced_duals(m, seed):
    """Feasible duals: a nonnegative least-squares solution of the balance, drawn at random."""
    task, rng = small_task(m), np.random.default_rng(seed)
    program = program_of(task)
    u = cp.Variable(program.linear.size, nonneg=True)
    aim = rng.random(program.linear.size)
    constraints = [program.balance @ u == 0, program.totals @ u <= task.C]
    cp.Problem(cp.Minimize(cp.sum_squares(u - aim)), constraints).solve(solver=cp.CLARABEL)
    duals = np.maximum(u.value, 0.0).reshape(-1, m)
    duals *= np.minimum(1.0, task.C / np.maximum(duals.sum(axis=1, keepdims=True), 1e-300))
    return duals[: task.rows[0].size], duals[task.rows[0].size :]


@cache
def optimum(m):
    """The primal problem in the kernels' feature spaces by cvxpy."""
    task = small_task(m)
    phi = [features_of(kernel) for kernel in task.kernels]
    w = [[cp.Variable(part.shape[1]) for part in phi] for _ in (0, 1)]
    offsets = [cp.Variable(m) for _ in (0, 1)]
    slack = cp.Variable(task.y.size, nonneg=True)
    constraints = []
    for t in range(task.y.size):
        side, q = own_and_other(task, t)
        F = [
            [phi[j][t] @ w[c][j] + offsets[c][j] - task.kernels[j][t, t] / 2 for j in range(m)]
            for c in (0, 1)
        ]
        own = sum(q[j] * F[side][j] for j in range(m)) - float((q * np.log(q)).sum())
        constraints += [own - rival >= task.margin - slack[t] for rival in F[1 - side]]
    norm = sum(cp.sum_squares(part) for parts in w for part in parts)
    problem = cp.Problem(cp.Minimize(0.5 * norm + task.C * cp.sum(slack)), constraints)
    return conic_optimum(problem)


# ---------------------------------------------------------------------- the judge
@pytest.mark.parametrize("m", [1, 2, 3])
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_judge_computes_both_values_and_they_enclose_the_optimum(m, seed):
    task = small_task(m)
    rng = np.random.default_rng(seed)
    duals = balanced_duals(m, seed % 5)
    offsets = rng.normal(size=m), rng.normal(size=m)
    verdict = judged(task, duals, offsets)
    primal, dual = plain_values(task, duals, offsets)
    assert verdict.value == pytest.approx(primal, rel=1e-10)
    assert verdict.lower == pytest.approx(dual, abs=1e-5)
    assert verdict.lower <= dual + 1e-12 * abs(dual)
    assert verdict.lower <= optimum(m) + 1e-6
    assert verdict.value >= optimum(m) - 1e-6
    assert verdict.gap == pytest.approx((primal - verdict.lower) / (1.0 + abs(verdict.lower)))


def test_judge_makes_imbalance_cost_its_price():
    task = small_task(2)
    duals = balanced_duals(2, 0)
    offsets = np.array([3.0, -1.0]), np.array([2.0, 0.5])
    before = judged(task, duals, offsets)
    changed = duals[0].copy(), duals[1]
    changed[0][0, 0] *= 1.0 - 1e-6 / changed[0][0, 0]
    after = judged(task, changed, offsets)
    moved = 1e-6 * np.array([*task.posteriors[0][0], 1.0, 0.0])
    prices = np.concatenate(offsets) - 1.125
    _, dual = plain_values(task, changed, offsets)
    assert dual - after.lower == pytest.approx(2.0 * np.abs(moved * prices).sum(), rel=1e-2)
    assert before.imbalance < 1e-9 < after.imbalance


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda u, o: ((u[0] - 1e-3, u[1]), o), InfeasibleError, "nonnegative"),
        (lambda u, o: ((u[0] + 2.0, u[1]), o), InfeasibleError, "at most C=2"),
        (lambda u, o: ((u[0] * 0.9, u[1]), o), InfeasibleError, "balance"),
        (lambda u, o: ((u[0][1:], u[1]), o), ValueError, "shape"),
        (lambda u, o: (u, (o[0][:1], o[1])), ValueError, "shape"),
        (lambda u, o: (u, (o[0] + np.nan, o[1])), ValueError, "finite"),
        (lambda u, o: ((u[0] * np.inf, u[1]), o), ValueError, "finite"),
    ],
)
def test_judge_refuses_what_is_infeasible_or_does_not_fit(change, error, message):
    task = small_task(2)
    found = solve_interior(task)
    duals, offsets = change(tuple(np.maximum(part, 1e-9) for part in found.duals), found.offsets)
    with pytest.raises(error, match=message), np.errstate(invalid="ignore"):
        judged(task, duals, offsets)


def test_judge_refuses_kernels_of_another_size():
    task = small_task(2)
    found = solve_interior(task)
    smaller = dataclasses.replace(task, kernels=task.kernels[:, 1:, 1:])
    with pytest.raises(ValueError, match=r"shape \(m, n, n\)"):
        judged(smaller, found.duals, found.offsets)


# ---------------------------------------------------------------------- the contestants
CONTESTANTS = {"interior": solve_interior, "smo": solve_smo} | {
    peer.name: (lambda task, peer=peer: peer.prepare(task)()) for peer in section.PEERS
}


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("name", CONTESTANTS)
def test_contestants_find_the_optimum(name, m):
    task = small_task(m)
    before = task.kernels.copy()
    answer = CONTESTANTS[name](task)
    verdict = judged(task, answer.duals, answer.offsets)
    assert answer.status in ("optimal", "Solved")
    assert verdict.value == pytest.approx(optimum(m), rel=1e-6)
    assert verdict.lower == pytest.approx(optimum(m), rel=1e-6)
    np.testing.assert_array_equal(task.kernels, before)


# ---------------------------------------------------------------------- the data
def test_kernels_are_those_that_the_page_names():
    kernels, y = kernels_of("mc", 30)
    assert (kernels.shape, set(y)) == ((3, 30, 30), {-1.0, 1.0})
    np.testing.assert_allclose(np.einsum("mtt->mt", kernels), 1.0, rtol=1e-12)
    kernels, y = kernels_of("piecewise", 30)
    np.testing.assert_allclose(kernels[1], (1.0 + kernels[0]) ** 2)
    assert np.linalg.matrix_rank(kernels[0]) == 2
    for stack in (kernels, kernels_of("mc", 30)[0]):
        np.testing.assert_array_equal(stack, stack.transpose(0, 2, 1))


@pytest.mark.parametrize("posteriors", POSTERIORS)
def test_posteriors_sum_to_one_and_the_converged_ones_stay(posteriors):
    task = projection_task("mc", 40, posteriors)
    for part in task.posteriors:
        np.testing.assert_allclose(part.sum(axis=1), 1.0, rtol=1e-12)
    projection = task.projection
    assert task.margin == pytest.approx(1.0 + np.log(3.0))
    answer = solve_interior(task)
    after = projection.mixtures.posteriors(projection.point(answer.duals, answer.offsets))
    change = max(np.abs(new - old).max() for new, old in zip(after, task.posteriors, strict=True))
    assert (change < 0.02) == (posteriors == "converged")


def test_an_infeasible_answer_is_refused_and_not_judged():
    task = small_task(2)
    answer = solve_interior(task)
    wrong = dataclasses.replace(answer, duals=(answer.duals[0] * 0.5, answer.duals[1]))
    assert "balance" in section.verdict_of(task, wrong)["refused"]
