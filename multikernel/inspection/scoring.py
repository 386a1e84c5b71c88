"""Scores: which are asked for, what they are called, and what each sample adds to one.

A score that is a mean over samples, or close to one, has a part for each sample: parts whose mean is the
score, and by which `repeated_cv_test` tests a difference. Of the area under the ROC curve and of weighted
means these are the score plus the influence of the sample.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn import metrics
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.utils import get_tags

from .._typing import Array
from ..core.concordance import concordance_influence
from ..core.folds import check_score_suits, check_signature, check_takes_weights
from ..core.survival_targets import as_survival

Scorers = Mapping[str, Callable[..., float]]
_SAME = 1e-9  # two concordance indices that differ by no more
_IN_WORDS = {"r2": "R²", "roc_auc": "ROC AUC"}


# ------------------------------------------------------------------ tasks
@dataclass(frozen=True)
class Task:
    """What is predicted: the usual score, None for the estimator's own, and what that one is called."""

    scoring: str | None
    metric: str
    stratified: bool = False  # folds by the classes of y, or by the events of censored times


TASKS = {
    "classification": Task("accuracy", "accuracy", True),
    "regression": Task("r2", "R²"),
    "survival": Task(None, "C-index", True),
}
NOTHING = "unsupervised"


def task_of(model: Any) -> str:
    """The task of a model: "classification", "regression", "survival", or "unsupervised" for all others."""
    if is_classifier(model):
        return "classification"
    if is_regressor(model):
        return "regression"
    kind = getattr(get_tags(model), "estimator_type", None) if hasattr(model, "__sklearn_tags__") else None
    return "survival" if kind == "survival" or _is_of_scikit_survival(model) else NOTHING


def _is_of_scikit_survival(model: Any) -> bool:
    """Whether a model, or the last of a pipeline or search, is a survival model of scikit-survival's."""
    if getattr(model, "steps", None):
        return _is_of_scikit_survival(model.steps[-1][1])
    if hasattr(model, "estimator"):
        return _is_of_scikit_survival(model.estimator)
    return any(cls.__name__ == "SurvivalAnalysisMixin" for cls in type(model).__mro__)


# ------------------------------------------------------------------ what is asked for
def scores_asked(scoring: Any, task: str) -> dict[str, Any]:
    """Scores by name, the first of which decides: names of scikit-learn's, functions, None for the own one.

    Examples
    --------
    >>> scores_asked(None, "classification"), scores_asked(["accuracy", "roc_auc"], "classification")
    ({'accuracy': 'accuracy'}, {'accuracy': 'accuracy', 'roc_auc': 'roc_auc'})
    """
    if scoring is None:
        known = TASKS[task]
        return {known.scoring or known.metric: known.scoring}
    if isinstance(scoring, Mapping):
        named = dict(scoring)
    else:
        several = list(scoring) if isinstance(scoring, list | tuple) else [scoring]
        for one in several:
            _check_one(one)
        named = {score_name(one): one for one in several}
        if len(named) < len(several):
            names = [score_name(one) for one in several]
            raise ValueError(
                f"scoring must have distinct names; got {names}. Give a dict of names to scores."
            )
    if not named:
        raise ValueError("scoring must be one score at least; got none.")
    for name, one in named.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"the names of scoring must be strings; got {name!r}.")
        _check_one(one)
    return named


def _check_one(scoring: Any) -> None:
    if not isinstance(scoring, str) and not callable(scoring):
        raise TypeError(
            "scoring must be the name of a score, a function of (estimator, X, y), or a list or dict of "
            f"them; got {scoring!r}."
        )
    check_signature(scoring)
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        near = difflib.get_close_matches(scoring, get_scorer_names(), 1)
        hint = f"Did you mean {near[0]!r}?" if near else "sklearn.metrics.get_scorer_names() has them all."
        raise ValueError(f"scoring must be a score that scikit-learn knows; got {scoring!r}. {hint}")


