"""Pictures of views: their Shapley values, selection and weights by class; how one score comes about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation import check_positive_integer
from .canvas import (
    BLUE,
    GREY,
    LITERAL,
    VERMILION,
    add_colour_bar,
    add_legend_below,
    axes_for,
    axes_for_rows,
    bar_style,
    is_number,
    label_rows,
    picture,
    plain,
    row_font,
    with_numbers,
)
from .fitted import last_of, machine_shares, view_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST_DOT = 160.0  # points²
_MOST_LEVEL = 8  # values whose names stand beside each other; more are turned
_MOST_NAMED = 40  # samples with their name at the map


def _part(found: Any, key: str, maker: str) -> Mapping[str, Any]:
    """The dict of a result, which has to have a key."""
    part = found.to_dict() if hasattr(found, "to_dict") else found
    if not isinstance(part, Mapping) or key not in part:
        raise TypeError(f"this picture is of multikernel.inspection.{maker}; got {type(found).__name__}.")
    return part


# ---------------------------------------------------------------------- Shapley values
@picture
def shapley(found: Any, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """What is each view worth? A bar for its Shapley value, marks for its worth alone and beside the others.

    The thin line is two standard errors to both sides, where the values are sampled.

    Parameters
    ----------
    found : ViewShapley or dict
        Of ``multikernel.inspection.view_shapley``, or its ``to_dict()``.
    most : int, default=30
        Maximum number of views.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> rows = [{"view": "clinic", "shapley": 0.1, "alone": 0.15, "beside_others": 0.02},
    ...         {"view": "genes", "shapley": 0.2, "alone": 0.25, "beside_others": 0.1}]
    >>> ax = shapley({"metric": "accuracy", "rows": rows}, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['genes', 'clinic']
    """
    part = _part(found, "rows", "view_shapley(model, X, y)")
    rows = sorted(with_numbers(part["rows"], "shapley"), key=lambda row: -row["shapley"])
    rows = rows[: check_positive_integer("most", most)]
    ax = axes_for_rows(ax, [row["view"] for row in rows], extra=0.5)
    for place, row in enumerate(rows):
        ax.barh(place, row["shapley"], height=0.6, **bar_style(row["shapley"]))
        error = row.get("std_error") or 0.0
        if is_number(error) and error > 0.0:
            ends = row["shapley"] + 2.0 * error * np.array([-1.0, 1.0])
            ax.plot(ends, [place, place], color="0.25", linewidth=1.2, solid_capstyle="butt")
    entries: list[tuple[Any, Any]] = []
    style: dict[str, Any] = {"facecolors": "white", "edgecolors": "black", "zorder": 3, "s": 26}
    for key, marker, name in (("alone", "o", "alone"), ("beside_others", "D", "beside all others")):
        marked = [(row[key], place) for place, row in enumerate(rows) if is_number(row.get(key))]
        if marked:
            entries.append((ax.scatter(*zip(*marked, strict=True), marker=marker, **style), name))
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    label_rows(ax, [row["view"] for row in rows])
    ax.set_title("What is each view worth?")
    ax.set_xlabel(f"gain of {plain(part.get('metric', 'score'))}, Shapley value", **LITERAL)
    add_legend_below(ax, entries)
    return ax


# ---------------------------------------------------------------------- selection
@picture
def selection(found: Any, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """Which views matter? The evidence for each view, and the line that it has to pass to be selected.

    Parameters
    ----------
    found : ViewSelection or dict
        Of ``multikernel.inspection.select_views``, or its ``to_dict()``.
    most : int, default=30
        Maximum number of views, those with the most evidence.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> rows = [{"view": "noise", "share": 0.1, "selected": False},
    ...         {"view": "genes", "share": 0.9, "selected": True}]
    >>> part = {"method": "stability", "level": 1.0, "threshold": 0.75, "rows": rows}
    >>> ax = selection(part, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['genes', 'noise']
    """
    part = _part(found, "rows", "select_views(estimator, X, y)")
    by_share = part.get("method") == "stability"
    key = "share" if by_share else "q_value"
    rows = sorted(with_numbers(part["rows"], key), key=lambda row: row[key] * (-1.0 if by_share else 1.0))
    n_all = len(rows)
    rows = rows[: check_positive_integer("most", most)]
    values = np.array([row[key] for row in rows], float)
    line = float(part["threshold"] if by_share else part["level"])
    drawn = values if by_share else -np.log10(values)
    line = line if by_share else float(-np.log10(line))
    ax = axes_for_rows(ax, [row["view"] for row in rows], extra=0.4)
    ax.hlines(range(len(rows)), 0.0, drawn, color=GREY, linewidth=1.0)
    entries: list[tuple[Any, Any]] = []
    chosen = np.array([bool(row["selected"]) for row in rows])
    kinds = ((chosen, "o", BLUE, "selected"), (~chosen, "x", VERMILION, "not selected"))
    for mask, marker, colour, name in kinds:
        if mask.any():
            marks = ax.scatter(drawn[mask], np.flatnonzero(mask), marker=marker, color=colour, zorder=3)
            entries.append((marks, name))
    entries.append((ax.axvline(line, color="black", linewidth=1.0, linestyle="--"), "required"))
    label_rows(ax, [row["view"] for row in rows])
    ax.set_xlim(0.0, 1.02 if by_share else None)
    more = f"\n{len(rows)} of {n_all} views" if len(rows) < n_all else ""
    ax.set_title(f"Which views matter?{more}")
    ax.set_xlabel(
        "share of half samples that choose the view" if by_share else "−log₁₀ of the adjusted p-value"
    )
    add_legend_below(ax, entries)
    return ax


# ---------------------------------------------------------------------- classes
@picture
def class_weights(model: Any, *, most: int = 40, ax: Axes | None = None) -> Axes:
    """Which class looks at which view? The share of each view in the weight of each machine.

    Machines are of one class against the rest, or of pairs of classes. Where they have the same weights, and
    in a binary model, there is one row. Views without weight are left blank.

    Parameters
    ----------
    model : estimator
        Fitted, with kernel weights; or a pipeline or a search that ends in one.
    most : int, default=40
        Maximum number of views, those with the largest shares.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from matplotlib.figure import Figure
    >>> model = SimpleNamespace(
    ...     view_names_=["genes", "clinic"], machine_names_=["ill", "well"],
    ...     kernel_weights_=[0.5, 0.5], machine_weights_=[[0.9, 0.1], [0.1, 0.9]])
    >>> ax = class_weights(model, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['ill', 'well']
    """
    model = last_of(model)[0]
    shares = view_shares(model)
    table = machine_shares(model) or {"all classes": np.array([row.share for row in shares])}
    values = np.array(list(table.values()), float)
    order = np.argsort(-np.abs(values).max(axis=0), kind="stable")[: check_positive_integer("most", most)]
    order = np.sort(order)
    values = values[:, order]
    names = [plain(shares[m].view, longest=25) for m in order]
    ax = axes_for(ax, width=min(3.5 + 0.4 * len(names), 12.0), height=2.4 + 0.35 * len(values))
    signed = float(values.min(initial=0.0)) < 0.0
    top = max(float(np.abs(values).max(initial=0.0)), 1e-12)
    cells = ax.imshow(
        np.ma.masked_equal(values, 0.0), cmap="RdBu_r" if signed else "viridis_r",
        vmin=-top if signed else 0.0, vmax=top, aspect="auto", interpolation="none",
    )  # fmt: skip
    ax.set_yticks(range(len(values)), [plain(name, longest=25) for name in table], **LITERAL,
                  fontsize=row_font(ax, len(values)))  # fmt: skip
    turned: dict[str, Any] = {"rotation": 60, "ha": "right"} if len(names) > 4 else {}
    ax.set_xticks(range(len(names)), names, fontsize="small", **turned, **LITERAL)
    ax.set_xlabel("view")
    ax.set_ylabel("class")
    more = f"\n{len(order)} of {len(shares)} views" if len(order) < len(shares) else ""
    ax.set_title(f"Which class looks at which view?{more}")
    add_colour_bar(ax, cells, "share of the weight (blank: none)")
    return ax


# ---------------------------------------------------------------------- one sample
@picture
def waterfall(found: Any, *, most: int = 12, ax: Axes | None = None) -> Axes:
    """How does a score come about? From the intercept on, step by step, what each view or column adds.

    The largest steps come first; those of the rest are one step. The line at the end is the score, the shaded
    part around it what the duality gap leaves open, where that is known.

    Parameters
    ----------
    found : dict
        Of ``Explanation.sample(...)`` of ``multikernel.inspection.explain``: ``start`` (called
        ``start_name``), ``score`` and ``rows``, dicts of ``name`` and ``value``.
    most : int, default=12
        Maximum number of steps.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> rows = [{"name": "genes", "value": 1.5}, {"name": "clinic", "value": -0.2}]
    >>> part = {"id": "patient 7", "start": 0.1, "score": 1.4, "rows": rows}
    >>> ax = waterfall(part, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['intercept', 'genes', 'clinic', 'score']
    """
    part = _part(found, "start", "explain(model, X).sample(row)")
    rows = sorted(part["rows"], key=lambda row: -abs(row["value"]))
    most = check_positive_integer("most", most)
    steps = [(row["name"], float(row["value"])) for row in rows[:most]]
    if len(rows) > most:
        rest = rows[most:]
        steps.append((f"{len(rest)} others", float(sum(row["value"] for row in rest))))
    names = [part.get("start_name", "intercept"), *(name for name, _ in steps), "score"]
    ax = axes_for_rows(ax, names)
    low, high = part.get("low"), part.get("high")
    if is_number(low) and is_number(high):
        ax.axvspan(float(low), float(high), color="0.9", zorder=0)  # type: ignore[arg-type]
    reached = float(part["start"])
    ax.barh(0, reached, height=0.6, color=GREY)
    for place, (_, value) in enumerate(steps, start=1):
        ax.barh(place, value, left=reached, height=0.6, **bar_style(value))
        ax.plot([reached, reached], [place - 0.7, place + 0.3], color="0.4", linewidth=0.8)
        reached += value
    ax.barh(len(steps) + 1, float(part["score"]), height=0.6, color=GREY)
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    notes = [part["start"], *(value for _, value in steps), part["score"]]
    label_rows(ax, names, [f"{value:+.3g}" for value in notes], what="step")
    machine = part.get("machine")
    ax.set_xlabel("score" if machine is None else f"score for {plain(machine)}", **LITERAL)
    ax.set_title(f"How does the score of {plain(part.get('id', 'the sample'))} come about?", **LITERAL)
    return ax


# ---------------------------------------------------------------------- many samples
@picture
def contribution_map(found: Any, *, machine: str | None = None, ax: Axes | None = None) -> Axes:
    """What does each view add to the score of each sample? A map, samples in the order of their scores.

    Red raises the score, blue lowers it. Views keep their order; the sample with the highest score is on top.

    Parameters
    ----------
    found : Explanation, DataFrame or dict
        Of ``multikernel.inspection.explain``; of ``contributions_frame`` of a model; or the part
        ``["why"]["contributions"]`` of an evaluation.
    machine : str, default=None
        Which machine of several; for each sample that of the highest score if left out.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> rows = [{"id": "a", "score": -1.0, "values": [-1.5, 0.5]},
    ...         {"id": "b", "score": 2.0, "values": [2.0, 0.0]}]
    >>> part = {"views": ["genes", "clinic"], "machine": "ill", "rows": rows}
    >>> ax = contribution_map(part, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['b', 'a']
    """
    views, words, rows = _contributions_of(found, machine)
    rows = sorted(rows, key=lambda row: -row[1])
    values = np.array([row[2] for row in rows], float).reshape(len(rows), len(views))
    names = [plain(view, longest=20) for view in views]
    named = len(rows) <= _MOST_NAMED
    height = 1.8 + 0.22 * len(rows) if named else 5.0
    ax = axes_for(ax, width=min(4.0 + 0.45 * len(names), 12.0), height=max(height, 2.6))
    top = max(float(np.abs(values).max(initial=0.0)), 1e-12)
    cells = ax.imshow(values, cmap="RdBu_r", vmin=-top, vmax=top, aspect="auto", interpolation="none")
    if named:
        labels = [plain(row[0], longest=20) for row in rows]
        ax.set_yticks(range(len(rows)), labels, fontsize=row_font(ax, len(rows)), **LITERAL)
    else:
        ax.set_yticks([])
    turned: dict[str, Any] = {"rotation": 60, "ha": "right"} if len(names) > 4 else {}
    ax.set_xticks(range(len(names)), names, fontsize="small", **turned, **LITERAL)
    ax.set(xlabel="view", ylabel=f"{len(rows)} samples, the highest score on top")
    ax.set_title("What does each view add to each score?")
    add_colour_bar(ax, cells, f"added to the score for {plain(words, longest=24)}")
    return ax


def _contributions_of(found: Any, machine: str | None) -> tuple[list[str], str, list[tuple[Any, float, Any]]]:
    """The views, what the score is for, and of each sample its name, its score and what each view adds."""
    frame = getattr(found, "contributions", found)
    if isinstance(frame, Mapping) and {"views", "rows"} <= frame.keys():
        rows = [(_name_of(row), row["score"], row["values"]) for row in frame["rows"]]
        return list(frame["views"]), str(frame.get("machine", "the prediction")), rows
    if not hasattr(frame, "columns") or "score" not in frame.columns.get_level_values(-1):
        raise TypeError(
            "this picture is of multikernel.inspection.explain(model, X), or of contributions_frame(X) of a "
            f"model; got {type(found).__name__}."
        )
    words = "the prediction" if machine is None else str(machine)
    if frame.columns.nlevels == 1:
        views = [name for name in frame.columns if name not in ("intercept", "score")]
        table = frame[views].to_numpy(float)
        return views, words, list(zip(frame.index, frame["score"], table, strict=True))
    machines = list(frame.columns.get_level_values(0).unique())
    known = [str(name) for name in machines]
    if machine is not None and str(machine) not in known:
        raise ValueError(f"machine must be one of {known}; got {machine!r}.")
    chosen = machines if machine is None else [machines[known.index(str(machine))]]
    scores = np.stack([frame[name]["score"].to_numpy(float) for name in chosen], axis=1)
    views = [name for name in frame[chosen[0]].columns if name not in ("intercept", "score")]
    tables = np.stack([frame[name][views].to_numpy(float) for name in chosen])
    best = scores.argmax(axis=1)
    places = np.arange(len(best))
    return views, words, list(zip(frame.index, scores[places, best], tables[best, places], strict=True))


def _name_of(row: Mapping[str, Any]) -> str:
    return f"row {row['row']}" if row.get("id") is None else str(row["id"])


# ---------------------------------------------------------------------- enrichment
@picture
def enrichment(found: Any, *, most: int = 25, ax: Axes | None = None) -> Axes:
    """Which gene sets carry weight beyond chance? A dot for each set and value along the path.

    The larger the dot, the larger the share of the weight; the darker, the smaller the p-value. Sets whose
    adjusted p-value is at most the level have names with a star.

    Parameters
    ----------
    found : Enrichment or dict
        Of ``multikernel.inspection.enriched_sets``, or its ``to_dict()``.
    most : int, default=25
        Maximum number of sets, those of the smallest p-values.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> sets = [{"set": "HYPOXIA", "p_adjusted": 0.01}, {"set": "MYC", "p_adjusted": 0.6}]
    >>> dots = [{"set": "HYPOXIA", "value": 1.0, "share": 0.7, "p_value": 0.01},
    ...         {"set": "MYC", "value": 1.0, "share": 0.3, "p_value": 0.5}]
    >>> part = {"parameter": "C", "values": [1.0], "level": 0.05, "rows": sets, "dots": dots}
    >>> ax = enrichment(part, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['HYPOXIA *', 'MYC']
    """
    part = _part(found, "dots", "enriched_sets(estimator, X, y)")
    rows = sorted(part["rows"], key=lambda row: (row["p_adjusted"], -row.get("share", 0.0)))
    n_all = len(rows)
    rows = rows[: check_positive_integer("most", most)]
    names = [f"{row['set']} *" if row["p_adjusted"] <= part["level"] else str(row["set"]) for row in rows]
    places = {row["set"]: place for place, row in enumerate(rows)}
    values = list(part["values"])
    dots = [dot for dot in part["dots"] if dot["set"] in places and dot["share"] > 0.0]
    ax = axes_for_rows(ax, names, extra=0.8)
    shares = np.array([dot["share"] for dot in dots], float)
    marks = ax.scatter(
        [values.index(dot["value"]) for dot in dots], [places[dot["set"]] for dot in dots],
        s=_LARGEST_DOT * shares / max(shares.max(initial=0.0), 1e-12),
        c=-np.log10([dot["p_value"] for dot in dots]), cmap="viridis_r", vmin=0.0,
        edgecolors="0.4", linewidths=0.4,
    )  # fmt: skip
    label_rows(ax, names, what="set")
    turned: dict[str, Any] = {"rotation": 60, "ha": "right"} if len(values) > _MOST_LEVEL else {}
    ax.set_xticks(range(len(values)), [f"{float(value):g}" for value in values], **turned)
    ax.set_xlim(-0.6, len(values) - 0.4)
    ax.set_xlabel(f"{plain(part['parameter'])} (size of a dot: share of the weight)", **LITERAL)
    more = f"\n{len(rows)} of {n_all} sets" if len(rows) < n_all else ""
    ax.set_title(f"Which sets carry weight beyond chance?{more}")
    add_colour_bar(ax, marks, "−log₁₀ of the p-value")
    return ax
