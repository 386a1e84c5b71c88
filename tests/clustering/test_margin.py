"""MaxMarginClustering: brute force over partitions, the machines from outside, balance."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from multikernel import MKLClassifier, stack_kernels
from multikernel.clustering import MaxMarginClustering
from multikernel.clustering.solver.margin import MarginProblem
from multikernel.core.stack.sums import variance_scales
from multikernel.kernels import Gaussian, Linear


def kernels(seed, n=8):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    A = rng.normal(size=(n, 2)) + 1.2 * y[:, None]
    B = rng.normal(size=(n, 2))
    return [Linear()(A, A), Gaussian(0.3)(A, A), Gaussian(0.3)(B, B)]


def brute_force(Ks, least, C):
    """The least objective over all partitions into two clusters, by scaled kernels and a classifier."""
    n = len(Ks[0])
    stack = stack_kernels([K / (np.trace(K) / n - K.mean()) for K in Ks])
    found = {}
    for labels in itertools.product((0, 1), repeat=n - 1):
        labels = np.array((0, *labels))
        if least <= labels.sum() <= n - least:
            model = MKLClassifier("precomputed", C=C, loss="squared_hinge", tol=1e-5).fit(stack, labels)
            found[tuple(labels)] = model.objective_
    return found


@pytest.mark.filterwarnings("ignore::multikernel.views.KernelWarning")  # of machines on eight samples
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_brute_force_over_all_partitions(C):
    """The best of all, on problems of eight samples."""
    hits = 0
    for seed in range(4):
        Ks = kernels(seed)
        every = brute_force(Ks, 3, C)
        model = MaxMarginClustering("precomputed", C=C, balance=0.75, n_init=20, tol=1e-5).fit(
            stack_kernels(Ks)
        )
        assert model.objective_ >= min(every.values()) * (1 - 1e-4)
        assert model.objective_ == pytest.approx(every[tuple(model.labels_)], rel=1e-3)
        hits += model.objective_ <= min(every.values()) * (1 + 1e-3)
    assert hits == 4


@pytest.mark.parametrize("k", [2, 3])
def test_the_end_is_best_for_its_own_machines(k):
    """The assignment against all single moves and exchanges, and the objective that never rises."""
    X, _ = make_blobs(45, centers=3, random_state=1, cluster_std=2.0)
    model = MaxMarginClustering([Linear(), Gaussian()], n_clusters=k, n_init=2, balance=0.8).fit(X)
    scores = model.decision_function(X)
    least = int(0.8 * 45 / k)
    if k == 2:
        losses = np.column_stack([np.maximum(1 + scores, 0) ** 2, np.maximum(1 - scores, 0) ** 2])
    else:
        inside, outside = np.maximum(1 - scores, 0) ** 2, np.maximum(1 + scores, 0) ** 2
        losses = inside + outside.sum(axis=1, keepdims=True) - outside
    own, sizes = losses[np.arange(45), model.labels_], np.bincount(model.labels_)
    assert sizes.min() >= least
    slack = 1e-2 * own.sum() + 1e-6
    for i in range(45):
        if sizes[model.labels_[i]] > least:
            assert (losses[i] >= own[i] - slack).all()
        for j in range(45):
            a, b = model.labels_[i], model.labels_[j]
            assert losses[i, b] + losses[j, a] >= own[i] + own[j] - slack
    history = model.history_
    for before, after in itertools.pairwise(history):
        if before["C"] == after["C"]:
            assert after["objective"] <= before["objective"]
    assert [entry["C"] for entry in history][-1] == 10.0


@pytest.mark.parametrize("seed", range(5))
def test_the_assignment_is_the_best_with_the_least_sizes(seed):
    """Against all assignments of six samples to three clusters."""
    losses = np.random.default_rng(seed).random((6, 3)) + np.array([0.0, 0.3, 0.6])
    problem = MarginProblem(np.eye(6)[None], np.ones(1), 3, 1.0, 2, 1e-3)
    totals = [
        sum(losses[i, c] for i, c in enumerate(labels))
        for labels in itertools.product(range(3), repeat=6)
        if np.bincount(labels, minlength=3).min() >= 2
    ]
    labels = problem.assign(losses, 2)
    assert np.bincount(labels, minlength=3).min() >= 2
    assert losses[np.arange(6), labels].sum() == pytest.approx(min(totals))


def test_the_machines_are_those_of_a_classifier():
    Ks = kernels(3, n=30)
    model = MaxMarginClustering("precomputed", C=1.0, tol=1e-6).fit(stack_kernels(Ks))
    scales = variance_scales(np.array(Ks), ["a", "b", "c"])
    stack = stack_kernels([K / s for K, s in zip(Ks, scales, strict=True)])
    other = MKLClassifier("precomputed", C=1.0, loss="squared_hinge", tol=1e-6).fit(stack, model.labels_)
    np.testing.assert_allclose(model.kernel_weights_ * scales, other.kernel_weights_, atol=1e-3)
    ours = model.decision_function(stack_kernels(Ks))
    np.testing.assert_allclose(ours, other.decision_function(stack), atol=1e-2)


def test_a_view_of_noise_gets_little_weight():
    X, y = make_blobs(100, centers=2, random_state=3, cluster_std=1.0)
    noise = np.random.default_rng(0).normal(size=(100, 2))
    views = [("groups", Gaussian(), [0, 1]), ("noise", Gaussian(), [2, 3])]
    model = MaxMarginClustering(views).fit(np.hstack([X, noise]))
    assert adjusted_rand_score(model.labels_, y) > 0.9
    assert model.weights_frame().loc["groups", "share"] > 0.8


def test_new_samples():
    X, y = make_blobs(120, centers=3, random_state=0, cluster_std=0.5)
    model = MaxMarginClustering([Linear(), Gaussian()], n_clusters=3).fit(X[::2])
    np.testing.assert_array_equal(model.predict(X[::2]), model.labels_)
    assert adjusted_rand_score(model.predict(X[1::2]), y[1::2]) > 0.9
    assert model.decision_function(X[1::2]).shape == (60, 3)


def test_refusals_and_one_cluster():
    X, _ = make_blobs(20, random_state=0)
    with pytest.raises(ValueError, match="balance must be at most 1"):
        MaxMarginClustering(balance=1.5).fit(X)
    one = MaxMarginClustering(n_clusters=1).fit(X)
    assert one.labels_.tolist() == one.predict(X).tolist() == [0] * 20
