"""Weights of clusters and of samples: gradients, stationarity, new samples, what is held together."""

import numpy as np
import pytest

from multikernel.core.svm.losses import SquaredHinge
from multikernel.rules import ClusterWeights, InstanceWeights
from multikernel.rules.solver.local_weights import Groups, LocalWeights
from multikernel.rules.solver.margin_value import MarginValue


def make(seed=0, n=40):
    """Where the third column is positive, the first tells the classes, else the second."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 2] += np.where(X[:, 2] > 0, 3.0, -3.0)
    side = (X[:, 2] > 0).astype(int)
    y = (np.where(side == 1, X[:, 0], X[:, 1]) > 0).astype(int)
    return X, y, side, [np.outer(x, x) for x in X.T]


def plain_kernel(Ks, w, v=None):
    """Σ_m w_im v_jm K_m(i, j) / s_m with s_m = 1."""
    v = w if v is None else v
    return sum(np.outer(w[:, m], v[:, m]) * K for m, K in enumerate(Ks))


@pytest.mark.parametrize("reg", [0.0, 2.0])
def test_value_and_gradient(reg):
    _, y, side, Ks = make(n=20)
    Ks = np.stack([K / np.diagonal(K).mean() for K in Ks])
    signs = np.where(y == 1, 1.0, -1.0)
    rng = np.random.default_rng(1)
    of = np.arange(20) // 2
    W = rng.dirichlet(np.ones(3), size=10)
    problem = LocalWeights(Ks, [SquaredHinge(signs, 2.0)], Groups(of, side, reg), tol=1e-12)
    value, gradient = problem(W)
    w = W[of]
    away = w - np.stack([w[side == s].mean(axis=0) for s in side])
    expected = MarginValue([SquaredHinge(signs, 2.0)], 1e-12)(plain_kernel(Ks, w)).value
    assert value == pytest.approx(expected + 0.5 * reg * (away**2).sum(), rel=1e-10)
    h = 1e-6
    for k, m in [(0, 0), (3, 1), (9, 2), (5, 0)]:
        step = np.zeros_like(W)
        step[k, m] = h
        slope = (problem(W + step)[0] - problem(W - step)[0]) / (2 * h)
        assert gradient[k, m] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_clusters_have_the_kernel_that_tells_their_classes():
    _, y, side, Ks = make(n=60)
    before = [K.copy() for K in Ks]
    learner = ClusterWeights(C=10.0, labels=side)
    K = learner.fit_combine(Ks, y)
    assert learner.cluster_weights_.argmax(axis=1).tolist() == [1, 0]
    np.testing.assert_allclose(learner.cluster_weights_.sum(axis=1), 1.0)
    scales = [np.diagonal(K).mean() for K in Ks]
    w = learner.cluster_weights_[side]
    np.testing.assert_allclose(K, plain_kernel([K / s for K, s in zip(Ks, scales, strict=True)], w))
    np.testing.assert_allclose(learner.kernel_weights_, w.mean(axis=0))
    assert learner.dual_gap_ <= 1e-3
    assert all(np.array_equal(a, b) for a, b in zip(Ks, before, strict=True))


def test_the_end_is_stationary():
    _, y, side, Ks = make(3, n=30)
    learner = ClusterWeights(labels=side, tol=1e-6).fit(Ks, y)
    signs = np.where(y == 1, 1.0, -1.0)
    groups = Groups(side, np.zeros(30, int))
    value, G = LocalWeights(np.stack(Ks), [SquaredHinge(signs, 1.0)], groups, 1e-10)(learner.cluster_weights_)
    assert learner.objective_ == pytest.approx(value, rel=1e-6)
    gap = ((G * learner.cluster_weights_).sum() - G.min(axis=1).sum()) / value
    assert gap == pytest.approx(learner.dual_gap_, abs=1e-5)
    assert gap <= 1e-5


def test_found_clusters_and_new_samples():
    X, y, _, Ks = make(n=50)
    Ks = [K + 0.0 for K in Ks[:2]] + [40.0 * np.exp(-(np.subtract.outer(X[:, 2], X[:, 2]) ** 2) / 20.0)]
    train, new = np.arange(40), np.arange(40, 50)
    fit = [K[np.ix_(train, train)] for K in Ks]
    rows = [K[np.ix_(new, train)] for K in Ks]
    learner = ClusterWeights(2).fit(fit, y[:40])
    scales = [np.diagonal(K).mean() for K in fit]
    mean = sum(K / s for K, s in zip(Ks, scales, strict=True)) / 3
    distances = []
    for c in range(2):
        members = train[learner.clusters_ == c]
        norm = mean[np.ix_(members, members)].mean()
        distances.append(np.diagonal(mean)[new] - 2 * mean[np.ix_(new, members)].mean(axis=1) + norm)
    w_new = learner.cluster_weights_[np.argmin(distances, axis=0)]
    w = learner.cluster_weights_[learner.clusters_]
    expected = plain_kernel([K / s for K, s in zip(rows, scales, strict=True)], w_new, w)
    np.testing.assert_allclose(learner.combine(np.stack(rows, axis=2)), expected, rtol=1e-10)


def test_weights_of_samples():
    _, y, side, Ks = make(n=40)
    learner = InstanceWeights(C=3.0, reg=1.0).fit(Ks, y)
    w = learner.instance_weights_
    assert w.shape == (40, 3)
    np.testing.assert_allclose(w.sum(axis=1), 1.0)
    assert w[side == 1, 0].mean() > w[side == 0, 0].mean() + 0.1
    rows = np.stack([K[:3] for K in Ks], axis=2)
    scales = np.array([np.diagonal(K).mean() for K in Ks])
    mean = sum(K / s for K, s in zip(Ks, scales, strict=True)) / 3
    distances = np.diagonal(mean)[:3, None] + np.diagonal(mean) - 2 * mean[:3]
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :5]
    expected = plain_kernel([K[:3] / s for K, s in zip(Ks, scales, strict=True)], w[nearest].mean(axis=1), w)
    np.testing.assert_allclose(learner.combine(rows), expected, rtol=1e-10)


def test_a_high_price_holds_samples_together():
    _, y, _, Ks = make(5, n=30)
    loose = InstanceWeights(reg=0.1).fit(Ks, y).instance_weights_
    tight = InstanceWeights(reg=1e4).fit(Ks, y).instance_weights_
    assert np.abs(tight - tight.mean(axis=0)).max() < 0.01 < np.abs(loose - loose.mean(axis=0)).max()


@pytest.mark.parametrize("learner", [ClusterWeights(tol=1e-6), InstanceWeights(reg=30.0)])
def test_tasks(learner):
    X, _, _, Ks = make(6, n=24)
    assert learner.fit(Ks, X[:, 0]).kernel_weights_.argmax() == 0
    assert learner.fit(Ks, np.digitize(X[:, 0], [-0.5, 0.5])).kernel_weights_.argmax() == 0


def test_bad_parameters():
    _, y, _, Ks = make(n=12)
    for learner, message in [
        (ClusterWeights(13), "n_clusters must be at most the number of samples, 12; got 13"),
        (ClusterWeights(labels=[0, 1]), "labels must hold a cluster for each of the 12"),
    ]:
        with pytest.raises(ValueError, match=message):
            learner.fit(Ks, y)
