r"""The squared hinge over pairs of samples that can be compared, in O(n log n) a pass.

    L(u) = C (Σ_i w_i / Σ_{(i, j)} w_i w_j) Σ_{(i, j)} w_i w_j ½ [1 − (u_i − u_j)]₊²

over the pairs where i has an event and j is known to live longer: t_i < t_j, or t_i = t_j and j censored. The
factor makes the sum a mean over the pairs, times the number of samples, so that C means the same for any
share of censored samples.

A pair counts while u_j > u_i − 1. Samples are passed in the order of time, those on one side of the pairs
are added to a Fenwick tree by the rank of their score, and those on the other ask it for the sum over the
scores that count. The Hessian is the Laplacian of the graph of these pairs: its products take such passes,
too, and it is never formed.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from ..._numba import kept_njit
from ..._typing import Array
from ...core.svm.smooth import Curvature, SmoothLoss
from .cox import Chain, chain_of


@kept_njit(nogil=True, error_model="numpy")
def _add(tree: Array, place: int, values: Array) -> None:  # pragma: no cover (compiled)
    place += 1
    while place < tree.shape[0]:
        for c in range(values.size):
            tree[place, c] += values[c]
        place += place & -place


@kept_njit(nogil=True, error_model="numpy")
def _sum(tree: Array, count: int, out: Array) -> None:  # pragma: no cover (compiled)
    """The sum over the first ``count`` places."""
    out[:] = 0.0
    while count > 0:
        for c in range(out.size):
            out[c] += tree[count, c]
        count -= count & -count


@kept_njit(nogil=True, error_model="numpy")
def _pair_sums(
    V: Array,
    order: Array,
    first: Array,
    n_dead: Array,
    rank: Array,
    low: Array,
    high: Array,
    of_earlier: Array,
    of_later: Array,
) -> None:  # pragma: no cover (compiled)
    """Sums of V over the partners of each sample, as the earlier and as the later one of a pair.

    ``low``: partners of an earlier sample have at least this rank; ``high``: those of a later one a rank
    below it.
    """
    n, k = V.shape
    tree = np.zeros((n + 1, k))
    for g in range(n_dead.size - 1, -1, -1):
        split = first[g] + n_dead[g]
        for p in range(split, first[g + 1]):
            _add(tree, n - 1 - rank[order[p]], V[order[p]])
        for p in range(first[g], split):
            _sum(tree, n - low[order[p]], of_earlier[order[p]])
        for p in range(first[g], split):
            _add(tree, n - 1 - rank[order[p]], V[order[p]])
    tree[:] = 0.0
    for g in range(n_dead.size):
        split = first[g] + n_dead[g]
        for p in range(first[g], split):
            _sum(tree, high[order[p]], of_later[order[p]])
        for p in range(first[g], split):
            _add(tree, rank[order[p]], V[order[p]])
        for p in range(split, first[g + 1]):
            _sum(tree, high[order[p]], of_later[order[p]])


class Pairs:
    """The pairs that count at some scores u."""

    def __init__(self, chain: Chain, u: Array) -> None:
        n, by_score = u.size, np.argsort(u, kind="stable")
        self.chain = chain
        self.rank = np.empty(n, np.intp)
        self.rank[by_score] = np.arange(n)
        # pairs count by the ranks alone, so that both sides agree whatever rounding does to u − 1
        low = np.searchsorted(u[by_score], u[by_score] - 1.0, side="right")
        self.low = low[self.rank]
        self.high = np.searchsorted(low, self.rank, side="right")

    def sums(self, V: Array) -> tuple[Array, Array]:
        """Σ V over the partners of each sample (n, k): where it is the earlier one, and the later one."""
        of_earlier, of_later = np.zeros(V.shape), np.zeros(V.shape)
        order, first, n_dead, _ = self.chain
        V = np.ascontiguousarray(V, float)
        _pair_sums(V, order, first, n_dead, self.rank, self.low, self.high, of_earlier, of_later)
        return of_earlier, of_later


@dataclass(frozen=True, eq=False)
class PairCurvature(Curvature):
    """The Laplacian of the pairs that count."""

    pairs: Pairs
    w: Array  # (n,)
    scale: float
    degrees: Array  # (n,), the weight of the partners of each sample

    def product(self, X: Array) -> Array:
        earlier, later = self.pairs.sums(self.w[:, None] * X)
        return np.asarray((self.scale * self.w)[:, None] * (self.degrees[:, None] * X - earlier - later))


@dataclass(frozen=True, eq=False)
class RankingLoss(SmoothLoss):
    """See the module. Arrays have one entry for each sample.

    Examples
    --------
    >>> loss = RankingLoss(np.array([1.0, 2.0, 3.0]), np.array([True, True, False]), 1.0)
    >>> loss.value(np.zeros(3)), loss.gradient(np.zeros(3)).tolist()
    (1.5, [-2.0, 0.0, 2.0])
    """

    time: Array
    event: Array
    C: float
    weights: Array | None = None

    has_intercept = False
    has_root = False

    @property
    def n(self) -> int:
        return int(self.time.size)

    @cached_property
    def _w(self) -> Array:
        return np.ones(self.n) if self.weights is None else self.weights

    @cached_property
    def _chain(self) -> Chain:
        return chain_of(self.time, self.event, None)

    @cached_property
    def _partners(self) -> Array:
        """The weight of all partners of each sample."""
        earlier, later = Pairs(self._chain, np.zeros(self.n)).sums(self._w[:, None])
        return np.asarray((earlier + later)[:, 0])

    @property
    def total_pairs(self) -> float:
        """The weight of all pairs."""
        return 0.5 * float(self._w @ self._partners)

    @cached_property
    def _scale(self) -> float:
        return self.C * float(self._w.sum()) / self.total_pairs

    @property
    def largest_dual(self) -> float:
        return self._scale * float((self._w * self._partners).max())

    def rescaled(self, kernel_scale: float, target_scale: float) -> Self:
        return replace(self, C=self.C * kernel_scale)

    def _sums(self, u: Array) -> tuple[Array, Array]:
        return Pairs(self._chain, u).sums(self._w[:, None] * np.column_stack([np.ones(self.n), u, u * u]))

    def value(self, u: Array) -> float:
        u = u - u.mean()  # differences are all that counts
        earlier, _ = self._sums(u)
        short = 1.0 - u
        squares = short * short * earlier[:, 0] + 2.0 * short * earlier[:, 1] + earlier[:, 2]
        return 0.5 * self._scale * float(self._w @ squares)

    def gradient(self, u: Array) -> Array:
        u = u - u.mean()
        earlier, later = self._sums(u)
        slopes = (1.0 + u) * later[:, 0] - later[:, 1] - (1.0 - u) * earlier[:, 0] - earlier[:, 1]
        return np.asarray(self._scale * self._w * slopes)

    def curvature(self, u: Array) -> PairCurvature:
        pairs = Pairs(self._chain, u)
        earlier, later = pairs.sums(self._w[:, None])
        return PairCurvature(pairs, self._w, self._scale, (earlier + later)[:, 0])
