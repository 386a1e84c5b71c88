"""Rows in blocks, as a low-rank fit and dask collections need them: checked, factored, predicted.

The functions of one block compute where the block lives: they are sent there. The parts of a block are first
features, targets (or class codes) and sample weights; then factors, targets, weights and traces; and for the
solver factors, targets and prices. Rows that a fit is given, a table in this process or dask collections, are
checked and end as blocks of features, targets (class codes, or values) and sample weights.

Predictions of dask collections are dask arrays, one chunk for each chunk of rows, computed when asked for.
The fitted model is sent to where a chunk lives. Scores over all rows are sums over the chunks.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _get_feature_names, check_is_fitted, column_or_1d, validate_data

from .._typing import Array
from .._validation import RowError, check_values, codes_of_classes, is_frame, join_labels
from ..rows import (
    Block,
    DaskRows,
    LocalRows,
    RowBlocks,
    features_in_chunks,
    is_dask,
    map_chunks,
    rows_unlike,
    take_rows,
)
from ..views.columns import Selection
from ..views.low_rank import LowRankBank
from ..views.tables import as_table
from .inputs import check_sample_weights, check_targets, encode_labels, price_samples, require_y

_ROUNDING = 1e-12  # of the mean: values that spread less are all the same


class LabelFacts(NamedTuple):
    """Of one block: how many rows count, their weight, its labels, and the weight of each."""

    n_used: int
    weight: float
    labels: Array
    totals: Array


class TargetFacts(NamedTuple):
    """Of one block: how many rows count, their weight, the weighted sums of their targets, and of the squared
    distances of these from their mean."""

    n_used: int
    weight: float
    totals: Array
    scatters: Array


# ---------------------------------------------------------------------- labels, targets, weights
def encode_block(block: Block, classes: Array) -> tuple[Any, Array, Array]:
    """Parts with class codes instead of labels."""
    X, labels, weights = block.parts
    return X, np.searchsorted(classes, column_or_1d(labels)), block_weights(weights, block.n_rows)


def check_block(block: Block) -> tuple[Any, Array, Array]:
    """Parts with finite targets (n, n_outputs)."""
    X, targets, weights = block.parts
    return X, block_targets(targets), block_weights(weights, block.n_rows)


def label_facts(block: Block) -> LabelFacts:
    """Of parts (labels, weights)."""
    weights = block_weights(block.parts[1], block.n_rows)
    labels, codes = codes_of_classes(
        column_or_1d(block.parts[0]), if_missing="Leave samples without a label out."
    )
    totals = np.bincount(codes, weights, labels.size)
    return LabelFacts(int((weights > 0.0).sum()), float(weights.sum()), labels, totals)


def target_facts(block: Block) -> TargetFacts:
    """Of parts (targets, weights)."""
    targets, weights = block_targets(block.parts[0]), block_weights(block.parts[1], block.n_rows)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused with the solution
        weight, totals = float(weights.sum()), weights @ targets
        scatters = weights @ (targets - totals / weight) ** 2 if weight > 0.0 else np.zeros_like(totals)
        return TargetFacts(int((weights > 0.0).sum()), weight, totals, scatters)


def used_rows(block: Block, wanted: Array, used: Array) -> Array:
    """Numbers in the whole of the rows with the ascending places `wanted` among those that count.

    The block has the weights alone; `used` (n_blocks,) is how many rows of each block count.
    """
    first = int(used[: block.number].sum())
    places = wanted[(wanted >= first) & (wanted < first + used[block.number])] - first
    return np.asarray(block.start + np.flatnonzero(block_weights(block.parts[0], block.n_rows) > 0.0)[places])


def raise_in_row(block: Block, error: RowError, row: int) -> None:
    """Raise the error where the row lives, so that the block is named."""
    if block.start <= row < block.start + block.n_rows:
        raise error.in_row(row - block.start)


def block_targets(values: Any) -> Array:
    """Finite targets (n, n_outputs)."""
    targets = check_values(values)
    return targets.reshape(len(targets), -1)


def block_weights(values: Any, n_rows: int) -> Array:
    """Sample weights, finite and not negative; ones by default."""
    return np.ones(n_rows) if values is None else check_values(values, "sample_weight", at_least=0.0)


# ---------------------------------------------------------------------- factors
@dataclass(frozen=True)
class Traces:
    """Σ k(x, x) and Σ ‖z‖² of each view over the rows of a block, (2, n_kernels): one of its parts.

    As one of its parts it has the length of the block; were it a tuple, dask could not tell its size.
    """

    n_rows: int
    sums: Array

    def __len__(self) -> int:
        return self.n_rows


def factorise(block: Block, bank: LowRankBank) -> tuple[Array, Array, Array, Traces]:
    """Factors (n, R), targets, weights and traces; factors of rows without weight are zero."""
    X, targets, weights = block.parts
    used = np.flatnonzero(weights > 0.0)
    if used.size == block.n_rows:
        Z, traces = bank.transform_with_traces(X)
        return Z, targets, weights, Traces(block.n_rows, traces)
    Z, traces = np.zeros((block.n_rows, int(bank.offsets_[-1])), bank.dtype), np.zeros((2, bank.n_kernels_))
    if used.size:
        with _rows_numbered(used):
            Z[used], traces = bank.transform_with_traces(take_rows(X, used))
    return Z, targets, weights, Traces(block.n_rows, traces)


def block_traces(block: Block) -> Array:
    """Those of the rows of a block of factors, (2, n_kernels)."""
    sums: Array = block.parts[3].sums
    return sums


def worst_rows(block: Block, bank: LowRankBank, views: Array, count: int) -> list[tuple[Array, Array]]:
    """Of each of some views, the rows that its factors miss most: numbers in the whole, and by how much.

    The block's parts are those before they became factors.
    """
    X, _, weights = block.parts
    used = np.flatnonzero(weights > 0.0)
    if not used.size:
        return [(used, np.empty(0))] * len(views)
    table = X if used.size == block.n_rows else take_rows(X, used)
    missed = bank.diagonals(table)[:, views]
    column = {int(view): k for k, view in enumerate(views)}
    for m, Z in bank.iter_factors(table):
        if m in column:
            missed[:, column[m]] -= np.einsum("ij,ij->i", Z, Z)
    worst = np.argsort(-missed, axis=0, kind="stable")[:count]
    return [(block.start + used[rows], missed[rows, k]) for k, rows in enumerate(worst.T)]


def differing_rows(block: Block, selection: Selection, one: Any, count: int) -> Array:
    """Numbers in the whole of the first rows that count and differ in some columns from a row of them."""
    X, _, weights = block.parts
    differ = rows_unlike(selection.take(as_table(X), "rows"), one)
    numbers: Array = block.start + differ[weights[differ] > 0.0][:count]
    return numbers


@contextmanager
def _rows_numbered(numbers: Array) -> Iterator[None]:
    """Errors about rows of a part of a block speak of the rows of the block."""
    try:
        yield
    except RowError as error:
        raise error.in_row(int(numbers[error.row])) from None


# ---------------------------------------------------------------------- what the solver sees
def signed_rows(block: Block, signs: Array, by_class: Array, C: float) -> tuple[Array, Array, Array]:
    """Factors, ±1 by class and task, prices.

    ``signs`` is (n_classes, n_tasks), ``by_class`` the weight of each class: 0 if it does not take part.
    """
    Z, codes, weights, _ = block.parts
    return Z, signs[codes], price_samples(C, by_class[codes] * weights)[:, None]


def shifted_rows(block: Block, middle: Array, price: float) -> tuple[Array, Array, Array]:
    """Factors, targets less their middle, prices: ``price`` times the weight of each row."""
    Z, targets, weights, _ = block.parts
    used = weights[:, None] > 0.0
    return Z, np.where(used, targets - middle, 0.0), price_samples(price, weights)[:, None]


# ---------------------------------------------------------------------- dask collections as input
def dask_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> DaskRows:
    """The rows of dask collections; the estimator takes note of their columns, or compares them."""
    require_y(estimator, y)
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


# ---------------------------------------------------------------------- rows given to a fit
@dataclass(frozen=True)
class GivenRows:
    """Checked rows."""

    rows: RowBlocks  # of features, targets and sample weights
    source: RowBlocks  # the same, as they were given
    used: Array  # (n_blocks,), how many rows of each block have a positive weight
    totals: Array  # the weight of each class; of values (n_outputs,), their weighted sums
    weight: float  # of all rows
    spreads: Array | None = None  # of values (n_outputs,), their standard deviations

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
    given = _given(rows, source, found, np.sum([fact.totals for fact in found], axis=0))
    return replace(given, spreads=_spreads(found, given.totals / given.weight))


def _spreads(found: Sequence[TargetFacts], means: Array) -> Array:
    """Standard deviations of the targets of all blocks."""
    with np.errstate(over="ignore", invalid="ignore"):
        between = sum(fact.weight * (fact.totals / fact.weight - means) ** 2 for fact in found if fact.weight)
        total = np.sum([fact.scatters for fact in found], axis=0) + between
        spreads = np.sqrt(total / sum(fact.weight for fact in found))
        return np.where(spreads > _ROUNDING * np.abs(means), spreads, 0.0)  # else they are all the same


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


# ---------------------------------------------------------------------- lazy predictions
def by_chunks(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A method of X whose answer for a dask collection is a dask array, row by row the same.

    Only of estimators that say `_answers_chunks`; others refuse such an X with their checks of it.
    """

    @wraps(method)
    def answer(self: Any, X: Any) -> Any:
        if is_dask(X) and getattr(self, "_answers_chunks", False):
            return _lazily(self, method.__name__, X)
        return method(self, X)

    return answer


