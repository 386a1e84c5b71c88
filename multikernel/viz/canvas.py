"""What all pictures share: axes that are given or made, colours for every eye, names drawn as they are.

The parts of an evaluation that pictures draw are found here too, or why one of them is not there. matplotlib
is imported by the functions that need it: importing an estimator does not import it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, distinguished by every eye; markers and lines tell apart without any colour.
BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9"
COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)
MARKERS = "os^Dv<>P*X"
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3)))
GREY = "0.55"

# A name with $, _ or % is no formula.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}
_LONGEST_NAME = 40
_SMALLEST_FONT = 4.0

# Parts of held-out predictions, by what is predicted.
_TASKS = {
    "confusion": "classification",
    "roc": "classification",
    "calibration": "classification",
    "residuals": "regression",
}

_EVALUATION = """

Parameters
----------
evaluation : dict
    Of ``multikernel.inspection.evaluate``, with """
_SHARED = """
ax : Axes, default=None
    Where to draw; a new figure if left out.

Returns
-------
Axes
"""
Draw = TypeVar("Draw", bound=Callable[..., Any])


def picture(draw: Draw) -> Draw:
    """Add to the docstring of a picture what all share: its last parameter ``ax``, and what is returned."""
    head, examples, rest = inspect.cleandoc(draw.__doc__ or "").partition("\n\nExamples\n")
    draw.__doc__ = head + _SHARED + examples.removeprefix("\n") + rest
    return draw


def picture_of(parts: str) -> Callable[[Draw], Draw]:
    """Add to the docstring of a picture of an evaluation that parameter too, with the parts that it needs."""

    def with_evaluation(draw: Draw) -> Draw:
        first, _, others = inspect.cleandoc(draw.__doc__ or "").partition("\n\nParameters\n----------")
        plural = "s" if " and " in parts else ""
        draw.__doc__ = f"{first}{_EVALUATION}the part{plural} {parts}.{others}"
        return picture(draw)

    return with_evaluation


def axes_for(ax: Any, *, width: float = 6.4, height: float = 4.8) -> Axes:
    """The axes given, or those of a new figure of a size in inches."""
    from matplotlib.axes import Axes

    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(
            f"ax must be one matplotlib Axes, such as that of plt.subplots(); got {type(ax).__name__}. "
            "Leave it out for a new figure."
        )
    for side in ("top", "right"):
        if side in ax.spines:
            ax.spines[side].set_visible(False)
    return ax


def axes_for_rows(ax: Any, names: Sequence[Any], *, extra: float = 0.0) -> Axes:
    """The axes given, or new ones with room for a row for each name, and more inches in height if asked."""
    longest = max((len(plain(name)) for name in names), default=0)
    width = 6.4 + 0.08 * max(longest - 15, 0)
    return axes_for(ax, width=width, height=1.4 + 0.3 * max(len(names), 2) + extra)


def plain(name: Any, longest: int = _LONGEST_NAME) -> str:
    """A name on one line, without what cannot be printed; of a long one both ends are kept.

    Examples
    --------
    >>> plain("two\\nlines")
    'two lines'
    >>> plain("gaussian(gamma=0.001)", longest=12)
    'gauss…0.001)'
    """
    characters = [c if c.isprintable() or c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in str(name)]
    text = " ".join("".join(characters).split())
    if len(text) <= longest:
        return text
    head = (longest - 1) // 2
    return f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"


def label_rows(ax: Axes, names: Sequence[Any], notes: Sequence[str] = (), *, what: str = "view") -> None:
    """Names down the left side, first on top, and notes down the right, small enough for their rows.

    `what` is the label of that axis: what has these names.
    """
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(5))  # the numbers of more would meet
    font = row_font(ax, len(names))
    ax.set_yticks(range(len(names)), [plain(name) for name in names], fontsize=font, **LITERAL)
    ax.set_ylabel(what)
    spare = max(3 - len(names), 0) / 2.0  # a single bar is no wall
    ax.set_ylim(len(names) - 0.4 + spare, -0.6 - spare)
    for place, note in enumerate(notes):
        ax.text(1.02, place, note, va="center", fontsize=font, transform=ax.get_yaxis_transform())


def row_font(ax: Axes, n_rows: int) -> float:
    """The size in points of text that `n_rows` rows leave room for."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    figure = ax.get_figure(root=True)
    assert figure is not None
    points = ax.get_position().height * figure.get_figheight() * 72.0 / max(n_rows, 1)
    usual = FontProperties(size=rcParams["ytick.labelsize"]).get_size_in_points()
    return max(min(float(usual), 0.8 * points), _SMALLEST_FONT)


