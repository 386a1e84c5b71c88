"""Stability selection of views on complementary pairs of half samples, and its bounds on false selections."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.optimize import minimize_scalar

from ..._typing import Array

R_CONCAVE, UNIMODAL, WORST = BOUNDS = ("r_concave", "unimodal", "worst")
_FLATTEST, _STEEPEST = 1e6, 1e-9  # of the offsets a, which are uniform and a single atom to rounding
_N_HALVINGS = 70
_GRID = 17  # offsets that are tried for each support, before the best is refined


def expected_false(n_views: int, n_chosen: float, threshold: float, n_pairs: int, bound: str) -> float:
    """Bound on the expected number of selected views that half samples choose no more often than by chance.

    With M views, of which a half sample chooses q on average, and a view selected that at least the share τ
    of the 2B half samples choose, at most

    - "worst": q² / ((2τ − 1) M), whatever the distribution of that share, from Meinshausen and Bühlmann
      (2010) and theorem 1 of Shah and Samworth (2013);
    - "unimodal": q² / (c M), if the distribution of the share of the pairs is unimodal for those views, with
      c = 2 (2τ − 1 − 1/(2B)) for τ ≤ ¾ and (1 + 1/B) / (4 (1 − τ + 1/(2B))) above, theorem 2;
    - "r_concave": M min(D(q²/M², 2τ − 1, B, −½), D(q/M, τ, 2B, −¼)) of their section 3.3, if the share of
      the pairs of which both halves choose the view has a −½-concave distribution, and the share of the
      halves a −¼-concave one. D(η, t, n, r) is the largest P(X ≥ t) of an r-concave X on {0, 1/n, …, 1} with
      mean at most η.

    Examples
    --------
    >>> expected_false(100, 5.0, 0.75, 50, "worst")
    0.5
    >>> round(expected_false(100, 5.0, 0.75, 50, "unimodal"), 3)
    0.255
    >>> round(expected_false(100, 5.0, 0.75, 50, "r_concave"), 3)
    0.065
    """
    share = n_chosen / n_views
    worst = n_chosen * share / (2.0 * threshold - 1.0)
    if bound == WORST or share > 1.0 / np.sqrt(3.0):  # the theorem holds up to this share
        return float(worst)
    limit = _unimodal(n_chosen, share, threshold, n_pairs, worst)
    if bound == UNIMODAL:
        return limit
    both = largest_tail(n_pairs * share * share, n_pairs, _least_count(2.0 * threshold - 1.0, n_pairs), -0.5)
    each = largest_tail(2 * n_pairs * share, 2 * n_pairs, _least_count(threshold, 2 * n_pairs), -0.25)
    return float(min(n_views * min(both, each), limit))


def _unimodal(n_chosen: float, share: float, threshold: float, n_pairs: int, worst: float) -> float:
    half = 1.0 / (2.0 * n_pairs)
    if threshold <= 0.5 + min(share * share, half + 0.75 * share * share):
        return float(worst)
    if threshold <= 0.75:
        constant = 2.0 * (2.0 * threshold - 1.0 - half)
    else:
        constant = (1.0 + 1.0 / n_pairs) / (4.0 * (1.0 - threshold + half))
    return float(min(n_chosen * share / constant, worst))


def _least_count(share: float, n: int) -> int:
    """The least count of n that is at least this share."""
    return int(np.ceil(share * n - 1e-9))


# ------------------------------------------------------------------ r-concave distributions
@lru_cache(maxsize=256)
def largest_tail(mean: float, n: int, t: int, r: float) -> float:
    """The largest P(X ≥ t) of an r-concave X on 0, 1, …, n with this mean at most, r < 0.

    f is r-concave if f^r is convex. The largest tail is that of f(i) ∝ (a + i)^(1/r) on 0, …, k with an atom
    at k + 1 that gives it the mean, for the best a > 0 and k ≥ t − 1; Shah and Samworth (2013), appendix.

    Examples
    --------
    >>> round(largest_tail(1.0, 10, 5, -0.5), 4)
    0.0655
    >>> largest_tail(4.0, 10, 5, -0.5)
    1.0
    """
    if t <= 0 or t < np.ceil(2.0 * mean) + 1:  # a uniform distribution has as much mean: no bound is known
        return 1.0
    if mean <= 0.0:
        return 0.0
    offsets = _offsets(mean, n, r)  # of the supports 0..k without an atom, by k
    powers = 1.0 / r
    ends = [(offsets[k + 1], offsets[k], k) for k in range(t - 1, n)]

    def tail(a: float, k: int) -> float:
        places = np.arange(k + 1.0)
        weights = (a + places) ** powers
        below = float(weights[:t].sum() / ((k + 1.0 - places) * weights).sum())
        return 1.0 - (k + 1.0 - mean) * below

    tried = [
        max(tail(a, k) for a in np.geomspace(low, high, _GRID)) if high > low else tail(low, k)
        for low, high, k in ends
    ]
    whole = (offsets[n] + np.arange(n + 1.0)) ** powers
    best = max([*tried, float(whole[t:].sum() / whole.sum())])
    for place in np.argsort(tried)[-3:]:
        low, high, k = ends[place]
        if high > low:
            found = minimize_scalar(lambda a, k=k: -tail(a, k), bounds=(low, high), method="bounded")
            best = max(best, -float(found.fun))
    return float(np.clip(best, 0.0, 1.0))


def _offsets(mean: float, n: int, r: float) -> Array:
    """For each k, the a at which f(i) ∝ (a + i)^(1/r) on 0, …, k has the mean; very large where none has."""
    places = np.arange(n + 1.0)
    allowed = places <= np.arange(n + 1.0)[:, None]
    low, high = np.full(n + 1, np.log(_STEEPEST)), np.full(n + 1, np.log(_FLATTEST))
    for _ in range(_N_HALVINGS):
        middle = 0.5 * (low + high)
        weights = np.where(allowed, (np.exp(middle)[:, None] + places) ** (1.0 / r), 0.0)
        above = (weights * places).sum(axis=1) / weights.sum(axis=1) > mean
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray(np.exp(low))


def most_chosen(n_views: int, false: float, threshold: float, n_pairs: int, bound: str) -> int:
    """The largest number of views that a half sample may choose under a bound on false selections; 0 if none.

    Examples
    --------
    >>> [most_chosen(100, 1.0, 0.75, 50, bound) for bound in ("worst", "unimodal", "r_concave")]
    [7, 9, 17]
    """
    least, most = 0, n_views - 1  # the bound grows with the number
    while least < most:
        middle = (least + most + 1) // 2
        kept = expected_false(n_views, middle, threshold, n_pairs, bound) <= false
        least, most = (middle, most) if kept else (least, middle - 1)
    return least


def half_samples(codes: Array | None, n: int, n_pairs: int, rng: np.random.RandomState) -> list[Array]:
    """Rows of complementary halves, pair after pair; of each class half, where there are classes.

    Of an odd number one row is left out, drawn anew for each pair.
    """
    groups = [np.arange(n)] if codes is None else [np.flatnonzero(codes == code) for code in np.unique(codes)]
    halves = []
    for _ in range(n_pairs):
        drawn = [rng.permutation(rows) for rows in groups]
        halves.append(np.sort(np.concatenate([rows[: rows.size // 2] for rows in drawn])))
        halves.append(
            np.sort(np.concatenate([rows[rows.size // 2 : 2 * (rows.size // 2)] for rows in drawn]))
        )
    return halves


def half_groups(numbers: Array, n_pairs: int, rng: np.random.RandomState) -> list[Array]:
    """The same with whole groups, whose number each row has; of an odd number of groups one is left out."""
    n_half = int(numbers.max() + 1) // 2
    halves = []
    for _ in range(n_pairs):
        order = rng.permutation(numbers.max() + 1)
        for half in (order[:n_half], order[n_half : 2 * n_half]):
            halves.append(np.flatnonzero(np.isin(numbers, half)))
    return halves


def shares_chosen(
    halves: list[Array], choose: Callable[[Array], Array], n_views: int, n_most: int
) -> tuple[Array, float]:
    """The share of half samples that choose each view, and how many one chooses on average.

    ``choose(rows)`` rates the views; the ``n_most`` of the largest positive values are chosen.
    """
    counts = np.zeros(n_views)
    for rows in halves:
        values = choose(rows)
        first = np.argsort(-values, kind="stable")[:n_most]
        counts[first[values[first] > 0.0]] += 1.0
    return counts / len(halves), float(counts.sum() / len(halves))
