"""The pictures of a report: those of `multikernel.viz`, as SVG within the page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from multikernel import viz
from multikernel.report.summary import Summary
from multikernel.report.words import format_cell, format_gap, part
from multikernel.viz.canvas import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, plain, with_numbers
from multikernel.viz.samples import SAMPLES, describe_sample, gate_shades, gated_view, samples_as_drawn
from multikernel.viz.svg import draw_svg

# The colours of the pictures as the style sheet names them, so that dark pages have light ones.
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
}
_SMALL, _SQUARE, _WIDE = (4.6, 3.2), (4.4, 4.0), (6.4, 4.4)
_MOST_ROWS = 30


def draw_pictures(summary: Summary) -> dict[str, Any]:
    """Draw everything of a summary that has a picture.

    Parameters
    ----------
    summary : dict
        As `summarize` returns it.

    Returns
    -------
    dict
        By name: ``stability``, ``without_view``, ``baselines``, ``roc``, ``calibration``, ``residuals``,
        ``embedding``, ``gate`` and ``convergence``, None where there is nothing to draw; ``heat_maps``, one
        for each kernel; ``gate_shades`` and ``gate_view``, to show the gate of another view.
    """
    evaluation = {"omitted": [], "classes": [], "task": None} | (summary.get("evaluation") or {})
    held_out = {"held_out": part(summary, "held_out") or {}}
    drawn = {name: draw(evaluation) for name, draw in _PARTS.items() if evaluation.get(name)}
    drawn |= {name: draw(evaluation) for name, draw in _HELD_OUT.items() if held_out["held_out"].get(name)}
    nothing = dict.fromkeys([*_PARTS, *_HELD_OUT, "gate"])
    return nothing | {"heat_maps": []} | drawn | _gate(evaluation) | {"convergence": _convergence(summary)}


def _svg(draw: Callable[[Any], Any], name: str, size: tuple[float, float], title: str, **more: Any) -> Markup:
    # what comes from the data is escaped where the SVG is written
    return Markup(draw_svg(draw, name, size=size, title=title, inks=_INKS, **more))


# ---------------------------------------------------------------------- views and baselines
def _rows_size(rows: Sequence[Any], names: str) -> tuple[float, float]:
    longest = max(len(plain(row[names])) for row in rows)
    return 5.4 + 0.06 * max(longest - 12, 0), 1.1 + 0.26 * min(max(len(rows), 2), _MOST_ROWS)


def _stability(evaluation: Mapping[str, Any]) -> Markup | None:
    rows = with_numbers(evaluation["stability"]["rows"], "mean", "low", "high")
    if not rows:
        return None
    width, height = _rows_size(rows, "view")
    return _svg(
        lambda ax: viz.stability(evaluation, most=_MOST_ROWS, ax=ax),
        "stability-picture",
        (width, height + 0.3),
        "Share of the weight of each view over several fits",
        description=f"{len(rows)} views, those of most weight first. Every value is in the table below.",
    )


def _without_view(evaluation: Mapping[str, Any]) -> Markup | None:
    rows = with_numbers(evaluation["without_view"]["rows"], "effect")
    if not rows:
        return None
    return _svg(
        lambda ax: viz.without_view(evaluation, most=_MOST_ROWS, ax=ax),
        "without-view-picture",
        _rows_size(rows, "view"),
        "Loss of score without each view",
        description=f"{len(rows)} views, the largest loss first. Every value is in the table below.",
    )


def _baselines(evaluation: Mapping[str, Any]) -> Markup | None:
    rows = with_numbers(evaluation["baselines"]["rows"], "score")
    if not rows:
        return None
    return _svg(
        lambda ax: viz.baselines(evaluation, ax=ax),
        "baselines-picture",
        _rows_size(rows, "name"),
        "Score of the model and of the baselines",
        description=f"{len(rows)} models on the same folds. Every value is in the table below.",
    )


# ---------------------------------------------------------------------- held-out predictions
def _roc(evaluation: Mapping[str, Any]) -> Markup | None:
    curves = evaluation["held_out"]["roc"]["curves"]
    if not curves:
        return None
    return _svg(
        lambda ax: viz.roc(evaluation, ax=ax),
        "roc",
        _SQUARE if len(curves) <= 5 else (5.4, 3.4),
        "ROC curves of the held-out samples",
        description=f"The true positive rate against the false positive rate, {len(curves)} "
        f"{'curve' if len(curves) == 1 else 'curves'}. The area under each is in the table below.",
    )


def _calibration(evaluation: Mapping[str, Any]) -> Markup | None:
    bins = with_numbers(evaluation["held_out"]["calibration"]["bins"], "predicted", "observed")
    if not bins:
        return None

    def draw(ax: Any) -> None:
        viz.calibration(evaluation, ax=ax)
        ax.set_xlabel("predicted probability")  # the caption says how it was made

    return _svg(
        draw,
        "calibration",
        _SQUARE,
        "Calibration of the predicted probabilities",
        description=f"The observed frequency against the predicted probability, {len(bins)} groups of "
        "samples. Every value is in the table below.",
    )


def _residuals(evaluation: Mapping[str, Any]) -> Markup | None:
    residuals = evaluation["held_out"]["residuals"]
    points = with_numbers(residuals["points"], "observed", "predicted")
    if not points:
        return None
    return _svg(
        lambda ax: viz.residuals(evaluation, ax=ax),
        "residuals",
        (4.6, 3.8),
        "Residuals of the held-out samples",
        description=f"Observed minus predicted against predicted, {len(points)} samples, R² "
        f"{format_cell(residuals['r2'])}. The largest misses are in the table.",
    )


# ---------------------------------------------------------------------- kernels and samples
def _heat_maps(evaluation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The picture of each kernel; the first is large and has the names of the groups."""
    return [
        {
            "name": kernel["name"],
            "share": kernel["share"],
            "picture": _heat_map(evaluation, str(kernel["name"]), number),
        }
        for number, kernel in enumerate(evaluation["heat_maps"]["maps"])
    ]


