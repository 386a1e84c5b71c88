"""Pictures of censored times: survival of groups, calibration at one time, scores over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from .canvas import (
    BLUE,
    COLOURS,
    GREY,
    LINES,
    LITERAL,
    add_legend,
    add_legend_below,
    axes_for,
    is_number,
    part_of,
    picture,
    plain,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_COUNTS = 6  # times at which the numbers at risk are written
_ROW = 0.17  # inches between two rows of numbers at risk
_BELOW_AXIS = 0.62  # inches for the numbers and the name of the axis


def kaplan_meier(
    curves: Any, *, test: Any = None, unit: str = "", at_risk: bool = True, ax: Axes | None = None
) -> Axes:
    """Who lives longer? Kaplan and Meier's curves of groups, with bands and the numbers at risk.

    A step down is an event, a tick a sample that was censored; the band is the confidence interval at each
    time. Below the axis stands how many samples of each group are still under observation.

    Parameters
    ----------
    curves : mapping of str to KaplanMeier, KaplanMeier, or dict
        Curves by the name of their group, of ``multikernel.inspection.kaplan_meier``; one curve; or an
        evaluation of a survival model with the part ``held_out``, whose risk groups are drawn.
    test : LogRankTest or float, default=None
        Of the groups, of ``multikernel.inspection.logrank_test``: its p-value stands in the title.
    unit : str, default=""
        Of the times, such as ``"months"``.
    at_risk : bool, default=True
        Whether to write the numbers at risk.
    ax : Axes, default=None
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from multikernel.inspection import kaplan_meier as estimate
    >>> curve = estimate(([True, False, True], [1.0, 2.0, 3.0]))
    >>> ax = kaplan_meier({"all": curve}, unit="years", ax=Figure().subplots())
    >>> ax.get_xlabel()
    'time, years'
    """
    groups, test = _groups_of(curves, test)
    ax = axes_for(ax, height=4.6 + _ROW * len(groups) * at_risk)
    entries = []
    for number, (name, curve) in enumerate(groups.items()):
        line = _draw_curve(ax, curve, COLOURS[number % len(COLOURS)], LINES[number % len(LINES)])
        n, events = int(curve["n"]), int(curve["n_events"])
        entries.append((line, f"{plain(name, longest=40)}: {events} events of {n}"))
    last = max(float(curve["times"][-1]) for curve in groups.values())
    ax.set(xlim=(0.0, 1.02 * last), ylim=(0.0, 1.02), ylabel="share without an event")
    ax.set_title(_title("Who lives longer?" if len(groups) > 1 else "Survival", test))
    ax.set_xlabel(_time_label(unit), **LITERAL)
    add_legend(ax, entries, loc=_free_corner(groups, last), fontsize="small")
    if at_risk:
        _write_counts(ax, groups)
    return ax


@picture
def survival_calibration(table: Any, *, unit: str = "", ax: Axes | None = None) -> Axes:
    """Can the probabilities be trusted? Observed against predicted survival at one time, in groups.

    A point for each group of similar predictions, with its confidence interval and its number of samples; on
    the dashed line predictions are right. Above it, samples live longer than predicted.

    Parameters
    ----------
    table : DataFrame or dict
        Of ``multikernel.inspection.survival_calibration``; or an evaluation of a survival model with the part
        ``held_out``.
    unit : str, default=""
        Of the times, such as ``"months"``.
    """
    rows, time = _calibration_of(table)
    rows = [row for row in rows if is_number(row["observed"])]
    ax = axes_for(ax, width=5.2, height=5.2)
    (line,) = ax.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linestyle="--", linewidth=1.0)
    if rows:
        predicted, observed, low, high = (
            np.array([row[key] for row in rows], float) for key in ("predicted", "observed", "low", "high")
        )
        reach = np.maximum([observed - low, high - observed], 0.0)
        style: dict[str, Any] = {"color": BLUE, "ecolor": GREY, "capsize": 2.5, "markersize": 7}
        points = ax.errorbar(predicted, observed, yerr=reach, fmt="o", **style)
        for x, y, row in zip(predicted, observed, rows, strict=True):
            ax.annotate(str(row["n"]), (x, y), (7, -9), textcoords="offset points", fontsize="x-small")
        entries = [(points, "samples of a group, with interval"), (line, "perfect calibration")]
        add_legend(ax, entries, loc="lower right", fontsize="small")
    at = f"{time:g}" if is_number(time) else "one time"
    ax.set(title="Calibration curve", xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal")
    ax.set_xlabel(f"predicted survival at time {at}{_spaced(unit)}", **LITERAL)
    ax.set_ylabel("observed survival (Kaplan and Meier)")
    return ax


@picture
def brier_curve(curves: Any, *, unit: str = "", ax: Axes | None = None) -> Axes:
    """How wrong are the probabilities, and when? The Brier score over time; lower is better.

    The dashed line is the score of a prediction that is the same for all samples, Kaplan and Meier's estimate
    of the training samples: a model is of use where it is below.

    Parameters
    ----------
    curves : mapping of str to BrierCurve, BrierCurve, or dict
        Of ``multikernel.inspection.brier_curve``, by the name of the model; or an evaluation of a survival
        model with the part ``held_out``.
    unit : str, default=""
        Of the times, such as ``"months"``.
    """
    named = _curves_of(curves, "brier", "times", "score", "reference", "integrated", "integrated_reference")
    ax = axes_for(ax)
    entries = []
    for number, (name, curve) in enumerate(named.items()):
        style: dict[str, Any] = {
            "color": COLOURS[number % len(COLOURS)],
            "linestyle": LINES[number % len(LINES)],
        }
        (line,) = ax.plot(curve["times"], curve["score"], linewidth=1.8, marker=_marker(curve), **style)
        entries.append((line, f"{plain(name)}: mean {_figure(curve['integrated'])}"))
    first = next(iter(named.values()))
    (plain_line,) = ax.plot(first["times"], first["reference"], color=GREY, linestyle="--", linewidth=1.2)
    entries.append((plain_line, f"the same for all: mean {_figure(first['integrated_reference'])}"))
    ax.set(title="How wrong are the probabilities?", ylabel="Brier score (0 is best)")
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(_time_label(unit), **LITERAL)
    add_legend_below(ax, entries, n_columns=2)
    return ax


@picture
def auc_curve(curves: Any, *, unit: str = "", ax: Axes | None = None) -> Axes:
    """How well do the risks tell early events apart, and when? Area under the ROC curve over time.

    At each time, samples that have had their event are told from those that are still observed. The dotted
    line is chance.

    Parameters
    ----------
    curves : mapping of str to AucCurve, AucCurve, or dict
        Of ``multikernel.inspection.cumulative_dynamic_auc``, by the name of the model; or an evaluation of a
        survival model with the part ``held_out``.
    unit : str, default=""
        Of the times, such as ``"months"``.
    """
    named = _curves_of(curves, "auc", "times", "auc", "mean")
    ax = axes_for(ax)
    entries = []
    for number, (name, curve) in enumerate(named.items()):
        style: dict[str, Any] = {
            "color": COLOURS[number % len(COLOURS)],
            "linestyle": LINES[number % len(LINES)],
        }
        (line,) = ax.plot(curve["times"], curve["auc"], linewidth=1.8, marker=_marker(curve), **style)
        (mean,) = ax.plot(curve["times"][[0, -1]], [curve["mean"]] * 2, linewidth=0.8, alpha=0.6, **style)
        mean.set_linestyle("--")
        entries.append((line, f"{plain(name)}: mean {_figure(curve['mean'])}"))
    chance = ax.axhline(0.5, color=GREY, linestyle=":", linewidth=1.0)
    entries.append((chance, "chance: 0.5"))
    lowest = min(float(np.nanmin(curve["auc"])) for curve in named.values())
    ax.set(title="How well is the order predicted, and when?", ylabel="AUC of events until then")
    ax.set_ylim(min(0.4, lowest - 0.05), 1.02)
    ax.set_xlabel(_time_label(unit), **LITERAL)
    add_legend_below(ax, entries, n_columns=2)
    return ax


# ---------------------------------------------------------------------- survival curves
def _draw_curve(ax: Axes, curve: Mapping[str, Array], colour: str, style: Any) -> Any:
    times = np.append(0.0, curve["times"])
    survival, low, high = (np.append(1.0, curve[key]) for key in ("survival", "low", "high"))
    (line,) = ax.plot(times, survival, color=colour, linestyle=style, linewidth=1.8, drawstyle="steps-post")
    ax.fill_between(times, low, high, step="post", color=colour, alpha=0.13, linewidth=0.0)
    censored = curve["censored"] > 0
    ticks: dict[str, Any] = {"color": colour, "markersize": 5, "markeredgewidth": 0.8, "linewidth": 0}
    ax.plot(curve["times"][censored], curve["survival"][censored], "|", alpha=0.7, **ticks)
    return line


def _free_corner(groups: Mapping[str, Mapping[str, Array]], last: float) -> str:
    """Where a legend hides nothing: below curves that stay high, else in the upper right."""
    lowest = 1.0
    for curve in groups.values():
        reached = np.searchsorted(curve["times"], 0.4 * last, side="right")
        lowest = min(lowest, float(np.append(1.0, curve["survival"])[reached]))
    return "lower left" if lowest > 0.4 else "upper right"


def _write_counts(ax: Axes, groups: Mapping[str, Mapping[str, Array]]) -> None:
    """Numbers at risk below the axis, a row for each group, in its colour."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(_MOST_COUNTS))
    left, right = ax.get_xlim()
    times = np.array([time for time in ax.get_xticks() if left <= time <= right])
    figure = ax.get_figure(root=True)
    assert figure is not None
    inch = 1.0 / (ax.get_position().height * figure.get_figheight())
    where = ax.get_xaxis_transform()
    style: dict[str, Any] = {"transform": where, "va": "center", "fontsize": "small"}
    height = -_BELOW_AXIS * inch
    ax.text(left, height, "at risk", ha="right", color=GREY, **style)
    for number, (_, curve) in enumerate(groups.items()):
        height -= _ROW * inch
        colour = COLOURS[number % len(COLOURS)]
        ax.plot([-0.085, -0.04], [height] * 2, color=colour, linestyle=LINES[number % len(LINES)],
                linewidth=1.8, transform=ax.transAxes, clip_on=False)  # fmt: skip
        places = np.searchsorted(curve["times"], times, side="left")
        for time, count in zip(times, np.append(curve["at_risk"], 0)[places], strict=True):
            ax.text(time, height, str(int(count)), ha="center", color=colour, **style)


