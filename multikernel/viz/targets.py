"""Pictures of many targets: which views speak for which of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import Array
from .canvas import BLUE, GREY, LITERAL, add_colour_bar, axes_for, axes_for_rows, label_rows, picture, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NOT_VIEWS = ("offset", "total")  # columns of score_by_view beside the views
_MOST_NAMED = 60  # targets that have their name at the picture
_LEAST = 0.01  # R² below which no view is said to dominate


@picture
def target_views(parts: Any, *, order: str = "views", ax: Axes | None = None) -> Axes:
    """What does each view add to each target? A map of targets and views, such as parts of R² or weights.

    Parameters
    ----------
    parts : DataFrame of shape (n_targets, n_views)
        Of ``score_by_view(X, y)``, or any table of numbers with a row for each target.
    order : {"views", "given"}, default="views"
        - "views": targets with the same dominant view stand together, the largest first.
        - "given": the order of the rows.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> parts = pd.DataFrame({"genes": [0.1, 0.4], "image": [0.3, 0.0]}, index=["weight", "height"])
    >>> ax = target_views(parts, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['height', 'weight']
    """
    if order not in ("views", "given"):
        raise ValueError(f"order must be 'views' or 'given'; got {order!r}.")
    table = _views_of(parts)
    values = table.to_numpy(float)
    if order == "views":
        places = np.lexsort((-np.nan_to_num(values).max(axis=1), np.nan_to_num(values).argmax(axis=1)))
        table, values = table.iloc[places], values[places]
    n, m = values.shape
    ax = axes_for(ax, width=2.6 + 0.6 * m, height=float(np.clip(1.6 + 0.2 * n, 3.0, 9.0)))
    size = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
    image = ax.imshow(
        values, cmap="RdBu_r", vmin=-size, vmax=size, aspect="auto", interpolation="none"
    )  # white is 0; gaps are not drawn
    ax.set_xticks(range(m), [plain(name, longest=20) for name in table.columns], rotation=90, **LITERAL)
    if n <= _MOST_NAMED:
        ax.set_yticks(range(n), [plain(name, longest=20) for name in table.index], **LITERAL)
    else:
        ax.set_yticks([])
    ax.set(xlabel="view", ylabel="target" if n <= _MOST_NAMED else f"{n} targets")
    ax.set_title("What does each view add?")
    add_colour_bar(ax, image, "part of the view")
    return ax


@picture
def dominant_views(parts: Any, *, least: float = _LEAST, ax: Axes | None = None) -> Axes:
    """Of how many targets is each view the one with the largest part?

    Parameters
    ----------
    parts : DataFrame of shape (n_targets, n_views)
        As for :func:`target_views`.
    least : float, default=0.01
        Targets whose largest part is below it have no dominant view.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> parts = pd.DataFrame({"genes": [0.1, 0.4, 0.0], "image": [0.3, 0.0, 0.0]})
    >>> ax = dominant_views(parts, ax=Figure().subplots())
    >>> [int(bar.get_width()) for bar in ax.patches]
    [1, 1, 1]
    """
    table = _views_of(parts)
    counts, none = count_dominant(table.to_numpy(float), least)
    names = [*table.columns, "none"]
    ax = axes_for_rows(ax, names)
    for place, count in enumerate([*counts.tolist(), none]):
        ax.barh(place, count, color=BLUE if place < len(counts) else GREY, height=0.7)
    total = max(len(table), 1)
    label_rows(ax, names, [f"{count / total:.0%}" for count in [*counts.tolist(), none]])
    ax.set_xlabel("targets")
    ax.set_title("Which view has the largest part?")
    return ax


def count_dominant(values: Array, least: float = _LEAST) -> tuple[Array, int]:
    """How many rows have their largest entry in each column, and how many none of at least ``least``.

    Examples
    --------
    >>> counts, none = count_dominant(np.array([[0.2, 0.1], [0.0, 0.005]]))
    >>> counts.tolist(), none
    ([1, 0], 1)
    """
    known = np.nan_to_num(values, nan=-np.inf)
    has = known.max(axis=1) >= least
    counts = np.bincount(known[has].argmax(axis=1), minlength=values.shape[1])
    return counts, int((~has).sum())


def _views_of(parts: Any) -> pd.DataFrame:
    """The columns of the views."""
    if not isinstance(parts, pd.DataFrame):
        raise TypeError(
            "parts must be a DataFrame with a row for each target and a column for each view, such as "
            f"score_by_view(X, y); got {type(parts).__name__}."
        )
    table = parts.drop(columns=[name for name in _NOT_VIEWS if name in parts.columns])
    if table.empty:
        raise ValueError(f"parts must hold a target and a view; got shape {table.shape}.")
    return table
