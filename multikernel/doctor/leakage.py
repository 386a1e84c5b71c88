"""Does something give the target away? Columns that predict it alone, kernels that know the classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from multikernel.doctor.columns import Columns, drop_finding, usual_value
from multikernel.doctor.diagnosis import Finding, named, percent
from multikernel.doctor.kernels import Examined
from multikernel.doctor.target import Target

_ALONE = 0.98  # of what guessing leaves to be gained: real measurements stay below
_EXACT = 1.0 - 1e-9  # of a correlation
_IDEAL = 0.95  # alignment with the kernel that is made of the target
_BLOCKS = 1e-3  # of the variance of a kernel within its blocks of classes
_FEWEST_ROWS, _FEWEST_OF_A_CLASS = 20, 5
_NAMED = 5
_WIDE = 500  # columns, beyond which those that cannot tell the target are not looked at
_REMEDY = "If it is known only after the target is, leave it out: "


def can_tell(target: Target) -> bool:
    """Whether there are rows enough that a perfect prediction is no accident."""
    known = target.values[target.known]
    if target.task == "unsupervised" or len(known) < _FEWEST_ROWS or target.n_distinct < 2:
        return False
    return target.task == "regression" or bool(
        np.sort(np.bincount(known.astype(int)))[-2] >= _FEWEST_OF_A_CLASS
    )


def predict_alone(columns: Columns, target: Target, facts: list[dict[str, Any]]) -> dict[int, float]:
    """How well each column predicts the target by itself, left out one row at a time: 0 guess, 1 perfect.

    The rows of the same value, or else of the nearest, predict it.
    """
    y = target.values[columns.rows]
    known = target.known[columns.rows]
    skills = {}
    least = _least_unusual(y[known], target.task) if len(columns.positions) > _WIDE else 0.0
    for place, position in enumerate(columns.positions):
        column = columns.numbers[:, place]
        if least and (column != usual_value(column)).sum() < least:
            continue
        kept = known & ~np.isnan(column)
        if facts[position]["distinct"] > 1 and kept.sum() >= _FEWEST_ROWS:
            skills[int(position)] = _skill(column[kept], y[kept], target.task == "classification")
    for position, text in columns.others.items():
        kept = known & text.notna().to_numpy()
        repeated = 1 < facts[position]["distinct"] <= kept.sum() / 5
        if repeated and kept.sum() >= _FEWEST_ROWS:
            codes = pd.factorize(text[kept].astype(str))[0].astype(float)
            skills[position] = _skill(codes, y[kept], target.task == "classification")
    return skills


def _least_unusual(y: np.ndarray, task: str) -> float:
    """In how many rows a column must differ from its usual value to be found out.

    All rows of the usual value get one prediction, so that a column with k others gains at most k rows over
    guessing. Most columns of a table of words are left out by this.
    """
    if task == "regression":
        return 0.0
    return _ALONE * (len(y) - float(np.bincount(y.astype(int)).max()))


def _skill(column: np.ndarray, y: np.ndarray, classes: bool) -> float:
    """Predict each row from the others of the same value, or else from those of the nearest value."""
    values, groups = np.unique(column, return_inverse=True)
    sizes = np.bincount(groups)
    near = np.where(sizes[groups] > 1, groups, _nearest(values)[groups])
    himself = near == groups
    if classes:
        codes = y.astype(int)
        votes = np.zeros((len(values), codes.max() + 1))
        np.add.at(votes, (groups, codes), 1.0)
        votes = votes[near]
        # without himself; and who wins by a tie does not win
        votes[np.arange(len(codes)), codes] -= np.where(himself, 1.5, 0.5)
        return _gain(votes.argmax(axis=1), codes, classes)
    sums, counts = np.bincount(groups, y)[near], sizes[near]
    return _gain((sums - himself * y) / (counts - himself), y, classes)


def _gain(predicted: np.ndarray, y: np.ndarray, classes: bool) -> float:
    """The share of what guessing (the largest class, the mean) gets wrong that a prediction gets right."""
    if classes:
        guess = np.bincount(y.astype(int)).max() / len(y)
        return (float((predicted == y).mean()) - guess) / max(1.0 - guess, 1e-12)
    spread = float(((y - y.mean()) ** 2).sum())
    return float(1.0 - ((predicted - y) ** 2).sum() / spread) if spread > 0.0 else 0.0


def _nearest(values: np.ndarray) -> np.ndarray:
    """The position of the nearest other one, for each of some distinct numbers in order (two or more)."""
    steps = np.diff(values)
    left, right = np.append(np.inf, steps), np.append(steps, np.inf)
    return np.arange(len(values)) + np.where(left <= right, -1, 1)


def check_columns_alone(
    columns: Columns, target: Target, skills: dict[int, float], used: set[int]
) -> Iterator[Finding]:
    """Columns that give the target away."""
    known = _functions_of(columns, target) if target.task == "classification" else []
    suspects = [p for p in sorted(skills, key=lambda p: -skills[p]) if skills[p] >= _ALONE and p in used]
    suspects += [p for p in known if p in used and p not in suspects]
    for position in suspects[:_NAMED]:
        level, before = "error", "Leave it out: "
        if _is_target(columns, position, target):
            what = "it is the target itself, or the target in other words."
        elif position in known:
            what = "it is the same for all rows of a class: it was made of the target."
        else:
            level, before = "warning", _REMEDY
            how = (
                "hits the class as good as always"
                if target.task == "classification"
                else "gives the value as good as exactly"
            )
            what = (
                f"this column alone {how} ({percent(min(skills[position], 1.0), 1.0)} of what there is to be "
                "gained over guessing): does the target leak into it?"
            )
        yield drop_finding(level, columns, [columns.names[position]], what, before)
    if len(suspects) > _NAMED:
        rest = [columns.names[p] for p in suspects[_NAMED:]]
        yield drop_finding("warning", columns, rest, "each predicts the target alone too.", _REMEDY)


def check_gaps_alone(columns: Columns, target: Target, used: set[int]) -> Iterator[Finding]:
    """Columns that give the target away by being missing, whatever they hold otherwise."""
    known = target.known[columns.rows]
    y, missing = target.values[columns.rows][known], columns.missing()[known]
    for position in sorted(used):
        gaps = missing[:, position]
        if len(y) < _FEWEST_ROWS or not _FEWEST_OF_A_CLASS <= gaps.sum() <= len(y) - _FEWEST_OF_A_CLASS:
            continue
        if (
            target.task == "classification"
            and len(np.unique(y[gaps])) + len(np.unique(y[~gaps])) == target.n_distinct
        ):
            what = "it is missing in all rows of some classes and in none of the others: it tells the class."
            yield drop_finding("error", columns, [columns.names[position]], what, "Leave it out: ")
        elif _skill(gaps.astype(float), y, target.task == "classification") >= _ALONE:
            what = "whether it is missing gives the target away as good as always."
            yield drop_finding("warning", columns, [columns.names[position]], what, _REMEDY)


def _functions_of(columns: Columns, target: Target) -> list[int]:
    """Columns of numbers that vary, but not within a class."""
    known = target.known[columns.rows]
    codes, numbers = target.values[columns.rows][known], columns.numbers[known]
    fixed = numbers.max(axis=0) > numbers.min(axis=0)  # NaN is neither
    for code in np.unique(codes):
        rows = numbers[codes == code]
        fixed &= rows.max(axis=0) == rows.min(axis=0)
    return [int(position) for position in columns.positions[fixed]]


def _is_target(columns: Columns, position: int, target: Target) -> bool:
    if position in columns.others:
        text = columns.others[position]
        column, kept = pd.factorize(text.astype(str))[0].astype(float), text.notna().to_numpy()
    else:
        column = columns.numbers[:, int(np.flatnonzero(columns.positions == position)[0])]
        kept = ~np.isnan(column)
    kept = kept & target.known[columns.rows]
    x, y = column[kept], target.values[columns.rows][kept]
    if target.task == "classification":
        pairs = len(np.unique(np.stack([x, y]), axis=1).T)
        return pairs == len(np.unique(x)) == len(np.unique(y))
    return bool(abs(np.corrcoef(x, y)[0, 1]) > _EXACT)


# --- kernels -----------------------------------------------------------------------------------------------


def check_kernels_alone(examined: list[Examined], target: Target) -> Iterator[Finding]:
    """Kernels that are made of the target; `target` is that of their rows, all known."""
    for kernel in examined:
        subject = named("kernel", [kernel.name])
        if kernel.K is not None:
            kernel.alone = _skill_of_neighbours(kernel.K, target)
        if (
            target.task == "classification"
            and kernel.K is not None
            and _is_blocks(kernel.K, target.values.astype(int))
        ):
            what = "it depends on the classes of two samples and on nothing else: it was made of the target."
            yield Finding("error", subject, what, f"Leave {kernel.name!r} out: new samples do not have it.")
        elif kernel.alignment is not None and kernel.alignment > _IDEAL:
            what = (
                f"centred alignment {kernel.alignment:.4f} with the kernel that is made of the target "
                "(1 is the same): does the target leak into it?"
            )
            yield Finding("warning", subject, what, f"{_REMEDY}{kernel.name!r}.")


def _skill_of_neighbours(K: np.ndarray, target: Target) -> float:
    """How well the nearest other sample predicts, in the space of the kernel."""
    scaled = K / float(np.abs(K).max())
    distances = scaled.diagonal()[:, None] + scaled.diagonal() - 2.0 * scaled
    np.fill_diagonal(distances, np.inf)
    return _gain(target.values[distances.argmin(axis=1)], target.values, target.task == "classification")


def _is_blocks(K: np.ndarray, codes: np.ndarray) -> bool:
    """Whether the entries off the diagonal are constant for each pair of classes."""
    counts = np.bincount(codes)
    if counts.min() < 2 or 3 * len(counts) > len(codes):
        return False
    members = np.eye(len(counts))[codes]
    off = K / float(np.abs(K).max())
    np.fill_diagonal(off, 0.0)
    sizes = np.outer(counts, counts) - np.diag(counts)
    means = members.T @ off @ members / sizes
    rest = off - means[np.ix_(codes, codes)]
    total = off - off.sum() / sizes.sum()
    for matrix in (rest, total):
        np.fill_diagonal(matrix, 0.0)
    return bool(np.vdot(rest, rest) < _BLOCKS * np.vdot(total, total))