def _heat_map(evaluation: Mapping[str, Any], name: str, number: int) -> Markup:
    def draw(ax: Any) -> None:
        viz.heat_map(evaluation, name, bare=number > 0, ax=ax)
        ax.set_xlabel("")  # the page says how the samples are ordered
        if number > 0:  # nothing beside it needs room, and a layout takes most of the time
            ax.figure.set_layout_engine("none")
            ax.set_position((0.0, 0.0, 1.0, 1.0))

    names = [plain(group["label"], longest=20) for group in evaluation["heat_maps"]["groups"]]
    room = 0.075 * max(map(len, names), default=0)
    size = (4.2 + room, 3.2) if number == 0 else (1.9, 1.9)
    return _svg(
        draw, f"map{number}", size, f"Heat map of {name}", description="Its range is in the table below."
    )


def _embedding(evaluation: Mapping[str, Any]) -> Markup | None:
    points = samples_as_drawn(evaluation)
    if not points:
        return None
    method = evaluation["embedding"]["method"]
    return _svg(
        lambda ax: viz.embedding(evaluation, ax=ax),
        "embedding-picture",
        _WIDE,
        "The samples in two dimensions",
        description=f"{len(points)} samples by {method}. Where they lie is in the table below.",
        marks=SAMPLES,
        says=[describe_sample(point) for point in points],
    )


def _gate(evaluation: Mapping[str, Any]) -> dict[str, Any]:
    if not evaluation.get("gate") or not evaluation.get("embedding") or not evaluation["gate"]["views"]:
        return {}
    points = samples_as_drawn(evaluation, gated=True)
    if not points:
        return {}

    def draw(ax: Any) -> None:
        viz.gate(evaluation, ax=ax)
        for bar in ax.child_axes:
            bar.set_ylabel("weight")  # of which view, the page says, where another can be chosen

    picture = _svg(
        draw,
        "gate-picture",
        _WIDE,
        "The weight of a view over the samples",
        description=f"{len(points)} samples in the places of the picture before, coloured by the weight that "
        "the chosen view has for them. Every weight is in the table below.",
        marks=SAMPLES,
        says=[describe_sample(point) for point in points],
    )
    return {"gate": picture, "gate_shades": gate_shades(evaluation), "gate_view": gated_view(evaluation)}


# ---------------------------------------------------------------------- convergence
def _convergence(summary: Summary) -> Markup | None:
    told = summary["convergence"]
    key = next((key for key in ("gap", "objective") if with_numbers(told["history"], key)), None)
    if key is None:
        return None
    steps = with_numbers(told["history"], key)
    machines = {step["machine"] for step in steps}
    what = "Relative duality gap" if key == "gap" else "Objective"
    first, last = (format_gap(steps[k][key]) if key == "gap" else format_cell(steps[k][key]) for k in (0, -1))
    line = (
        f"A line from {first} to {last}."
        if len(machines) == 1
        else f"{len(machines)} lines, one for each machine."
    )
    named = {"machine_names": [row["machine"] for row in summary["machines"]]}
    return _svg(
        lambda ax: viz.convergence(told | named, ax=ax),
        "convergence-picture",
        _SMALL if len(machines) == 1 else (5.6, 3.4),
        f"{what} by iteration",
        description=f"{line} Every value is in the table below.",
    )


_PARTS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "stability": _stability,
    "without_view": _without_view,
    "baselines": _baselines,
    "heat_maps": _heat_maps,
    "embedding": _embedding,
}
_HELD_OUT: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "roc": _roc,
    "calibration": _calibration,
    "residuals": _residuals,
}
