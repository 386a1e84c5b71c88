"""Ridge learners: the definitions by cvxpy and by hand, gradients, certificates, what they refuse."""

from itertools import combinations_with_replacement

import cvxpy as cp
import numpy as np
import pytest

from multikernel.core.optim.loop import Options
from multikernel.core.optim.weight_sets import PositiveBall
from multikernel.rules.ridge import PolynomialRidge, RidgeBall
from multikernel.rules.solver.ridge_ball import HomogeneousRidgeValue, RidgeValue, learn_in_ball

LEARNERS = [RidgeBall, PolynomialRidge]


def example(seed=0, n=16):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    y = X[:, 0] - 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    kernels = [30.0 * X @ X.T, np.exp(-0.3 * D), np.exp(-3.0 * D), 0.01 * np.outer(X[:, 2], X[:, 2])]
    return np.array(kernels), y


def unit(y):
    return ((y - y.mean(axis=0)) / np.sqrt(((y - y.mean(axis=0)) ** 2).mean(axis=0).sum())).reshape(
        len(y), -1
    )


def value(Ks, T, alpha, weights, degree=1):
    P = np.tensordot(weights, Ks, 1) ** degree
    return np.trace(T.T @ np.linalg.solve(P + alpha * np.eye(len(P)), T))


@pytest.mark.parametrize(
    ("seed", "alpha", "center", "radius"),
    [(0, 1.0, None, 1.0), (1, 0.1, 0.5, 2.0), (2, 5.0, [2, 0, 1, 0], 0.3)],
)
def test_the_ball_by_cvxpy(seed, alpha, center, radius):
    Ks, y = example(seed)
    n, sizes = len(y), np.einsum("mii->m", Ks) / len(y)
    eta, T = cp.Variable(4, nonneg=True), unit(y)
    K = sum(eta[m] * Ks[m] / sizes[m] for m in range(4)) + alpha * np.eye(n)
    middle = np.zeros(4) + (0.0 if center is None else np.asarray(center, float))
    judge = cp.Problem(cp.Minimize(cp.matrix_frac(T[:, 0], K)), [cp.norm(eta - middle) <= radius])
    judge.solve(solver=cp.CLARABEL)
    learner = RidgeBall(alpha, center=center, radius=radius, tol=1e-9).fit(list(Ks), y)
    assert learner.objective_ == pytest.approx(judge.value, rel=1e-6)
    np.testing.assert_allclose(learner.kernel_weights_ * sizes, eta.value, atol=2e-4)
    assert value(Ks, T, alpha, learner.kernel_weights_) == pytest.approx(learner.objective_, rel=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_ball_is_the_fixed_point_and_its_gap_bounds_all_others(seed):
    Ks, y = example(seed)
    T, alpha = unit(y), 0.5
    learner = RidgeBall(alpha, center=0.2, radius=0.7, normalize=False, tol=1e-10).fit(list(Ks), y)
    A = np.linalg.solve(np.tensordot(learner.kernel_weights_, Ks, 1) + alpha * np.eye(len(y)), T)
    v = np.array([np.trace(A.T @ K @ A) for K in Ks])
    np.testing.assert_allclose(learner.kernel_weights_, 0.2 + 0.7 * v / np.linalg.norm(v), atol=1e-4)
    gap = v @ (0.2 + 0.7 * v / np.linalg.norm(v)) - v @ learner.kernel_weights_
    assert gap / learner.objective_ == pytest.approx(learner.dual_gap_, abs=1e-11)
    rough = RidgeBall(alpha, center=0.2, radius=0.7, normalize=False, tol=0.2).fit(list(Ks), y)
    assert rough.objective_ * (1 - rough.dual_gap_) <= learner.objective_ <= rough.objective_


def test_several_columns_are_summed():
    Ks, y = example()
    Y = np.column_stack([y, y[::-1], np.cos(y)])
    learner = RidgeBall(0.3, tol=1e-9).fit(list(Ks), Y)
    assert value(Ks, unit(Y), 0.3, learner.kernel_weights_) == pytest.approx(learner.objective_, rel=1e-10)
    labels = np.arange(16) % 3
    classes = RidgeBall(0.3, tol=1e-9).fit(list(Ks), labels)
    T = np.sqrt(1.5) * (np.eye(3)[labels] - 1 / 3)
    assert value(Ks, T, 0.3, classes.kernel_weights_) == pytest.approx(classes.objective_, rel=1e-10)
    two = RidgeBall(0.3, tol=1e-9).fit(list(Ks), labels > 0)
    signs = np.where(labels > 0, 1.0, -1.0)[:, None]
    assert value(Ks, signs, 0.3, two.kernel_weights_) == pytest.approx(two.objective_, rel=1e-10)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_gradients_by_differences(degree):
    Ks, y = example(3)
    F = RidgeValue(Ks, np.column_stack([y, y**2]), 0.7, np.array([30.0, 1.0, 2.0, 0.01]), degree)
    eta, step = np.array([0.5, 0.2, 0.9, 0.4]), 1e-6
    differences = [(F(eta + step * e)[0] - F(eta - step * e)[0]) / (2 * step) for e in np.eye(4)]
    here, gradient = F(eta)
    np.testing.assert_allclose(gradient, differences, rtol=1e-6)
    assert here == pytest.approx(value(Ks, F.T, 0.7, eta / F.scales, degree), rel=1e-10)


@pytest.mark.parametrize("degree", [2, 3])
def test_no_weights_of_the_ball_close_by_are_better(degree):
    Ks, y = example(4)
    sizes = np.einsum("mii->m", Ks) / len(y)
    learner = PolynomialRidge(degree, 0.5, center=0.3, radius=0.8, tol=1e-8).fit(list(Ks), y)
    eta = learner.kernel_weights_ * sizes
    assert eta.min() >= 0.0 and np.linalg.norm(eta - 0.3) <= 0.8 + 1e-9
    F = RidgeValue(Ks, unit(y), 0.5, sizes, degree)
    assert learner.objective_ == pytest.approx(value(Ks, unit(y), 0.5, eta / sizes, degree), rel=1e-10)
    ball, rng = PositiveBall(np.full(4, 0.3), 0.8), np.random.default_rng(0)
    for _ in range(50):
        other = ball.project(eta + 0.01 * rng.normal(size=4))
        assert F(other)[0] >= learner.objective_ * (1 - 1e-7)
    gradient = F(eta)[1]
    gap = (gradient @ eta + ball.support(-gradient)) / learner.objective_
    assert learner.dual_gap_ == pytest.approx(gap, abs=1e-12) and gap <= 1e-8


def test_degree_one_is_the_ball_and_the_power_is_taken_of_the_sum():
    Ks, y = example(5)
    ball = RidgeBall(0.5, radius=2.0, tol=1e-9).fit(list(Ks), y)
    power = PolynomialRidge(1, 0.5, radius=2.0, tol=1e-9).fit(list(Ks), y)
    assert power.objective_ == pytest.approx(ball.objective_, rel=1e-8)
    np.testing.assert_allclose(power.kernel_weights_, ball.kernel_weights_, rtol=1e-3)
    cubic = PolynomialRidge(3).fit(list(Ks), y)
    rows = [K[:2] for K in Ks]
    np.testing.assert_allclose(cubic.combine(rows), np.tensordot(cubic.kernel_weights_, rows, 1) ** 3)


def homogeneous(Ks, weights, degree):
    """Σ over multisets of kernels of the product, entry by entry."""
    parts = [w * K for w, K in zip(weights, Ks, strict=True)]
    chosen = combinations_with_replacement(parts, degree)
    return sum(np.prod(product, axis=0) for product in chosen)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_each_product_once_is_the_homogeneous_sum_with_its_gradient(degree):
    Ks, y = example(3)
    Ks[0] /= 30.0
    scales, alpha = np.array([1.0, 1.0, 2.0, 0.01]), 0.7
    F = HomogeneousRidgeValue(Ks, np.column_stack([y, y**2]), alpha, scales, degree)
    eta, step = np.array([0.5, 0.2, 0.9, 0.0]), 1e-6
    here, gradient = F(eta)
    P = homogeneous(Ks, eta / scales, degree)
    assert here == pytest.approx(
        np.trace(F.T.T @ np.linalg.solve(P + alpha * np.eye(len(P)), F.T)), rel=1e-10
    )
    differences = [(F(eta + step * e)[0] - F(eta - step * e)[0]) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-9)


def test_each_product_once_is_learned_and_combined():
    Ks, y = example(4)
    sizes = np.einsum("mii->m", Ks) / len(y)
    learner = PolynomialRidge(3, 0.5, radius=0.8, multinomial=False, tol=1e-8).fit(list(Ks), y)
    eta = learner.kernel_weights_ * sizes
    F = HomogeneousRidgeValue(Ks, unit(y), 0.5, sizes, 3)
    assert learner.objective_ == pytest.approx(F(eta)[0], rel=1e-10) and learner.dual_gap_ <= 1e-8
    ball, rng = PositiveBall(np.zeros(4), 0.8), np.random.default_rng(0)
    others = [ball.project(eta + 0.01 * rng.normal(size=4)) for _ in range(50)]
    assert min(F(other)[0] for other in others) >= learner.objective_ * (1 - 1e-7)
    rows = [K[:2] for K in Ks]
    np.testing.assert_allclose(
        learner.combine(rows), homogeneous(rows, learner.kernel_weights_, 3), rtol=1e-12
    )
    power = PolynomialRidge(3, 0.5, radius=0.8, tol=1e-8).fit(list(Ks), y)
    assert np.abs(power.kernel_weights_ * sizes - eta).max() > 0.01  # another problem
    alone = [PolynomialRidge(2, multinomial=flag).fit(Ks[1], y) for flag in (True, False)]
    assert alone[0].objective_ == pytest.approx(alone[1].objective_, rel=1e-12)  # of one kernel the same


def test_projected_gradients_take_over_where_the_fixed_point_does_not_converge():
    a = np.array([1.0, 3.0, 0.2])

    def steep(x):  # convex and falling, but so steep that the fixed point jumps to and fro
        powers = np.exp(-40.0 * a * x)
        return 1e-3 + powers.sum(), -40.0 * a * powers

    found = learn_in_ball(steep, PositiveBall(np.zeros(3), 1.0), Options(tol=1e-7, max_iter=2000))
    assert found.status == "optimal" and found.gap <= 1e-7
    assert found.n_iter > 50 and [e["iteration"] for e in found.history] == list(range(len(found.history)))


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_kernel_and_equal_kernels(learner):
    Ks, y = example(8)
    assert learner(normalize=False, radius=2.0).fit(Ks[1], y).kernel_weights_ == pytest.approx([2.0])
    a, b, _ = learner(normalize=False).fit([Ks[1], Ks[1], Ks[2]], y).kernel_weights_
    assert a == pytest.approx(b, rel=1e-3)


def test_other_refusals():
    Ks, y = example()
    for learner in LEARNERS:
        with pytest.raises(ValueError, match="center must be a number, or one for each of 4 kernels; got 2"):
            learner(center=[1.0, 2.0]).fit(list(Ks), y)
    with pytest.raises(ValueError, match=r"degree=2 overflows at radius=1e\+300. Lower one of them"):
        PolynomialRidge(radius=1e300).fit(list(Ks), y)
    for multinomial in (True, False):
        huge = PolynomialRidge(50, normalize=False, multinomial=multinomial)
        with pytest.raises(ValueError, match="power of degree 50 overflows"):
            huge.fit([1e10 * np.eye(len(y))], y)
    with pytest.raises(ValueError, match=r"alpha=1e-30 is too small for these kernels.*Raise alpha"):
        RidgeBall(1e-30).fit(Ks[0], y)
    with pytest.raises(ValueError, match=r"power of degree 2 overflows.*normalize=.diagonal. of each View"):
        PolynomialRidge().fit(list(Ks), y).combine([1e300 * K for K in Ks])
