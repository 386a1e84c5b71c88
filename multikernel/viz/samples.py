"""Pictures of samples: how alike they are, how they lie along two components, where each view counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from .._validation import check_real_matrix
from .canvas import (
    LITERAL,
    MARKERS,
    add_colour_bar,
    add_legend_below,
    add_legend_beside,
    axes_for,
    is_number,
    part_of,
    picture,
    picture_of,
    plain,
    row_font,
    style_of,
    with_numbers,
)
from .fitted import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = Mapping[str, Any]

SAMPLES = "samples"  # the gid of what is drawn for samples, one mark each, in the order of `samples_as_drawn`
_MOST_NAMED = 12  # classes in the legend
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_COLOURS = (0.05, 0.95)  # the quantiles that have the first and the last colour of a map
_MOST_GROUPS, _MOST_BARE = 30, 12  # classes of a map; the lines between more would hide it


@picture_of("``embedding``")
def embedding(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """How do the samples lie? Each by its class or its value, along two components of the learned kernel.

    Samples whose held-out prediction is another class have a ring around them.
    """
    part = part_of(evaluation, "embedding")
    points = samples_as_drawn(evaluation)
    ax = axes_for(ax, width=7.6, height=5.2)
    if points and points[0].get("value") is not None:
        x, y, values = (np.array([point[key] for point in points], float) for key in ("x", "y", "value"))
        marks = ax.scatter(x, y, c=values, cmap="viridis", s=18, edgecolors="0.3", linewidths=0.3)
        marks.set_gid(SAMPLES)
        add_colour_bar(ax, marks, "target")
    else:
        groups = _by_class(points, evaluation["classes"])
        entries = _draw_groups(ax, {label: _places(own) for label, own in groups.items()})
        add_legend_beside(ax, entries + _draw_rings(ax, points))
    ax.set_title("How do the samples lie?")
    _label_components(ax, part["explained"])
    return ax


@picture
def components(model: Any, labels: Any = None, *, ax: Axes | None = None) -> Axes:
    """How do the training samples lie? Along the first two components of the combined kernel.

    Parameters
    ----------
    model : CombinedKernelPCA
        Fitted.
    labels : array-like of shape (n_samples,), default=None
        A colour, a marker and an entry of the legend for each.
    """
    points = getattr(model, "embedding_", None)
    if points is None or not hasattr(model, "explained_variance_ratio_"):
        raise TypeError(f"this picture is of a fitted CombinedKernelPCA; got {type(model).__name__}.")
    if points.shape[1] < 2:
        raise ValueError("a picture needs two components; got n_components=1.")
    groups = np.zeros(len(points), int) if labels is None else np.asarray(labels)
    if groups.shape != (len(points),):
        raise ValueError(
            f"labels must hold one label for each of the {len(points)} training samples; got shape "
            f"{groups.shape}."
        )
    ax = axes_for(ax)
    entries = _draw_groups(ax, {str(group): points[groups == group, :2] for group in np.unique(groups)})
    if labels is not None:
        add_legend_beside(ax, entries)
    ax.set_title("How do the samples lie?")
    _label_components(ax, model.explained_variance_ratio_)
    return ax


@picture_of("``gate`` and ``embedding``")
def gate(evaluation: Mapping[str, Any], view: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Where does a view count? The embedding of the samples, the brighter the more the view weighs there.

    The colours have one scale for all views, so that pictures of two views can be compared.

    Parameters
    ----------
    view : str, default=None
        Which view; that whose weight varies most if left out.
    """
    part, place = part_of(evaluation, "gate"), part_of(evaluation, "embedding")
    number = gated_view(evaluation, view)
    weights, (low, high) = _gate_weights(part)
    ax = axes_for(ax, width=6.4, height=5.2)
    entries, marks = [], None
    style: dict[str, Any] = {"cmap": "viridis", "vmin": low, "vmax": high}
    style |= {"s": 24, "edgecolors": "0.3", "linewidths": 0.4}
    groups = _by_class(samples_as_drawn(evaluation, gated=True), evaluation["classes"])
    for k, (label, own) in enumerate(groups.items()):
        if not own:
            continue
        x, y = _places(own).T
        shades = [weights[point["row"]][number] for point in own]
        marks = ax.scatter(x, y, c=shades, marker=MARKERS[k % len(MARKERS)], **style)
        marks.set_gid(SAMPLES)
        if label:
            entries.append((_marker(k), plain(label, longest=24)))
    if marks is not None:
        add_colour_bar(ax, marks, f"weight of {plain(part['views'][number])}")
    add_legend_below(ax, entries[:_MOST_NAMED])
    ax.set_title(f"Where does {plain(part['views'][number])} count?", **LITERAL)
    _label_components(ax, place["explained"])
    return ax


