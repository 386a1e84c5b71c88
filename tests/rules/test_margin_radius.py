"""RadiusMargin against its saddle: max over duals β and shares b of S(β) − ½ max_m q_m(β) / r_m(b)."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel.rules import RadiusMargin
from multikernel.rules.solver.radius import smallest_ball
from multikernel.rules.targets import class_targets
from tests.core.problems import Task
from tests.rules.margin_reference import dual_program, make_problem, rewards_and_forms, roots_of


def saddle(Ks):
    def penalty(parts, conditions):
        shares = cp.Variable(Ks.shape[1], nonneg=True)
        room = cp.Variable(len(Ks))
        conditions.append(cp.sum(shares) == 1)
        for m, (K, root) in enumerate(zip(Ks, roots_of(Ks), strict=True)):
            conditions.append(room[m] <= np.diag(K) @ shares - cp.sum_squares(root.T @ shares))
        return 0.5 * cp.max(cp.hstack([cp.quad_over_lin(part, room[m]) for m, part in enumerate(parts)]))

    return penalty


def tasks_of(kind, X, y):
    if kind == "soft":
        return 3.0, y, [Task("squared_hinge", y.astype(float), 3.0)]
    if kind == "hard":
        return np.inf, y, [Task("hard_margin", y.astype(float))]
    if kind == "three":
        codes = np.digitize(X[:, 0], [-0.4, 0.4])
        return 0.5, codes, [Task("squared_hinge", np.where(codes == c, 1.0, -1.0), 0.5) for c in range(3)]
    values = np.sin(X[:, 0]) + X[:, 1]
    return 2.0, values, [Task("svr", values, 2.0, 0.1)]


@pytest.mark.parametrize("kind", ["soft", "hard", "three", "values"])
def test_value_is_the_least_and_its_certificate_holds(kind):
    X, Ks, y = make_problem(n=20, seed=1, n_kernels=5)
    before = Ks.copy()
    C, targets, tasks = tasks_of(kind, X, y)
    learner = RadiusMargin(C, tol=1e-7).fit(list(Ks), targets)
    assert learner.status_ == "optimal" and learner.dual_gap_ <= 1e-7
    np.testing.assert_allclose(learner.objective_, dual_program(Ks, tasks, saddle(Ks)), rtol=1e-6)
    # primal: feasible and on the boundary
    assert (learner.kernel_weights_ >= 0.0).all()
    ball = smallest_ball(np.tensordot(learner.kernel_weights_, Ks, 1), tol=1e-10)
    np.testing.assert_allclose(ball.squared_radius, 1.0, rtol=1e-7)
    # dual: duals and shares alone prove the bound
    b = learner.ball_
    assert (b >= 0.0).all() and abs(b.sum() - 1.0) < 1e-9
    reward, q = rewards_and_forms(Ks, tasks, learner.dual_coef_)
    r = np.array([b @ np.diag(K) - b @ K @ b for K in Ks])
    assert reward - 0.5 * (q / r).max() >= learner.objective_ * (1.0 - 1.1e-7)
    np.testing.assert_array_equal(Ks, before)


def test_hard_margin_has_the_least_ratio_of_radius_and_margin():
    """No direction of weights, brute force, has a smaller R²/γ²."""
    _, Ks, y = make_problem(n=16, seed=2, n_kernels=2)
    learner = RadiusMargin(np.inf, tol=1e-8).fit(list(Ks), y)
    task = [Task("hard_margin", y.astype(float))]

    def ratio(share):
        K = share * Ks[0] + (1.0 - share) * Ks[1]
        ball = smallest_ball(K, tol=1e-10)
        value = dual_program(K[None], task, lambda parts, _: 0.5 * cp.sum_squares(parts[0]))
        return ball.squared_radius * 2.0 * value

    weights = learner.kernel_weights_
    found = ratio(weights[0] / weights.sum())
    np.testing.assert_allclose(2.0 * learner.objective_, found, rtol=1e-6)
    assert found <= min(ratio(share) for share in (0.05, 0.3, 0.5, 0.7, 0.95, 1.0)) * (1.0 + 1e-7)


def test_classes_that_no_kernel_separates_are_told():
    x = np.array([0.0, 0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="finite C"):
        RadiusMargin(np.inf).fit([np.outer(x, x), 1.0 + np.outer(x, x)], [0, 1, 0, 1])


def test_a_kernel_that_hardly_separates_joins_one_that_does():
    """A hard margin may not exist at weights on the way: the method goes back."""
    _, Ks, y = make_problem(n=20, seed=3)
    z = np.where(np.arange(20) < 10, 1.0, -1.0)
    learner = RadiusMargin(np.inf, tol=1e-3).fit([np.outer(z, z), Ks[0], np.outer(y, y) + np.outer(z, z)], y)
    assert learner.status_ == "optimal"


def test_an_origin_far_away_does_not_matter():
    _, Ks, y = make_problem(n=20, seed=4)
    near = RadiusMargin(tol=1e-6).fit(list(Ks), y)
    far = RadiusMargin(tol=1e-6).fit([K + 1e4 for K in Ks], y)
    np.testing.assert_allclose(far.objective_, near.objective_, rtol=1e-5)


def test_infinite_price_is_for_classes_only():
    _, Ks, _ = make_problem()
    with pytest.raises(ValueError, match="C must be finite"):
        RadiusMargin(np.inf).fit(list(Ks), np.linspace(0.1, 1.3, 24))


def test_kernels_that_tell_nothing_apart():
    """A constant gets no weight; constants alone are refused."""
    _, Ks, y = make_problem(n=20, seed=4)
    flat = np.full((20, 20), 3.0)
    learner = RadiusMargin()
    learner.fit_stack(np.stack([flat, Ks[0]]), class_targets((y > 0).astype(int)))
    alone = RadiusMargin().fit([Ks[0]], y)
    assert learner.kernel_weights_[0] == 0.0
    np.testing.assert_allclose(learner.kernel_weights_[1], alone.kernel_weights_[0], rtol=1e-6)
    with pytest.raises(ValueError, match="no kernel tells the samples apart"):
        RadiusMargin().fit_stack(flat[None], class_targets((y > 0).astype(int)))
