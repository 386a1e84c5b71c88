"""Runs five repetitions of two-fold cross-validation: who is fitted on which half of what, and scored how.

Every estimator of a data set sees the same ten folds. They are stratified for classifiers and plain for
regressors. Rows are taken by scikit-learn, so that stacks of kernels lose rows and columns alike. Each fit is
done once and kept on disk, where a file is given; an estimator that fails may be left out of the results.
"""

from __future__ import annotations

import difflib
import itertools
import json
import math
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import accuracy_score, check_scoring, get_scorer_names, r2_score
from sklearn.model_selection import cross_validate
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target

from .._typing import Array
from .._validation import check_n_jobs
from ..core.folds import Split, make_folds
from ..core.low_rank import settle_route
from ..core.store import Progress, Result, ResultStore, Work, run_works
from ..views.tables import as_tables
from .fingerprint import fingerprint
from .statistics.paired_tests import FOLDS, REPEATS
from .subject import is_integer, shares_of, subject_of

N_FITS = REPEATS * FOLDS
PROTOCOL = (
    f"{REPEATS} repetitions of {FOLDS}-fold cross-validation on the same folds, so that each of the {N_FITS} "
    "refits learns from half of the samples"
)
GIVEN = "given"  # the name of a data set that the caller has not named

# Raised whenever the meaning of a score changes: stored scores of older versions are not used again.
_VERSION = 4


@dataclass(frozen=True)
class Contest:
    """Estimators and data sets by name, the folds of each data set and the scorer of each estimator."""

    estimators: Mapping[str, Any]
    datasets: Mapping[str, tuple[Any, Any]]
    splits: Mapping[str, Sequence[Split]]
    scorers: Mapping[str, Callable[..., float]]
    scoring: str
    random_state: int


def make_contest(estimators: Any, datasets: Any, scoring: Any, seed: int) -> Contest:
    """Check what is compared, before anything is fitted, and draw the folds."""
    _check_estimators(estimators)
    stratified = _are_classifiers(estimators)
    checked = _check_datasets(datasets)
    chosen = _default_scoring(estimators, stratified) if scoring is None else scoring
    return Contest(
        dict(estimators),
        checked,
        {name: _draw_splits(name, y, stratified, seed) for name, (_, y) in checked.items()},
        {name: _scorer(name, estimator, chosen) for name, estimator in estimators.items()},
        _scoring_name(chosen),
        seed,
    )


def list_works(contest: Contest, *, stored: bool) -> dict[tuple[str, str], list[Work]]:
    """The fits of each (data set, estimator), by repetition and fold; only stored ones need fingerprints."""
    hashes = _hashes(contest) if stored else {}
    works: dict[tuple[str, str], list[Work]] = {}
    for dataset, estimator in itertools.product(contest.splits, contest.estimators):
        group = works[dataset, estimator] = []
        name = f"estimator {estimator!r}" + ("" if dataset == GIVEN else f" on {_called(dataset)}")
        for i, split in enumerate(contest.splits[dataset]):
            repetition, fold = place = divmod(i, FOLDS)
            mark = fingerprint(hashes[dataset, estimator], place, split) if stored else ""
            arguments = {
                "estimator": contest.estimators[estimator],
                "data": contest.datasets[dataset],
                "split": split,
                "scorer": contest.scorers[estimator],
                "seed": (contest.random_state, repetition, fold),
                "label": f"{name}, repetition {repetition}, fold {fold}",
            }
            key = json.dumps([dataset, estimator, repetition, fold], ensure_ascii=False)
            group.append(Work(key, mark, score_fold, arguments))
    return works


