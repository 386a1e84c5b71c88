"""One refit: a copy of an estimator on the training part of a fold, and what it is worth on the test part."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import has_fit_parameter

from .._typing import Array
from ..core.folds import Split, list_splits, reads_groups
from ..core.low_rank import settle_route
from ..core.store import Result
from .explaining.reasons import explained
from .protocol import Samples, number_of_folds
from .scoring import Scorers, measure, task_of
from .subject import shares_of, subject_of
from .survival.scores import judged_times

# what a refit may tell beside its scores
TRAINING, PREDICTIONS, EXPLANATIONS = "training", "predictions", "explanations"


def score_fold(
    estimator: Any,
    data: Sequence[Any],
    split: Split,
    scorers: Scorers,
    seed: Sequence[int],
    label: str,
    also: Iterable[str] = (),
) -> Result:
    """Fit a copy of an estimator to the training part of a fold, and score it on the test part.

    The seed is that of parameters called random_state that are None, the label what messages call this fit.
    The result has the ``score`` that decides, all ``scores`` by name, ``fit_seconds``, ``shares``, the share
    of each view in all the weight, empty where the estimator has none, and ``samples``, of each score its
    parts by test sample, whose mean is the score, or None. With "training" among `also` it has ``training``,
    the scores on the samples that the copy learned from, and ``support``, the share of them that are support
    samples; with "predictions", what `predictions_of` says of the test part; with "explanations",
    ``explained``, why samples of the test part are predicted as they are.
    """
    samples, (train, test) = Samples(*data), split
    model = settle_route(seeded(estimator, seed), samples.X)
    weight, also = samples.weight, set(also)
    try:
        keep_groups(model, samples, train)
        X_train, y_train = _safe_split(model, samples.X, samples.y, train)
        start = time.perf_counter()
        model.fit(X_train, y_train, **fit_parameters(model, None if weight is None else weight[train]))
        seconds = time.perf_counter() - start
        X_test, y_test = _safe_split(model, samples.X, samples.y, test, train)
        of_test = measure(scorers, model, X_test, y_test, None if weight is None else weight[test])
    except Exception as error:
        raise ValueError(f"{label} failed with {type(error).__name__}: {error}") from error
    final = subject_of(model).final
    scores = {name: _finite(score, name, label) for name, (score, _) in of_test.items()}
    found: dict[str, Any] = {
        "score": next(iter(scores.values())),
        "scores": scores,
        "fit_seconds": round(seconds, 6),
        "shares": shares_of(final),
        "samples": {name: parts for name, (_, parts) in of_test.items()},
    }
    if TRAINING in also:
        of_train = measure(scorers, model, X_train, y_train, None if weight is None else weight[train])
        found["training"] = {name: _finite(score, name, label) for name, (score, _) in of_train.items()}
        found["support"] = support_share(final, len(train))
    if PREDICTIONS in also:
        found |= {"rows": np.asarray(test).tolist(), **predictions_of(model, X_test, samples.y)}
    if EXPLANATIONS in also:
        found["explained"] = explained(model, (X_train, y_train), (X_test, y_test), split, samples.X)
    return found


def _finite(score: Any, name: str, label: str) -> float:
    if isinstance(score, Mapping):
        names = ", ".join(map(repr, score))
        raise ValueError(
            f"scoring must give one number; {label} got a dictionary of {names}. Return one of its values."
        )
    value = float(score)
    if not math.isfinite(value):
        raise ValueError(
            f"every score must be finite; {label} scored {value}. Choose a scoring that is defined on every "
            "fold, or leave that data set out."
        )
    return value


def seeded(estimator: Any, seed: Sequence[int]) -> Any:
    """A copy whose randomness is that of the seed, wherever its parameters leave it open."""
    model = clone(estimator)
    rng = np.random.default_rng(seed)
    for name, value in sorted(model.get_params(deep=True).items()):
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            model.set_params(**{name: int(rng.integers(2**31 - 1))})
    return model


# ------------------------------------------------------------------ groups and weights
def keep_groups(model: Any, samples: Samples, train: Array) -> None:
    """Let a model that is tuned on inner folds keep the samples of each group together there too.

    Each ``cv`` of the model, and of estimators within it, that is a number of folds or a splitter becomes
    the list of such folds of the training part. It is modified: pass a copy.
    """
    if samples.groups is None:
        return
    known = model.get_params(deep=True)
    paths = [path for path in known if path == "cv" or path.endswith("__cv")]
    outer = [p for p in paths if not any(p != q and p.startswith(q.removesuffix("cv")) for q in paths)]
    y, task = np.asarray(samples.y)[train], task_of(model)
    part = Samples(np.empty((len(train), 0)), y, samples.groups[train])
    for path in outer:
        owner = model if path == "cv" else known[path.removesuffix("__cv")]
        cv = 5 if known[path] is None and isinstance(owner, BaseSearchCV) else known[path]
        if reads_groups(cv):
            splits = list_splits(cv, part.X, y, classifier=task == "classification", groups=part.groups)
        elif isinstance(cv, int | np.integer) and not isinstance(cv, bool) and cv > 1:
            splits = number_of_folds(part, int(cv), task, 0, needs="inner folds need")
        elif hasattr(cv, "get_n_splits") and hasattr(cv, "split"):
            splits = number_of_folds(part, cv.get_n_splits(part.X, y), task, 0, needs="inner folds need")
        else:
            continue
        model.set_params(**{path: splits})


def fit_parameters(model: Any, weight: Array | None) -> dict[str, Array]:
    """What ``fit`` of a model gets beside X and y."""
    if weight is None:
        return {}
    path = weight_path(model)
    if path is None:
        raise TypeError(
            f"{type(model).__name__} takes no sample_weight: leave sample_weight or that model out."
        )
    return {path: weight}


def weight_path(model: Any) -> str | None:
    """The argument of ``fit`` that weights of samples are passed by; None where there is none."""
    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        inner = weight_path(last)
        return None if inner is None else f"{name}__{inner}"
    if has_fit_parameter(model, "sample_weight"):
        return "sample_weight"
    inside = getattr(model, "estimator", getattr(model, "regressor", None))
    passes = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(model.fit).parameters.values())
    return weight_path(inside) if inside is not None and passes else None


# ------------------------------------------------------------------ what a refit says
def support_share(final: Any, n: int) -> float | None:
    """The share of n training samples that are support samples; None of models without any."""
    if not hasattr(final, "support_") or n < 1:
        return None
    return float(np.unique(np.asarray(final.support_)).size / n)


def predictions_of(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """What a fitted model says of samples: ``predicted``, values or numbers of classes of `y`; ``decisions``
    (n, n_classes), or one column for two classes, and ``probabilities``, each None where it has none. Of a
    survival model ``survival`` at the times of `judged_times` (n, n_times), or None.
    """
    predicted = np.asarray(model.predict(X))
    found: dict[str, Any] = {"predicted": predicted.tolist(), "decisions": None, "probabilities": None}
    if task_of(model) == "survival":
        return found | {"survival": _survival(model, X, y)}
    if not hasattr(model, "classes_"):
        return found
    classes = np.unique(np.asarray(y))
    found["predicted"] = np.searchsorted(classes, predicted).tolist()
    scores = _scores(model, X, classes.size)
    if hasattr(model, "predict_proba") and len(model.classes_) == classes.size:
        probabilities = np.asarray(model.predict_proba(X), float)
        found["probabilities"] = probabilities.tolist()
        if scores is None:
            scores = probabilities[:, 1:] if classes.size == 2 else probabilities
    found["decisions"] = None if scores is None else scores.tolist()
    return found


def _survival(model: Any, X: Any, y: Any) -> list[list[float]] | None:
    """Predicted survival; None of models without curves, and of those whose curves are functions."""
    subject = subject_of(model)
    if not hasattr(subject.final, "event_times_"):
        return None
    curves = subject.final.predict_survival_function(subject.inputs(X), judged_times(y))
    return np.asarray(curves, float).tolist() if np.ndim(curves) == 2 else None


def _scores(model: Any, X: Any, n_classes: int) -> Array | None:
    """One score for each class, or one for the second of two."""
    if not hasattr(model, "decision_function"):
        return None
    scores = np.asarray(model.decision_function(X), float)
    scores = scores[:, None] if scores.ndim == 1 else scores
    return scores if scores.shape[1] == (1 if n_classes == 2 else n_classes) else None
