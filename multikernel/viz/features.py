"""Pictures of features: which columns of which views matter, and which move together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation import check_positive_integer
from .canvas import (
    COLOURS,
    GREY,
    LITERAL,
    add_colour_bar,
    add_legend_below,
    axes_for,
    axes_for_rows,
    is_number,
    label_rows,
    picture,
    plain,
    row_font,
    with_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HATCHES = ("", "///", "...", "xx", "\\\\\\", "++")


@picture
def importance(found: Any, *, most: int = 10, ax: Axes | None = None) -> Axes:
    """Which columns matter? A bar for each feature, those of a view together, the most important first.

    The thin line is the interval over the repeats, where there is one. Views are distinguished by colours and
    hatches, and the view with the most important feature is on top.

    Parameters
    ----------
    found : FeatureImportance or dict
        Of ``multikernel.inspection.feature_importance``, or its ``to_dict()``.
    most : int, default=10
        The most features of a view to draw.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> rows = [{"view": "clinic", "feature": "age", "importance": 0.1, "low": 0.05, "high": 0.15},
    ...         {"view": "genes", "feature": "TP53", "importance": 0.3, "low": 0.2, "high": 0.4}]
    >>> ax = importance({"xlabel": "loss of accuracy", "rows": rows}, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['TP53', 'age']
    """
    part = found.to_dict() if hasattr(found, "to_dict") else found
    if not isinstance(part, Mapping) or "rows" not in part:
        raise TypeError(
            "this picture is of multikernel.inspection.feature_importance(model, X, y); got "
            f"{type(found).__name__}."
        )
    most = check_positive_integer("most", most)
    rows = sorted(with_numbers(part["rows"], "importance"), key=lambda row: -row["importance"])
    views = list(dict.fromkeys(row["view"] for row in rows))
    blocks = [[row for row in rows if row["view"] == view][:most] for view in views]
    shown = [row for block in blocks for row in block]
    ax = axes_for_rows(ax, [row["feature"] for row in shown], extra=0.4 if len(views) > 1 else 0.0)
    entries, place = [], 0
    for number, (view, block) in enumerate(zip(views, blocks, strict=True)):
        style: dict[str, Any] = {
            "color": COLOURS[number % len(COLOURS)],
            "hatch": _HATCHES[(number + number // len(COLOURS)) % len(_HATCHES)],
            "edgecolor": "white",
        }
        places = range(place, place + len(block))
        bars = ax.barh(places, [row["importance"] for row in block], height=0.7, **style)
        _draw_intervals(ax, places, block)
        if place:
            ax.axhline(place - 0.5, color=GREY, linewidth=0.8, linestyle=":")
        entries.append((bars, view))
        place += len(block)
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    label_rows(ax, [row["feature"] for row in shown], what="column")
    ax.set_title("Which columns matter?")
    ax.set_xlabel(plain(part.get("xlabel", "importance"), longest=120), **LITERAL)
    if len(views) > 1:  # long names need lines of their own
        longest = max(len(plain(view)) for view in views)
        add_legend_below(ax, entries, max(1, min(4, 64 // (longest + 6))))
    return ax


@picture
def loadings(
    found: Any, *, classes: Sequence[Any] | None = None, most: int = 6, ax: Axes | None = None
) -> Axes:
    """Which columns speak for which class? Signed bars, the columns of a view together, the largest first.

    The length of a bar is the importance of the column, its side and its color say what a larger value speaks
    for. Of several classes all bars are to the right, in the color of the class whose score rises most.

    Parameters
    ----------
    found : FeatureImportance or dict
        Of ``multikernel.inspection.feature_importance`` by coefficients or sensitivities, or its
        ``to_dict()``.
    classes : pair of labels, default=None
        The ``classes_`` of a binary model, for the legend.
    most : int, default=6
        Maximum number of columns of a view.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> rows = [{"view": "clinic", "feature": "age", "importance": 0.1, "coefficient": -0.05},
    ...         {"view": "genes", "feature": "TP53", "importance": 0.3, "coefficient": 0.9}]
    >>> ax = loadings({"rows": rows}, classes=["well", "ill"], ax=Figure().subplots())
    >>> [float(bar.get_width()) for bar in ax.patches]
    [0.3, -0.1]
    """
    part = found.to_dict() if hasattr(found, "to_dict") else found
    rows = part.get("rows") if isinstance(part, Mapping) else None
    slopes = _slopes_of(rows)
    most = check_positive_integer("most", most)
    rows = sorted(with_numbers(rows or [], "importance"), key=lambda row: -row["importance"])
    views = list(dict.fromkeys(row["view"] for row in rows))
    shown = [row for view in views for row in [row for row in rows if row["view"] == view][:most]]
    binary = list(slopes.values()) == [""]
    told = ["lowers the score", "raises the score"]
    if binary and classes is not None:
        told = [f"speaks for {label}" for label in (classes[0], classes[-1])]
    kinds = told if binary else [f"speaks for {label}" for label in slopes.values()]
    ax = axes_for_rows(ax, [f"{row['feature']} ({row['view']})" for row in shown], extra=0.4)
    drawn: dict[int, Any] = {}
    for place, row in enumerate(shown):
        values = np.array([row[key] if is_number(row[key]) else -np.inf for key in slopes], float)
        kind = int(values[0] > 0.0) if binary else int(np.argmax(values))
        length = -row["importance"] if binary and not kind else row["importance"]
        style: dict[str, Any] = {"color": COLOURS[(1 - kind if binary else kind) % len(COLOURS)]}
        hatch = _HATCHES[(1 - kind if binary else kind) % len(_HATCHES)]
        drawn[kind] = ax.barh(place, length, height=0.7, hatch=hatch, edgecolor="white", **style)
        if place and row["view"] != shown[place - 1]["view"]:
            ax.axhline(place - 0.5, color=GREY, linewidth=0.8, linestyle=":")
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    label_rows(ax, [f"{row['feature']} ({row['view']})" for row in shown], what="column (view)")
    ax.set_title("Which columns speak for what?")
    ax.set_xlabel(plain(part.get("xlabel", "importance"), longest=120), **LITERAL)
    longest = max((len(plain(kind, longest=80)) for kind in kinds), default=0)
    entries = [(drawn[kind], kinds[kind]) for kind in sorted(drawn)]
    add_legend_below(ax, entries, max(1, min(4, 64 // (longest + 6))))
    return ax


def _slopes_of(rows: Any) -> dict[str, str]:
    """The keys that have the sign of a column, with the class of each: "" where there is one score."""
    for kind in ("coefficient", "slope"):
        keys = [key for key in (rows[0] if rows else {}) if key == kind or key.startswith(f"{kind}[")]
        if keys:
            return {key: key[len(kind) + 1 : -1] for key in keys}
    raise TypeError(
        "this picture is of multikernel.inspection.feature_importance(model, X) by coefficients or "
        "sensitivities, which have signs."
    )


def _draw_intervals(ax: Axes, places: range, block: list[Mapping[str, Any]]) -> None:
    for place, row in zip(places, block, strict=True):
        ends = [row.get("low"), row.get("high")]
        if all(map(is_number, ends)):
            ax.plot(np.array(ends, float), [place, place], color="0.25", linewidth=1.2, solid_capstyle="butt")


@picture
def local_importance(found: Any, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """Which columns does each region look at? A map of their shares, a row for each region.

    Columns keep their order; where there are more than `most`, those with the largest share in some region
    are drawn. Columns that a region does not project are left white.

    Parameters
    ----------
    found : estimator or DataFrame
        Fitted, with ``local_importance()``, such as ``ProjectionKernelClassifier``; or what that returns.
    most : int, default=30
        The most columns to draw.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> shares = pd.DataFrame([[0.9, 0.1], [0.2, 0.8]], index=["left", "right"], columns=["width", "height"])
    >>> ax = local_importance(shares, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['left', 'right']
    """
    frame = found.local_importance() if hasattr(found, "local_importance") else found
    if not hasattr(frame, "iloc") or frame.ndim != 2:
        raise TypeError(
            "this picture is of a model with local_importance(), or of the table that it returns; got "
            f"{type(found).__name__}."
        )
    values = np.asarray(frame, float)
    most = check_positive_integer("most", most)
    largest = np.nan_to_num(values).max(axis=0)
    shown = np.sort(np.argsort(-largest, kind="stable")[:most])
    names = [plain(frame.columns[k], longest=20) for k in shown]
    ax = axes_for(ax, width=min(3.0 + 0.3 * len(shown), 12.0), height=2.2 + 0.35 * len(values))
    top = max(float(largest.max(initial=0.0)), 1e-12)
    drawn = np.ma.masked_invalid(values[:, shown])
    image = ax.imshow(drawn, cmap="viridis", vmin=0.0, vmax=top, interpolation="none", aspect="auto")
    regions = [plain(name, longest=20) for name in frame.index]
    ax.set_yticks(range(len(regions)), regions, fontsize=row_font(ax, len(regions)), **LITERAL)
    ax.set_xticks(range(len(names)), names, fontsize="small", rotation=90, **LITERAL)
    ax.set_title("Which columns does each region look at?")
    some = f", {len(shown)} of {values.shape[1]}" if len(shown) < values.shape[1] else ""
    ax.set(xlabel=f"column{some}", ylabel="region")
    add_colour_bar(ax, image, "share of the region's projection")
    return ax


@picture
def cross_view(found: Any, *, ax: Axes | None = None) -> Axes:
    """Which columns of different views move together? A map of their similarities, views side by side.

    Red: they rise together in the leading components of the learned kernel; blue: one falls as the other
    rises.

    Parameters
    ----------
    found : CrossViewMap or dict
        Of ``multikernel.inspection.cross_view_map``, or its ``to_dict()``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> names = [{"view": "genes", "feature": "g1"}, {"view": "proteins", "feature": "p1"}]
    >>> found = {"features": names, "similarities": [[1.0, -0.5], [-0.5, 1.0]]}
    >>> ax = cross_view(found, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['g1', 'p1']
    """
    part = found.to_dict() if hasattr(found, "to_dict") else found
    if not isinstance(part, Mapping) or "similarities" not in part:
        raise TypeError(
            f"this picture is of multikernel.inspection.cross_view_map(model, X); got {type(found).__name__}."
        )
    values = np.asarray(part["similarities"], float)
    names = [plain(row["feature"], longest=20) for row in part["features"]]
    views = [row["view"] for row in part["features"]]
    n = len(names)
    size = min(3.0 + 0.25 * n, 12.0)
    ax = axes_for(ax, width=size + 0.8, height=size)
    image = ax.imshow(values, cmap="RdBu_r", vmin=-1.0, vmax=1.0, interpolation="none")
    font = row_font(ax, n)
    ax.set_yticks(range(n), names, fontsize=font, **LITERAL)
    ax.set_xticks(range(n), names, fontsize=font, rotation=90, **LITERAL)
    starts = [0, *(k for k in range(1, n) if views[k] != views[k - 1])]
    for start, stop in zip(starts, [*starts[1:], n], strict=True):
        if start:
            ax.axhline(start - 0.5, color="black", linewidth=1.0)
            ax.axvline(start - 0.5, color="black", linewidth=1.0)
        middle = (start + stop - 1) / 2.0
        ax.text(middle, -0.8, plain(views[start], longest=20), ha="center", va="bottom", **LITERAL)
    ax.set_title("Which columns move together?", pad=24)
    ax.set(xlabel="column, by view", ylabel="column, by view")
    add_colour_bar(ax, image, "similarity in the learned kernel")
    return ax
