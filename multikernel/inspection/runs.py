"""Who is fitted on which part of what, and scored how: all models of a data set on the same folds.

Rows are taken by scikit-learn, so that stacks of kernels lose rows and columns alike. Each fit is done once
and kept on disk, where a file is given; an estimator that fails may be left out of the results.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target

from .._typing import Array
from .._validation import check_n_jobs
from ..core.store import Progress, Result, ResultStore, Work, run_works
from ..core.survival_targets import as_survival
from ..rows import count_rows
from ..views.sharing import share_grams
from ..views.tables import as_tables
from .fingerprint import fingerprint
from .protocol import Protocol, Samples, by_dataset, check_extras, iterate, make_protocol
from .refits import score_fold, weight_path
from .scoring import NOTHING, Scorers, check_suits, scorers_for, scores_asked, task_of
from .statistics.paired_tests import FOLDS
from .subject import is_integer

GIVEN = "given"  # the name of a data set that the caller has not named

# Raised whenever the meaning of a score changes: stored scores of older versions are not used again.
_VERSION = 5


@dataclass(frozen=True)
class Judging:
    """How models are judged: scores, folds, groups and weights, as the caller gave them."""

    scoring: Any = None
    cv: Any = None
    groups: Any = None
    sample_weight: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cv", iterate(self.cv))

    def samples(self, datasets: Mapping[str, tuple[Any, Any]]) -> dict[str, Samples]:
        """The data sets with groups and weights of their samples."""
        groups = by_dataset("groups", self.groups, list(datasets), GIVEN)
        weights = by_dataset("sample_weight", self.sample_weight, list(datasets), GIVEN)
        return {
            name: Samples(X, y, *check_extras(groups.get(name), weights.get(name), count_rows(X)))
            for name, (X, y) in datasets.items()
        }


@dataclass(frozen=True)
class Contest:
    """Estimators and data sets by name, the folds of each data set and the scorers of each estimator."""

    estimators: Mapping[str, Any]
    datasets: Mapping[str, Samples]
    protocols: Mapping[str, Protocol]
    scorers: Mapping[str, Scorers]
    task: str
    random_state: int

    @property
    def scorings(self) -> list[str]:
        """The scores by name, the first of which decides."""
        return list(next(iter(self.scorers.values())))


def make_contest(estimators: Any, datasets: Any, judging: Judging, seed: int) -> Contest:
    """Check what is compared, before anything is fitted, and draw the folds."""
    _check_estimators(estimators)
    task = _same_task(estimators, judging.scoring)
    samples = judging.samples(_check_datasets(datasets, task))
    asked = scores_asked(judging.scoring, task)
    weighted = judging.sample_weight is not None
    scorers = {
        name: scorers_for(f"model {name!r}", estimator, asked, weighted)
        for name, estimator in estimators.items()
    }
    for name, estimator in estimators.items():
        if weighted and weight_path(estimator) is None:
            raise TypeError(
                f"model {name!r}, {type(estimator).__name__}, takes no sample_weight. Leave sample_weight or "
                "that model out."
            )
    protocols = {}
    for name, data in samples.items():
        if task == "classification":
            _check_classes(name, np.asarray(data.y))
        elif len(np.asarray(data.y)) < FOLDS:
            raise ValueError(f"{_called(name)} must have two samples at least; got {len(data.y)}.")
        check_suits(asked, data.y, task)
        protocols[name] = make_protocol(data, judging.cv, task, seed, _called(name))
    return Contest(dict(estimators), samples, protocols, scorers, task, seed)


def list_works(
    contest: Contest, *, stored: bool, also: Mapping[str, Iterable[str]] | None = None
) -> dict[tuple[str, str], list[Work]]:
    """The fits of each (data set, estimator), fold by fold; only stored ones need fingerprints.

    `also` is what the refits of some estimators tell beside their scores, see `score_fold`.
    """
    hashes = _hashes(contest) if stored else {}
    works: dict[tuple[str, str], list[Work]] = {}
    for dataset, estimator in itertools.product(contest.protocols, contest.estimators):
        group = works[dataset, estimator] = []
        name = f"model {estimator!r}" + ("" if dataset == GIVEN else f" on {_called(dataset)}")
        more = sorted((also or {}).get(estimator, ()))
        protocol = contest.protocols[dataset]
        for place, split in zip(protocol.places, protocol.splits, strict=True):
            repetition, fold = place
            mark = fingerprint(hashes[dataset, estimator], place, split, more) if stored else ""
            arguments = {
                "estimator": contest.estimators[estimator],
                "data": contest.datasets[dataset],
                "split": split,
                "scorers": contest.scorers[estimator],
                "seed": (contest.random_state, repetition, fold),
                "label": f"{name}, repetition {repetition}, fold {fold}",
                "also": more,
            }
            key = json.dumps([dataset, estimator, repetition, fold], ensure_ascii=False)
            group.append(Work(key, mark, score_fold, arguments))
    return works


def parts_by_sample(results: Sequence[Result], protocol: Protocol, scoring: str) -> Array | None:
    """The parts of a score by sample in each repetition, (n_repetitions, n); None where there are none."""
    return protocol.by_sample([result["samples"][scoring] for result in results])


def _hashes(contest: Contest) -> dict[tuple[str, str], str]:
    """What every fold of an estimator on a data set depends on, but for the fold itself."""
    versions = _VERSION, version("multikernel"), version("scikit-learn")
    of_data = {name: _hash(_called(name), *data) for name, data in contest.datasets.items()}
    of_fits = {
        name: _hash(f"model {name!r}", estimator, contest.scorers[name], contest.random_state, versions)
        for name, estimator in contest.estimators.items()
    }
    return {(data, fit): of_data[data] + of_fits[fit] for data in of_data for fit in of_fits}


def _hash(label: str, *values: Any) -> str:
    try:
        return fingerprint(*values)
    except TypeError as error:
        raise TypeError(
            f"store= keeps only scores of what can be recognised by its content, and {label} cannot: {error} "
            "Compare without store=, or make it of objects that pickle understands."
        ) from error


# ------------------------------------------------------------------ running
@dataclass(frozen=True)
class Settings:
    """How fits are run: seed, processes, the file that keeps them, and whom to tell how far they are."""

    random_state: int = 0
    n_jobs: int | None = 1
    store: str | os.PathLike[str] | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        seed, n_jobs, store = self.random_state, self.n_jobs, self.store
        if not is_integer(seed) or not 0 <= seed < 2**32:
            raise ValueError(
                "random_state must be an integer from 0 to 2**32 - 1, so that the same folds can be drawn "
                f"again; got {seed!r}."
            )
        check_n_jobs(n_jobs)
        if self.progress is not None and not callable(self.progress):
            raise TypeError(
                "progress must be a function of two numbers, of fits done and of all, or None; got "
                f"{type(self.progress).__name__}."
            )
        if store is not None and not isinstance(store, str | os.PathLike):
            raise TypeError(f"store must be the path of a file; got {store!r}.")
        if store is not None and Path(store).is_dir():
            raise ValueError(
                f"store must be the path of a file; {store} is a folder. Use {Path(store) / 'fits.jsonl'}."
            )

    @property
    def is_stored(self) -> bool:
        return self.store is not None


@dataclass
class Outcomes:
    """The results of each group of fits, and why a group has none."""

    results: dict[Any, list[Result]] = field(default_factory=dict)
    failures: dict[Any, str] = field(default_factory=dict)

    def note_warnings(self, notes: list[str]) -> None:
        """Add what the fits warned of, a note for each group that did."""
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


class RefitError(ValueError):
    """A fit failed: its message says which, and why."""


def run_groups(groups: Mapping[Any, Sequence[Work]], settings: Settings, *, errors: str) -> Outcomes:
    """Run groups of works, each once; the keys of works differ, also between groups.

    A work that fails is the end of the run ("raise"), or its group is among the failures ("omit"); it is
    tried again in the next run.
    """
    store = None if settings.store is None else ResultStore(Path(settings.store))
    count = _Count(sum(map(len, groups.values())), settings.progress)
    jobs = effective_n_jobs(settings.n_jobs)
    groups = {
        name: [replace(work, function=partial(_run_quietly, work.function)) for work in group]
        for name, group in groups.items()
    }
    with share_grams():
        return _run(groups, count, (store, jobs), errors)


def _run(
    groups: Mapping[Any, Sequence[Work]], count: _Count, how: tuple[ResultStore | None, int], errors: str
) -> Outcomes:
    """Run the groups one after the other, or all works at the same time where an error ends the run."""
    (store, jobs), outcomes = how, Outcomes()
    try:
        if errors == "raise":
            works = [work for group in groups.values() for work in group]
            results = iter(run_works(works, store, jobs=jobs, progress=count.of_group))
            outcomes.results = {name: [next(results) for _ in group] for name, group in groups.items()}
            return outcomes
        for name, group in groups.items():
            try:
                outcomes.results[name] = run_works(group, store, jobs=jobs, progress=count.of_group)
            except RefitError as error:
                outcomes.failures[name] = str(error)
            count.end_group(len(group))
    except (KeyboardInterrupt, Exception) as stop:
        if store is not None and count.done is not None:
            stop.add_note(
                f"{count.done} of {count.total} fits are kept in {store.path}: call again to go on."
            )
        raise
    return outcomes


class _Count:
    """How many fits of all are done, from how many of a group are; None before the store was read."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.total, self._before, self._progress = total, 0, progress
        self.done: int | None = None

    def of_group(self, done: int, _: int) -> None:
        self.done = self._before + done
        if self._progress is not None:
            self._progress(self.done, self.total)

    def end_group(self, size: int) -> None:
        """A group that failed counts as done: it is not waited for."""
        self._before += size
        if self.done is not None and self.done < self._before:
            self.of_group(0, 0)


