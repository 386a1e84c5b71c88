"""Rows in dask collections: what is wrong is refused, with the chunk, the row and the remedy."""

from __future__ import annotations

import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed

from multikernel._validation import check_numeric_table
from multikernel.rows import DaskRows
from tests.dask_tables import array_of, frame_of, lengths_forgotten
from tests.refusals import refused

pytestmark = pytest.mark.usefixtures("dask_in_this_thread")

X = np.random.default_rng(0).normal(size=(50, 3))
Y = np.where(X[:, 0] > 0, "yes", "no")
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": Y})


def with_value(value, row=37, column=1):
    table = X.copy()
    table[row, column] = value
    return da.from_array(table, chunks=(10, 3))


class TwoWords(Exception):
    def __init__(self, first, second):
        super().__init__(first, second)


def raise_two_words(block):
    raise TwoWords("out of", "order")


def checked(block):
    return (check_numeric_table(block.parts[0]),)


FEATURES = da.from_array(X, chunks=(10, 3))
RENAMED = FRAME[20:].rename(columns={"b": "c"})
AS_TEXT = FRAME[20:].astype({"b": str})
SHORT = da.concatenate([da.from_delayed(delayed(X[:9]), (10, 3), float), da.from_array(X[10:])])
UNEVEN = da.from_array(Y, chunks=((10, 10, 9, 11, 10),))
FORGOTTEN = lengths_forgotten(FEATURES)


test_what_is_wrong_is_refused_with_its_chunk = refused(
    (lambda: DaskRows(with_value(np.nan)).map(checked),
        r"^chunk 3 \(rows 30 to 39\): X holds NaN at row 37, column 1. Features must be finite"),
    (lambda: DaskRows(with_value(np.nan)).derive(checked, keep=False).map(lambda block: None),
        r"^chunk 3 \(rows 30 to 39\): X holds NaN at row 37, column 1"),
    (lambda: DaskRows(FEATURES).map(lambda block: block.parts[0] @ np.ones(2)),
        r"^chunk \d \(rows \d+ to \d+\): matmul"),
    (lambda: DaskRows(da.from_array(X)).derive(lambda block: (block.parts[0][:7],)),
        r"^chunk 0 \(rows 0 to 49\): derived parts must have the 50 rows of their block; part 0 has 7"),
    (lambda: DaskRows(da.from_array(X)).map(raise_two_words), RuntimeError,
        r"chunk 0 \(rows 0 to 49\): TwoWords: \('out of', 'order'\)"),
    (lambda: DaskRows(array_of(X[:20], X[20:, :2], widths=[3, 3])),
        "the same columns; chunk 1 has 2, chunk 0 has 3"),
    (lambda: DaskRows(frame_of(FRAME[:20], RENAMED)),
        "same order; column 1 of chunk 1 is 'c', but 'b' in chunk 0"),
    (lambda: DaskRows(frame_of(FRAME[:0], FRAME[:20], AS_TEXT)),
        "column 'b' holds text or objects in chunk 2, but numbers in chunk 1"),
    (lambda: DaskRows(SHORT), "chunk 0 of X holds 9 rows, but X says that it holds 10"),
    (lambda: DaskRows(FEATURES, da.from_array(Y[:48], chunks=10)),
        r"y must have as many rows as X; X has 50, y has 48 \(chunk 4: 10 and 8\)"),
    (lambda: DaskRows(FEATURES, None, da.ones(60, chunks=10)),
        "sample_weight must have as many rows as X; X has 50, sample_weight has 60.$"),
    (lambda: DaskRows(FORGOTTEN, UNEVEN),
        "as many rows as X in each chunk; in chunk 2 X has 10, y has 9. Make both from the same"),
    (lambda: DaskRows(FORGOTTEN, da.from_array(Y, chunks=25)),
        "X has 5 chunks of rows, but y has 2, and their sizes are unknown. Compute them"),
    (lambda: DaskRows(FEATURES, Y[:49]), r"X has 50 in its 5 chunk\(s\), y has 49"),
    (lambda: DaskRows(da.from_array(X[:0], ((0, 0), (3,)))),
        r"X must hold at least one row; got 0 in its 2 chunk\(s\)"),
    (lambda: DaskRows(FEATURES[:, 0]), "got a dask array of 1 dimension"),
    (lambda: DaskRows(da.ones((4, 3, 2))), r"3 dimension\(s\). Load it with X.compute\(\)"),
    (lambda: DaskRows(db.from_sequence([1, 2])), TypeError, "dataframe with rows in chunks; got Bag"),
    (lambda: DaskRows(delayed(X)), TypeError, "a dask dataframe with rows in chunks; got Delayed"),
    (lambda: DaskRows(FEATURES, delayed(Y)), TypeError, "y must be a dask array or series.*got Delayed"),
    (lambda: DaskRows(FEATURES, dd.from_pandas(FRAME[["label"]], npartitions=5)), TypeError,
        r"y must be a dask array or series.* Take one column of a dataframe, as in y\['target'\]"),
    (lambda: DaskRows(array_of(X[:20], X[20:], widths=[2, 2])),
        "chunk 0 of X holds 3 columns, but X says that it holds 2. Make the collection anew"),
    (lambda: DaskRows(frame_of(FRAME[:0], FRAME, meta=FRAME[["b", "a", "label"]])),
        "column 0 of chunk 1 of X is 'a', but X says that it is 'b'"),
    (lambda: DaskRows(FEATURES).sum(lambda block: (1, 2)), TypeError, "what can be added; got a tuple"),
    (lambda: DaskRows(FEATURES).take([50]), IndexError, "rows must lie from 0 to 49; got 50"),
)  # fmt: skip
