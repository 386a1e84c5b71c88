"""The picture of compared rules: scores of all folds, and the weights of the kernels as a map."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

_LINES = ("#D55E00", "#009E73")  # told apart by every eye
_LEARNED = "#0072B2"


def draw_rules(
    folds: Mapping[str, Any], baselines: Sequence[str], weights: pd.DataFrame, scoring: str, ax: Any = None
) -> Any:
    """Draw scores (10,) by rule, first on top, and beside them the weights unless `ax` is given.

    Parameters
    ----------
    folds : mapping of str to array
    baselines : sequence of str
        The rules that the others are to beat.
    weights : DataFrame, a row for each rule in the order of `folds`, a column for each kernel
    scoring : str
    ax : axes, optional

    Returns
    -------
    axes of the scores
    """
    if ax is None:
        from matplotlib import pyplot

        size = (8.0 + 0.45 * weights.shape[1], 1.8 + 0.45 * len(folds))
        ax, beside = pyplot.subplots(1, 2, figsize=size, layout="constrained", sharey=True)[1]
        _draw_weights(weights, beside)
    colours = dict(zip(baselines, _LINES, strict=False))
    for place, (rule, scores) in enumerate(folds.items()):
        colour = colours.get(rule, _LEARNED)
        spread = place + np.linspace(-0.2, 0.2, len(scores))  # so that equal scores are seen
        ax.plot(scores, spread, "o", color=colour, alpha=0.4, markersize=5, linewidth=0)
        ax.plot([np.mean(scores)], [place], "|", color=colour, markersize=20, markeredgewidth=2.5)
    for rule, colour in colours.items():
        ax.axvline(np.mean(folds[rule]), color=colour, linestyle="--", linewidth=1.0, label=rule)
    ax.set_yticks(range(len(folds)), list(folds))
    ax.set_ylim(len(folds) - 0.5, -0.5)
    ax.set(title="Did learning the weights help?", xlabel=f"{scoring}: ten folds and their mean")
    if colours:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=len(colours), frameon=False)
    return ax


def _draw_weights(weights: pd.DataFrame, ax: Any) -> None:
    largest = max(float(np.abs(weights.to_numpy()).max()), 1e-300)
    signed = float(weights.to_numpy().min()) < 0.0
    scale = {"cmap": "RdBu_r", "vmin": -largest} if signed else {"cmap": "Blues", "vmin": 0.0}
    image = ax.imshow(weights, aspect="auto", vmax=largest, **scale)
    ax.set_xticks(range(weights.shape[1]), [str(name) for name in weights.columns], rotation=60, ha="right")
    ax.set_title("share of each kernel, mean over the folds")
    ax.figure.colorbar(image, ax=ax)
