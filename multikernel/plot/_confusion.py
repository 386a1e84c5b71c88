"""Which classes are taken for which."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ._canvas import LITERAL, add_colour_bar, axes_for, plain, row_font
from ._parts import part_of

_MOST_WRITTEN = 25  # classes; of more the numbers would not be read


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
