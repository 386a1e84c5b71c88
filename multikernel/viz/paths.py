"""Pictures of paths: what becomes of the weights as one parameter changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._validation import check_positive_integer
from .canvas import LITERAL, add_colour_bar, axes_for_rows, label_rows, picture
from .fitted import percent, shares_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LEVEL = 8  # values whose names stand beside each other; more are turned


@picture
def weight_path(path: Any, *, top: int = 30, ax: Axes | None = None) -> Axes:
    """Which views have weight along a path? The share of each view at each value of a parameter.

    A view without weight is left blank. The views with the largest shares are on top.

    Parameters
    ----------
    path : WeightPath, CostPath or DataFrame
        Of ``multikernel.mkl.weight_path`` or ``multikernel.mkl.cost_path``; or weights, a row for each view
        and a column for each value.
    top : int, default=30
        Maximum number of views that are drawn.
    """
    weights = _weights_of(path)
    shares = weights.apply(shares_of, raw=True)
    largest = shares.abs().max(axis=1).round(12)
    shares = shares.loc[largest.sort_values(ascending=False, kind="stable").index]
    drawn = shares.iloc[: check_positive_integer("top", top)]
    ax = axes_for_rows(ax, list(drawn.index), extra=0.6)
    _draw_cells(ax, drawn)
    label_rows(ax, list(drawn.index))
    ax.set_ylim(len(drawn) - 0.5, -0.5)
    turned: dict[str, Any] = {"rotation": 60, "ha": "right"} if drawn.shape[1] > _MOST_LEVEL else {}
    ax.set_xticks(range(drawn.shape[1]), [f"{value:g}" for value in drawn.columns], **turned)
    parameter = str(weights.columns.name or "parameter")
    ax.set_xlabel(parameter, **LITERAL)
    ax.set_title(f"Which views have weight along {parameter}?{_said_of_others(shares, drawn)}", **LITERAL)
    return ax


def _weights_of(path: Any) -> pd.DataFrame:
    weights = path if isinstance(path, pd.DataFrame) else getattr(path, "weights", None)
    if not isinstance(weights, pd.DataFrame) or not weights.size:
        raise TypeError(
            "this picture is of multikernel.mkl.weight_path(...), or of weights, views by values; got "
            f"{type(path).__name__}."
        )
    return weights.T if weights.columns.name == "view" else weights


def _draw_cells(ax: Axes, shares: pd.DataFrame) -> None:
    from matplotlib.colors import Normalize, PowerNorm

    values = shares.to_numpy(dtype=float)
    largest = max(float(np.abs(values).max()), 1e-300)
    is_signed = float(values.min()) < 0.0
    # small shares are distinguished too, where one view has nearly all
    scale = Normalize(-largest, largest) if is_signed else PowerNorm(0.5, 0.0, largest)
    cells = ax.imshow(
        np.ma.masked_equal(values, 0.0),
        aspect="auto",
        cmap="RdBu_r" if is_signed else "viridis_r",
        norm=scale,
    )
    add_colour_bar(ax, cells, "share of the weight (blank: none)")


def _said_of_others(shares: pd.DataFrame, drawn: pd.DataFrame) -> str:
    """How many views are not drawn, and the most that they have together at any value."""
    if len(drawn) == len(shares):
        return ""
    others = float(shares.iloc[len(drawn) :].abs().sum().max())
    return (
        f"\n{len(drawn)} of {len(shares)} views, by their largest share;"
        f"\nthe others have at most {percent(others)} together"
    )
