"""Rules by alignment: against cvxpy and each other, their bounds from outside, gradients by differences."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel import CombinedKernelClassifier, per_feature
from multikernel.core.alignment.learn import learn_alignment
from multikernel.core.alignment.measure import alignment_slope
from multikernel.rules import AlignmentQP, AlignmentRule, CenteredAlignment, GradientAlignment, alignment
from tests.rules.similarity_problems import TASKS, centred, cosines, ideal, problem


def root_of(S):
    return np.linalg.cholesky(S + 1e-13 * np.eye(len(S))).T


def parts_of(weights):
    return weights / weights.sum()


# --- centred alignment, joint or independent; the ascent of a sum has the same optimum ----------------------

JOINT = [CenteredAlignment(), *(GradientAlignment(centered=True, tol=tol) for tol in (1e-1, 1e-3, 1e-8))]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(3))
def test_joint_weights_have_the_best_alignment(task, seed):
    kernels, y = problem(seed, task)
    learner = CenteredAlignment().fit(kernels, y)
    K = learner.combine(kernels)
    assert np.linalg.norm(centred(K)) == pytest.approx(1.0)
    assert (learner.kernel_weights_ >= 0.0).all()
    assert learner.objective_ == pytest.approx(alignment(K, ideal(y, task), centered=True), rel=1e-9)
    q, S, _ = cosines(kernels, y, task, centered=True)
    w = cp.Variable(q.size, nonneg=True)
    best = cp.Problem(cp.Maximize(q @ w), [cp.norm(root_of(S) @ w) <= 1.0]).solve(solver="CLARABEL")
    assert learner.objective_ == pytest.approx(best, rel=1e-6)
    ascended = GradientAlignment(centered=True, tol=1e-8).fit(kernels, y)
    assert ascended.objective_ == pytest.approx(learner.objective_, rel=1e-7)
    np.testing.assert_allclose(ascended.kernel_shares_, learner.kernel_shares_, atol=1e-3)
    assert ascended.certificate == "optimality" and ascended.is_linear


@pytest.mark.parametrize("learner", JOINT, ids=str)
@pytest.mark.parametrize("task", TASKS)
def test_the_gap_bounds_what_is_left(learner, task):
    kernels, y = problem(4, task)
    learner.fit(kernels, y)
    q, S, norms = cosines(kernels, y, task, centered=True)
    w = learner.kernel_weights_ * norms
    bound = (q / (S @ w)).max() * np.sqrt(w @ S @ w)  # S(cw) ≥ q: no weights do better than c ‖w‖
    assert learner.objective_ / (1.0 - learner.dual_gap_) == pytest.approx(bound, rel=1e-9)
    assert 0.0 <= learner.dual_gap_ <= getattr(learner, "tol", 1e-9) and learner.status_ == "optimal"
    assert bound >= CenteredAlignment().fit(kernels, y).objective_ * (1.0 - 1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_sums_without_centring_are_the_best_alignment(seed):
    kernels, y = problem(seed)
    signs = np.where(y == 1, 1.0, -1.0)
    best = learn_alignment(np.stack(kernels), signs)
    learner = GradientAlignment(tol=1e-8).fit(kernels, y)
    assert learner.objective_ == pytest.approx(best.alignment_train, rel=1e-7)
    assert learner.kernel_weights_ @ [np.linalg.norm(K) for K in kernels] == pytest.approx(1.0)
    on_centred = learn_alignment(np.stack([centred(K) for K in kernels]), signs).weights
    joint = CenteredAlignment().fit(kernels, y).kernel_weights_
    np.testing.assert_allclose(joint, on_centred, rtol=1e-7, atol=1e-12)
    for centered, expected in ((False, best.weights), (True, joint)):
        found = AlignmentQP(0.0, centered).fit(kernels, y).kernel_weights_
        np.testing.assert_allclose(parts_of(found), parts_of(expected), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_independent_weights_are_the_closed_form(task):
    kernels, y = problem(5, task)
    learner = CenteredAlignment("independent").fit(kernels, y)
    values = np.array([alignment(K, ideal(y, task), centered=True) for K in kernels])
    np.testing.assert_allclose(learner.alignments_, values, rtol=1e-9)
    _, _, norms = cosines(kernels, y, task, centered=True)
    np.testing.assert_allclose(learner.kernel_weights_, parts_of(values) / norms, rtol=1e-9)
    assert np.isnan(learner.objective_)


def test_a_constant_in_a_kernel_changes_nothing():
    kernels, y = problem(7)
    weights = CenteredAlignment().fit(kernels, y).kernel_weights_
    shifted = [K + 2.0 * K.max() for K in kernels]
    np.testing.assert_allclose(CenteredAlignment().fit(shifted, y).kernel_weights_, weights, rtol=1e-6)


# --- the quadratic program ---------------------------------------------------------------------------------


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("reg", [0.0, 0.1, 100.0])
def test_it_is_the_quadratic_program(task, reg, centered):
    kernels, y = problem(len(task), task)
    learner = AlignmentQP(reg, centered).fit(kernels, y)
    q, S, norms = cosines(kernels, y, task, centered)
    A = S + reg * np.eye(q.size)
    w = learner.kernel_weights_ * norms
    assert (w >= 0.0).all()
    assert learner.objective_ == pytest.approx(q @ w - w @ A @ w, rel=1e-9)
    v = cp.Variable(q.size, nonneg=True)  # v = w (1 + reg): no number is small
    best = cp.Problem(cp.Maximize(q @ v - cp.sum_squares(root_of(A) @ v) / (1 + reg))).solve(
        solver="CLARABEL"
    )
    assert learner.objective_ == pytest.approx(best / (1 + reg), rel=1e-6)
    np.testing.assert_allclose(learner.alignments_, q, rtol=1e-9, atol=1e-12)
    u = w * (q / (2.0 * A @ w)).max()  # 2Au ≥ q
    assert learner.objective_ / (1.0 - learner.dual_gap_) == pytest.approx(u @ A @ u, rel=1e-9)
    assert learner.dual_gap_ < 1e-9


def test_a_large_penalty_leaves_the_alignments_of_the_single_kernels():
    kernels, y = problem(5)
    found = AlignmentQP(1e7).fit(kernels, y).kernel_weights_ * [np.linalg.norm(K) for K in kernels]
    alone = AlignmentRule().fit(kernels, y).alignments_
    np.testing.assert_allclose(parts_of(found), parts_of(alone), rtol=1e-5)
    first, second = AlignmentQP(0.5).fit([kernels[0]] * 2, y).kernel_weights_
    assert first == pytest.approx(second) and first > 0.0


# --- products ----------------------------------------------------------------------------------------------


def gaussians(seed, n=30, d=3):
    """One Gaussian for each feature; classes by the first."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    kernels = [np.exp(-0.5 * np.subtract.outer(x, x) ** 2) for x in X.T]
    return kernels, (X[:, 0] + 0.2 * X[:, 1] > 0.1).astype(int), X


