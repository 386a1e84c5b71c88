"""Pictures of results that are no models: paths of costs, compared rules, response surfaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import Array
from .canvas import BLUE, GREEN, VERMILION, add_colour_bar, axes_for, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_STEPS = 101  # along each side of the grid on which a surface is drawn


@picture
def cost(path: Any, *, ax: Axes | None = None) -> Axes:
    """What does the last percent cost? The score against the cost of a prediction, a point for each exponent.

    Parameters
    ----------
    path : CostPath, GateCostPath or DataFrame
        Of ``multikernel.mkl.cost_path`` or ``multikernel.localized.gate_cost_path``, or its ``table``.
    """
    table = getattr(path, "table", path)
    if not isinstance(table, pd.DataFrame) or "cost_share" not in table:
        raise TypeError(f"this picture is of multikernel.mkl.cost_path(...); got {type(path).__name__}.")
    ax = axes_for(ax)
    shares, scores = 100.0 * table["cost_share"], table["score"]
    efficient = table["efficient"].to_numpy(bool)
    style: dict[str, Any] = {"ecolor": "0.8", "elinewidth": 1.0, "capsize": 2.0, "zorder": 1}
    ax.errorbar(shares, scores, yerr=table["score_sd"], fmt="none", **style)
    front = table[efficient].sort_values("cost")
    ax.step(100.0 * front["cost_share"], front["score"], where="post", color=BLUE, linewidth=1.0, zorder=2)
    ax.plot(shares[efficient], scores[efficient], "o", color=BLUE, label="nothing is better and cheaper")
    ax.plot(shares[~efficient], scores[~efficient], "o", color="0.6", markerfacecolor="white", label="others")
    for point, exponents in _exponents_by_point(table.index, shares, scores).items():
        ax.annotate(exponents, point, (5, 5), textcoords="offset points", fontsize="small")
    ax.set(
        title="What does the last percent cost?",
        xlabel="cost of a prediction, % of all kernels to all training samples",
        ylabel="score, mean ± standard deviation over the folds",
    )
    if not efficient.all():
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


@picture
def cluster_stability(found: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """How many clusters are there? The stability of the clusters for each number of them.

    Parameters
    ----------
    found : mapping
        What ``to_dict`` of ``multikernel.inspection.cluster_stability`` returns.
    """
    rows = found["rows"]
    ax = axes_for(ax)
    numbers = [row["n_clusters"] for row in rows]
    style: dict[str, Any] = {"color": BLUE, "capsize": 2.0, "label": "adjusted Rand index of two subsamples"}
    stability, errors = [row["stability"] for row in rows], [row["std"] for row in rows]
    ax.errorbar(numbers, stability, yerr=errors, fmt="o-", **style)
    ambiguous = [row["ambiguous"] for row in rows]
    ax.plot(
        numbers, ambiguous, "s--", color=VERMILION, markerfacecolor="white", label="ambiguous pairs, share"
    )
    ax.set(title="How many clusters?", xlabel="number of clusters", ylabel="share", xticks=numbers)
    ax.legend(frameon=False, loc="upper right")
    return ax


def rules(comparison: Any, *, ax: Axes | None = None) -> Axes:
    """Which rule of weights is best? The scores of all rules on the same folds, the best mean on top.

    Parameters
    ----------
    comparison : Comparison or mapping
        Of ``multikernel.compare``, on one data set; or its numbers: ``"folds"``, the scores of each rule by
        its name, first on top; ``"baselines"``, up to two rules that the others are to beat; ``"weights"``, a
        DataFrame with a row for each rule in that order and a column for each kernel, or None; ``"scoring"``;
        ``"title"``.
    ax : Axes, default=None
        Where to draw; a new figure, with the weights beside the scores, if left out.

    Returns
    -------
    Axes
        Of the scores.
    """
    if not isinstance(comparison, Mapping) and not hasattr(comparison, "drawn_numbers"):
        raise TypeError(f"this picture is of multikernel.compare(...); got {type(comparison).__name__}.")
    if isinstance(comparison, Mapping) and not {"folds", "weights"} <= comparison.keys():
        raise ValueError("comparison must hold folds and weights, as drawn_numbers() of a comparison does.")
    numbers = comparison if isinstance(comparison, Mapping) else comparison.drawn_numbers()
    folds, weights = numbers["folds"], numbers["weights"]
    height = 1.8 + 0.45 * len(folds)
    if ax is None and weights is not None:
        from matplotlib import pyplot

        size = (8.0 + 0.45 * weights.shape[1], height)
        ax, beside = pyplot.subplots(1, 2, figsize=size, layout="constrained", sharey=True)[1]
        _draw_weights(weights, beside)
    ax = axes_for(ax, width=8.0, height=height)
    colours = dict(zip(numbers["baselines"], (VERMILION, GREEN), strict=False))
    for place, (rule, scores) in enumerate(folds.items()):
        colour = colours.get(rule, BLUE)
        spread = place + np.linspace(-0.2, 0.2, len(scores))  # so that equal scores are seen
        ax.plot(scores, spread, "o", color=colour, alpha=0.4, markersize=5, linewidth=0)
        ax.plot([np.mean(scores)], [place], "|", color=colour, markersize=20, markeredgewidth=2.5)
    for rule, colour in colours.items():
        ax.axvline(np.mean(folds[rule]), color=colour, linestyle="--", linewidth=1.0, label=rule)
    ax.set_yticks(range(len(folds)), list(folds))
    ax.set_ylim(len(folds) - 0.5, -0.5)
    ax.set(title=numbers["title"], xlabel=f"{numbers['scoring']}: ten folds and their mean", ylabel="rule")
    if colours:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=len(colours), frameon=False)
    return ax


def _draw_weights(weights: pd.DataFrame, ax: Axes) -> None:
    """The weights of the kernels as a map, a row for each rule."""
    largest = max(float(np.abs(weights.to_numpy()).max()), 1e-300)
    signed = float(weights.to_numpy().min()) < 0.0
    scale: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -largest} if signed else {"cmap": "Blues", "vmin": 0.0}
    image = ax.imshow(weights, aspect="auto", vmax=largest, **scale)
    ax.set_xticks(range(weights.shape[1]), [str(name) for name in weights.columns], rotation=60, ha="right")
    ax.set(title="share of each kernel, mean over the folds", xlabel="kernel")
    add_colour_bar(ax, image, "share of the weight")


@picture
def surface(result: Any, *, ax: Axes | None = None) -> Axes:
    """Where was the search, and what did it find? The response surface over one or two factors.

    One factor: the surface as a curve; two: as filled contours. The points that were measured are numbered in
    their order; the best of them is a star.

    Parameters
    ----------
    result : ResponseSurface, or a fitted RegularizedMKLClassifier
    """
    found = getattr(result, "surface_", result)
    if not hasattr(found, "best_point_"):
        raise TypeError(
            "this picture is of RegularizedMKLClassifier.surface_, or of a ResponseSurface after its search; "
            f"got {type(found).__name__}."
        )
    if len(found.names) not in (1, 2):
        raise ValueError(
            f"only surfaces of one or two factors can be drawn; this one has {len(found.names)}. Use "
            "predict on a slice, or search fewer factors."
        )
    ax = axes_for(ax)
    ax.set_title("Where is the best value?", pad=28)
    axes = [np.geomspace(low, high, _STEPS) for low, high in found.bounds.values()]
    if len(axes) == 1:
        _draw_curve(ax, found, axes[0])
    else:
        _draw_contours(ax, found, axes)
    return ax


def _draw_curve(ax: Axes, found: Any, line: Array) -> None:
    ax.plot(line, found.predict(line[:, None]), color=BLUE, label="fitted surface")
    best = (found.best_point_[found.names[0]], found.best_value_)
    _draw_measured(ax, np.column_stack([found.points_, found.values_]), best)
    ax.set(xscale="log", xlabel=found.names[0], ylabel="response")


def _draw_contours(ax: Axes, found: Any, axes: Sequence[Array]) -> None:
    grid = np.stack(np.meshgrid(*axes), axis=-1)
    heights = found.predict(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    if np.ptp(heights) > 0.0:
        filled = ax.contourf(*axes, heights, levels=20, cmap="viridis")
        add_colour_bar(ax, filled, "fitted response")
    _draw_measured(ax, found.points_, [found.best_point_[name] for name in found.names])
    ax.set(xscale="log", yscale="log", xlabel=found.names[0], ylabel=found.names[1])


def _draw_measured(ax: Axes, places: Array, best: Sequence[float]) -> None:
    from matplotlib.patheffects import withStroke

    ax.plot(*best, "*", color=VERMILION, markersize=16, label="best measured", clip_on=False, zorder=3)
    style: dict[str, Any] = {"color": "black", "markeredgecolor": "white", "markersize": 6}
    ax.plot(*places.T, "o", label="measured, in order", clip_on=False, zorder=4, **style)
    for number, place in enumerate(places, start=1):
        text = ax.annotate(str(number), place, xytext=(4, 4), textcoords="offset points", fontsize=8)
        text.set_path_effects([withStroke(linewidth=2.0, foreground="white")])
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False)
