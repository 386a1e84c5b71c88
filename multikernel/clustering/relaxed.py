"""Clusters by spectral relaxations of multiple kernel k-means."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._typing import Array
from .._validation import check_number
from ..core.about import About
from ..core.inputs import all_samples
from ..core.one_kernel import fixed_seed
from ..core.optim.loop import Options
from ..core.stack.sums import weighted_sum
from .base import KernelClustering, scales_of
from .solver.kmeans import KernelKMeans
from .solver.relaxed import (
    Embedding,
    RelaxedResult,
    centered_where_present,
    solve_regularized,
    solve_simple,
)

_NOTHING = 1e-10  # share of the largest eigenvalue below which a column of the embedding is noise


Solve = Callable[[Embedding, Array | None], RelaxedResult]


def _fit(model: "SimpleMKKM | RegularizedMKKM", X: Any, solve: Solve) -> None:
    """Weights and an embedding by `solve`, then k-means on its rows."""
    X = model._validate_table(X, reset=True)
    n = _num_samples(X)
    model._check_counts(n)
    model._check_numerics()
    Ks = model._fit_grams(X, all_samples(np.ones(n)))
    present = model._bank.present_ if model.missing_ == "absent" else None
    scales = scales_of(Ks, model.view_names_, present)
    model._choose_count(Ks, scales)
    if present is None:
        problem = Embedding(Ks, scales, model.n_clusters_)
    else:
        copy = centered_where_present(Ks, scales, present)
        problem = Embedding(copy, np.ones(len(Ks)), model.n_clusters_, centered=True)
    found = solve(problem, present)
    model.simplex_weights_ = found.gamma
    model.kernel_weights_ = found.gamma**2 / scales
    model.kernel_shares_ = found.gamma**2 / np.sum(found.gamma**2)
    model.embedding_, model.eigenvalues_ = found.H, found.eigenvalues
    seed = fixed_seed(model.random_state)
    model.labels_, model._nearest = _clusters(problem, found, model.n_init, seed)
    model.objective_, model.dual_gap_ = float(found.objective), float(found.gap)
    model.n_iter_, model.status_ = max(found.n_iter, 1), str(found.status)
    model.history_ = found.history
    model._bank = model._bank.restrict(np.arange(n), np.flatnonzero(model.kernel_weights_))
    model._warn_if_ended(found.status, "the weights")


@dataclass(frozen=True, eq=False)
class NearestRows:
    """The nearest centre in an embedding, for new samples."""

    means: Array  # of the columns of the learned kernel (n,)
    projection: Array  # H / λ (n, r)
    centres: Array  # (k, r)

    def __call__(self, K: Array) -> Array:
        """Clusters of new samples, from their similarities (n_samples, n)."""
        K = K - K.mean(axis=1, keepdims=True) - (self.means - self.means.mean())
        rows = _unit_rows(K @ self.projection)
        squares = np.sum(self.centres**2, axis=1) - 2.0 * rows @ self.centres.T
        return np.asarray(squares.argmin(axis=1))


def _clusters(problem: Embedding, found: RelaxedResult, n_init: int, seed: int) -> tuple[Array, NearestRows]:
    """k-means on the rows of the embedding, scaled to length 1."""
    kept = found.eigenvalues > _NOTHING * max(float(found.eigenvalues[0]), 0.0)
    H, k = found.H[:, kept], problem.k
    rows = _unit_rows(H)
    labels = KernelKMeans((rows @ rows.T)[None], np.ones(1), k, learn=False).solve(n_init, seed=seed).labels
    members = np.eye(k)[labels]
    means = weighted_sum(problem.Ks, found.gamma**2 / problem.scales).mean(axis=0)
    centres = (members / members.sum(axis=0)).T @ rows
    return labels, NearestRows(means, H / found.eigenvalues[kept], centres)


def _predict(model: "SimpleMKKM | RegularizedMKKM", X: Any) -> Array:
    def nearest(rows: Any) -> Array:
        weights = model.kernel_weights_
        K = sum(weights[m] * np.asarray(K, np.float64) for m, K in model._bank.iter_kernels(rows))
        return model._nearest(K)

    return np.concatenate(list(model._by_batches(X, nearest)))


def _unit_rows(H: Array) -> Array:
    """Rows of length 1; rows of zeros stay."""
    lengths = np.linalg.norm(H, axis=1, keepdims=True)
    return np.divide(H, lengths, out=np.zeros_like(H), where=lengths > 0.0)


@dataclass(eq=False, repr=False)
class SimpleMKKM(KernelClustering):
    r"""Clusters by SimpleMKKM: the kernel weights for which the best embedding explains least.

    A convex problem with a certified solution, which tends to spread the weight over views that agree, where
    :class:`MultipleKernelKMeans` prefers the view with the tightest clusters. Use it when views are of
    similar quality, or when a view of tight, meaningless groups would take all the weight. It does not leave
    out views of noise.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    n_clusters : int or "auto", default=2
        "auto": 2 to 10, by the widest eigengap of the graph of near samples, see
        :func:`multikernel.inspection.eigengap`.
    n_init : int, default=10
        Starts of k-means on the embedding.
    max_iter : int, default=300
        Maximum number of updates of the weights.
    max_time : float or None, default=None
        Maximum time of the fit in seconds; None for no limit.
    random_state : int, RandomState or None, default=None
        Seeds the starts of k-means; None is a fixed seed.
    tol : float, default=1e-3
        Tolerance on ``dual_gap_``.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 … n_clusters − 1 in the order of the first sample of each cluster.
    n_clusters_ : int
    simplex_weights_ : array of shape (n_kernels,)
        :math:`\gamma`.
    kernel_weights_ : array of shape (n_kernels,)
        :math:`\gamma_m^2 / s_m`.
    kernel_shares_ : array of shape (n_kernels,)
        Each kernel's part of the spread of the learned kernel.
    embedding_ : array of shape (n_samples, n_clusters)
        :math:`H`.
    eigenvalues_ : array of shape (n_clusters,)
    objective_ : float
    dual_gap_ : float, (objective − lower bound) / objective
    n_iter_ : int
    status_ : str
    history_ : list of dict with iteration, objective, lower_bound and gap
    view_names_ : list of str
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from multikernel.clustering import SimpleMKKM
    >>> from multikernel.kernels import Gaussian, Linear
    >>> X, y = make_blobs(60, centers=3, random_state=0, cluster_std=0.4)
    >>> model = SimpleMKKM([Linear(), Gaussian()], n_clusters=3).fit(X)
    >>> len(set(zip(model.labels_, y))), model.dual_gap_ <= 1e-3
    (3, True)

    Notes
    -----
    .. math::

        \min_{\gamma \ge 0,\ \sum_m \gamma_m = 1}\ \max_{H' H = I}\
        \operatorname{tr}\Big(H' \sum_m \gamma_m^2 \frac{K_m}{s_m}\, H\Big)

    with centered kernels and :math:`s_m` the variance of kernel m. The maximum over :math:`H` is the sum of
    the largest eigenvalues, a convex function of :math:`\gamma`. Each :math:`H` found gives a lower bound of
    it; their best mixture gives the next :math:`\gamma` and the bound that ``dual_gap_`` is about. The paper
    takes gradient steps on the same problem. The clusters are those of k-means on the rows of :math:`H`,
    scaled to length 1; this last step is not convex.

    Predictions read all training samples, so that a saved model holds them all.

    References
    ----------
    Liu, SimpleMKKM: simple multiple kernel k-means, IEEE TPAMI 45, 2023.
    """

    about = About(
        family="clustering",
        problem="min over γ on the simplex, max over H'H = I of tr(H'K_γ H), K_γ = Σ γ_m² K_m",
        solver="best mixture of embeddings, one eigenproblem a step; duality gap; k-means on the embedding",
        cost="a few leading eigenvectors and reads of the stack, P n²",
        use="Groups without labels, from several views of similar quality.",
        reference="Liu 2023",
    )
    certificate = "optimality"
    _more_time = "max_time"

    tol: float = field(default=1e-3, kw_only=True)

    def fit(self, X: Any, y: Any = None) -> "SimpleMKKM":
        """Find clusters and weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : ignored, default=None
        """
        options = Options(tol=self.tol, max_iter=self.max_iter)
        _fit(self, X, lambda problem, _: solve_simple(problem, options))
        return self

    def predict(self, X: Any) -> Array:
        """The cluster of the nearest centre, in the embedding of the learned kernel.

        Parameters
        ----------
        X : as for ``fit``; (n_samples, n_train, n_kernels) when precomputed

        Returns
        -------
        array of shape (n_samples,) of int
        """
        return _predict(self, X)


@dataclass(eq=False, repr=False)
class RegularizedMKKM(KernelClustering):
    r"""Clusters by multiple kernel k-means with a penalty on similar kernels; samples may lack views.

    The weights favor kernels whose clusters are tight, and kernels that differ from the others with weight.
    Use it when several views say the same, or when samples lack views: with
    ``KernelBank(kernels, missing="absent")`` the absent rows are completed together with the clusters.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`SimpleMKKM`.
    n_clusters : int or "auto", default=2
        As for :class:`SimpleMKKM`.
    n_init : int, default=10
        As for :class:`SimpleMKKM`.
    max_iter : int, default=300
        As for :class:`SimpleMKKM`.
    max_time : float, default=None
        As for :class:`SimpleMKKM`.
    random_state : int, RandomState or None, default=None
        As for :class:`SimpleMKKM`.
    tol : float, default=1e-3
        As for :class:`SimpleMKKM`.
    reg : float >= 0, default=10.0
        Strength of the penalty on similar kernels. 0: plain multiple kernel k-means, relaxed; large values
        lead to the weights of the least similar kernels, whatever their clusters.

    Attributes
    ----------
    labels_, n_clusters_, simplex_weights_, kernel_weights_, kernel_shares_, embedding_, eigenvalues_
        As for :class:`SimpleMKKM`.
    missing_ : str, what was done with samples that lack views
    objective_, n_iter_, status_, view_names_, n_features_in_
        As for :class:`SimpleMKKM`.
    dual_gap_ : float
        Stationarity: what a linear model of the objective could still gain, relative to it.
    history_ : list of dict with iteration, objective (it never rises) and gap

    Examples
    --------
    Samples 0 to 14 lack the second view:

    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from multikernel import KernelBank
    >>> from multikernel.clustering import RegularizedMKKM
    >>> from multikernel.kernels import Gaussian
    >>> X, y = make_blobs(60, n_features=4, centers=3, random_state=0, cluster_std=0.5)
    >>> X[:15, 2:] = np.nan
    >>> views = [("first", Gaussian(), [0, 1]), ("second", Gaussian(), [2, 3])]
    >>> model = RegularizedMKKM(KernelBank(views, missing="absent"), n_clusters=3).fit(X)
    >>> len(set(zip(model.labels_, y)))
    3

    Notes
    -----
    .. math::

        \min_{\gamma,\ H' H = I}\ \operatorname{tr}\Big(\sum_m \gamma_m^2 \frac{K_m}{s_m} (I - H H')\Big)
        + \frac{\lambda}{2} \gamma' M \gamma, \qquad M_{ml} = n \cos(K_m, K_l), \qquad
        \gamma \ge 0,\ \sum_m \gamma_m = 1

    with centered kernels, :math:`s_m` the variance of kernel m and :math:`\lambda` = `reg`. The paper has
    :math:`M_{ml} = \operatorname{tr}(K_m K_l)`; the cosine makes `reg` independent of the scale. The leading
    eigenvectors for given weights and a quadratic program for given :math:`H` take turns. With
    ``missing="absent"`` the unknown entries of the kernels are variables, too: the positive semidefinite
    completion of least objective has a closed form. The problem is not convex.

    The relaxation explains a kernel of at most `n_clusters` eigenvalues without error, whatever its clusters:
    a linear kernel on few columns takes all the weight where `reg` is small. Use a Gaussian kernel on these.

    ``predict`` reads all training samples, and is not available with ``missing="absent"``.

    References
    ----------
    Liu, Dou, Yin, Wang & Zhu, Multiple kernel k-means clustering with matrix-induced regularization, AAAI
    2016. Liu, Li, Wang, Dou, Yin & Zhu, Multiple kernel k-means with incomplete kernels, AAAI 2017.
    """

    about = About(
        family="clustering",
        problem="min over γ and H of tr(K_γ (I − HH')) + (λ/2) γ'Mγ, M the similarities of the kernels",
        solver="leading eigenvectors, a quadratic program and absent rows in turn; the objective never rises",
        cost="some leading eigenvectors and reads of the stack, P n² each",
        use="Groups without labels, where views repeat each other or samples lack views.",
        reference="Liu et al. 2016, 2017",
    )
    certificate = "stationarity"
    _fills = ("error", "absent", "mean", "complete")
    _more_time = "max_time"

    reg: float = field(default=10.0, kw_only=True)

    tol: float = field(default=1e-3, kw_only=True)

    def fit(self, X: Any, y: Any = None) -> "RegularizedMKKM":
        """Find clusters and weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : ignored, default=None
        """
        reg = check_number("reg", self.reg, at_least=0.0)
        options = Options(tol=self.tol, max_iter=self.max_iter)
        _fit(self, X, lambda problem, present: solve_regularized(problem, reg, options, present))
        return self

    def predict(self, X: Any) -> Array:
        """The cluster of the nearest centre, in the embedding of the learned kernel.

        Parameters
        ----------
        X : as for ``fit``; (n_samples, n_train, n_kernels) when precomputed

        Returns
        -------
        array of shape (n_samples,) of int
        """
        if getattr(self, "missing_", "error") == "absent":
            raise ValueError(
                "RegularizedMKKM with missing='absent' has clusters for the samples of fit only, in labels_. "
                "Use KernelBank(kernels, missing='complete') or 'mean' to predict."
            )
        return _predict(self, X)
