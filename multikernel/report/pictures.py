"""The pictures of a report: those of `multikernel.viz`, as SVG within the page."""

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from markupsafe import Markup

from multikernel import viz
from multikernel.report.summary import Summary
from multikernel.report.words import format_cell, format_gap
from multikernel.viz.canvas import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, plain, with_numbers
from multikernel.viz.samples import SAMPLES, describe_sample, gate_shades, gated_view, samples_as_drawn
from multikernel.viz.svg import draw_svg

Evaluation = Mapping[str, Any]
Size = tuple[float, float]

# The colors of the pictures as the style sheet names them, so that dark pages have light ones.
_INKS = {
    BLUE: "var(--c0)",
    VERMILION: "var(--c1)",
    GREEN: "var(--c2)",
    PURPLE: "var(--c3)",
    ORANGE: "var(--c4)",
    SKY: "var(--c5)",
    "#ffffff": "var(--page)",
    "#8c8c8c": "var(--quiet)",
    "#4c4c4c": "var(--quiet)",
    "#666666": "var(--quiet)",
    "#404040": "var(--text)",
    "#e6e6e6": "var(--track)",
}
_MOST_LEVEL = 4  # names of columns that stand beside each other; more are turned
_SMALL, _SQUARE, _WIDE = (4.6, 3.2), (4.4, 4.0), (6.4, 4.4)
_MOST_ROWS, _MOST_STEPS, _MOST_SETS, _MOST_NAMED = 30, 10, 25, 40
_BELOW = "Every value is in the table below."


def draw_pictures(summary: Summary) -> dict[str, Any]:
    """Draw everything of a summary that has a picture.

    By name: the parts of an evaluation and ``convergence``, None where there is nothing to draw;
    ``heat_maps``, one for each kernel; ``gate_shades`` and ``gate_view``, to show the gate of another view.
    """
    evaluation = {"omitted": [], "classes": [], "task": None} | (summary.get("evaluation") or {})
    drawn: dict[str, Any] = {name: _draw(name, evaluation) for name in _PICTURES}
    if drawn["gate"] is not None:
        drawn |= {"gate_shades": gate_shades(evaluation), "gate_view": gated_view(evaluation)}
    drawn["data"] = _data(evaluation.get("data"))
    drawn |= {name: _of_times(name, evaluation) for name in _OF_TIMES}
    drawn |= _why(evaluation.get("why"))
    drawn |= {
        "class_weights": _class_weights(summary),
        "selection": _selection(evaluation.get("selection")),
        "enrichment": _enrichment(evaluation.get("enrichment")),
        "cross_view": _cross_view(evaluation.get("cross_view")),
    }
    return drawn | {"heat_maps": _heat_maps(evaluation), "convergence": _convergence(summary)}


def _svg(draw: Callable[[Any], Any], name: str, size: Size, title: str, **more: Any) -> Markup:
    # what comes from the data is escaped where the SVG is written
    hover = "marks" not in more
    return Markup(draw_svg(draw, name, size=size, title=title, inks=_INKS, hover=hover, **more))


# ---------------------------------------------------------------------- parts of an evaluation
class _Picture(NamedTuple):
    """What is said of a picture, of what it draws: `keys` are those that must have numbers."""

    keys: tuple[str, ...]
    size: Callable[[Sequence[Any]], Size]
    title: str
    words: Callable[[Sequence[Any], Evaluation], str]


