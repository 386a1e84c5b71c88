"""Estimators that tell what they were given, and stop or fail when they are told to."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_random_state

from multikernel.inspection import compare

PLACE = ["dataset", "estimator", "repetition", "fold"]

# (name, row numbers) of every fit, in order; at which fit a run is stopped, as if by Ctrl-C.
FITS: list[tuple[str, tuple[int, ...]]] = []
STOP_AT: list[int] = []


class Centroids(ClassifierMixin, BaseEstimator):
    """Nearest centroid in the columns after the first, which holds the number of the row."""

    def __init__(self, name="a", shrink=0.0, fail_on_row=None, random_state=None):
        self.name, self.shrink, self.fail_on_row, self.random_state = name, shrink, fail_on_row, random_state

    def fit(self, X, y):
        rows = tuple(int(row) for row in np.asarray(X)[:, 0])
        if len(FITS) in STOP_AT:
            STOP_AT.remove(len(FITS))
            raise KeyboardInterrupt
        if self.fail_on_row in rows:
            raise RuntimeError("this row does not please.")
        FITS.append((self.name, rows))
        values, y = np.asarray(X)[:, 1:], np.asarray(y)
        self.classes_ = np.unique(y)
        noise = check_random_state(self.random_state).normal(size=(len(self.classes_), values.shape[1]))
        self.centroids_ = np.stack([values[y == c].mean(axis=0) for c in self.classes_]) + self.shrink * noise
        return self

    def predict(self, X):
        values = np.asarray(X)[:, 1:]
        distances = ((values[:, None, :] - self.centroids_[None]) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


def numbered(n=40, n_classes=2, gap=1.0, seed=0, labels=None):
    """A table whose first column is the number of the row."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    X = np.column_stack([np.arange(n), rng.normal(size=(n, 2)) + gap * codes[:, None]])
    return X, codes if labels is None else np.asarray(labels)[codes]


ONE = {"near": numbered(gap=1.0)}
TWO = ONE | {"far": numbered(n=31, gap=2.0, seed=1)}


def run(estimators=None, datasets=None, **options):
    estimators = estimators or {"plain": Centroids("plain"), "rough": Centroids("rough", shrink=1.0)}
    return compare(estimators, datasets=datasets or TWO, **{"progress": False} | options)


def scores_frame(scores, dataset="given", **columns):
    """A row for each fold, as a comparison takes them, of ten scores for each estimator."""
    rows = [
        (dataset, name, *divmod(i, 2), score)
        for name, values in scores.items()
        for i, score in enumerate(np.ravel(values))
    ]
    return pd.DataFrame(rows, columns=[*PLACE, "score"]).assign(**columns)


def scores_of(comparison):
    return comparison.scores[[*PLACE, "score"]]
