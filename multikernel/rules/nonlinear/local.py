"""Weights that depend on the sample: one set for each cluster, or for each sample (Yang and others)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_number, check_positive_integer, check_seed
from ...clustering.solver import KernelKMeans
from ...core.stack.sums import GatedStack, kernel_scales, weighted_sum
from ...core.svm.losses import Loss, SquaredError, SquaredHinge
from ..learner import About, Learned, WeightLearner
from ..solver.descent import ProjectedResult
from ..solver.local_weights import Groups, learn_local_weights
from ..targets import Targets, require_different_values


class LocalLearner(WeightLearner):
    """K(x, z) = Σ_m η_m(x) η_m(z) K_m(x, z) / s_m; a learner says what η is at new samples."""

    learns_from = ("classes", "values")
    certificate = "stationarity"
    is_linear = False
    C: float
    random_state: int

    def _prepare(self, Ks: Array) -> Array:
        """Note the scales s_m; the mean kernel (1/P) Σ K_m / s_m of the training samples."""
        self._scales = kernel_scales(Ks, self.view_names_)
        return weighted_sum(Ks, 1.0 / (len(Ks) * self._scales))

    def _cluster(self, mean: Array, n_clusters: Any) -> Array:
        """The cluster of each training sample, by kernel k-means."""
        k = check_positive_integer("n_clusters", n_clusters)
        if k > len(mean):
            raise ValueError(f"n_clusters must be at most the number of samples, {len(mean)}; got {k}.")
        seed = check_seed("random_state", self.random_state)
        return KernelKMeans(mean[None], np.ones(1), k, learn=False).solve(seed=seed).labels

    def _descend(self, Ks: Array, targets: Targets, groups: Groups) -> ProjectedResult:
        """Learn the weights of the groups, and note those of the training samples."""
        C = check_number("C", self.C, above=0.0)
        found = learn_local_weights(Ks, _smooth_losses(targets, C), groups, self._options())
        self._training_weights = found.point[groups.of]
        return found

    def _weights_at(self, similarities: Array) -> Array:
        """η (n_samples, P) from the mean kernel between new and training samples."""
        raise NotImplementedError

    # ------------------------------------------------------------------ combination
    @property
    def active_kernels(self) -> Array:
        """All: the mean kernel says where a sample is."""
        return np.arange(self.kernel_weights_.size)

    def combine_training(self, Ks: Array) -> Array:
        """The kernel of the training samples, each with its own weights."""
        stack = GatedStack(np.asarray(Ks), np.arange(len(Ks)))
        stack.set_gates(self._training_weights / np.sqrt(self._scales))
        return stack.whole()

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The kernel of new samples, whose weights are found first: all the kernels are held at once."""
        held = list(kernels)
        mean = np.zeros(held[0][1].shape)
        for m, K in held:
            mean += np.multiply(K, 1.0 / (len(held) * self._scales[m]), dtype=np.float64)
        new = self._weights_at(mean) / self._scales
        total = np.zeros_like(mean)
        for m, K in held:
            total += new[:, m, None] * (K * self._training_weights[:, m])
        return total


@dataclass(eq=False, repr=False)
class ClusterWeights(LocalLearner):
    """K(x, z) = Σ_m η_m^{c(x)} η_m^{c(z)} K_m(x, z) / s_m: weights of the cluster c(x) that a sample is in.

        min  J(K)   over η^c ≥ 0, Σ_m η_m^c = 1 for each cluster c

    J is the value of a support vector machine with squared slacks at its optimum, ½‖w‖² + (C/2) Σ ξ_i² (of
    ridge regression for values, of unit variance); of several classes or outputs the sum. s_m is the mean of
    K_m's diagonal. K is positive semidefinite whatever the weights.

    Clusters are found by k-means in the feature space of the mean kernel (1/P) Σ K_m / s_m, or given. A new
    sample is of the cluster with the nearest centre there. The problem is not convex, also for one cluster,
    where weights are the squares of η: the descent from equal weights ends where it is stationary. The
    squared slacks are our choice: with them J has a gradient everywhere.

    Parameters
    ----------
    n_clusters : int
    C : float > 0
    labels : array (n,), optional
        The cluster of each training sample, instead of k-means.
    random_state : int, of the starts of k-means
    tol : float, on ``dual_gap_``
    max_iter : int

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), the mean of η over the samples
    cluster_weights_ : array (n_clusters, n_kernels), η^c
    clusters_ : array (n,), the cluster of each training sample
    dual_gap_ : float, how far the weights are from stationary: the fall that the gradient promises in the
        best direction, as a part of the objective

    References
    ----------
    J. Yang, Y. Li, Y. Tian, L. Duan & W. Gao (2009). Group-sensitive multiple kernel learning for object
    categorization. ICCV.

    Examples
    --------
    Where the first feature is positive, the second tells the classes, else the third.

    >>> X = np.random.default_rng(0).normal(size=(90, 3))
    >>> y = np.where(X[:, 0] > 0.0, X[:, 1], X[:, 2]) > 0
    >>> learner = ClusterWeights(labels=X[:, 0] > 0.0).fit([np.outer(x, x) for x in X.T], y)
    >>> learner.cluster_weights_.round(1)
    array([[0., 0., 1.],
           [0., 1., 0.]])
    """

    about = About(
        family="nonlinear",
        problem="min J(Σ η_m^{c(x)} η_m^{c(z)} K_m), η^c in a simplex for each cluster c of the samples",
        solver="kernel k-means, then projected gradients; stationarity",
        cost="some tens of machines, each with P n²",
        use="Regions in which different kernels matter, and little wish for a gating model.",
        reference="Yang et al. 2009",
    )

    n_clusters: int = 2
    C: float = 1.0
    labels: Any = None
    random_state: int = 0
    tol: float = 1e-3
    max_iter: int = 1000

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        mean = self._prepare(Ks)
        if self.labels is None:
            self.clusters_ = self._cluster(mean, self.n_clusters)
        else:
            self.clusters_ = _given_clusters(self.labels, targets.n)
        self._centres(mean)
        groups = Groups(self.clusters_, np.zeros(targets.n, int))
        found = self._descend(Ks, targets, groups)
        self.cluster_weights_ = found.point
        return Learned.of(found, self._training_weights.mean(axis=0))

    def _centres(self, mean: Array) -> None:
        members = np.equal.outer(self.clusters_, np.arange(int(self.clusters_.max()) + 1)).astype(float)
        self._members = members / members.sum(axis=0)
        self._norms = np.einsum("ic,ij,jc->c", self._members, mean, self._members, optimize=True)

    def _weights_at(self, similarities: Array) -> Array:
        nearest = (self._norms - 2.0 * similarities @ self._members).argmin(axis=1)
        return np.asarray(self.cluster_weights_[nearest])


