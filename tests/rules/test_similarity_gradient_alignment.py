"""Gradient alignment: the sum is the best alignment, the product is stationary; gradients by differences."""

import numpy as np
import pytest

from multikernel import CombinedKernelClassifier, per_feature
from multikernel.core.alignment.learn import learn_alignment
from multikernel.core.alignment.measure import align_stack, alignment_slope
from multikernel.rules import CenteredAlignment, GradientAlignment, alignment
from tests.rules.similarity_problems import centred, check_input, check_order, check_scales, ideal, problem

TASKS = ("two", "three", "values", "outputs")


def gaussians(seed, n=30, d=3):
    """One Gaussian for each feature; classes by the first."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    kernels = [np.exp(-0.5 * np.subtract.outer(x, x) ** 2) for x in X.T]
    return kernels, (X[:, 0] + 0.2 * X[:, 1] > 0.1).astype(int), X


# --- gradients ---------------------------------------------------------------------------------------------


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
        K = np.prod([K**e for K, e in zip(kernels, eta, strict=True)], axis=0)
        return alignment(K, ideal(y, "two"), centered=centered)

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
        K = np.exp(sum(e * np.log(K) for e, K in zip(x / units, kernels, strict=True)))
        return alignment(K, ideal(y, "two"), centered=True)

    slopes = np.array([(value(x + s) - value(x - s)) / 2e-6 for s in 1e-6 * np.eye(x.size)])
    move = np.linalg.norm(x - np.maximum(x + slopes, 0.0))
    gap = (-slopes @ x if slopes.max() <= 0.0 else move) / learner.objective_
    assert learner.dual_gap_ == pytest.approx(gap, rel=1e-4)
    assert 1e-3 < learner.dual_gap_ <= 0.3


# --- sums --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(2))
def test_the_sum_is_the_joint_centred_alignment(task, seed):
    kernels, y = problem(seed, task)
    learner = GradientAlignment(centered=True, tol=1e-8).fit(kernels, y)
    joint = CenteredAlignment().fit(kernels, y)
    assert learner.objective_ == pytest.approx(joint.objective_, rel=1e-7)
    np.testing.assert_allclose(learner.kernel_shares_, joint.kernel_shares_, atol=1e-3)
    assert learner.certificate == "optimality" and learner.is_linear


@pytest.mark.parametrize("seed", range(3))
def test_the_sum_is_the_best_alignment(seed):
    kernels, y = problem(seed)
    learner = GradientAlignment(tol=1e-8).fit(kernels, y)
    best = learn_alignment(np.stack(kernels), np.where(y == 1, 1.0, -1.0))
    assert learner.objective_ == pytest.approx(best.alignment_train, rel=1e-7)
    norms = np.array([np.linalg.norm(K) for K in kernels])
    assert learner.kernel_weights_ @ norms == pytest.approx(1.0)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-8])
def test_the_gap_bounds_what_is_left(tol):
    kernels, y = problem(4)
    learner = GradientAlignment(centered=True, tol=tol).fit(kernels, y)
    Ks = [centred(K) for K in kernels]
    L = centred(ideal(y, "two"))
    K = sum(w * K for w, K in zip(learner.kernel_weights_, Ks, strict=True))
    factor = max(np.vdot(M, L) / np.vdot(M, K) for M in Ks)
    bound = factor * np.linalg.norm(K) / np.linalg.norm(L)
    assert learner.objective_ / (1.0 - learner.dual_gap_) == pytest.approx(bound, rel=1e-9)
    assert learner.dual_gap_ <= tol
    assert bound >= CenteredAlignment().fit(kernels, y).objective_ * (1.0 - 1e-12)


def test_the_bound_holds_for_any_weights():
    kernels, y = problem(5)
    table = align_stack(np.stack(kernels), np.where(y == 1, 1.0, -1.0))
    best = learn_alignment(np.stack(kernels), np.where(y == 1, 1.0, -1.0)).alignment_train
    for w in np.random.default_rng(0).random((20, len(kernels))):
        assert table.dual_factor(w) * np.sqrt(w @ table.pairs @ w) >= best * (1.0 - 1e-12)


# --- products under a machine ------------------------------------------------------------------------------


def test_widths_of_features():
    _, y, X = gaussians(6, n=60)
    model = CombinedKernelClassifier(GradientAlignment("product"), kernels=per_feature(3)).fit(X, y)
    assert model.kernel_shares_[0] > 0.8
    assert model.score(X, y) > 0.9
    assert not model.learner_.is_linear


def test_a_product_of_new_samples_is_that_of_the_training():
    kernels, y, _ = gaussians(7)
    learner = GradientAlignment("product")
    K = learner.fit_combine([5.0 * kernels[0], *kernels[1:]], y)
    rows = [5.0 * kernels[0][:4], *(K[:4] for K in kernels[1:])]
    np.testing.assert_allclose(learner.combine(rows), K[:4], rtol=1e-12)
    assert np.diagonal(K) == pytest.approx(1.0)


def test_powers_of_the_kernels_change_the_exponents_only():
    kernels, y, _ = gaussians(8)
    exponents = GradientAlignment("product", tol=1e-8).fit(kernels, y).kernel_weights_
    powers = [1e-2, 1.0, 30.0]
    other = GradientAlignment("product", tol=1e-8).fit(
        [K**p for K, p in zip(kernels, powers, strict=True)], y
    )
    np.testing.assert_allclose(other.kernel_weights_ * powers, exponents, rtol=1e-4, atol=1e-6)


# --- laws and refusals -------------------------------------------------------------------------------------


def test_laws():
    kernels, y = problem(9, "three")
    learner = GradientAlignment(centered=True, tol=1e-10)
    check_scales(learner, kernels, y, rtol=1e-4)
    check_order(learner, kernels, y, rtol=1e-4)
    check_input(GradientAlignment(centered=True, tol=1e-8), kernels, y)
    kernels, y, _ = gaussians(9)
    check_scales(GradientAlignment("product", tol=1e-8), kernels, y, (1e6, 1.0, 1e-6), rtol=1e-4)
    check_order(GradientAlignment("product", tol=1e-8), kernels, y, rtol=1e-4)
    check_input(GradientAlignment("product", tol=1e-8), kernels, y)


def test_one_kernel_and_equal_kernels():
    kernels, y = problem(10)
    assert GradientAlignment().fit(kernels[:1], y).kernel_shares_.tolist() == [1.0]
    value = GradientAlignment().fit(kernels[:1], y).objective_
    assert GradientAlignment().fit([kernels[0]] * 3, y).objective_ == pytest.approx(value)


def test_products_of_other_kernels_are_refused():
    kernels, y = problem(12)
    with pytest.raises(ValueError, match="powers need kernels with entries above 0"):
        GradientAlignment("product").fit({"linear": kernels[1], "other": kernels[0]}, y)
    X = np.random.default_rng(0).random((len(y), 3))
    with pytest.raises(ValueError, match="all whose powers are positive semidefinite; some of kernel 'poly'"):
        GradientAlignment("product").fit({"poly": X @ X.T + 1e-3 * np.eye(len(y))}, y)


def test_an_end_too_soon_is_told():
    kernels, y = problem(13)
    with pytest.warns(Warning, match="GradientAlignment ended as 'max_iter'"):
        learner = GradientAlignment(centered=True, tol=1e-12, max_iter=1).fit(kernels, y)
    assert learner.dual_gap_ > 1e-12
