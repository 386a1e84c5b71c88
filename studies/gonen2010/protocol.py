"""The thesis's protocol: a third of the points is the test, the rest is halved five times over.

Each half trains a model that the other half validates: ten pairs. C is that of `GRID` with the best mean over
the ten validations; the ten models of that C are scored on the test third. Two methods are compared by the
5×2 cv F test on their ten test scores.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from multikernel.core.fitted import prediction_cost
from multikernel.inspection import f_test_5x2cv
from studies.fitting import convergence_reported
from studies.study import Result

GRID = (0.01, 0.1, 1.0, 10.0, 100.0)
REPEATS, HALVES = 5, 2
FOLDS = REPEATS * HALVES
LEVEL = 0.05
_OPEN = 1e-3  # a kernel of a smaller share counts for nothing
_SETTLED = ("optimal", "stalled")

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


def score_grid(
    build: Callable[[float], Any],
    X: Array,
    y: Array,
    fold: Fold,
    grid: Sequence[float] = GRID,
    costs: Array | None = None,
) -> dict[str, list[Any]]:
    """Return how the models of one fold do for every C.

    Parameters
    ----------
    build : callable
        C to an estimator, a classifier or a regressor.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    fold : Fold
    grid : sequence of float, default=GRID
    costs : ndarray of shape (n_kernels,), default=None
        What a value of each kernel costs, whatever costs the models know of.

    Returns
    -------
    dict
        One entry for each C in the lists ``C`` and those of `score_fold`.
    """
    found = [{"C": C} | score_fold(build(C), X, y, fold, costs) for C in grid]
    return {key: [entry[key] for entry in found] for key in found[0]}


def score_fold(model: Any, X: Array, y: Array, fold: Fold, costs: Array | None = None) -> dict[str, Any]:
    """Fit a model to the training points of a fold, and return how it does.

    Parameters
    ----------
    model : estimator
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    fold : Fold
    costs : ndarray of shape (n_kernels,), default=None

    Returns
    -------
    dict
        ``validation`` and ``test`` (accuracy in percent, or mean squared error), ``support`` (percentage of
        the training points), ``active`` (kernels that count at a test point, the mean; None of a single
        kernel), ``settled`` (whether the solver came to its end) and, with costs, ``cost`` (of predicting
        one point, in percent of all kernels with all training points).
    """
    fit_quietly(model, X[fold.training], y[fold.training])
    machine = model[-1] if hasattr(model, "steps") else model
    percent = 100.0 / len(fold.training)
    found = {
        "validation": score(model, X[fold.validation], y[fold.validation]),
        "test": score(model, X[fold.test], y[fold.test]),
        "support": percent * len(machine.support_),
        "active": count_active(machine, X[fold.test]),
        "settled": str(machine.status_).startswith(_SETTLED),
    }
    if costs is not None:
        found["cost"] = percent * prediction_cost(machine.machine_weights_, machine.dual_coef_, costs)
    return found


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


def count_active(machine: Any, X: Array) -> float | None:
    """Return how many kernels count at a sample, the mean over samples and machines; None of a single one."""
    if not hasattr(machine, "view_names_") or len(machine.view_names_) == 1:
        return None
    if hasattr(machine, "sample_machine_weights"):
        return float((machine.sample_machine_weights(X) > _OPEN).sum(axis=-1).mean())
    weights = machine.kernel_weights_
    return float(np.sum(weights > _OPEN * weights.sum()))


@dataclass(frozen=True)
class Chosen:
    """One split of a method at the C that its validations chose.

    Attributes
    ----------
    C : float
    test, support : ndarray of shape (10,)
    active : ndarray of shape (10,), or None of a single kernel
    settled : int
        How many of the ten solvers came to their end.
    cost : ndarray of shape (10,), or None where costs are not measured
    """

    C: float
    test: Array
    support: Array
    active: Array | None
    settled: int
    cost: Array | None = None


def choose(folds: Sequence[Result], *, least: bool) -> Chosen:
    """Return the test results at the C of the best mean validation; the smaller C of equals.

    Parameters
    ----------
    folds : sequence of dict
        What `score_grid` gave on each of the ten folds, in order.
    least : bool
        Whether the score is an error.

    Returns
    -------
    Chosen
    """
    means = np.mean([fold["validation"] for fold in folds], axis=0)
    best = int(np.argmin(means if least else -means))

    def column(key: str) -> Array:
        return np.array([fold[key][best] for fold in folds])

    return Chosen(
        folds[0]["C"][best],
        column("test"),
        column("support"),
        None if folds[0]["active"][best] is None else column("active").astype(float),
        int(column("settled").sum()),
        column("cost") if "cost" in folds[0] else None,
    )


def compare_methods(ours: Sequence[Chosen], rival: Sequence[Chosen], *, least: bool) -> dict[str, Any]:
    """Return the F test of a method against a rival on the same splits.

    Parameters
    ----------
    ours, rival : sequence of Chosen
        One for each split.
    least : bool
        Whether the score is an error.

    Returns
    -------
    dict
        ``p``, the p-values of the splits; ``better`` and ``worse``, on how many splits the difference is
        significant at the level of 5% and which way.
    """
    found: dict[str, Any] = {"p": [], "better": 0, "worse": 0}
    for mine, other in zip(ours, rival, strict=True):
        gain = (other.test - mine.test if least else mine.test - other.test).reshape(REPEATS, HALVES)
        p = f_test_5x2cv(gain).pvalue
        found["p"].append(p)
        if p <= LEVEL:
            found["better" if gain.mean() > 0.0 else "worse"] += 1
    return found


def verdict(test: Mapping[str, Any], rival: str) -> str:
    """Return what a page says of an F test: empty unless a difference is significant.

    Examples
    --------
    >>> verdict({"p": [0.01], "better": 1, "worse": 0}, "MKL")
    '★ better than MKL'
    >>> verdict({"p": [0.01, 0.3], "better": 0, "worse": 1}, "MKL")
    'worse than MKL on 1 of 2 splits'
    """
    splits = len(test["p"])
    parts = []
    for key, sign in (("better", "★ "), ("worse", "")):
        if count := test[key]:
            of = "" if splits == 1 else f" on {count} of {splits} splits"
            parts.append(f"{sign}{key} than {rival}{of}")
    return ", ".join(parts)
