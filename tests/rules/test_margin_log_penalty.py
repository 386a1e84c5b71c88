"""LogPenaltyMKL: its value, that it never rises, and that what is found is stationary."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from multikernel.rules import LogPenaltyMKL, MarginMKL
from multikernel.rules.margin.log_penalty import share_penalty
from tests.rules.margin_reference import C_OF_TESTS, EPSILON, NU, make_problem, roots_of, targets_of

FINE = {"C": C_OF_TESTS, "epsilon": EPSILON, "nu": NU, "tol": 1e-7}


def primal_parts(Ks, task, duals, weights):
    """‖w_m‖ and the risk of the predictor of one machine, from the formulas."""
    norms = weights * np.sqrt([duals @ K @ duals for K in Ks])
    scores = np.tensordot(weights, Ks, 1) @ duals
    return norms, task.primal(scores, 0.0)


def penalty(norms, e):
    total = norms.sum()
    return total * np.log1p(norms / (e * total)).sum() / np.log1p(1.0 / e)


@pytest.mark.parametrize("task", ["classes", "values", "nothing"])
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_value_falls_to_a_stationary_point(task, share):
    _, Ks, _ = make_problem(seed=1)
    y, tasks = targets_of(task, seed=1)
    learner = LogPenaltyMKL(share=share, **FINE).fit(list(Ks), y)
    assert learner.status_ == "optimal" and learner.dual_gap_ <= 1e-7
    values = [entry["objective"] for entry in learner.history_]
    assert (np.diff(values) <= 0.0).all() and learner.objective_ == values[-1]
    norms, risk = primal_parts(Ks, tasks[0], learner.dual_coef_[0], learner.kernel_weights_)
    np.testing.assert_allclose(learner.part_norms_, norms, rtol=1e-9)
    np.testing.assert_allclose(learner.objective_, 0.5 * penalty(norms, share) ** 2 + risk, rtol=1e-9)
    # the convex function that touches the value at the point has its minimum there
    _, slopes = share_penalty(norms, share)
    np.testing.assert_allclose(learner.objective_, tangent_program(Ks, tasks[0], slopes), rtol=1e-6)


@given(arrays(float, 4, elements=st.one_of(st.just(0.0), st.floats(0.01, 9.0))), st.floats(0.01, 10.0))
def test_penalty_is_below_its_tangents_and_its_gradient_is_right(norms, e):
    if not norms.any():
        return
    value, slopes = share_penalty(norms, e)
    np.testing.assert_allclose([value, slopes @ norms], penalty(norms, e), rtol=1e-9)
    assert value >= norms.sum() * (1.0 - 1e-12) and (slopes > 0.0).all()
    others = np.random.default_rng(0).exponential(size=(5, 4)) * norms.max()
    for other in others:
        assert penalty(other, e) <= slopes @ other * (1.0 + 1e-12)
    inside, step = norms + 1.0, 1e-6
    _, slopes = share_penalty(inside, e)
    numeric = [
        (penalty(inside + step * one, e) - penalty(inside - step * one, e)) / (2 * step) for one in np.eye(4)
    ]
    np.testing.assert_allclose(slopes, numeric, rtol=1e-6)


def tangent_program(Ks, task, d):
    """min ½ (Σ d_m ‖w_m‖)² + risk: the penalty with its tangent, in the primal."""
    roots = roots_of(Ks)
    w = [cp.Variable(root.shape[1]) for root in roots]
    b = cp.Variable()
    f = sum(root @ part for root, part in zip(roots, w, strict=True)) + b
    C, y = task.sizes, task.target
    risk = {
        "hinge": lambda: C @ cp.pos(1.0 - cp.multiply(y, f)),
        "svr": lambda: C @ cp.pos(cp.abs(y - f) - task.epsilon),
        "one_class": lambda: C @ cp.pos(-f) + b,
    }[task.kind]()
    total = sum(d_m * cp.norm(part) for d_m, part in zip(d, w, strict=True))
    problem = cp.Problem(cp.Minimize(0.5 * cp.square(total) + risk))
    return problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-8, tol_gap_abs=1e-8)


def test_a_large_share_is_the_plain_norm_and_a_small_one_is_sparser():
    _, Ks, y = make_problem(n=40, seed=2, n_kernels=5)
    plain = MarginMKL(tol=1e-7).fit(list(Ks), y)
    smooth = LogPenaltyMKL(share=1e6, tol=1e-6).fit(list(Ks), y)
    np.testing.assert_allclose(smooth.objective_, plain.objective_, rtol=1e-5)
    sharp = LogPenaltyMKL(share=0.01).fit(list(Ks), y)
    assert np.count_nonzero(sharp.part_norms_ > 1e-6) < np.count_nonzero(plain.kernel_weights_ > 1e-6)


def test_nothing_to_learn():
    """Values within the tube need no kernel at all."""
    _, Ks, _ = make_problem()
    learner = LogPenaltyMKL(epsilon=5.0).fit(list(Ks), np.linspace(0.1, 1.3, 24))
    assert learner.status_ == "optimal" and learner.objective_ == 0.0
