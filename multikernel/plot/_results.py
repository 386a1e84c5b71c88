"""Pictures that results draw of themselves, by the same names as all others."""

from typing import Any

from matplotlib.axes import Axes

from ..estimators.combined_pca import CombinedKernelPCA
from ..estimators.cost_path import CostPath
from ..inspection.comparison import Comparison
from ..selection.response_surface import ResponseSurface


def cost(path: CostPath, *, ax: Axes | None = None) -> Axes:
    """What does the last percent cost? The score against the cost of a prediction.

    Parameters
    ----------
    path : CostPath
        Of ``multikernel.cost_path``.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    return _drawn(path, CostPath, "multikernel.cost_path(...)", ax=ax)


def rules(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Which rule of weights is best? The scores of all rules on the same folds.

    Parameters
    ----------
    comparison : Comparison
        Of ``multikernel.compare``, on one data set.
    ax : Axes, optional
        Where to draw; a new figure, with the weights beside the scores, if left out.

    Returns
    -------
    Axes
    """
    return _drawn(comparison, Comparison, "multikernel.compare(...)", ax=ax)


def surface(result: Any, *, ax: Axes | None = None) -> Axes:
    """Where was the search, and what did it find? The response surface over one or two factors.

    Parameters
    ----------
    result : ResponseSurface, or a fitted RegularizedMKLClassifier
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    return _drawn(
        getattr(result, "surface_", result), ResponseSurface, "RegularizedMKLClassifier.surface_", ax=ax
    )


def components(model: CombinedKernelPCA, labels: Any = None, *, ax: Axes | None = None) -> Axes:
    """How do the training samples lie? Along the first two components of the combined kernel.

    Parameters
    ----------
    model : CombinedKernelPCA
        Fitted.
    labels : array-like (n,), optional
        A marker for each.
    ax : Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    Axes
    """
    return _drawn(model, CombinedKernelPCA, "a fitted CombinedKernelPCA", ax=ax, labels=labels)


def _drawn(result: Any, kind: type[Any], where: str, **options: Any) -> Axes:
    if not isinstance(result, kind):
        raise TypeError(f"this picture is of {where}; got {type(result).__name__}.")
    drawn: Axes = result.plot(**options)
    return drawn
