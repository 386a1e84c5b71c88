"""Predictions of dask collections: a dask array, one chunk of it for each chunk of rows, computed when asked.

The fitted model is sent to where a chunk lives. Scores over all rows are sums over the chunks.
"""

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import _get_feature_names, check_is_fitted

from .._typing import Array
from .._validation import is_frame
from ..rows import Block, is_dask, map_chunks
from .block_functions import block_targets, block_weights
from .row_input import check_columns, dask_rows, labels_in_chunks, targets_in_chunks


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
    """The model without what need not travel, with the column names of X: the door has compared them."""
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
            f"y must hold labels of the kind that the classifier knows, such as {classes.tolist()[0]!r}; got "
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
