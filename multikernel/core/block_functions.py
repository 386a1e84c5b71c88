"""What the low-rank route computes of one block of rows, where the block lives: functions that travel.

The parts of a block are first features, targets (or class codes) and sample weights; then factors, targets,
weights and traces; and for the solver factors, targets and prices.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import column_or_1d

from .._typing import Array
from .._validation import RowError, codes_of_classes
from ..rows import Block, check_values, rows_unlike, take_rows
from ..views.columns import Selection, as_table
from ..views.low_rank import LowRankBank
from .parameters import price_samples


class LabelFacts(NamedTuple):
    """Of one block: how many rows count, their weight, its labels, and the weight of each."""

    n_used: int
    weight: float
    labels: Array
    totals: Array


class TargetFacts(NamedTuple):
    """Of one block: how many rows count, their weight, and the weighted sums of their targets."""

    n_used: int
    weight: float
    totals: Array


# ---------------------------------------------------------------------- labels, targets, weights
def encode_block(block: Block, classes: Array) -> tuple[Any, Array, Array]:
    """Parts with class codes in the place of labels."""
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
        return TargetFacts(int((weights > 0.0).sum()), float(weights.sum()), weights @ targets)


def used_rows(block: Block, wanted: Array, used: Array) -> Array:
    """Numbers in the whole of the rows with the places `wanted` among those that count.

    Parameters
    ----------
    block : with parts (weights,)
    wanted : array, ascending
    used : array (n_blocks,), how many rows of each block count
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
    """Numbers in the whole of the first rows that count and differ in some columns from a row of them.

    Parameters
    ----------
    block : with parts (features, targets, weights)
    selection : Selection
    one : those columns of one row
    count : int
    """
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

    Parameters
    ----------
    block : of factors, with class codes as targets
    signs : array (n_classes, n_tasks)
    by_class : array (n_classes,), the weight of each class; 0 for classes that do not take part
    C : float
    """
    Z, codes, weights, _ = block.parts
    return Z, signs[codes], price_samples(C, by_class[codes] * weights)[:, None]


def shifted_rows(block: Block, middle: Array, price: float) -> tuple[Array, Array, Array]:
    """Factors, targets less their middle, prices: ``price`` times the weight of each row."""
    Z, targets, weights, _ = block.parts
    used = weights[:, None] > 0.0
    return Z, np.where(used, targets - middle, 0.0), price_samples(price, weights)[:, None]
