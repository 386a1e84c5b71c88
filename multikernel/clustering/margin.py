"""Clusters with large margins between them, in the feature space of several kernels."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._typing import Array
from .._validation import check_number
from ..core.about import About
from ..core.inputs import all_samples
from ..core.one_kernel import fixed_seed
from ..core.stack.sums import variance_scales
from .base import KernelClustering
from .solver.margin import MarginProblem, MarginResult


@dataclass(eq=False, repr=False)
class MaxMarginClustering(KernelClustering):
    r"""Clusters that support vector machines separate with the largest margins, and kernel weights for them.

    The labels are variables of the problem that an MKL classifier solves. Use it for two groups or a few, of
    at most a few thousand samples, when a gap between groups matters more than how tight they are. With many
    clusters, :class:`MultipleKernelKMeans` and :class:`SimpleMKKM` are faster, and often better.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    n_clusters : int or "auto", default=2
        "auto": 2 to 10, by the widest eigengap of the graph of near samples, see
        :func:`multikernel.inspection.eigengap`.
    C : float, default=10.0
        Penalty on margin violations, for kernels of variance 1.
    balance : float in (0, 1], default=0.5
        Every cluster has at least this share of n_samples / n_clusters samples. Without such a bound one
        cluster of all samples would be the solution.
    n_init : int, default=5
        Starts, in turn from kernel k-means on the mean kernel, on one of the kernels, and from random
        clusters of equal size; the best end is kept.
    max_iter : int, default=300
        Maximum number of turns of one start.
    max_time : float or None, default=None
        Maximum time of the fit in seconds; None for no limit.
    tol : float, default=1e-3
        Tolerance of the MKL fits.
    random_state : int, RandomState or None, default=None
        Seeds the starts; None is a fixed seed.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 … n_clusters − 1 in the order of the first sample of each cluster.
    n_clusters_ : int
    kernel_weights_ : array of shape (n_kernels,)
    kernel_shares_ : array of shape (n_kernels,)
        Each kernel's part of the spread of the learned kernel.
    dual_coef_ : array of shape (n_machines, n_samples)
        One classifier for two clusters, else one for each.
    intercept_ : array of shape (n_machines,)
    objective_ : float
    dual_gap_ : float, of the MKL fits for the clusters that were found
    n_iter_ : int, turns of the best start
    status_ : str
    history_ : list of dict with iteration, C, objective (it never rises at one C), n_moves
    view_names_ : list of str
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from multikernel.clustering import MaxMarginClustering
    >>> from multikernel.kernels import Gaussian, Linear
    >>> X, y = make_blobs(60, centers=2, random_state=0, cluster_std=0.6)
    >>> model = MaxMarginClustering([Linear(), Gaussian()]).fit(X)
    >>> len(set(zip(model.labels_, y)))
    2

    Notes
    -----
    .. math::

        \min_{y,\ \mu,\ f,\ b}\ \sum_c \Big( \tfrac12 \sum_m \frac{\|f_{cm}\|^2}{\mu_m} + \tfrac C2 \sum_i
        \big[1 - y_{ic} (\textstyle\sum_m f_{cm}(x_i) + b_c)\big]_+^2 \Big), \qquad
        \mu \ge 0,\ \sum_m s_m \mu_m \le 1

    over clusters with at least the least number of samples each, :math:`y_{ic} = 1` in cluster c, else −1,
    and :math:`s_m` the variance of kernel m. Machines for given clusters (convex) and clusters for given
    scores (an assignment problem) take turns, from C/1000 up to C, with nearly equal sizes before C. The
    problem over the clusters is combinatorial: the end is a local minimum. Zhao, Kwok &
    Zhang have the hinge loss, a bound on the sum of the scores for the balance, one SVM of all clusters,
    and cutting planes.

    Predictions read all training samples, so that a saved model holds them all.

    References
    ----------
    Zhao, Kwok & Zhang, Multiple kernel clustering, SIAM International Conference on Data Mining, 2009.
    """

    about = About(
        family="clustering",
        problem="min over clusters of the MKL problem with squared hinge loss, clusters not too small",
        solver="MKL classifiers and an assignment problem in turn, C raised in four steps, several starts",
        cost="about ten fits of MKL a start",
        use="Two groups or a few, without labels, with a gap between them in some of the views.",
        reference="Zhao, Kwok & Zhang 2009",
    )
    certificate = "machine"

    n_init: int = field(default=5, kw_only=True)
    C: float = field(default=10.0, kw_only=True)
    balance: float = field(default=0.5, kw_only=True)
    tol: float = field(default=1e-3, kw_only=True)

    def fit(self, X: Any, y: Any = None) -> "MaxMarginClustering":
        """Find clusters, weights and classifiers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : ignored, default=None
        """
        X = self._validate_table(X, reset=True)
        n = _num_samples(X)
        self._check_counts(n)
        C, balance = check_number("C", self.C, above=0.0), check_number("balance", self.balance, above=0.0)
        if balance > 1.0:
            raise ValueError(f"balance must be at most 1; got {self.balance!r}.")
        self._check_numerics()
        Ks = self._fit_grams(X, all_samples(np.ones(n)))
        scales = variance_scales(Ks, self.view_names_)
        self._choose_count(Ks, scales)
        least = max(1, int(balance * n / self.n_clusters_))
        problem = MarginProblem(Ks, scales, self.n_clusters_, C, least, self.tol)
        self._store(problem.solve(self.n_init, self.max_iter, fixed_seed(self.random_state)), scales)
        return self

    def _store(self, found: MarginResult, scales: Array) -> None:
        _, first = np.unique(found.labels, return_index=True)
        order = np.argsort(first)  # clusters by their first samples
        self.labels_ = np.argsort(order)[found.labels]
        coefficients, intercepts = found.coefficients, found.intercepts
        if self.n_clusters_ == 2:
            sign = 1.0 if order[0] == 0 else -1.0
            coefficients, intercepts = sign * coefficients, sign * intercepts
        else:
            coefficients, intercepts = coefficients[:, order], intercepts[order]
        self.kernel_weights_, spreads = found.weights, found.weights * scales
        self.kernel_shares_ = spreads / (spreads.sum() or 1.0)
        self.dual_coef_, self.intercept_ = coefficients.T, intercepts
        self.objective_, self.dual_gap_ = found.objective, found.gap
        self.n_iter_, self.status_ = max(found.n_iter, 1), str(found.status)
        self.history_ = found.history
        active = np.flatnonzero(found.weights)
        self._bank = self._bank.restrict(
            np.arange(found.labels.size), active if active.size else np.array([0])
        )
        self._warn_if_ended(found.status, "the clusters")

    def decision_function(self, X: Any) -> Array:
        """Scores of the clusters.

        Parameters
        ----------
        X : as for ``fit``; (n_samples, n_train, n_kernels) when precomputed

        Returns
        -------
        array of shape (n_samples,) for two clusters, positive for cluster 1; else (n_samples, n_clusters)
        """
        scores = np.concatenate(list(self._by_batches(X, self._sums))) + self.intercept_
        return np.asarray(scores[:, 0] if self.n_clusters_ == 2 else scores)

    def _sums(self, X: Any) -> Array:
        return np.asarray(
            sum(self.kernel_weights_[m] * (K @ self.dual_coef_.T) for m, K in self._bank.iter_kernels(X))
        )

    def predict(self, X: Any) -> Array:
        """The cluster of the largest score.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_samples,) of int
        """
        scores = self.decision_function(X)
        return np.asarray((scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1))
