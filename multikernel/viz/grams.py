"""Kernels as maps, with the samples of a class side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from .canvas import LITERAL, add_colour_bar, axes_for, plain, row_font
from .fitted import percent
from .parts import part_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_COLOURS = (0.05, 0.95)  # the quantiles that have the first and the last colour
_MOST_GROUPS, _MOST_BARE = 30, 12  # classes; the lines between more would hide the map


def heat_map(
    evaluation: Mapping[str, Any], name: str = "learned kernel", *, bare: bool = False, ax: Axes | None = None
) -> Axes:
    """What does the kernel see? Its values as a map, with the samples ordered by class or by target.

    A good kernel has bright blocks along the diagonal: samples of a class are alike. The colours run from the
    5th to the 95th percentile, so that one outlier does not take them all.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``heat_maps``.
    name : str, default="learned kernel"
        Which kernel: the learned one, or the name of a view.
    bare : bool, default=False
        Whether to leave out the names of the classes and the bar of the colours, for a small picture.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    part = part_of(evaluation, "heat_maps")
    maps = {str(entry["name"]): entry for entry in part["maps"]}
    if name not in maps:
        raise ValueError(f"name must be one of {list(maps)}; got {name!r}.")
    chosen = maps[name]
    scaled = np.array([[value or 0.0 for value in row] for row in chosen["values"]], np.float64)
    low, high = chosen["low"] or 0.0, chosen["high"] or 0.0
    values = low + scaled * (high - low)
    share = "" if chosen["share"] is None else f" ({percent(chosen['share'])} of the weight)"
    groups = [(str(group["label"]), group["start"], group["stop"]) for group in part["groups"]]
    ax = _draw_map(values, groups, ax, bare=bare)
    ax.set_title(f"{plain(name)}{share}", **LITERAL)
    ax.set_xlabel(f"samples, {plain(part['order'], longest=70)}", **LITERAL)
    return ax


def kernel_matrix(K: Any, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """What does this kernel see? A Gram matrix as a map, with its samples ordered by y.

    Parameters
    ----------
    K : array (n, n)
        Similarities; not modified.
    y : array-like (n,), optional
        Classes, whose samples are put side by side, or values, in whose order the samples are put. Fractions
        are values. The samples keep their order if left out.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> K = np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.1], [0.9, 0.1, 1.0]])
    >>> ax = kernel_matrix(K, ["a", "b", "a"], ax=Figure().subplots())
    >>> ax.images[0].get_array().data
    array([[1. , 0.9, 0. ],
           [0.9, 1. , 0.1],
           [0. , 0.1, 1. ]])
    """
    K = np.asarray(K, np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size:
        raise ValueError(f"K must be one square matrix, shape (n, n); got shape {K.shape}.")
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"K must be finite; its entry at ({i}, {j}) is {K[i, j]}.")
    order, groups, words = _order(y, len(K))
    ax = _draw_map(K[np.ix_(order, order)], groups, ax)
    ax.set(title="What does the kernel see?", xlabel=f"samples, {words}")
    return ax


def _order(y: Any, n: int) -> tuple[Array, list[tuple[str, float, float]], str]:
    """The order of the samples, the groups (name, start, stop), and words for both."""
    if y is None:
        return np.arange(n), [], "in their order"
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must hold one label for each of the {n} samples of K; got shape {labels.shape}.")
    is_values = labels.dtype.kind == "f" and bool((labels != np.round(labels)).any())
    if is_values:
        return np.argsort(labels, kind="stable"), [], "by the value of y, smallest first"
    classes, codes = np.unique(labels, return_inverse=True)
    stops = np.cumsum(np.bincount(codes))
    groups = [
        (str(label), float(start), float(stop))
        for label, start, stop in zip(classes, [0, *stops[:-1]], stops, strict=True)
    ]
    return np.argsort(codes, kind="stable"), groups, "by class"


def _draw_map(
    values: Array, groups: Sequence[tuple[str, float, float]], ax: Axes | None, *, bare: bool = False
) -> Axes:
    """The map, with lines between the groups and their names in the middle of them."""
    names = [plain(label, longest=20) for label, _, _ in groups]
    ax = axes_for(ax, width=6.0 + 0.1 * max(map(len, names), default=0), height=4.8)
    low, high = np.quantile(values, _COLOURS)
    if high - low > 1e-9 * np.ptp(values):  # one outlier does not take all the colours
        image = ax.imshow(values, cmap="viridis", interpolation="none", vmin=low, vmax=high)
        label, extend = "similarity, 5th to 95th percentile", "both"
    else:
        image = ax.imshow(values, cmap="viridis", interpolation="none")
        label, extend = "similarity", "neither"
    if not bare:
        add_colour_bar(ax, image, label, extend=extend)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    if not 1 <= len(groups) <= (_MOST_BARE if bare else _MOST_GROUPS):
        return ax
    cells = len(values) / groups[-1][2]  # groups count samples; a cell may be several
    for _, start, _ in groups[1:]:
        ax.axhline(cells * start - 0.5, color="white", linewidth=1.0)
        ax.axvline(cells * start - 0.5, color="white", linewidth=1.0)
    if bare:
        return ax
    middles = [cells * (start + stop) / 2.0 - 0.5 for _, start, stop in groups]
    ax.set_yticks(middles, names, fontsize=row_font(ax, len(groups)), **LITERAL)
    ax.tick_params(axis="y", length=0)
    return ax