def _draw(name: str, evaluation: Evaluation) -> Markup | None:
    """The picture of a part; None where the part is missing or nothing of it can be drawn."""
    keys, size, title, words = _PICTURES[name]
    found = (evaluation.get("held_out") or {}).get(name) if name in _HELD_OUT else evaluation.get(name)
    if not found or (name == "gate" and not (evaluation.get("embedding") and found["views"])):
        return None
    of_samples = name in ("embedding", "gate")
    if of_samples:
        rows = samples_as_drawn(evaluation, gated=name == "gate")
    else:
        rows = with_numbers(found[_HELD_OUT.get(name, "rows")], *keys)
    if not rows:
        return None

    def draw(ax: Any) -> None:
        getattr(viz, name)(evaluation, ax=ax)
        for bar in ax.child_axes if name == "gate" else ():
            bar.set_ylabel("weight")  # of which view, the page says, where another can be chosen

    identifier = name if name in _HELD_OUT else f"{name.replace('_', '-')}-picture"
    more = {"marks": SAMPLES, "says": [describe_sample(point) for point in rows]} if of_samples else {}
    return _svg(draw, identifier, size(rows), title, description=words(rows, evaluation), **more)


def _of_times(name: str, evaluation: Evaluation) -> Markup | None:
    """A picture of the held-out predictions of a survival model."""
    part, size, title, words = _OF_TIMES[name]
    if not (evaluation.get("held_out") or {}).get(part):
        return None
    draw = getattr(viz, name)
    identifier = name.replace("_", "-")
    return _svg(lambda ax: draw(evaluation, ax=ax), identifier, size, title, description=f"{words} {_BELOW}")


# Of survival models: the part of the held-out predictions, the size, the title and what is drawn.
_OF_TIMES: dict[str, tuple[str, Size, str, str]] = {
    "kaplan_meier": (
        "groups",
        (6.4, 4.6),
        "Survival of the groups of risk",
        "Kaplan and Meier's curves of held-out samples, with bands and the numbers at risk.",
    ),
    "survival_calibration": (
        "survival_calibration",
        _SQUARE,
        "Calibration of the predicted survival",
        "Observed against predicted survival, in groups of samples.",
    ),
    "brier_curve": ("brier", _SMALL, "Brier score over time", "The Brier score at some times."),
    "auc_curve": ("auc", _SMALL, "AUC over time", "The area under the ROC curve at some times."),
}


def _rows_size(rows: Sequence[Any]) -> Size:
    longest = max(len(plain(row["view"] if "view" in row else row["name"])) for row in rows)
    return 5.4 + 0.06 * max(longest - 12, 0), 1.1 + 0.26 * min(max(len(rows), 2), _MOST_ROWS)


# The parts of held-out predictions that have a picture, and what of each is drawn.
_HELD_OUT = {"roc": "curves", "calibration": "bins", "residuals": "points"}
_PICTURES = {
    "stability": _Picture(
        ("mean", "low", "high"),
        lambda rows: (_rows_size(rows)[0], _rows_size(rows)[1] + 0.3),
        "Share of the weight of each view over several fits",
        lambda rows, _: f"{len(rows)} views, those of most weight first. {_BELOW}",
    ),
    "without_view": _Picture(
        ("effect",),
        _rows_size,
        "Loss of score without each view",
        lambda rows, _: f"{len(rows)} views, the largest loss first. {_BELOW}",
    ),
    "baselines": _Picture(
        ("score",),
        _rows_size,
        "Score of the model and of the baselines",
        lambda rows, _: f"{len(rows)} models on the same folds. {_BELOW}",
    ),
    "learning_curve": _Picture(
        ("n_train", "score", "train"),
        lambda rows: _SMALL,
        "Scores by the number of training samples",
        lambda rows, _: f"{len(rows)} sizes, on training and on held-out samples. {_BELOW}",
    ),
    "roc": _Picture(
        (),
        lambda curves: _SQUARE if len(curves) <= 5 else (5.4, 3.4),
        "ROC curves of the held-out samples",
        lambda curves, _: (
            f"The true positive rate against the false positive rate, {len(curves)} "
            f"{'curve' if len(curves) == 1 else 'curves'}. The area under each is in the table below."
        ),
    ),
    "calibration": _Picture(
        ("predicted", "observed"),
        lambda _: _SQUARE,
        "Calibration of the predicted probabilities",
        lambda bins, _: (
            "The observed frequency against the predicted probability, "
            f"{len(bins)} groups of samples. {_BELOW}"
        ),
    ),
    "residuals": _Picture(
        ("observed", "predicted"),
        lambda _: (4.6, 3.8),
        "Residuals of the held-out samples",
        lambda points, evaluation: (
            f"Observed minus predicted against predicted, {len(points)} samples, R² "
            f"{format_cell(evaluation['held_out']['residuals']['r2'])}. The largest misses are in the table."
        ),
    ),
    "embedding": _Picture(
        (),
        lambda _: _WIDE,
        "The samples in two dimensions",
        lambda points, evaluation: (
            f"{len(points)} samples by {evaluation['embedding']['method']}. Where "
            "they lie is in the table below."
        ),
    ),
    "gate": _Picture(
        (),
        lambda _: _WIDE,
        "The weight of a view over the samples",
        lambda points, _: (
            f"{len(points)} samples in the places of the picture before, colored by the "
            "weight that the chosen view has for them. Every weight is in the table below."
        ),
    ),
}


