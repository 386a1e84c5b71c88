"""Kandola's program: against cvxpy, its bound, and its two ends."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel.core.alignment.learn import learn_alignment
from multikernel.rules import AlignmentQP, AlignmentRule, CenteredAlignment, alignment
from tests.rules.similarity_problems import centred, check_input, check_order, check_scales, ideal, problem

TASKS = ("two", "three", "values", "outputs")


def program(kernels, y, task, centered=False):
    shape = centred if centered else np.asarray
    norms = np.array([np.linalg.norm(shape(K)) for K in kernels])
    Ks = [shape(K) / s for K, s in zip(kernels, norms, strict=True)]
    L = shape(ideal(y, task))
    L = L / np.linalg.norm(L)
    S = np.array([[np.vdot(K, M) for M in Ks] for K in Ks])
    return np.array([np.vdot(K, L) for K in Ks]), S, norms


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("reg", [0.0, 0.1, 100.0])
def test_it_is_the_quadratic_program(task, reg, centered):
    kernels, y = problem(len(task), task)
    learner = AlignmentQP(reg, centered).fit(kernels, y)
    q, S, norms = program(kernels, y, task, centered)
    A = S + reg * np.eye(q.size)
    w = learner.kernel_weights_ * norms
    assert (w >= 0.0).all()
    assert learner.objective_ == pytest.approx(q @ w - w @ A @ w, rel=1e-9)
    root = np.linalg.cholesky(A + 1e-13 * np.eye(q.size)).T
    v = cp.Variable(q.size, nonneg=True)  # v = w (1 + reg): no number is small
    best = cp.Problem(cp.Maximize(q @ v - cp.sum_squares(root @ v) / (1 + reg))).solve(solver="CLARABEL")
    assert learner.objective_ == pytest.approx(best / (1 + reg), rel=1e-6)
    np.testing.assert_allclose(learner.alignments_, q, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("reg", [0.0, 0.3])
def test_the_gap_bounds_what_is_left(reg):
    kernels, y = problem(3)
    learner = AlignmentQP(reg).fit(kernels, y)
    q, S, norms = program(kernels, y, "two")
    A = S + reg * np.eye(q.size)
    w = learner.kernel_weights_ * norms
    u = w * (q / (2.0 * A @ w)).max()  # 2Au ≥ q
    assert learner.objective_ / (1.0 - learner.dual_gap_) == pytest.approx(u @ A @ u, rel=1e-9)
    assert learner.dual_gap_ < 1e-9


def test_between_the_best_alignment_and_the_rule():
    kernels, y = problem(5)
    best = learn_alignment(np.stack(kernels), np.where(y == 1, 1.0, -1.0)).weights
    found = AlignmentQP(0.0).fit(kernels, y).kernel_weights_
    np.testing.assert_allclose(found / found.sum(), best / best.sum(), rtol=1e-6, atol=1e-9)
    joint = CenteredAlignment().fit(kernels, y).kernel_weights_
    found = AlignmentQP(0.0, centered=True).fit(kernels, y).kernel_weights_
    np.testing.assert_allclose(found / found.sum(), joint / joint.sum(), rtol=1e-6, atol=1e-9)
    norms = np.array([np.linalg.norm(K) for K in kernels])
    found = AlignmentQP(1e7).fit(kernels, y).kernel_weights_ * norms
    alone = np.array([alignment(K, ideal(y, "two")) for K in kernels])
    np.testing.assert_allclose(found / found.sum(), alone / alone.sum(), rtol=1e-5)
    np.testing.assert_allclose(AlignmentRule().fit(kernels, y).alignments_, alone, rtol=1e-9)


def test_laws():
    kernels, y = problem(6, "three")
    check_scales(AlignmentQP(), kernels, y)
    check_order(AlignmentQP(), kernels, y)
    check_input(AlignmentQP(), kernels, y)


def test_values_in_any_unit():
    kernels, y = problem(7, "values")
    weights = AlignmentQP().fit(kernels, y).kernel_weights_
    np.testing.assert_allclose(AlignmentQP().fit(kernels, 1e8 * y - 3.0).kernel_weights_, weights, rtol=1e-6)


def test_equal_kernels_share_alike():
    kernels, y = problem(8)
    first, second = AlignmentQP(0.5).fit([kernels[0]] * 2, y).kernel_weights_
    assert first == pytest.approx(second) and first > 0.0
    assert AlignmentQP().fit(kernels[:1], y).kernel_shares_.tolist() == [1.0]


def test_kernels_without_the_classes():
    x, y = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1, 0, 1, 0])
    with pytest.raises(ValueError, match="gives no kernel any weight"):
        AlignmentQP().fit([np.outer(x, x)], y)