def _groups_of(curves: Any, test: Any) -> tuple[dict[str, dict[str, Array]], Any]:
    """The curves by name, as arrays, and the p-value of their test."""
    keys = ("times", "survival", "low", "high", "at_risk", "events", "censored")
    if _is_evaluation(curves):
        part = part_of(curves, "held_out", "groups")
        rows = {str(row["label"]): row for row in part["curves"]}
        made = {name: _arrays(row, keys) | _sizes(row) for name, row in rows.items()}
        return made, part["p"] if test is None else test
    if hasattr(curves, "survival"):
        curves = {"all samples": curves}
    if not isinstance(curves, Mapping) or not curves:
        raise TypeError(
            "this picture is of multikernel.inspection.kaplan_meier(...), or of several by name; got "
            f"{type(curves).__name__}."
        )
    made = {str(name): _arrays(curve, keys) for name, curve in curves.items()}
    return {name: curve | _sizes(curve) for name, curve in made.items()}, getattr(test, "pvalue", test)


def _sizes(curve: Mapping[str, Any]) -> dict[str, int]:
    """Samples and events of a curve, which says them itself where some of its steps are left out."""
    counts = {"n": np.sum(curve["events"]) + np.sum(curve["censored"]), "n_events": np.sum(curve["events"])}
    return {key: int(curve.get(key, count)) for key, count in counts.items()}


