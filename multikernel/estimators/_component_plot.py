"""The picture of samples along two principal components."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_MARKERS = "os^Dv<>P*X"  # told apart without colours too


def draw_components(embedding: Array, shares: Array, labels: Any = None, ax: Any = None) -> Any:
    """Samples (n, 2 or more) along the first two components, a marker for each label; the axes drawn on."""
    groups = np.zeros(len(embedding), int) if labels is None else np.asarray(labels)
    if groups.shape != (len(embedding),):
        raise ValueError(
            f"labels must hold one label for each of the {len(embedding)} training samples; got shape "
            f"{groups.shape}."
        )
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(layout="constrained")[1]
    for k, group in enumerate(np.unique(groups)):
        points = embedding[groups == group]
        ax.plot(points[:, 0], points[:, 1], _MARKERS[k % len(_MARKERS)], markersize=4, label=str(group))
    ax.set(
        xlabel=f"component 1 ({shares[0]:.0%} of the variance)",
        ylabel=f"component 2 ({shares[1]:.0%} of the variance)",
    )
    if labels is not None:
        ax.legend(frameon=False)
    return ax
