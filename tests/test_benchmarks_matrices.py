"""The benchmarks' judge of kernel matrices, its contestants, its page, against programs written plainly."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.datasets import transduction
from benchmarks.datasets.transduction import TransductiveProblem, unit_diagonal_kernels
from benchmarks.matrix_objective import feasible_weights, inner_maximum, judge_matrix, largest_form
from benchmarks.sections.nonnegative import on_simplex
from benchmarks.solvers.kernel_matrix import answer_of_matrix, learn_matrix, learn_simplex
from judges.programs import lmi_cvxopt, lmi_cvxpy
from judges.programs.qcqp_clarabel import solve_qcqp_clarabel
from judges.programs.qcqp_clarabel_direct import solve_by_cholesky, solve_by_eigenvectors


def transductive(seed=0, n=20, m=3, C=1.0):
    """Gaussian, linear and quadratic kernels of unit diagonal; four fifths of the points are labelled."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    y = np.where(points[:, 0] + 0.5 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return TransductiveProblem("made", unit_diagonal_kernels(points, m), y[: int(0.8 * n)], C)


@cache
def free_optimum(seed=0, n=20, m=3, C=1.0):
    """ω over weights of any sign by cvxpy: min v'G(K)⁻¹v + 2C e'δ, neither of the contestants' two forms."""
    problem = transductive(seed, n, m, C)
    y, N = problem.y, problem.y.size
    mu, lam = cp.Variable(m), cp.Variable()
    nu, delta = cp.Variable(N, nonneg=True), cp.Variable(N, nonneg=True)
    learned = sum(mu[i] * problem.kernels[i] for i in range(m))
    signed = sum(mu[i] * (problem.kernels[i][:N, :N] * np.outer(y, y)) for i in range(m))
    cost = cp.matrix_frac(1.0 + nu - delta + lam * y, signed) + 2.0 * C * cp.sum(delta)
    program = cp.Problem(cp.Minimize(cost), [problem.traces @ mu == problem.trace, learned >> 0])
    program.solve(solver=cp.CLARABEL)
    return program.value


def nonnegative_optimum(problem):
    """ω over nonnegative weights: max 2e'a − c t with t ≥ a'G(K_i)a / r_i."""
    y, N = problem.y, problem.y.size
    a, t = cp.Variable(N), cp.Variable()
    forms = [cp.quad_form(cp.multiply(y, a), cp.psd_wrap(K[:N, :N])) for K in problem.kernels]
    bounds = [form <= t * r for form, r in zip(forms, problem.traces, strict=True)]
    box = [a >= 0, a <= problem.C, y @ a == 0]
    program = cp.Problem(cp.Maximize(2.0 * cp.sum(a) - problem.trace * t), [*bounds, *box])
    return program.solve(solver=cp.CLARABEL)


def machine_by_cvxpy(kernel, y, C):
    """max 2e'a − a'G(K)a, as it stands."""
    a = cp.Variable(y.size)
    form = cp.quad_form(cp.multiply(y, a), cp.psd_wrap(kernel))
    program = cp.Problem(cp.Maximize(2.0 * cp.sum(a) - form), [a >= 0, a <= C, y @ a == 0])
    return program.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
def test_inner_maximum_is_the_machine_of_cvxpy_and_hardly_wide(C):
    problem = transductive(n=40)
    y, kernel = problem.y, 3.0 * problem.kernels[1][:32, :32]
    lower, upper = inner_maximum(kernel, y, C)
    assert lower <= upper <= lower * (1.0 + 1e-11)
    assert upper == pytest.approx(machine_by_cvxpy(kernel, y, C), rel=1e-6)


@pytest.mark.parametrize("free", [True, False])
def test_weights_outside_are_moved_as_little_as_it_takes(free):
    kernels = transductive(m=4).kernels
    outside = np.array([3.0, -4.0, 2.0, 1.0])
    moved, share = feasible_weights(kernels, outside, 80.0, free=free)
    less = (1.0 - 0.99 * share) * outside * 80.0 / (20.0 * outside.sum()) + 0.99 * share
    least = [
        np.linalg.eigvalsh(np.tensordot(mu, kernels, 1))[0] if free else mu.min() for mu in (moved, less)
    ]
    assert 0.0 < share < 1.0
    assert 20.0 * moved.sum() == pytest.approx(80.0, rel=1e-12)
    assert least[0] >= -1e-12 > -1e-6 > least[1]


