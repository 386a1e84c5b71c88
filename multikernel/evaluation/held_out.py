"""How well the model predicts samples that it has not seen: confusion, ROC, calibration, residuals."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    roc_auc_score,
    roc_curve,
)

from multikernel._resumable import Progress, Result
from multikernel.evaluation._contest import METRICS, Report
from multikernel.evaluation._fold_predictions import OWN, fold_works
from multikernel.evaluation._given import check_data, check_settings, needs_target
from multikernel.evaluation._parts import majority_rate
from multikernel.evaluation._rows import choose_rows
from multikernel.evaluation._runs import Settings, run_groups
from multikernel.evaluation._subject import Subject, subject_of
from multikernel.evaluation._words import not_above, on_majority

Array = np.ndarray[Any, np.dtype[Any]]
Part = dict[str, Any]

GROUP = "held out"
_CURVE_POINTS = 100
_BINS = 10
_WORST = 10  # of all predictions of values


@dataclass(frozen=True)
class HeldOut:
    """Predictions of all samples, each by the refit that did not see it.

    Attributes
    ----------
    predicted : array (n,), labels or values as y has them
    scores : array (n, n_classes), or (n, 1) for two classes; None without
    probabilities : array (n, n_classes) or None
    how : "own", "sigmoid" or None, whose probabilities
    n_folds : int
    """

    predicted: Array
    scores: Array | None
    probabilities: Array | None
    how: str | None
    n_folds: int

    def shown(self, task: str) -> list[Any]:
        """Each prediction as it is noted with a sample."""
        if task == "classes":
            return [str(label) for label in self.predicted]
        values = self.predicted if self.predicted.ndim == 1 else self.predicted[:, 0]
        return [float(value) for value in values]


def held_out_predictions(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: int = 5,
    random_state: int = 0,
    n_jobs: int | None = 1,
    store: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    max_points: int = 400,
) -> Part:
    """Predict every sample by a copy of the model that was fitted without it, and say how well.

    Parameters
    ----------
    model : fitted classifier or regressor
        It is not modified.
    X, y : the samples, as for ``fit``
    cv : int, default=5
        Folds, stratified for classes; no more than the smallest class has samples.
    random_state : int, default=0
    n_jobs : int, default=1
    store : path, optional
        A file that keeps each fold, so that a run that was stopped goes on.
    progress : callable, optional
        Called with (folds done, folds in all).
    max_points : int, default=400
        Points of the residuals at most.

    Returns
    -------
    dict
        ``protocol``, ``metric``, ``score``; ``majority``, the rate of the largest class, and
        ``balanced_accuracy``, the mean over the classes of the part that is recognised; ``confusion``,
        ``roc``, ``calibration``, ``residuals``, with the ten ``worst`` predictions of all samples; None for
        what the task or the model does not have.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import MKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = held_out_predictions(MKLClassifier().fit(X, y), X, y, cv=3)
    >>> found["metric"], bool(found["score"] > 0.9), found["confusion"]["labels"]
    ('accuracy', True, ['0', '1', '2'])
    """
    random_state = check_settings(random_state, cv, max_points)
    subject = subject_of(model)
    y = check_data(subject, X, y)
    needs_target(subject, y)
    why = subject.why_not_refitted() or (None if subject.task in METRICS else "there is nothing to predict.")
    if why:
        raise ValueError(why)
    settings = Settings(n_jobs, store, progress, random_state)
    outcomes = run_groups({GROUP: fold_works(subject, (X, y), cv, settings)}, settings)
    if GROUP in outcomes.failures:
        raise ValueError(outcomes.failures[GROUP])
    targets = np.asarray(y)
    found = pooled(outcomes.results[GROUP], targets, subject.task)
    return held_out_part(subject, targets, found, (max_points, random_state), Report())


def pooled(results: list[Result], y: Array, task: str) -> HeldOut:
    """The folds put together."""
    rows = np.concatenate([result["rows"] for result in results])
    order = np.argsort(rows)

    def joined(key: str) -> Array | None:
        parts = [result[key] for result in results]
        return None if any(part is None for part in parts) else np.concatenate(parts)[order]

    predicted = joined("predicted")
    assert predicted is not None
    if task == "classes":
        predicted = np.unique(y)[predicted]
    how = results[0]["how"]
    return HeldOut(predicted, joined("scores"), joined("probabilities"), how, len(results))


def held_out_part(
    subject: Subject, y: Array, found: HeldOut, points: tuple[int, int], report: Report
) -> Part:
    """The figures of pooled predictions."""
    kind = "stratified folds" if subject.task == "classes" else "folds"
    part: Part = {
        "protocol": f"{found.n_folds} shuffled {kind}: each sample is predicted by the refit that did not "
        "see it, and all predictions are taken together.",
        "metric": METRICS[subject.task],
        "majority": majority_rate(subject.task, y),
        "balanced_accuracy": None,
        "confusion": None,
        "roc": None,
        "calibration": None,
        "residuals": None,
    }
    if subject.task == "values":
        score = float(r2_score(y, found.predicted))
        return {**part, "score": score, "residuals": _residuals(y, found.predicted, points, report)}
    labels = np.unique(y)
    counts = confusion_matrix(y, found.predicted, labels=labels)
    name = type(subject.final).__name__
    if found.scores is None:
        report.omit("held_out", f"ROC: {name} has no score for each class.")
    if found.probabilities is None:
        why = (
            f"{name} has no score for each class." if found.scores is None else "a class has too few samples."
        )
        report.omit("held_out", f"calibration: {why}")
    score = float(accuracy_score(y, found.predicted))
    majority = not_above(score, part["majority"], len(y))
    if majority is not None:
        report.notes.append(f"Held-out predictions: {on_majority(score, part['metric'], majority)}")
    return {
        **part,
        "score": score,
        "balanced_accuracy": float(np.mean(np.diag(counts) / counts.sum(axis=1))),
        "confusion": {"labels": list(map(str, labels)), "counts": counts.tolist()},
        "roc": None if found.scores is None else _roc(y, labels, found.scores),
        "calibration": None if found.probabilities is None else _calibration(y, labels, found),
    }


def _roc(y: Array, labels: Array, scores: Array) -> Part:
    positives = labels[1:] if labels.size == 2 else labels
    curves = []
    for label, column in zip(positives, scores.T, strict=True):
        false, true, _ = roc_curve(y == label, column)
        kept = np.unique(np.linspace(0, len(false) - 1, _CURVE_POINTS).round().astype(int))
        curves.append(
            {
                "label": str(label),
                "auc": float(roc_auc_score(y == label, column)),
                "false_positive": false[kept].tolist(),
                "true_positive": true[kept].tolist(),
            }
        )
    return {"curves": curves}


def _calibration(y: Array, labels: Array, found: HeldOut) -> Part:
    """Ten bins of equal width: of the second of two classes, else of the most probable class."""
    P = found.probabilities
    assert P is not None
    truth = y[:, None] == labels
    if labels.size == 2:
        predicted, observed, of = P[:, 1], truth[:, 1], f"probabilities of class {labels[1]!s}"
        brier = float(np.mean((predicted - observed) ** 2))
    else:
        top = P.argmax(axis=1)
        predicted, observed = P.max(axis=1), truth[np.arange(len(y)), top]
        of, brier = "probability of the most probable class", float(np.mean(((P - truth) ** 2).sum(axis=1)))
    made = (
        "the model's own" if found.how == OWN else "sigmoids of its scores, fitted within the training part"
    )
    bins = np.minimum((predicted * _BINS).astype(int), _BINS - 1)
    return {
        "how": f"{of[0].upper()}{of[1:]}: {made}.",
        "brier": brier,
        "bins": [
            {
                "predicted": float(predicted[bins == b].mean()),
                "observed": float(observed[bins == b].mean()),
                "n": int((bins == b).sum()),
            }
            for b in np.unique(bins)
        ],
    }


def _residuals(y: Array, predicted: Array, points: tuple[int, int], report: Report) -> Part | None:
    if np.ndim(y) > 1 and y.shape[1] > 1:
        report.omit("held_out", "residuals: y has several columns.")
        return None
    observed, fitted = np.ravel(y).astype(float), np.ravel(predicted)
    rows = choose_rows(observed, "values", *points, observed.size)
    worst = np.argsort(-np.abs(observed - fitted), kind="stable")[:_WORST]
    return {
        "rmse": float(np.sqrt(mean_squared_error(observed, fitted))),
        "mae": float(mean_absolute_error(observed, fitted)),
        "r2": float(r2_score(observed, fitted)),
        "points": [_point(i, observed, fitted) for i in rows],
        "worst": [_point(i, observed, fitted) for i in worst],
    }


def _point(row: int, observed: Array, predicted: Array) -> Part:
    return {"row": int(row), "observed": float(observed[row]), "predicted": float(predicted[row])}
