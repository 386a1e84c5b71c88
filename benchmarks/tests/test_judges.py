"""The judges of the benchmarks: against cvxpy and plain arithmetic, contestants and corrupted answers."""

from __future__ import annotations

import dataclasses
from functools import cache, partial

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax
from sklearn.datasets import load_wine
from sklearn.svm import SVC

from benchmarks.datasets.classes import class_task
from benchmarks.datasets.discrimination import DiscriminantTask, draw_waveforms, gaussian_bank
from benchmarks.datasets.localized import gauss_task
from benchmarks.datasets.mixtures import ProjectionTask
from benchmarks.datasets.transduction import TransductiveProblem, unit_diagonal_kernels
from benchmarks.discriminant_objective import columns_of_classes, judge_discriminant
from benchmarks.learners_objective import easymkl_value, radius_over_margin
from benchmarks.localized_objective import gate_values, gated_kernel, judge_machine
from benchmarks.matrix_objective import feasible_weights, inner_maximum, judge_matrix, largest_form
from benchmarks.multiclass_objective import judge_joint, judge_joint_weights
from benchmarks.nonstationary_objective import judge_projection
from benchmarks.objective import InfeasibleError, best_bias, hinge_sum, judge, lower_bound, primal_value
from benchmarks.plan import QUICK
from benchmarks.sections import discriminant, localized, multiclass, nonstationary
from benchmarks.sections.nonnegative import on_simplex
from benchmarks.solvers.discriminant import answer_of_ours, fit_ours, learn_ours
from benchmarks.solvers.joint import duals_of, fit_joint, learn_joint, solve_joint
from benchmarks.solvers.kernel_matrix import answer_of_matrix, learn_matrix, learn_simplex
from benchmarks.solvers.localized import learn_gate
from benchmarks.solvers.localized_svc import descend_svc
from benchmarks.solvers.projection import solve_interior, solve_smo
from judges.optimum import conic_optimum
from judges.programs import discriminant_cvxopt, discriminant_cvxpy, joint_clarabel, lmi_cvxopt, lmi_cvxpy
from judges.programs.answers import make_feasible, make_weights
from judges.programs.projection_program import features_of, program_of
from judges.programs.qcqp_clarabel import solve_qcqp_clarabel
from judges.programs.qcqp_clarabel_direct import solve_by_cholesky, solve_by_eigenvectors
from multikernel.kernels import Gaussian


def minimum(cost, constraints=()):
    return cp.Problem(cp.Minimize(cost), list(constraints)).solve(solver=cp.CLARABEL)