def _given_clusters(labels: Any, n: int) -> Array:
    given = np.asarray(labels)
    if given.shape != (n,):
        raise ValueError(
            f"labels must hold a cluster for each of the {n} training samples; got shape {given.shape}."
        )
    return np.unique(given, return_inverse=True)[1]


@dataclass(eq=False, repr=False)
class InstanceWeights(LocalLearner):
    """K(x_i, x_j) = Σ_m η_im η_jm K_m(x_i, x_j) / s_m: weights of its own for each training sample i.

        min  J(K) + ½ reg Σ_i ‖η_i − η̄_i‖²   over η_i ≥ 0, Σ_m η_im = 1 for each sample i

    η̄_i is the mean of the weights over the samples of i's cluster (of all, for one cluster). J and s_m are as
    for :class:`ClusterWeights`, which is the limit of a large price reg. Without a price, n P weights fit the
    training samples at will.

    Weights of training samples say nothing of new ones, and there is no natural rule: here, a new sample has
    the mean weights of its nearest training samples in the feature space of the mean kernel. The penalty and
    this rule are our reading. The problem is not convex: the descent from equal weights ends where it is
    stationary.

    Parameters
    ----------
    C : float > 0
    reg : float >= 0
    n_neighbors : int, how many training samples give a new one its weights
    n_clusters : int
    random_state : int, of the starts of k-means
    tol : float, on ``dual_gap_``
    max_iter : int

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), the mean of η over the samples
    instance_weights_ : array (n, n_kernels), η
    clusters_ : array (n,), the cluster of each training sample
    dual_gap_ : float, as for :class:`ClusterWeights`

    References
    ----------
    J. Yang, Y. Li, Y. Tian, L.-Y. Duan & W. Gao (2010). Per-sample multiple kernel approach for visual
    concept learning. EURASIP Journal on Image and Video Processing.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = X[:, 0] > 0
    >>> learner = InstanceWeights(reg=100.0).fit([np.outer(x, x) for x in X.T], y)
    >>> learner.instance_weights_.shape, learner.kernel_weights_.round(1).tolist()
    ((40, 2), [1.0, 0.0])
    """

    about = About(
        family="nonlinear",
        problem="min J(Σ η_im η_jm K_m) + ½ reg Σ ‖η_i − η̄‖², η_i in a simplex for each sample i",
        solver="projected gradients; stationarity",
        cost="some hundreds of machines, each with P n²; n P parameters",
        use="To look at which kernel each training sample asks for; for predictions, rather a gating model.",
        reference="Yang et al. 2010",
    )

    C: float = 1.0
    reg: float = 10.0
    n_neighbors: int = 5
    n_clusters: int = 1
    random_state: int = 0
    tol: float = 1e-2
    max_iter: int = 1000

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        reg = check_number("reg", self.reg, at_least=0.0)
        check_positive_integer("n_neighbors", self.n_neighbors)
        mean = self._prepare(Ks)
        self._norms = np.diagonal(mean).copy()
        self.clusters_ = self._cluster(mean, self.n_clusters)
        found = self._descend(Ks, targets, Groups(np.arange(targets.n), self.clusters_, reg))
        self.instance_weights_ = found.point
        return Learned.of(found, found.point.mean(axis=0))

    def _weights_at(self, similarities: Array) -> Array:
        order = np.argsort(self._norms - 2.0 * similarities, axis=1, kind="stable")
        nearest = order[:, : min(self.n_neighbors, order.shape[1])]
        return np.asarray(self.instance_weights_[nearest].mean(axis=1))


def _smooth_losses(targets: Targets, C: float) -> list[Loss]:
    """Losses whose duals are unique, so that J has a gradient: squared, of classes or of scaled values."""
    if targets.task == "classes":
        return [SquaredHinge(signs, C) for signs in targets.signs]
    require_different_values(targets)
    size = max(float(targets.values.std(axis=0).max()), np.finfo(float).tiny)
    return [SquaredError(output / size, 1.0 / C) for output in targets.values.T]
