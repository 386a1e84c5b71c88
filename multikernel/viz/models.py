"""Pictures of a fitted model: its weights, its reasons, its way to the solution, what it says where."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import as_numbers, check_positive_integer
from .canvas import (
    BLUE,
    COLOURS,
    GREY,
    LINES,
    LITERAL,
    ORANGE,
    VERMILION,
    add_colour_bar,
    add_legend,
    add_legend_below,
    add_legend_beside,
    axes_for,
    axes_for_rows,
    bar_style,
    is_number,
    label_rows,
    picture,
    plain,
    style_of,
)
from .fitted import ViewShare, heaviest_first, is_local, last_of, machine_shares, percent, view_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_MARKED = 8  # machines with a mark of their own; more are drawn alike
_MOST_LINES = 6  # machines with a line of their own
_GAP = {"optimality": "relative gap to the best possible", "stationarity": "distance to a stationary point"}


@picture
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
    for place, row in enumerate(shown):
        ax.barh(place, 100.0 * row.share, height=0.7, **bar_style(row.share))
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    _draw_spread(ax, model, rows, order)
    _draw_machines(ax, machines)
    if all(row.share >= 0 for row in rows):
        ax.set_xlim(left=0.0)
    label_rows(ax, names, notes)
    mean = "mean " if is_local(model) or machines else ""
    ax.set(title="Which views count?", xlabel=f"share of the {mean}weight, %")
    return ax


def _draw_spread(ax: Axes, model: Any, rows: Sequence[ViewShare], order: Sequence[int]) -> None:
    """The standard deviation of the weights, of models that know it."""
    spread = getattr(model, "kernel_weights_std_", None)
    total = sum(abs(row.weight) for row in rows)
    if spread is None or total == 0:
        return
    shares, errors = [100.0 * rows[m].share for m in order], 100.0 * np.asarray(spread)[order] / total
    ax.errorbar(shares, range(len(order)), xerr=errors, fmt="none", ecolor=GREY, capsize=3)


def _draw_machines(ax: Axes, machines: dict[str, Any]) -> None:
    """A mark for each machine at each view."""
    entries = []
    for number, (name, shares) in enumerate(machines.items()):
        few = len(machines) <= _MOST_MARKED
        style = style_of(number + 1) if few else {"color": ORANGE, "marker": "o"}
        (marks,) = ax.plot(
            100.0 * shares, range(len(shares)), linewidth=0, markersize=5, markeredgecolor="white", **style
        )
        if few or number == 0:
            entries.append((marks, plain(name, longest=24) if few else f"each of {len(machines)} machines"))
    add_legend_below(ax, entries)


# ---------------------------------------------------------------------- contributions
@picture
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
    machine : str, default=None
        Which machine, by its name in ``machine_names_``; of one sample that with the highest score if left
        out.
    most : int, default=30
        The most views to draw.
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
    n_axes = 3 if getattr(model, "_precomputed", False) else 2
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


# ---------------------------------------------------------------------- convergence
@picture
def convergence(model: Any, *, ax: Axes | None = None) -> Axes:
    """Is it solved? The gap of each iteration on a logarithmic axis, with the gap that was asked for.

    Machines with weights of their own have a line each. A gap of zero has no logarithm: it stands at the foot
    of the picture, as a triangle. Of models without a gap the objective is drawn.

    Parameters
    ----------
    model : estimator, weight learner or mapping
        Fitted, with ``history_``; or a pipeline or a search that ends in one. A mapping has the steps under
        ``"history"``, and where they are known ``"tol"``, ``"certificate"`` and ``"machine_names"``, as
        ``multikernel.report.summarize(model)["convergence"]`` has them.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from matplotlib.figure import Figure
    >>> steps = [{"iteration": 1, "gap": 0.1}, {"iteration": 2, "gap": 1e-4}]
    >>> ax = convergence(SimpleNamespace(history_=steps, tol=1e-3), ax=Figure().subplots())
    >>> ax.lines[0].get_ydata().tolist()
    [0.1, 0.0001]
    """
    from matplotlib.ticker import MaxNLocator

    if isinstance(model, Mapping):
        if "history" not in model:
            raise ValueError('a dict must have the history, as summarize(model)["convergence"] does.')
        names, certificate = model.get("machine_names", []), model.get("certificate", "optimality")
        steps = {"history_": model["history"], "machine_names_": names}
        model = SimpleNamespace(**steps, tol=model.get("tol"), certificate=certificate)
    model, _ = last_of(model)
    key = "gap" if _has(model, "gap") else "objective"
    if not _has(model, key):
        raise ValueError(
            f"model must have a history of steps; {type(model).__name__} has none: it is not fitted, or "
            "solved in closed form. Call its fit, or draw its weights."
        )
    lines = _lines(model, key)
    ax = axes_for(ax, width=6.4 if len(lines) == 1 else 7.6)
    entries = _draw_lines(ax, lines, is_gap=key == "gap")
    names = _names(model, list(lines))
    legend = [(handle, name) for handle, name in zip(entries, names, strict=True) if name]
    if key == "gap":
        legend += _draw_tol(ax, model)
    if len(lines) == 1:
        add_legend(ax, legend, loc="upper right")
    else:
        add_legend_beside(ax, legend)
    certificate = str(getattr(model, "certificate", "optimality"))
    label = _GAP.get(certificate, "relative gap of the machines") if key == "gap" else "objective"
    ax.set(title="Is it solved?", xlabel="iteration", ylabel=label)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return ax


def _has(model: Any, key: str) -> bool:
    return any(is_number(step.get(key)) for step in getattr(model, "history_", None) or [])


def _lines(model: Any, key: str) -> dict[int, tuple[list[float], list[float]]]:
    """Iterations and values of each machine; steps without a number, numbered from 1, are left out."""
    found: dict[int, tuple[list[float], list[float]]] = {}
    counted: dict[int, int] = {}
    for step in model.history_:
        machine = int(step.get("machine") or 0)
        counted[machine] = counted.get(machine, 0) + 1
        if is_number(step.get(key)):
            iterations, values = found.setdefault(machine, ([], []))
            given = step.get("iteration")
            iterations.append(float(counted[machine] if given is None else given))
            values.append(float(step[key]))
    return found


def _draw_lines(ax: Axes, lines: dict[int, tuple[list[float], list[float]]], *, is_gap: bool) -> list[Any]:
    """A line for each machine; gaps on a logarithmic axis, with those of zero at its foot."""
    positive = [value for _, values in lines.values() for value in values if value > 0]
    foot = 10.0 ** (math.floor(math.log10(min(positive))) - 1) if positive else 1e-16
    handles = []
    for number, (iterations, values) in enumerate(lines.values()):
        heights = [foot if is_gap and value <= 0 else value for value in values]
        handles += ax.plot(iterations, heights, marker="o", markersize=3.5, **_line_style(number, len(lines)))
        exact = [(i, foot) for i, value in zip(iterations, values, strict=True) if is_gap and value <= 0]
        if exact:
            ax.plot(*zip(*exact, strict=True), "v", color=BLUE, markersize=9, linewidth=0)
            ax.annotate("0", exact[-1], (8, 0), textcoords="offset points", va="center")
    if is_gap:
        ax.set_yscale("log")
    return handles


def _line_style(number: int, n_lines: int) -> dict[str, Any]:
    if n_lines > _MOST_LINES:
        return {"color": BLUE, "alpha": 0.35, "linewidth": 1.0}
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": LINES[number % len(LINES)]}


def _draw_tol(ax: Axes, model: Any) -> list[tuple[Any, str]]:
    """The gap that was asked for, unless ``tol`` speaks of something else."""
    tol = getattr(model, "tol", None)
    if tol is None or getattr(model, "certificate", "optimality") == "machine":
        return []
    line = ax.axhline(tol, color=VERMILION if tol > 0 else GREY, linestyle="--", linewidth=1.0)
    return [(line, f"tol = {tol:g}")]


def _names(model: Any, machines: Sequence[int]) -> list[str]:
    """The names of the lines for the legend; none for a single one."""
    if len(machines) == 1:
        return [""]
    if len(machines) > _MOST_LINES:
        return [f"each of {len(machines)} machines", *[""] * (len(machines) - 1)]
    known = list(getattr(model, "machine_names_", []))
    return [str(known[m]) if len(known) > max(machines) else f"machine {m}" for m in machines]


# ---------------------------------------------------------------------- the plane of two columns
@picture
def decision_regions(
    model: Any, X: Any, y: Any = None, *, n_steps: int = 150, ax: Axes | None = None
) -> Axes:
    """What does it say where? The predictions of a model of two columns over their plane, and the samples.

    Classifiers: the region of each class, in the colour of its samples. Regressors: the predicted value, in
    the colours of the observed ones. Novelty detectors: the border, with the inside tinted.

    Parameters
    ----------
    model : estimator
        Fitted on two columns; a pipeline or a search too.
    X : array or DataFrame of shape (n_samples, 2)
        Samples to draw, and how far the plane reaches.
    y : array-like of shape (n_samples,), default=None
        Their classes or values.
    n_steps : int, default=150
        Points along each side of the grid at which the model predicts.
    """
    if not hasattr(model, "__sklearn_tags__"):
        raise TypeError(f"model must be a fitted estimator; got {type(model).__name__}.")
    check_is_fitted(model)
    points = np.asarray(as_numbers(X, "X"), np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"X must have two columns, shape (n, 2), for a picture of the plane; got shape {points.shape}. "
            "Fit a model on two columns, or draw its weights."
        )
    targets = None if y is None else np.asarray(y)
    if targets is not None and targets.shape != (len(points),):
        raise ValueError(
            f"y must hold one target for each of the {len(points)} rows of X; got shape {targets.shape}."
        )
    ax = axes_for(ax, width=5.8, height=5.0)
    grid = _grid(points, n_steps)
    table = _table_like(X, np.column_stack([side.ravel() for side in grid]))
    if is_classifier(model):
        _draw_classes(ax, model, grid, table, points, targets)
    elif is_outlier_detector(model):
        _draw_border(ax, model, grid, table, points)
    else:
        _draw_values(ax, model, grid, table, points, targets)
    names = [str(name) for name in getattr(X, "columns", ["column 0", "column 1"])]
    ax.set_title("What does it say where?")
    ax.set_xlabel(plain(names[0]), **LITERAL)
    ax.set_ylabel(plain(names[1]), **LITERAL)
    return ax


def _grid(points: Array, n_steps: int) -> list[Array]:
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, 0.08 * (high - low), 1.0)
    check_positive_integer("n_steps", n_steps)
    sides = [np.linspace(low[k] - margin[k], high[k] + margin[k], n_steps) for k in range(2)]
    return list(np.meshgrid(*sides))


def _table_like(X: Any, rows: Array) -> Any:
    """Rows as a table of the kind that the model was fitted on: with names where X has them."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "columns") else rows


