"""How well a model predicts samples that it has not seen: confusion, ROC, calibration, residuals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.utils.metaestimators import _safe_split

from ..._typing import Array
from ...core.decisions import SigmoidCalibration
from ...core.folds import Split, make_folds
from ...core.low_rank import settle_route
from ...core.store import Result, Work
from ..fingerprint import fingerprint
from ..learned import choose_rows, named_row
from ..rivals.baselines import Report
from ..runs import Settings, seeded
from ..subject import Subject
from .answers import METRICS, Part, majority_rate, on_majority

GROUP = "held out"
# Raised whenever the meaning of a result changes: stored ones of older versions are not used again.
_VERSION = 2
_OWN, _SIGMOID = "own", "sigmoid"  # whose probabilities
_CURVE_POINTS = 100
_BINS = 10
_WORST = 10  # of all predictions of values
_UNSURE = 0.2  # difference of the two largest probabilities of a sample


# ------------------------------------------------------------------ one refit a fold
def fold_works(subject: Subject, data: tuple[Any, Any], cv: int, settings: Settings) -> list[Work]:
    """The folds of a cross-validation of the model; a ValueError if a class has a single sample."""
    X, y = data
    splits = make_folds(
        y, cv, classifier=subject.task == "classes", random_state=settings.random_state, needs="folds need"
    )
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


def predict_fold(
    model: Any, data: tuple[Any, Any], split: Split, seed: tuple[int, ...], label: str
) -> Result:
    """Fit a copy of the model to the training part and predict the rest.

    The result has ``rows``; ``predicted``, values or numbers of classes; ``scores`` (n, n_classes), or one
    column for two classes, and ``probabilities`` with ``how`` they were made, each None where it is unknown.
    """
    fitted = settle_route(seeded(model, seed), data[0])
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
        return _OWN, np.asarray(fitted.predict_proba(X), float)
    if scores is None:
        return None, None
    y = np.asarray(train[1])
    if np.unique(y, return_counts=True)[1].min() < 2:
        return None, None
    sigmoid = SigmoidCalibration(model, random_state=0).fit(train[0], y, None)
    return _SIGMOID, sigmoid.predict_proba(scores)


# ------------------------------------------------------------------ all predictions together
@dataclass(frozen=True)
class HeldOut:
    """Predictions of all samples, each by the refit that did not see it."""

    predicted: Array  # (n,), labels or values as y has them
    scores: Array | None  # (n, n_classes), or (n, 1) for two classes
    probabilities: Array | None  # (n, n_classes)
    how: str | None  # whose probabilities: "own" or "sigmoid"
    n_folds: int

    def shown(self, task: str) -> list[Any]:
        """Each prediction as it is noted with a sample."""
        if task == "classes":
            return [str(label) for label in self.predicted]
        values = self.predicted if self.predicted.ndim == 1 else self.predicted[:, 0]
        return [float(value) for value in values]


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
    subject: Subject,
    y: Array,
    found: HeldOut,
    points: tuple[int, int],
    report: Report,
    ids: list[str] | None = None,
) -> Part:
    """The figures of pooled predictions; samples are named by their ids, where they have any."""
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
        "doubtful": None,
    }
    if subject.task == "values":
        score = float(metrics.r2_score(y, found.predicted))
        return {**part, "score": score, "residuals": _residuals(y, found.predicted, points, report, ids)}
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
    score = float(metrics.accuracy_score(y, found.predicted))
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
        "the model's own" if found.how == _OWN else "sigmoids of its scores, fitted within the training part"
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
    rows = choose_rows(observed, "values", *points, observed.size)
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
