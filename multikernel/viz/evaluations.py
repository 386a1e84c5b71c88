"""Pictures of an evaluation: stability of the weights, views left out, baselines, held-out predictions."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation import check_positive_integer
from .canvas import (
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    LINES,
    LITERAL,
    SKY,
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
    part_of,
    picture_of,
    plain,
    row_font,
    with_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMED = 10  # classes in the legend of the ROC curves
_MOST_INSIDE = 5  # curves whose legend has room below them
_MOST_WRITTEN = 25  # classes; of more the numbers of a confusion matrix would not be read
# Colour, marker and words by how the learned kernel did against the row.
_VERDICTS = {
    "better": (GREEN, "o", "learning is better"),
    "worse": (VERMILION, "X", "learning is worse"),
    "equal": (GREY, "s", "practically equal"),
    "tie": (GREY, "s", "no difference shown"),
    None: (BLUE, "D", ""),
}


@picture_of("``stability``")
def stability(evaluation: Mapping[str, Any], *, most: int = 30, ax: Axes | None = None) -> Axes:
    """How firm are the weights? The share of each view over several fits, those of most weight first.

    A point for each fit, a thin line from the smallest to the largest, a thick one of a standard deviation to
    both sides of the mean, and a diamond for the share in the model itself. Behind them stands in how many of
    the fits the view had any weight.

    Parameters
    ----------
    most : int, default=30
        The most views to draw.
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
        style: dict[str, Any] = {"color": VERMILION, "markeredgecolor": "white", "markersize": 7}
        (own,) = ax.plot([100.0 * row["share"]], [place], "D", linewidth=0, **style)
        entries.append((own, "the model"))
    return entries


@picture_of("``without_view``")
def without_view(evaluation: Mapping[str, Any], *, most: int = 30, ax: Axes | None = None) -> Axes:
    """What is lost without a view? A bar for the score of all views minus the score without this one.

    To the right: the view helps. To the left, hatched: the model is better without it. The line at the end of
    a bar is the standard deviation of this difference over the folds, where the evaluation tells it; on the
    right stands the p-value.

    Parameters
    ----------
    most : int, default=30
        The most views to draw, those of largest effect.
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


@picture_of("``baselines``")
def baselines(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Did learning the kernel help? The score of the model, and of plainer ones on the same folds.

    A point with its standard deviation for each; the dashed line is at the score of the model; on the right
    stands how it did against each, by a paired test.
    """
    part = part_of(evaluation, "baselines")
    rows = with_numbers(part["rows"], "score")
    ax = axes_for_rows(ax, [row["name"] for row in rows], extra=0.4)
    for place, row in enumerate(rows):
        colour, marker, _ = _VERDICTS[row["verdict"]]
        style: dict[str, Any] = {"color": colour, "ecolor": GREY, "capsize": 2.5, "markersize": 8}
        ax.errorbar([row["score"]], [place], xerr=[row["sd"] or 0.0], fmt=marker, **style)
        if row["verdict"] is None:
            ax.axvline(row["score"], color=BLUE, linestyle="--", linewidth=1.0, zorder=0)
    label_rows(ax, [row["name"] for row in rows], [_verdict(row) for row in rows], what="model")
    ax.set_title(textwrap.fill(plain(part["answer"].split(":")[0], longest=200), 50), **LITERAL)
    ax.set_xlabel(f"{plain(part['metric'])}, mean ± standard deviation", **LITERAL)
    return ax


def _verdict(row: Mapping[str, Any]) -> str:
    words = _VERDICTS[row["verdict"]][2]
    return words if row["p"] is None or not words else f"{words}, p = {row['p']:.2g}"


