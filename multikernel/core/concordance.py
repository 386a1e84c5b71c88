"""Harrell's C: how well risk scores put censored samples in order, in O(n log n).

A pair (i, j) is comparable if i has an event, and j is known to live longer: t_i < t_j, or t_i = t_j and j is
censored. With entry times, j is also under observation at t_i: entry_j < t_i. C is the share of comparable
pairs with risk_i > risk_j; equal risks count one half. Two events at the same time are not comparable.

Times are passed from the last to the first, while a Fenwick tree over the ranks of the risks holds the
weights of the samples that an event at this time is compared with.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numba import compiled
from .._typing import Array
from .._validation import check_number
from .survival_targets import SurvivalTarget, as_survival, check_risk

TIED = 1e-8  # risks that differ by no more are equal, as in scikit-survival


@dataclass(frozen=True)
class Concordance:
    """Weights of the comparable pairs: their numbers, where no weights are given.

    Attributes
    ----------
    concordant, discordant, tied_risk : float
        Pairs where the sample with the earlier event has the higher, the lower, the same risk.
    tied_time : float
        Those of them whose times are equal.
    """

    concordant: float
    discordant: float
    tied_risk: float
    tied_time: float

    @property
    def comparable(self) -> float:
        """All pairs that can be compared."""
        return self.concordant + self.discordant + self.tied_risk

    @property
    def index(self) -> float:
        """(concordant + ½ tied_risk) / comparable."""
        if not self.comparable > 0.0:
            raise ValueError(
                "the concordance index needs a pair of samples that can be compared: an event, and a sample "
                "that is known to live longer. Use more samples, or folds stratified on the event."
            )
        return (self.concordant + 0.5 * self.tied_risk) / self.comparable


def concordance_index(y: Any, risk: Any, *, sample_weight: Any = None, tied_tol: float = TIED) -> float:
    """Harrell's C of risk scores: the share of comparable pairs that they put in the right order.

    0.5 is chance, 1.0 a perfect order. The order is all that counts: scores that predict the time have C
    below 0.5, and their negative above. C depends on the censoring; :func:`concordance_index_ipcw` does not.

    Parameters
    ----------
    y : target of a survival model
        See ``as_survival``; entry times, if there are any, count.
    risk : array-like of shape (n_samples,)
        Higher is earlier, as ``predict`` of a survival model returns it.
    sample_weight : array-like of shape (n_samples,), default=None
        A pair has the product of the weights of its samples.
    tied_tol : float, default=1e-8
        Risks that differ by no more are equal.

    Returns
    -------
    float

    Examples
    --------
    >>> y = as_survival(([True, False, True], [1.0, 2.0, 3.0]))
    >>> concordance_index(y, [2.0, 1.0, 2.0])  # 1 before 2: right; 1 before 3: equal risks
    0.75
    """
    return concordance(y, risk, sample_weight=sample_weight, tied_tol=tied_tol).index


def concordance(y: Any, risk: Any, *, sample_weight: Any = None, tied_tol: float = TIED) -> Concordance:
    """The comparable pairs of samples by the order of their risks; parameters of `concordance_index`."""
    target = as_survival(y)
    scores = check_risk(risk, len(target))
    weights = None if sample_weight is None else check_weights(sample_weight, len(target))
    tol = check_number("tied_tol", tied_tol, at_least=0.0)
    return weighted_concordance(target, scores, weights, weights, tied_tol=tol)


def check_weights(sample_weight: Any, n: int) -> Array:
    """Nonnegative finite weights (n,)."""
    weights = check_risk(sample_weight, n, "sample_weight")
    if weights.size and weights.min() < 0.0:
        raise ValueError(
            f"sample_weight must not be negative; entry {weights.argmin()} is {weights.min():g}."
        )
    return weights


def weighted_concordance(
    target: SurvivalTarget,
    risk: Array,
    first: Array | None = None,
    second: Array | None = None,
    *,
    tied_tol: float = TIED,
) -> Concordance:
    """The pairs (i, j) with the weight first_i · second_j, where i has the event; weights of 1 by default."""
    ones = np.ones(len(target))
    data, _ = _sorted(
        target, risk, ones if first is None else first, ones if second is None else second, tied_tol
    )
    credit = np.zeros((2, len(target)))
    return Concordance(*(float(x) for x in _count(*data, credit[0], credit[1])))


def concordance_influence(
    target: SurvivalTarget, risk: Array, weights: Array | None = None, *, tied_tol: float = TIED
) -> tuple[float, Array]:
    """C, and the derivative of it by the weight of each sample, times this weight (n,).

    The sum of squares of these is the infinitesimal jackknife's variance of C; for two scores of the same
    samples, that of the differences is the variance of the difference of both C.
    """
    w = np.ones(len(target)) if weights is None else weights
    data, order = _sorted(target, risk, w, w, tied_tol)
    credit = np.zeros((2, len(target)))
    found = Concordance(*_count(*data, credit[0], credit[1]))
    _count_reverse(*data, credit[0], credit[1])
    influence = np.empty(len(target))
    influence[order] = (credit[0] - found.index * credit[1]) / found.comparable
    return found.index, influence


def _sorted(
    target: SurvivalTarget, risk: Array, first: Array, second: Array, tied_tol: float
) -> tuple[tuple[Any, ...], Array]:
    """What the loops read, samples by time; and the samples in this order."""
    order = np.argsort(target.time, kind="stable")
    ranks, none = np.unique(risk), np.zeros(0)
    leaving = none.astype(np.intp)
    if target.entry is not None:
        leaving = np.argsort(-target.entry[order], kind="stable")
    data = (
        target.time[order],
        target.event[order],
        np.searchsorted(ranks, risk[order]),
        np.searchsorted(ranks, risk[order] - tied_tol, side="left"),
        np.searchsorted(ranks, risk[order] + tied_tol, side="right"),
        first[order],
        second[order],
        none if target.entry is None else target.entry[order][leaving],
        leaving,
        int(ranks.size),
    )
    return data, order


@compiled
def _add(tree: Array, rank: int, weight: float) -> None:
    place = rank + 1
    while place < tree.size:
        tree[place] += weight
        place += place & -place


@compiled
def _below(tree: Array, rank: int) -> float:
    """The weight of all ranks below."""
    total, place = 0.0, rank
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@compiled
def _count(
    time: Array,
    event: Array,
    rank: Array,
    low: Array,
    high: Array,
    first: Array,
    second: Array,
    entry: Array,
    leaving: Array,
    n_ranks: int,
    credit: Array,
    pairs: Array,
) -> tuple[float, float, float, float]:
    """Sums over pairs, samples by time; ``entry`` descends, and ``leaving`` are the samples that have it.

    Each event has its part added to ``credit`` (concordant, and one half of the ties) and ``pairs``.
    """
    tree = np.zeros(n_ranks + 1)
    concordant = discordant = tied = tied_time = 0.0
    left, end = 0, time.size
    while end > 0:
        start = end - 1
        while start > 0 and time[start - 1] == time[end - 1]:
            start -= 1
        censored_now = 0.0
        for j in range(start, end):
            if not event[j]:
                _add(tree, rank[j], second[j])
                censored_now += second[j]
        while left < entry.size and entry[left] >= time[start]:
            j = leaving[left]
            _add(tree, rank[j], -second[j])
            left += 1
        total = _below(tree, n_ranks)
        for i in range(start, end):
            if event[i]:
                less, up_to = _below(tree, low[i]), _below(tree, high[i])
                concordant += first[i] * less
                tied += first[i] * (up_to - less)
                discordant += first[i] * (total - up_to)
                tied_time += first[i] * censored_now
                credit[i] += first[i] * 0.5 * (less + up_to)
                pairs[i] += first[i] * total
        for j in range(start, end):
            if event[j]:
                _add(tree, rank[j], second[j])
        end = start
    return concordant, discordant, tied, tied_time


@compiled
def _count_reverse(
    time: Array,
    event: Array,
    rank: Array,
    low: Array,
    high: Array,
    first: Array,
    second: Array,
    entry: Array,
    leaving: Array,
    n_ranks: int,
    credit: Array,
    pairs: Array,
) -> None:
    """Each sample's part, added as that of the later sample of its pairs; arguments as of :func:`_count`."""
    tree = np.zeros(n_ranks + 1)
    entering, start, n = entry.size, 0, time.size
    while start < n:
        end = start + 1
        while end < n and time[end] == time[start]:
            end += 1
        while entering > 0 and entry[entering - 1] < time[start]:  # events before its entry do not count
            entering -= 1
            _add_pairs(tree, leaving[entering], -1.0, low, high, second, credit, pairs)
        for j in range(start, end):
            if event[j]:
                _add_pairs(tree, j, 1.0, low, high, second, credit, pairs)
        for i in range(start, end):
            if event[i]:
                _add(tree, rank[i], first[i])
        for j in range(start, end):
            if not event[j]:
                _add_pairs(tree, j, 1.0, low, high, second, credit, pairs)
        start = end


@compiled
def _add_pairs(
    tree: Array, j: int, sign: float, low: Array, high: Array, second: Array, credit: Array, pairs: Array
) -> None:
    """Add the pairs of sample j with the earlier events in the tree: higher risks, and half of the ties."""
    total = _below(tree, tree.size - 1)
    less, up_to = _below(tree, low[j]), _below(tree, high[j])
    credit[j] += sign * second[j] * (total - 0.5 * (less + up_to))
    pairs[j] += sign * second[j] * total