# ---------------------------------------------------------------------- kernel weights on the simplex
@cache
def mkl_problem(seed=0, n=40, m=3):
    """Gaussian kernels of three widths on noisy labels, so that some duals are free and some at C."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2))
    y = np.where(points[:, 0] + 0.7 * rng.normal(size=n) > 0.1, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    distances = ((points[:, None] - points[None]) ** 2).sum(-1)
    return np.stack([np.exp(-distances / width) for width in np.logspace(-1, 1, m)]), y


@cache
def mkl_optimum(C):
    """The MKL optimum as a QCQP in cvxpy: value, weights and duals."""
    kernels, y = mkl_problem()
    alpha, bound = cp.Variable(y.size), cp.Variable()
    factors = [np.linalg.cholesky(k + 1e-10 * np.eye(y.size)) for k in kernels]
    quadratic = [cp.sum_squares(f.T @ cp.multiply(y, alpha)) <= bound for f in factors]
    value = -minimum(0.5 * bound - cp.sum(alpha), [*quadratic, alpha >= 0, alpha <= C, y @ alpha == 0])
    weights = make_weights([float(np.ravel(c.dual_value)[0]) for c in quadratic])
    return value, weights, make_feasible(alpha.value, y, C)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_the_optimum_has_its_value_and_no_gap_and_poor_answers_enclose_it(C):
    kernels, y = mkl_problem()
    value, weights, alpha = mkl_optimum(C)
    verdict = judge(kernels, y, C, weights, alpha)
    assert verdict.lower == pytest.approx(value, rel=1e-6)
    assert verdict.primal == pytest.approx(value, rel=1e-4)
    assert -1e-7 <= verdict.gap < 1e-4
    assert verdict.gap == pytest.approx((verdict.primal - verdict.lower) / verdict.primal, rel=1e-12)
    rng = np.random.default_rng(1)
    for _ in range(20):
        verdict = judge(kernels, y, C, rng.dirichlet(np.ones(3)), make_feasible(C * rng.random(y.size), y, C))
        assert verdict.lower <= value * (1 + 1e-7)
        assert verdict.primal >= value * (1 - 1e-7)
        assert verdict.gap > 1e-3  # a random answer is not certified


@pytest.mark.parametrize("C", [0.5, 20.0])
def test_one_kernel_is_scored_as_scikit_learn_scores_it(C):
    kernels, y = mkl_problem(seed=3, m=1)
    machine = SVC(C=C, kernel="precomputed", tol=1e-9).fit(kernels[0], y)
    alpha = np.zeros(y.size)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    verdict = judge(kernels, y, C, [1.0], alpha)
    beta = y * alpha
    losses = np.maximum(0.0, 1.0 - y * machine.decision_function(kernels[0]))
    assert verdict.primal == pytest.approx(0.5 * beta @ kernels[0] @ beta + C * losses.sum(), rel=1e-7)
    assert verdict.dual == pytest.approx(alpha.sum() - 0.5 * beta @ kernels[0] @ beta, rel=1e-12)
    assert abs(verdict.gap) < 1e-7


def test_scale_lowers_the_upper_bound_and_never_the_lower():
    kernels, y = mkl_problem()
    _, weights, alpha = mkl_optimum(10.0)
    scaled = judge(kernels, y, 10.0, weights, 0.8 * alpha)
    plain = judge(kernels, y, 10.0, weights, 0.8 * alpha, scale=False)
    assert scaled.lower == plain.lower and scaled.primal < plain.primal
    assert scaled.primal == pytest.approx(judge(kernels, y, 10.0, weights, alpha).primal, rel=1e-6)


def test_float32_kernels_are_judged_in_float64_and_nothing_is_changed():
    kernels, y = mkl_problem()
    _, weights, alpha = mkl_optimum(1.0)
    arrays = kernels.astype(np.float32), y, weights, alpha
    before = [array.copy() for array in arrays]
    single = judge(arrays[0], y, 1.0, weights, alpha)
    assert single == judge(arrays[0].astype(np.float64), y, 1.0, weights, alpha)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


@given(st.integers(2, 30), st.integers(0, 10_000), st.floats(1e-2, 1e2))
def test_best_bias_is_no_worse_than_any_breakpoint(n, seed, spread):
    rng = np.random.default_rng(seed)
    f = spread * rng.normal(size=n)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    tried = np.concatenate([y - f, [best_bias(f, y) + 0.1, best_bias(f, y) - 0.1]])
    losses = [np.maximum(0.0, 1.0 - y * (f + b)).sum() for b in tried]
    assert hinge_sum(f, y) <= min(losses) * (1 + 1e-12) + 1e-12


@given(st.integers(0, 10_000), st.floats(0.01, 100.0))
def test_lower_bound_is_the_best_of_all_admissible_scales(seed, C):
    rng = np.random.default_rng(seed)
    alpha, q = C * rng.random(6), 10.0 * rng.random(3)
    scales = np.linspace(0.0, C / alpha.max(), 2001)
    by_search = (scales * alpha.sum() - 0.5 * scales**2 * q.max()).max()
    assert lower_bound(alpha, q, C) >= by_search - 1e-12 * abs(by_search)
    assert lower_bound(alpha, q, C) <= by_search + 1e-5 * alpha.sum() * C / alpha.max()


@given(st.integers(0, 10_000), st.floats(0.6, 1.4))
def test_primal_value_is_no_worse_than_at_any_scale_in_its_range(seed, s):
    rng = np.random.default_rng(seed)
    f, y = rng.normal(size=15), np.where(rng.random(15) < 0.5, 1.0, -1.0)
    found = primal_value(f, 3.0, y, 2.0)
    assert found <= 0.5 * s * s * 3.0 + 2.0 * hinge_sum(s * f, y) + 1e-7


@given(st.integers(0, 10_000), st.floats(0.01, 100.0))
def test_feasible_duals_are_made_of_any_numbers(seed, C):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(12) < 0.5, 1.0, -1.0)
    alpha = make_feasible(C * rng.normal(size=12), y, C)
    assert alpha.min() >= 0.0 and alpha.max() <= C
    assert abs(y @ alpha) <= 1e-12 * C * 12


def test_nearly_feasible_duals_are_hardly_changed():
    y, alpha = mkl_problem()[1], mkl_optimum(1.0)[2]
    nearly = alpha + 1e-9 * np.random.default_rng(0).normal(size=y.size)
    np.testing.assert_allclose(make_feasible(nearly, y, 1.0), alpha, atol=1e-8)


# ---------------------------------------------------------------------- kernel matrices
@cache
def transductive(seed=0, n=20, m=3, C=1.0):
    """Gaussian, linear and quadratic kernels of unit diagonal; four fifths of the points are labelled."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    y = np.where(points[:, 0] + 0.5 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return TransductiveProblem("made", unit_diagonal_kernels(points, m), y[: int(0.8 * n)], C)


@cache
def matrix_optimum(free, seed=0, n=20, m=3, C=1.0):
    """ω by cvxpy, in none of the contestants' forms: min v'G(K)⁻¹v + 2C e'δ, or max 2e'a − c t."""
    problem = transductive(seed, n, m, C)
    y, N = problem.y, problem.y.size
    if not free:
        a, t = cp.Variable(N), cp.Variable()
        forms = [cp.quad_form(cp.multiply(y, a), cp.psd_wrap(K[:N, :N])) for K in problem.kernels]
        bounds = [form <= t * r for form, r in zip(forms, problem.traces, strict=True)]
        return -minimum(problem.trace * t - 2.0 * cp.sum(a), [*bounds, a >= 0, a <= C, y @ a == 0])
    mu, lam = cp.Variable(m), cp.Variable()
    nu, delta = cp.Variable(N, nonneg=True), cp.Variable(N, nonneg=True)
    learned = sum(mu[i] * problem.kernels[i] for i in range(m))
    signed = sum(mu[i] * (problem.kernels[i][:N, :N] * np.outer(y, y)) for i in range(m))
    cost = cp.matrix_frac(1.0 + nu - delta + lam * y, signed) + 2.0 * C * cp.sum(delta)
    return minimum(cost, [problem.traces @ mu == problem.trace, learned >> 0])


