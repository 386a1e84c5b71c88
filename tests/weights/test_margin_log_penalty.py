"""LogPenaltyMKL: its value, that it never rises, and that what is found is stationary."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel.weights.margin import LogPenaltyMKL, MarginMKL
from tests.weights.margin_reference import C_OF_TESTS, EPSILON, make_problem, roots_of, targets_of

FINE = {"C": C_OF_TESTS, "epsilon": EPSILON, "tol": 1e-7}


def primal_parts(Ks, task, duals, weights):
    """‖w_m‖ and the risk of the predictor of one machine, from the formulas."""
    norms = weights * np.sqrt([duals @ K @ duals for K in Ks])
    scores = np.tensordot(weights, Ks, 1) @ duals
    return norms, task.primal(scores, 0.0)


def penalised(norms, risk, e):
    return 0.5 * (e * np.log1p(norms / e)).sum() ** 2 + risk


@pytest.mark.parametrize("task", ["classes", "values"])
@pytest.mark.parametrize("scale", [0.02, 0.5])
def test_value_falls_to_a_stationary_point(task, scale):
    _, Ks, _ = make_problem(seed=1)
    y, tasks = targets_of(task, seed=1)
    learner = LogPenaltyMKL(scale=scale, **FINE).fit(list(Ks), y)
    assert learner.status_ == "optimal" and learner.dual_gap_ <= 1e-7
    values = [entry["objective"] for entry in learner.history_]
    assert (np.diff(values) <= 0.0).all() and learner.objective_ == values[-1]
    norms, risk = primal_parts(Ks, tasks[0], learner.dual_coef_[0], learner.kernel_weights_)
    np.testing.assert_allclose(learner.part_norms_, norms, rtol=1e-9)
    np.testing.assert_allclose(learner.objective_, penalised(norms, risk, learner.scale_), rtol=1e-9)
    # the convex function that touches F at the point has its minimum there
    e = learner.scale_
    d, G = 1.0 / (1.0 + norms / e), (e * np.log1p(norms / e)).sum()
    least = tangent_program(Ks, tasks[0], d, G - d @ norms)
    np.testing.assert_allclose(learner.objective_, least, rtol=1e-6)


def tangent_program(Ks, task, d, offset):
    """min ½ (Σ d_m ‖w_m‖ + offset)² + risk: the penalty with its tangents, in the primal."""
    roots = roots_of(Ks)
    w = [cp.Variable(root.shape[1]) for root in roots]
    b = cp.Variable()
    f = sum(root @ part for root, part in zip(roots, w, strict=True)) + b
    C, y = task.sizes, task.target
    risk = {
        "hinge": lambda: C @ cp.pos(1.0 - cp.multiply(y, f)),
        "svr": lambda: C @ cp.pos(cp.abs(y - f) - task.epsilon),
    }[task.kind]()
    total = sum(d_m * cp.norm(part) for d_m, part in zip(d, w, strict=True)) + offset
    problem = cp.Problem(cp.Minimize(0.5 * cp.square(total) + risk))
    return problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)


def test_large_scale_is_the_plain_norm_and_a_small_one_is_sparser():
    _, Ks, y = make_problem(n=40, seed=2, n_kernels=5)
    plain = MarginMKL(tol=1e-7).fit(list(Ks), y)
    smooth = LogPenaltyMKL(scale=1e6, tol=1e-6).fit(list(Ks), y)
    np.testing.assert_allclose(smooth.objective_, plain.objective_, rtol=1e-5)
    sharp = LogPenaltyMKL(scale=0.01).fit(list(Ks), y)
    assert np.count_nonzero(sharp.part_norms_ > 1e-6) < np.count_nonzero(plain.kernel_weights_ > 1e-6)


def test_nothing_to_learn():
    """Values within the tube need no kernel at all."""
    _, Ks, _ = make_problem()
    learner = LogPenaltyMKL(epsilon=5.0).fit(list(Ks), np.linspace(0.1, 1.3, 24))
    assert learner.status_ == "optimal" and learner.objective_ == 0.0