def _data(data: Mapping[str, Any] | None) -> Markup | None:
    """Who has what."""
    if not data:
        return None
    width = min(2.6 + 1.1 * len(data["views"]), 7.6) + (1.4 if data["classes"] else 0.0)
    told = f"{data['n_samples']} samples by {len(data['views'])} views. {_BELOW}"
    return _svg(
        lambda ax: viz.data_overview(data, ax=ax),
        "data-picture",
        (width, 3.8),
        "Which samples have which views",
        description=told,
    )


# ---------------------------------------------------------------------- reasons
def _why(why: Mapping[str, Any] | None) -> dict[str, Any]:
    """How the scores of the most wrong samples come about, what views are worth, the first columns."""
    if not why:
        return {"waterfalls": [], "shapley": None, "columns": None, "contributions": None}
    waterfalls = (why["worst"] or {"waterfalls": []})["waterfalls"]
    return {
        "waterfalls": [_waterfall(steps, number) for number, steps in enumerate(waterfalls)],
        "shapley": _shapley(why["shapley"]),
        "columns": _columns(why["columns"]),
        "contributions": _contributions(why.get("contributions")),
    }


def _waterfall(steps: Mapping[str, Any], number: int) -> dict[str, Any]:
    n = min(len(steps["rows"]), _MOST_STEPS)
    longest = max((len(plain(step["name"])) for step in steps["rows"]), default=0)
    title = f"How the score of {steps['id']} comes about"
    told = f"From {steps['start_name']} {format_cell(steps['start'])}, by {len(steps['rows'])} views, to "
    picture = _svg(
        lambda ax: viz.waterfall(steps, most=_MOST_STEPS, ax=ax),
        f"waterfall{number}",
        (4.6 + 0.06 * max(longest - 12, 0), 1.2 + 0.26 * (n + 3)),
        title,
        description=f"{told}{format_cell(steps['score'])}. {_BELOW}",
    )
    shaded = " Shaded: what the duality gap leaves open." if steps.get("low") is not None else ""
    return {"picture": picture, "caption": f"{title}.{shaded}"}


def _shapley(shapley: Mapping[str, Any] | None) -> Markup | None:
    rows = with_numbers(shapley["rows"], "shapley") if shapley else []
    if not rows:
        return None
    width, height = _rows_size(rows)
    told = f"{len(rows)} views, those of most worth first. {_BELOW}"
    return _svg(
        lambda ax: viz.shapley(shapley, ax=ax),
        "shapley-picture",
        (width, height + 0.4),
        "Shapley value of each view",
        description=told,
    )


