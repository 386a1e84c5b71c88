"""A picture of the data: which samples have which views, how large these are, and the classes in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from .._typing import Array
from .._validation import as_list
from .._validation.missing import absent_rows
from .canvas import BLUE, COLOURS, LITERAL, add_legend_beside, axes_for, picture, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LEVEL = 6  # views whose names stand beside each other; more are turned
_MOST_SIZED = 30  # views below which there is room for their sizes
_MOST_CLASSES = 12  # in the legend
_MOST_CELLS = 2000  # of a picture that is drawn cell by cell; a larger one is an image


def describe_data(X: Any, y: Any = None) -> dict[str, Any]:
    """Which samples have which views, in numbers that ``json.dumps`` takes.

    A sample lacks a view where all its entries are missing: all columns of a table, its row of a kernel.

    Parameters
    ----------
    X : table, MultiTable, dict or list of tables or Gram matrices, or stack of Gram matrices
        Each table has a row for each sample. The views of one table are given by ``view_tables(X, kernels)``
        of ``multikernel.views``.
    y : array-like of shape (n_samples,), default=None
        Classes of the samples. Fractions are values, which are not shown.

    Returns
    -------
    dict
        ``n_samples``; ``views``, with ``name``, ``columns`` (None of kernels), ``samples`` that have it and
        ``missing``; ``classes``, with ``name`` and ``samples``; ``patterns``, with ``present`` (for each
        view), ``samples`` and ``classes`` (numbers of samples), those with most views first.

    Examples
    --------
    >>> found = describe_data({"a": np.ones((3, 2)), "b": np.array([[1.0], [np.nan], [2.0]])})
    >>> found["views"][1]
    {'name': 'b', 'columns': 1, 'samples': 2, 'missing': 1}
    >>> [(pattern["present"], pattern["samples"]) for pattern in found["patterns"]]
    [([True, True], 2), ([True, False], 1)]
    """
    tables, is_gram = _tables_of(X)
    absent = {name: np.asarray(absent_rows(table)) for name, table in tables.items()}
    lengths = {name: len(rows) for name, rows in absent.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {n}" for name, n in lengths.items())
        raise ValueError(
            f"all tables must have the same samples; {told} rows. Align them with join_views(tables)."
        )
    present = ~np.column_stack(list(absent.values()))
    names, codes = _classes(y, len(present))
    views = [
        {
            "name": str(name),
            "columns": None if is_gram else int((*np.shape(table), 1)[1]),
            "samples": int(has.sum()),
            "missing": int((~has).sum()),
        }
        for (name, table), has in zip(tables.items(), present.T, strict=True)
    ]
    return {
        "n_samples": len(present),
        "views": views,
        "classes": [{"name": n, "samples": int((codes == c).sum())} for c, n in enumerate(names)],
        "patterns": _patterns(present, codes, len(names)),
    }


def _tables_of(X: Any) -> tuple[dict[str, Any], bool]:
    """The tables by name, and whether they are Gram matrices."""
    if hasattr(X, "tables") and isinstance(X.tables, Mapping):  # a MultiTable
        return dict(X.tables), False
    if scipy.sparse.issparse(X):  # before dicts: some sparse matrices are such
        return {"X": X.tocsr()}, False
    if isinstance(X, Mapping) or (isinstance(X, list | tuple) and X and hasattr(X[0], "shape")):
        given = dict(X) if isinstance(X, Mapping) else {f"table-{i}": table for i, table in enumerate(X)}
        if not given:
            raise ValueError("the data must hold at least one table; got none.")
        tables = {name: _plain_table(table) for name, table in given.items()}
        shapes = {np.shape(table) for table in tables.values()}
        square = len(shapes) == 1 and len(next(iter(shapes))) == 2 and len(set(next(iter(shapes)))) == 1
        return tables, square
    if np.ndim(X) == 3:
        names = getattr(X, "names", None) or [f"kernel-{m}" for m in range(np.shape(X)[2])]
        stack = np.asarray(X)
        return {str(name): stack[:, :, m] for m, name in enumerate(names)}, True
    return {"X": _plain_table(X)}, False


def _plain_table(table: Any) -> Any:
    if not hasattr(table, "iloc") and hasattr(table, "to_pandas"):  # a frame of another library
        return table.to_pandas()
    if isinstance(table, memoryview):
        return np.asarray(table)
    if scipy.sparse.issparse(table):  # other kinds cannot be sliced
        return table.tocsr()
    return table if hasattr(table, "shape") else as_list("X", table, "rows, or a table")


def _classes(y: Any, n: int) -> tuple[list[str], Array]:
    """Names of the classes, and the number of that of each sample; all 0 where there are none."""
    none: tuple[list[str], Array] = ([], np.zeros(n, int))
    if y is None:
        return none
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must hold one label for each of the {n} samples; got shape {labels.shape}.")
    if labels.dtype.kind == "f" and not np.array_equal(labels, np.round(labels)):
        return none
    names, codes = np.unique(labels.astype(str) if labels.dtype.kind == "O" else labels, return_inverse=True)
    return [str(name) for name in names], codes


def _patterns(present: Array, codes: Array, n_classes: int) -> list[dict[str, Any]]:
    kinds, which = np.unique(present, axis=0, return_inverse=True)
    counts = np.bincount(which)
    order = np.lexsort((-counts, -kinds.sum(axis=1)))
    return [
        {
            "present": kinds[kind].tolist(),
            "samples": int(counts[kind]),
            "classes": np.bincount(codes[which == kind], minlength=n_classes).tolist() if n_classes else [],
        }
        for kind in order
    ]


@picture
def data_overview(X: Any, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Who has what? A column for each view, filled where samples have it; below it its size.

    The samples run from top to bottom, those with most views first. With classes, a narrow column on the left
    has their colours.

    Parameters
    ----------
    X : MultiTable, dict of tables, stack of Gram matrices, or what ``describe_data`` returned
        As for :func:`describe_data`.
    y : array-like of shape (n_samples,), default=None
        Classes of the samples.
    """
    data = X if isinstance(X, Mapping) and "patterns" in X else describe_data(X, y)
    views, patterns = data["views"], data["patterns"]
    ax = axes_for(ax, width=min(3.2 + 1.1 * len(views), 14.0), height=5.0)
    heights = np.concatenate([[0], np.cumsum([pattern["samples"] for pattern in patterns])])
    present = np.array([pattern["present"] for pattern in patterns], bool).reshape(-1, len(views))
    drawn = _draw_cells(ax, np.arange(len(views) + 1) - 0.5, heights, np.where(present, 0, -1), [BLUE])
    for place in range(1, len(views)):
        ax.axvline(place - 0.5, color="white", linewidth=2.0)
    for height in heights[1:-1] if len(patterns) <= _MOST_SIZED else ():
        ax.axhline(height, color="0.55", linewidth=0.6)
    entries = [(drawn, "has the view")] if not present.all() else []
    if data["classes"]:
        entries += _draw_classes(ax, data)
    add_legend_beside(ax, entries)
    _label_views(ax, views, data["n_samples"])
    ax.set_xlim(-1.05 if data["classes"] else -0.5, len(views) - 0.5)
    ax.set_ylim(data["n_samples"], 0)
    order = ", those with most views first" if not present.all() else ""
    ax.set(title="Who has what?", xlabel="view", ylabel=f"samples{order}")
    return ax


