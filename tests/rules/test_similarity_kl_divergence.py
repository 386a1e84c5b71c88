"""Divergence from the targets: the convex form against cvxpy, the other one by its stationarity."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel.rules import KLDivergence
from tests.rules.similarity_problems import check_input, check_order, check_scales, ideal, problem
from tests.rules.solver.test_divergence import gaussian_divergence

TASKS = ("two", "three", "values", "outputs")


def matrices(learner, kernels, y, task):
    """K_η and K_y, with λ, from the learned weights."""
    ridge = learner.reg * np.eye(len(y))
    return learner.combine(kernels) + ridge, ideal(y, task) + ridge


def normalised(kernels):
    return [K / np.diagonal(K).mean() for K in kernels]


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


@pytest.mark.parametrize("form", ["convex", "dc"])
def test_laws(form):
    kernels, y = problem(6, "three")
    learner = KLDivergence(form, tol=1e-9)
    check_scales(learner, kernels, y, rtol=1e-4)
    check_order(learner, kernels, y, rtol=1e-4)
    check_input(learner, kernels, y)


@pytest.mark.parametrize("form", ["convex", "dc"])
def test_values_in_any_unit(form):
    kernels, y = problem(7, "values")
    weights = KLDivergence(form).fit(kernels, y).kernel_weights_
    np.testing.assert_allclose(KLDivergence(form).fit(kernels, 1e6 * y).kernel_weights_, weights, rtol=1e-6)


@pytest.mark.parametrize("form", ["convex", "dc"])
def test_one_kernel_and_equal_kernels(form):
    kernels, y = problem(8)
    single = KLDivergence(form).fit(kernels[:1], y)
    assert single.kernel_shares_.tolist() == [1.0]
    twice = KLDivergence(form).fit([kernels[0]] * 2, y)
    assert twice.objective_ == pytest.approx(single.objective_, rel=1e-6)


def test_an_end_too_soon_is_told():
    kernels, y = problem(10)
    with pytest.warns(Warning, match="KLDivergence ended as 'max_iter'"):
        KLDivergence(max_iter=1, tol=1e-12).fit(kernels, y)
