"""Centred alignment: against cvxpy, against the closed form, and its bound recomputed from outside."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel.core.alignment.learn import learn_alignment
from multikernel.rules import CenteredAlignment, alignment
from tests.rules.similarity_problems import centred, check_input, check_order, check_scales, ideal, problem

TASKS = ("two", "three", "values", "outputs")


def parts(kernels, y, task):
    Ks = [centred(K) / np.linalg.norm(centred(K)) for K in kernels]
    L = centred(ideal(y, task))
    L /= np.linalg.norm(L)
    q = np.array([np.vdot(K, L) for K in Ks])
    S = np.array([[np.vdot(K, M) for M in Ks] for K in Ks])
    return q, S, np.array([np.linalg.norm(centred(K)) for K in kernels])


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(3))
def test_joint_weights_have_the_best_alignment(task, seed):
    kernels, y = problem(seed, task)
    learner = CenteredAlignment().fit(kernels, y)
    K = sum(w * K for w, K in zip(learner.kernel_weights_, kernels, strict=True))
    assert np.linalg.norm(centred(K)) == pytest.approx(1.0)
    assert (learner.kernel_weights_ >= 0.0).all()
    assert learner.objective_ == pytest.approx(alignment(K, ideal(y, task), centered=True), rel=1e-9)
    q, S, _ = parts(kernels, y, task)
    w = cp.Variable(q.size, nonneg=True)
    root = np.linalg.cholesky(S + 1e-13 * np.eye(q.size)).T
    best = cp.Problem(cp.Maximize(q @ w), [cp.norm(root @ w) <= 1.0]).solve(solver="CLARABEL")
    assert learner.objective_ == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_joint_weights_are_those_of_plain_alignment_on_centred_kernels(seed):
    kernels, y = problem(seed)
    learner = CenteredAlignment().fit(kernels, y)
    expected = learn_alignment(np.stack([centred(K) for K in kernels]), np.where(y == 1, 1.0, -1.0)).weights
    np.testing.assert_allclose(learner.kernel_weights_, expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_the_gap_bounds_what_is_left(task):
    kernels, y = problem(4, task)
    learner = CenteredAlignment().fit(kernels, y)
    q, S, norms = parts(kernels, y, task)
    w = learner.kernel_weights_ * norms
    factor = (q / (S @ w)).max()  # S(cw) ≥ q: no weights do better than c ‖w‖
    bound = factor * np.sqrt(w @ S @ w)
    assert learner.objective_ / (1.0 - learner.dual_gap_) == pytest.approx(bound, rel=1e-9)
    assert 0.0 <= learner.dual_gap_ < 1e-9
    assert learner.status_ == "optimal"


@pytest.mark.parametrize("task", TASKS)
def test_independent_weights_are_the_closed_form(task):
    kernels, y = problem(5, task)
    learner = CenteredAlignment("independent").fit(kernels, y)
    values = np.array([alignment(K, ideal(y, task), centered=True) for K in kernels])
    np.testing.assert_allclose(learner.alignments_, values, rtol=1e-9)
    _, _, norms = parts(kernels, y, task)
    np.testing.assert_allclose(learner.kernel_weights_, values / values.sum() / norms, rtol=1e-9)
    assert np.isnan(learner.objective_)


@pytest.mark.parametrize("method", ["joint", "independent"])
def test_laws(method):
    kernels, y = problem(6, "three")
    learner = CenteredAlignment(method)
    check_scales(learner, kernels, y)
    check_order(learner, kernels, y)
    check_input(learner, kernels, y)


def test_a_constant_in_a_kernel_changes_nothing():
    kernels, y = problem(7)
    weights = CenteredAlignment().fit(kernels, y).kernel_weights_
    shifted = [K + 2.0 * K.max() for K in kernels]
    np.testing.assert_allclose(CenteredAlignment().fit(shifted, y).kernel_weights_, weights, rtol=1e-6)


def test_equal_kernels_share_and_one_kernel_has_all():
    kernels, y = problem(8)
    single = CenteredAlignment().fit(kernels[:1], y)
    assert single.kernel_shares_.tolist() == [1.0]
    twice = CenteredAlignment().fit([kernels[0]] * 2, y)
    assert twice.objective_ == pytest.approx(single.objective_)
    assert twice.kernel_weights_.sum() == pytest.approx(single.kernel_weights_.sum())


def test_what_it_refuses():
    kernels, y = problem(9)
    with pytest.raises(ValueError, match="method must be one of 'joint', 'independent'"):
        CenteredAlignment("both").fit(kernels, y)
    with pytest.raises(ValueError, match="y must hold different values"):
        CenteredAlignment().fit(kernels, np.full(len(y), 2.5))
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    x = np.array([1.0, 1.0, -1.0, -1.0])  # nothing in common with the classes
    with pytest.raises(ValueError, match="gives no kernel any weight"):
        CenteredAlignment().fit([np.outer(x, x)], signs)
