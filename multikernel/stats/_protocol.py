"""Five repetitions of two-fold cross-validation: who is fitted on which half of what, and scored how.

Every estimator of a data set sees the same ten folds. They are stratified for classifiers and plain for
regressors. Rows are taken by scikit-learn, so that stacks of kernels lose rows and columns alike.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, cross_validate
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target

from multikernel._resumable import Result, Work
from multikernel.selection.paired_tests import FOLDS, REPEATS
from multikernel.stats._fingerprint import fingerprint

Array = np.ndarray[Any, np.dtype[Any]]
Split = tuple[Array, Array]
Keep = Callable[[Any], Mapping[str, Any]]

# Raised whenever the meaning of a score changes: stored scores of older versions are not used again.
_VERSION = 1


@dataclass(frozen=True)
class Contest:
    """Estimators and data sets by name, the folds of each data set and the scorer of each estimator.

    `keep` says what else than its score is kept of a fitted estimator: a dictionary that JSON can hold;
    `label`, what the messages call an estimator on a data set.
    """

    estimators: Mapping[str, Any]
    datasets: Mapping[str, tuple[Any, Any]]
    splits: Mapping[str, Sequence[Split]]
    scorers: Mapping[str, Callable[..., float]]
    scoring: str
    random_state: int
    keep: Keep | None = None
    label: str = "estimator {estimator!r} on data set {dataset!r}"


def make_contest(estimators: Any, datasets: Any, scoring: Any, random_state: Any) -> Contest:
    """Check what is compared, before anything is fitted, and draw the folds.

    Parameters
    ----------
    estimators : mapping of str to estimator
    datasets : mapping of str to (X, y)
    scoring : str, callable or None
    random_state : int

    Returns
    -------
    Contest
    """
    _check_estimators(estimators)
    seed = _check_seed(random_state)
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


def list_works(contest: Contest, *, stored: bool) -> list[Work]:
    """Return the fits of a contest in order: data sets, estimators, repetitions, folds.

    Parameters
    ----------
    contest : Contest
    stored : bool
        Whether results are kept: only then must the works have fingerprints.

    Returns
    -------
    list of Work
        Each gives ``score`` and ``fit_seconds``, and what the contest keeps.
    """
    hashes = _hashes(contest) if stored else {}
    works = []
    for dataset, splits in contest.splits.items():
        for estimator in contest.estimators:
            for i, split in enumerate(splits):
                place = (dataset, estimator, *divmod(i, FOLDS))
                mark = fingerprint(hashes[dataset, estimator], place[2:], split) if stored else ""
                works.append(_work(contest, place, split, mark))
    return works


def score_fold(
    estimator: Any,
    data: tuple[Any, Any],
    split: Split,
    scorer: Any,
    seed: Sequence[int],
    label: str,
    keep: Keep | None = None,
) -> Result:
    """Fit a copy of an estimator to one half of the data and score it on the other.

    Parameters
    ----------
    estimator : estimator
    data : (X, y)
    split : (train, test)
        Row numbers.
    scorer : callable
    seed : sequence of int
        Of the parameters called random_state that are None.
    label : str
        What the messages call this fit.
    keep : callable, optional
        What else to keep of the fitted copy.

    Returns
    -------
    dict
        ``score`` and ``fit_seconds``, and what `keep` gives.
    """
    model = _seeded(estimator, seed)
    try:
        found = cross_validate(
            model, *data, scoring=scorer, cv=[split], error_score="raise", return_estimator=keep is not None
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
    kept = {} if keep is None else keep(found["estimator"][0])
    return {"score": score, "fit_seconds": round(float(found["fit_time"][0]), 6), **kept}


def _work(contest: Contest, place: tuple[str, str, int, int], split: Split, mark: str) -> Work:
    dataset, estimator, repetition, fold = place
    name = contest.label.format(estimator=estimator, dataset=dataset)
    arguments = {
        "estimator": contest.estimators[estimator],
        "data": contest.datasets[dataset],
        "split": split,
        "scorer": contest.scorers[estimator],
        "seed": (contest.random_state, repetition, fold),
        "label": f"{name}, repetition {repetition}, fold {fold}",
        "keep": contest.keep,
    }
    return Work(json.dumps(place, ensure_ascii=False), mark, score_fold, arguments)


def _hashes(contest: Contest) -> dict[tuple[str, str], str]:
    """What every fold of an estimator on a data set depends on, but for the fold itself."""
    versions: tuple[Any, ...] = _VERSION, version("multikernel"), version("scikit-learn")
    if contest.keep is not None:
        versions = *versions, contest.keep
    of_data = {name: _hash(f"data set {name!r}", *data) for name, data in contest.datasets.items()}
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


def _seeded(estimator: Any, seed: Sequence[int]) -> Any:
    """A copy whose randomness is that of the seed, wherever its parameters leave it open."""
    model = clone(estimator)
    rng = np.random.default_rng(seed)
    for name, value in sorted(model.get_params(deep=True).items()):
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            model.set_params(**{name: int(rng.integers(2**31 - 1))})
    return model


# --- checks ------------------------------------------------------------------------------------------------


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
        if isinstance(estimator, type) or not all(hasattr(estimator, m) for m in ("fit", "get_params")):
            raise TypeError(
                f"estimator {name!r} must be an object with fit and get_params, as scikit-learn has them; "
                f"got {estimator!r}." + (" Call the class." if isinstance(estimator, type) else "")
            )


def _check_datasets(datasets: Any) -> dict[str, tuple[Any, Any]]:
    _check_named("datasets", datasets, '{"iris": (X, y)}')
    checked = {}
    for name, data in datasets.items():
        if not isinstance(data, tuple | list) or len(data) != 2:
            raise TypeError(f"data set {name!r} must be a pair (X, y); got {type(data).__name__}.")
        if data[1] is None:
            raise TypeError(f"data set {name!r} must have targets y, one for each row of X; got None.")
        try:
            X, y = indexable(*data)
        except (TypeError, ValueError) as error:
            raise ValueError(f"data set {name!r} must have as many rows as targets: {error}") from error
        checked[name] = (X, y)
    return checked


def _check_seed(random_state: Any) -> int:
    is_integer = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if not is_integer or not 0 <= random_state < 2**32:
        raise ValueError(
            "random_state must be an integer from 0 to 2**32 - 1, so that the same folds can be drawn again; "
            f"got {random_state!r}."
        )
    return int(random_state)


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
        folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=seed)
        return list(folds.split(np.empty((len(targets), 0)), targets.ravel()))
    if len(targets) < FOLDS:
        raise ValueError(f"data set {dataset!r} must have two samples at least; got {len(targets)}.")
    folds = RepeatedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=seed)
    return list(folds.split(np.empty((len(targets), 0))))


def _check_classes(dataset: str, y: Array) -> None:
    try:
        kind = type_of_target(y)
    except ValueError as error:
        raise ValueError(f"the targets of data set {dataset!r} must be labels: {error}") from error
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"the targets of data set {dataset!r} must be labels, one for each sample, for classifiers; got "
            f"{kind} targets."
        )
    names, counts = np.unique(y, return_counts=True)
    if len(names) < 2:
        raise ValueError(f"data set {dataset!r} must have two classes at least; got only {names[0]!s}.")
    if counts.min() < FOLDS:
        raise ValueError(
            f"every class must have two samples at least, one for each fold; data set {dataset!r} has "
            f"{counts.min()} of class {names[counts.argmin()]!s}. Leave that class out."
        )