def score_name(scoring: Any) -> str:
    """What a table calls the score: the name of the function, also within make_scorer or partial."""
    if isinstance(scoring, str):
        return scoring
    function = getattr(scoring, "_score_func", scoring)
    name = getattr(getattr(function, "func", function), "__name__", "score")
    if name == "<lambda>":
        return "score"
    return f"neg_{name}" if getattr(scoring, "_sign", 1) < 0 else str(name)


def in_words(name: str) -> str:
    """A score in a sentence.

    Examples
    --------
    >>> in_words("r2"), in_words("balanced_accuracy")
    ('R²', 'balanced accuracy')
    """
    return _IN_WORDS.get(name, name.replace("_", " "))


def scorers_for(label: str, estimator: Any, asked: Mapping[str, Any], weighted: bool) -> Scorers:
    """The scorer of each score for one estimator, which messages call `label`."""
    found = {}
    for name, scoring in asked.items():
        try:
            scorer = check_scoring(estimator, scoring=scoring)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{label} cannot be scored: {error}") from error
        if weighted:
            _require_weights(name, scorer, estimator)
        found[name] = scorer
    return found


def _require_weights(name: str, scorer: Any, estimator: Any) -> None:
    """Refuse a score that cannot be given the weights of the samples."""
    function = getattr(scorer, "_score_func", None)
    if function is None:
        own = type(scorer).__name__ == "_PassthroughScorer"
        check_takes_weights(estimator.score if own else scorer)
        return
    known = inspect.signature(getattr(function, "func", function)).parameters
    if "sample_weight" not in known and all(p.kind is not p.VAR_KEYWORD for p in known.values()):
        raise ValueError(
            f"scoring={name!r} takes no sample_weight: choose a score that does, or leave sample_weight out."
        )


def check_suits(asked: Mapping[str, Any], y: Any, task: str) -> None:
    """Refuse scores that are of another task than that of `y`, or of other labels."""
    if task in ("classification", "regression"):
        for scoring in asked.values():
            check_score_suits(scoring, y, classifier=task == "classification")


# ------------------------------------------------------------------ one fold
def measure(
    scorers: Scorers, model: Any, X: Any, y: Any, weight: Array | None = None
) -> dict[str, tuple[Any, list[float] | None]]:
    """Each score of a fitted model, and its parts by sample, None where it has none."""
    answers = _Answers(model, X)
    given = {} if weight is None else {"sample_weight": weight}
    found: dict[str, tuple[Any, list[float] | None]] = {}
    for name, scorer in scorers.items():
        metric, sign = getattr(scorer, "_score_func", None), getattr(scorer, "_sign", 1)
        known = None if metric is None or getattr(scorer, "_kwargs", None) else _PARTS.get(metric)
        if metric is None or known is None:
            score = scorer(model, X, y, **given)
            own = metric is None and task_of(model) == "survival"
            found[name] = score, _influence(score, y, answers, weight) if own else None
            continue
        response, parts = known
        if metric is metrics.accuracy_score and weight is None:
            hits = _hits(np.asarray(y), answers)
            found[name] = float(hits.mean()), hits.tolist()
            continue
        if response == "predict":
            score = sign * metric(y, answers.predicted, **given)
        else:
            score = scorer(model, X, y, **given)
        values = _weighed(parts(np.asarray(y), answers), metric, weight)
        found[name] = score, None if values is None else [sign * value for value in values]
    return found


def _influence(score: Any, y: Any, answers: _Answers, weight: Array | None) -> list[float] | None:
    """Parts of the own score of a survival model where it is Harrell's C: C plus n times the influence."""
    try:
        index, parts = concordance_influence(as_survival(y), answers.predicted.astype(float), weight)
    except (TypeError, ValueError):
        return None
    same = isinstance(score, float) and abs(index - score) <= _SAME
    return (index + len(parts) * parts).tolist() if same else None


class _Answers:
    """What a fitted model says of samples, each asked once."""

    def __init__(self, model: Any, X: Any) -> None:
        self.model, self._X = model, X
        self._predicted: Any = None

    @property
    def predicted(self) -> Array:
        if self._predicted is None:
            self._predicted = np.asarray(self.model.predict(self._X))
        return self._predicted

    def decisions(self) -> Array:
        """One score for each sample, the higher the more it is of the second of two classes."""
        if hasattr(self.model, "decision_function"):
            return np.asarray(self.model.decision_function(self._X), float)
        return self.probabilities()[:, 1]

    def probabilities(self) -> Array:
        return np.asarray(self.model.predict_proba(self._X), float)


