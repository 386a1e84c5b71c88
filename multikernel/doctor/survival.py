"""Censored times as a target: what is wrong with them, and what to know before a model is fitted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from multikernel.core.survival_targets import SurvivalTarget, as_survival
from multikernel.doctor.diagnosis import Finding, percent
from multikernel.doctor.target import FOLDS, Target, nothing

_FEW_EVENTS = 30  # of fewer, the interval of a concordance index is about 20 points wide
_TIED = 0.1  # of the events share their time with another: how ties are counted matters
_SHUFFLED = "EventKFold(5)"


def examine_survival(y: Any, n: int) -> tuple[Target, list[Finding]]:
    """Read the event and the time of n rows and say what is wrong with them."""
    try:
        target = as_survival(y)
    except (TypeError, ValueError) as error:
        what, _, remedy = str(error).partition(". ")
        return nothing(n), [Finding("error", "target", f"{what}.", remedy or "Correct these rows.")]
    if len(target) != n:
        what = f"it must hold an event and a time for each of the {n} rows; it has {len(target)}."
        return nothing(n), [Finding("error", "target", what, "Look for rows that were lost: len(X), len(y).")]
    known = np.ones(n, dtype=bool)
    event = Target("classification", target.event.astype(float), known, [False, True])
    time = Target("regression", target.time, known, [])
    return Target("survival", target.time, known, [], (time, event)), list(_check(target))


def _check(target: SurvivalTarget) -> Iterator[Finding]:
    n, events = len(target), target.n_events
    if not events:
        what = f"all {n} rows are censored: no event was seen, and nothing can be learned."
        remedy = "Is the event coded the other way round? True or 1 means that it was seen."
        yield Finding("error", "target", what, remedy, "--event COLUMN=VALUE says which value is the event.")
        return
    yield from _check_zero(target)
    yield from _check_events(n, events)
    times = target.time[target.event]
    tied = int(pd.Series(times).duplicated(keep=False).sum())
    if tied > _TIED * events:
        what = (
            f"{tied} of {events} events ({percent(tied, events)}) share their time with another: their order "
            "is not known."
        )
        remedy = 'MKLSurvival(ties="efron") counts ties more exactly; or use finer times.'
        yield Finding("note", "target", what, remedy, "--set ties=efron")
    if n >= 2 * FOLDS and ((np.diff(target.time) >= 0.0).all() or (np.diff(target.time) <= 0.0).all()):
        what = "rows are sorted by time, so that folds of neighbours leave a range of times out."
        yield Finding("warning", "target", what, f"cv={_SHUFFLED}", "Nothing: the commands shuffle first.")


def _check_zero(target: SurvivalTarget) -> Iterator[Finding]:
    at_zero = target.time == 0.0
    if (at_zero & target.event).any():
        rows = np.flatnonzero(at_zero & target.event)
        what = f"{rows.size} events are at time 0, the first in row {rows[0]}: a fit refuses them."
        remedy = "Give such rows a small positive time, such as half a day, or leave them out."
        yield Finding("error", "target", what, remedy)
    elif at_zero.any():
        rows = np.flatnonzero(at_zero)
        what = f"{rows.size} rows are censored at time 0, the first is row {rows[0]}: they say nothing."
        remedy = 'Leave them out; loss="regression", of log times, refuses them.'
        yield Finding("note", "target", what, remedy, "Take these rows out of the file.")


def _check_events(n: int, events: int) -> Iterator[Finding]:
    share = f"{events} of {n} rows ({percent(events, n)}) have the event"
    if events == n:
        what = "no row is censored: the log time is a value like others."
        yield Finding("note", "target", what, "MKLRegressor on np.log(time) is an alternative.")
    elif events < 2 * FOLDS:
        what = f"{share}: too few for folds with two each."
        remedy = f"cv=EventKFold({max(2, events // 2)}), or wait for more events."
        yield Finding("warning", "target", what, remedy, "Wait for more events.")
    elif events < _FEW_EVENTS:
        what = f"{share}: what can be learned depends on the events, not on the rows. They are few."
        remedy = "Prefer few views and norm=2, and repeat folds: cv=EventKFold(5, n_repeats=10)."
        yield Finding("warning", "target", what, remedy, "--set norm=2 spreads the weights.")
    else:
        what = f"{share}; folds should have the same share of them."
        yield Finding("note", "target", what, f"cv={_SHUFFLED}", "Nothing: the commands take such folds.")