def score_fold(
    estimator: Any, data: tuple[Any, Any], split: Split, scorer: Any, seed: Sequence[int], label: str
) -> Result:
    """Fit a copy of an estimator to one half of the data and score it on the other.

    The seed is that of parameters called random_state that are None, the label what messages call this fit.
    The result has ``score``, ``fit_seconds``, ``shares``, the share of each view in all the weight, empty
    where the estimator has none, and ``samples``, the scores of the test samples, whose mean is the score;
    None where the score is no such mean.
    """
    model, keeping = settle_route(seeded(estimator, seed), data[0]), _Keeping(scorer)
    try:
        found = cross_validate(
            model, *data, scoring=keeping, cv=[split], error_score="raise", return_estimator=True
        )
    except Exception as error:
        raise ValueError(f"{label} failed with {type(error).__name__}: {error}") from error
    scores = {
        name.removeprefix("test_"): values for name, values in found.items() if name.startswith("test_")
    }
    if list(scores) != ["score"]:
        names = ", ".join(map(repr, scores))
        raise ValueError(
            f"scoring must give one number; {label} got a dictionary of {names}. Return one of its values."
        )
    score = float(scores["score"][0])
    if not math.isfinite(score):
        raise ValueError(
            f"every score must be finite; {label} scored {score}. Choose a scoring that is defined on every "
            "fold, or leave that data set out."
        )
    shares = shares_of(subject_of(found["estimator"][0]).final)
    seconds = round(float(found["fit_time"][0]), 6)
    return {"score": score, "fit_seconds": seconds, "shares": shares, "samples": keeping.samples}


class _Keeping:
    """A scorer that keeps the score of each sample, where the score is the mean of them."""

    def __init__(self, scorer: Any):
        self.scorer = scorer
        self.samples: list[Any] | None = None
        metric = getattr(scorer, "_score_func", None)
        is_plain = metric in _SAMPLE_SCORES and not scorer._kwargs
        self.metric = metric if is_plain else None

    def __call__(self, estimator: Any, X: Any, y: Any) -> Any:
        if self.metric is None:
            return self.scorer(estimator, X, y)
        predicted = estimator.predict(X)
        score = self.metric(y, predicted)
        self.samples = _SAMPLE_SCORES[self.metric](np.asarray(y), np.asarray(predicted))
        return score


def _hits(y: Array, predicted: Array) -> list[int]:
    return (y == predicted).astype(int).tolist()


def _explained(y: Array, predicted: Array) -> list[float] | None:
    """1 − n (y_i − f_i)² / Σ_j (y_j − ȳ)² of each sample, the mean over the outputs."""
    y = y.reshape(len(y), -1).astype(float)
    spread = ((y - y.mean(axis=0)) ** 2).sum(axis=0)
    if not (spread > 0.0).all():
        return None
    errors = (y - predicted.reshape(y.shape)) ** 2
    return (1.0 - len(y) * errors / spread).mean(axis=1).tolist()


_SAMPLE_SCORES: Mapping[Any, Callable[[Array, Array], list[Any] | None]] = {
    accuracy_score: _hits,
    r2_score: _explained,
}