def _lazily(model: Any, question: str, X: Any) -> Any:
    """A dask array of what the model answers; nothing is computed."""
    check_is_fitted(model)
    check_columns(model, X, reset=False)
    shape, dtype = _answer_of(model, question)
    n_columns = int(np.prod(shape)) if shape else None
    flat = map_chunks(X, _ask, _silent(model, X), question, dtype=dtype, n_columns=n_columns)
    if len(shape) < 2:
        return flat
    chunks = (flat.chunks[0], *((size,) for size in shape))
    return flat.map_blocks(_unfold, shape, chunks=chunks, new_axis=2, meta=np.empty((0, 0, 0), dtype))


def _ask(block: Block, model: Any, question: str) -> Array:
    """Runs where the chunk lives."""
    answers = np.asarray(getattr(model, question)(block.parts[0]))
    return answers if answers.ndim == 1 else answers.reshape(block.n_rows, -1)


def _unfold(values: Array, shape: tuple[int, ...]) -> Array:
    return values.reshape(-1, *shape)


def _silent(model: Any, X: Any) -> Any:
    """The model without what need not travel, with the column names of X: they have been compared."""
    sent = copy.copy(model)
    sent.callback, sent.history_ = None, []
    sent.__dict__.pop("feature_names_in_", None)
    names = _get_feature_names(X._meta) if is_frame(X) else None
    if names is not None:
        sent.feature_names_in_ = names
    return sent


