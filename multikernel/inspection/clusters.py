"""How many clusters are there? Eigenvalues of the graph of near samples, and stability over subsamples."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._typing import Array
from .._validation import check_number, check_positive_integer
from ..clustering.base import KernelClustering, scales_of
from ..clustering.solver.count import gaps, graph_spectrum
from ..core.folds import random_source
from ..core.inputs import all_samples
from ..core.stack.sums import weighted_sum
from ..views import KernelWarning
from ..views.stacks import as_stack
from ..views.tables import as_tables
from ..viz import results as pictures
from ..viz.fitted import plain_tree
from .found import FoundTable

_TOGETHER, _APART = 0.9, 0.1  # shares of subsamples beyond which a pair of samples is not ambiguous


@dataclass(frozen=True, eq=False)
class ClusterStability(FoundTable):
    """How alike clusters of subsamples are, for each number of clusters.

    Attributes
    ----------
    table : DataFrame
        A row for each number of clusters: ``stability``, the mean adjusted Rand index of two subsamples on
        the samples that both have; ``std`` of it; ``ambiguous``, the share of pairs of samples that are in
        one cluster in more than 10 and less than 90 percent of the subsamples that have both.
    consensus : dict of number of clusters -> array of shape (n_samples, n_samples)
        The share of subsamples with both samples that put them into one cluster; nan where there is none.
    n_subsamples : int
    share : float
    best : int
        The number of clusters with the largest stability.
    answer : str
        What was found, in a sentence.
    """

    table: pd.DataFrame = field(repr=False)
    consensus: dict[int, Array] = field(repr=False)
    n_subsamples: int
    share: float

    _picture = staticmethod(pictures.cluster_stability)

    @property
    def best(self) -> int:
        """The number of clusters with the largest stability; of equal ones the larger."""
        stability = self.table["stability"]
        return int(stability.index[stability >= stability.max() - 1e-9].max())

    @property
    def answer(self) -> str:
        """What was found, in a sentence."""
        row = self.table.loc[self.best]
        return (
            f"{self.best} clusters are the most stable: two of {self.n_subsamples} subsamples of "
            f"{self.share:.0%} agree with an adjusted Rand index of {row['stability']:.2f} ± "
            f"{row['std']:.2f}, and {row['ambiguous']:.0%} of the pairs of samples are ambiguous."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it but the consensus as plain numbers and texts, which JSON can hold.

        Returns
        -------
        dict
            ``best``, ``n_subsamples``, ``share``, ``answer``, and ``rows``, a dict for each number.
        """
        own = {name: getattr(self, name) for name in ("best", "n_subsamples", "share", "answer")}
        return plain_tree({**own, "rows": self.table.reset_index().to_dict("records")})


def cluster_stability(
    model: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] = range(2, 9),
    n_subsamples: int = 20,
    share: float = 0.8,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ClusterStability:
    """Judge numbers of clusters by how alike the clusters of subsamples are.

    The model is fitted to random parts of the samples. Where the number of clusters fits the data, two parts
    lead to the same clusters; where it does not, chance decides what is split or merged. Few clusters can be
    stable although there are more: look at the whole curve, and at ``ambiguous``.

    Parameters
    ----------
    model : estimator of multikernel.clustering, which is not changed
    X : as for its ``fit``
    n_clusters : iterable of int, default=range(2, 9)
    n_subsamples : int, default=20
        At least 2.
    share : float in (0, 1), default=0.8
        Size of a subsample, as a share of the samples.
    random_state : int or RandomState, default=None
        Draws the subsamples; None always means the same ones.
    n_jobs : int, default=None
        Fits at a time.

    Returns
    -------
    ClusterStability

    References
    ----------
    Ben-Hur, Elisseeff & Guyon, A stability based method for discovering structure in clustered data, Pacific
    Symposium on Biocomputing, 2002; Monti, Tamayo, Mesirov & Golub, Consensus clustering, Machine Learning
    52, 2003; Șenbabaoğlu, Michailidis & Li, Critical limitations of consensus clustering in class discovery,
    Scientific Reports 4, 2014 (ambiguous pairs).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from multikernel.clustering import MultipleKernelKMeans
    >>> from multikernel.inspection import cluster_stability
    >>> from multikernel.kernels import Gaussian
    >>> X, _ = make_blobs(60, centers=3, random_state=0, cluster_std=0.4)
    >>> found = cluster_stability(MultipleKernelKMeans(Gaussian()), X, n_clusters=[2, 3, 4], n_subsamples=5)
    >>> found.best
    3
    """
    _require_clustering(model)
    if not isinstance(n_clusters, Iterable) or isinstance(n_clusters, str):
        raise TypeError(f"n_clusters must be a list of numbers, such as range(2, 9); got {n_clusters!r}.")
    numbers = [check_positive_integer("n_clusters", number) for number in n_clusters]
    if not numbers or min(numbers) < 2:
        raise ValueError(f"n_clusters must be numbers of 2 at least; got {numbers}.")
    if check_positive_integer("n_subsamples", n_subsamples) < 2:
        raise ValueError(f"n_subsamples must be at least 2, for pairs of them; got {n_subsamples}.")
    if check_number("share", share, above=0.0) >= 1.0:
        raise ValueError(f"share must be less than 1; got {share}.")
    X = as_stack(X, at_fit=True) if model._precomputed else as_tables(X)
    n, random = _num_samples(X), random_source(random_state)
    size = int(share * n)
    if size < max(numbers):
        raise ValueError(
            f"{max(numbers)} clusters need as many samples; subsamples have {size}. Raise share."
        )
    parts = [np.sort(random.permutation(n)[:size]) for _ in range(n_subsamples)]
    jobs = [(number, rows) for number in numbers for rows in parts]
    labels = Parallel(n_jobs=n_jobs)(delayed(_labels)(model, X, number, rows) for number, rows in jobs)
    rows_of, consensus = {}, {}
    for place, number in enumerate(numbers):
        own = labels[place * n_subsamples : (place + 1) * n_subsamples]
        rows_of[number], consensus[number] = _agreement(own, parts, n)
    table = pd.DataFrame.from_dict(rows_of, orient="index", columns=["stability", "std", "ambiguous"])
    return ClusterStability(table.rename_axis("n_clusters"), consensus, n_subsamples, float(share))


