"""Clusters in the feature space of several kernels, whose weights are learned with them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._typing import Array
from .._validation import check_choice
from ..core.about import About
from ..core.inputs import Samples, all_samples, check_sample_weights
from ..core.one_kernel import fixed_seed
from ..core.stack.sums import variance_scales
from .base import KernelClustering
from .solver.kmeans import KernelKMeans, KMeansResult, in_order

WEIGHTS = ("learn", "uniform")


@dataclass(eq=False, repr=False)
class MultipleKernelKMeans(KernelClustering):
    r"""k-means in the feature space of several kernels, with weights that favour tight clusters.

    Use it for clusters of several views of which some may be noise. A view with a few tight but irrelevant
    groups can take all the weight; compare the views by their weights.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    n_clusters : int or "auto", default=2
        "auto": 2 to 10, by the widest eigengap of the graph of near samples, see
        :func:`multikernel.inspection.eigengap`.
    weights : {"learn", "uniform"}, default="learn"
        "uniform": :math:`\eta_m = 1 / P`, kernel k-means on the sum of the scaled kernels.
    n_init : int, default=10
        Starts by k-means++ in the feature space of equal weights; the best end is kept.
    max_iter : int, default=300
        Turns of one start, each of which moves samples and finds weights.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    random_state : int, RandomState or None, default=None
        Seeds the starts; None is a fixed seed.

    Attributes
    ----------
    n_clusters_ : int
    labels_ : array of shape (n_samples,)
        0 … n_clusters − 1 in the order of the first sample of each cluster.
    simplex_weights_ : array of shape (n_kernels,)
        :math:`\eta`.
    kernel_weights_ : array of shape (n_kernels,)
        :math:`\eta_m^2 / s_m`: the learned kernel is their weighted sum.
    kernel_shares_ : array of shape (n_kernels,)
        Each kernel's part of the spread of the learned kernel.
    inertia_, objective_ : float, the objective
    n_iter_ : int, turns of the best start
    status_ : str
    history_ : list of dict with iteration, objective (it never rises), n_moves
    view_names_ : list of str
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from multikernel.clustering import MultipleKernelKMeans
    >>> from multikernel.kernels import Gaussian, Linear
    >>> X, y = make_blobs(60, centers=3, random_state=0, cluster_std=0.4)
    >>> model = MultipleKernelKMeans([Linear(), Gaussian()], n_clusters=3).fit(X)
    >>> len(set(zip(model.labels_, y)))
    3

    Notes
    -----
    It solves

    .. math::

        \min_{\text{clusters},\ \eta} \; \sum_m \eta_m^2 a_m, \qquad
        a_m = \frac{1}{s_m} \Big( \operatorname{tr} K_m - \sum_c \frac{1}{n_c} \sum_{i,j \in c} K_m(i, j)
        \Big), \qquad \eta \ge 0, \; \sum_m \eta_m = 1

    where :math:`a_m` is the sum of squared distances from the centres of the clusters in the feature space of
    :math:`K_m / s_m`, and :math:`s_m` the mean squared distance from the centre of all samples: neither the
    scale of a kernel matters nor where its origin is. Samples move between the clusters as long as a single
    move lowers the objective (Hartigan's rule, in the feature space of :math:`\sum_m \eta_m^2 K_m / s_m`),
    then :math:`\eta_m \propto 1 / a_m`, and so on until the clusters stay.

    Predictions read all training samples, so that a saved model holds them all.
    The end of each start is a local minimum: more starts may find a better one.

    References
    ----------
    Huang, Chuang & Chen, Multiple kernel fuzzy clustering, IEEE Transactions on Fuzzy Systems 20, 2012;
    Gönen & Margolin, Localized data fusion for kernel k-means clustering, NIPS 2014.
    """

    about = About(
        family="clustering",
        problem="min Σ η_m² a_m over clusters and η on the simplex, a_m the spread within clusters",
        solver="alternates single moves and η_m ∝ 1/a_m; the objective never rises, several starts",
        cost="P n² for each of tens of turns, for each start",
        use="Groups without labels, from several views of which some may be noise.",
        reference="Huang, Chuang & Chen 2012; Gönen & Margolin 2014",
    )

    weights: str = field(default="learn", kw_only=True)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "MultipleKernelKMeans":
        """Find clusters and weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : ignored, default=None
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight w counts as w samples. Samples of weight zero are assigned to the nearest
            centre, and change nothing else.
        """
        X = self._validate_table(X, reset=True)
        check_choice("weights", self.weights, WEIGHTS)
        n = _num_samples(X)
        samples = self._samples(X, check_sample_weights(sample_weight, n))
        self._check_counts(n, samples.rows.size)
        Ks = self._fit_grams(X, samples)
        weights = None if (samples.weights == 1.0).all() else samples.weights
        scales = variance_scales(Ks, self.view_names_, weights)
        self._choose_count(Ks, scales)
        problem = KernelKMeans(Ks, scales, self.n_clusters_, self.weights == "learn", weights)
        found = problem.solve(self.n_init, self.max_iter, fixed_seed(self.random_state))
        self._store(found, scales, problem.combine(found.eta), samples)
        unused = np.flatnonzero(samples.group < 0)
        if unused.size:
            self.labels_[unused] = self.predict(_safe_indexing(X, unused))
        return self

    def _samples(self, X: Any, weights: Array) -> Samples:
        """Equal rows are one sample, unless these are too few; where all differ, in their order."""
        samples = self._distinct(X, np.zeros((weights.size, 0)), weights)
        plain = samples.rows.size == weights.size and (weights == 1.0).all()
        least = 3 if isinstance(self.n_clusters, str) else self.n_clusters
        return all_samples(weights) if plain or samples.rows.size < least else samples

    def _store(self, found: KMeansResult, scales: Array, K: Array, samples: Samples) -> None:
        used = samples.group >= 0
        labels = np.zeros(used.size, found.labels.dtype)
        labels[used] = in_order(found.labels[samples.group[used]])
        own = np.empty_like(found.labels)
        own[samples.group[used]] = labels[used]
        self.labels_, self.simplex_weights_ = labels, found.eta
        self.kernel_weights_ = found.eta**2 / scales
        self.kernel_shares_ = found.eta**2 / np.sum(found.eta**2)
        self.inertia_ = self.objective_ = found.objective
        self.n_iter_ = found.n_iter
        self.status_, self.history_ = str(found.status), found.history
        members = np.eye(self.n_clusters_)[own] * samples.weights[:, None]
        self._centres = members / members.sum(axis=0)
        self._norms = np.einsum("ic,ic->c", self._centres, K @ self._centres)
        kept = samples.rows if self._precomputed else np.arange(len(K))
        self._bank = self._bank.restrict(kept, np.flatnonzero(self.kernel_weights_))
        self._warn_if_ended(found.status, "the clusters")

    def predict(self, X: Any) -> Array:
        """The cluster of the nearest centre, in the feature space of the learned kernel.

        Parameters
        ----------
        X : as for ``fit``; (n_samples, n_train, n_kernels) when precomputed

        Returns
        -------
        array of shape (n_samples,) of int
        """
        return np.concatenate(list(self._by_batches(X, self._nearest)))

    def _nearest(self, X: Any) -> Array:
        products = sum(self.kernel_weights_[m] * (K @ self._centres) for m, K in self._bank.iter_kernels(X))
        return np.asarray((self._norms - 2.0 * products).argmin(axis=1))
