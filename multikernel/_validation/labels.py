"""Labels as class codes, or as ±1 of two classes, with their wording."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from multikernel._validation.tables import RowError


def signs_of_two_classes(labels: np.ndarray, *, if_missing: str, if_more: str) -> np.ndarray:
    """±1 for a 1-D array of labels: +1 is the second class in sorted order.

    Parameters
    ----------
    labels : array (n,)
    if_missing, if_more : str
        The remedies for missing labels, and for another number of classes than two.

    Examples
    --------
    >>> signs_of_two_classes(np.array(["no", "yes", "no"]), if_missing="", if_more="").tolist()
    [-1.0, 1.0, -1.0]
    """
    classes, codes = codes_of_classes(labels, if_missing=if_missing)
    if classes.size != 2:
        raise ValueError(f"y must hold two classes; got {classes.size}: {classes[:5].tolist()}. {if_more}")
    return np.where(codes == 1, 1.0, -1.0)


def codes_of_classes(labels: np.ndarray, *, if_missing: str) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes of a 1-D array of labels, and the place of each label among them.

    Examples
    --------
    >>> codes_of_classes(np.array(["no", "yes", "no"]), if_missing="")
    (array(['no', 'yes'], dtype='<U3'), array([0, 1, 0]))
    """
    missing = [place for place, label in enumerate(labels.tolist()) if _is_missing(label)]
    if missing:
        first = missing[0]
        raise RowError("y must not hold missing labels; entry", first, f" is {labels[first]}. {if_missing}")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y must hold labels of one kind, all numbers or all text; {error}.") from error
    return classes, codes


def _is_missing(label: Any) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):  # pandas need not be imported
        return True
    return isinstance(label, float) and math.isnan(label)
