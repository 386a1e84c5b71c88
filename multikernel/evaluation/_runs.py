"""Runs the refits of an evaluation: each once, kept on disk, and a contender that fails spoils no other."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from joblib import effective_n_jobs

from multikernel._resumable import Progress, Result, ResultStore, Work, run_works


@dataclass(frozen=True)
class Settings:
    """How refits are run: processes, the file that keeps them, and whom to tell how far they are."""

    n_jobs: int | None = 1
    store: str | os.PathLike[str] | None = None
    progress: Progress | None = None
    random_state: int = 0

    @property
    def is_stored(self) -> bool:
        return self.store is not None


@dataclass
class Outcomes:
    """The results of each group of refits, and why a group has none."""

    results: dict[str, list[Result]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def note_warnings(self, notes: list[str]) -> None:
        """Add what the refits warned of, a note for each group that did."""
        for group, results in self.results.items():
            texts = [max(result["warnings"], key=_gap) for result in results if result.get("warnings")]
            if texts:
                worst = max(texts, key=_gap)
                which = ", the worst" if len(texts) > 1 and _gap(worst) > 0.0 else ""
                count = f"{len(texts)} of {len(results)}"
                notes.append(f"{count} refits of {group!r} gave a warning{which}: {worst}")


def _gap(text: str) -> float:
    """The gap that a warning tells of; 0 if it does not."""
    found = re.search(r"gap\D{,60}?(\d[\d.]*e[+-]\d+)", text)
    return float(found[1]) if found else 0.0


class RefitError(Exception):
    """A refit failed: its message says which, and why."""


def run_groups(groups: Mapping[str, Sequence[Work]], settings: Settings) -> Outcomes:
    """Run groups of works, one after the other; the works of a group at the same time.

    Parameters
    ----------
    groups : mapping of str to works
        Their keys must differ, also between groups.
    settings : Settings

    Returns
    -------
    Outcomes
        A group one of whose works fails is among the failures, with what it said; it is tried again in the
        next run.
    """
    store = None if settings.store is None else ResultStore(_checked_path(settings.store))
    count = _Count(sum(map(len, groups.values())), settings.progress)
    outcomes = Outcomes()
    try:
        for name, works in groups.items():
            quiet = [_quiet(work) for work in works]
            jobs = effective_n_jobs(settings.n_jobs)
            try:
                outcomes.results[name] = run_works(quiet, store, jobs=jobs, progress=count.of_group)
            except RefitError as error:
                outcomes.failures[name] = str(error)
            count.end_group(len(works))
    except KeyboardInterrupt as stop:
        if store is not None:
            stop.add_note(
                f"{count.done} of {count.total} refits are kept in {store.path}: call again to go on."
            )
        raise
    return outcomes


class _Count:
    """How many refits of all are done, from how many of a group are."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.total, self.done, self._before, self._progress = total, 0, 0, progress

    def of_group(self, done: int, _: int) -> None:
        self.done = self._before + done
        if self._progress is not None:
            self._progress(self.done, self.total)

    def end_group(self, size: int) -> None:
        """A group that failed counts as done: it is not waited for."""
        self._before += size
        if self.done < self._before:
            self.of_group(0, 0)


def _quiet(work: Work) -> Work:
    return replace(work, function=partial(_run_quietly, work.function))


def _run_quietly(function: Callable[..., Result], /, **given: Any) -> Result:
    """Do a work; what it warns of is kept with its result, for these are not the caller's own fits."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(**given)
        except Exception as error:
            raise RefitError(str(error)) from error
    return {**result, "warnings": [str(warning.message) for warning in caught]}


def _checked_path(store: Any) -> Path:
    path = Path(store)
    if path.is_dir():
        raise ValueError(
            f"store must be the path of a file; {path} is a folder. Use {path / 'refits.jsonl'}."
        )
    return path