def _draw_classes(
    ax: Axes, model: Any, grid: list[Array], table: Any, points: Array, targets: Array | None
) -> None:
    for k, inside in enumerate(_margins(model, table)):
        _tint(ax, grid, inside.reshape(grid[0].shape), COLOURS[k % len(COLOURS)])
    if targets is None:
        ax.plot(*points.T, ".", color="0.3", markersize=4, linewidth=0)
        return
    entries = []
    for k, label in enumerate(model.classes_):
        own = points[targets == label]
        (marks,) = ax.plot(*own.T, markersize=5, markeredgecolor="white", linewidth=0, **style_of(k))
        entries.append((marks, plain(label, longest=24)))
    add_legend_beside(ax, entries)


def _margins(model: Any, table: Any) -> Array:
    """How far each class is ahead of the others at each point, (n_classes, n); below zero where it is not.

    By the scores, for smooth borders, where these decide; else by the predictions alone.
    """
    classes = model.classes_
    scores = np.asarray(model.decision_function(table)) if hasattr(model, "decision_function") else None
    if scores is not None and scores.ndim == 1:
        return np.stack([-scores, scores])
    if scores is None or scores.shape[1] != len(classes):
        return np.where(np.asarray(model.predict(table)) == classes[:, None], 1.0, -1.0)
    ordered = np.sort(scores, axis=1)
    rivals = np.where(scores == ordered[:, -1:], ordered[:, -2:-1], ordered[:, -1:])
    return np.asarray((scores - rivals).T)


