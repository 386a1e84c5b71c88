"""Samples that belong together, such as several of one patient: what may be exchanged, and what is held out.

Where the target is the same for all samples of a group, whole groups are exchanged: under the hypothesis that
it has nothing to do with a view, each group could have had the target of any other. Where it differs within
groups, samples are exchanged within their group only, whatever the groups have to do with the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import Array
from ..core.folds import Split, list_splits, reads_groups
from .protocol import Samples, check_apart, check_extras, number_of_folds

_FOLDS = 5


def group_numbers(groups: Any, n: int, name: str = "groups") -> Array | None:
    """The number of the group of each sample, counted from 0; None without groups.

    Examples
    --------
    >>> group_numbers(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    known, _ = check_extras(groups, None, n)
    if known is None:
        return None
    names, numbers = np.unique(known, return_inverse=True)
    if names.size < 2:
        raise ValueError(f"{name} must be two at least; got one. Leave {name} out, or add samples.")
    return np.asarray(numbers.ravel())


def is_constant(y: Array, numbers: Array) -> bool:
    """Whether all samples of each group have the same target.

    Examples
    --------
    >>> is_constant(np.array(["x", "x", "z"]), np.array([0, 0, 1]))
    True
    """
    return bool((y == y[_first_rows(numbers)][numbers]).all())


def of_groups(Ks: Array, y: Array, numbers: Array) -> tuple[Array, Array]:
    """Kernels (n_kernels, n_groups, n_groups) of the means of the groups, and the target of each group."""
    counts = np.bincount(numbers)
    means = np.zeros((counts.size, numbers.size))
    means[numbers, np.arange(numbers.size)] = 1.0 / counts[numbers]
    return means @ Ks @ means.T, y[_first_rows(numbers)]


def exchanged(numbers: Array | None, n: int, rng: np.random.RandomState, *, whole: bool) -> Array:
    """Rows whose targets the samples have after a permutation: of whole groups, or within each of them.

    Examples
    --------
    >>> numbers, rng = np.array([0, 0, 1, 2, 2, 2]), np.random.RandomState(1)
    >>> numbers[exchanged(numbers, 6, rng, whole=True)].tolist()
    [0, 0, 2, 1, 1, 1]
    >>> numbers[exchanged(numbers, 6, rng, whole=False)].tolist()
    [0, 0, 1, 2, 2, 2]
    """
    if numbers is None:
        return rng.permutation(n)
    if whole:
        first = _first_rows(numbers)
        return np.asarray(first[rng.permutation(first.size)][numbers])
    rows = np.empty(n, dtype=np.intp)
    rows[np.argsort(numbers, kind="stable")] = np.argsort(numbers + rng.random_sample(n))
    return rows


def rows_of_other_groups(numbers: Array, rng: np.random.RandomState) -> Array:
    """For each sample a row of the group whose place its group takes; of a smaller one rows come twice.

    Examples
    --------
    >>> rows_of_other_groups(np.array([0, 0, 1, 2, 2]), np.random.RandomState(1)).tolist()
    [0, 1, 3, 2, 2]
    """
    by_group = np.argsort(numbers, kind="stable")
    counts = np.bincount(numbers)
    starts = np.cumsum(counts) - counts
    place = np.empty(numbers.size, dtype=np.intp)
    place[by_group] = np.arange(numbers.size) - starts[numbers[by_group]]  # within the group
    source = rng.permutation(counts.size)[numbers]
    return np.asarray(by_group[starts[source] + place % counts[source]])


def _first_rows(numbers: Array) -> Array:
    return np.unique(numbers, return_index=True)[1]


def folds_apart(
    cv: Any, data: Samples, task: str, rng: np.random.RandomState, name: str = "sample_groups"
) -> Sequence[Split]:
    """The splits that `cv` stands for, with the samples of each group of the data on one side."""
    is_class = task == "classification"
    if data.groups is None:
        return list_splits(cv, data.X, data.y, classifier=is_class, random_state=rng)
    if cv is None or (isinstance(cv, int | np.integer) and not isinstance(cv, bool)):
        n_folds, seed = _FOLDS if cv is None else int(cv), rng.randint(2**31)
        return number_of_folds(data, n_folds, task, seed, needs=f"{name}: folds need")
    read = data.groups if reads_groups(cv) else None
    splits = list_splits(cv, data.X, data.y, classifier=is_class, random_state=rng, groups=read)
    check_apart(splits, data.groups, cv)
    return splits
