"""The picture of a cost path: score against cost, with the front of those that nothing beats in both."""

from typing import Any

import numpy as np
import pandas as pd

Array = np.ndarray[Any, np.dtype[Any]]

_EFFICIENT, _OTHERS = "#0072B2", "0.6"  # told apart by every eye


def efficient_points(costs: Any, scores: Any) -> Array:
    """Which points no other beats: none is as good and cheaper, or as cheap and better.

    Examples
    --------
    >>> efficient_points([1.0, 2.0, 2.0, 3.0], [0.5, 0.9, 0.8, 0.9]).tolist()
    [True, True, False, False]
    """
    c, s = np.asarray(costs, float), np.asarray(scores, float)
    no_worse = (c[:, None] <= c) & (s[:, None] >= s)
    better = (c[:, None] < c) | (s[:, None] > s)
    return ~np.asarray((no_worse & better).any(axis=0))


def draw_cost_path(table: pd.DataFrame, ax: Any = None) -> Any:
    """Score against the share of the full cost, one point for each exponent; the axes it is drawn on."""
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(layout="constrained")[1]
    shares, scores = 100.0 * table["cost_share"], table["score"]
    efficient = table["efficient"].to_numpy(bool)
    ax.errorbar(
        shares,
        scores,
        yerr=table["score_sd"],
        fmt="none",
        ecolor="0.8",
        elinewidth=1.0,
        capsize=2.0,
        zorder=1,
    )
    front = table[efficient].sort_values("cost")
    ax.step(
        100.0 * front["cost_share"], front["score"], where="post", color=_EFFICIENT, linewidth=1.0, zorder=2
    )
    ax.plot(
        shares[efficient], scores[efficient], "o", color=_EFFICIENT, label="nothing is better and cheaper"
    )
    ax.plot(
        shares[~efficient], scores[~efficient], "o", color=_OTHERS, markerfacecolor="white", label="others"
    )
    for point, exponents in _exponents_by_point(table.index, shares, scores).items():
        ax.annotate(exponents, point, (5, 5), textcoords="offset points", fontsize="small")
    ax.set(
        title="What does the last percent cost?",
        xlabel="cost of a prediction, % of all kernels to all training samples",
        ylabel="score, mean ± standard deviation over the folds",
    )
    if efficient.all():
        return ax
    ax.legend(loc="lower right", frameon=False)
    return ax


def _exponents_by_point(exponents: Any, shares: Any, scores: Any) -> dict[tuple[float, float], str]:
    """What to write at each point: the exponents that fall on it, or so near that their labels would meet."""
    found: dict[tuple[float, float], str] = {}
    x, y = np.asarray(shares, float), np.asarray(scores, float)
    near = np.maximum([0.06 * np.ptp(x), 0.05 * np.ptp(y)], [0.05, 0.0005])
    for exponent, *place in zip(exponents, x.tolist(), y.tolist(), strict=True):
        close = [point for point in found if (np.abs(np.subtract(point, place)) < near).all()]
        point = close[0] if close else (place[0], place[1])
        found[point] = f"{found[point]}, {exponent:g}" if close else f"{exponent:g}"
    return found
