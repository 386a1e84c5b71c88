"""Rows in dask collections are the same as rows in this process, and only what is needed is computed."""

from __future__ import annotations

import sys

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from dask import delayed

from multikernel._validation import check_numeric_table, join_labels
from multikernel.rows import DaskRows, LocalRows, cluster_memory, fits_cluster, is_dask, map_chunks
from tests.dask_tables import frame_of, lengths_forgotten

pytestmark = pytest.mark.usefixtures("dask_in_this_thread")

X = np.random.default_rng(0).normal(size=(50, 3))
Y = np.where(X[:, 0] > 0, "yes", "no")
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": Y})
IN_TENS = (10, 10, 10, 10, 10)


def moments(block, factor=1.0):
    return factor * (block.parts[0].T @ block.parts[0])


def scaled(block, factor):
    return factor * block.parts[0], block.parts[1]


# --- the same as in this process -----------------------------------------------------------------


@pytest.mark.parametrize("n_blocks", [1, 5, 25])
def test_equal_blocks_give_equal_sums_to_the_last_bit(n_blocks):
    step = 50 // n_blocks
    there, here = DaskRows(da.from_array(X, chunks=(step, 3)), Y), LocalRows((X, Y), block_rows=step)
    assert (there.lengths, there.n_rows, there.n_blocks) == (here.lengths, 50, n_blocks)
    assert np.array_equal(there.sum(moments, 2), here.sum(moments, 2))
    for ours, theirs in zip(there.map(moments), here.map(moments), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for keep in (True, False):
        derived = there.derive(scaled, 3.0, keep=keep).derive(scaled, 0.1, keep=keep)
        model = here.derive(scaled, 3.0).derive(scaled, 0.1)
        assert np.array_equal(derived.sum(moments), model.sum(moments))


@pytest.mark.parametrize("keep", [True, False])
def test_rows_by_number(keep):
    rows = DaskRows(da.from_array(X, chunks=(7, 3)), Y, np.arange(50.0))
    wanted = [49, 3, 3, 0, 21]
    features, labels, weights = rows.take(wanted)
    np.testing.assert_array_equal(features, X[wanted])
    np.testing.assert_array_equal(labels, Y[wanted])
    np.testing.assert_array_equal(weights, np.array(wanted, dtype=float))
    derived = rows.derive(scaled, 2.0, keep=keep)
    np.testing.assert_array_equal(derived.take(wanted)[0], 2.0 * X[wanted])
    np.testing.assert_array_equal(derived.select(1).take([4])[0], Y[[4]])


def test_a_dataframe_with_its_own_column_as_target():
    partitions = dd.from_pandas(FRAME, npartitions=4)
    rows = DaskRows(partitions[["a", "b"]], partitions["label"])
    assert rows.n_rows == 50 and rows.n_blocks == partitions.npartitions
    part, labels, nothing = rows.take([12, 49])
    pd.testing.assert_frame_equal(part, FRAME.loc[[12, 49], ["a", "b"]])
    assert isinstance(labels, np.ndarray) and labels.tolist() == Y[[12, 49]].tolist() and nothing is None


def test_sparse_chunks():
    sparse = da.from_array(X, chunks=(10, 3)).map_blocks(scipy.sparse.csr_matrix)
    rows = DaskRows(sparse)
    np.testing.assert_allclose(rows.sum(moments).toarray(), X.T @ X)
    np.testing.assert_array_equal(rows.take([30, 2])[0].toarray(), X[[30, 2]])


def test_columns_in_several_chunks_are_brought_into_one():
    rows = DaskRows(da.from_array(X, chunks=(10, 2)))
    assert rows.lengths == IN_TENS
    np.testing.assert_array_equal(rows.take([11])[0], X[[11]])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    "target",
    [
        list(Y),
        pd.Series(Y, index=range(100, 150)),
        da.from_array(Y.astype(object), chunks=10),
        dd.from_pandas(FRAME["label"], npartitions=5),
    ],
)
def test_targets_of_any_kind(target, known):
    features = da.from_array(X, chunks=(10, 3))
    rows = DaskRows(features if known else lengths_forgotten(features), target)
    assert rows.lengths == IN_TENS
    assert np.concatenate(rows.map(lambda block: block.parts[1])).tolist() == Y.tolist()


def test_targets_are_brought_to_the_chunks_of_the_features():
    weights = da.from_array(np.arange(50.0)[:, None], chunks=(17, 1))[:, 0]
    rows = DaskRows(da.from_array(X, chunks=(10, 3)), None, weights)
    assert rows.map(lambda block: float(block.parts[2][0])) == [0.0, 10.0, 20.0, 30.0, 40.0]