@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
def test_inner_maximum_is_the_machine_of_cvxpy_and_hardly_wide(C):
    problem = transductive(n=40)
    y, kernel = problem.y, 3.0 * problem.kernels[1][:32, :32]
    lower, upper = inner_maximum(kernel, y, C)
    a = cp.Variable(y.size)
    form = cp.quad_form(cp.multiply(y, a), cp.psd_wrap(kernel))
    value = -minimum(form - 2.0 * cp.sum(a), [a >= 0, a <= C, y @ a == 0])
    assert lower <= upper <= lower * (1.0 + 1e-11)
    assert upper == pytest.approx(value, rel=1e-6)


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
    inside, share = feasible_weights(kernels[:3], [1.0, 0.5, 0.5], 60.0, free=free)
    assert share == 0.0
    np.testing.assert_allclose(inside, [1.5, 0.75, 0.75], rtol=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_largest_form_is_that_of_a_semidefinite_program(seed):
    problem = transductive(seed, m=4)
    q = np.random.default_rng(seed).normal(size=4) + 1.0
    mu = cp.Variable(4)
    cone = sum(mu[i] * problem.kernels[i] for i in range(4)) >> 0
    best = -minimum(-q @ mu, [problem.traces @ mu == 50.0, cone])
    bound = largest_form(problem.kernels, q, 50.0, np.ones(4))
    assert bound == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("C", [0.2, 5.0])
def test_judge_of_matrices_holds_the_optimum_between_its_bounds(C):
    problem, rng = transductive(3, m=4, C=C), np.random.default_rng(0)
    best = {free: matrix_optimum(free, 3, m=4, C=C) for free in (True, False)}
    assert best[True] < best[False] * (1.0 - 1e-3)  # negative weights are worth something here
    for free, value in best.items():
        for _ in range(3):
            weights, alpha = rng.normal(size=4) + 1.0, C * rng.random(problem.y.size)
            verdict = judge_matrix(problem.kernels, problem.y, C, weights, alpha, free=free)
            assert verdict.lower <= value * (1.0 + 1e-6)
            assert verdict.value >= value * (1.0 - 1e-6)
            assert verdict.gap == pytest.approx(1.0 - verdict.lower / verdict.value, rel=1e-9)
            assert verdict.gap > 1e-3


def learned_matrix(weights):
    return lambda problem: answer_of_matrix(learn_matrix(problem, weights), problem)


MATRIX_CONTESTANTS = {
    True: {
        "ours": learned_matrix("free"),
        "CVXOPT, printed": lmi_cvxopt.solve_printed,
        "CVXOPT, merged": lmi_cvxopt.solve_merged,
        "CVXOPT, merged, chol": lmi_cvxopt.solve_merged_chol,
        "Clarabel, printed": lmi_cvxpy.clarabel_printed,
        "Clarabel, merged": lmi_cvxpy.clarabel_merged,
        "SCS, merged": lmi_cvxpy.scs_merged,
    },
    False: {
        "ours": learned_matrix("nonnegative"),
        "eigenvectors": on_simplex(solve_by_eigenvectors),
        "Cholesky": on_simplex(solve_by_cholesky),
        "cvxpy": on_simplex(solve_qcqp_clarabel),
        "our MKLClassifier's": learn_simplex,
    },
}


@pytest.mark.parametrize("m", [3, 5])
@pytest.mark.parametrize(
    ("free", "name"), [(free, n) for free, them in MATRIX_CONTESTANTS.items() for n in them]
)
def test_contestants_find_the_best_matrix(free, name, m):
    problem = transductive(1, m=m)
    answer = MATRIX_CONTESTANTS[free][name](problem)
    verdict = judge_matrix(problem.kernels, problem.y, 1.0, answer.weights, answer.alpha, free=free)
    loose = 1e-3 if name.startswith("SCS") else 1e-6
    assert verdict.value == pytest.approx(matrix_optimum(free, 1, m=m), rel=loose)
    assert -1e-10 < verdict.gap < loose
    if free:
        assert answer.status == "optimal"
        assert verdict.least_eigenvalue > -1e-12


# ---------------------------------------------------------------------- discriminant kernels
REGS = [1e-2, None]


@cache
def waves(reg, n=24, m=4, classes=2):
    """Waveforms with labels that do not fit all of them."""
    points, codes = draw_waveforms(n, seed=3)
    codes = codes if classes == 2 else np.arange(n) % classes
    codes[0] = 1 - codes[0]
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    return DiscriminantTask("made", gaussian_bank(points, m), codes, reg)


def centred(kernels):
    P = np.eye(kernels.shape[1]) - 1.0 / kernels.shape[1]
    return P @ kernels @ P


def centred_traces(kernels):
    return np.trace(centred(kernels), axis1=1, axis2=2)


def plain_objective(kernels, codes, weights, reg, learned):
    """The published objective by explicit centring and inverse."""
    n = codes.size
    M = reg * np.eye(n) + np.tensordot(weights, centred(kernels), 1)
    if learned:
        M = M / np.trace(M)
    sizes = np.bincount(codes)
    means = np.eye(len(sizes))[codes] / sizes
    columns = means[:, 1:] - means[:, :1]
    if len(sizes) > 2:
        columns = np.sqrt(n * sizes) * (means - means.mean(axis=0))
    value = np.trace(columns.T @ np.linalg.inv(M) @ columns)
    return value if learned else reg * value


@cache
def wave_optimum(reg, classes=2):
    """The least objective by cvxpy: the sum of matrix fractions, none of the contestants' forms."""
    task = waves(reg, classes=classes)
    n = task.codes.size
    members = list(centred(task.kernels) / centred_traces(task.kernels)[:, None, None])
    members += [np.eye(n) / n] if reg is None else []
    eta = cp.Variable(len(members), nonneg=True)
    M = n * sum(eta[i] * A for i, A in enumerate(members)) + n * (reg or 0.0) * np.eye(n)
    M = M + np.ones((n, n)) / n
    H = columns_of_classes(task.codes)
    size = np.linalg.norm(H)
    cost = sum(cp.matrix_frac(H[:, j] / size, M) for j in range(H.shape[1]))
    return n * size**2 * minimum(cost, [cp.sum(eta) == 1]) * (1.0 if reg is None else reg)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("reg", REGS)
@given(data=st.data())
def test_judge_of_discriminants_computes_the_published_objective(reg, classes, data):
    task = waves(reg, classes=classes)
    shares = np.array(data.draw(st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4))) + 1e-3
    weights = shares / shares.sum() / centred_traces(task.kernels)
    asked = data.draw(st.floats(1e-6, 10.0)) if reg is None else reg
    verdict = judge_discriminant(task.kernels, task.codes, weights, asked, learned=reg is None)
    plain = plain_objective(task.kernels, task.codes, weights, asked, reg is None)
    best = wave_optimum(reg, classes)
    assert verdict.value == pytest.approx(plain, rel=1e-9)
    assert verdict.lower <= best * (1.0 + 1e-7)
    assert verdict.value >= best * (1.0 - 1e-7)
    assert verdict.gap == pytest.approx(1.0 - verdict.lower / verdict.value, abs=1e-15)
    assert 0.0 <= verdict.width < 1e-15


