"""Dask collections at the door of an estimator: as blocks of rows for a fit, refused, or answered lazily."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from .._typing import Array
from .._validation import is_frame
from ..rows import DaskRows, LocalRows, RowBlocks, features_in_chunks, is_dask, join_labels
from .block_functions import LabelFacts, TargetFacts, check_block, encode_block, label_facts, target_facts
from .parameters import check_sample_weights, check_targets, encode_labels


def dask_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> DaskRows:
    """The rows of dask collections; the estimator takes note of their columns, or compares them."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    rows = DaskRows(X, y, sample_weight)
    n_dimensions = sample_weight.ndim if is_dask(sample_weight) else np.ndim(sample_weight)
    if n_dimensions > 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {n_dimensions}D array. Expected either a scalar "
            f"value or a 1D array of length {rows.n_rows}."
        )
    check_columns(estimator, X, reset=reset)
    return rows


def check_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """The number of columns, and their names in a dataframe: noted by a fit, compared by a prediction."""
    X = features_in_chunks(X)
    table = X._meta if is_frame(X) else np.empty((0, X.shape[1]))
    validate_data(estimator, table, reset=reset, skip_check_array=True)


def refuse_dask(estimator: Any, X: Any) -> None:
    """Refuse a dask collection where all rows are needed in this process."""
    if is_dask(X):
        raise TypeError(
            f"{type(estimator).__name__} needs all rows of X in this process; got a dask {type(X).__name__}. "
            "Load it with X.compute(); MKLClassifier, MKLRegressor and MKLRidge learn from dask collections."
        )


# -----------------------------------------------------------------------------
# The rows that a low-rank fit is given, checked: a table in this process, or dask collections.
#
# Whatever they came as, they end as blocks of features, targets (class codes, or values) and sample weights.


@dataclass(frozen=True)
class GivenRows:
    """Checked rows.

    Attributes
    ----------
    rows : RowBlocks of features, targets and sample weights
    source : RowBlocks of the same, as they were given
    used : array (n_blocks,), how many rows of each block have a positive weight
    totals : array
        The weight of each class; of values (n_outputs,), their weighted sums.
    weight : float, of all rows
    """

    rows: RowBlocks
    source: RowBlocks
    used: Array
    totals: Array
    weight: float

    @property
    def n_used(self) -> int:
        """How many rows have a positive weight."""
        return int(self.used.sum())


def labelled_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Array, GivenRows]:
    """The sorted classes, and rows with class codes as targets."""
    if is_dask(X):
        in_chunks = dask_rows(estimator, X, y, sample_weight)
        _check_outputs(y, multi_output=False)
        found, classes = labels_in_chunks(in_chunks)
        source: RowBlocks = in_chunks
        rows: RowBlocks = source.derive(encode_block, classes, keep=False)
    else:
        X = estimator._validate_table(X, reset=True)
        classes, codes = encode_labels(estimator, X, y)
        rows = source = LocalRows((X, codes, check_sample_weights(sample_weight, codes.size)))
        found = [fact._replace(labels=classes[fact.labels]) for fact in rows.select(1, 2).map(label_facts)]
    totals = np.zeros(classes.size)
    for fact in found:
        totals[np.searchsorted(classes, fact.labels)] += fact.totals
    return classes, _given(rows, source, found, totals)


def valued_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, *, multi_output: bool) -> GivenRows:
    """Rows with finite targets (n, n_outputs)."""
    if is_dask(X):
        in_chunks = dask_rows(estimator, X, y, sample_weight)
        _check_outputs(y, multi_output=multi_output)
        found = targets_in_chunks(in_chunks)
        source: RowBlocks = in_chunks
        rows: RowBlocks = source.derive(check_block, keep=False)
    else:
        X = estimator._validate_table(X, reset=True)
        targets = check_targets(estimator, X, y, multi_output=multi_output)
        rows = source = LocalRows((X, targets, check_sample_weights(sample_weight, len(targets))))
        found = source.select(1, 2).map(target_facts)
    return _given(rows, source, found, np.sum([fact.totals for fact in found], axis=0))


def labels_in_chunks(rows: DaskRows) -> tuple[list[LabelFacts], Array]:
    """What the labels and weights of each chunk hold, and the sorted classes of all."""
    found = rows.select(1, 2).map(label_facts)
    classes = join_labels([fact.labels for fact in found], rows.chunks)
    check_classification_targets(np.repeat(classes, 2))  # labels that occur once would look like values
    _require_weight(found)
    return found, classes


def targets_in_chunks(rows: DaskRows, n_outputs: int | None = None) -> list[TargetFacts]:
    """What the targets and weights of each chunk hold; by default as many outputs as in the first."""
    found = rows.select(1, 2).map(target_facts)
    n_outputs = found[0].totals.size if n_outputs is None else n_outputs
    for chunk, fact in zip(rows.chunks, found, strict=True):
        if fact.totals.size != n_outputs:
            raise ValueError(
                f"y must have {n_outputs} column(s), one for each output; chunk {chunk} has "
                f"{fact.totals.size}."
            )
    _require_weight(found)
    return found


def _require_weight(found: Sequence[Any]) -> Array:
    """How many rows of each block count: not none of all."""
    used = np.array([fact.n_used for fact in found])
    if not used.any():
        raise ValueError("sample_weight must have a positive entry; all are zero.")
    return used


def _given(rows: RowBlocks, source: RowBlocks, found: Sequence[Any], totals: Array) -> GivenRows:
    weight = float(sum(fact.weight for fact in found))
    return GivenRows(rows, source, _require_weight(found), totals, weight)


def _check_outputs(y: Any, *, multi_output: bool) -> None:
    shape: tuple[Any, ...] = y.shape if is_dask(y) else np.shape(y)
    if len(shape) > 2 or (len(shape) == 2 and shape[1] > 1 and not multi_output):
        wanted = "(n,) or (n, n_outputs)" if multi_output else "(n,)"
        raise ValueError(f"y must have shape {wanted}; got shape {tuple(shape)}.")
    if len(shape) == 2 and not multi_output:
        column_or_1d(np.empty((0, 1)), warn=True)  # with the words of scikit-learn