# ---------------------------------------------------------------------- what a page needs beside the picture
def samples_as_drawn(evaluation: Mapping[str, Any], *, gated: bool = False) -> list[Point]:
    """The points of the embedding in the order in which `embedding` and `gate` draw them.

    Points without a place are left out; with `gated` those without weights as well.
    """
    points = with_numbers(part_of(evaluation, "embedding")["points"], "x", "y")
    if gated:
        rows = {row["row"] for row in part_of(evaluation, "gate")["rows"]}
        points = [point for point in points if point["row"] in rows]
    return [point for own in _by_class(points, evaluation["classes"]).values() for point in own]


def describe_sample(sample: Point) -> str:
    """Say which sample it is, what it is, and what was predicted, as far as that is known.

    Examples
    --------
    >>> describe_sample({"row": 3, "label": "a", "predicted": "b"})
    'row 3, class a, predicted b'
    >>> describe_sample({"row": 3, "id": "patient 7", "value": 0.5})
    'patient 7, value 0.5'
    """
    words = [f"row {sample['row']}" if sample.get("id") is None else str(sample["id"])]
    for key, name in (("label", "class"), ("value", "value"), ("predicted", "predicted")):
        told = sample.get(key)
        if told is not None:
            words.append(f"{name} {told:.4g}" if isinstance(told, float) else f"{name} {told}")
    return ", ".join(words)


def gated_view(evaluation: Mapping[str, Any], view: str | None = None) -> int:
    """The number of the view that `gate` draws."""
    part = part_of(evaluation, "gate")
    names = [str(name) for name in part["views"]]
    if view is None:
        table = np.nan_to_num(np.array([row["weights"] for row in part["rows"]], float))
        return int(np.argmax(table.std(axis=0)))
    if str(view) not in names:
        raise ValueError(f"view must be one of {names}; got {view!r}.")
    return names.index(str(view))