def test_empty_chunks_are_left_out_but_counted():
    chunks = ((0, 20, 0, 30), (3,))
    rows = DaskRows(da.from_array(X, chunks), Y)
    assert rows.lengths == (20, 30) and rows.chunks == rows.select(1).chunks == [1, 3]
    assert rows.map(lambda block: (block.number, block.start)) == [(0, 0), (1, 20)]
    np.testing.assert_array_equal(rows.take([20, 0])[0], X[[20, 0]])
    empty = FRAME[:0].astype(object)
    assert DaskRows(frame_of(FRAME[:20], empty, FRAME[20:])).lengths == (20, 30)
    bad = X.copy()
    bad[20, 0] = np.inf
    with pytest.raises(ValueError, match=r"chunk 3 \(rows 20 to 49\): X holds infinity at row 20, column 0"):
        DaskRows(da.from_array(bad, chunks)).map(checked_sums)


def test_only_what_is_needed_is_computed():
    loaded = []

    def load(number):
        loaded.append(number)
        return X[10 * number : 10 * number + 10]

    features = da.concatenate(
        [da.from_delayed(delayed(load, pure=True)(n), (10, 3), dtype=float) for n in range(5)]
    )
    rows = DaskRows(features, Y)
    assert sorted(loaded) == [0, 1, 2, 3, 4]
    loaded.clear()
    rows.take([41, 12, 45])
    assert sorted(loaded) == [1, 4]
    loaded.clear()
    rows.select(1).map(lambda block: block.n_rows)
    assert loaded == []
    kept = rows.derive(scaled, 1.0)
    kept.sum(moments)
    kept.sum(moments)
    assert len(loaded) == 5
    anew = rows.derive(scaled, 1.0, keep=False)
    assert len(loaded) == 5
    anew.sum(moments)
    anew.sum(moments)
    assert len(loaded) == 15


def test_a_lazy_array_of_results():
    scores = map_chunks(da.from_array(X, chunks=(20, 2)), row_sums, 2.0, dtype="float64")
    assert scores.chunks == ((20, 20, 10),) and scores.dtype == np.float64
    np.testing.assert_array_equal(scores.compute(), 2.0 * X.sum(axis=1))
    two = map_chunks(da.from_array(X, ((30, 0, 20), (3,))), two_columns, dtype="float32", n_columns=2)
    assert two.chunks == ((30, 20), (2,)) and two.dtype == np.float32
    np.testing.assert_array_equal(two.compute(), X[:, :2].astype("float32"))
    bad = FRAME.copy()
    bad.loc[49, "b"] = np.nan
    lazily = map_chunks(dd.from_pandas(bad[["a", "b"]], npartitions=5), checked_sums, dtype="float64")
    assert np.isnan(lazily.shape[0]) and lazily.ndim == 1
    where = r"chunk 4 \(its 10 rows counted from 0\): X holds NaN at row 9, column 1 \('b'\)"
    with pytest.raises(ValueError, match=where):
        lazily.compute()
    with pytest.raises(ValueError, match=r"chunk 0: the function must return shape \(50,\); got \(50, 2\)"):
        map_chunks(da.from_array(X), two_columns, dtype="float64").compute()


def row_sums(block, factor):
    return factor * block.parts[0].sum(axis=1)


def two_columns(block):
    return block.parts[0][:, :2]


def checked_sums(block):
    return check_numeric_table(block.parts[0]).sum(axis=1)


def test_labels_of_all_chunks_are_joined_where_a_class_is_absent_from_some():
    assert join_labels([np.array([3]), np.array([1, 2])], [0, 2]).tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="all numbers or all text; chunk 1 holds 1, chunk 4 holds 'a'"):
        join_labels([np.array([1], object), np.array(["a"], object)], [1, 4])


def test_what_is_a_dask_collection():
    assert is_dask(da.from_array(X)) and is_dask(dd.from_pandas(FRAME, npartitions=2))
    assert not is_dask(X) and not is_dask(FRAME) and not is_dask(None)


def test_without_dask_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    assert not is_dask(X)
    with pytest.raises(ImportError, match=r"pip install multikernel\[distributed\]"):
        DaskRows(X)


def test_without_a_client_the_memory_is_that_of_this_process(monkeypatch):
    monkeypatch.setattr("multikernel.rows.memory.available_memory", lambda: 1000)
    assert cluster_memory() == 1000
    assert fits_cluster(1000) and not fits_cluster(1001)
    monkeypatch.setattr("multikernel.rows.memory.available_memory", lambda: None)
    assert fits_cluster(10**18)