@pytest.mark.parametrize(("reg", "expected"), [(1e-2, 50.87001101), (1e-4, 1.258256569), (None, 12804.59675)])
def test_judge_of_discriminants_agrees_with_the_optimum_of_wine(reg, expected):
    points, codes = load_wine(return_X_y=True)
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    task = DiscriminantTask("wine", gaussian_bank(points, 10), codes.astype(np.int64), reg)
    result = learn_ours(task)
    verdict = judge_discriminant(task.kernels, task.codes, result.weights, result.reg, learned=reg is None)
    assert verdict.value == pytest.approx(expected, rel=1e-8)
    assert -1e-12 < verdict.gap <= 1e-8


def test_judge_of_discriminants_gives_all_to_the_identity_where_the_regularisation_is_infinite():
    task = waves(None)
    weights = 0.25 / centred_traces(task.kernels)
    verdict = judge_discriminant(task.kernels, task.codes, weights, np.inf, learned=True)
    assert verdict.value == pytest.approx(24 * (1.0 / np.bincount(task.codes)).sum(), rel=1e-12)


def test_judge_of_discriminants_refuses_a_singular_matrix():
    ones = np.ones((24, 1)) @ np.arange(24.0)[None]
    rank_one = np.array([ones.T @ ones])
    with pytest.raises(InfeasibleError, match="positive definite"):
        judge_discriminant(rank_one, waves(None).codes, 1.0 / centred_traces(rank_one), 0.0, learned=True)


DISCRIMINANTS = {
    "ours": lambda task: answer_of_ours(learn_ours(task)),
    "CVXOPT, stated": discriminant_cvxopt.solve_stated,
    "CVXOPT, balanced": discriminant_cvxopt.solve_balanced,
    "CVXOPT, balanced, chol": discriminant_cvxopt.solve_balanced_chol,
    "CVXOPT, dual": discriminant_cvxopt.solve_dual,
    "Clarabel": discriminant_cvxpy.solve_clarabel,
    "SCS": discriminant_cvxpy.solve_scs,
}


@pytest.mark.parametrize("reg", REGS)
@pytest.mark.parametrize("name", DISCRIMINANTS)
def test_contestants_find_the_best_discriminant(name, reg):
    task = waves(reg)
    before = task.kernels.copy()
    answer = DISCRIMINANTS[name](task)
    verdict = discriminant.verdict_of(task, answer)
    assert answer.status == "optimal"
    assert verdict["value"] == pytest.approx(wave_optimum(reg), rel=1e-6)
    assert -1e-12 < verdict["gap"] < (1e-8 if name == "ours" else 1e-3)
    np.testing.assert_array_equal(task.kernels, before)
    if name == "ours":
        model = fit_ours(task)
        np.testing.assert_allclose(model.kernel_weights_, answer.weights, rtol=1e-9, atol=1e-12)
        assert model.objective_ == pytest.approx(wave_optimum(reg), rel=1e-6)


# ---------------------------------------------------------------------- kernel mixtures
@cache
def mixture(m=2, n=14, C=2.0):
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
    task, rng = mixture(m), np.random.default_rng(seed)
    program = program_of(task)
    u = cp.Variable(program.linear.size, nonneg=True)
    aim = rng.random(program.linear.size)
    minimum(cp.sum_squares(u - aim), [program.balance @ u == 0, program.totals @ u <= task.C])
    duals = np.maximum(u.value, 0.0).reshape(-1, m)
    duals *= np.minimum(1.0, task.C / np.maximum(duals.sum(axis=1, keepdims=True), 1e-300))
    return duals[: task.rows[0].size], duals[task.rows[0].size :]


@cache
def mixture_optimum(m):
    """The primal problem in the kernels' feature spaces by cvxpy."""
    task = mixture(m)
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
    return conic_optimum(cp.Problem(cp.Minimize(0.5 * norm + task.C * cp.sum(slack)), constraints))


@pytest.mark.parametrize("m", [1, 2, 3])
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_judge_of_mixtures_computes_both_values_and_they_enclose_the_optimum(m, seed):
    task, rng = mixture(m), np.random.default_rng(seed)
    duals, offsets = balanced_duals(m, seed % 5), (rng.normal(size=m), rng.normal(size=m))
    verdict = judged(task, duals, offsets)
    primal, dual = plain_values(task, duals, offsets)
    assert verdict.value == pytest.approx(primal, rel=1e-10)
    assert verdict.lower == pytest.approx(dual, abs=1e-5)
    assert verdict.lower <= dual + 1e-12 * abs(dual)
    assert verdict.lower <= mixture_optimum(m) + 1e-6
    assert verdict.value >= mixture_optimum(m) - 1e-6
    assert verdict.gap == pytest.approx((primal - verdict.lower) / (1.0 + abs(verdict.lower)))


