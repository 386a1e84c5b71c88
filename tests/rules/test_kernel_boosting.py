"""KernelBoosting: the convex problem by cvxpy, the rank-one rounds written out, derivatives of the losses."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from multikernel.rules import KernelBoosting
from multikernel.rules.solver.pair_boosting import PAIR_LOSSES, PairLoss, best_step


def make(n=20, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, 4)) + 1.2 * np.eye(4)[codes]
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    noise = rng.normal(size=(n, 2))
    return [3.0 * np.exp(-0.2 * squares), X @ X.T, 0.1 * noise @ noise.T, np.eye(n)], codes


def unit(K):
    return K * len(K) / np.trace(K)


def signs(codes):
    return np.where(codes[:, None] == codes[None], 1.0, -1.0)


def shares(codes, balance=True):
    same = (codes[:, None] == codes[None]) & ~np.eye(codes.size, dtype=bool)
    other = codes[:, None] != codes[None]
    if balance:
        return 0.5 * same / same.sum() + 0.5 * other / other.sum()
    return (same | other) / (same | other).sum()


def whole_problem(kernels, codes, loss, reg, balance):
    eta = cp.Variable(len(kernels), nonneg=True)
    z = cp.multiply(signs(codes), sum(eta[m] * unit(K) for m, K in enumerate(kernels)))
    losses = cp.exp(-z) if loss == "exp" else cp.logistic(-z)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(shares(codes, balance), losses)) + reg * cp.sum(eta)))
    problem.solve(solver="CLARABEL")
    return problem.value


@pytest.mark.parametrize(
    ("loss", "reg", "n_classes", "balance"),
    [("exp", 0.02, 2, True), ("log", 0.02, 2, False), ("exp", 0.0, 3, False), ("log", 0.0, 3, True)],
)
def test_given_kernels_reach_the_optimum(loss, reg, n_classes, balance):
    kernels, codes = make(12, n_classes, seed=0)
    learner = KernelBoosting(loss=loss, reg=reg, class_balance=balance, n_rounds=2000, tol=1e-6).fit(
        kernels, codes
    )
    assert learner.status_ == "optimal"
    optimum = whole_problem(kernels, codes, loss, reg, balance)
    assert learner.objective_ == pytest.approx(optimum, rel=1e-6)
    S, P, z = signs(codes), shares(codes, balance), signs(codes) * learner.combine(kernels)
    eta = learner.kernel_weights_ * np.array([np.trace(K) / 12 for K in kernels])
    value = (P * (np.exp(-z) if loss == "exp" else np.log1p(np.exp(-z)))).sum()
    assert value + reg * eta.sum() == pytest.approx(learner.objective_, rel=1e-9)
    pull = np.exp(-z) if loss == "exp" else 1 / (1 + np.exp(z))
    slopes = np.array([reg - (P * pull * S * unit(K)).sum() for K in kernels])
    first = np.array([reg - (P * pull_0(loss) * S * unit(K)).sum() for K in kernels])
    left = np.where(eta > 0, np.abs(slopes), np.maximum(-slopes, 0.0)).max()
    assert learner.dual_gap_ == pytest.approx(left / -first.min(), rel=1e-3, abs=1e-9)
    assert all(np.diff([entry["objective"] for entry in learner.history_]) <= 0.0)


def pull_0(loss):
    return 1.0 if loss == "exp" else 0.5


def test_weights_that_got_too_much_fall_again():
    kernels, codes = make(12, 3, seed=0)
    path = [KernelBoosting(n_rounds=r, tol=1e-9).fit(kernels, codes).kernel_weights_ for r in range(1, 15)]
    assert (np.diff(path, axis=0) < -1e-6).any()


@pytest.mark.parametrize("n", [20, 80])  # dense algebra, and ARPACK
def test_rank_one_rounds(n):
    kernels, codes = make(n, 3, seed=1)
    learner = KernelBoosting("rank_one", n_rounds=4).fit(kernels, codes)
    S, P, K = signs(codes), shares(codes), np.zeros((n, n))
    for r in range(4):
        W = S * P * np.exp(-S * K)
        best = None
        for m, given in enumerate(kernels):
            values, vectors = np.linalg.eigh(unit(given))
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            descents, directions = np.linalg.eigh(root.T @ W @ root)
            best = max(
                best or (-np.inf,), (descents[-1], m, root @ directions[:, -1]), key=lambda found: found[0]
            )
        assert learner.part_kernels_[r] == best[1]
        B = np.outer(best[2], best[2])
        np.testing.assert_allclose(np.outer(learner.functions_[r], learner.functions_[r]), B, atol=1e-5)
        steps = np.linspace(0.0, 10.0 / np.abs(B).max(), 1001)
        values = [(P * np.exp(-S * (K + t * B))).sum() for t in steps]
        assert learner.part_weights_[r] == pytest.approx(steps[np.argmin(values)], abs=1.01 * steps[1])
        K += learner.part_weights_[r] * B
    np.testing.assert_allclose(learner.combine(kernels), K, atol=1e-4)
    totals = np.bincount(learner.part_kernels_, learner.part_weights_, 4)
    np.testing.assert_allclose(learner.kernel_weights_, totals / totals.sum())
    assert all(np.diff([entry["objective"] for entry in learner.history_]) < 0.0)


def test_rank_one_kernel_of_new_samples():
    kernels, codes = make(24, 2, seed=2)
    learner = KernelBoosting("rank_one", n_rounds=5).fit([K[:16, :16] for K in kernels], codes[:16])
    K_new = learner.combine([K[16:, :16] for K in kernels])
    g = [kernels[m][:, :16] @ v for m, v in zip(learner.part_kernels_, learner.vectors_, strict=True)]
    full = sum(w * np.outer(f, f) for w, f in zip(learner.part_weights_, g, strict=True))
    np.testing.assert_allclose(K_new, full[16:, :16], atol=1e-10)
    np.testing.assert_allclose(learner.combine([K[:16, :16] for K in kernels]), full[:16, :16], atol=1e-10)


def test_the_best_step():
    kernels, codes = make(10)
    loss = PairLoss(codes, "log")
    K, B = 0.3 * kernels[1], kernels[0]
    for reg, lowest in ((0.0, -1.0), (0.2, -1.0), (0.3, -1e-3), (0.05, 0.0)):
        t = best_step(loss, reg, K, B, lowest)
        grid = np.linspace(max(lowest, -10 / np.abs(B).max()), 10 / np.abs(B).max(), 4001)
        values = [loss.value(K + s * B) + reg * s for s in grid]
        assert loss.value(K + t * B) + reg * t <= min(values) + 1e-12
        assert t >= lowest
    ideal = signs(codes)  # more is always better: no entry changes by more than 10
    assert best_step(PairLoss(codes, "exp"), 0.0, np.zeros((10, 10)), 2.0 * ideal, 0.0) == 5.0


def test_useless_kernels_get_nothing():
    kernels, codes = make(20, seed=0)
    learner = KernelBoosting(reg=0.05).fit(kernels, codes)
    assert learner.kernel_weights_[2] == 0.0 and learner.kernel_weights_[:2].any()
    assert learner.kernel_weights_[3] == 0.0  # the identity: a sample with itself is no pair
    with pytest.warns(ConvergenceWarning, match="least wrong"):
        stuck = KernelBoosting(reg=10.0).fit(kernels, codes)
    pulls = [(shares(codes) * signs(codes) * unit(K)).sum() for K in kernels]
    assert np.flatnonzero(stuck.kernel_weights_).tolist() == [np.argmax(pulls)]
    with pytest.raises(ValueError, match="gives no kernel any weight"):
        KernelBoosting("rank_one", reg=100.0).fit(kernels, codes)


def test_rounds_are_said_where_the_optimum_is_finite():
    kernels, codes = make(20)
    assert KernelBoosting(n_rounds=1).fit(kernels, codes).status_ == "max_iter"
    with pytest.warns(ConvergenceWarning, match="Raise n_rounds"):
        KernelBoosting(n_rounds=1, reg=0.01, tol=1e-9).fit(kernels, codes)


@pytest.mark.parametrize("kind", PAIR_LOSSES)
def test_derivatives(kind):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 8)
    loss = PairLoss(codes, kind)
    K, B = rng.normal(size=(2, 8, 8))
    same = codes[:, None] == codes[None]
    z = np.where(same, K, -K)
    losses = np.exp(-z) if kind == "exp" else np.log1p(np.exp(-z))
    pairs = ~np.eye(8, dtype=bool)
    halves = losses[same & pairs].mean(), losses[~same].mean()
    assert loss.value(K) == pytest.approx(np.mean(halves), rel=1e-12)
    equal = PairLoss(codes, kind, balance=False)
    assert equal.value(K) == pytest.approx(losses[pairs].mean(), rel=1e-12)
    first, second = loss.slopes_along(K, B)
    h = 1e-4
    up, here, down = (loss.value(K + t * B) for t in (h, 0.0, -h))
    assert first == pytest.approx((up - down) / (2 * h), rel=1e-5)
    assert second == pytest.approx((up - 2 * here + down) / h**2, rel=1e-4)
    assert first == pytest.approx(float(np.vdot(loss.gradient(K), B)), rel=1e-12)


def test_far_margins_do_not_overflow():
    loss = PairLoss(np.array([0, 1]), "log")
    K = np.array([[1e4, -1e4], [-1e4, 1e4]])
    assert loss.value(K) == 0.0 and loss.value(-K) == pytest.approx(1e4)
    alone = PairLoss(np.array([0, 0]), "exp")
    assert alone.value(np.zeros((2, 2))) == pytest.approx(1.0)
    assert np.isfinite(loss.gradient(-K)).all()
