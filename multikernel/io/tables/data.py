"""What a file holds: features, or kernels ready-made, with the targets beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class TableData:
    """A table, or ready-made kernels, as read from a file.

    Attributes
    ----------
    X : DataFrame of shape (n, d), or ndarray of shape (n, n_train, n_kernels)
        The features by name, without the target; or the kernels.
    y : ndarray of shape (n,) or (n, n_outputs), or None
        The target, where one was asked for.
    view_columns : dict of str to list of str
        The columns of each view, where the file names views: ``view_NAME`` arrays of an .npz file, or columns
        that are all called ``view:column``. Empty otherwise.
    kind : {"table", "precomputed"}
    name : str
        The name of the file.
    target : str or None
        The name of the target.
    kernel_names : list of str
        Of ready-made kernels.
    notes : list of str
        What was left out, or taken for granted, in reading.
    lines : ndarray of int, or None
        The line of each row in a text file.
    labels : ndarray of str, or None
        The target as it is written, where a number would not tell it: 001, TRUE.
    """

    X: Any
    y: np.ndarray | None
    view_columns: dict[str, list[str]]
    kind: str
    name: str
    target: str | None = None
    kernel_names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lines: np.ndarray | None = None
    labels: np.ndarray | None = None

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def columns(self) -> list[str]:
        """The names of the features; none of ready-made kernels."""
        return [] if self.kind == "precomputed" else [str(name) for name in self.X.columns]

    def target_as(self, task: str) -> np.ndarray | None:
        """The target as a task wants it: classes by their names, values as numbers, nothing as None."""
        if task == "nothing" or self.y is None:
            return None
        if task == "values":
            return np.asarray(self.y, dtype=np.float64)
        return self.y if self.labels is None else self.labels

    def place(self, row: int) -> str:
        """Where a row, counted from 0, stands in the file."""
        return f"row {row} (counted from 0)" if self.lines is None else f"line {self.lines[row]}"


def views_in_names(columns: list[str]) -> dict[str, list[str]]:
    """The views that column names tell of, where all of them are ``view:column`` with two views or more.

    Examples
    --------
    >>> views_in_names(["gene:a", "gene:b", "lipid:a"])
    {'gene': ['gene:a', 'gene:b'], 'lipid': ['lipid:a']}
    >>> views_in_names(["gene:a", "age"])
    {}
    """
    views: dict[str, list[str]] = {}
    for column in columns:
        view, colon, rest = column.partition(":")
        if not (view.strip() and colon and rest):
            return {}
        views.setdefault(view.strip(), []).append(column)
    return views if len(views) > 1 else {}