def _columns(columns: Mapping[str, Any] | None) -> Markup | None:
    rows = with_numbers(columns["rows"], "importance") if columns else []
    if not rows:
        return None
    views = {plain(row["view"]) for row in rows}
    longest = max(max(len(plain(row["feature"])) for row in rows), max(map(len, views)))

    def draw(ax: Any) -> None:
        viz.importance(columns, ax=ax)
        ax.set_xlabel("change of the score per standard deviation")  # the table says more

    return _svg(
        draw,
        "columns-picture",
        (5.4 + 0.06 * max(longest - 12, 0), 1.4 + 0.24 * len(rows) + 0.25 * len(views)),
        "The first columns of each view",
        description=f"{len(rows)} columns of {len(views)} views. {_BELOW}",
    )


def _contributions(part: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What each view adds to each score, as a map."""
    if not part or not part["rows"]:
        return None
    rows, views = part["rows"], [plain(view, longest=20) for view in part["views"]]
    height = _below(part["views"]) + 0.19 * len(rows) if len(rows) <= _MOST_NAMED else 4.6
    names = [f"row {row['row']}" if row.get("id") is None else str(row["id"]) for row in rows]
    return _map(
        lambda ax: viz.contribution_map(part, ax=ax),
        ("contributions-picture", (min(4.0 + 0.4 * len(views), 8.0), max(height, 3.2))),
        "What each view adds to the score of each sample",
        f"{len(rows)} samples, those of the highest scores on top, by {len(views)} views. The values "
        "are in the table below.",
        (names, part["views"], [row["values"] for row in rows]),
    )


# ---------------------------------------------------------------------- views and sets
def _map(
    draw: Callable[[Any], Any],
    about: tuple[str, Size],
    title: str,
    description: str,
    cells: tuple[Sequence[Any], Sequence[Any], Sequence[Sequence[float]]],
) -> dict[str, Any]:
    """A picture of cells, and what a pointer reads there: names of rows and columns, and the values."""
    rows, columns, values = cells
    return {
        "picture": _svg(draw, about[0], about[1], title, description=description),
        "cells": {
            "rows": list(map(str, rows)),
            "columns": list(map(str, columns)),
            "values": [[float(f"{value or 0.0:.3g}") for value in row] for row in values],
        },
    }


def _below(views: Sequence[Any]) -> float:
    """The height in inches of all but the cells of a map whose columns are views."""
    longest = max((len(plain(view, longest=25)) for view in views), default=0)
    return 1.3 + (0.07 * longest if len(views) > _MOST_LEVEL else 0.2)


def _class_weights(summary: Summary) -> dict[str, Any] | None:
    """The share of each view in the weight of each machine; None where all have the same weights."""
    machines = summary["machines"]
    if not machines:
        return None
    views = [row["view"] for row in summary["weights"]]
    names = [row["machine"] for row in machines]
    table = [[weight or 0.0 for weight in row["weights"]] for row in machines]
    model = SimpleNamespace(
        view_names_=views,
        kernel_weights_=[row["weight"] or 0.0 for row in summary["weights"]],
        machine_names_=names,
        machine_weights_=table,
    )
    totals = [sum(map(abs, row)) or 1.0 for row in table]
    shares = [[weight / total for weight in row] for row, total in zip(table, totals, strict=True)]
    kept = sorted(range(len(views)), key=lambda m: -max(abs(row[m]) for row in shares))[:_MOST_ROWS]
    kept.sort()
    return _map(
        lambda ax: viz.class_weights(model, most=_MOST_ROWS, ax=ax),
        (
            "class-weights-picture",
            (min(4.0 + 0.36 * len(kept), 8.2), max(_below(views) + 0.24 * min(len(names), 40), 2.8)),
        ),
        "Share of each view in the weight of each machine",
        f"{len(names)} machines by {len(kept)} views. The weights are in the table below.",
        (names, [views[m] for m in kept], [[row[m] for m in kept] for row in shares]),
    )


def _selection(part: Mapping[str, Any] | None) -> Markup | None:
    """The evidence for each view."""
    if not part:
        return None
    width, height = _rows_size(part["rows"])
    return _svg(
        lambda ax: viz.selection(part, ax=ax),
        "selection-picture",
        (width, height + 0.4),
        "Evidence for each view",
        description=f"{len(part['rows'])} views, the clearest evidence first. {_BELOW}",
    )


def _enrichment(part: Mapping[str, Any] | None) -> Markup | None:
    """A dot for each set and value along the path."""
    if not part:
        return None
    rows = part["rows"][:_MOST_SETS]
    longest = max(len(plain(row["set"])) for row in rows)
    return _svg(
        lambda ax: viz.enrichment(part, most=_MOST_SETS, ax=ax),
        "enrichment-picture",
        (4.0 + 0.07 * max(longest - 12, 0) + 0.3 * len(part["values"]), 1.6 + 0.24 * max(len(rows), 2)),
        "Share of the weight of each set along the path",
        description=f"{len(rows)} sets by {len(part['values'])} values of {part['parameter']}. Means are in "
        "the table below.",
    )


def _cross_view(part: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Which columns of different views move together."""
    if not part:
        return None
    n = len(part["features"])
    names = [f"{row['feature']} ({row['view']})" for row in part["features"]]
    longest = max(len(plain(row["feature"], longest=20)) for row in part["features"])
    size = max(2.2 + 0.06 * longest + 0.16 * n, 4.4)
    return _map(
        lambda ax: viz.cross_view(part, ax=ax),
        ("cross-view-picture", (size + 0.9, size)),
        "Similarities of columns of several views",
        f"{n} columns in the learned kernel. The closest pairs are in the table below.",
        (names, names, part["similarities"]),
    )


# ---------------------------------------------------------------------- kernels
def _heat_maps(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The picture of each kernel; the first is large and has the names of the groups."""
    found = evaluation.get("heat_maps") or {"maps": []}
    return [
        {"name": kernel["name"], "share": kernel["share"], "picture": _heat_map(evaluation, kernel, number)}
        for number, kernel in enumerate(found["maps"])
    ]


def _heat_map(evaluation: Evaluation, kernel: Mapping[str, Any], number: int) -> Markup:
    name = str(kernel["name"])

    def draw(ax: Any) -> None:
        viz.heat_map(evaluation, name, bare=number > 0, ax=ax)
        ax.set(xlabel="", ylabel="")  # the page says how the samples are ordered
        if number > 0:  # nothing beside it needs room, and a layout takes most of the time
            ax.figure.set_layout_engine("none")
            ax.set_position((0.0, 0.0, 1.0, 1.0))

    names = [plain(group["label"], longest=20) for group in evaluation["heat_maps"]["groups"]]
    room = 0.075 * max(map(len, names), default=0)
    size, below = (4.2 + room, 3.2) if number == 0 else (1.9, 1.9), "Its range is in the table below."
    return _svg(draw, f"map{number}", size, f"Heat map of {name}", description=below)


# ---------------------------------------------------------------------- convergence
def _convergence(summary: Summary) -> Markup | None:
    told = summary["convergence"]
    key = next((key for key in ("gap", "objective") if with_numbers(told["history"], key)), None)
    if key is None:
        return None
    steps = with_numbers(told["history"], key)
    n_machines = len({step["machine"] for step in steps})
    what, form = ("Relative duality gap", format_gap) if key == "gap" else ("Objective", format_cell)
    line = f"A line from {form(steps[0][key])} to {form(steps[-1][key])}."
    about = line if n_machines == 1 else f"{n_machines} lines, one for each machine."
    named = {"machine_names": [row["machine"] for row in summary["machines"]]}
    return _svg(
        lambda ax: viz.convergence(told | named, ax=ax),
        "convergence-picture",
        _SMALL if n_machines == 1 else (5.6, 3.4),
        f"{what} by iteration",
        description=f"{about} {_BELOW}",
    )
