"""Checks of rows block by block: numbers that must be finite, labels that must be there."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._validation import (
    NotFiniteError,
    RowError,
    all_finite,
    check_numeric_table,
    codes_of_classes,
)
from multikernel.rows.base import Block, RowBlocks


def check_features(rows: RowBlocks, part: int = 0, label: str = "X") -> None:
    """Refuse rows whose features are not all finite numbers, naming the row (and the chunk).

    Examples
    --------
    >>> from multikernel.rows import LocalRows
    >>> check_features(LocalRows((np.array([[1.0], [2.0], [np.inf]]),), block_rows=2))
    Traceback (most recent call last):
    ...
    multikernel._validation.tables.NotFiniteError: X holds infinity at row 2, column 0. Features must be ...
    """
    rows.select(part).map(_check_table, label)


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


def unique_labels(rows: RowBlocks, part: int = 1) -> np.ndarray:
    """The sorted labels of all rows; a class need not occur in each block.

    Missing labels, and numbers beside text, are refused.

    Examples
    --------
    >>> from multikernel.rows import LocalRows
    >>> rows = LocalRows((np.zeros((3, 1)), np.array(["c", "a", "b"])), block_rows=1)
    >>> unique_labels(rows).tolist()
    ['a', 'b', 'c']
    """
    return join_labels(rows.select(part).map(_labels_of_block))


def join_labels(found: list[np.ndarray]) -> np.ndarray:
    """The sorted union of the labels of several blocks.

    Examples
    --------
    >>> join_labels([np.array([1, 2]), np.array([0, 2])])
    array([0, 1, 2])
    """
    texts = [any(isinstance(label, str) for label in labels.tolist()) for labels in found]
    if len(set(texts)) > 1:  # NumPy would make text of the numbers
        number = texts.index(not texts[0])
        raise ValueError(
            f"y must hold labels of one kind, all numbers or all text; block 0 holds {found[0][0]!r}, block "
            f"{number} holds {found[number][0]!r}."
        )
    classes, _ = codes_of_classes(np.concatenate(found), if_missing="")
    return classes


def _check_table(block: Block, label: str) -> None:
    check_numeric_table(block.parts[0], label)


def _labels_of_block(block: Block) -> np.ndarray:
    labels = np.asarray(block.parts[0])
    if labels.ndim != 1:
        raise ValueError(f"y must be one label a row; got shape {labels.shape}.")
    classes, _ = codes_of_classes(labels, if_missing="Leave rows without a label out.")
    return classes