def _draw_cells(ax: Axes, across: Any, down: Any, codes: Array, colours: list[str]) -> Any:
    """Cells of the colour of their number; none where it is below 0. What stands for them in a legend."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    ax.pcolormesh(
        across,
        down,
        np.ma.masked_less(codes, 0),
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
        rasterized=codes.size > _MOST_CELLS,
    )
    return Patch(color=colours[0])


def _draw_classes(ax: Axes, data: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """The column of the classes: within each pattern, one class after the other."""
    from matplotlib.patches import Patch

    counts = [count for pattern in data["patterns"] for count in pattern["classes"]]
    codes = [c for pattern in data["patterns"] for c in range(len(pattern["classes"]))]
    names = data["classes"]
    colours = [COLOURS[(c + 1) % len(COLOURS)] for c in range(len(names))]  # blue is for the views
    kept = [place for place, count in enumerate(counts) if count]
    edges = np.concatenate([[0], np.cumsum([counts[place] for place in kept])])
    _draw_cells(ax, [-1.0, -0.7], edges, np.array([[codes[place]] for place in kept]), colours)
    entries = [
        (Patch(color=colour), f"{plain(each['name'], longest=24)} ({each['samples']})")
        for colour, each in zip(colours, names, strict=True)
    ]
    more = len(entries) - _MOST_CLASSES
    return entries[:_MOST_CLASSES] + ([(entries[-1][0], f"… {more} more classes")] if more > 0 else [])


def _label_views(ax: Axes, views: list[Mapping[str, Any]], n: int) -> None:
    """The name of each view, the number of its columns and of the samples that have it."""
    labels = []
    for view in views:
        lines = [plain(view["name"], longest=24)]
        if len(views) <= _MOST_SIZED:
            lines += [] if view["columns"] is None else [_counted(view["columns"], "column")]
            lines.append(
                _counted(n, "sample") if not view["missing"] else f"{view['samples']} of {n} samples"
            )
        labels.append("\n".join(lines))
    turned: dict[str, Any] = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"}
    is_wide = len(views) > _MOST_LEVEL
    font = "small" if len(views) <= _MOST_SIZED else max(4.0, 240.0 / len(views))
    ax.set_xticks(range(len(views)), labels, fontsize=font, **(turned if is_wide else {}), **LITERAL)
    ax.tick_params(axis="x", length=0)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}".replace(",", "\N{NARROW NO-BREAK SPACE}")
