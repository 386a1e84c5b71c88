"""The weight of each view."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._validation import check_positive_integer
from ..core.fitted_weights import ViewShare, heaviest_first, is_local, machine_shares, percent, view_shares
from ._canvas import (
    GREY,
    ORANGE,
    add_legend_below,
    axes_for_rows,
    bar_style,
    label_rows,
    plain,
    style_of,
)
from ._models import last_of

_MOST_NAMED = 8  # machines; more are drawn alike


def weights(model: Any, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """Which views count? A bar for the share of each, heaviest first.

    The share of a view is its part of all the weight. Where machines have learned weights of their own, the
    bar is that of their mean, and each machine has a mark; weights with a standard deviation have it drawn.

    Parameters
    ----------
    model : estimator or weight learner
        Fitted, with ``kernel_weights_``; or a pipeline or a search that ends in one.
    most : int, default=30
        The most views to draw; the last row tells how much the others have together.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from matplotlib.figure import Figure
    >>> model = SimpleNamespace(kernel_weights_=[0.2, 0.6], view_names_=["sound", "image"])
    >>> ax = weights(model, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()], [round(bar.get_width()) for bar in ax.patches]
    (['image', 'sound'], [75, 25])
    """
    model, _ = last_of(model)
    rows = view_shares(model)
    shown = heaviest_first(rows)[: check_positive_integer("most", most)]
    order = [rows.index(row) for row in shown]
    machines = {name: shares[order] for name, shares in machine_shares(model).items()}
    names, notes = [row.view for row in shown], [percent(row.share) for row in shown]
    if len(shown) < len(rows):
        together = sum(abs(row.share) for row in rows) - sum(abs(row.share) for row in shown)
        names.append(f"… {len(rows) - len(shown)} more")
        notes.append(f"{percent(together)} together")
    ax = axes_for_rows(ax, names, extra=0.4 if machines else 0.0)
    _draw_bars(ax, shown)
    _draw_spread(ax, model, rows, order)
    _draw_machines(ax, machines)
    if all(row.share >= 0 for row in rows):
        ax.set_xlim(left=0.0)
    label_rows(ax, names, notes)
    mean = "mean " if is_local(model) or machines else ""
    ax.set(title="Which views count?", xlabel=f"share of the {mean}weight, %")
    return ax


def _draw_bars(ax: Axes, rows: Sequence[ViewShare]) -> None:
    """A bar for each row; negative ones are hatched."""
    for place, row in enumerate(rows):
        ax.barh(place, 100.0 * row.share, height=0.7, **bar_style(row.share))
    ax.axvline(0.0, color=GREY, linewidth=0.8)


def _draw_spread(ax: Axes, model: Any, rows: Sequence[ViewShare], order: Sequence[int]) -> None:
    """The standard deviation of the weights, of models that know it."""
    spread = getattr(model, "kernel_weights_std_", None)
    total = sum(abs(row.weight) for row in rows)
    if spread is None or total == 0:
        return
    ax.errorbar(
        [100.0 * rows[m].share for m in order],
        range(len(order)),
        xerr=100.0 * np.asarray(spread)[order] / total,
        fmt="none",
        ecolor=GREY,
        capsize=3,
    )


def _draw_machines(ax: Axes, machines: dict[str, Any]) -> None:
    """A mark for each machine at each view."""
    entries = []
    for number, (name, shares) in enumerate(machines.items()):
        few = len(machines) <= _MOST_NAMED
        style = style_of(number + 1) if few else {"color": ORANGE, "marker": "o"}
        (marks,) = ax.plot(
            100.0 * shares, range(len(shares)), linewidth=0, markersize=5, markeredgecolor="white", **style
        )
        if few or number == 0:
            entries.append((marks, plain(name, longest=24) if few else f"each of {len(machines)} machines"))
    add_legend_below(ax, entries)
