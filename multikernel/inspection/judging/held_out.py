"""How well a model predicts samples that it has not seen: confusion, ROC, calibration, residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics

from ..._typing import Array
from ...core.decisions import SigmoidCalibration
from ...core.store import Result
from ..learned import choose_rows, named_row
from ..protocol import Protocol, Samples
from ..rivals.baselines import Report
from ..scoring import TASKS, in_words
from ..subject import Subject, sample_ids
from .answers import Part, majority_rate, on_majority
from .survival import survival_part

_OWN, _SIGMOID = "own", "sigmoid"  # whose probabilities
_CURVE_POINTS = 100
_BINS = 10
_WORST = 10  # of all predictions of values
_UNSURE = 0.2  # difference of the two largest probabilities of a sample


@dataclass(frozen=True)
class HeldOut:
    """Predictions of all samples, each by the refit that did not see it."""

    predicted: Array  # (n,), labels or values as y has them
    scores: Array | None  # (n, n_classes), or (n, 1) for two classes
    probabilities: Array | None  # (n, n_classes)
    how: str | None  # whose probabilities: "own" or "sigmoid"
    protocol: str  # in words
    by_score: list[Part]  # of each score: metric, score, sd, train
    refits: Sequence[Result] = ()  # what it is made of

    def shown(self, task: str) -> list[Any]:
        """Each prediction as it is noted with a sample."""
        if task == "classification":
            return [str(label) for label in self.predicted]
        values = self.predicted if self.predicted.ndim == 1 else self.predicted[:, 0]
        return [float(value) for value in values]


def pooled(results: Sequence[Result], protocol: Protocol, y: Array, task: str) -> HeldOut | None:
    """The folds of the first repetition put together; None where they do not predict each sample once."""
    if not protocol.covers:
        return None
    results = [results[i] for i in protocol.first]
    order = np.argsort(np.concatenate([result["rows"] for result in results]))
    folds = np.repeat(np.arange(len(results)), [len(result["rows"]) for result in results])[order]

    def joined(key: str) -> Array | None:
        parts = [result[key] for result in results]
        return None if any(part is None for part in parts) else np.concatenate(parts)[order]

    predicted = joined("predicted")
    assert predicted is not None
    scores, probabilities, how = joined("decisions"), joined("probabilities"), _OWN
    if task == "classification":
        predicted = np.unique(y)[predicted]
        if probabilities is None:
            probabilities, how = _calibrated(scores, y, folds), _SIGMOID
    by_score = score_rows(results)
    kind = (
        "stratified folds" if task in ("classification", "survival") and protocol.groups is None else "folds"
    )
    repetitions = protocol.shape[0]
    words = (
        f"{len(results)} {'' if protocol.is_given else 'shuffled '}{kind}"
        + (", the first repetition" if repetitions > 1 else "")
        + ": each sample is predicted by the refit that did not see it, and all predictions are taken "
        "together."
    )
    return HeldOut(predicted, scores, probabilities, how, words, by_score, results)


def score_rows(results: Sequence[Result]) -> list[Part]:
    """Each score on the test parts and on the training parts, its mean over the folds."""
    rows = []
    for name in results[0]["scores"]:
        tested = np.array([result["scores"][name] for result in results])
        trained = np.array([result["training"][name] for result in results])
        rows.append(
            {
                "metric": in_words(name),
                "score": float(tested.mean()),
                "sd": float(tested.std(ddof=1)) if tested.size > 1 else None,
                "train": float(trained.mean()),
                "train_sd": float(trained.std(ddof=1)) if trained.size > 1 else None,
            }
        )
    return rows


def _calibrated(scores: Array | None, y: Array, folds: Array) -> Array | None:
    """Probabilities of each fold by sigmoids of scores, fitted to the held-out scores of the other folds."""
    if scores is None:
        return None
    classes = np.unique(y)
    probabilities = np.empty((len(y), classes.size))
    for fold in range(folds.max() + 1):
        own = folds == fold
        if np.unique(y[~own]).size < classes.size:
            return None
        sigmoid = SigmoidCalibration(None).fit_scores(scores[~own], y[~own], None)
        probabilities[own] = sigmoid.predict_proba(scores[own])
    return probabilities


def held_out_part(
    subject: Subject,
    data: Samples,
    found: HeldOut,
    asked: tuple[str, int, int],
    report: Report,
) -> Part:
    """The figures of pooled predictions; `asked`: the score that decides, the samples to show, and a seed."""
    scoring, points = asked[0], asked[1:]
    y, ids = np.asarray(data.y), sample_ids(data.X)
    is_usual = scoring == TASKS[subject.task].scoring
    part: Part = {
        "protocol": found.protocol,
        "metric": in_words(scoring),
        "majority": majority_rate(subject.task, y) if scoring == "accuracy" else None,
        "by_score": found.by_score,
        "balanced_accuracy": None,
        "confusion": None,
        "roc": None,
        "calibration": None,
        "residuals": None,
        "doubtful": None,
    }
    score = found.by_score[0]["score"]
    if subject.task == "regression":
        if is_usual:
            score = float(metrics.r2_score(y, found.predicted, sample_weight=data.weight))
        return {**part, "score": score, "residuals": _residuals(y, found.predicted, points, report, ids)}
    if subject.task == "survival":
        return {**part, "score": score, **survival_part(found.refits, y, report)}
    if subject.task != "classification":
        return {**part, "score": score}
    labels = np.unique(y)
    counts = metrics.confusion_matrix(y, found.predicted, labels=labels)
    name = type(subject.final).__name__
    if found.scores is None:
        report.omit("held_out", f"ROC: {name} has no score for each class.")
    if found.probabilities is None:
        why = (
            f"{name} has no score for each class." if found.scores is None else "a class has too few samples."
        )
        report.omit("held_out", f"calibration: {why}")
    if is_usual:
        score = float(metrics.accuracy_score(y, found.predicted, sample_weight=data.weight))
    if small := on_majority(score, part["metric"], part["majority"], len(y)):
        report.notes.append(f"Held-out predictions: {small}")
    return {
        **part,
        "score": score,
        "balanced_accuracy": float(np.mean(np.diag(counts) / counts.sum(axis=1))),
        "confusion": {"labels": list(map(str, labels)), "counts": counts.tolist()},
        "roc": None if found.scores is None else _roc(y, labels, found.scores),
        "calibration": None if found.probabilities is None else _calibration(y, labels, found),
        "doubtful": _doubtful(y, labels, found, points[0], ids),
    }


def _doubtful(y: Array, labels: Array, found: HeldOut, most: int, ids: list[str] | None) -> Part:
    """Samples that were predicted wrongly, the surest first, and then those that were uncertain.

    A prediction is uncertain where its class has at most `_UNSURE` more probability than the next one.
    """
    wrong = found.predicted != y
    sure = ahead = np.zeros(len(y))
    if found.probabilities is not None:
        sure = found.probabilities[np.arange(len(y)), np.searchsorted(labels, found.predicted)]
        ranked = np.sort(found.probabilities, axis=1)
        ahead = ranked[:, -1] - ranked[:, -2]
    unsure = ~wrong & (ahead <= _UNSURE) if found.probabilities is not None else np.zeros(len(y), bool)
    order = [*np.flatnonzero(wrong)[np.argsort(-sure[wrong], kind="stable")]]
    order += [*np.flatnonzero(unsure)[np.argsort(ahead[unsure], kind="stable")]]
    rows = [
        {
            **named_row(row, ids),
            "observed": str(y[row]),
            "predicted": str(found.predicted[row]),
            "probability": None if found.probabilities is None else float(sure[row]),
            "wrong": bool(wrong[row]),
        }
        for row in order[:most]
    ]
    return {"n_wrong": int(wrong.sum()), "n_uncertain": int(unsure.sum()), "samples": rows}


def _roc(y: Array, labels: Array, scores: Array) -> Part:
    positives = labels[1:] if labels.size == 2 else labels
    curves = []
    for label, column in zip(positives, scores.T, strict=True):
        false, true, _ = metrics.roc_curve(y == label, column)
        kept = np.unique(np.linspace(0, len(false) - 1, _CURVE_POINTS).round().astype(int))
        curves.append(
            {
                "label": str(label),
                "auc": float(metrics.roc_auc_score(y == label, column)),
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
        "the model's own"
        if found.how == _OWN
        else "sigmoids of its scores, fitted to held-out scores of the other folds"
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


def _residuals(
    y: Array, predicted: Array, points: tuple[int, int], report: Report, ids: list[str] | None
) -> Part | None:
    if np.ndim(y) > 1 and y.shape[1] > 1:
        report.omit("held_out", "residuals: y has several columns.")
        return None
    observed, fitted = np.ravel(y).astype(float), np.ravel(predicted)
    rows = choose_rows(observed, "regression", *points, observed.size)
    worst = np.argsort(-np.abs(observed - fitted), kind="stable")[:_WORST]
    return {
        "rmse": float(np.sqrt(metrics.mean_squared_error(observed, fitted))),
        "mae": float(metrics.mean_absolute_error(observed, fitted)),
        "r2": float(metrics.r2_score(observed, fitted)),
        "points": [_point(i, observed, fitted, ids) for i in rows],
        "worst": [_point(i, observed, fitted, ids) for i in worst],
    }


def _point(row: int, observed: Array, predicted: Array, ids: list[str] | None) -> Part:
    return {
        **named_row(row, ids),
        "observed": float(observed[row]),
        "predicted": float(predicted[row]),
    }