def _tint(ax: Axes, grid: list[Array], inside: Array, colour: str) -> None:
    """Tint where a score is above zero, with a line around it."""
    if inside.max() > 0.0:
        ax.contourf(*grid, inside, levels=[0.0, np.inf], colors=[colour], alpha=0.18)
    if inside.min() < 0.0 < inside.max():
        ax.contour(*grid, inside, levels=[0.0], colors=["0.3"], linewidths=1.0)


def _draw_border(ax: Axes, model: Any, grid: list[Array], table: Any, points: Array) -> None:
    _tint(ax, grid, np.asarray(model.decision_function(table)).reshape(grid[0].shape), BLUE)
    inside = np.asarray(model.predict(_table_like(table, points))) > 0
    (own,) = ax.plot(*points[inside].T, "o", color=BLUE, markersize=4, linewidth=0)
    (other,) = ax.plot(*points[~inside].T, "X", color=VERMILION, markersize=7, linewidth=0)
    add_legend_beside(ax, [(own, "as the others"), (other, "outlier")])


def _draw_values(
    ax: Axes, model: Any, grid: list[Array], table: Any, points: Array, targets: Array | None
) -> None:
    values = np.asarray(model.predict(table), float).reshape(grid[0].shape)
    seen = values if targets is None else np.concatenate([values.ravel(), targets.astype(float)])
    low, high = float(seen.min()), float(seen.max())
    limits: dict[str, Any] = {"vmin": low, "vmax": high if high > low else low + 1.0}
    image = ax.pcolormesh(*grid, values, cmap="viridis", shading="nearest", rasterized=True, **limits)
    add_colour_bar(ax, image, "predicted; samples: observed")
    if targets is None:
        ax.plot(*points.T, "o", color="0.2", markeredgecolor="white", markersize=5, linewidth=0)
        return
    shade = targets.astype(float)
    ax.scatter(points[:, 0], points[:, 1], s=22, c=shade, cmap="viridis", edgecolors="white", **limits)
