"""Rules without targets: what most kernels have in common.

**STATIS** (:class:`StatisRule`): the sum of the kernels whose cosines with all of them are largest,

    max_v  Σ_m ⟨Σ_l v_l Q_l, Q_m⟩²,  ‖v‖ = 1,   Q_m = K_m / ‖K_m‖   (Frobenius),

so that v is the leading eigenvector of the cosines C_ml = ⟨Q_m, Q_l⟩, and v ≥ 0, as the cosines are.

**Similarity network fusion** (:class:`SimilarityNetworkFusion`): similarities of near samples in one view are
passed along the similarities of the others. With distances ρ in the feature space of K_m / s_m,

    W(i, j) = exp(−ρ² / (σ ε_ij)),   ε_ij = (mean ρ(i, N_i) + mean ρ(j, N_j) + ρ(i, j)) / 3
    P(i, j) = W(i, j) / (2 Σ_{k≠i} W(i, k)) for j ≠ i,  ½ for j = i
    S(i, j) = W(i, j) / Σ_{k∈N_i} W(i, k) for j in N_i, else 0
    P_m ← normalized( S_m  (mean of P_l over l ≠ m)  S_m' ),  some times;   fused: the mean of P_m

N_i are the k nearest samples of i, itself not among them, and normalizing is what gives P from W.
"""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse

from .._typing import Array
from .._validation import check_flag, check_number, check_positive_integer
from .._validation.grams import smallest_eigenvalue
from ..core.neighbors import squared_distances
from ..core.optim.loop import Recorder
from ..core.stack.sums import variance_scales
from .learner import About, Learned, WeightLearner
from .targets import TASKS, Targets


@dataclass(eq=False, repr=False)
class StatisRule(WeightLearner):
    """STATIS: the consensus kernel, the weighted sum that is most alike to all kernels.

    Kernels that agree with most others get more weight; targets are not read. A kernel of noise gets less,
    unless most kernels are noise.

    Parameters
    ----------
    centered : bool, default=True
        Whether kernels are centered before they are compared.

    Attributes
    ----------
    similarities_ : array of shape (n_kernels, n_kernels)
        The cosines of the kernels.

    Examples
    --------
    >>> x = np.array([-1.0, 0.0, 1.0])
    >>> z = np.array([1.0, -2.0, 1.0])
    >>> StatisRule().fit([np.outer(x, x), 2 * np.outer(x, x), np.outer(z, z)]).kernel_shares_.round(3)
    array([0.5, 0.5, 0. ])

    References
    ----------
    Mariette & Villa-Vialaneix, Unsupervised multiple kernel learning for heterogeneous data integration,
    Bioinformatics 34, 2018 (STATIS-UMKL); L'Hermier des Plantes 1976; Lavit et al. 1994.
    """

    learns_from = TASKS
    about = About(
        family="similarity",
        problem="leading eigenvector of the cosines of the kernels",
        solver="one eigenproblem of n_kernels",
        cost="inner products of all pairs of kernels, P² n²",
        use="No targets, and kernels of which most agree.",
        reference="Lavit et al. 1994; Mariette & Villa-Vialaneix 2018",
    )

    centered: bool = True

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        check_flag("centered", self.centered)
        products = _inner_products(Ks, self.centered)
        if self.centered and Ks.shape[1] < 2:
            raise ValueError("the consensus of centered kernels needs two samples at least; got n_samples=1.")
        norms = np.sqrt(np.diagonal(products))
        self.similarities_ = products / np.outer(norms, norms)
        values, vectors = np.linalg.eigh(self.similarities_)
        v = np.abs(vectors[:, -1])  # Perron: of one sign where the cosines are not negative
        weights = v / norms
        return Learned(weights / weights.sum(), objective=float(values[-1]))


def _inner_products(Ks: Array, centered: bool) -> Array:
    """⟨K_m, K_l⟩ of all pairs, (m, m)."""
    rows = [np.asarray(K, np.float64) for K in Ks]
    if centered:
        rows = [K - K.mean(axis=0) - (K.mean(axis=1) - K.mean())[:, None] for K in rows]
    return np.array([[np.vdot(K, L) for L in rows] for K in rows])


