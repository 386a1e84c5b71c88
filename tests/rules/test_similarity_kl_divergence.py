"""Divergence from the targets: the convex form against cvxpy, the other by its stationarity; derivatives."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel.rules import KLDivergence
from multikernel.rules.solver.divergence import Away, GaussianDivergence, Towards
from tests.rules.similarity_problems import TASKS, ideal, normalised, problem


def example(seed, task, reg, n=12, m=4):
    kernels, y = problem(seed, task, n=n, m=m)
    values, vectors = np.linalg.eigh(ideal(y, task))
    T = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, values > 1e-9]
    scales = np.array([np.diagonal(K).mean() for K in kernels])
    eta = np.random.default_rng(seed).random(m) + 0.05
    return GaussianDivergence(np.stack(kernels), scales, T, reg), kernels, scales, T, eta


def gaussian_divergence(first, second):
    """KL(N(0, first) ‖ N(0, second)), from the definition."""
    logs = np.linalg.slogdet(second)[1] - np.linalg.slogdet(first)[1]
    return 0.5 * (np.trace(np.linalg.solve(second, first)) + logs - len(first))


@pytest.mark.parametrize("form", [Towards, Away])
def test_derivatives_are_those_of_finite_differences(form):
    divergence, _, _, _, eta = example(2, "two", 0.3)
    here = form(divergence, eta)
    hessian = here.hessian if form is Towards else here.convex_hessian + here.concave_hessian
    for m, step in enumerate(1e-5 * np.eye(eta.size)):
        ahead, back = form(divergence, eta + step), form(divergence, eta - step)
        assert here.gradient[m] == pytest.approx((ahead.value - back.value) / 2e-5, rel=1e-6, abs=1e-7)
        np.testing.assert_allclose(hessian[m], (ahead.gradient - back.gradient) / 2e-5, rtol=1e-5, atol=1e-6)


def matrices(learner, kernels, y, task):
    """K_η and K_y, with λ, from the learned weights."""
    ridge = learner.reg * np.eye(len(y))
    return learner.combine(kernels) + ridge, ideal(y, task) + ridge


@pytest.mark.parametrize("task", TASKS)
def test_the_convex_form_has_no_better_weights(task):
    kernels, y = problem(len(task), task, n=10, m=4)
    reg = 0.5
    learner = KLDivergence(reg=reg, tol=1e-9).fit(kernels, y)
    K, Ky = matrices(learner, kernels, y, task)
    assert learner.objective_ == pytest.approx(gaussian_divergence(K, Ky), rel=1e-8)
    eta = cp.Variable(len(kernels), nonneg=True)
    K = sum(eta[m] * L for m, L in enumerate(normalised(kernels))) + reg * np.eye(len(y))
    objective = cp.trace(np.linalg.inv(Ky) @ K) - cp.log_det(K)
    rest = np.linalg.slogdet(Ky)[1] - len(y)
    program = cp.Problem(cp.Minimize(objective), [cp.sum(eta) == 1.0])
    best = 0.5 * (program.solve(solver="CLARABEL") + rest)
    assert learner.objective_ == pytest.approx(best, rel=1e-6)
    assert learner.status_ == "optimal" and learner.certificate == "optimality"


@pytest.mark.parametrize("form", ["convex", "dc"])
@pytest.mark.parametrize("task", ["two", "values"])
def test_the_gap_is_that_of_frank_and_wolfe(form, task):
    kernels, y = problem(3, task)
    learner = KLDivergence(form, reg=0.2, tol=1e-4).fit(kernels, y)
    K, Ky = matrices(learner, kernels, y, task)
    inverse = np.linalg.inv(K)
    slope = np.linalg.inv(Ky) - inverse if form == "convex" else inverse - inverse @ Ky @ inverse
    gradient = np.array([0.5 * np.vdot(slope, L) for L in normalised(kernels)])
    eta = learner.kernel_weights_ * [np.diagonal(K).mean() for K in kernels]
    gap = (gradient @ eta - gradient.min()) / (learner.objective_ + 0.5 * len(y))
    assert learner.dual_gap_ == pytest.approx(gap, rel=1e-5, abs=1e-12)
    assert learner.dual_gap_ <= 1e-4
    assert eta.sum() == pytest.approx(1.0) and eta.min() >= 0.0


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("reg", [1e-3, 0.1, 10.0])
def test_the_other_form_falls_to_a_stationary_point(task, reg):
    kernels, y = problem(4, task)
    learner = KLDivergence("dc", reg=reg, tol=1e-7).fit(kernels, y)
    K, Ky = matrices(learner, kernels, y, task)
    assert learner.objective_ == pytest.approx(gaussian_divergence(Ky, K), rel=1e-7)
    values = [entry["objective"] for entry in learner.history_]
    assert (np.diff(values) <= 1e-9 * abs(values[0])).all() and values[-1] == learner.objective_
    assert learner.status_ == "optimal" and learner.certificate == "stationarity"
    for seed in range(20):  # no better weights nearby
        near = learner.kernel_weights_ * [np.diagonal(K).mean() for K in kernels]
        near = 0.99 * near + 0.01 * np.random.default_rng(seed).dirichlet(np.ones(near.size))
        other = sum(e * L for e, L in zip(near, normalised(kernels), strict=True)) + reg * np.eye(len(y))
        assert gaussian_divergence(Ky, other) > learner.objective_ - 1e-6 * (1.0 + learner.objective_)


def test_the_targets_themselves_are_found():
    y = np.array([0, 1, 2, 0, 1, 2, 1])
    kernels = [np.eye(7), 5.0 * (ideal(y, "three") + 1e-9 * np.eye(7))]
    for form in ("convex", "dc"):
        learner = KLDivergence(form).fit(kernels, y)
        np.testing.assert_allclose(learner.kernel_shares_, [0.0, 1.0], atol=1e-6)
        assert abs(learner.objective_) < 1e-5
