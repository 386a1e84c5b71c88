"""ROC curves as numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from multikernel.report.drawings.axes import Plane
from multikernel.report.drawings.marks import N_COLOURS


def roc_plot(curves: Sequence[Mapping[str, Any]], classes: Sequence[str] = ()) -> dict[str, Any] | None:
    """Place the rate of true positives over the rate of false ones.

    Parameters
    ----------
    curves : sequence of mappings
        With ``label``, ``auc``, ``false_positive`` and ``true_positive``.
    classes : sequence of str
        A curve has the colour of its class, where the class is one of these.

    Returns
    -------
    dict or None
        ``curves`` (label, auc, points, colour, dash), ``diagonal`` and the axes. None without curves.

    Examples
    --------
    >>> rates = {"false_positive": [0.0, 0.0, 1.0], "true_positive": [0.0, 1.0, 1.0]}
    >>> roc_plot([{"label": "a", "auc": 1.0, **rates}])["curves"][0]["points"]
    '48,274 48,12 328,12'
    """
    if not curves:
        return None
    plane = Plane((0.0, 1.0), (0.0, 1.0))
    known = {label: i for i, label in enumerate(classes)}
    drawn = []
    for i, curve in enumerate(curves):
        position = known.get(curve["label"], i)
        drawn.append(
            {
                "label": curve["label"],
                "auc": curve["auc"],
                "points": plane.line(curve["false_positive"], curve["true_positive"]),
                "colour": position % N_COLOURS,
                "dash": (position // N_COLOURS) % 4,
            }
        )
    return plane.describe() | {"curves": drawn, "diagonal": plane.line([0, 1], [0, 1])}
