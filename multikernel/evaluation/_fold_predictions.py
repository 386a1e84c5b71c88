"""Predictions of samples that a model has not seen: one refit a fold, each a piece of work of its own."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.metaestimators import _safe_split

from multikernel._resumable import Result, Work
from multikernel.estimators._calibration import SigmoidCalibration
from multikernel.evaluation._contest import n_samples
from multikernel.evaluation._runs import Settings
from multikernel.evaluation._subject import Subject
from multikernel.stats._fingerprint import fingerprint
from multikernel.stats._protocol import _seeded

Array = np.ndarray[Any, np.dtype[Any]]
Split = tuple[Array, Array]

# Raised whenever the meaning of a result changes: stored ones of older versions are not used again.
_VERSION = 1
OWN, SIGMOID = "own", "sigmoid"  # whose probabilities


def fold_works(subject: Subject, data: tuple[Any, Any], cv: int, settings: Settings) -> list[Work]:
    """The folds of a cross-validation of the model.

    Raises
    ------
    ValueError
        If there are not samples enough for two folds.
    """
    X, y = data
    splits = list_folds(subject.task, n_samples(X), np.asarray(y), cv, settings.random_state)
    model = subject.fresh(probabilities=True)
    mark = ""
    if settings.is_stored:
        mark = fingerprint(model, X, y, _VERSION, version("multikernel"), version("scikit-learn"))
    works = []
    for number, split in enumerate(splits):
        arguments = {
            "model": model,
            "data": data,
            "split": split,
            "seed": (settings.random_state, number),
            "label": f"fold {number + 1} of {len(splits)}",
        }
        key = json.dumps(["held out", len(splits), number])
        print_of = fingerprint(mark, split, arguments["seed"]) if settings.is_stored else ""
        works.append(Work(key, print_of, predict_fold, arguments))
    return works


def list_folds(task: str, n: int, y: Array, cv: int, seed: int) -> list[Split]:
    """Shuffled folds, stratified for classes, and no more of them than the smallest class has samples."""
    if task == "classes":
        names, counts = np.unique(y, return_counts=True)
        if counts.min() < 2:
            raise ValueError(
                f"every class must have two samples at least; class {names[counts.argmin()]!s} has one."
            )
        folds = StratifiedKFold(min(cv, int(counts.min())), shuffle=True, random_state=seed)
        return list(folds.split(np.empty((n, 0)), y))
    if n < 4:
        raise ValueError(f"there must be four samples at least; got {n}.")
    return list(KFold(min(cv, n // 2), shuffle=True, random_state=seed).split(np.empty((n, 0))))


def predict_fold(
    model: Any, data: tuple[Any, Any], split: Split, seed: tuple[int, ...], label: str
) -> Result:
    """Fit a copy of the model to the training part and predict the rest.

    Returns
    -------
    dict
        ``rows``; ``predicted``, values or numbers of classes; ``scores`` (n, n_classes), or one column for
        two classes, and ``probabilities`` with ``how`` they were made, each None where it is not to be had.
    """
    fitted = _seeded(model, seed)
    X_train, y_train = _safe_split(fitted, *data, split[0])
    X_test, _ = _safe_split(fitted, *data, split[1], split[0])
    try:
        fitted.fit(X_train, y_train)
        predicted = np.asarray(fitted.predict(X_test))
    except Exception as error:
        raise ValueError(f"{label} failed with {type(error).__name__}: {error}") from error
    found = {"rows": split[1].tolist(), "scores": None, "probabilities": None, "how": None}
    if not hasattr(fitted, "classes_"):
        return {**found, "predicted": predicted.tolist()}
    classes = np.unique(np.asarray(data[1]))
    found["predicted"] = np.searchsorted(classes, predicted).tolist()
    scores = _scores(fitted, X_test, classes.size)
    how, probabilities = _probabilities(model, fitted, (X_train, y_train), X_test, scores)
    if scores is None and probabilities is not None:
        scores = probabilities[:, 1:] if classes.size == 2 else probabilities
    found["scores"] = None if scores is None else scores.tolist()
    found["probabilities"] = None if probabilities is None else probabilities.tolist()
    return {**found, "how": how}


def _scores(fitted: Any, X: Any, n_classes: int) -> Array | None:
    """One score for each class, or one for the second of two."""
    if not hasattr(fitted, "decision_function"):
        return None
    scores = np.asarray(fitted.decision_function(X), float)
    scores = scores[:, None] if scores.ndim == 1 else scores
    return scores if scores.shape[1] == (1 if n_classes == 2 else n_classes) else None


def _probabilities(
    model: Any, fitted: Any, train: tuple[Any, Any], X: Any, scores: Array | None
) -> tuple[str | None, Array | None]:
    """The model's own, or a sigmoid of its scores, fitted by folds within the training part."""
    if hasattr(fitted, "predict_proba"):
        return OWN, np.asarray(fitted.predict_proba(X), float)
    if scores is None:
        return None, None
    y = np.asarray(train[1])
    if np.unique(y, return_counts=True)[1].min() < 2:
        return None, None
    sigmoid = SigmoidCalibration(model, random_state=0).fit(train[0], y, None)
    return SIGMOID, sigmoid.predict_proba(scores)