def value_of_product(kernels, y, eta, centered):
    K = np.exp(sum(e * np.log(K) for e, K in zip(eta, kernels, strict=True)))
    return alignment(K, ideal(y, "two"), centered=centered)


@pytest.mark.parametrize("centered", [False, True])
def test_the_slope_of_the_alignment(centered):
    kernels, y = problem(0, "three", n=8)
    T = np.linalg.eigh(ideal(y, "three"))
    T = T[1] * np.sqrt(np.maximum(T[0], 0.0))
    value, slope = alignment_slope(kernels[0], T, centered=centered)
    assert value == pytest.approx(alignment(kernels[0], ideal(y, "three"), centered=centered), rel=1e-9)
    change = np.random.default_rng(1).normal(size=(8, 8))
    change = 1e-5 * (change + change.T)
    ahead, back = (alignment_slope(kernels[0] + s * change, T, centered=centered)[0] for s in (1, -1))
    assert np.vdot(slope, change) == pytest.approx((ahead - back) / 2.0, rel=1e-5)


@pytest.mark.parametrize("centered", [False, True])
def test_a_product_is_stationary(centered):
    kernels, y, _ = gaussians(2)
    learner = GradientAlignment("product", centered, tol=1e-8).fit(kernels, y)
    eta = learner.kernel_weights_

    def value(eta):
        return value_of_product(kernels, y, eta, centered)

    assert learner.objective_ == pytest.approx(value(eta), rel=1e-9)
    for m, step in enumerate(1e-4 * np.eye(eta.size)):
        slope = (value(eta + step) - value(np.maximum(eta - step, 0.0))) / (1e-4 + min(1e-4, eta[m]))
        assert slope < 1e-5
        if eta[m] > 1e-3:
            assert abs(slope) < 1e-5
    assert learner.status_ == "optimal" and learner.certificate == "stationarity"
    assert learner.objective_ > max(value(start) for start in (np.ones(3), 0.3 * np.ones(3)))
    assert max(entry["objective"] for entry in learner.history_) == learner.objective_


@pytest.mark.parametrize("seed", [2, 3])
def test_the_gap_of_a_product(seed):
    """‖x − max(x + slopes, 0)‖ / A in x_m = η_m u_m, u_m the median of −log K_m; or −slopes'x / A."""
    kernels, y, _ = gaussians(seed)
    learner = GradientAlignment("product", True, tol=0.3).fit(kernels, y)
    pairs = ~np.eye(len(y), dtype=bool)
    units = np.array([np.median(-np.log(K[pairs])) for K in kernels])
    x = learner.kernel_weights_ * units

    def value(x):
        return value_of_product(kernels, y, x / units, True)

    slopes = np.array([(value(x + s) - value(x - s)) / 2e-6 for s in 1e-6 * np.eye(x.size)])
    move = np.linalg.norm(x - np.maximum(x + slopes, 0.0))
    gap = (-slopes @ x if slopes.max() <= 0.0 else move) / learner.objective_
    assert learner.dual_gap_ == pytest.approx(gap, rel=1e-4)
    assert 1e-3 < learner.dual_gap_ <= 0.3


def test_widths_of_features():
    _, y, X = gaussians(6, n=60)
    model = CombinedKernelClassifier(GradientAlignment("product"), kernels=per_feature(3)).fit(X, y)
    assert model.kernel_shares_[0] > 0.8 and model.score(X, y) > 0.9


def test_powers_of_the_kernels_change_the_exponents_only():
    kernels, y, _ = gaussians(8)
    exponents = GradientAlignment("product", tol=1e-8).fit(kernels, y).kernel_weights_
    powers = [1e-2, 1.0, 30.0]
    powered = [K**p for K, p in zip(kernels, powers, strict=True)]
    other = GradientAlignment("product", tol=1e-8).fit(powered, y).kernel_weights_
    np.testing.assert_allclose(other * powers, exponents, rtol=1e-4, atol=1e-6)


def test_products_of_other_kernels_are_refused():
    kernels, y = problem(12)
    with pytest.raises(ValueError, match="powers need kernels with entries above 0"):
        GradientAlignment("product").fit({"linear": kernels[1], "other": kernels[0]}, y)
    X = np.random.default_rng(0).random((len(y), 3))
    with pytest.raises(ValueError, match="all whose powers are positive semidefinite; some of kernel 'poly'"):
        GradientAlignment("product").fit({"poly": X @ X.T + 1e-3 * np.eye(len(y))}, y)