def test_judge_of_mixtures_makes_imbalance_cost_its_price():
    task, duals = mixture(2), balanced_duals(2, 0)
    offsets = np.array([3.0, -1.0]), np.array([2.0, 0.5])
    changed = duals[0].copy(), duals[1]
    changed[0][0, 0] *= 1.0 - 1e-6 / changed[0][0, 0]
    after = judged(task, changed, offsets)
    moved = 1e-6 * np.array([*task.posteriors[0][0], 1.0, 0.0])
    prices = np.concatenate(offsets) - 1.125
    _, dual = plain_values(task, changed, offsets)
    assert dual - after.lower == pytest.approx(2.0 * np.abs(moved * prices).sum(), rel=1e-2)
    assert judged(task, duals, offsets).imbalance < 1e-9 < after.imbalance


PROJECTIONS = {"interior": solve_interior, "smo": solve_smo} | {
    peer.name: (lambda task, peer=peer: peer.prepare(task)()) for peer in nonstationary.PEERS
}


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("name", PROJECTIONS)
def test_contestants_find_the_best_projection(name, m):
    task = mixture(m)
    before = task.kernels.copy()
    answer = PROJECTIONS[name](task)
    verdict = judged(task, answer.duals, answer.offsets)
    assert answer.status in ("optimal", "Solved")
    assert verdict.value == pytest.approx(mixture_optimum(m), rel=1e-6)
    assert verdict.lower == pytest.approx(mixture_optimum(m), rel=1e-6)
    np.testing.assert_array_equal(task.kernels, before)


# ---------------------------------------------------------------------- gates
@cache
def gated_problem():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(24, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=24) > 0, 1.0, -1.0)
    return np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1)), y


def dual_value(model, K):
    beta = model.dual_coef_[0]
    return np.abs(beta).sum() - 0.5 * beta @ K[np.ix_(model.support_, model.support_)] @ beta


@cache
def gated_optimum(C):
    K, y = gated_problem()
    return dual_value(SVC(kernel="precomputed", C=C, tol=1e-10).fit(K, y), K)


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 10.0]))
def test_judge_of_gates_computes_both_values_and_they_enclose_the_optimum(seed, C):
    K, y = gated_problem()
    rng = np.random.default_rng(seed)
    beta, b = y * make_feasible(C * rng.uniform(0.3, 0.7, size=24), y, C), float(rng.normal())
    verdict = judge_machine(K, y, beta, b, C)
    norm = sum(beta[i] * beta[j] * K[i, j] for i in range(24) for j in range(24))
    losses = [max(0.0, 1.0 - y[i] * (K[i] @ beta + b)) for i in range(24)]
    assert verdict.value == pytest.approx(sum(abs(beta)) - 0.5 * norm, rel=1e-10)
    assert verdict.primal == pytest.approx(0.5 * norm + C * sum(losses), rel=1e-10)
    assert verdict.value <= gated_optimum(C) + 1e-8 <= verdict.primal + 2e-8
    assert verdict.gap == pytest.approx((verdict.primal - verdict.value) / verdict.primal)
    assert verdict.support == np.count_nonzero(beta)


@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 10**6))
def test_judge_of_gates_forms_gates_and_their_kernel(n_gates, n_features, seed):
    rng = np.random.default_rng(seed)
    V, X = rng.normal(size=(n_gates, n_features + 1)), rng.normal(size=(7, n_features))
    with pytest.raises(ValueError, match="softmax"):
        gate_values(V, X, "gaussian")
    activations = np.column_stack([X, np.ones(7)]) @ V.T
    np.testing.assert_allclose(gate_values(V, X, "softmax"), softmax(activations, axis=1), rtol=1e-12)
    eta = gate_values(V, X, "sigmoid")
    np.testing.assert_allclose(eta, expit(activations), rtol=1e-12)
    roots = rng.normal(size=(2, 7, 7))
    kernels = roots @ roots.transpose(0, 2, 1)
    sources = rng.integers(0, 2, n_gates)
    expected = sum(np.outer(eta[:, m], eta[:, m]) * kernels[sources[m]] for m in range(n_gates))
    np.testing.assert_allclose(gated_kernel(kernels, sources, eta), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kernels", ["linear + quadratic", "3 linear"])
@pytest.mark.parametrize("gating", ["softmax", "sigmoid"])
def test_all_start_at_the_same_gate_and_end_lower(kernels, gating):
    task = gauss_task(60, kernels, gating)
    before = task.kernels.copy()
    K = gated_kernel(task.kernels, task.sources, gate_values(task.start(3), task.features, gating))
    first = dual_value(SVC(kernel="precomputed", C=task.C, tol=1e-8).fit(K, task.y), K)
    for descend in localized.CONTESTANTS.values():
        answer = descend(task, 3)
        verdict = localized.verdict_of(task, answer)
        assert answer.first == pytest.approx(first, rel=1e-3)
        assert verdict["value"] < 0.95 * first and verdict["gap"] < 2e-3
        assert answer.n_solves > answer.n_steps > 0
    np.testing.assert_array_equal(task.kernels, before)


@pytest.mark.parametrize("kernels", ["linear + quadratic", "3 linear"])
def test_peer_steps_as_ours_do(kernels, monkeypatch):
    """Both with exact machines: the same steps and solves, and the same gate at the end."""
    monkeypatch.setattr("benchmarks.solvers.localized_svc.SVC_TOL", 1e-9)
    monkeypatch.setattr("benchmarks.datasets.localized.MACHINE_TOL", 1e-10)
    task = gauss_task(60, kernels)
    ours, theirs = learn_gate(task, 1), descend_svc(task, 1)
    assert (ours.n_steps, ours.n_solves, ours.status) == (theirs.n_steps, theirs.n_solves, theirs.status)
    np.testing.assert_allclose(theirs.gate, ours.gate, atol=1e-4)


# ---------------------------------------------------------------------- joint machines of several classes
N, K = 24, 3


@cache
def joint_problem():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(N, 3))
    codes = np.arange(N) % K
    points[:, 0] += codes
    products = points @ points.T
    distances = np.diag(products)[:, None] + np.diag(products) - 2.0 * products
    return np.stack([np.exp(-0.5 * distances), products / 4.0, np.exp(-5.0 * distances)]), codes