def _answer_of(model: Any, question: str) -> tuple[tuple[int, ...], Any]:
    """The shape of the answer for one row, and its type."""
    n_machines, n_kernels = model.machine_weights_.shape
    if question == "contributions":
        return ((n_kernels,) if n_machines == 1 else (n_machines, n_kernels)), np.dtype(float)
    if not is_classifier(model):
        return (() if getattr(model, "_one_output", True) else (n_machines,)), np.dtype(float)
    if question == "predict":
        return (), model.classes_.dtype
    is_one_score = question == "decision_function" and model.classes_.size == 2
    return (() if is_one_score else (model.classes_.size,)), np.dtype(float)


# ---------------------------------------------------------------------- scores
def score_by_chunks(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The score of predictions in dask collections, as sums over the chunks.

    The accuracy of a classifier; R² of a regressor, the mean over its outputs.
    """
    check_is_fitted(model)
    rows = dask_rows(model, X, y, sample_weight, reset=False)
    sent = _silent(model, X)
    if is_classifier(model):
        _, labels = labels_in_chunks(rows)
        _check_kind(labels, sent.classes_)
        right, weight = rows.sum(_right, sent)
        return float(right / weight)
    (n_outputs,) = _answer_of(model, "predict")[0] or (1,)
    facts = targets_in_chunks(rows, n_outputs)
    mean = np.sum([fact.totals for fact in facts], axis=0) / sum(fact.weight for fact in facts)
    errors, spread = rows.sum(_squares, sent, mean)
    return _r2(errors, spread)


def _check_kind(labels: Array, classes: Array) -> None:
    if isinstance(labels.tolist()[0], str) != isinstance(classes.tolist()[0], str):
        raise ValueError(
            f"y must hold labels of the type seen in fit, such as {classes.tolist()[0]!r}; got "
            f"{labels.tolist()[0]!r}."
        )


def _right(block: Block, model: Any) -> Array:
    """The weight of the rows predicted rightly, and of all."""
    X, y, weights = block.parts
    weights = block_weights(weights, block.n_rows)
    return np.array([weights @ (model.predict(X) == np.ravel(y)), weights.sum()])


def _squares(block: Block, model: Any, mean: Array) -> Array:
    """Weighted squares of the errors, and of the targets less their mean, (2, n_outputs)."""
    X, y, weights = block.parts
    weights, y = block_weights(weights, block.n_rows), block_targets(y)
    errors = y - block_targets(model.predict(X))
    return np.stack([weights @ errors**2, weights @ (y - mean) ** 2])


def _r2(errors: Array, spread: Array) -> float:
    """The mean over the outputs; of constant ones it is 1 where all is right, else 0, as in scikit-learn."""
    constant = np.where(errors == 0.0, 1.0, 0.0)
    return float(
        np.mean(np.where(spread > 0.0, 1.0 - errors / np.where(spread > 0.0, spread, 1.0), constant))
    )
