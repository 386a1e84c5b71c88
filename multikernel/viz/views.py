"""Which views count: their weights, how stable these are, what each adds, what is lost without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from .._validation import check_positive_integer
from .canvas import (
    BLUE,
    GREY,
    LITERAL,
    ORANGE,
    SKY,
    VERMILION,
    add_legend_below,
    axes_for_rows,
    bar_style,
    is_number,
    label_rows,
    plain,
    style_of,
    with_numbers,
)
from .fitted import ViewShare, heaviest_first, is_local, last_of, machine_shares, percent, view_shares
from .parts import part_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_NAMED = 8  # machines; more are drawn alike


def weights(model: Any, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """Which views count? A bar for the share of each, heaviest first.

    The share of a view is its part of all the weight. Where machines have learned weights of their own, the
    bar is that of their mean, and each machine has a mark; weights with a standard deviation have it drawn.

    Parameters
    ----------
    model : estimator, weight learner or mapping
        Fitted, with ``kernel_weights_``; or a pipeline or a search that ends in one; or the weights
        themselves by name.
    most : int, default=30
        The most views to draw; the last row tells how much the others have together.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = weights({"sound": 0.2, "image": 0.6}, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()], [round(bar.get_width()) for bar in ax.patches]
    (['image', 'sound'], [75, 25])
    """
    if isinstance(model, Mapping):
        model = SimpleNamespace(view_names_=list(model), kernel_weights_=list(model.values()))
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


def contributions(
    model: Any, X: Any, *, machine: str | None = None, most: int = 30, ax: Axes | None = None
) -> Axes:
    """Why this decision? What each view adds to the score, largest first.

    Of one sample: a bar for each view, for the intercept, and for the score, which is the sum of them. Of
    several: a point for each sample, and a line at the mean.

    Parameters
    ----------
    model : estimator
        Fitted, with the method ``contributions``; or a pipeline or a search that ends in one.
    X : as for ``predict``
        One row, such as ``X[:1]`` or ``X[0]``, or several.
    machine : str, optional
        Which machine, by its name in ``machine_names_``; of one sample that with the highest score if left
        out.
    most : int, default=30
        The most views to draw.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    model, X = last_of(model, _as_rows(last_of(model)[0], X))
    if not hasattr(model, "contributions"):
        raise ValueError(
            f"model must tell what each view adds to a decision; {type(model).__name__} has no method "
            "contributions. MKLClassifier and its kin have it, and the localized models."
        )
    every = np.asarray(model.contributions(X), np.float64)
    every = every[:, None] if every.ndim == 2 else every
    intercepts = np.broadcast_to(np.asarray(getattr(model, "intercept_", 0.0), float).ravel(), every.shape[1])
    number = _number_of(model, every, intercepts, machine)
    parts = every[:, number]
    order = np.argsort(-np.abs(parts).mean(axis=0), kind="stable")[: check_positive_integer("most", most)]
    names = [str(model.view_names_[m]) for m in order]
    ax = axes_for_rows(ax, [*names, "intercept", "sum"])
    if len(parts) == 1:
        rest = None if len(order) == parts.shape[1] else float(np.delete(parts[0], order).sum())
        _draw_one(ax, names, parts[0, order], rest, float(intercepts[number]))
    else:
        _draw_several(ax, names, parts[:, order])
    ax.set_title("What does each view add to the decision?")
    ax.set_xlabel(_label(model, number), **LITERAL)
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    return ax


def _as_rows(model: Any, X: Any) -> Any:
    """X, or a single row as a table of one."""
    if hasattr(X, "to_frame"):
        return X.to_frame().T.infer_objects()
    kernels = getattr(model, "kernels", None)
    n_axes = 3 if isinstance(kernels, str) and kernels == "precomputed" else 2
    is_row = isinstance(X, np.ndarray | list | tuple) and np.ndim(X) == n_axes - 1
    return np.asarray(X)[None] if is_row else X


def _number_of(model: Any, every: Array, intercepts: Array, machine: str | None) -> int:
    names = [str(name) for name in getattr(model, "machine_names_", [""])]
    if machine is not None and str(machine) not in names:
        raise ValueError(f"machine must be one of {names}; got {machine!r}.")
    if machine is not None:
        return names.index(str(machine))
    if every.shape[1] > 1 and len(every) > 1:
        raise ValueError(f"there are several machines: choose one by machine=, of {names}, or give one row.")
    return int(np.argmax(every[0].sum(axis=1) + intercepts))


def _label(model: Any, number: int) -> str:
    if hasattr(model, "classes_"):
        return f"part of the score for {plain(model.machine_names_[number])}"
    return (
        "part of the score, negative for outliers" if hasattr(model, "offset_") else "part of the prediction"
    )


