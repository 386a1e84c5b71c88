"""Small pieces that the pictures of the methods are drawn of: points, regions, bars, tables of shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from multikernel import viz

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8A6D0B")  # those of multikernel.viz first
MARKS = ("o", "s", "^", "D", "v")


@dataclass(frozen=True)
class Picture:
    """What is drawn, said in words, and the function that draws it on an empty figure."""

    caption: str
    draw: Callable[[Figure], None]
    width: float = 7.2
    height: float = 3.0


class Gallery(dict[str, Picture]):
    """Pictures by the name of their page; a function enters itself by ``@gallery.shows(name, caption)``."""

    def shows(self, name: str, caption: str, **size: float) -> Callable[[Any], Any]:
        def enter(draw: Callable[[Figure], None]) -> Callable[[Figure], None]:
            assert name not in self, f"two pictures of {name}"
            self[name] = Picture(caption, draw, **size)
            return draw

        return enter


def points(ax: Axes, X: Any, y: Any, *, faded: Any = None) -> None:
    """Samples in the plane, a colour and a mark for each class."""
    X, y = np.asarray(X), np.asarray(y)
    for k, label in enumerate(np.unique(y)):
        of_class = y == label
        style = {"marker": MARKS[k % 5], "s": 14, "linewidths": 0.7, "edgecolors": COLOURS[k % 5]}
        shown = of_class if faded is None else of_class & ~np.asarray(faded)
        ax.scatter(*X[shown].T[:2], c=COLOURS[k % 5], **style)
        if faded is not None:
            ax.scatter(*X[of_class & np.asarray(faded)].T[:2], facecolors="white", **style)


def grid_of(ax: Axes, X: Any, n: int = 90) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Horizontal and vertical places around the samples, and all their pairs (n², 2)."""
    low, high = np.min(X, axis=0), np.max(X, axis=0)
    edge = 0.06 * (high - low)
    ax.set(xlim=(low[0] - edge[0], high[0] + edge[0]), ylim=(low[1] - edge[1], high[1] + edge[1]))
    across, up = np.linspace(*ax.get_xlim(), n), np.linspace(*ax.get_ylim(), n)
    return across, up, np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)


def regions(ax: Axes, model: Any, X: Any, y: Any, title: str = "") -> None:
    """Which class a model predicts where, with its samples; the caption says the rest."""
    viz.decision_regions(model, X, y, n_steps=100, ax=ax)
    ax.set(xlabel="", ylabel="")
    if (legend := ax.get_legend()) is not None:
        legend.remove()
    bare(ax, title)


def weights(ax: Axes, model: Any, title: str) -> None:
    """The weight of each view of a model."""
    viz.weights(model, ax=ax)
    ax.set_title(title)


def bare(ax: Axes, title: str = "") -> None:
    ax.set(xticks=[], yticks=[])
    ax.set_title(title)


def shares_table(
    ax: Axes, names: Sequence[str], views: Sequence[str], shares: Any, notes: Sequence[str]
) -> None:
    """One row for each rule: the shares that it gives to the views, and a note on the right."""
    shares = np.asarray(shares, dtype=float)
    ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    for (row, column), share in np.ndenumerate(shares):
        if np.isfinite(share):
            colour = "white" if share > 0.6 else "#222222"
            ax.text(column, row, f"{share:.2f}", ha="center", va="center", color=colour)
    ax.set(xticks=range(len(views)), xticklabels=views, yticks=range(len(names)), yticklabels=names)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    for row, note in enumerate(notes):
        ax.annotate(note, (len(views) - 0.5, row), (6, 0), textcoords="offset points", va="center")