@dataclass(eq=False, repr=False)
class SimilarityNetworkFusion(WeightLearner):
    """Similarity network fusion: similarities that are strong in one view, or supported by others.

    Not a sum of the kernels, and without weights to learn. For clusters, use ``fused_`` as the affinity of
    scikit-learn's ``SpectralClustering(affinity="precomputed")``. Targets are not read.

    Parameters
    ----------
    n_neighbors : int, default=20
        Number of near samples k; at most all others.
    n_steps : int, default=20
        Number of steps in which similarities are passed on.
    sigma : float, default=0.5
        Width of the similarities; the paper recommends 0.3 to 0.8.
    max_time : float or None, default=None
        Maximum time of the steps in seconds; None for no limit.

    Attributes
    ----------
    fused_ : array of shape (n_samples, n_samples)
        The fused similarities, symmetric.
    shift_ : float
        Added to the diagonal of the training kernel so that it is positive semidefinite.

    Examples
    --------
    >>> x = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2])
    >>> K = np.exp(-((x[:, None] - x) ** 2))
    >>> fused = SimilarityNetworkFusion(n_neighbors=2).fit([K, K]).fused_
    >>> bool(fused[0, 1] > 100 * fused[0, 4])
    True

    Notes
    -----
    Kernels are scaled to variance 1, as the similarities are not free of the unit of the distances. The fused
    similarities are those of the training samples. For a new sample, the last step is applied to its own near
    samples, with the mean self-similarity of the training samples as its own (exact for Gaussian kernels and
    cosines). This is our extension; the paper has none for the kernel.

    References
    ----------
    Wang et al., Similarity network fusion for aggregating data types on a genomic scale, Nature Methods 11,
    2014.
    """

    learns_from = TASKS
    is_linear = False
    certificate = "optimality"
    about = About(
        family="nonlinear",
        problem="similarities of near samples, passed along those of the other kernels",
        solver="n_steps products with a sparse matrix a kernel",
        cost="P n² n_neighbors a step",
        use="Clusters of samples that different views show in part.",
        reference="Wang et al. 2014",
    )

    _: KW_ONLY
    n_neighbors: int = 20
    n_steps: int = 20
    sigma: float = 0.5
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        k = min(check_positive_integer("n_neighbors", self.n_neighbors), Ks.shape[1] - 1)
        n_steps = check_positive_integer("n_steps", self.n_steps)
        sigma = check_number("sigma", self.sigma, above=0.0)
        self._scales = variance_scales(Ks, self.view_names_)
        self._diagonals = np.array([np.diagonal(K) for K in Ks], np.float64) / self._scales[:, None]
        W, S, self._near = _networks(Ks, self._scales, k, sigma)
        P = np.array([_normalized(w) for w in W])
        record = Recorder(max_iter=n_steps)
        for step in range(1, n_steps + 1):
            before = P
            P = np.array(
                [_normalized(_times_transposed(S[m] @ _others(before, m), S[m])) for m in range(len(P))]
            )
            change = float(np.abs(P - before).max())
            if record.note({"iteration": step, "objective": change}, reached=step == n_steps):
                break
        self._last = np.array([_times_transposed(_others(before, m), S[m]) for m in range(len(P))])
        fused = P.mean(axis=0)
        self.fused_ = 0.5 * (fused + fused.T)
        self.shift_ = max(0.0, -smallest_eigenvalue(self.fused_))
        m = len(Ks)
        return Learned(
            np.full(m, 1.0 / m), n_iter=record.n_iter, status=record.status, history=record.history
        )

    def combine_training(self, Ks: Array) -> Array:
        """The fused similarities, with a diagonal that makes them positive semidefinite."""
        K = self.fused_.copy()
        K[np.diag_indices(len(K))] += self.shift_
        return K

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The last step for new samples."""
        k = min(self.n_neighbors, self.n_train_ - 1)
        total, count = None, 0
        for m, K in kernels:
            diagonal = self._diagonals[m]
            squares = diagonal.mean() + diagonal - 2.0 * np.asarray(K, np.float64) / self._scales[m]
            rho = np.sqrt(np.maximum(squares, 0.0))
            nearest = np.argsort(rho, axis=1, kind="stable")[:, :k]
            mean = np.take_along_axis(rho, nearest, axis=1).mean(axis=1)
            W = _similarities(rho, mean, self._near[m], self.sigma)
            rows = _near_shares(W, nearest) @ self._last[m]
            rows /= np.maximum(2.0 * rows.sum(axis=1, keepdims=True), 1e-300)
            total, count = rows if total is None else total + rows, count + 1
        assert total is not None, "no kernel is active"
        return np.asarray(total / count)


def _networks(Ks: Array, scales: Array, k: int, sigma: float) -> tuple[list[Array], list[Any], Array]:
    """W and S of each kernel, and the mean distance of each sample to its near ones (m, n)."""
    W, S, means = [], [], []
    for K, s in zip(Ks, scales, strict=True):
        rho = np.sqrt(np.maximum(squared_distances(np.asarray(K, np.float64) / s), 0.0))
        away = rho + np.diag(np.full(len(rho), np.inf))
        nearest = np.argsort(away, axis=1, kind="stable")[:, :k]
        means.append(np.take_along_axis(rho, nearest, axis=1).mean(axis=1))
        W.append(_similarities(rho, means[-1], means[-1], sigma))
        S.append(scipy.sparse.csr_matrix(_near_shares(W[-1], nearest)))
    return W, S, np.array(means)


def _times_transposed(M: Array, S: Any) -> Array:
    """M S' for a sparse S."""
    return np.asarray((S @ M.T).T)


def _similarities(rho: Array, own: Array, others: Array, sigma: float) -> Array:
    """exp(−ρ² / (σ ε)), ε the mean of ρ and of the mean distances to near samples; 1 where ε is 0."""
    epsilon = (own[:, None] + others + rho) / 3.0
    ratios = np.divide(rho * rho, sigma * epsilon, out=np.zeros_like(rho), where=epsilon > 0.0)
    return np.exp(-ratios)


def _near_shares(W: Array, nearest: Array) -> Array:
    """S: W at the nearest samples of each row, of sum 1."""
    S = np.zeros_like(W)
    np.put_along_axis(S, nearest, np.take_along_axis(W, nearest, axis=1), axis=1)
    return np.asarray(S / np.maximum(S.sum(axis=1, keepdims=True), 1e-300))


def _normalized(W: Array) -> Array:
    """P: ½ on the diagonal, and rows of sum ½ beside it."""
    P = W - np.diag(np.diagonal(W))
    P /= np.maximum(2.0 * P.sum(axis=1, keepdims=True), 1e-300)
    P[np.diag_indices(len(P))] = 0.5
    return np.asarray(P)


def _others(P: Array, m: int) -> Array:
    """The mean of P over all kernels but m; of one kernel, its own."""
    return P[m] if len(P) == 1 else np.asarray((P.sum(axis=0) - P[m]) / (len(P) - 1))
