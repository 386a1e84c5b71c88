"""The target: its task, and findings about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from multikernel.doctor.diagnosis import Finding, Recipes, named, percent

FOLDS = 5  # what evaluations of this library use by default
_FEW_CLASSES = 20
_NAMED = 20  # classes in a line of code
_IMBALANCE = 10.0  # the larger class predicted always is right in 10 of 11 cases: accuracy says nothing


@dataclass(frozen=True)
class Target:
    """A target that can be worked with."""

    task: str  # classes, values, survival or nothing
    values: np.ndarray  # codes 0, 1, … of classes, or numbers; anything in the rows without a target
    known: np.ndarray  # which rows have a target
    classes: list[Any]  # the labels of the codes
    parts: tuple[Target, ...] = ()  # of censored times: the time as values, the event as classes

    @property
    def leaks(self) -> tuple[Target, ...]:
        """What a column could give away: the target itself, or its parts."""
        return self.parts or (self,)

    @property
    def n_distinct(self) -> int:
        """How many different targets there are."""
        return len(np.unique(self.values[self.known]))


def nothing(n: int) -> Target:
    """No target at all."""
    return Target("unsupervised", np.zeros(n), np.zeros(n, dtype=bool), [])


def examine_target(y: Any, n: int, task: str, recipes: Recipes) -> tuple[Target, list[Finding]]:
    """Read the target of n rows and say what is wrong with it; `task` may be ``"auto"``."""
    if y is None:
        return nothing(n), []
    shape = np.shape(y)
    if shape == (n, 1):
        y, shape = np.asarray(y).ravel(), (n,)
    if len(shape) != 1 or shape[0] != n:
        return nothing(n), [_misshapen(shape, n)]
    series = pd.Series(np.asarray(y, dtype=object) if isinstance(y, list) else np.asarray(y))
    known = series.notna().to_numpy()
    findings = list(_missing(known, recipes))
    if not known.any():
        return nothing(n), findings
    found = series[known].infer_objects()
    if found.dtype.kind == "c":
        return nothing(n), [*findings, Finding("error", "target", "it is complex.", "y = np.real(y)")]
    if pd.api.types.infer_dtype(found, skipna=True).startswith("mixed"):
        return nothing(n), [*findings, _mixed(found)]
    numbers = found.to_numpy(dtype=np.float64) if found.dtype.kind in "fiu" else None
    resolved = _guess_task(found, numbers) if task == "auto" else task
    if resolved == "regression" and numbers is None:
        what = f"it must hold numbers for regression; it holds {found.iloc[0]!r}."
        remedies = ("Correct its entries, or use a classifier.", "--task classification")
        return nothing(n), [*findings, Finding("error", "target", what, *remedies)]
    if numbers is not None and not np.isfinite(numbers).all():
        return nothing(n), [*findings, _infinite(numbers, known, recipes)]
    target = _make(resolved, found, numbers, known)
    checks = _check_classes if resolved == "classification" else _check_values
    return target, [*findings, *checks(target, found, numbers, task, recipes)]


def _misshapen(shape: tuple[int, ...], n: int) -> Finding:
    if len(shape) == 2 and shape[0] == n:
        what = f"there are {shape[1]} targets for each row; they were not examined."
        return Finding("note", "target", what, "Examine one at a time: diagnose(X, Y[:, 0]).")
    what = f"it must hold one entry for each of the {n} rows; got shape {shape}."
    return Finding("error", "target", what, "Look for rows that were lost: len(X), len(y).")


def _missing(known: np.ndarray, recipes: Recipes) -> Iterator[Finding]:
    lost = int((~known).sum())
    if lost:
        yield Finding(
            "error",
            "target",
            f"{lost} of {len(known)} rows ({percent(lost, len(known))}) have none, the first is row "
            f"{int(np.argmin(known))}.",
            "Give them to TransductiveMKLClassifier as X_unlabeled. Or leave them out: "
            + recipes.take_rows("keep", "pd.notna(np.asarray(y))"),
            "Take these rows out of the file, or fill them in.",
        )


def _infinite(numbers: np.ndarray, known: np.ndarray, recipes: Recipes) -> Finding:
    bad = ~np.isfinite(numbers)
    what = f"{int(bad.sum())} values are infinite, the first in row {int(np.flatnonzero(known)[bad][0])}."
    remedy = recipes.take_rows("keep", "np.isfinite(np.asarray(y, dtype=float))")
    return Finding("error", "target", what, remedy, "Take these rows out of the file, or correct them.")


def _mixed(found: pd.Series) -> Finding:
    kinds = sorted({type(label).__name__ for label in found})
    what = f"its entries are of several kinds ({', '.join(kinds)}), which cannot be put in order."
    return Finding(
        "error",
        "target",
        what,
        "Correct the entries. Or take them for names: y = np.asarray(y, dtype=object).astype(str)",
        "Correct them in the file.",
    )


def _is_whole(numbers: np.ndarray) -> bool:
    return bool(np.isfinite(numbers).all() and (numbers == np.round(numbers)).all())


def _guess_task(found: pd.Series, numbers: np.ndarray | None) -> str:
    """Text is classes, fractions are values; whole numbers are classes where they are few or count from 0."""
    if numbers is None:
        return "classification"
    if not _is_whole(numbers):
        return "regression"
    distinct = np.unique(numbers)
    repeated = 5 * len(distinct) <= len(numbers) or len(distinct) == 2
    few = len(distinct) <= _FEW_CLASSES or (_counts_up(distinct) and found.dtype.kind in "iu")
    return "classification" if few and (repeated or len(distinct) <= 2) else "regression"


def _counts_up(distinct: np.ndarray) -> bool:
    """0, 1, … or 1, 2, …: how labels are coded."""
    return bool(distinct[0] in (0.0, 1.0) and distinct[-1] - distinct[0] == len(distinct) - 1)


def _make(task: str, found: pd.Series, numbers: np.ndarray | None, known: np.ndarray) -> Target:
    values = np.zeros(len(known))
    classes: list[Any] = []
    if task == "classification":
        codes, labels = pd.factorize(found, sort=found.dtype != object)
        classes = list(labels)
        values[known] = codes
    else:
        values[known] = numbers
    return Target(task, values, known, classes)


# --- classes -----------------------------------------------------------------------------------------------


def _check_classes(
    target: Target, found: pd.Series, numbers: np.ndarray | None, task: str, recipes: Recipes
) -> Iterator[Finding]:
    counts = np.bincount(target.values[target.known].astype(int))
    n = int(counts.sum())
    if len(counts) == 1:
        what = f"all {n} rows are of one class, {target.classes[0]!r}."
        yield Finding("error", "target", what, "Bring rows of another class, or use MKLOneClass.")
        return
    strange = _no_classes(target, found, numbers, n)
    if strange is not None:
        yield strange
        return
    if numbers is not None and task == "auto" and len(counts) != 2 and not _counts_up(np.unique(numbers)):
        what = f"its {len(counts)} whole numbers, {_range(numbers)}, were read as classes."
        yield Finding(
            "note",
            "target",
            what,
            'If they are amounts, task="regression" and a regressor.',
            "--task regression",
        )
    yield from _check_single(target.classes, counts, recipes)
    yield from _check_counts(target.classes, counts)


def _no_classes(target: Target, found: pd.Series, numbers: np.ndarray | None, n: int) -> Finding | None:
    k = len(target.classes)
    if numbers is not None and not _is_whole(numbers):
        what = f"classes were asked for, but it holds fractions ({k} different values in {n} rows)."
        remedy = "Use a regressor, MKLRegressor. Or cut it in two: y = np.asarray(y) > np.mean(y)"
        return Finding("error", "target", what, remedy, "--task regression")
    if numbers is None and found.dtype != bool:
        parsed = pd.to_numeric(found.astype(str), errors="coerce")
        if k > 2 and parsed.notna().mean() > 0.5:
            odd = found[parsed.isna()].astype(str).unique().tolist()
            rest = f", except {', '.join(map(repr, odd[:3]))}" if odd else ""
            what = f"its entries are numbers written as text{rest}."
            remedy = 'y = pd.to_numeric(np.asarray(y), errors="coerce")'
            return Finding("warning", "target", what, remedy, "Correct these entries in the file.")
    if k == n or (2 * k > n and n >= FOLDS):
        what = f"{k} different labels in {n} rows: nearly every row has its own."
        return Finding("error", "target", what, "Choose another column: this one seems to name the rows.")
    return None


def _range(numbers: np.ndarray) -> str:
    return f"{numbers.min():g} to {numbers.max():g}"


def _check_single(classes: list[Any], counts: np.ndarray, recipes: Recipes) -> Iterator[Finding]:
    """Classes of one row, which cannot be in training and in a test at once."""
    single = [str(classes[place]) for place in np.flatnonzero(counts == 1)]
    if single:
        of_one = [classes[place] for place in np.flatnonzero(counts == 1)]
        listed = "[" + ", ".join(map(repr, single[:_NAMED])) + (", ...]" if len(single) > _NAMED else "]")
        what = (
            f"{'each has' if len(single) > 1 else 'it has'} one row: what is learned of it cannot be tested."
        )
        rows = recipes.take_rows("keep", f"~np.isin(np.asarray(y).astype(str), {listed})")
        command = "Merge them with others in the file, delete the rows, or --task regression for numbers"
        yield Finding("error", _named_classes(of_one), what, f"Leave it out: {rows}", command)


def _named_classes(classes: list[Any]) -> str:
    return named("class", classes).replace("classs", "classes")


def _check_counts(classes: list[Any], counts: np.ndarray) -> Iterator[Finding]:
    rare = [place for place in np.argsort(counts, kind="stable") if 1 < counts[place] < FOLDS]
    if rare:
        smallest = int(counts[rare[0]])
        what = (
            f"{'fewer' if len(rare) > 1 else 'it has fewer'} than {FOLDS} rows"
            f"{' each' if len(rare) > 1 else ''}, the smallest {smallest}: some folds of a {FOLDS}-fold "
            "cross-validation have none of it."
        )
        remedy = f"Join rare classes or leave them out, or use cv={smallest}."
        command = f"Join rare classes in the file or leave them out, or --folds {smallest} with --tune"
        yield Finding("warning", _named_classes([classes[p] for p in rare]), what, remedy, command)
    ratio = counts.max() / counts.min()
    if ratio >= _IMBALANCE:
        large, small = int(counts.argmax()), int(counts.argmin())
        yield Finding(
            "note",
            "target",
            f"classes are of unequal size: {int(counts[large])} rows of {classes[large]!r}, "
            f"{int(counts[small])} of {classes[small]!r}; to guess the first always is right in "
            f"{percent(counts[large], counts.sum())}.",
            'model.set_params(class_weight="balanced"), and judge by scoring="balanced_accuracy".',
            "Fit with --set class_weight=balanced",
        )


# --- values ------------------------------------------------------------------------------------------------


def _check_values(
    target: Target, found: pd.Series, numbers: np.ndarray | None, task: str, recipes: Recipes
) -> Iterator[Finding]:
    assert numbers is not None
    distinct = np.unique(numbers)
    if len(distinct) == 1:
        yield Finding(
            "error", "target", f"all {len(numbers)} rows have the value {numbers[0]:g}.", "Choose another."
        )
        return
    if task == "regression" and len(distinct) <= 10 and 5 * len(distinct) <= len(numbers):
        what = f"it has {len(distinct)} different values only, {_range(numbers)}: they look like classes."
        remedy = "Use a classifier, MKLClassifier, if they are."
        yield Finding("warning", "target", what, remedy, "--task classification if they are")
    elif task == "auto" and _is_whole(numbers):
        what = (
            f"its {len(distinct)} whole numbers, {_range(numbers)}, look like values; a classifier would "
            "take each for a class."
        )
        yield Finding("note", "target", what, "Use a regressor, MKLRegressor.", "--task regression")
    if len(numbers) >= 2 * FOLDS and _is_sorted(numbers):
        what = "rows are sorted by it, so that folds of neighbours leave a range of values out."
        remedy = "cv=KFold(5, shuffle=True, random_state=0)"
        yield Finding("warning", "target", what, remedy, "Nothing: the commands shuffle before they fold.")


def _is_sorted(numbers: np.ndarray) -> bool:
    steps = np.diff(numbers)
    return bool((steps >= 0.0).all() or (steps <= 0.0).all())
