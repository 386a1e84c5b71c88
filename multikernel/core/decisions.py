"""From the scores of machines to decisions: probabilities, strategies for several classes, predictions.

Probabilities come from Platt's sigmoid, fitted on scores of samples that the machine did not see. Several
classes are binary machines (their samples, their signs and how they vote), or all in one machine.
:class:`MachineClassifier` and :class:`MachineNovelty` are what classifiers and novelty detectors on machines
share.
"""

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin, OutlierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils.metaestimators import _safe_split, available_if
from sklearn.utils.validation import _check_method_params, check_is_fitted, column_or_1d

from .._typing import Array
from ..rows import is_dask
from ..views.precomputed import way_of_fit
from .folds import make_folds
from .optim.loop import time_left
from .row_input import by_chunks, score_by_chunks

_FOLDS = 5
_LEAST_SLOPE = 1e-8
_BOUNDARY = 1e-10  # of the threshold: scores nearer to it differ from it by rounding
JOINT, WORST = "joint", "crammer_singer"
STRATEGIES = ("ovr", "ovo", "dag", "shared", JOINT, WORST)
IN_ONE_MACHINE = (JOINT, WORST)


# ---------------------------------------------------------------------- probabilities
def wants_probabilities(estimator: Any) -> bool:
    """Whether ``predict_proba`` exists: it has to be asked for before the fit."""
    if not estimator.probability:
        raise AttributeError(
            "predict_proba needs probability=True before fit; decision_function needs nothing."
        )
    return True


def calibrate(
    estimator: Any, X: Any, y: Any, sample_weight: Any, **by_sample: Any
) -> "SigmoidCalibration | None":
    """Sigmoids for a classifier with the parameters ``probability`` and ``random_state``, by folds.

    ``by_sample``: what else its ``fit`` takes of each sample, None for nothing.
    """
    if not estimator.probability:
        return None
    # the folds take the route of the fit, though they have fewer rows
    settled: dict[str, Any] = {}
    if hasattr(estimator, "gram_"):
        stored = estimator._storage
        settled["kernels"] = replace(stored, **way_of_fit(stored, estimator.gram_, estimator.missing_))
    plain = clone(estimator).set_params(probability=False, callback=None, verbose=0, **settled)
    return SigmoidCalibration(plain, estimator.random_state).fit(
        X, column_or_1d(y), sample_weight, **by_sample
    )


def refuse_calibration(estimator: Any, X: Any) -> None:
    """Refuse folds of rows that are not in this process."""
    if estimator.probability and is_dask(X):
        raise ValueError(
            "probability=True calibrates on folds of rows in this process; got a dask collection. Fit "
            "without it, and calibrate on rows held out: for two classes, LogisticRegression().fit("
            "model.decision_function(X_out).compute().reshape(-1, 1), y_out)."
        )


def calibrated(estimator: Any, scores: Array) -> Array:
    """Probabilities by the sigmoids of the last fit, which must have asked for them."""
    if estimator._calibration is None:
        raise NotFittedError("probability=True was set after fit; call fit again to calibrate.")
    return np.asarray(estimator._calibration.predict_proba(scores))


class SigmoidCalibration:
    """P(class k | x) = σ(a_k s_k(x) + b_k), normalised over the classes; (a, b) by logistic regression."""

    def __init__(self, estimator: Any, random_state: Any = None) -> None:
        self.estimator, self.random_state = estimator, random_state

    def fit(
        self, X: Any, y: Array, sample_weight: Array | None, **by_sample: Array | None
    ) -> "SigmoidCalibration":
        """Fit the sigmoids on out-of-fold scores: of all folds, or of those for which there is time."""
        folds = make_folds(
            y,
            _FOLDS,
            classifier=True,
            random_state=self.random_state,
            needs="probability=True needs",
            remedy="Add samples, or use decision_function.",
        )
        given = {"sample_weight": sample_weight, **by_sample}
        params = {name: values for name, values in given.items() if values is not None}
        rows: list[Array] = []
        parts: list[Array] = []
        for train, test in folds:
            if rows and time_left() <= 0.0:
                break
            own = _check_method_params(X, params, train)
            model = clone(self.estimator).fit(*_safe_split(self.estimator, X, y, train), **own)
            parts.append(model.decision_function(_safe_split(self.estimator, X, y, test, train)[0]))
            rows.append(test)
        scored, scores = np.concatenate(rows), np.concatenate(parts)
        weights = None if sample_weight is None else np.asarray(sample_weight)[scored]
        return self.fit_scores(scores, y[scored], weights)

    def fit_scores(self, scores: Array, y: Array, sample_weight: Array | None) -> "SigmoidCalibration":
        """Fit the sigmoids on scores of samples by machines that did not see them."""
        classes = np.unique(y)
        columns = scores[:, None] if scores.ndim == 1 else scores
        positives = classes[1:] if classes.size == 2 else classes
        self.sigmoids = [
            LogisticRegression(C=1e6).fit(columns[:, [k]], y == positive, sample_weight=sample_weight)
            for k, positive in enumerate(positives)
        ]
        return self

    def predict_proba(self, scores: Array) -> Array:
        """Probabilities (n_samples, n_classes) from the scores of the final model."""
        columns = scores[:, None] if scores.ndim == 1 else scores
        each = np.column_stack([s.predict_proba(columns[:, [k]])[:, 1] for k, s in enumerate(self.sigmoids)])
        if each.shape[1] == 1:
            return np.column_stack([1.0 - each[:, 0], each[:, 0]])
        total = each.sum(axis=1, keepdims=True)
        return np.where(total > 0, each / np.where(total > 0, total, 1.0), 1.0 / each.shape[1])


