"""The thesis's protocol: a third of the points is the test, the rest is halved five times over.

Each half trains a model that the other half validates: ten pairs. C is that of `GRID` with the best mean over
the ten validations; the ten models of that C are scored on the test third. Two methods are compared by the
5×2 cv F test on their ten test scores.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from studies.fitting import convergence_reported

GRID = (0.01, 0.1, 1.0, 10.0, 100.0)
REPEATS, HALVES = 5, 2
FOLDS = REPEATS * HALVES
LEVEL = 0.05

Array = np.ndarray


@dataclass(frozen=True)
class Fold:
    """The indices of the points that train, validate and test."""

    training: Array
    validation: Array
    test: Array


def draw_fold(y: Array, split: int, fold: int, *, stratified: bool = True) -> Fold:
    """Return one of the ten pairs of a split, with the split's test third.

    Parameters
    ----------
    y : ndarray of shape (n,)
    split : int
        Which random third is the test.
    fold : int
        2 × repetition + half, from 0 to 9.
    stratified : bool, default=True
        Whether the classes keep their shares; not for numbers.

    Returns
    -------
    Fold
    """
    strata = y if stratified else None
    rest, test = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=split, stratify=strata)
    repeat, half = divmod(fold, HALVES)
    halve = (StratifiedKFold if stratified else KFold)(
        HALVES, shuffle=True, random_state=REPEATS * split + repeat
    )
    first, second = next(iter(halve.split(rest, y[rest])))
    parts = (first, second) if half == 0 else (second, first)
    return Fold(rest[parts[0]], rest[parts[1]], test)


def fit_quietly(model: Any, X: Array, y: Array) -> Any:
    """Fit without the warnings of what did not converge, which its status says and the page shows.

    Nor is there one of a plateau, which a small C and few projections end on: no validation chooses it.
    """
    with convergence_reported():
        warnings.filterwarnings("ignore", message="the projections of .* tell", category=UserWarning)
        return model.fit(X, y)


def score(model: Any, X: Array, y: Array) -> float:
    """Return the accuracy of a classifier in percent, the mean squared error of a regressor."""
    predicted = model.predict(X)
    if hasattr(model, "classes_"):
        return 100.0 * float(np.mean(predicted == y))
    return float(np.mean((predicted - y) ** 2))