def _draw_one(ax: Axes, names: list[str], parts: Array, rest: float | None, intercept: float) -> None:
    """A bar for each part, for those left out together, and for the sum of all of them."""
    rows = [*zip(names, parts.tolist(), strict=True)]
    rows += [] if rest is None else [("other views", rest)]
    rows += [("intercept", intercept), ("sum", float(parts.sum()) + (rest or 0.0) + intercept)]
    label_rows(ax, [name for name, _ in rows], [f"{part:+.3g}" if part else "0" for _, part in rows])
    for place, (_, part) in enumerate(rows):
        ax.barh(place, part, height=0.7, **bar_style(part))
    ax.patches[-1].set_facecolor(GREY)
    ax.axhline(len(rows) - 1.5, color=GREY, linewidth=0.8, linestyle=":")


def _draw_several(ax: Axes, names: list[str], parts: Array) -> None:
    """A point for each sample, spread a little so that equal ones are seen."""
    label_rows(ax, names)
    for place, values in enumerate(parts.T):
        spread = place + np.linspace(-0.25, 0.25, len(values))
        ax.plot(values, spread, "o", color=BLUE, alpha=0.4, markersize=3.5, linewidth=0)
        ax.plot([values.mean()], [place], "|", color=VERMILION, markersize=16, markeredgewidth=2.5)


def stability(evaluation: Mapping[str, Any], *, most: int = 30, ax: Axes | None = None) -> Axes:
    """How firm are the weights? The share of each view over several fits, those of most weight first.

    A point for each fit, a thin line from the smallest to the largest, a thick one of a standard deviation to
    both sides of the mean, and a diamond for the share in the model itself. Behind them stands in how many of
    the fits the view had any weight.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``stability``.
    most : int, default=30
        The most views to draw.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    part = part_of(evaluation, "stability")
    rows = with_numbers(part["rows"], "mean", "low", "high")
    rows = sorted(rows, key=lambda row: -abs(row["mean"]))[: check_positive_integer("most", most)]
    ax = axes_for_rows(ax, [row["view"] for row in rows], extra=0.4)
    entries: list[tuple[Any, str]] = []
    for place, row in enumerate(rows):
        entries = _draw_row(ax, place, row)
    notes = [f"used in {row['used']:.0%} of fits" for row in rows]
    label_rows(ax, [row["view"] for row in rows], notes)
    ax.set(title="How firm are the weights?", xlabel="share of the weight, %")
    add_legend_below(ax, entries)
    return ax


def _draw_row(ax: Axes, place: int, row: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """One view; what is drawn, with its name."""
    values = [100.0 * value for value in row["values"] if is_number(value)]
    mean, sd = 100.0 * row["mean"], 100.0 * (row["sd"] or 0.0)
    (whole,) = ax.plot([100.0 * row["low"], 100.0 * row["high"]], [place, place], color=GREY, linewidth=1.0)
    (thick,) = ax.plot(
        [mean - sd, mean + sd], [place, place], color=SKY, linewidth=6.0, alpha=0.5, solid_capstyle="butt"
    )
    (fits,) = ax.plot(values, [place] * len(values), "o", color=BLUE, alpha=0.5, markersize=4, linewidth=0)
    entries = [(fits, "a fit"), (thick, "mean ± sd"), (whole, "lowest to highest")]
    if row["share"] is not None:
        (own,) = ax.plot(
            [100.0 * row["share"]],
            [place],
            "D",
            color=VERMILION,
            markeredgecolor="white",
            markersize=7,
            linewidth=0,
        )
        entries.append((own, "the model"))
    return entries


def without_view(evaluation: Mapping[str, Any], *, most: int = 30, ax: Axes | None = None) -> Axes:
    """What is lost without a view? A bar for the score of all views minus the score without this one.

    To the right: the view helps. To the left, hatched: the model is better without it. The line at the end of
    a bar is the standard deviation of this difference over the folds, where the evaluation tells it; on the
    right stands the p-value.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``without_view``.
    most : int, default=30
        The most views to draw, those of largest effect.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    part = part_of(evaluation, "without_view")
    rows = with_numbers(part["rows"], "effect")
    rows = sorted(rows, key=lambda row: -abs(row["effect"]))[: check_positive_integer("most", most)]
    rows.sort(key=lambda row: -row["effect"])
    ax = axes_for_rows(ax, [row["view"] for row in rows])
    for place, row in enumerate(rows):
        ax.barh(place, row["effect"], height=0.6, **bar_style(row["effect"]))
        if row.get("difference_sd") is not None:
            ax.errorbar(
                [row["effect"]], [place], xerr=[row["difference_sd"]], fmt="none", ecolor=GREY, capsize=2.5
            )
    notes = ["" if row["p"] is None else f"p = {row['p']:.2g}" for row in rows]
    label_rows(ax, [row["view"] for row in rows], notes)
    spread = "" if part["sd"] is None else f" ± {part['sd']:.2g}"
    score = "unknown" if part["score"] is None else f"{part['score']:.3g}"
    ax.set_title("What is lost without a view?")
    paired = any(row.get("difference_sd") is not None for row in rows)
    words = ", ± standard deviation of the loss over the folds" if paired else ""
    ax.set_xlabel(f"loss of {plain(part['metric'])}{words}\nwith all views it is {score}{spread}", **LITERAL)
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    return ax