def test_weights_inside_are_scaled_and_nothing_else():
    kernels = transductive().kernels
    moved, share = feasible_weights(kernels, [1.0, 0.5, 0.5], 60.0, free=True)
    assert share == 0.0
    np.testing.assert_allclose(moved, [1.5, 0.75, 0.75], rtol=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_largest_form_is_that_of_a_semidefinite_program(seed):
    problem = transductive(seed, m=4)
    q = np.random.default_rng(seed).normal(size=4) + 1.0
    mu = cp.Variable(4)
    cone = sum(mu[i] * problem.kernels[i] for i in range(4)) >> 0
    best = cp.Problem(cp.Maximize(q @ mu), [problem.traces @ mu == 50.0, cone]).solve(solver=cp.CLARABEL)
    bound = largest_form(problem.kernels, q, 50.0, np.ones(4))
    assert bound == pytest.approx(best, rel=1e-6)
    assert bound >= best - 1e-6 * abs(best)


@pytest.mark.parametrize("C", [0.2, 5.0])
def test_judge_of_matrices_holds_the_optimum_between_its_bounds(C):
    problem, rng = transductive(3, m=4, C=C), np.random.default_rng(0)
    best = {True: free_optimum(3, m=4, C=C)}
    best[False] = nonnegative_optimum(problem)
    assert best[True] < best[False] * (1.0 - 1e-3)  # negative weights are worth something here
    for free, value in best.items():
        for _ in range(3):
            weights = rng.normal(size=4) + 1.0
            alpha = C * rng.random(problem.y.size)
            verdict = judge_matrix(problem.kernels, problem.y, C, weights, alpha, free=free)
            assert verdict.lower <= value * (1.0 + 1e-6)
            assert verdict.value >= value * (1.0 - 1e-6)
            assert verdict.gap == pytest.approx(1.0 - verdict.lower / verdict.value, rel=1e-9)
            assert verdict.gap > 1e-3


FREE_CONTESTANTS = {
    "ours": lambda problem: answer_of_matrix(learn_matrix(problem, "free"), problem),
    "CVXOPT, printed": lmi_cvxopt.solve_printed,
    "CVXOPT, merged": lmi_cvxopt.solve_merged,
    "CVXOPT, merged, chol": lmi_cvxopt.solve_merged_chol,
    "Clarabel, printed": lmi_cvxpy.clarabel_printed,
    "Clarabel, merged": lmi_cvxpy.clarabel_merged,
    "SCS, merged": lmi_cvxpy.scs_merged,
}


@pytest.mark.parametrize("m", [3, 5])
@pytest.mark.parametrize("name", FREE_CONTESTANTS)
def test_contestants_on_the_free_sign_program_find_its_optimum(name, m):
    problem = transductive(1, m=m)
    answer = FREE_CONTESTANTS[name](problem)
    verdict = judge_matrix(problem.kernels, problem.y, 1.0, answer.weights, answer.alpha, free=True)
    loose = 1e-3 if name.startswith("SCS") else 1e-6
    assert answer.status == "optimal"
    assert verdict.value == pytest.approx(free_optimum(1, m=m), rel=loose)
    assert -1e-10 < verdict.gap < loose
    assert verdict.least_eigenvalue > -1e-12


NONNEGATIVE_CONTESTANTS = {
    "ours": lambda problem: answer_of_matrix(learn_matrix(problem, "nonnegative"), problem),
    "eigenvectors": on_simplex(solve_by_eigenvectors),
    "Cholesky": on_simplex(solve_by_cholesky),
    "cvxpy": on_simplex(solve_qcqp_clarabel),
    "our MKLClassifier's": learn_simplex,
}


@pytest.mark.parametrize("name", NONNEGATIVE_CONTESTANTS)
def test_contestants_on_the_nonnegative_program_find_its_optimum(name):
    problem = transductive(2, n=30, m=5)
    answer = NONNEGATIVE_CONTESTANTS[name](problem)
    verdict = judge_matrix(problem.kernels, problem.y, 1.0, answer.weights, answer.alpha, free=False)
    value = nonnegative_optimum(problem)
    assert verdict.value == pytest.approx(value, rel=1e-6)
    assert -1e-10 < verdict.gap < 1e-6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [1.0, 1.0]}, "shapes"),
        ({"alpha": np.zeros(3)}, "shapes"),
        ({"weights": [1.0, np.nan, 1.0]}, "finite"),
        ({"weights": [-1.0, 0.0, 0.0]}, "trace"),
        ({"y": np.zeros(16)}, "labels"),
    ],
)
def test_judge_of_matrices_refuses_malformed_answers(change, message):
    problem = transductive()
    given = {"y": problem.y, "C": 1.0, "weights": np.ones(3), "alpha": np.zeros(16)} | change
    with pytest.raises(ValueError, match=message):
        judge_matrix(problem.kernels, **given, free=True)


def test_transductive_banks_fall_back_and_repeat_no_row(monkeypatch):
    def absent(name):
        raise ValueError(f"{name} is nowhere")

    monkeypatch.setattr(transduction, "load_dataset", absent)
    transduction.transductive_rows.cache_clear()
    try:
        problem = transduction.transductive_problem(600, 5)  # breast cancer has 569 rows
    finally:
        transduction.transductive_rows.cache_clear()
    kernels = problem.kernels
    assert (problem.dataset, kernels.shape, problem.y.size) == ("breast_cancer", (5, 600, 600), 480)
    assert set(problem.y) == {-1.0, 1.0}
    np.testing.assert_array_equal(kernels.diagonal(axis1=1, axis2=2), 1.0)
    assert kernels[1][~np.eye(600, dtype=bool)].max() < 1.0 - 1e-9  # no Gaussian of two equal rows
    assert problem.trace == pytest.approx(3000.0)


def test_transductive_banks_hold_the_kernels_they_name():
    points = np.random.default_rng(0).normal(size=(12, 3))
    cosine = points @ points.T / np.outer(*[np.linalg.norm(points, axis=1)] * 2)
    square = (1.0 + points @ points.T) ** 2
    distances = ((points[:, None] - points[None]) ** 2).sum(-1)
    found = unit_diagonal_kernels(points, 4)
    np.testing.assert_allclose(
        found[0], square / np.sqrt(np.outer(np.diag(square), np.diag(square))), atol=1e-12
    )
    np.testing.assert_allclose(found[1], np.exp(-distances / (2 * 0.5)), atol=1e-12)
    np.testing.assert_allclose(found[2], np.exp(-distances / (2 * 3.0)), atol=1e-12)
    np.testing.assert_allclose(found[3], cosine, atol=1e-12)