def _run_quietly(function: Callable[..., Result], /, **given: Any) -> Result:
    """Do a work; what it warns of is kept with its result, for these are not the caller's own fits."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(**given)
        except Exception as error:
            raise RefitError(str(error)) from error
    return {**result, "warnings": [str(warning.message) for warning in caught]}


# ------------------------------------------------------------------ checks
def _called(dataset: str) -> str:
    return "the data" if dataset == GIVEN else f"data set {dataset!r}"


def _check_named(what: str, given: Any, example: str) -> None:
    if not isinstance(given, Mapping) or not given:
        kind = "an empty one" if isinstance(given, Mapping) else type(given).__name__
        raise TypeError(f"{what} must be a dictionary by name, e.g. {example}; got {kind}.")
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"the names of {what} must be strings; got {name!r}.")


def _check_estimators(estimators: Any) -> None:
    _check_named("models", estimators, '{"svm": SVC(), "mkl": MKLClassifier()}')
    for name, estimator in estimators.items():
        needed = ("fit", "get_params", "__sklearn_tags__")
        if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in needed):
            raise TypeError(
                f"model {name!r} must be an object with fit and get_params, as scikit-learn has them; "
                f"got {estimator!r}." + (" Call the class." if isinstance(estimator, type) else "")
            )


def _check_datasets(datasets: Any, task: str) -> dict[str, tuple[Any, Any]]:
    _check_named("datasets", datasets, '{"iris": (X, y)}')
    checked = {}
    for name, data in datasets.items():
        if not isinstance(data, tuple | list) or len(data) != 2:
            raise TypeError(f"{_called(name)} must be a pair (X, y); got {type(data).__name__}.")
        if data[1] is None:
            raise TypeError(f"{_called(name)} must have targets y, one for each row of X; got None.")
        try:
            if task == "survival":
                data = data[0], as_survival(data[1]).to_structured()
            X, y = indexable(as_tables(data[0]) if isinstance(data[0], Mapping) else data[0], data[1])
        except (TypeError, ValueError) as error:
            raise ValueError(f"{_called(name)} must have as many rows as targets: {error}") from error
        checked[name] = (X, y)
    return checked


_PLURALS = {"classification": "classifiers", "regression": "regressors", "survival": "survival models"}


def _same_task(estimators: Mapping[str, Any], scoring: Any) -> str:
    """What all estimators predict."""
    tasks = {name: task_of(estimator) for name, estimator in estimators.items()}
    for kind, plural in _PLURALS.items():
        yes = [name for name, task in tasks.items() if task == kind]
        no = [name for name, task in tasks.items() if task != kind]
        if yes and no and kind != "regression":
            raise ValueError(
                f"{plural} can only be compared with {plural}; {yes[0]!r} is one and {no[0]!r} is not. "
                "Compare them apart."
            )
    unknown = [name for name, task in tasks.items() if task == NOTHING]
    if unknown and scoring is None:
        raise ValueError(
            f"scoring must be given for model {unknown[0]!r}: it is neither a classifier nor a regressor."
        )
    return next((task for task in tasks.values() if task != NOTHING), NOTHING)


def _check_classes(dataset: str, y: Array) -> None:
    try:
        kind = type_of_target(y)
    except ValueError as error:
        raise ValueError(f"the targets of {_called(dataset)} must be labels: {error}") from error
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"the targets of {_called(dataset)} must be labels, one for each sample, for classifiers; got "
            f"{kind} targets."
        )
    names, counts = np.unique(y, return_counts=True)
    if len(names) < 2:
        raise ValueError(f"{_called(dataset)} must have two classes at least; got only {names[0]!s}.")
    if counts.min() < FOLDS:
        raise ValueError(
            f"every class must have two samples at least, one for each fold; {_called(dataset)} has "
            f"{counts.min()} of class {names[counts.argmin()]!s}. Leave that class out."
        )
