"""Weights for each sample, held together by their mean (Yang and others)."""

import numpy as np

from ..._typing import Array
from ..._validation import check_number, check_positive_integer
from ..learner import About, Learned
from ..solver.local_weights import Groups
from ..targets import Targets
from ._local import LocalLearner


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

    def __init__(
        self,
        C: float = 1.0,
        reg: float = 10.0,
        n_neighbors: int = 5,
        n_clusters: int = 1,
        random_state: int = 0,
        tol: float = 1e-2,
        max_iter: int = 1000,
    ) -> None:
        self.C = C
        self.reg = reg
        self.n_neighbors = n_neighbors
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.tol = tol
        self.max_iter = max_iter

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