def _weighed(values: Array | None, metric: Any, weight: Array | None) -> list[float] | None:
    """Parts by sample of a weighted mean: the mean plus n w_i (v_i − mean) / Σ w."""
    if values is None or (weight is not None and metric not in _MEANS):
        return None
    if weight is not None:
        mean = np.average(values, weights=weight)
        values = mean + len(values) * weight * (values - mean) / weight.sum()
    return [float(value) for value in values]


def _hits(y: Array, answers: _Answers) -> Array:
    return (y == answers.predicted).astype(float)


def _balanced(y: Array, answers: _Answers) -> Array:
    """The mean recall plus n (v_i − recall of its class) / (k n_class)."""
    right = _hits(y, answers)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    recalls = np.bincount(codes, weights=right) / counts
    return recalls.mean() + len(y) / (counts.size * counts[codes]) * (right - recalls[codes])


def _squares(y: Array, answers: _Answers) -> Array:
    return ((y.astype(float) - answers.predicted.reshape(y.shape)) ** 2).reshape(len(y), -1).mean(axis=1)


def _absolutes(y: Array, answers: _Answers) -> Array:
    return np.abs(y.astype(float) - answers.predicted.reshape(y.shape)).reshape(len(y), -1).mean(axis=1)


def _explained(y: Array, answers: _Answers) -> Array | None:
    """1 − n (y_i − f_i)² / Σ_j (y_j − ȳ)² of each sample, the mean over the outputs."""
    y = y.reshape(len(y), -1).astype(float)
    spread = ((y - y.mean(axis=0)) ** 2).sum(axis=0)
    if not (spread > 0.0).all():
        return None
    errors = (y - answers.predicted.reshape(y.shape)) ** 2
    return (1.0 - len(y) * errors / spread).mean(axis=1)


def _placements(y: Array, answers: _Answers) -> Array | None:
    """Of two classes: the area plus n (placement − area) / n_class, DeLong's placement among the others."""
    classes = np.unique(y)
    if classes.size != 2 or len(getattr(answers.model, "classes_", classes)) != 2:
        return None
    scores, second = answers.decisions(), y == classes[1]
    if scores.ndim != 1:
        return None
    above = rankdata(scores)
    placed = np.empty(len(y))
    for own in (second, ~second):
        among = (above[own] - rankdata(scores[own])) / (~own).sum()
        placed[own] = among if own is second else 1.0 - among
    area = placed[second].mean()
    return area + len(y) / np.where(second, second.sum(), (~second).sum()) * (placed - area)


def _log_likelihoods(y: Array, answers: _Answers) -> Array | None:
    P, classes = answers.probabilities(), np.asarray(answers.model.classes_)
    places = np.searchsorted(classes, y)
    rows = P[np.arange(len(y)), places] / P.sum(axis=1)
    eps = np.finfo(P.dtype).eps
    return -np.log(np.clip(rows, eps, 1.0 - eps))


# Of each metric: what it is of, and its parts by sample.
_PARTS: Mapping[Any, tuple[str, Callable[[Array, _Answers], Array | None]]] = {
    metrics.accuracy_score: ("predict", _hits),
    metrics.balanced_accuracy_score: ("predict", _balanced),
    metrics.mean_squared_error: ("predict", _squares),
    metrics.mean_absolute_error: ("predict", _absolutes),
    metrics.r2_score: ("predict", _explained),
    metrics.roc_auc_score: ("scores", _placements),
    metrics.log_loss: ("scores", _log_likelihoods),
}
_MEANS = (
    metrics.accuracy_score,
    metrics.mean_squared_error,
    metrics.mean_absolute_error,
    metrics.log_loss,
)


def is_loss(name: str) -> bool:
    """Whether a score of scikit-learn's is minus a loss."""
    return name in get_scorer_names() and get_scorer(name)._sign < 0