@cache
def joint_optimum(C, n_kernels):
    """The primal problem in feature spaces by cvxpy, ½ (Σ_m ‖w_m‖)² + errors: value and weights."""
    kernels, codes = joint_problem()
    values, vectors = np.linalg.eigh(kernels[:n_kernels])
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    w, b = [cp.Variable((N, K)) for _ in roots], cp.Variable((1, K))
    f = sum(root @ part for root, part in zip(roots, w, strict=True)) + np.ones((N, 1)) @ b
    loss = sum(cp.pos(2.0 - f[i, codes[i]] + f[i, k]) for i in range(N) for k in range(K) if k != codes[i])
    norms = sum(cp.norm(part, "fro") for part in w)
    value = minimum(0.5 * cp.square(norms) + C * loss, [cp.sum(b) == 0])
    sizes = np.array([np.linalg.norm(part.value) for part in w])
    return value, sizes / sizes.sum()


def prepared(prepare):
    return lambda *stated: prepare(*stated)()


@pytest.mark.parametrize("C", [0.3, 5.0])
@pytest.mark.parametrize(
    "solve",
    [solve_joint, prepared(joint_clarabel.prepare), prepared(joint_clarabel.prepare_factored)],
    ids=["ours", "clarabel", "factored"],
)
def test_contestants_find_the_best_joint_machine(solve, C):
    kernels, codes = joint_problem()
    value, _ = joint_optimum(C, 1)
    answer = solve(kernels[0], codes, K, C, 1e-8)
    verdict = judge_joint(kernels[0], codes, answer.alpha, answer.intercepts, C)
    assert answer.status in ("optimal", "Solved")
    assert verdict.value == pytest.approx(value, rel=1e-6)
    assert verdict.primal == pytest.approx(value, rel=1e-6)
    assert 0.0 <= verdict.gap < 1e-6
    assert verdict.support == np.count_nonzero(answer.alpha.any(axis=1))


@pytest.mark.parametrize("C", [0.3, 5.0])
@pytest.mark.parametrize(
    ("solve", "allowed"),
    [(learn_joint, 1e-6), (prepared(joint_clarabel.prepare_weights), 1e-4)],
    ids=["ours", "clarabel"],
)
def test_contestants_find_the_best_weights_of_joint_machines(solve, allowed, C):
    kernels, codes = joint_problem()
    value, weights = joint_optimum(C, 3)
    answer = solve(kernels, codes, K, C, 1e-8)
    verdict = judge_joint_weights(kernels, codes, answer.weights, answer.alpha, answer.intercepts, C)
    assert verdict.lower == pytest.approx(value, rel=1e-6)
    assert verdict.primal == pytest.approx(value, rel=allowed)
    assert verdict.gap < allowed
    np.testing.assert_allclose(answer.weights, weights, atol=1e-3)


@given(st.integers(0, 10**6), st.sampled_from([0.3, 5.0]))
def test_judge_of_joint_machines_computes_its_values_and_they_enclose_the_optimum(seed, C):
    rng = np.random.default_rng(seed)
    kernels, codes = joint_problem()
    alpha = np.where(np.eye(K)[codes] > 0, 0.0, rng.uniform(0.1, 0.9, size=(N, K)) * C)
    alpha = joint_clarabel.balanced(alpha, codes, C)
    intercepts, weights = rng.normal(size=K), rng.dirichlet(np.ones(3))
    one = judge_joint(kernels[0], codes, alpha, intercepts, C)
    assert one.value <= joint_optimum(C, 1)[0] * (1 + 1e-7)
    assert one.primal >= joint_optimum(C, 1)[0] * (1 - 1e-7)
    several = judge_joint_weights(kernels, codes, weights, alpha, intercepts, C)
    assert several.lower <= joint_optimum(C, 3)[0] * (1 + 1e-7)
    assert several.primal >= joint_optimum(C, 3)[0] * (1 - 1e-7)
    B = np.zeros((N, K))
    for i in range(N):
        for k in range(K):
            B[i, k] = alpha[i].sum() if k == codes[i] else -alpha[i, k]
    M = np.tensordot(weights, kernels, 1)
    f = M @ B + intercepts
    losses = [max(0.0, 2.0 - f[i, codes[i]] + f[i, k]) for i in range(N) for k in range(K) if k != codes[i]]
    assert several.primal == pytest.approx(0.5 * np.trace(B.T @ M @ B) + C * sum(losses))
    assert several.dual == pytest.approx(2.0 * alpha.sum() - 0.5 * np.trace(B.T @ M @ B))
    largest = max(np.trace(B.T @ G @ B) for G in kernels)
    scale = min(C / alpha.max(), 2.0 * alpha.sum() / largest)  # the best of all that keep the box
    assert several.lower == pytest.approx(2.0 * scale * alpha.sum() - 0.5 * scale**2 * largest)
    np.testing.assert_array_equal(duals_of(B, codes), alpha)


