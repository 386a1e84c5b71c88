"""What each view adds to a decision."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._validation import check_positive_integer
from ._canvas import BLUE, GREY, LITERAL, VERMILION, axes_for_rows, bar_style, label_rows, plain
from ._models import last_of

Array = np.ndarray[Any, np.dtype[Any]]


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