def scores_of_samples(results: Sequence[Result], splits: Sequence[Split]) -> Array | None:
    """The scores of all samples in each repetition, (n_repetitions, n); None where there are none."""
    if any(result["samples"] is None for result in results):
        return None
    scores = np.empty((len(results) // FOLDS, sum(len(rows) for _, rows in splits[:FOLDS])))
    for i, (result, (_, rows)) in enumerate(zip(results, splits, strict=True)):
        scores[i // FOLDS, rows] = result["samples"]
    return scores


def _hashes(contest: Contest) -> dict[tuple[str, str], str]:
    """What every fold of an estimator on a data set depends on, but for the fold itself."""
    versions = _VERSION, version("multikernel"), version("scikit-learn")
    of_data = {name: _hash(_called(name), *data) for name, data in contest.datasets.items()}
    of_fits = {
        name: _hash(f"estimator {name!r}", estimator, contest.scorers[name], contest.random_state, versions)
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


def seeded(estimator: Any, seed: Sequence[int]) -> Any:
    """A copy whose randomness is that of the seed, wherever its parameters leave it open."""
    model = clone(estimator)
    rng = np.random.default_rng(seed)
    for name, value in sorted(model.get_params(deep=True).items()):
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            model.set_params(**{name: int(rng.integers(2**31 - 1))})
    return model


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
    outcomes = Outcomes()
    try:
        if errors == "raise":  # all at the same time
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
    _check_named("estimators", estimators, '{"svm": SVC(), "mkl": MKLClassifier()}')
    for name, estimator in estimators.items():
        needed = ("fit", "get_params", "__sklearn_tags__")
        if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in needed):
            raise TypeError(
                f"estimator {name!r} must be an object with fit and get_params, as scikit-learn has them; "
                f"got {estimator!r}." + (" Call the class." if isinstance(estimator, type) else "")
            )


def _check_datasets(datasets: Any) -> dict[str, tuple[Any, Any]]:
    _check_named("datasets", datasets, '{"iris": (X, y)}')
    checked = {}
    for name, data in datasets.items():
        if not isinstance(data, tuple | list) or len(data) != 2:
            raise TypeError(f"{_called(name)} must be a pair (X, y); got {type(data).__name__}.")
        if data[1] is None:
            raise TypeError(f"{_called(name)} must have targets y, one for each row of X; got None.")
        try:
            X, y = indexable(as_tables(data[0]) if isinstance(data[0], Mapping) else data[0], data[1])
        except (TypeError, ValueError) as error:
            raise ValueError(f"{_called(name)} must have as many rows as targets: {error}") from error
        checked[name] = (X, y)
    return checked


def _are_classifiers(estimators: Mapping[str, Any]) -> bool:
    kinds = {name: is_classifier(estimator) for name, estimator in estimators.items()}
    if len(set(kinds.values())) > 1:
        yes, no = (next(name for name, kind in kinds.items() if kind is wanted) for wanted in (True, False))
        raise ValueError(
            f"classifiers can only be compared with classifiers; {yes!r} is one and {no!r} is not. Compare "
            "them apart."
        )
    return next(iter(kinds.values()))


def _default_scoring(estimators: Mapping[str, Any], classifiers: bool) -> str:
    if classifiers:
        return "accuracy"
    for name, estimator in estimators.items():
        if not is_regressor(estimator):
            raise ValueError(
                f"scoring must be given for estimator {name!r}: it is neither a classifier nor a regressor."
            )
    return "r2"


def _scorer(name: str, estimator: Any, scoring: Any) -> Any:
    if not isinstance(scoring, str) and not callable(scoring):
        raise TypeError(
            f"scoring must be the name of one score or a function of (estimator, X, y); got {scoring!r}."
        )
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        near = difflib.get_close_matches(scoring, get_scorer_names(), 1)
        hint = f"Did you mean {near[0]!r}?" if near else "sklearn.metrics.get_scorer_names() has them all."
        raise ValueError(f"scoring must be a score that scikit-learn knows; got {scoring!r}. {hint}")
    try:
        return check_scoring(estimator, scoring=scoring)
    except (TypeError, ValueError) as error:
        raise ValueError(f"estimator {name!r} cannot be scored: {error}") from error


def _scoring_name(scoring: Any) -> str:
    """What a table calls the score: the name of the function, also within make_scorer or partial."""
    if isinstance(scoring, str):
        return scoring
    function = getattr(scoring, "_score_func", scoring)
    name = getattr(getattr(function, "func", function), "__name__", "score")
    if name == "<lambda>":
        return "score"
    return f"neg_{name}" if getattr(scoring, "_sign", 1) < 0 else name


def _draw_splits(dataset: str, y: Any, stratified: bool, seed: int) -> list[Split]:
    targets = np.asarray(y)
    if stratified:
        _check_classes(dataset, targets)
    elif len(targets) < FOLDS:
        raise ValueError(f"{_called(dataset)} must have two samples at least; got {len(targets)}.")
    return make_folds(targets, FOLDS, classifier=stratified, random_state=seed, n_repeats=REPEATS)


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