class SoftmaxCalibration:
    """P(class k | x) proportional to exp(a s_k(x) + b_k), a > 0, of largest likelihood; s = (0, s) for two.

    Without ``offsets`` all b_k are 0, and the most probable class is the one that is predicted. Labels are
    smoothed in the manner of Platt: each of n counts (n + 1) / (n + 2) for its class and the rest for the
    others, so that scores without an error do not make certain.
    """

    def __init__(self, offsets: bool = False) -> None:
        self.offsets = offsets

    def fit_scores(self, scores: Array, y: Array, sample_weight: Array | None) -> "SoftmaxCalibration":
        """Fit slope and offsets on scores of samples by machines that did not see them."""
        columns, codes = _two_columns(scores), np.unique(y, return_inverse=True)[1]
        n, n_classes = columns.shape
        weights = np.ones(n) if sample_weight is None else sample_weight
        doubt = 1.0 / (weights.sum() + 2.0)
        labels = np.where(np.eye(n_classes)[codes] > 0.0, 1.0 - doubt, doubt / (n_classes - 1))
        allowed = np.append(1.0, np.full(n_classes - 1, float(self.offsets)))

        def loss(free: Array) -> tuple[float, Array]:
            """Minus the mean log-likelihood, and its gradient."""
            logs = log_softmax(free[0] * columns + np.append(0.0, free[1:]), axis=1)
            excess = weights[:, None] * (np.exp(logs) - labels) / weights.sum()
            gradient = np.append((excess * columns).sum(), excess.sum(axis=0)[1:])
            return -float(weights @ (labels * logs).sum(axis=1)) / float(weights.sum()), gradient * allowed

        bounds = [(_LEAST_SLOPE, None)] + [(None, None)] * (n_classes - 1)
        options = {"gtol": 1e-11, "ftol": 1e-16}
        found = minimize(loss, np.eye(n_classes)[0], jac=True, bounds=bounds, options=options).x
        self.slope, self.shift = float(found[0]), np.append(0.0, found[1:])
        return self

    def predict_proba(self, scores: Array) -> Array:
        """Probabilities (n_samples, n_classes) from the scores of the final model."""
        return np.asarray(softmax(self.slope * _two_columns(scores) + self.shift, axis=1))


def _two_columns(scores: Array) -> Array:
    return np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores


# ---------------------------------------------------------------------- several classes
class Machines(NamedTuple):
    """Problems that share their kernel weights: samples, a name and ±1 targets for each binary machine.

    A joint machine has ``codes``, the classes of the samples, instead of signs.
    """

    rows: Array
    names: list[str]
    signs: list[Array]
    codes: Array | None = None


def binary_problems(codes: Array, classes: Array, strategy: str) -> list[Machines]:
    """The groups of machines for class codes 0, 1, …; each group has one vector of kernel weights.

    ``ovr``: one group for each class; ``ovo``, ``dag``: one for each pair, on the samples of both;
    ``shared``: one group that holds the machines of all the classes; ``joint``, ``crammer_singer``: one
    machine for all the classes. Two classes are one binary machine in any case.
    """
    everything = np.arange(codes.size)
    if classes.size == 2:
        return [Machines(everything, [str(classes[1])], [_signs(codes, 1)])]
    if strategy in ("ovo", "dag"):
        return [_pair(codes, classes, a, b) for a, b in combinations(range(classes.size), 2)]
    names = [str(c) for c in classes]
    if strategy in IN_ONE_MACHINE:
        return [Machines(everything, names, [], codes)]
    signs = [_signs(codes, k) for k in range(classes.size)]
    if strategy == "shared":
        return [Machines(everything, names, signs)]
    return [Machines(everything, [name], [sign]) for name, sign in zip(names, signs, strict=True)]


def _signs(codes: Array, positive: int) -> Array:
    return np.where(codes == positive, 1.0, -1.0)


def _pair(codes: Array, classes: Array, a: int, b: int) -> Machines:
    rows = np.flatnonzero((codes == a) | (codes == b))
    return Machines(rows, [f"{classes[a]} vs {classes[b]}"], [_signs(codes[rows], a)])