@picture_of("``learning_curve``")
def learning_curve(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Would more samples help? Scores on training and on held-out samples, by how many it learned from.

    Lines are means over the folds, bands a standard deviation to both sides.
    """
    part = part_of(evaluation, "learning_curve")
    rows = with_numbers(part["rows"], "n_train", "score", "train")
    ax = axes_for(ax, width=6.0, height=4.0)
    sizes = [row["n_train"] for row in rows]
    for key, spread, name, colour, style in (
        ("train", "train_sd", "training samples", SKY, "--"),
        ("score", "sd", "held-out samples", BLUE, "-"),
    ):
        means = np.array([row[key] for row in rows])
        sds = np.array([row[spread] or 0.0 for row in rows])
        ax.plot(sizes, means, style, marker="o", color=colour, label=name)
        ax.fill_between(sizes, means - sds, means + sds, color=colour, alpha=0.2, linewidth=0)
    ax.set_title("Would more samples help?")
    ax.set_xlabel("training samples")
    ax.set_ylabel(plain(part["metric"]), **LITERAL)
    ax.legend(frameon=False, loc="lower right")
    return ax


@picture_of("``held_out`` of a classifier")
def confusion(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Confusion matrix Counts of held-out samples, the darker the more of its true
    class."""
    part = part_of(evaluation, "held_out", "confusion")
    counts = np.asarray(part["counts"], int)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    n = len(counts)
    size = min(3.0 + 0.45 * n, 10.0)
    ax = axes_for(ax, width=size + 0.8, height=size)
    image = ax.imshow(100.0 * shares, cmap="Blues", vmin=0.0, vmax=100.0)
    if n <= _MOST_WRITTEN:
        font = row_font(ax, n)
        for (i, j), count in np.ndenumerate(counts):
            ink = "white" if shares[i, j] > 0.55 else "black"
            ax.text(j, i, str(count), ha="center", va="center", color=ink, fontsize=font)
    names = [plain(label, longest=20) for label in part["labels"]]
    ax.set_yticks(range(n), names, fontsize=row_font(ax, n), **LITERAL)
    turned: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    is_wide = max(map(len, names)) > 4
    ax.set_xticks(range(n), names, fontsize=row_font(ax, n), **(turned if is_wide else {}), **LITERAL)
    ax.set(title="Confusion matrix", xlabel="predicted class", ylabel="true class")
    add_colour_bar(ax, image, "% of the true class")
    return ax


@picture_of("``held_out`` of a classifier")
def roc(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """How well do the scores rank? ROC curves of held-out samples, class by class.

    A curve has the colour that its class has in :func:`embedding`.
    """
    curves = part_of(evaluation, "held_out", "roc")["curves"]
    ax = axes_for(ax, width=5.2 if len(curves) <= _MOST_INSIDE else 7.2, height=5.2)
    entries = []
    known = {str(label): number for number, label in enumerate(evaluation["classes"])}
    for i, curve in enumerate(curves):
        number = known.get(str(curve["label"]), i)
        style: dict[str, Any] = {
            "color": COLOURS[number % len(COLOURS)],
            "linestyle": LINES[(number + number // len(COLOURS)) % len(LINES)],
        }
        (line,) = ax.plot(curve["false_positive"], curve["true_positive"], linewidth=1.8, **style)
        entries.append((line, f"{plain(curve['label'], longest=24)}: area {_figure(curve['auc'], '.3f')}"))
    (chance,) = ax.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linestyle=":", linewidth=1.0)
    ax.set(title="ROC curves", xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
    more = len(entries) - _MOST_NAMED
    rest = [(entries[-1][0], f"… {more} more classes")] if more > 0 else []
    entries = [*entries[:_MOST_NAMED], *rest, (chance, "chance: area 0.5")]
    if len(curves) <= _MOST_INSIDE:
        add_legend(ax, entries, loc="lower right", fontsize="small")
    else:
        add_legend_beside(ax, entries)
    return ax


@picture_of("``held_out`` of a classifier")
def calibration(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Can the probabilities be trusted? The observed frequency against the predicted probability.

    A point for each bin of held-out predictions, the larger the more samples are in it; the dashed line is
    perfect calibration. The Brier score is the mean squared error of the probabilities.
    """
    part = part_of(evaluation, "held_out", "calibration")
    bins = [row for row in with_numbers(part["bins"], "predicted", "observed") if row["n"]]
    sizes = np.array([row["n"] for row in bins], float)
    predicted, observed = ([row[key] for row in bins] for key in ("predicted", "observed"))
    ax = axes_for(ax, width=5.2, height=5.2)
    (line,) = ax.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linestyle="--", linewidth=1.0)
    ax.plot(predicted, observed, color=BLUE, linewidth=1.0, alpha=0.6)
    areas = 20.0 + 180.0 * sizes / sizes.max(initial=1.0)
    points = ax.scatter(predicted, observed, s=areas, color=BLUE, zorder=3)
    for row in bins:
        place = (row["predicted"], row["observed"])
        ax.annotate(str(row["n"]), place, (7, -9), textcoords="offset points", fontsize="x-small")
    ax.set(xlabel="predicted probability", ylabel="observed frequency", aspect="equal")
    how = textwrap.fill(plain(part["how"], longest=200), 50)
    ax.set_title(f"Calibration curve\n{how}", fontsize="medium", **LITERAL)
    entries = [
        (points, f"samples in a bin; Brier score {_figure(part['brier'])}"),
        (line, "perfect calibration"),
    ]
    add_legend_below(ax, entries, 1)
    return ax


@picture_of("``held_out`` of a regressor")
def residuals(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """What is left unexplained? Observed minus predicted of held-out samples, against the prediction."""
    part = part_of(evaluation, "held_out", "residuals")
    known = with_numbers(part["points"], "observed", "predicted")
    observed, predicted = (np.array([p[key] for p in known], float) for key in ("observed", "predicted"))
    ax = axes_for(ax, height=5.2)
    ax.axhline(0.0, color=GREY, linewidth=1.0)
    left = observed - predicted
    (points,) = ax.plot(predicted, left, "o", color=BLUE, alpha=0.6, markersize=4, linewidth=0)
    for side in (-1.0, 1.0):
        band = ax.axhline(side * (part["rmse"] or 0.0), color=VERMILION, linestyle="--", linewidth=1.0)
    ax.set(title="What is left unexplained?", xlabel="predicted", ylabel="observed − predicted")
    entries = [
        (points, f"a held-out sample (R² = {_figure(part['r2'], '.3f')}, mean error {_figure(part['mae'])})"),
        (band, f"± root mean squared error, {_figure(part['rmse'])}"),
    ]
    add_legend_below(ax, entries, n_columns=1)
    return ax


def _figure(value: float | None, form: str = ".3g") -> str:
    """A figure in a legend, or a dash where it is not known."""
    return "–" if value is None or not is_number(value) else format(value, form)