def _title(words: str, pvalue: Any) -> str:
    if not is_number(pvalue):
        return words
    return f"{words} Log-rank test: " + (f"p = {pvalue:.2g}" if pvalue >= 1e-4 else "p < 0.0001")


# ---------------------------------------------------------------------- what is drawn, in any form
def _is_evaluation(given: Any) -> bool:
    return isinstance(given, Mapping) and "omitted" in given


def _calibration_of(given: Any) -> tuple[list[Any], Any]:
    """The rows of a calibration, and its time."""
    if _is_evaluation(given):
        part = part_of(given, "held_out", "survival_calibration")
        return part["rows"], part["time"]
    if not hasattr(given, "attrs") or "predicted" not in given:
        raise TypeError(
            "this picture is of multikernel.inspection.survival_calibration(...); got "
            f"{type(given).__name__}."
        )
    return given.to_dict(orient="records"), given.attrs.get("time")


def _curves_of(given: Any, part: str, *keys: str) -> dict[str, dict[str, Any]]:
    """Curves by the name of their model, as arrays and numbers."""
    if _is_evaluation(given):
        given = {"the model": part_of(given, "held_out", part)}
    elif hasattr(given, "times"):
        given = {"the model": given}
    if not isinstance(given, Mapping) or not given:
        source = {"brier": "brier_curve", "auc": "cumulative_dynamic_auc"}[part]
        raise TypeError(
            f"this picture is of multikernel.inspection.{source}(...), or of several by name; got "
            f"{type(given).__name__}."
        )
    return {str(name): _arrays(curve, keys) for name, curve in given.items()}


def _arrays(curve: Any, keys: Iterable[str]) -> dict[str, Any]:
    """Attributes or entries of a curve: lists as arrays, numbers as they are."""
    found: dict[str, Any] = {}
    for key in keys:
        value = curve.get(key) if isinstance(curve, Mapping) else getattr(curve, key, None)
        if value is None:
            raise TypeError(f"a curve must have {key!r}; got {type(curve).__name__} without it.")
        found[key] = value if np.ndim(value) == 0 else np.asarray(value, dtype=np.float64)
    return found


def _marker(curve: Mapping[str, Any]) -> str:
    return "o" if len(curve["times"]) < 12 else ""


def _time_label(unit: str) -> str:
    return f"time, {plain(unit)}" if unit else "time"


def _spaced(unit: str) -> str:
    return f" {plain(unit)}" if unit else ""


def _figure(value: Any) -> str:
    return format(value, ".3f") if is_number(value) else "–"
