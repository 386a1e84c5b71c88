"""Multiple kernel k-means: brute force, scikit-learn's k-means, the closed form of the weights, new rows."""

import itertools
import warnings

import cvxpy as cp
import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from multikernel import KernelBank, View, stack_kernels
from multikernel.clustering import MaxMarginClustering, MultipleKernelKMeans, RegularizedMKKM, SimpleMKKM
from multikernel.clustering.solver.kmeans import KernelKMeans, in_order, spread_start
from multikernel.kernels import Gaussian, Linear
from tests.raw import raw


def spread(K, labels):
    """The sum of squared distances from the centres, from the definition."""
    return sum(
        np.trace(K[np.ix_(c, c)]) - K[np.ix_(c, c)].sum() / c.size
        for c in (np.flatnonzero(labels == label) for label in np.unique(labels))
    )


def scaled(K):
    return K / (np.trace(K) / len(K) - K.mean())


def kernels(n=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return [5.0 + 40.0 * X @ X.T, np.exp(-0.4 * cdist(X, X) ** 2), 0.01 * np.outer(X[:, 2], X[:, 2])]


def partitions(n, k):
    """All partitions of n samples into k clusters, numbered by their first samples."""
    for rest in itertools.product(range(k), repeat=n - 1):
        labels = np.array([0, *rest])
        if len(set(rest) | {0}) == k and (in_order(labels) == labels).all():
            yield labels


# --- optimality --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "k"), [(0, 2), (1, 3), (2, 2)])
def test_brute_force_over_all_partitions(seed, k):
    Ks = kernels(8, seed)
    model = MultipleKernelKMeans("precomputed", n_clusters=k, n_init=30).fit(stack_kernels(Ks))

    def best_weights(labels):  # of min Σ η² a on the simplex the value is 1 / Σ 1/a
        return 1.0 / sum(1.0 / spread(scaled(K), labels) for K in Ks)

    values = {tuple(labels): best_weights(labels) for labels in partitions(8, k)}
    assert model.inertia_ == pytest.approx(min(values.values()), rel=1e-10)
    assert tuple(model.labels_) == min(values, key=values.get)


def test_the_weights_by_cvxpy_and_the_objective_from_outside():
    Ks = kernels(12, 3)
    model = MultipleKernelKMeans("precomputed", n_clusters=3).fit(stack_kernels(Ks))
    a = np.array([spread(scaled(K), model.labels_) for K in Ks])
    eta = cp.Variable(3, nonneg=True)
    judge = cp.Problem(cp.Minimize(cp.sum(cp.multiply(a, cp.square(eta)))), [cp.sum(eta) == 1])
    judge.solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(model.simplex_weights_, eta.value, atol=1e-6)
    assert model.inertia_ == pytest.approx(judge.value, rel=1e-7)
    K = sum(w * K for w, K in zip(model.kernel_weights_, Ks, strict=True))
    assert spread(K, model.labels_) == pytest.approx(model.inertia_, rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_the_value_never_rises_and_no_move_lowers_it(seed):
    Ks = kernels(20, seed)
    model = MultipleKernelKMeans("precomputed", n_clusters=4, n_init=1, random_state=seed).fit(
        stack_kernels(Ks)
    )
    values = [entry["objective"] for entry in model.history_]
    assert (np.diff(values) <= 1e-12 * values[0]).all() and model.history_[-1]["n_moves"] == 0
    K = sum(w * K for w, K in zip(model.kernel_weights_, Ks, strict=True))
    for i, c in itertools.product(range(20), range(4)):
        other = model.labels_.copy()
        other[i] = c
        if len(np.unique(other)) == 4:
            assert spread(K, other) >= model.inertia_ * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_one_linear_kernel_is_k_means(seed):
    X, _ = make_blobs(80, centers=4, cluster_std=1.5, random_state=seed)
    ours = MultipleKernelKMeans(raw(Linear()), n_clusters=4, n_init=20).fit(X)
    theirs = KMeans(4, n_init=20, random_state=0).fit(X)
    assert ours.inertia_ * X.var(axis=0).sum() == pytest.approx(theirs.inertia_, rel=1e-9)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    fresh = np.random.default_rng(seed).normal(scale=5.0, size=(50, 2))
    centres = np.array([X[ours.labels_ == c].mean(axis=0) for c in range(4)])
    np.testing.assert_array_equal(ours.predict(fresh), cdist(fresh, centres).argmin(axis=1))


def test_the_informative_view_gets_the_weight():
    rng = np.random.default_rng(0)
    good, y = make_blobs(90, centers=3, n_features=3, cluster_std=1.0, random_state=1)
    X = np.hstack([good, rng.normal(scale=8.0, size=(90, 12))])
    views = raw([View("good", Linear(), slice(0, 3))])
    views += raw([View(f"noise{j}", Linear(), slice(3 * j, 3 * j + 3)) for j in range(1, 5)])
    learned = MultipleKernelKMeans(views, n_clusters=3).fit(X)
    equal = MultipleKernelKMeans(views, n_clusters=3, weights="uniform").fit(X)
    assert learned.kernel_shares_[0] > 0.9 and learned.weights_frame()["share"].idxmax() == "good"
    np.testing.assert_allclose(equal.simplex_weights_, 0.2)
    scores = [adjusted_rand_score(y, model.labels_) for model in (learned, equal)]
    assert scores[0] == 1.0 and scores[0] >= scores[1]


# --- input and output --------------------------------------------------------------------------------------


def test_training_samples_keep_their_clusters_in_single_precision_too():
    X, _ = make_blobs(50, centers=3, random_state=2)
    model = MultipleKernelKMeans(raw([Linear(), Gaussian()]), n_clusters=3).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    single = MultipleKernelKMeans(
        KernelBank(raw([Linear(), Gaussian()]), dtype="float32", gram="memmap"), n_clusters=3
    ).fit(X)
    np.testing.assert_array_equal(single.labels_, model.labels_)
    np.testing.assert_allclose(single.simplex_weights_, model.simplex_weights_, rtol=1e-4)


def test_scales_origins_and_order_do_not_matter():
    Ks = kernels(20, 5)
    plain = MultipleKernelKMeans("precomputed", n_clusters=3).fit(stack_kernels(Ks))
    factors = np.array([1e6, 1e-6, 3.0])
    moved = [f * (K + 0.5 * np.abs(K).max()) for f, K in zip(factors, Ks, strict=True)]
    other = MultipleKernelKMeans("precomputed", n_clusters=3).fit(stack_kernels(moved[::-1]))
    np.testing.assert_array_equal(other.labels_, plain.labels_)
    np.testing.assert_allclose(other.simplex_weights_[::-1], plain.simplex_weights_, rtol=1e-6)
    np.testing.assert_allclose(other.kernel_weights_[::-1] * factors, plain.kernel_weights_, rtol=1e-6)


def test_clusters_of_equal_samples_have_no_spread():
    X = np.repeat([[0.0, 1.0], [4.0, 0.0], [9.0, 3.0]], 4, axis=0)
    model = MultipleKernelKMeans(raw([Linear(), Gaussian()]), n_clusters=3).fit(X)
    assert model.labels_.tolist() == [0] * 4 + [1] * 4 + [2] * 4 and model.inertia_ == pytest.approx(0.0)
    np.testing.assert_allclose(model.simplex_weights_, 0.5)
    noise = np.random.default_rng(0).normal(size=(12, 1))
    sure = MultipleKernelKMeans(raw([("x", Linear(), [0, 1]), ("z", Linear(), 2)]), n_clusters=3).fit(
        np.hstack([X, noise])
    )
    assert sure.simplex_weights_.tolist() == [1.0, 0.0] and sure.inertia_ == pytest.approx(0.0)
    with pytest.warns(ConvergenceWarning, match="3 distinct samples are fewer"):
        more = MultipleKernelKMeans(Linear(), n_clusters=5).fit(X)
        all_alone = MultipleKernelKMeans(Linear(), n_clusters=12).fit(X)
    assert len(set(more.labels_)) == 5 and more.inertia_ == pytest.approx(0.0)
    assert all_alone.labels_.tolist() == list(range(12))


def test_starts_are_distinct_samples():
    starts = [tuple(spread_start(np.eye(5), 5, np.random.default_rng(seed))) for seed in range(20)]
    assert all(sorted(start) == list(range(5)) for start in starts) and len(set(starts)) > 5


def test_the_seed_decides():
    X, _ = make_blobs(40, centers=6, cluster_std=4.0, random_state=0)
    fits = [
        MultipleKernelKMeans(n_clusters=5, n_init=1, random_state=seed).fit(X) for seed in (1, 1, 2, 3, 4)
    ]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    assert len({model.inertia_ for model in fits}) > 1


def test_the_best_start_is_kept():
    Ks = np.array(kernels(25, 6))
    problem = KernelKMeans(Ks, np.ones(3), 5)
    rng, K = np.random.default_rng(7), problem.combine(np.full(3, 1 / 3))
    one_by_one = [problem._from(spread_start(K, 5, rng), np.full(3, 1 / 3), K, 300) for _ in range(6)]
    assert problem.solve(6, 300, 7).objective == min(found.objective for found in one_by_one)
    assert len({found.objective for found in one_by_one}) > 1


def test_a_kernel_that_is_constant_but_for_rounding_is_refused():
    flat = np.full((40, 40), 1e9)
    flat[3, 3] += 0.02
    Ks = [*kernels(40), flat]
    with pytest.raises(ValueError, match="kernel 'kernel-3' is the same for all samples"):
        MultipleKernelKMeans("precomputed", n_clusters=2).fit(stack_kernels(Ks))


def test_impatience_is_told():
    with pytest.warns(ConvergenceWarning, match="still changed after max_iter=1 turns"):
        model = MultipleKernelKMeans("precomputed", n_clusters=3, max_iter=1).fit(
            stack_kernels(kernels(30, 8))
        )
    assert model.status_ == "max_iter" and model.n_iter_ == 1


def test_more_clusters_than_samples_are_refused():
    with pytest.raises(ValueError, match=r"n_clusters=10 clusters need as many samples.*got n_samples=9"):
        MultipleKernelKMeans("precomputed", n_clusters=10).fit(stack_kernels(kernels()))


@pytest.mark.parametrize("precomputed", [False, True])
def test_a_sample_of_weight_w_is_w_samples(precomputed):
    X, _ = make_blobs(30, centers=3, cluster_std=1.5, random_state=3)
    weights = np.random.default_rng(0).integers(0, 4, 30)
    rows = np.repeat(np.arange(30), weights)
    views = [Linear(), Gaussian(gamma=0.1)]
    if precomputed:
        stack = stack_kernels([kernel(X) for kernel in views])
        one = MultipleKernelKMeans("precomputed", n_clusters=3, n_init=30).fit(stack, sample_weight=weights)
        many = MultipleKernelKMeans("precomputed", n_clusters=3, n_init=30).fit(stack[np.ix_(rows, rows)])
        predicted = one.predict(stack)
    else:
        one = MultipleKernelKMeans(views, n_clusters=3, n_init=30).fit(X, sample_weight=weights)
        many = MultipleKernelKMeans(views, n_clusters=3, n_init=30).fit(X[rows])
        predicted = one.predict(X)
    assert one.inertia_ == pytest.approx(many.inertia_, rel=1e-9)
    np.testing.assert_allclose(one.kernel_weights_, many.kernel_weights_, rtol=1e-9)
    np.testing.assert_array_equal(one.labels_[rows], many.labels_)
    np.testing.assert_array_equal(predicted[weights == 0], one.labels_[weights == 0])
    doubled = MultipleKernelKMeans(views, n_clusters=3, n_init=30).fit(X, sample_weight=2 * weights)
    if not precomputed:
        assert doubled.inertia_ == pytest.approx(2 * one.inertia_)


@pytest.mark.parametrize("cls", [MultipleKernelKMeans, SimpleMKKM, RegularizedMKKM, MaxMarginClustering])
def test_fewer_distinct_samples_than_clusters_are_told(cls):
    X = np.repeat([[0.0, 1.0], [3.0, 4.0]], 8, axis=0)
    with pytest.warns(ConvergenceWarning, match="2 distinct samples are fewer than n_clusters=3"):
        cls(Gaussian(), n_clusters=3).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert set(cls(Gaussian(), n_clusters=2).fit(X).labels_[:8]) == {0}


def test_auto_says_how_many_samples_it_needs():
    with pytest.raises(ValueError, match="n_clusters='auto' needs three samples; got n_samples=2"):
        MultipleKernelKMeans(Gaussian(), n_clusters="auto").fit(np.eye(2))