def test_the_estimator_solves_the_same_joint_machine():
    task = class_task("digits", 60, 4)
    kernel = task.kernels["gaussian"]
    whole = fit_joint(task.points, task.codes, 4, Gaussian(gamma=task.gamma), 1.0, 1e-6)
    alone = solve_joint(kernel, task.codes, 4, 1.0, 1e-6)
    first, second = (
        judge_joint(kernel, task.codes, answer.alpha, answer.intercepts, 1.0) for answer in (whole, alone)
    )
    assert first.value == pytest.approx(second.value, rel=1e-6)


# ---------------------------------------------------------------------- weight learners, by hand
def test_two_points_are_their_own_hulls_and_points_lie_on_a_line():
    x, y = np.array([1.0, -2.0]), np.array([1.0, -1.0])
    G = np.outer(x, x)
    # the distance of the hulls is 3; γ = (1, 1)
    assert easymkl_value(G[None], y, 0.25) == pytest.approx(0.75 * 9.0 + 0.25 * 2.0, rel=1e-7)
    # the ball has a radius of half the distance, whatever the scale of the weights
    for scale in (0.1, 7.0):
        weights = scale * np.array([0.5, 0.5])
        assert radius_over_margin(np.stack([G, G]), y, weights) == pytest.approx(1.0, rel=1e-7)
    x, y = np.array([0.0, 1.0, 3.0, 7.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    G = np.outer(x, x)
    assert easymkl_value(G[None], y, 0.0) == pytest.approx(4.0, rel=1e-6)
    assert radius_over_margin(G[None], y, np.ones(1)) == pytest.approx(4.0 * 3.5**2 / 4.0, rel=1e-6)


# ---------------------------------------------------------------------- what judges refuse
def mkl_answer():
    kernels, y = mkl_problem()
    _, weights, alpha = mkl_optimum(1.0)
    return {"kernels": kernels, "y": y, "C": 1.0, "weights": weights, "alpha": alpha}


def matrix_answer():
    problem = transductive()
    return {
        "kernels": problem.kernels, "y": problem.y, "C": 1.0, "weights": np.ones(3), "alpha": np.zeros(16),
        "free": True,
    }  # fmt: skip


def discriminant_answer(learned):
    task = waves(None if learned else 1e-2)
    weights = 0.25 / centred_traces(task.kernels)
    return {"kernels": task.kernels, "codes": task.codes, "weights": weights, "reg": 1e-2, "learned": learned}


def mixture_answer():
    task, found = mixture(2), solve_interior(mixture(2))
    return {
        "kernels": task.kernels, "y": task.y, "posteriors": task.posteriors, "offsets": found.offsets,
        "duals": tuple(np.maximum(part, 1e-9) for part in found.duals), "C": task.C, "margin": task.margin,
    }  # fmt: skip


def gated_answer():
    kernel, y = gated_problem()
    return {
        "K": kernel,
        "y": y,
        "beta": 1.9 * y * make_feasible(np.full(24, 0.9), y, 1.0),
        "intercept": 0.0,
        "C": 2.0,
    }


def joint_answer(weighted):
    kernels, codes = joint_problem()
    answer = solve_joint(kernels[0], codes, K, 2.0, 1e-4)
    given = {"codes": codes, "alpha": answer.alpha, "intercepts": answer.intercepts, "C": 2.0}
    if weighted:
        return given | {"kernels": kernels, "weights": np.array([1.0, 0.0, 0.0])}
    return given | {"K": kernels[0]}


JUDGED = {
    "mkl": (judge, mkl_answer),
    "matrix": (judge_matrix, matrix_answer),
    "discriminant": (judge_discriminant, partial(discriminant_answer, False)),
    "discriminant, λ learned": (judge_discriminant, partial(discriminant_answer, True)),
    "mixture": (judge_projection, mixture_answer),
    "gate": (judge_machine, gated_answer),
    "joint": (judge_joint, partial(joint_answer, False)),
    "joint weights": (judge_joint_weights, partial(joint_answer, True)),
}


def spoiled(array, value=np.nan):
    """With another first entry."""
    array = np.array(array, dtype=float)
    array.flat[0] = value
    return array


def larger_pair(alpha):
    """One dual of each class grows by the same amount, so that the sum stays and the box does not."""
    y = mkl_problem()[1]
    alpha = alpha.copy()
    for label in (-1.0, 1.0):
        alpha[np.argmax(np.where(y == label, alpha, -1.0))] = 1.5
    alpha[y < 0] *= alpha[y > 0].sum() / alpha[y < 0].sum()
    return alpha


def negative_dual(alpha):
    alpha = alpha.copy()
    alpha[np.flatnonzero(mkl_problem()[1] > 0)[:2]] += [-1.5, 1.5]
    return alpha


def off_class(alpha):
    return np.where(np.eye(K)[joint_problem()[1]] > 0, 0.0, alpha)


OF_DISCRIMINANTS = [
    ("weights", lambda w: 1.001 * w, InfeasibleError, "sum to 1"),
    ("weights", lambda w: w * [1, 1, 3, -1], InfeasibleError, "nonnegative"),
    ("reg", lambda _: -1e-3, InfeasibleError, "λ must be"),
    ("reg", lambda _: np.nan, InfeasibleError, "λ must be"),
    ("weights", lambda w: w[:3], ValueError, "shapes"),
    ("weights", spoiled, ValueError, "finite"),
    ("codes", np.zeros_like, ValueError, "class"),
    ("codes", lambda c: c + 1, ValueError, "class"),
    ("codes", lambda c: 2 * c, ValueError, "class"),
    ("codes", lambda c: c.astype(float), ValueError, "class"),
]
OF_JOINT_MACHINES = [
    ("alpha", lambda a: a - 1e-3, InfeasibleError, "own classes"),
    ("alpha", lambda a: off_class(a - 1.0), InfeasibleError, r"0 \.\. 2"),
    ("alpha", lambda a: off_class(a + 2.0), InfeasibleError, r"0 \.\. 2"),
    ("alpha", lambda a: np.where(np.arange(N)[:, None] < 12, 0.0, a), InfeasibleError, "balance"),
    ("alpha", lambda a: a[1:], ValueError, "fit"),
    ("alpha", lambda a: a + np.nan, ValueError, "finite"),
]
REFUSED = [
    ("mkl", "alpha", larger_pair, InfeasibleError, "duals must lie in"),
    ("mkl", "alpha", negative_dual, InfeasibleError, "duals must lie in"),
    ("mkl", "alpha", lambda a: np.where(a == a.max(), 0.999 * a, a), InfeasibleError, "sum of y"),
    ("mkl", "weights", lambda w: 1.001 * w, InfeasibleError, "sum to 1"),
    ("mkl", "weights", lambda w: w + [-2.0, 1.0, 1.0], InfeasibleError, "nonnegative"),
    ("mkl", "alpha", spoiled, ValueError, "finite"),
    ("mkl", "weights", lambda w: spoiled(w, np.inf), ValueError, "finite"),
    ("mkl", "weights", lambda w: w[:-1], ValueError, "shapes"),
    ("mkl", "alpha", lambda a: a[:-1], ValueError, "shapes"),
    ("mkl", "y", lambda y: (y + 1) / 2, ValueError, "labels"),
    ("matrix", "weights", lambda w: w[:2], ValueError, "shapes"),
    ("matrix", "alpha", lambda a: a[:3], ValueError, "shapes"),
    ("matrix", "weights", spoiled, ValueError, "finite"),
    ("matrix", "weights", lambda w: [-1.0, 0.0, 0.0], ValueError, "trace"),
    ("matrix", "y", np.zeros_like, ValueError, "labels"),
    *(("discriminant", *case) for case in OF_DISCRIMINANTS),
    *(("discriminant, λ learned", *case) for case in OF_DISCRIMINANTS),
    ("discriminant", "reg", lambda _: 0.0, InfeasibleError, "λ must be positive and finite"),
    ("discriminant", "reg", lambda _: np.inf, InfeasibleError, "λ must be positive and finite"),
    ("mixture", "duals", lambda u: (u[0] - 1e-3, u[1]), InfeasibleError, "nonnegative"),
    ("mixture", "duals", lambda u: (u[0] + 2.0, u[1]), InfeasibleError, "at most C=2"),
    ("mixture", "duals", lambda u: (u[0] * 0.9, u[1]), InfeasibleError, "balance"),
    ("mixture", "duals", lambda u: (u[0][1:], u[1]), ValueError, "shape"),
    ("mixture", "duals", lambda u: (u[0] * np.inf, u[1]), ValueError, "finite"),
    ("mixture", "offsets", lambda o: (o[0][:1], o[1]), ValueError, "shape"),
    ("mixture", "offsets", lambda o: (o[0] + np.nan, o[1]), ValueError, "finite"),
    ("mixture", "kernels", lambda k: k[:, 1:, 1:], ValueError, r"shape \(m, n, n\)"),
    ("gate", "beta", lambda b: -b, InfeasibleError, r"0 \.\. 2"),
    ("gate", "beta", lambda b: 3.0 * b, InfeasibleError, r"0 \.\. 2"),
    ("gate", "beta", lambda b: spoiled(b, 0.5 * b[0]), InfeasibleError, "balance"),
    ("gate", "beta", lambda b: b[1:], ValueError, "fit"),
    ("gate", "beta", spoiled, ValueError, "finite"),
    *(("joint", *case) for case in OF_JOINT_MACHINES),
    *(("joint weights", *case) for case in OF_JOINT_MACHINES),
    ("joint weights", "weights", lambda w: np.array([0.5, 0.5, 0.1]), InfeasibleError, "sum to 1"),
    ("joint weights", "weights", lambda w: np.array([1.5, -0.5, 0.0]), InfeasibleError, "nonnegative"),
    ("joint weights", "weights", lambda w: w[:2], ValueError, "fit"),
    ("joint weights", "weights", spoiled, ValueError, "finite"),
]


@pytest.mark.parametrize(("family", "name", "change", "error", "message"), REFUSED)
def test_judges_refuse_what_is_infeasible_or_does_not_fit(family, name, change, error, message):
    judge_it, make = JUDGED[family]
    answer = make()
    judge_it(**answer)
    with pytest.raises(error, match=message), np.errstate(invalid="ignore"):
        judge_it(**answer | {name: change(answer[name])})


def test_sections_note_what_their_judge_refuses():
    task = gauss_task(40, "linear + quadratic")
    answer = learn_gate(task, 0)
    wrong = dataclasses.replace(answer, coefficients=3.0 * answer.coefficients)
    assert "duals must lie" in localized.verdict_of(task, wrong)["refused"]
    case = multiclass.peer_cases(dataclasses.replace(QUICK, multiclass=((20, 3),)), "gaussian", 1e-3)[0]
    answer = multiclass.contestants(case)["ours"]()
    wrong = dataclasses.replace(answer, alpha=3.0 * answer.alpha)
    assert "duals must lie" in multiclass.verdict_of(case.task(), case, wrong)["refused"]
    answer = solve_interior(mixture(2))
    wrong = dataclasses.replace(answer, duals=(answer.duals[0] * 0.5, answer.duals[1]))
    assert "balance" in nonstationary.verdict_of(mixture(2), wrong)["refused"]