def eigengap(model: Any, X: Any, *, max_clusters: int = 10) -> pd.DataFrame:
    r"""Eigenvalues of the graph of near samples, and the gaps by which ``n_clusters="auto"`` decides.

    A graph of k parts that do not touch has k eigenvalues of 1. Near samples are those among the 20 nearest
    in the feature space of the mean of the scaled kernels, with the local scale of the 7th neighbor.

    Parameters
    ----------
    model : estimator of multikernel.clustering
        Its kernels are taken; it is not changed.
    X : as for its ``fit``
    max_clusters : int, default=10

    Returns
    -------
    DataFrame
        Indexed by the number of clusters k, from 1: ``eigenvalue``, :math:`\lambda_k`, and ``gap``,
        :math:`(\lambda_k - \lambda_{k+1}) / (1 - \lambda_{k+1} + 0.01)`. "auto" takes the number from 2 on
        with the largest gap.

    References
    ----------
    von Luxburg, A tutorial on spectral clustering, Statistics and Computing 17, 2007; Zelnik-Manor & Perona,
    Self-tuning spectral clustering, NIPS 17, 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from multikernel.clustering import MultipleKernelKMeans
    >>> from multikernel.inspection import eigengap
    >>> from multikernel.kernels import Gaussian
    >>> X, _ = make_blobs(60, centers=3, random_state=0, cluster_std=0.4)
    >>> eigengap(MultipleKernelKMeans(Gaussian()), X)["gap"].iloc[1:].idxmax()
    3
    """
    _require_clustering(model)
    model = clone(model)
    X = model._validate_table(X, reset=True)
    n = _num_samples(X)
    count = min(check_positive_integer("max_clusters", max_clusters), n - 1)
    Ks = model._fit_grams(X, all_samples(np.ones(n)))
    K = weighted_sum(Ks, 1.0 / (len(Ks) * scales_of(Ks, model.view_names_, None)))
    values = graph_spectrum(K, count + 1)
    index = pd.RangeIndex(1, count + 1, name="n_clusters")
    return pd.DataFrame({"eigenvalue": values[:-1], "gap": gaps(values)}, index=index)


def _require_clustering(model: Any) -> None:
    if not isinstance(model, KernelClustering):
        raise TypeError(
            f"model must be an estimator of multikernel.clustering; got {type(model).__name__}. Use "
            "MultipleKernelKMeans(kernels), for example."
        )


def _labels(model: Any, X: Any, n_clusters: int, rows: Array) -> Array:
    if model._precomputed:
        X = np.asarray(X)
        part = X[np.ix_(rows, rows)]
    else:
        part = _safe_indexing(X, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", KernelWarning)
        return np.asarray(clone(model).set_params(n_clusters=n_clusters).fit(part).labels_)


def _agreement(labels: list[Array], parts: list[Array], n: int) -> tuple[list[float], Array]:
    """Mean and deviation of the adjusted Rand index, the share of ambiguous pairs, and the consensus."""
    together, both = np.zeros((n, n)), np.zeros((n, n))
    placed = []
    for own, rows in zip(labels, parts, strict=True):
        full = np.full(n, -1)
        full[rows] = own
        placed.append(full)
        both[np.ix_(rows, rows)] += 1.0
        together[np.ix_(rows, rows)] += own[:, None] == own
    scores = []
    for a, b in combinations(placed, 2):
        shared = (a >= 0) & (b >= 0)
        if np.count_nonzero(shared) > 1:
            scores.append(adjusted_rand_score(a[shared], b[shared]))
    consensus = np.divide(together, both, out=np.full((n, n), np.nan), where=both > 0.0)
    pairs = consensus[np.triu_indices(n, 1)]
    pairs = pairs[np.isfinite(pairs)]
    ambiguous = float(np.mean((pairs > _APART) & (pairs < _TOGETHER))) if pairs.size else np.nan
    return [float(np.mean(scores)), float(np.std(scores)), ambiguous], consensus