def decide(scores: Array, classes: Array) -> Array:
    """The class of each sample: by the sign of one score, or by the largest of several."""
    codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.asarray(classes[codes])


def votes(scores: Array, n_classes: int) -> Array:
    """Scores of one-versus-one machines as one score for each class.

    The number of pairs won, plus the sum of the pair scores squeezed into (−1/3, 1/3), which breaks ties and
    never outweighs a vote.
    """
    won = np.zeros((scores.shape[0], n_classes))
    for column, (a, b) in enumerate(combinations(range(n_classes), 2)):
        first = scores[:, column] >= 0
        won[:, a] += first
        won[:, b] += ~first
    return won + _confidence(scores, n_classes)


def _confidence(scores: Array, n_classes: int) -> Array:
    """The sum of the pair scores of each class, squeezed into (−1/3, 1/3)."""
    total = np.zeros((scores.shape[0], n_classes))
    for column, (a, b) in enumerate(combinations(range(n_classes), 2)):
        total[:, a] += scores[:, column]
        total[:, b] -= scores[:, column]
    return total / (3.0 * (np.abs(total) + 1.0))


def walk(scores: Array, n_classes: int) -> Array:
    """Scores of one-versus-one machines as one score for each class, by a walk through a graph of pairs.

    The first of the classes that are left meets the last, and the loser is left out, until one is left
    (Platt, Cristianini & Shawe-Taylor, 2000). The score of a class is the number of classes that were left
    out before it, plus the sum of its pair scores squeezed into (−1/3, 1/3), which never changes that order.

    Examples
    --------
    >>> walk(np.array([[1.0, -1.0, 1.0]]), 3).argmax(axis=1)  # 0 loses to 2, which loses to 1
    array([1])
    """
    rows = np.arange(len(scores))
    column_of = np.zeros((n_classes, n_classes), int)
    for column, pair in enumerate(combinations(range(n_classes), 2)):
        column_of[pair] = column
    first, last = np.zeros(rows.size, int), np.full(rows.size, n_classes - 1)
    place = np.full((rows.size, n_classes), n_classes - 1.0)
    for step in range(n_classes - 1):
        wins = scores[rows, column_of[first, last]] >= 0
        place[rows, np.where(wins, last, first)] = step
        first, last = np.where(wins, first, first + 1), np.where(wins, last - 1, last)
    return place + _confidence(scores, n_classes)


def votes_by(strategy: str) -> bool | str:
    """What becomes of the scores of machines of pairs: True for a vote, "dag" for a walk; False of others."""
    return strategy if strategy == "dag" else strategy == "ovo"


# ---------------------------------------------------------------------- predictions
class MachineClassifier(ClassifierMixin):
    """A classifier with `_scores`, `intercept_` and `classes_`; `_votes` is what `votes_by` says."""

    classes_: Array
    intercept_: Array
    _votes: bool | str
    _answers_chunks: bool

    if TYPE_CHECKING:  # the other base has it, and stands behind this one

        def _scores(self, X: Any) -> Array:
            raise NotImplementedError

    @by_chunks
    def decision_function(self, X: Any) -> Array:
        """Scores: (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes)."""
        scores = self._scores(X) + self.intercept_
        if self.classes_.size == 2:
            return np.asarray(scores[:, 0])
        if not self._votes:
            return scores
        return (walk if self._votes == "dag" else votes)(scores, self.classes_.size)

    @by_chunks
    def predict(self, X: Any) -> Array:
        """The class of each sample."""
        check_is_fitted(self)
        return decide(self.decision_function(X), self.classes_)

    @available_if(wants_probabilities)
    @by_chunks
    def predict_proba(self, X: Any) -> Array:
        """Calibrated probabilities (n_samples, n_classes), when asked for with ``probability=True``."""
        check_is_fitted(self)
        return calibrated(self, self.decision_function(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of the predictions.

        Parameters
        ----------
        X, y : as for ``fit``
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        if is_dask(X) and self._answers_chunks:
            return score_by_chunks(self, X, y, sample_weight)
        return float(super().score(X, y, sample_weight))


class MachineNovelty(OutlierMixin):
    """A novelty detector with `_scores` and `offset_`."""

    offset_: float

    if TYPE_CHECKING:  # the other base has it, and stands behind this one

        def _scores(self, X: Any) -> Array:
            raise NotImplementedError

    def score_samples(self, X: Any) -> Array:
        """Scores before the threshold is subtracted (n_samples,)."""
        return np.asarray(self._scores(X)[:, 0])

    def decision_function(self, X: Any) -> Array:
        """Scores (n_samples,), negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """1 for inliers, −1 for outliers."""
        # samples on the boundary, which support vectors are, stay inside whatever the rounding
        scores = self.decision_function(X)
        slack = _BOUNDARY * max(1.0, abs(float(self.offset_)))
        return np.where(scores >= -slack, 1, -1)
