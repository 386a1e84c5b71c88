"""Probabilities from scores: Platt's sigmoid, fitted on scores of samples that the machine did not see."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import column_or_1d

from .._typing import Array
from ..rows import is_dask
from .folds import make_folds

_FOLDS = 5


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
    # the folds go the way that the fit has gone, though they have fewer rows
    settled = {"gram": estimator.gram_} if hasattr(estimator, "gram_") else {}
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
    """P(class k | x) = σ(a_k s_k(x) + b_k), normalised over the classes; (a, b) by logistic regression.

    Parameters
    ----------
    estimator : an unfitted classifier with ``decision_function``
    random_state : of the folds
    """

    def __init__(self, estimator: Any, random_state: Any = None) -> None:
        self.estimator, self.random_state = estimator, random_state

    def fit(
        self, X: Any, y: Array, sample_weight: Array | None, **by_sample: Array | None
    ) -> "SigmoidCalibration":
        """Fit the sigmoids on out-of-fold scores."""
        folds = make_folds(
            y,
            _FOLDS,
            classifier=True,
            random_state=self.random_state,
            needs="probability=True needs",
            remedy="Add samples, or use decision_function.",
        )
        classes = np.unique(y)
        given = {"sample_weight": sample_weight, **by_sample}
        params = {name: values for name, values in given.items() if values is not None}
        scores = cross_val_predict(self.estimator, X, y, cv=folds, method="decision_function", params=params)
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
