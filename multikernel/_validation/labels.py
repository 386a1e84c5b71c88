"""Labels as class codes, or as ±1 of two classes, and targets as numbers, with their wording."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .tables import NotFiniteError, RowError, all_finite


def signs_of_two_classes(labels: np.ndarray, *, if_missing: str, if_more: str) -> np.ndarray:
    """±1 for a 1-D array of labels: +1 is the second class in sorted order.

    `if_missing` and `if_more` are the remedies for missing labels, and for a number of classes other than 2.
    """
    classes, codes = codes_of_classes(labels, if_missing=if_missing)
    if classes.size != 2:
        raise ValueError(f"y must hold two classes; got {classes.size}: {classes[:5].tolist()}. {if_more}")
    return np.where(codes == 1, 1.0, -1.0)


def codes_of_classes(labels: np.ndarray, *, if_missing: str) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes of a 1-D array of labels, and the place of each label among them."""
    missing = [place for place, label in enumerate(labels.tolist()) if is_missing(label)]
    if missing:
        first = missing[0]
        raise RowError("y must not hold missing labels; entry", first, f" is {labels[first]}. {if_missing}")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y must hold labels of one kind, all numbers or all text; {error}.") from error
    return classes, codes


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or what pandas has in their place, told without importing it."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


# --- block by block ----------------------------------------------------------------------------


def check_values(values: Any, label: str = "y", *, at_least: float | None = None) -> np.ndarray:
    """Return targets or weights of a block as finite float64 numbers, else name the row."""
    try:
        numbers = np.asarray(values).astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{label} must hold numbers ({error}).") from error
    if not all_finite(numbers):
        row = int(np.argwhere(~np.isfinite(numbers))[0][0])
        what = "NaN" if np.isnan(numbers[row]).any() else "infinity"
        raise NotFiniteError(f"{label} holds {what}", row, "but must be finite: leave such rows out.")
    if at_least is not None and numbers.size and numbers.min() < at_least:
        row = int(np.argwhere(numbers < at_least)[0][0])
        raise RowError(f"{label} must be at least {at_least:g}; entry", row, f" is {numbers[row]:g}.")
    return numbers


def join_labels(found: Sequence[np.ndarray], chunks: Sequence[int]) -> np.ndarray:
    """The sorted union of the labels of several chunks, whose numbers errors name."""
    texts = [any(isinstance(label, str) for label in labels.tolist()) for labels in found]
    if len(set(texts)) > 1:  # NumPy would make text of the numbers
        number = texts.index(not texts[0])
        raise ValueError(
            f"y must hold labels of one kind, all numbers or all text; chunk {chunks[0]} holds "
            f"{found[0][0]!r}, chunk {chunks[number]} holds {found[number][0]!r}."
        )
    classes, _ = codes_of_classes(np.concatenate(found), if_missing="")
    return classes