def add_legend(ax: Axes, entries: Sequence[tuple[Any, Any]], **where: Any) -> None:
    """A legend of pairs of what is drawn and its name; a name may start with _ or hold formulas."""
    if not entries:
        return
    legend = ax.legend([handle for handle, _ in entries], ["·"] * len(entries), frameon=False, **where)
    for text, (_, name) in zip(legend.get_texts(), entries, strict=True):
        text.update({"text": plain(name, longest=80), **LITERAL})


def add_legend_beside(ax: Axes, entries: Sequence[tuple[Any, Any]]) -> None:
    """A legend on the right of the axes, a line for each name, where it hides nothing."""
    add_legend(ax, entries, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, fontsize="small")


def add_legend_below(ax: Axes, entries: Sequence[tuple[Any, Any]], n_columns: int = 4) -> None:
    """A legend below the axis, four names a line or as many as given, where it hides nothing."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    inches = ax.get_position().height * figure.get_figheight()
    add_legend(
        ax,
        entries,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.5 / inches),
        ncols=min(len(entries), n_columns),
        columnspacing=1.2,
        fontsize="small",
    )


def add_colour_bar(ax: Axes, drawn: Any, label: str, *, extend: str = "neither") -> None:
    """A bar of the colours beside the axes, as high as they are; with tips where values go beyond it."""
    bar = ax.figure.colorbar(drawn, cax=ax.inset_axes((1.03, 0.0, 0.045, 1.0)), extend=extend)
    bar.set_label(label, **LITERAL)


def style_of(number: int) -> dict[str, Any]:
    """Colour and marker of the class of that number; no two of the first thirty are the same."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def bar_style(value: float) -> dict[str, Any]:
    """How a bar is drawn: those below zero are hatched, so that they differ without color too."""
    if value < 0:
        return {"color": VERMILION, "hatch": "///", "edgecolor": "white"}
    return {"color": BLUE}


def is_number(value: Any) -> bool:
    """Whether a value can be drawn."""
    return value is not None and math.isfinite(value)


def with_numbers(rows: Sequence[Mapping[str, Any]], *keys: str) -> list[Mapping[str, Any]]:
    """The rows that have a number under each of the keys: the others cannot be drawn."""
    return [row for row in rows if all(is_number(row[key]) for key in keys)]


# ---------------------------------------------------------------------- parts of an evaluation
def part_of(evaluation: Any, *path: str) -> Any:
    """One part of an evaluation, such as ``part_of(evaluation, "held_out", "roc")``, or why there is none."""
    if not isinstance(evaluation, Mapping) or "omitted" not in evaluation:
        raise TypeError(
            "evaluation must be what multikernel.inspection.evaluate(model, X, y) returns; got "
            f"{type(evaluation).__name__}."
        )
    found: Any = evaluation
    for name in path:
        found = found.get(name)
        if found is None:
            raise ValueError(_absence(evaluation, path))
    return found


def _absence(evaluation: Mapping[str, Any], path: tuple[str, ...]) -> str:
    name, task = path[-1], _TASKS.get(path[-1])
    head = f"this evaluation has no {name.replace('_', ' ')}"
    reasons = _reasons(evaluation, path)
    if reasons:
        return f"{head}: {' '.join(reasons)} What each part needs stands at multikernel.inspection.evaluate."
    if task is not None and evaluation["task"] != task:
        return f"{head}: that is for {task}; the task of this model is {evaluation['task']}."
    return f"{head}. Ask for it: evaluate(model, X, y, parts=[{path[0]!r}])."


def _reasons(evaluation: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    """Why the part is missing; of a part of a part, what is said of it alone ("ROC: …") where others are."""
    told = [str(entry["why"]) for entry in evaluation["omitted"] if entry["part"] == path[0]]
    if evaluation.get(path[0]) is not None:
        told = [why for why in told if why.lower().startswith(f"{path[-1]}:")]
    return told