def gate_shades(evaluation: Mapping[str, Any]) -> dict[str, list[str]]:
    """The colours that `gate` gives to the samples for every view, so that a page can switch between views.

    ``palette`` has 36 of them from the lowest to the highest weight; ``views``, for each view, a text with
    one digit to base 36 for each of `samples_as_drawn`, its place in the palette.
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    part = part_of(evaluation, "gate")
    weights, (low, high) = _gate_weights(part)
    table = np.array([weights[point["row"]] for point in samples_as_drawn(evaluation, gated=True)])
    last = len(_DIGITS) - 1
    levels = np.rint(last * (table - low) / (high - low)).astype(int).T
    return {
        "palette": [to_hex(colormaps["viridis"](level / last)) for level in range(len(_DIGITS))],
        "views": ["".join(_DIGITS[level] for level in row) for row in levels],
    }


# ---------------------------------------------------------------------- pieces
def _gate_weights(part: Mapping[str, Any]) -> tuple[dict[int, Array], tuple[float, float]]:
    """The weights of every sample by its row, and the lowest and highest of all."""
    table = np.nan_to_num(np.array([row["weights"] for row in part["rows"]], float))
    low, high = float(table.min(initial=0.0)), float(table.max(initial=0.0))
    weights = {row["row"]: own for row, own in zip(part["rows"], table, strict=True)}
    return weights, (low, max(high, low + 1e-12))


def _by_class(points: Sequence[Point], classes: Sequence[str]) -> dict[str, list[Point]]:
    """The points of each class, in the order of the classes; all under "" where they have none."""
    groups: dict[str, list[Point]] = {str(label): [] for label in classes}
    for point in points:
        label = point.get("label")
        groups.setdefault("" if label is None else str(label), []).append(point)
    return groups


def _places(points: Sequence[Point]) -> Array:
    return np.array([[point["x"], point["y"]] for point in points], float).reshape(-1, 2)


def _draw_groups(ax: Axes, groups: Mapping[str, Array]) -> list[tuple[Any, str]]:
    """Points (n, 2) of each group, with a colour and a marker of its own; entries of a legend."""
    entries = []
    for number, (label, places) in enumerate(groups.items()):
        if not len(places):  # it keeps its colour, but has no place in the legend
            continue
        (marks,) = ax.plot(*places.T, markersize=5, alpha=0.75, linestyle="none", **style_of(number))
        marks.set_gid(SAMPLES)
        if label:
            entries.append((marks, plain(label, longest=24)))
    more = len(entries) - _MOST_NAMED
    return entries[:_MOST_NAMED] + ([(entries[-1][0], f"… {more} more classes")] if more > 0 else [])


def _draw_rings(ax: Axes, points: Sequence[Point]) -> list[tuple[Any, str]]:
    """A ring around each sample that was predicted wrongly when held out; an entry of a legend."""
    known = [p for p in points if p.get("predicted") is not None and p.get("label") is not None]
    wrong = [point for point in known if str(point["predicted"]) != str(point["label"])]
    if not wrong:
        return []
    style: dict[str, Any] = {"markersize": 11, "markerfacecolor": "none", "markeredgecolor": "black"}
    (rings,) = ax.plot(*_places(wrong).T, "o", alpha=0.7, linewidth=0, **style)
    return [(rings, f"wrong when held out ({len(wrong)})")]


def _marker(number: int) -> Any:
    """The marker of the class of that number, for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], marker=MARKERS[number % len(MARKERS)], color="0.4", linewidth=0)


def _label_components(ax: Axes, explained: Any) -> None:
    """The axes by number and by what they explain."""
    known = (*explained, None, None)[:2]
    first, second = (f" ({share:.0%} of the variance)" if is_number(share) else "" for share in known)
    ax.set(xlabel=f"component 1{first}", ylabel=f"component 2{second}")


# ---------------------------------------------------------------------- kernels as maps
@picture_of("``heat_maps``")
def heat_map(
    evaluation: Mapping[str, Any], name: str = "learned kernel", *, bare: bool = False, ax: Axes | None = None
) -> Axes:
    """What does the kernel see? Its values as a map, with the samples ordered by class or by target.

    A good kernel has bright blocks along the diagonal: samples of a class are alike. The colours run from the
    5th to the 95th percentile, so that one outlier does not take them all.

    Parameters
    ----------
    name : str, default="learned kernel"
        Which kernel: the learned one, or the name of a view.
    bare : bool, default=False
        Whether to leave out the names of the classes and the bar of the colours, for a small picture.
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
    ax.set_ylabel("samples")
    return ax


@picture
def kernel_matrix(K: Any, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """What does this kernel see? A Gram matrix as a map, with its samples ordered by y.

    Parameters
    ----------
    K : array of shape (n_samples, n_samples)
        Similarities; not modified.
    y : array-like of shape (n_samples,), default=None
        Classes, whose samples are put side by side, or values, in whose order the samples are put. Fractions
        are values. The samples keep their order if left out.

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
    K = check_real_matrix(K, "K").astype(np.float64, copy=False)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size:
        raise ValueError(f"K must be one square matrix, shape (n, n); got shape {K.shape}.")
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"K must be finite; its entry at ({i}, {j}) is {K[i, j]}.")
    order, groups, words = _order(y, len(K))
    ax = _draw_map(K[np.ix_(order, order)], groups, ax)
    ax.set(title="What does the kernel see?", xlabel=f"samples, {words}", ylabel="samples")
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
