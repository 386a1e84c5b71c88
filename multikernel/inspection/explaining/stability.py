"""Stability selection of views on complementary pairs of half samples, and its bounds on false selections."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._typing import Array

WORST, UNIMODAL = BOUNDS = ("worst", "unimodal")


def expected_false(n_views: int, n_chosen: float, threshold: float, n_pairs: int, bound: str) -> float:
    """Bound on the expected number of selected views that half samples choose no more often than by chance.

    With M views, of which a half sample chooses q on average, and a view selected that at least the share τ
    of the 2B half samples choose, at most

    - "worst": q² / ((2τ − 1) M), whatever the distribution of that share, from Meinshausen and Bühlmann
      (2010) and theorem 1 of Shah and Samworth (2013);
    - "unimodal": q² / (c M), if the distribution of the share of the pairs is unimodal for those views, with
      c = 2 (2τ − 1 − 1/(2B)) for τ ≤ ¾ and (1 + 1/B) / (4 (1 − τ + 1/(2B))) above, theorem 2.

    Examples
    --------
    >>> expected_false(100, 5.0, 0.75, 50, "worst")
    0.5
    >>> round(expected_false(100, 5.0, 0.75, 50, "unimodal"), 3)
    0.255
    """
    share = n_chosen / n_views
    worst = n_chosen * share / (2.0 * threshold - 1.0)
    if bound == WORST or share > 1.0 / np.sqrt(3.0):  # the theorem holds up to this share
        return float(worst)
    half = 1.0 / (2.0 * n_pairs)
    if threshold <= 0.5 + min(share * share, half + 0.75 * share * share):
        return float(worst)
    if threshold <= 0.75:
        constant = 2.0 * (2.0 * threshold - 1.0 - half)
    else:
        constant = (1.0 + 1.0 / n_pairs) / (4.0 * (1.0 - threshold + half))
    return float(min(n_chosen * share / constant, worst))


def most_chosen(n_views: int, false: float, threshold: float, n_pairs: int, bound: str) -> int:
    """The largest number of views that a half sample may choose under a bound on false selections; 0 if none.

    Examples
    --------
    >>> most_chosen(100, 1.0, 0.75, 50, "worst"), most_chosen(100, 1.0, 0.75, 50, "unimodal")
    (7, 9)
    """
    fits = [q for q in range(1, n_views) if expected_false(n_views, q, threshold, n_pairs, bound) <= false]
    return max(fits, default=0)


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
