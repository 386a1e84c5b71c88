"""On which folds models are judged: five times two by default, or those of a ``cv`` argument."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._typing import Array
from ..core.folds import Split, list_splits, make_folds, make_group_folds, reads_groups
from ..core.inputs import check_sample_weights
from ..core.survival_targets import as_survival
from ..rows import count_rows
from .scoring import TASKS
from .statistics.paired_tests import FOLDS, REPEATS

_SHOWN = 3  # rows or groups in a message


class Samples(NamedTuple):
    """What models are fitted to and judged on."""

    X: Any
    y: Any
    groups: Array | None = None  # samples of one group are never on both sides of a fold
    weight: Array | None = None

    @property
    def extras(self) -> tuple[Array | None, Array | None]:
        return self.groups, self.weight


@dataclass(frozen=True, eq=False)
class Protocol:
    """The folds of one data set, and where each stands: (repetition, fold)."""

    splits: Sequence[Split]
    places: Sequence[tuple[int, int]]
    n: int  # samples
    words: str
    groups: Array | None = field(default=None, repr=False)
    covers: bool = True  # every repetition predicts each sample once
    is_given: bool = False  # by a splitter or as rows, and not a number of folds

    @property
    def n_fits(self) -> int:
        return len(self.splits)

    @property
    def shape(self) -> tuple[int, int]:
        """Repetitions and folds of each."""
        repetitions = self.places[-1][0] + 1
        return repetitions, len(self.places) // repetitions

    @property
    def test_size(self) -> float:
        """The mean share of the samples that are in a test part, of those that a fold has."""
        return float(np.mean([len(test) / (len(train) + len(test)) for train, test in self.splits]))

    @property
    def first(self) -> Sequence[int]:
        """The folds of the first repetition."""
        return [i for i, (repetition, _) in enumerate(self.places) if repetition == 0]

    def by_sample(self, parts: Sequence[Sequence[float] | None]) -> Array | None:
        """The parts of the score of all samples in each repetition; None where there are none."""
        if not self.covers or any(part is None for part in parts):
            return None
        found = np.empty((self.shape[0], self.n))
        for (repetition, _), (_, rows), part in zip(self.places, self.splits, parts, strict=True):
            found[repetition, rows] = part
        return found


def default_words(grouped: bool = False) -> str:
    """The default protocol in words."""
    kept = ", the samples of a group together" if grouped else ""
    return (
        f"{REPEATS} repetitions of {FOLDS}-fold cross-validation on the same folds{kept}, so that each of "
        f"the {REPEATS * FOLDS} refits learns from half of the samples"
    )


def make_protocol(data: Samples, cv: Any, task: str, seed: int, called: str = "the data") -> Protocol:
    """The folds that ``cv`` stands for: None is five repetitions of two folds."""
    n, grouped = count_rows(data.X), data.groups is not None
    if cv is None or _is_number(cv):
        n_splits, n_repeats = (FOLDS, REPEATS) if cv is None else (int(cv), 1)
        splits = number_of_folds(data, n_splits, task, seed, n_repeats, needs=f"{called}: folds need")
        words = default_words(grouped) if cv is None else _words(n, splits, 1, grouped)
        return Protocol(splits, _places(splits, n)[0], n, words, data.groups)
    is_class, read = task == "classification", data.groups if reads_groups(cv) else None
    splits = list_splits(cv, data.X, _strata(data.y, task), classifier=is_class, groups=read)
    if len(splits) < 2:
        raise ValueError(
            f"cv must have two folds at least, so that scores can be compared; got {len(splits)}."
        )
    check_apart(splits, data.groups, cv)
    places, covers = _places(splits, n)
    repetitions = places[-1][0] + 1
    words = _words(n, splits, repetitions, grouped)
    return Protocol(splits, places, n, words, data.groups, covers, is_given=True)


def number_of_folds(
    data: Samples, n_splits: int, task: str, seed: int, n_repeats: int = 1, **words: str
) -> list[Split]:
    """This number of folds: stratified where the task is, and with the samples of each group together."""
    strata, stratified = _strata(data.y, task), task in TASKS and TASKS[task].stratified
    options: dict[str, Any] = {"random_state": seed, "n_repeats": n_repeats, **words}
    if data.groups is None:
        return make_folds(strata, n_splits, classifier=stratified, **options)
    strata = strata.event if task == "survival" else strata
    return make_group_folds(strata, data.groups, n_splits, classifier=stratified, **options)


def _strata(y: Any, task: str) -> Any:
    """What folds are stratified by: classes, or the events of censored times."""
    return as_survival(y) if task == "survival" else y


def _is_number(cv: Any) -> bool:
    return isinstance(cv, int | np.integer) and not isinstance(cv, bool)


def _words(n: int, splits: Sequence[Split], repetitions: int, grouped: bool) -> str:
    count = len(splits) // repetitions
    kept = ", the samples of a group together" if grouped else ""
    times = f"{repetitions} repetitions of " if repetitions > 1 else ""
    share = float(np.mean([len(train) for train, _ in splits])) / n
    return (
        f"{times}{count}-fold cross-validation on the same folds{kept}, so that each of the {len(splits)} "
        f"refits learns from {share:.0%} of the samples"
    )


def _places(splits: Sequence[Split], n: int) -> tuple[list[tuple[int, int]], bool]:
    """Repetition and fold of each split, and whether every repetition tests each sample once.

    Splits that are no repetitions of equally many folds, each with all samples, are one repetition.
    """
    places: list[tuple[int, int]] = []
    seen, fold = np.zeros(n, dtype=bool), 0
    repetition, sizes = 0, []
    for _, test in splits:
        if np.unique(test).size < len(test) or seen[test].any():
            break
        seen[test] = True
        places.append((repetition, fold))
        fold += 1
        if seen.all():
            sizes.append(fold)
            seen[:], fold, repetition = False, 0, repetition + 1
    if len(places) == len(splits) and fold == 0 and len(set(sizes)) == 1:
        return places, True
    return [(0, i) for i in range(len(splits))], False


def check_apart(splits: Sequence[Split], groups: Array | None, cv: Any) -> None:
    """Refuse folds that are judged on what they learned from: samples, or others of their group."""
    for number, (train, test) in enumerate(splits):
        both = np.intersect1d(train, test)
        if both.size:
            rows = ", ".join(map(str, both[:_SHOWN].tolist()))
            raise ValueError(
                f"the training and test rows of each fold of cv must differ; fold {number} has {both.size} "
                f"in both, such as {rows}."
            )
        if groups is None:
            continue
        shared = np.intersect1d(groups[train], groups[test])
        if shared.size:
            names = ", ".join(map(repr, shared[:_SHOWN].tolist()))
            remedy = "" if reads_groups(cv) else " Use a number of folds, or GroupKFold."
            raise ValueError(
                f"cv must keep the samples of each group together; fold {number} has {shared.size} groups on "
                f"both sides, such as {names}.{remedy}"
            )


# ------------------------------------------------------------------ groups and weights
def check_extras(groups: Any, sample_weight: Any, n: int) -> tuple[Array | None, Array | None]:
    """Groups and weights, one for each sample."""
    if groups is not None:
        groups = np.asarray(groups).ravel()
        if groups.size != n:
            raise ValueError(f"groups must have one entry for each of the {n} samples; got {groups.size}.")
        unknown = np.flatnonzero(pd.isna(groups))
        if unknown.size:
            row = unknown[0]
            raise ValueError(
                f"groups must be known for each sample; got {groups[row]} in row {row}. "
                "Name each sample's group."
            )
        if groups.dtype == object:
            groups = groups.astype(str)
    weight = None if sample_weight is None else check_sample_weights(sample_weight, n)
    return groups, weight


def by_dataset(name: str, given: Any, datasets: Sequence[str], only: str) -> Mapping[str, Any]:
    """One argument for each data set: itself for a single one, else a dict by name."""
    if given is None:
        return {}
    if list(datasets) == [only]:
        return {only: given}
    if not isinstance(given, Mapping) or set(given) != set(datasets):
        raise TypeError(
            f"{name} must be a dict with an entry for each data set, {', '.join(map(repr, datasets))}; got "
            f"{type(given).__name__}."
        )
    return given


def iterate(cv: Any) -> Any:
    """A generator of splits as a list, so that it can be read twice."""
    return list(cv) if isinstance(cv, Iterator) else cv
