"""EasyMKL against its quadratic program."""

import cvxpy as cp
import numpy as np
import pytest

from judges.optimum import conic_optimum
from multikernel.rules import EasyMKL
from tests.rules.margin_reference import make_problem, roots_of


def hull_program(Ks, y, balance):
    """γ and the minimum, by the conic solver."""
    K = sum(K * len(y) / np.trace(K) for K in Ks)
    (root,) = roots_of([K])
    gamma = cp.Variable(len(y), nonneg=True)
    value = (1.0 - balance) * cp.sum_squares(root.T @ cp.multiply(y, gamma)) + balance * cp.sum_squares(gamma)
    problem = cp.Problem(cp.Minimize(value), [cp.sum(gamma[y > 0]) == 1, cp.sum(gamma[y < 0]) == 1])
    least = conic_optimum(problem, tol=1e-11, enough=1e-9)
    return gamma.value, least


@pytest.mark.parametrize("balance", [1e-3, 0.1, 0.6, 0.999, 1.0])
def test_points_and_weights_are_those_of_the_program(balance):
    _, Ks, y = make_problem(seed=3)
    learner = EasyMKL(balance, tol=1e-9).fit(list(Ks), y)
    gamma, best = hull_program(Ks, y, balance)
    np.testing.assert_allclose(learner.objective_, best, rtol=1e-7)
    assert learner.status_ == "optimal" and learner.dual_gap_ <= 2e-9
    points = learner.points_[0]
    assert (points >= 0.0).all()
    np.testing.assert_allclose([points[y > 0].sum(), points[y < 0].sum()], 1.0, rtol=1e-9)
    np.testing.assert_allclose(points, gamma, atol=1e-4)
    sizes = np.array([np.trace(K) / len(y) for K in Ks])
    forms = np.array([(y * gamma) @ K @ (y * gamma) for K in Ks]) / sizes
    np.testing.assert_allclose(learner.kernel_weights_ * sizes, forms / forms.sum(), atol=1e-4)


def test_gap_is_a_bound_at_any_precision():
    _, Ks, y = make_problem(seed=4)
    _, best = hull_program(Ks, y, 0.05)
    for tol in (0.3, 1e-2, 1e-4):
        learner = EasyMKL(0.05, tol=tol).fit(list(Ks), y)
        assert best * (1.0 - 1e-9) <= learner.objective_
        assert learner.objective_ * (1.0 - learner.dual_gap_) <= best * (1.0 + 1e-9)


def test_several_classes_are_the_mean_over_each_against_the_rest():
    X, Ks, _ = make_problem(seed=5)
    codes = np.digitize(X[:, 0], [-0.4, 0.4])
    sizes = np.array([np.trace(K) / len(K) for K in Ks])
    parts = [EasyMKL().fit(list(Ks), codes == c).kernel_weights_ * sizes for c in range(3)]
    learner = EasyMKL().fit(list(Ks), codes)
    np.testing.assert_allclose(learner.kernel_weights_ * sizes, np.mean(parts, axis=0), rtol=1e-9)
    assert learner.points_.shape == (3, len(codes))
