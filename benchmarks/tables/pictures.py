"""Pictures of the page: critical differences of mean ranks, and accuracy against views of noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.tables.ranking import critical_difference, groups_of_equals
from multikernel._files import whole_file

_BLACK, _GREY, _OURS = "#222222", "#999999", "#0b5394"
_COLOURS = ("#0b5394", "#3d85c6", "#38761d", "#cc4125", "#e69138", "#674ea7")
_MARKERS = "os^Dv*"


def rank_picture(
    path: Path, ranks: Mapping[str, float], n_sets: int, ours: Sequence[str], title: str
) -> Path:
    """Mean ranks on a line, best at the right; bars join those within the critical difference."""
    difference = critical_difference(len(ranks), n_sets)
    ordered = sorted(ranks, key=ranks.__getitem__)
    n_left = len(ordered) // 2  # the worse half is written at the left
    groups = groups_of_equals(ranks, difference)
    depth = 0.35 * len(groups) + 0.6 + 0.45 * max(n_left, len(ordered) - n_left)
    figure, axes = plt.subplots(figsize=(8.0, 1.1 + 0.5 * depth))
    axes.set_xlim(len(ranks) + 0.9, 0.1)
    axes.set_ylim(-depth, 1.4)
    axes.axis("off")
    axes.set_title(title, fontsize=10)
    axes.plot([1, len(ranks)], [0, 0], color=_BLACK, lw=1.2)
    for rank in range(1, len(ranks) + 1):
        axes.plot([rank, rank], [0, 0.15], color=_BLACK, lw=1.2)
        axes.text(rank, 0.25, str(rank), ha="center", va="bottom", fontsize=9)
    right = min(1.0 + difference, float(len(ranks)))
    axes.plot([1.0, right], [1.0, 1.0], color=_BLACK, lw=2)
    axes.text((1.0 + right) / 2.0, 1.08, f"CD = {difference:.2f}", ha="center", va="bottom", fontsize=9)
    for k, (low, high) in enumerate(groups):
        height = -0.25 - 0.35 * k
        axes.plot([low - 0.03, high + 0.03], [height, height], color=_BLACK, lw=4, solid_capstyle="butt")
    first = 0.35 * len(groups) + 0.6
    for k, name in enumerate(ordered):
        at_right = k < len(ordered) - n_left
        step = k if at_right else len(ordered) - 1 - k
        _name_rank(axes, name, ranks[name], -first - 0.45 * step, at_right, len(ranks), name in ours)
    return _save(figure, path)


def _name_rank(
    axes: Axes, name: str, rank: float, height: float, at_right: bool, n: int, is_ours: bool
) -> None:
    """A line from a rank down and out to its name."""
    colour = _OURS if is_ours else _BLACK
    end, side = (0.75, "left") if at_right else (n + 0.25, "right")
    axes.plot([rank, rank, end], [0, height, height], color=_OURS if is_ours else _GREY, lw=1)
    weight = "bold" if is_ours else "normal"
    axes.text(
        end - 0.05 if at_right else end + 0.05,
        height,
        f"{name} {rank:.2f}",
        ha=side,
        va="center",
        fontsize=9,
        color=colour,
        fontweight=weight,
    )


Curve = Sequence[tuple[int, float, float]]  # number of noise views, accuracy, standard error


def noise_picture(path: Path, curves: Mapping[str, Mapping[str, Curve]]) -> Path:
    """Accuracy against the number of noise views: one panel a set, one curve a contestant."""
    figure, panels = plt.subplots(1, len(curves), figsize=(4.2 * len(curves), 3.6), squeeze=False)
    for axes, (name, by_contestant) in zip(panels[0], curves.items(), strict=True):
        for k, (contestant, curve) in enumerate(by_contestant.items()):
            counts, means, errors = zip(*curve, strict=True)
            axes.errorbar(
                counts,
                means,
                yerr=errors,
                label=contestant,
                color=_COLOURS[k],
                marker=_MARKERS[k],
                ms=5,
                lw=1.3,
            )
        axes.set_xscale("symlog", linthresh=2)
        ticks = sorted({count for curve in by_contestant.values() for count, _, _ in curve})
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("views of noise added")
        axes.grid(alpha=0.3)
    panels[0][0].set_ylabel("accuracy")
    panels[0][0].legend(fontsize=8)
    return _save(figure, path)


def _save(figure: Figure, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part:
        figure.savefig(part, format="png", dpi=110, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    return path
