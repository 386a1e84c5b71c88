"""Soft labels: the probabilities of the classes at the training samples, and what a machine makes of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import has_fit_parameter

from .._validation import NotFiniteError
from ..core.folds import Split, list_splits, make_folds
from ..kernels._rows import Rows
from ..solvers.posteriors import Distances, KernelDistances, TableDistances
from ..views.columns import as_table
from ..views.gating_features import columns_read
from ..views.scaling import Scaling

Array = np.ndarray[Any, np.dtype[Any]]

UNDECIDED = 1e-3  # a soft label this near to zero says nothing, and its price would be without bound
_SUM = 1e-3
_TIE = 1e-12
_FOLDS = 5
_ALL_WHOLE = 2.0**53  # from here on, floating point has whole numbers only


@dataclass(frozen=True)
class SoftLabels:
    """Posteriors (n, n_classes) of samples whose given labels are ``codes`` (n,)."""

    posteriors: Array
    codes: Array

    @property
    def n_classes(self) -> int:
        return int(self.posteriors.shape[1])

    @cached_property
    def sides(self) -> Array:
        """The class that each sample is taken for, (n,): the likeliest, of several the given one."""
        top = self.posteriors.max(axis=1)
        own = self.posteriors[np.arange(self.codes.size), self.codes]
        return np.where(own >= top - _TIE, self.codes, self.posteriors.argmax(axis=1))

    @cached_property
    def decided(self) -> Array:
        """Which samples count, (n,) of bool: all but those at even odds of two classes."""
        return np.ones(self.codes.size, bool) if self.n_classes > 2 else self.tells_apart

    @property
    def tells_apart(self) -> Array:
        """Where some class is likelier than another, (n,) of bool."""
        return np.asarray(np.ptp(self.posteriors, axis=1) > UNDECIDED)

    @property
    def differences(self) -> Array:
        """P(second class) − P(first class), (n,): the soft labels of two classes."""
        return np.asarray(self.posteriors[:, 1] - self.posteriors[:, 0])

    @property
    def rewards(self) -> Array:
        """2 (P(own side) − P(l)), (n, n_classes): the margins that the joint machine asks for."""
        own = self.posteriors[np.arange(self.codes.size), self.sides]
        return np.asarray(2.0 * (own[:, None] - self.posteriors))


def check_probabilities(probabilities: Any, n_samples: int, classes: Array, name: str) -> Array:
    """Rows of probabilities in the order of the classes, divided by their sums, which have to be 1 nearly."""
    values = _as_numbers(probabilities, name)
    if values.shape != (n_samples, classes.size):
        raise ValueError(
            f"{name} must have a row for each of the {n_samples} samples and a column for each of the "
            f"{classes.size} classes in sorted order, {classes.tolist()}; got shape {values.shape}."
        )
    columns = getattr(probabilities, "columns", None)
    if columns is not None:
        values = values[:, _column_order(list(columns), classes, name)]
    sums = values.sum(axis=1)
    bad = np.flatnonzero(~((values >= 0.0).all(axis=1) & (np.abs(sums - 1.0) <= _SUM)))
    if bad.size:
        raise ValueError(
            f"{name} must be at least 0, with rows of sum 1; row {bad[0]} is {values[bad[0]].tolist()}. "
            "Divide each row by its sum, and impute or drop what is missing."
        )
    return np.asarray(values / sums[:, None])


def _has_text(values: Array) -> bool:
    return values.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in values.flat)


def _as_numbers(table: Any, name: str) -> Array:
    """As floats; text that reads like numbers is none."""
    try:
        given = np.asarray(table)
        if given.dtype.kind not in "fiubO" or _has_text(given):
            raise TypeError(f"of type {given.dtype}")
        return np.asarray(given, float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a table of numbers; got {type(table).__name__}.") from error


def _column_order(columns: list[Any], classes: Array, name: str) -> list[int]:
    """Where the column of each class is in a data frame; columns without names are in order."""
    labels = classes.tolist()
    if set(columns) == set(labels):
        return [columns.index(label) for label in labels]
    if columns == list(range(len(labels))):
        return columns
    raise ValueError(
        f"{name} must have the classes as its columns, {labels}; got {columns}. Rename them, or pass an "
        "array whose columns are in this order."
    )


def neighbour_counts(weights: Array, given: Array) -> Array:
    """As how many neighbours each distinct sample counts, from the sums of the weights given row by row.

    Whole numbers are repetitions. Others have a scale that means nothing: their mean is made 1.
    """
    used = given[given > 0]
    largest = used.max()
    if largest < _ALL_WHOLE and (used == np.floor(used)).all():
        return weights
    return np.asarray(weights / (largest * (used / largest).mean()))  # their sum may overflow


def check_posterior_estimator(estimator: Any, precomputed: bool) -> None:
    """A classifier with probabilities, of kernels where X holds kernels."""
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict_proba")):
        raise TypeError(
            'posterior must be "knn", "parzen" or a classifier with predict_proba; got '
            f"{estimator!r}. Some classifiers have it only if asked for, with probability=True."
        )
    if precomputed and not get_tags(estimator).input_tags.pairwise:
        raise ValueError(
            f"posterior={type(estimator).__name__} reads features, but X holds ready-made kernels. Pass its "
            'probabilities to fit, probabilities=..., or use posterior="knn".'
        )


def out_of_fold(estimator: Any, X: Any, y: Array, weights: Array, cv: Any, seed: Any) -> Array:
    """Probabilities (n, n_classes) of each sample from a copy of the estimator that has not seen it.

    ``cv=None`` means five stratified folds, or as many as the smallest class has samples. Samples of weight
    zero are not learned from (nor predicted by the folds of None); other weights are handed on where the
    estimator takes them.
    """
    classes = np.unique(y)
    found = np.zeros((y.size, classes.size))
    times = np.zeros(y.size, int)
    for train, test in _default_splits(y, weights, seed) if cv is None else list_splits(cv, X, y):
        train = train[weights[train] > 0]
        _require_all_classes(classes, y[train])
        model = _fit_part(estimator, X, y, weights, train)
        part, _ = _safe_split(model, X, None, test, train)
        columns = np.searchsorted(classes, model.classes_)
        found[np.ix_(test, columns)] = model.predict_proba(part)
        times[test] += 1
    if (times[weights > 0] != 1).any():
        raise ValueError(
            "cv must put every sample in the test part of exactly one fold; sample "
            f"{np.flatnonzero((weights > 0) & (times != 1))[0]} is in {times[times != 1].min()}."
        )
    found[times == 0] = np.nan
    return found


def _fit_part(estimator: Any, X: Any, y: Array, weights: Array, train: Array) -> Any:
    """A copy of the estimator that has learned from some of the samples."""
    weighted = np.ptp(weights[train]) > 0.0 and has_fit_parameter(estimator, "sample_weight")
    some_X, some_y = _safe_split(estimator, X, y, train)
    params = {"sample_weight": weights[train]} if weighted else {}
    return clone(estimator).fit(some_X, some_y, **params)


def _require_all_classes(classes: Array, y: Array) -> None:
    """A classifier that has not seen a class gives it no chance, which says nothing about the samples."""
    missing = np.setdiff1d(classes, y)
    if missing.size:
        raise ValueError(
            f"a training part of cv has no sample of class {missing.tolist()[0]!r}: its probability would be "
            "zero in that fold. Use stratified folds, StratifiedKFold or cv=None, or shuffle the samples."
        )


def _default_splits(y: Array, weights: Array, seed: Any) -> list[Split]:
    rows = np.flatnonzero(weights > 0)
    folds = make_folds(
        y[rows],
        _FOLDS,
        classifier=True,
        random_state=seed,
        needs="the posteriors of a classifier need",
        remedy='Add samples, or use posterior="knn".',
    )
    return [(rows[train], rows[test]) for train, test in folds]


def table_distances(table: Any, bank: Any, Ks: Array) -> Distances:
    """Between samples: in the standardised columns that the kernels read, or in the kernels' feature space.

    The second where columns are no numbers.
    """
    table = as_table(table)
    selection = columns_read(bank, table)
    try:
        values = Rows(selection.take(table, "X"), "X", one_column=selection.scalar).values
    except NotFiniteError:
        raise
    except ValueError:
        return KernelDistances(Ks)
    return TableDistances(Scaling.fit(values).apply(values, "X"))
