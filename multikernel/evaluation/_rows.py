"""Which samples are shown, in what order, and what is said of each."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def choose_rows(y: Array | None, task: str, most: int, seed: int, n: int) -> Array:
    """At most so many row numbers, ascending: of each class in proportion, over the range of the values.

    Examples
    --------
    >>> choose_rows(np.array(["a"] * 90 + ["b"] * 10), "classes", 10, 0, 100) >= 90
    array([False, False, False, False, False, False, False, False, False,  True])
    """
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    if y is None or task == "nothing":
        return np.sort(rng.choice(n, most, replace=False))
    if task == "values":
        order = np.argsort(y if y.ndim == 1 else y[:, 0], kind="stable")
        edges = np.linspace(0, n, most + 1).astype(int)
        return np.sort([order[rng.integers(a, b)] for a, b in pairwise(edges)])
    _, codes = np.unique(y, return_inverse=True)
    sizes = allot(np.bincount(codes), most)
    chosen = [rng.choice(np.flatnonzero(codes == c), size, replace=False) for c, size in enumerate(sizes)]
    return np.sort(np.concatenate(chosen))


def allot(counts: Array, total: int) -> Array:
    """Share out places in proportion to counts: one at least for each, none more than it counts.

    Where there are more counts than places, the largest get one each.

    Examples
    --------
    >>> allot(np.array([50, 48, 2]), 10)
    array([5, 4, 1])
    """
    counts = np.asarray(counts)
    if counts.sum() <= total:
        return counts
    if counts.size > total:
        given = np.zeros_like(counts)
        given[np.argsort(-counts, kind="stable")[:total]] = 1
        return given
    given = np.ones_like(counts)
    while given.sum() < total:  # the next place to whom it is due most
        due = np.where(given < counts, counts / counts.sum() * total - given, -np.inf)
        given[int(np.argmax(due))] += 1
    return given


def marks(y: Array | None, task: str, rows: Array) -> list[dict[str, Any]]:
    """What is said of each chosen sample: its row number, and its label or value."""
    if y is None or task == "nothing":
        return [{"row": int(row), "label": None} for row in rows]
    if task == "classes":
        return [{"row": int(row), "label": str(y[row])} for row in rows]
    values = y if y.ndim == 1 else y[:, 0]
    return [{"row": int(row), "value": float(values[row])} for row in rows]
