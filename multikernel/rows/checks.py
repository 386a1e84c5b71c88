"""Checks of rows block by block: numbers that must be finite, labels that must be there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from multikernel._validation import NotFiniteError, RowError, all_finite, codes_of_classes


def check_values(values: Any, label: str = "y", *, at_least: float | None = None) -> np.ndarray:
    """Return targets or weights of a block as finite float64 numbers, else name the row.

    Examples
    --------
    >>> check_values([1, 2])
    array([1., 2.])
    >>> check_values([1, -2], "sample_weight", at_least=0.0)
    Traceback (most recent call last):
    ...
    multikernel._validation.tables.RowError: sample_weight must be at least 0; entry 1 is -2.
    """
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
    """The sorted union of the labels of several chunks, whose numbers errors name.

    Examples
    --------
    >>> join_labels([np.array([1, 2]), np.array([0, 2])], [0, 1])
    array([0, 1, 2])
    """
    texts = [any(isinstance(label, str) for label in labels.tolist()) for labels in found]
    if len(set(texts)) > 1:  # NumPy would make text of the numbers
        number = texts.index(not texts[0])
        raise ValueError(
            f"y must hold labels of one kind, all numbers or all text; chunk {chunks[0]} holds "
            f"{found[0][0]!r}, chunk {chunks[number]} holds {found[number][0]!r}."
        )
    classes, _ = codes_of_classes(np.concatenate(found), if_missing="")
    return classes
