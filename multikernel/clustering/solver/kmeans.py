"""Kernel k-means with kernel weights (Huang, Chuang & Chen, 2012; Gönen & Margolin, 2014).

    min over partitions into k clusters and η in the simplex of   J = Σ_m η_m² a_m
    a_m = (1/s_m) (tr K_m − Σ_c (1/n_c) Σ_{i,j in c} K_m(i, j))

A sample of weight w counts as w samples at the same place, which move together:

    a_m = (1/s_m) (Σ_i w_i K_m(i, i) − Σ_c (1/n_c) Σ_{i,j in c} w_i w_j K_m(i, j)),   n_c = Σ_{i in c} w_i

a_m is the sum of the squared distances of the samples from the centres of their clusters in the feature space
of K_m / s_m. Two steps take turns, neither of which raises J:

- for given η, Hartigan's moves in the feature space of K = Σ_m η_m² K_m / s_m: a sample goes from cluster A
  to B where that lowers J, that is where d_B² n_B / (n_B + w) < d_A² n_A / (n_A − w), until none does.
  Lloyd's rule, the nearest centre, stops earlier: where the feature space is large, a sample is nearest to
  the centre that it is a part of, whatever the partition;
- for a given partition, η_m ∝ 1 / a_m, and all weight to kernels of a_m = 0.

The end is a partition that no longer changes: no single move lowers J at its weights, and they are the best
for it. The best of several starts is kept. They come from k-means++ in the feature space of equal weights.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._numba import compiled
from ..._typing import Array
from ...core.optim.loop import ENDED_EARLY, Recorder, Result
from ...core.stack.sums import weighted_sum

_NOTHING = 1e-12  # share of all spread that is none, but for rounding


@dataclass(frozen=True)
class KMeansResult(Result):
    """The best partition and its weights."""

    labels: Array  # (n,) of int, 0 … k−1 in the order of the first sample of each cluster
    eta: Array  # (m,), in the simplex


class KernelKMeans:
    """The problem of a stack of kernels (m, n, n), which is never modified and never copied.

    `scales` are the s_m > 0; the kernel weights are learned, or else equal; `weights` (n,) are those of the
    samples, ones by default.

    Examples
    --------
    >>> x = np.array([0.0, 0.1, 5.0, 5.1])
    >>> found = KernelKMeans(np.outer(x, x)[None], np.ones(1), 2).solve(n_init=3)
    >>> found.labels, round(found.objective, 6)
    (array([0, 0, 1, 1]), 0.01)
    """

    def __init__(
        self, Ks: Array, scales: Array, n_clusters: int, learn: bool = True, weights: Array | None = None
    ) -> None:
        self.Ks, self.scales, self.k, self.learn = np.asarray(Ks), scales, n_clusters, learn
        self.weights = np.ones(self.Ks.shape[1]) if weights is None else weights
        if weights is None:
            traces = np.einsum("mii->m", self.Ks, dtype=np.float64)
        else:
            traces = np.einsum("mii,i->m", self.Ks, self.weights, dtype=np.float64)
        self.traces = traces / scales

    def combine(self, eta: Array) -> Array:
        """K (n, n)."""
        return weighted_sum(self.Ks, eta**2 / self.scales)

    def spreads(self, labels: Array) -> Array:
        """a (m,), none below zero."""
        return np.maximum(
            self.traces - cluster_sums(self.Ks, labels, self.k, self.weights) / self.scales, 0.0
        )

    def best_weights(self, spreads: Array) -> Array:
        """η for given a."""
        nothing = spreads <= _NOTHING * self.traces
        return shares(nothing.astype(float) if nothing.any() else spreads.min() / spreads)

    def solve(self, n_init: int = 10, max_iter: int = 300, seed: int = 0) -> KMeansResult:
        """The best of several starts, with a maximum number of turns each."""
        equal = np.full(len(self.Ks), 1.0 / len(self.Ks))
        K, rng = self.combine(equal), np.random.default_rng(seed)
        found: list[KMeansResult] = []
        while len(found) < n_init and (not found or found[-1].status not in ENDED_EARLY):
            found.append(self._from(spread_start(K, self.k, rng, self.weights), equal, K, max_iter))
        best = min(found, key=lambda result: result.objective)
        return replace(best, status=found[-1].status) if found[-1].status in ENDED_EARLY else best

    def _from(self, labels: Array, eta: Array, K: Array, max_iter: int) -> KMeansResult:
        record = Recorder(max_iter=max_iter)
        for iteration in range(1, max_iter + 1):
            n_moves = move_samples(K, labels, self.k, self.weights)
            a = self.spreads(labels)
            settled = iteration > 1 and n_moves == 0
            eta = self.best_weights(a) if self.learn and not settled else eta
            value = float(eta**2 @ a)
            entry = {"iteration": iteration, "objective": value, "n_moves": n_moves}
            if record.note(entry, reached=settled or not self.learn):
                break
            K = self.combine(eta)
        return KMeansResult(in_order(labels), eta, objective=value, **record.outcome)


def shares(x: Array) -> Array:
    """x / Σ x."""
    return np.asarray(x / x.sum())


def in_order(labels: Array) -> Array:
    """The same partition, numbered by the first sample of each cluster.

    Examples
    --------
    >>> in_order(np.array([2, 0, 2, 1]))
    array([0, 1, 0, 2])
    """
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[codes])


def spread_start(K: Array, k: int, rng: np.random.Generator, weights: Array | None = None) -> Array:
    """A partition by the nearest of k samples, each drawn by its squared distance from those before.

    A sample of weight w is w times as likely to be drawn.

    Examples
    --------
    >>> spread_start(np.eye(3), 3, np.random.default_rng(0)).tolist() in [[0, 1, 2], [2, 1, 0], [0, 2, 1],
    ...     [1, 0, 2], [1, 2, 0], [2, 0, 1]]
    True
    """
    n, diagonal = len(K), np.diagonal(K)
    counts = np.ones(n) if weights is None else weights
    seeds = np.empty(k, int)
    distances = np.empty((n, k))
    free, nearest = np.ones(n, bool), np.ones(n)
    for c in range(k):
        chances = counts * (nearest if nearest[free].any() else 1.0)
        seeds[c] = rng.choice(n, p=shares(np.where(free, chances, 0.0)))
        free[seeds[c]] = False
        distances[:, c] = np.maximum(diagonal + diagonal[seeds[c]] - 2.0 * K[:, seeds[c]], 0.0)
        nearest = distances[:, : c + 1].min(axis=1)
    labels = distances.argmin(axis=1)
    labels[seeds] = np.arange(k)  # no cluster is empty, though two seeds may be alike
    return labels


@compiled
def cluster_sums(Ks: Array, labels: Array, k: int, weights: Array) -> Array:
    """Σ_c (1/n_c) Σ_{i,j in c} w_i w_j K_m(i, j), (m,)."""
    m, n = Ks.shape[0], labels.size
    sizes = np.zeros(k)
    for i in range(n):
        sizes[labels[i]] += weights[i]
    sums = np.zeros(m)
    for p in range(m):
        for i in range(n):
            row = Ks[p, i]
            total = 0.0
            for j in range(n):
                if labels[j] == labels[i]:
                    total += weights[j] * row[j]
            sums[p] += weights[i] * (total / sizes[labels[i]])
    return sums


@compiled
def _cluster_state(K: Array, labels: Array, k: int, weights: Array) -> Any:
    """n_c (k,), Σ_{i,j in c} w_i w_j K(i, j) (k,), and Σ_{j in c} w_j K(i, j) (k, n)."""
    n = labels.size
    sizes, norms, sums = np.zeros(k), np.zeros(k), np.zeros((k, n))
    for j in range(n):
        sizes[labels[j]] += weights[j]
        for i in range(n):
            sums[labels[j], i] += weights[j] * K[j, i]
    for i in range(n):
        norms[labels[i]] += weights[i] * sums[labels[i], i]
    return sizes, norms, sums


@compiled
def _best_cluster(i: int, own: int, self_similarity: float, weight: float, state: Any, margin: float) -> int:
    """Where sample i adds least to J: its own cluster, unless another is better by the margin."""
    sizes, counts, norms, sums = state
    if counts[own] <= 1:
        return own
    target = own
    least = self_similarity - 2.0 * sums[own, i] / sizes[own] + norms[own] / sizes[own] ** 2
    least = least * sizes[own] / (sizes[own] - weight) - margin
    for c in range(sizes.size):
        rise = self_similarity - 2.0 * sums[c, i] / sizes[c] + norms[c] / sizes[c] ** 2
        rise *= sizes[c] / (sizes[c] + weight)
        if c != own and rise < least:
            target, least = c, rise
    return target


@compiled
def move_samples(K: Array, labels: Array, k: int, weights: Array) -> int:
    """Hartigan's moves until none lowers J; ``labels`` are changed in place, the number of moves returned."""
    n = labels.size
    sizes, norms, sums = _cluster_state(K, labels, k, weights)
    counts = np.zeros(k, np.int64)
    spread = 0.0
    for i in range(n):
        spread += K[i, i]
        counts[labels[i]] += 1
    n_moves, still, i = 0, 0, 0
    while still < n and n_moves < 1000 * n:
        own = labels[i]
        target = _best_cluster(i, own, K[i, i], weights[i], (sizes, counts, norms, sums), 1e-12 * spread / n)
        still += 1
        if target != own:
            w = weights[i]
            norms[own] += w * (w * K[i, i] - 2.0 * sums[own, i])
            norms[target] += w * (w * K[i, i] + 2.0 * sums[target, i])
            sizes[own] -= w
            sizes[target] += w
            counts[own] -= 1
            counts[target] += 1
            for j in range(n):
                sums[own, j] -= w * K[i, j]
                sums[target, j] += w * K[i, j]
            labels[i] = target
            n_moves += 1
            still = 0
        i = (i + 1) % n
    return n_moves
