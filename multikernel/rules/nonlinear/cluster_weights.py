"""Weights for each cluster of the samples (Yang and others)."""

from typing import Any

import numpy as np

from ..._typing import Array
from ..learner import About, Learned
from ..solver.local_weights import Groups
from ..targets import Targets
from ._local import LocalLearner


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

    def __init__(
        self,
        n_clusters: int = 2,
        C: float = 1.0,
        labels: Any = None,
        random_state: int = 0,
        tol: float = 1e-3,
        max_iter: int = 1000,
    ) -> None:
        self.n_clusters = n_clusters
        self.C = C
        self.labels = labels
        self.random_state = random_state
        self.tol = tol
        self.max_iter = max_iter

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
