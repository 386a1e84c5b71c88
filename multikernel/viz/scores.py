"""How good the predictions of held-out samples are: against baselines, by class, by probability, by value."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .canvas import (
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    LINES,
    LITERAL,
    VERMILION,
    add_colour_bar,
    add_legend,
    add_legend_below,
    add_legend_beside,
    axes_for,
    axes_for_rows,
    is_number,
    label_rows,
    plain,
    row_font,
    with_numbers,
)
from .parts import part_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMED = 10  # classes in the legend of the ROC curves
_MOST_INSIDE = 5  # curves whose legend has room below them
_MOST_WRITTEN = 25  # classes; of more the numbers of a confusion matrix would not be read
# Colour, marker and words by how the learned kernel did against the row.
_VERDICTS = {
    "better": (GREEN, "o", "learning is better"),
    "worse": (VERMILION, "X", "learning is worse"),
    "tie": (GREY, "s", "a tie"),
    None: (BLUE, "D", ""),
}


def baselines(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Did learning the kernel help? The score of the model, and of plainer ones on the same folds.

    A point with its standard deviation for each; the dashed line is at the score of the model; on the right
    stands how it did against each, by a paired test.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``baselines``.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    part = part_of(evaluation, "baselines")
    rows = with_numbers(part["rows"], "score")
    ax = axes_for_rows(ax, [row["name"] for row in rows], extra=0.4)
    for place, row in enumerate(rows):
        colour, marker, _ = _VERDICTS[row["verdict"]]
        ax.errorbar(
            [row["score"]],
            [place],
            xerr=[row["sd"] or 0.0],
            fmt=marker,
            color=colour,
            ecolor=GREY,
            capsize=2.5,
            markersize=8,
        )
        if row["verdict"] is None:
            ax.axvline(row["score"], color=BLUE, linestyle="--", linewidth=1.0, zorder=0)
    label_rows(ax, [row["name"] for row in rows], [_verdict(row) for row in rows])
    ax.set_title(textwrap.fill(plain(part["answer"].split(":")[0], longest=200), 50), **LITERAL)
    ax.set_xlabel(f"{plain(part['metric'])}, mean ± standard deviation", **LITERAL)
    return ax


def _verdict(row: Mapping[str, Any]) -> str:
    words = _VERDICTS[row["verdict"]][2]
    return words if row["p"] is None or not words else f"{words}, p = {row['p']:.2g}"


def confusion(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Which classes are taken for which? Counts of held-out samples, the darker the more of its true class.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``held_out`` of a classifier.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
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
    ax.set(title="Which classes are taken for which?", xlabel="predicted class", ylabel="true class")
    add_colour_bar(ax, image, "% of the true class")
    return ax


def roc(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """How well do the scores rank? ROC curves of held-out samples, class by class.

    A curve has the colour that its class has in :func:`embedding`.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``held_out`` of a classifier.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
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
    ax.set(
        title="ROC curves",
        xlabel="false positive rate",
        ylabel="true positive rate",
        aspect="equal",
    )
    more = len(entries) - _MOST_NAMED
    rest = [(entries[-1][0], f"… {more} more classes")] if more > 0 else []
    entries = [*entries[:_MOST_NAMED], *rest, (chance, "chance: area 0.5")]
    if len(curves) <= _MOST_INSIDE:
        add_legend(ax, entries, loc="lower right", fontsize="small")
    else:
        add_legend_beside(ax, entries)
    return ax


def calibration(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Can the probabilities be trusted? The observed frequency against the predicted probability.

    A point for each bin of held-out predictions, the larger the more samples are in it; the dashed line is
    perfect calibration. The Brier score is the mean squared error of the probabilities.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``held_out`` of a classifier.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
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
    ax.set(title="Calibration curve", ylabel="observed frequency", aspect="equal")
    how = textwrap.fill(plain(part["how"], longest=200), 60)
    ax.set_xlabel(f"predicted probability\n{how}", **LITERAL)
    entries = [
        (points, f"samples in a bin; Brier score {_figure(part['brier'])}"),
        (line, "perfect calibration"),
    ]
    add_legend(ax, entries, loc="lower right", fontsize="small")
    return ax


def residuals(evaluation: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """What is left unexplained? Observed minus predicted of held-out samples, against the prediction.

    Parameters
    ----------
    evaluation : dict
        Of ``multikernel.inspection.evaluate``, with the part ``held_out`` of a regressor.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
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
