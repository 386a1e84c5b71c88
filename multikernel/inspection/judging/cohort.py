"""What a fitted model is worth on an independent cohort: samples of another time, place or study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ..._typing import Array
from ...core.concordance import concordance_index
from ...core.survival_targets import as_survival
from ...rows import count_rows
from ..rivals.baselines import Report
from ..scoring import Scorers, check_suits, in_words, measure, scorers_for
from ..subject import Subject, check_known_labels, check_values, overview_of
from .answers import Part, majority_rate

_RESAMPLES = 1000
_LEVEL = 0.05


class Answered(BaseEstimator):
    """The answers of a fitted model to a cohort, by row numbers: scorers read it as they read the model."""

    def __init__(self, answers: Mapping[str, Array] | None = None, classes: Any = None) -> None:
        self.answers, self.classes = answers, classes
        for name in answers or {}:
            setattr(self, name, self._answer(name))
        if classes is not None:
            self.classes_ = classes

    def _answer(self, name: str) -> Any:
        def answer(rows: Any) -> Array:
            return (self.answers or {})[name][np.asarray(rows).ravel()]

        answer.__name__ = name  # scorers tell methods by it
        return answer

    def fit(self, X: Any = None, y: Any = None) -> Answered:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True


class AnsweredClassifier(ClassifierMixin, Answered):
    """Answers of a classifier."""


class AnsweredRegressor(RegressorMixin, Answered):
    """Answers of a regressor."""


class AnsweredSurvival(Answered):
    """Answers of a survival model: its score is the C-index."""

    def score(self, X: Any, y: Any) -> float:
        return float(concordance_index(as_survival(y), (self.answers or {})["predict"][np.ravel(X)]))


_KINDS: Mapping[str, type[Answered]] = {
    "classification": AnsweredClassifier,
    "regression": AnsweredRegressor,
    "survival": AnsweredSurvival,
}


def _check_cohort(subject: Subject, X_test: Any, y_test: Any, asked: Mapping[str, Any]) -> Any:
    """The targets of a cohort, if they go with its samples and the model."""
    if X_test is None or y_test is None:
        given, missing = ("X_test", "y_test") if y_test is None else ("y_test", "X_test")
        raise TypeError(f"{given} needs {missing}: a cohort has samples and their labels or values.")
    if subject.task == "survival":
        y_test = as_survival(y_test).to_structured()
    y = np.asarray(y_test)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    n = count_rows(X_test)
    if y.ndim == 0 or len(y) != n:
        got = "one value" if y.ndim == 0 else f"{len(y)}"
        raise ValueError(f"y_test must have one label or value for each of the {n} samples; got {got}.")
    if n < 2:
        raise ValueError(f"X_test must have two samples at least; got {n}.")
    if subject.task == "regression":
        check_values(y, "y_test")
    if subject.task == "classification":
        check_known_labels(y, subject.model.classes_, "y_test")
        check_suits(asked, np.asarray(subject.model.classes_), subject.task)
    return y


@dataclass(frozen=True)
class Cohort:
    """The samples of a cohort, and the scores of the model on them with their parts by sample."""

    X: Any
    y: Array
    scorers: Scorers
    scores: Mapping[str, tuple[Any, list[float] | None]]


def scored_cohort(subject: Subject, X: Any, y_test: Any, asked: Mapping[str, Any]) -> Cohort:
    """The cohort with the scores of the fitted model."""
    y = _check_cohort(subject, X, y_test, asked)
    scorers = scorers_for("model", subject.model, asked, weighted=False)
    try:
        return Cohort(X, y, scorers, measure(scorers, subject.model, X, y))
    except Exception as error:
        raise ValueError(f"the cohort X_test cannot be scored, {type(error).__name__}: {error}") from error


def cohort_part(
    subject: Subject, cohort: Cohort, held_out: list[Part] | None, report: Report, seed: int
) -> Part:
    """Scores of the model on a cohort, with bootstrap intervals, beside those of held-out samples."""
    X, y = cohort.X, cohort.y
    ends = _intervals(subject, cohort, report, seed)
    known = {row["metric"]: row for row in held_out or []}
    rows = []
    for name, (score, _) in cohort.scores.items():
        low, high = ends[name]
        beside = known.get(in_words(name), {})
        rows.append(
            {
                "metric": in_words(name),
                "score": float(score) if np.isfinite(score) else None,
                "low": low,
                "high": high,
                "held_out": beside.get("score"),
                "held_out_sd": beside.get("sd"),
            }
        )
    data = overview_of(subject, X, y)
    lacking = [view["name"] for view in (data or {}).get("views", []) if view["missing"] == len(y)]
    lacking += [view for view in subject.views if data is not None and _is_absent(view, data, subject)]
    part: Part = {
        "n_samples": len(y),
        "protocol": f"The fitted model on {len(y)} samples that had no part in its making; 95% intervals by "
        f"{_RESAMPLES} bootstrap samples of the cohort"
        + (", within the classes." if subject.task == "classification" else "."),
        "rows": rows,
        "data": data,
        "lacking": list(dict.fromkeys(lacking)),
        "majority": majority_rate(subject.task, y) if "accuracy" in cohort.scores else None,
        "confusion": None,
    }
    if subject.task == "classification":
        labels = np.asarray(subject.model.classes_)
        counts = metrics.confusion_matrix(y, subject.model.predict(X), labels=labels)
        part["confusion"] = {"labels": list(map(str, labels)), "counts": counts.tolist()}
    return {**part, "answer": _in_a_sentence(rows[0], len(y), part["lacking"])}


def _is_absent(view: str, data: Mapping[str, Any], subject: Subject) -> bool:
    """Whether a view reads a table that the cohort does not have."""
    tables = {each["name"] for each in data["views"]}
    views = getattr(subject.final, "view_names_", [])
    return view in views and view not in tables and bool(tables) and tables < set(views)


def _intervals(
    subject: Subject, cohort: Cohort, report: Report, seed: int
) -> dict[str, tuple[float | None, float | None]]:
    """The ends of the 95% interval of each score, by bootstrap samples of the cohort."""
    y = cohort.y
    draws = _resamples(y, subject.task, np.random.default_rng(seed))
    proxy = _answered(subject, cohort.X)
    found: dict[str, tuple[float | None, float | None]] = {}
    for name, (score, parts) in cohort.scores.items():
        if not np.isfinite(score):
            report.omit("cohort", f"{in_words(name)}: it is not defined for the samples of the cohort")
            found[name] = None, None
            continue
        if parts is not None and name in ("accuracy", "neg_mean_squared_error", "neg_mean_absolute_error"):
            values = np.asarray(parts)[draws].mean(axis=1)
        else:
            try:
                values = np.array(
                    [float(cohort.scorers[name](proxy, rows[:, None], y[rows])) for rows in draws]
                )
            except Exception as error:
                report.omit("cohort", f"interval of {in_words(name)}: {type(error).__name__}: {error}")
                found[name] = None, None
                continue
        low, high = np.quantile(values, [_LEVEL / 2, 1 - _LEVEL / 2])
        found[name] = float(low), float(high)
    return found


def _resamples(y: Array, task: str, rng: np.random.Generator) -> Array:
    """Rows of each bootstrap sample, (n_resamples, n); of classes as many of each as there are."""
    if task != "classification":
        return rng.integers(len(y), size=(_RESAMPLES, len(y)))
    drawn = []
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        drawn.append(rows[rng.integers(rows.size, size=(_RESAMPLES, rows.size))])
    return np.concatenate(drawn, axis=1)


def _answered(subject: Subject, X: Any) -> Answered:
    model = subject.model
    known = ("predict", "decision_function", "predict_proba")
    answers = {name: np.asarray(getattr(model, name)(X)) for name in known if hasattr(model, name)}
    return _KINDS[subject.task](answers, getattr(model, "classes_", None))


def _in_a_sentence(row: Part, n: int, lacking: list[str]) -> str:
    ends = "" if row["low"] is None else f" [{row['low']:.3f}, {row['high']:.3f}]"
    named = " and ".join(repr(view) for view in lacking)
    without = f" The cohort lacks the view{'s' if len(lacking) > 1 else ''} {named}." if lacking else ""
    text = f"On {n} samples of an independent cohort, {row['metric']} is "
    if row["score"] is None:
        return f"{text}not defined.{without}"
    text += f"{row['score']:.3f}{ends}"
    if row["held_out"] is None:
        return f"{text}.{without}"
    text += f"; held out, it is {row['held_out']:.3f}"
    if row["low"] is None:
        return f"{text}.{without}"
    if row["held_out"] > row["high"]:
        return f"{text}, above the interval.{without}"
    if row["held_out"] < row["low"]:
        return f"{text}, below the interval.{without}"
    return f"{text}, within the interval.{without}"
