"""StatisRule against power iteration and random weights; network fusion against loops from the formulas."""

import numpy as np
import pytest

from multikernel.kernels import Gaussian, Linear
from multikernel.rules import SimilarityNetworkFusion, StatisRule


def kernels(seed=0, n=20):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 3))
    B = A + 0.3 * rng.normal(size=(n, 3))
    N = rng.normal(size=(n, 2))
    return [Gaussian(0.3)(A, A), 5.0 * Linear()(B, B) + 2.0, Gaussian(0.5)(N, N)]


@pytest.mark.parametrize("centered", [True, False])
def test_statis_from_the_definition(centered):
    Ks = kernels()
    H = np.eye(20) - centered / 20
    Q = [H @ K @ H for K in Ks]
    norms = np.array([np.linalg.norm(K) for K in Q])
    Q = [K / norm for K, norm in zip(Q, norms, strict=True)]
    v = np.ones(3)
    for _ in range(500):
        v = np.array([sum(v[l] * np.sum(Q[l] * Q[m]) for l in range(3)) for m in range(3)])
        v /= np.linalg.norm(v)
    rule = StatisRule(centered=centered).fit(Ks)
    np.testing.assert_allclose(rule.kernel_weights_, v / norms / (v / norms).sum(), rtol=1e-8)

    def agreement(u):
        return sum(np.sum(sum(a * K for a, K in zip(u, Q, strict=True)) * K) ** 2 for K in Q)

    best = agreement(v)
    assert rule.objective_**2 == pytest.approx(best)
    for u in np.random.default_rng(0).normal(size=(100, 3)):
        assert agreement(u / np.linalg.norm(u)) <= best * (1 + 1e-12)


def test_statis_gives_noise_less():
    rule = StatisRule().fit(kernels(n=60))
    v = rule.kernel_weights_ * np.array(
        [np.linalg.norm(K - K.mean(0) - K.mean(1)[:, None] + K.mean()) for K in kernels(n=60)]
    )
    assert v[2] < 0.6 * v[:2].min()


def fused(Ks, k, steps, sigma):
    """Wang et al. (2014), entry by entry."""
    n, count = len(Ks[0]), len(Ks)
    P, S = [], []

    def normalized(W):
        out = np.zeros((n, n))
        for i in range(n):
            total = sum(W[i, j] for j in range(n) if j != i)
            for j in range(n):
                out[i, j] = 0.5 if i == j else W[i, j] / (2.0 * total)
        return out

    for K in Ks:
        K = K / (np.trace(K) / n - K.mean())
        rho = np.array(
            [[np.sqrt(max(K[i, i] + K[j, j] - 2 * K[i, j], 0.0)) for j in range(n)] for i in range(n)]
        )
        near = [sorted((j for j in range(n) if j != i), key=lambda j, i=i: rho[i, j])[:k] for i in range(n)]
        mean = [np.mean([rho[i, j] for j in near[i]]) for i in range(n)]
        W, s = np.zeros((n, n)), np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                W[i, j] = np.exp(-(rho[i, j] ** 2) / (sigma * (mean[i] + mean[j] + rho[i, j]) / 3))
        for i in range(n):
            for j in near[i]:
                s[i, j] = W[i, j] / sum(W[i, l] for l in near[i])
        P.append(normalized(W))
        S.append(s)
    for _ in range(steps):
        P = [
            normalized(S[m] @ (sum(P[l] for l in range(count) if l != m) / (count - 1)) @ S[m].T)
            for m in range(count)
        ]
    total = sum(P) / count
    return (total + total.T) / 2


@pytest.mark.parametrize(("k", "steps", "sigma"), [(3, 1, 0.5), (5, 4, 0.3), (19, 10, 0.8)])
def test_network_fusion_from_the_formulas(k, steps, sigma):
    Ks = kernels(1)
    rule = SimilarityNetworkFusion(n_neighbors=k, n_steps=steps, sigma=sigma).fit(Ks)
    np.testing.assert_allclose(rule.fused_, fused(Ks, k, steps, sigma), atol=1e-12)
    K = rule.combine_training(np.array(Ks))
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    np.testing.assert_allclose(K - rule.fused_, rule.shift_ * np.eye(20), atol=1e-15)


def test_new_samples_are_nearest_to_their_own_group():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X, Z = rng.normal(size=(60, 2)) + 4.0 * y[:, None], rng.normal(size=(60, 2)) + 4.0 * y[:, None]
    own, new = slice(0, 40), slice(40, 60)
    rule = SimilarityNetworkFusion(n_neighbors=8).fit([Gaussian(0.2)(T[own], T[own]) for T in (X, Z)])
    rows = rule.combine([Gaussian(0.2)(T[new], T[own]) for T in (X, Z)])
    means = np.array([rows[:, y[own] == c].mean(axis=1) for c in (0, 1)])
    np.testing.assert_array_equal(means.argmax(axis=0), y[new])


def test_one_kernel_and_scales():
    Ks = kernels()
    assert np.isfinite(SimilarityNetworkFusion().fit(Ks[:1]).fused_).all()
    one = SimilarityNetworkFusion(n_neighbors=4).fit(Ks).fused_
    other = SimilarityNetworkFusion(n_neighbors=4).fit([100.0 * Ks[0], Ks[1], 0.01 * Ks[2]]).fused_
    np.testing.assert_allclose(one, other, rtol=1e-8)


def test_one_sample_has_no_consensus():
    with pytest.raises(ValueError, match="two samples at least; got n_samples=1"):
        StatisRule().fit_combine({"a": np.eye(1), "b": 2.0 * np.eye(1)})
