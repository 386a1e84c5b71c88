"""Numbers of clusters: eigengap against a dense computation, stability against one written plainly."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.svm import SVC

from multikernel import View, stack_kernels
from multikernel.clustering import MaxMarginClustering, MultipleKernelKMeans, RegularizedMKKM, SimpleMKKM
from multikernel.inspection import cluster_stability, eigengap
from multikernel.kernels import Gaussian, Linear

KERNELS = [View("a", Gaussian(0.5), standardize=False), View("b", Linear(), standardize=False)]


def blobs(k, n=80, seed=0):
    return make_blobs(n, centers=k, random_state=seed, cluster_std=0.5)


def test_the_eigenvalues_by_a_dense_computation():
    X, _ = blobs(3, n=40)
    n = len(X)
    K = sum(Q / (np.trace(Q) / n - Q.mean()) / 2 for Q in (Gaussian(0.5)(X, X), Linear()(X, X)))
    D = np.diag(K)[:, None] + np.diag(K) - 2 * K
    order = [[j for j in np.argsort(D[i], kind="stable") if j != i] for i in range(n)]
    scale = [np.sqrt(D[i, order[i][6]]) for i in range(n)]
    A = np.zeros((n, n))
    for i in range(n):
        for j in order[i][:20]:
            A[i, j] = A[j, i] = np.exp(-D[i, j] / scale[i] / scale[j])
    d = A.sum(axis=1)
    values = np.sort(np.linalg.eigvalsh(A / np.sqrt(np.outer(d, d))))[::-1]
    frame = eigengap(MultipleKernelKMeans(KERNELS), X, max_clusters=6)
    np.testing.assert_allclose(frame["eigenvalue"], values[:6], atol=1e-9)
    np.testing.assert_allclose(frame["gap"], (values[:6] - values[1:7]) / (1.01 - values[1:7]), atol=1e-9)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("cls", [MultipleKernelKMeans, SimpleMKKM, RegularizedMKKM, MaxMarginClustering])
def test_auto_is_the_widest_gap(cls, k):
    centers = 10.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 0]])[:k]
    X, _ = make_blobs(90, centers=centers, random_state=1)
    model = cls(KERNELS, n_clusters="auto", n_init=2).fit(X)
    assert np.unique(model.labels_).size == k
    assert model.n_clusters_ == k == eigengap(model, X)["gap"].iloc[1:].idxmax()


def test_stability_written_plainly():
    X, _ = blobs(3, n=50)
    model = MultipleKernelKMeans(KERNELS, n_init=2)
    found = cluster_stability(model, X, n_clusters=[2, 3, 4], n_subsamples=4, random_state=0)
    random = np.random.RandomState(0)
    parts = [np.sort(random.permutation(50)[:40]) for _ in range(4)]
    for k in (2, 3, 4):
        labels = [clone(model).set_params(n_clusters=k).fit(X[rows]).labels_ for rows in parts]
        scores, share = [], np.zeros((50, 50))
        both = np.zeros((50, 50))
        for a in range(4):
            for i, p in enumerate(parts[a]):
                for j, q in enumerate(parts[a]):
                    both[p, q] += 1
                    share[p, q] += labels[a][i] == labels[a][j]
            for b in range(a):
                common = sorted(set(parts[a]) & set(parts[b]))
                own = [labels[a][list(parts[a]).index(i)] for i in common]
                scores.append(adjusted_rand_score(own, [labels[b][list(parts[b]).index(i)] for i in common]))
        row = found.table.loc[k]
        assert row["stability"] == pytest.approx(np.mean(scores)) and row["std"] == pytest.approx(
            np.std(scores)
        )
        with np.errstate(invalid="ignore"):
            consensus = share / both
        np.testing.assert_allclose(found.consensus[k], consensus)
        pairs = [consensus[i, j] for i in range(50) for j in range(i) if both[i, j]]
        assert row["ambiguous"] == pytest.approx(np.mean([0.1 < p < 0.9 for p in pairs]))
    assert found.best == 3 and "3 clusters are the most stable" in found.answer
    assert model.n_clusters == 2


def test_precomputed_kernels_and_the_picture():
    X, _ = blobs(3, n=40)
    stack = stack_kernels([Gaussian(0.5)(X, X), Linear()(X, X)])
    options = {"n_clusters": [3], "n_subsamples": 3}
    given = cluster_stability(MultipleKernelKMeans("precomputed", n_init=30), stack, **options)
    plain = cluster_stability(MultipleKernelKMeans(KERNELS, n_init=30), X, **options)
    np.testing.assert_allclose(given.to_frame(), plain.to_frame())
    ax = given.plot()
    assert ax.get_xlabel() == "number of clusters"
    assert ax.lines[0].get_ydata().tolist() == given.table["stability"].tolist()
    assert [row["n_clusters"] for row in given.to_dict()["rows"]] == [3]


def test_refusals():
    X, _ = blobs(3, n=20)
    model = MultipleKernelKMeans(KERNELS)
    with pytest.raises(TypeError, match=r"must be an estimator of .*; got SVC"):
        cluster_stability(SVC(), X)
    for options in ({"share": 1.0}, {"n_subsamples": 1}, {"n_clusters": [1]}, {"n_clusters": [30]}):
        with pytest.raises(ValueError):
            cluster_stability(model, X, **options)


def test_one_number_of_clusters_is_refused():
    with pytest.raises(
        TypeError, match=r"n_clusters must be a list of numbers, such as range\(2, 9\); got 3"
    ):
        cluster_stability(MultipleKernelKMeans(KERNELS), np.eye(8), n_clusters=3)
